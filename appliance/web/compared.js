// What others find differently: the official artefacts that were asked besides, or the rules of today.

import { el } from "./dom.js";
import { WORDS } from "./words.js";

const AT_MOST = 50;
const RULES = { en16931: "EN 16931", cius: "XRechnung", extension: "XRechnung Extension" };

/** Return what the official artefacts say in a sentence: {agreed, sentence}; null where they were not asked. */
export function secondOpinion(answer, lang) {
  const reference = answer.validation_details.reference;
  if (!reference) {
    return null;
  }
  const words = WORDS[lang];
  const layers = reference.compared.map((name) => RULES[name] ?? name).join(", ");
  const sentence = { true: words.agreed, false: words.disagreed, null: words.notCompared }[reference.agreed];
  return { agreed: reference.agreed, sentence: sentence(layers) };
}

/** Return the list of the findings that our rules and the artefacts do not share; null where there are none. */
export function onlyOne(answer, lang, show) {
  const words = WORDS[lang];
  const { only_native: ours = [], only_reference: theirs = [] } = answer.validation_details.reference ?? {};
  return list([...ours.map((it) => [it, words.onlyNative]), ...theirs.map((it) => [it, words.onlyReference])], lang, show);
}

/** Return the list of the findings that the declared rules and those of today do not share; null where there are none. */
export function sinceThen(answer, lang, show) {
  const words = WORDS[lang];
  const differences = answer.validation_details.compatibility?.differences ?? [];
  return list(
    differences.map((it) => [it, it.only_in === "current" ? words.newIn(release(it)) : words.goneIn(release(it))]),
    lang,
    show,
  );
}

function release({ changed_in: changed }) {
  return changed.ruleset === "en16931"
    ? `${RULES.en16931} (${changed.version})`
    : `${RULES.cius} ${changed.specification} (${changed.version})`;
}

function list(told, lang, show) {
  if (!told.length) {
    return null;
  }
  const words = WORDS[lang];
  const items = told.slice(0, AT_MOST).map(([finding, where]) =>
    el(
      "li",
      { class: finding.severity },
      el("span", { class: "hidden" }, `${words[`${finding.severity}One`]}: `),
      el("span", { class: "code" }, finding.code),
      el("span", { class: "only" }, where),
      el("span", { class: "title" }, finding.title),
      finding.line
        ? el("button", { type: "button", class: "plain", onclick: () => show(finding) }, words.line(finding.line))
        : null,
    ),
  );
  const left = told.length - items.length;
  return el("ul", { class: "apart" }, items, left > 0 ? el("li", { class: "quiet" }, words.andMore(left)) : null);
}
