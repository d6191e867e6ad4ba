// The findings of one file, grouped by severity. Each finding expands to its explanation and fix.

import { el } from "./dom.js";
import { countDecimals, formatDate, formatDecimal, isDecimal } from "./format.js";
import { LABELS, LANGUAGES } from "./labels.js";

const PAGE_SIZE = 100;
const SEVERITIES = ["fatal", "warning", "information"];

/** Return the findings of an answer in display order: by severity, then in document order. */
export function sortedFindings(answer) {
  const all = [...answer.errors, ...answer.warnings];
  return SEVERITIES.flatMap((severity) => all.filter((it) => it.severity === severity));
}

/**
 * Return the list of findings. `select(index, expanded)` is called when a finding is expanded or collapsed,
 * `show(index)` when its location is requested. Indices refer to `sortedFindings`.
 */
export function findingsList(answer, lang, { selected, select, show }) {
  const labels = LABELS[lang];
  const findings = sortedFindings(answer);
  if (!findings.length) {
    return el("p", { class: "empty" }, labels.noFindings);
  }
  const groups = SEVERITIES.map((severity) => {
    const indices = [...findings.keys()].filter((index) => findings[index].severity === severity);
    return indices.length ? group(severity, indices) : null;
  });
  return el("div", { class: "groups", onkeydown: (event) => moveFocus(event, ".finding-header") }, groups);

  function group(severity, indices) {
    const list = el("ol", { class: "list" });
    const more = el("button", { type: "button", class: "link-button", onclick: () => showMore(true) });
    let shown = 0;
    showMore(false);
    return el(
      "section",
      { class: `group ${severity}`, "aria-labelledby": `group-${severity}` },
      el("h3", { id: `group-${severity}` }, labels[severity], el("span", { class: "count" }, String(indices.length))),
      list,
      more,
    );

    function showMore(focus) {
      const next = indices.slice(shown, shown + PAGE_SIZE);
      const items = next.map((index) =>
        item(findings[index], index, lang, { expanded: index === selected, select, show }),
      );
      list.append(...items);
      shown += next.length;
      more.hidden = shown >= indices.length;
      more.textContent = labels.more({ count: indices.length - shown });
      if (focus) {
        items[0].querySelector("button").focus();
      }
    }
  }
}

/** Move the focus between the elements of a list that match a selector, with the arrow keys. */
export function moveFocus(event, selector) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !event.target.matches(selector)) {
    return;
  }
  const headers = [...event.currentTarget.querySelectorAll(selector)];
  const next = headers[headers.indexOf(event.target) + step];
  if (next) {
    event.preventDefault();
    next.focus();
  }
}

function item(finding, index, lang, { expanded, select, show }) {
  const labels = LABELS[lang];
  const body = el("div", { class: "finding-body", id: `finding-${index}` }, details(finding, lang, () => show(index)));
  const header = el(
    "button",
    {
      type: "button",
      class: "finding-header",
      "aria-expanded": String(expanded),
      "aria-controls": body.id,
      onclick: toggle,
    },
    el("span", { class: "visually-hidden" }, `${labels[`${finding.severity}One`]}: `),
    el("span", { class: "code" }, finding.code),
    el("span", { class: "line" }, finding.line ? labels.line({ line: finding.line }) : ""),
    el("span", { class: "title" }, finding.title),
  );
  body.hidden = !expanded;
  return el("li", { class: expanded ? "finding selected" : "finding", "data-index": index }, header, body);

  function toggle() {
    const expand = header.getAttribute("aria-expanded") !== "true";
    header.setAttribute("aria-expanded", String(expand));
    body.hidden = !expand;
    select(index, expand);
  }
}

function details(finding, lang, show) {
  const labels = LABELS[lang];
  const { colon } = LANGUAGES[lang].format;
  const notes = finding.notes ?? [];
  return [
    comparedValues(finding, lang),
    el("p", { class: "explanation" }, finding.explanation),
    finding.fix ? el("div", { class: "fix" }, el("h4", {}, labels.fix), el("p", {}, finding.fix)) : null,
    finding.indicative ? el("p", { class: "note" }, labels.indicative) : null,
    finding.override_reason
      ? el("p", { class: "note" }, el("b", {}, `${labels.severityOverride}${colon}`), finding.override_reason)
      : null,
    notes.map((note) =>
      el("p", { class: "note" }, note.text, note.source ? el("cite", {}, ` ${labels.source}${colon}${note.source}`) : null),
    ),
    location(finding, lang, show),
  ];
}

/** Return the compared values. One that title or explanation quote is left out, unless it has a difference. */
function comparedValues(finding, lang) {
  const labels = LABELS[lang];
  const values = finding.values ?? {};
  const given = ["actual", "expected", "difference"].filter((name) => ![undefined, null, ""].includes(values[name]));
  const decimals = Math.max(...given.map((name) => countDecimals(String(values[name]))));
  const formatted = (value) => formatDecimal(formatDate(value, lang), lang, decimals);
  const isQuoted = (value) =>
    [value, formatted(value), value.replace(/^(\d{4})-(\d\d)-(\d\d)$/, "$1$2$3")].some((text) =>
      [finding.title, finding.explanation].some((beside) => quotes(beside, text)),
    );
  const names = given.filter((name) => given.includes("difference") || !isQuoted(String(values[name])));
  if (!names.length) {
    return null;
  }
  const cells = names.map((name) => {
    const value = String(values[name]);
    const type = isDecimal(value) ? "number" : "text";
    return el("div", { class: name }, el("dt", {}, labels[name]), el("dd", { class: type }, formatted(value)));
  });
  return el("dl", { class: "compared-values" }, cells);
}

/** Return whether a text contains a value as a word; a short number only as a percentage or in quotation marks. */
function quotes(text, value) {
  const literal = value.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const after = /^\d{1,2}$/.test(value) ? "( ?%|[“”»])" : "(?![\\p{L}\\p{N}_]|[.,]\\p{N})";
  return new RegExp(`(?<![\\p{L}\\p{N}_.,])${literal}${after}`, "u").test(text ?? "");
}

function location(finding, lang, show) {
  const labels = LABELS[lang];
  const page = (finding.doc_url ?? "").split("/").at(-1); // may be the code of a rule family instead of the finding's
  const rule = page
    ? el("a", { href: `catalog/${page}?lang=${lang}`, target: "_blank", rel: "noopener" }, labels.rulePage)
    : null;
  const position = finding.line ? labels.lineColumn(finding) : "";
  const terms = (finding.terms ?? []).join(", ");
  return el(
    "div",
    { class: "location" },
    el(
      "p",
      { class: "links" },
      finding.line
        ? el("button", { type: "button", class: "link-button", onclick: show }, labels.showLocation)
        : el("span", { class: "muted" }, labels.xmlNoLocation),
      rule,
    ),
    el("p", { class: "muted" }, [position, terms].filter(Boolean).join(" · ")),
    finding.xpath ? el("p", { class: "muted" }, el("code", {}, finding.xpath)) : null,
  );
}
