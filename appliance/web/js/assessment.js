// What the document and its errors mean for the recipient under VAT law: one box above the findings.

import { el } from "./dom.js";
import { LANGUAGES } from "./labels.js";

/** Return the box; null if the answer has no assessment. */
export function assessmentBox(answer, lang) {
  const { assessment } = answer.validation_details;
  if (!assessment) {
    return null;
  }
  const { labels: words, note, sentences, steps, summary } = assessment;
  return el(
    "section",
    { class: "assessment", "aria-labelledby": "assessment-title" },
    el("h2", { id: "assessment-title" }, words.title),
    sentences.map((text, at) => el("p", { class: at ? null : "statement" }, text)),
    list("ol", words.steps, steps.map(step)),
    list("ul", words.errors, summary.classes.map((it) => errorClass(it, lang))),
    summary.remarks.map((text) => el("p", {}, text)),
    list("ul", words.items, summary.items),
    el("p", { class: "muted" }, note),
  );
}

function list(kind, title, entries) {
  const items = entries.map((it) => el("li", {}, it));
  return items.length ? [el("h3", {}, title), el(kind, {}, items)] : null;
}

/** Return a step, what it is about in bold. */
function step(text) {
  const at = text.indexOf(":") + 1;
  return [el("strong", {}, text.slice(0, at)), text.slice(at)];
}

function errorClass({ name, codes, meaning }, lang) {
  return [el("strong", {}, name), `${LANGUAGES[lang].format.colon}${codes}`, el("p", {}, meaning)];
}
