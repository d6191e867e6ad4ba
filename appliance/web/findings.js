// The findings of one file: by severity, the worst first; each opens to say why, and what to do.

import { el } from "./dom.js";
import { figure, isDecimal, places } from "./figures.js";
import { WORDS } from "./words.js";

const AT_ONCE = 100;
const SEVERITIES = ["fatal", "warning", "information"];

/** Return the findings of an answer in the order in which they are shown. */
export function inOrder(answer) {
  const all = [...answer.errors, ...answer.warnings];
  return SEVERITIES.flatMap((severity) => all.filter((it) => it.severity === severity));
}

/**
 * Return the list of findings. `choose(number, shown)` is called when one is opened or closed, and `show(number)` when
 * its place is asked for; numbers are those of `inOrder`.
 */
export function findingsList(answer, lang, { chosen, choose, show }) {
  const words = WORDS[lang];
  const findings = inOrder(answer);
  if (!findings.length) {
    return el("p", { class: "nothing" }, words.nothing);
  }
  const groups = SEVERITIES.map((severity) => {
    const numbers = [...findings.keys()].filter((number) => findings[number].severity === severity);
    return numbers.length ? group(severity, numbers) : null;
  });
  const box = el("div", { class: "groups", onkeydown: walk }, groups);
  return box;

  function group(severity, numbers) {
    const list = el("ol", { class: "list" });
    const more = el("button", { type: "button", class: "plain", onclick: () => fill(more) });
    let shown = 0;
    fill();
    return el(
      "section",
      { class: `group ${severity}`, "aria-labelledby": `group-${severity}` },
      el("h3", { id: `group-${severity}` }, words[severity], el("span", { class: "count" }, String(numbers.length))),
      list,
      more,
    );

    function fill(asked) {
      const next = numbers.slice(shown, shown + AT_ONCE);
      const items = next.map((number) => item(findings[number], number, lang, { open: number === chosen, choose, show }));
      list.append(...items);
      shown += next.length;
      more.hidden = shown >= numbers.length;
      more.textContent = words.more(numbers.length - shown);
      if (asked) {
        items[0].querySelector("button").focus();
      }
    }
  }
}

/** Arrow keys go from finding to finding. */
function walk(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !event.target.matches(".head")) {
    return;
  }
  const heads = [...event.currentTarget.querySelectorAll(".head")];
  const next = heads[heads.indexOf(event.target) + step];
  if (next) {
    event.preventDefault();
    next.focus();
  }
}

function item(finding, number, lang, { open, choose, show }) {
  const words = WORDS[lang];
  const body = el("div", { class: "body", id: `finding-${number}` }, told(finding, lang, () => show(number)));
  const head = el(
    "button",
    { type: "button", class: "head", "aria-expanded": String(open), "aria-controls": body.id, onclick: toggle },
    el("span", { class: "hidden" }, `${words[`${finding.severity}One`]}: `),
    el("span", { class: "code" }, finding.code),
    el("span", { class: "where" }, finding.line ? words.line(finding.line) : ""),
    el("span", { class: "title" }, finding.title),
  );
  body.hidden = !open;
  return el("li", { class: open ? "finding chosen" : "finding", "data-number": number }, head, body);

  function toggle() {
    const opened = head.getAttribute("aria-expanded") !== "true";
    head.setAttribute("aria-expanded", String(opened));
    body.hidden = !opened;
    choose(number, opened);
  }
}

function told(finding, lang, show) {
  const words = WORDS[lang];
  const notes = finding.notes ?? [];
  return [
    compared(finding.values ?? {}, lang),
    el("p", { class: "explanation" }, finding.explanation),
    finding.fix ? el("div", { class: "fix" }, el("h4", {}, words.fix), el("p", {}, finding.fix)) : null,
    finding.indicative ? el("p", { class: "note" }, words.indicative) : null,
    finding.override_reason
      ? el("p", { class: "note" }, el("b", {}, `${words.severityChanged}: `), finding.override_reason)
      : null,
    notes.map((note) =>
      el("p", { class: "note" }, note.text, note.source ? el("cite", {}, ` ${words.source}: ${note.source}`) : null),
    ),
    place(finding, lang, show),
  ];
}

function compared(values, lang) {
  const words = WORDS[lang];
  const names = ["actual", "expected", "difference"].filter((name) => ![undefined, null, ""].includes(values[name]));
  if (!names.length) {
    return null;
  }
  const after = Math.max(...names.map((name) => places(String(values[name]))));
  const cells = names.map((name) => {
    const value = String(values[name]);
    const kind = isDecimal(value) ? "number" : "text";
    return el("div", { class: name }, el("dt", {}, words[name]), el("dd", { class: kind }, figure(value, lang, after)));
  });
  return el("dl", { class: "numbers" }, cells);
}

function place(finding, lang, show) {
  const words = WORDS[lang];
  const told = (finding.doc_url ?? "").split("/").at(-1); // the page may be of a more general code than the finding
  const rule = told
    ? el("a", { href: `catalog/${told}?lang=${lang}`, target: "_blank", rel: "noopener" }, words.rulePage)
    : null;
  return el(
    "div",
    { class: "place" },
    el(
      "p",
      { class: "links" },
      finding.line
        ? el("button", { type: "button", class: "plain", onclick: show }, words.showPlace)
        : el("span", { class: "quiet" }, words.xmlNowhere),
      rule,
    ),
    el(
      "p",
      { class: "quiet" },
      [finding.line ? words.lineColumn(finding.line, finding.column) : "", (finding.terms ?? []).join(", ")]
        .filter(Boolean)
        .join(" · "),
    ),
    finding.xpath ? el("p", { class: "quiet" }, el("code", {}, finding.xpath)) : null,
  );
}
