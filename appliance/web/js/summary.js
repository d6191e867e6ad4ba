// The summary of a result: validity, key facts and layers; or the problem if validation was not possible.

import { referenceDifferences, referenceResult, releaseDifferences } from "./comparison.js";
import { el, icon } from "./dom.js";
import { formatDate, formatDecimal } from "./format.js";
import { LABELS } from "./labels.js";

/** Return the summary of a validated file; `show(finding)` is called when a location is requested. */
export function resultSummary(entry, lang, show) {
  const { answer } = entry;
  const labels = LABELS[lang];
  const status = answer.is_valid ? "success" : "error";
  return el(
    "div",
    { class: `summary ${status}` },
    el(
      "div",
      {},
      el("p", { class: "filename" }, entry.name),
      el("h2", { id: "result-title", tabindex: "-1" }, icon(status), answer.is_valid ? labels.valid : labels.invalid),
      el("p", { class: "summary-text" }, summaryText(answer, lang)),
    ),
    el("div", { class: "layers" }, layers(answer.validation_details, labels), comparisons(answer, lang, show)),
    keyFacts(answer.invoice_summary, lang),
  );
}

/** Return the display of a problem that concerns one file (`name`) or the whole request. */
export function problemSummary(problem, lang, { name, retry } = {}) {
  const labels = LABELS[lang];
  const { title, detail } = problemTexts(problem, labels);
  const errors = problem.errors ?? [];
  return el(
    "div",
    { class: "summary error problem" },
    name ? el("p", { class: "filename" }, name) : null,
    el("h2", { id: name ? "result-title" : null, tabindex: "-1" }, icon("error"), title),
    detail ? el("p", { class: "summary-text" }, detail) : null,
    problem.line ? el("p", {}, (problem.column ? labels.lineColumn : labels.line)(problem)) : null,
    errors.length
      ? el("ul", {}, errors.map((it) => el("li", {}, it.pointer ? el("code", {}, `${it.pointer} `) : null, it.message)))
      : null,
    problem.seconds ? el("p", {}, labels.retryAfter({ count: problem.seconds })) : null,
    retry ? el("p", {}, el("button", { type: "button", class: "button", onclick: retry }, labels.retry)) : null,
  );
}

function problemTexts(problem, labels) {
  if (problem.code === "no_response") {
    return { title: labels.noResponse, detail: labels.noResponseDetail };
  }
  return { title: problem.title || labels.unknownProblem(problem), detail: problem.detail };
}

function summaryText(answer, lang) {
  const labels = LABELS[lang];
  const count = (severity) => answer.warnings.filter((it) => it.severity === severity).length;
  const others = [["warnings", count("warning")], ["informational", count("information")]]
    .filter(([, number]) => number)
    .map(([name, number]) => labels[name]({ count: number }));
  const main = answer.is_valid
    ? labels.resultValid({ profile: profile(answer) })
    : answer.validation_format
      ? labels.resultInvalid({ count: answer.errors.length })
      : labels.resultUnreadable;
  if (!others.length) {
    return main;
  }
  const findings = new Intl.ListFormat(lang).format(others);
  return `${main} ${labels.additionally({ findings })}`;
}

function profile(answer) {
  const version = answer.validation_profile.startsWith("XRechnung") ? ` ${answer.xrechnung_version}` : "";
  return `${answer.validation_profile}${version}, ${answer.validation_format}`;
}

function keyFacts(summary, lang) {
  if (!summary) {
    return null;
  }
  const labels = LABELS[lang];
  const due = summary.amount_due ? `${formatDecimal(summary.amount_due, lang, 2)} ${summary.currency ?? ""}` : "";
  const dated = summary.invoice_date ? `${labels.dated} ${formatDate(summary.invoice_date, lang)}` : "";
  const facts = [
    [labels.invoiceNumber, `${summary.invoice_number} ${dated}`.trim()],
    [labels.seller, summary.seller],
    [labels.buyer, summary.buyer],
    [labels.due, due],
  ].filter(([, value]) => value);
  const cells = facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)));
  return el("dl", { class: "key-facts" }, cells);
}

function layerName(layer) {
  return layer.title || layer.label || layer.name;
}

function layerDetails(layer, labels) {
  const rules = layer.rules ? labels.rules({ count: layer.rules }) : "";
  return [layer.version, layer.executed ? rules : labels.notExecuted].filter(Boolean).join(", ");
}

function layers(details, labels) {
  const { layers: stack = [], engine } = details.validation_stack;
  const { container } = details;
  if (!stack.length) {
    return [];
  }
  return [
    el("h3", {}, labels.layers),
    layerList(stack, labels),
    engine === "reference" ? el("p", {}, labels.referenceOnly) : null,
    container ? el("p", {}, container.is_valid ? labels.pdfValid : labels.pdfInvalid) : null,
  ];
}

function layerList(stack, labels) {
  const items = stack.map((layer) =>
    el(
      "li",
      { class: layer.executed ? "executed" : "skipped" },
      icon(layer.executed ? "success" : "error"),
      el("span", {}, `${layerName(layer)} `, el("span", { class: "muted" }, layerDetails(layer, labels))),
    ),
  );
  return el("ul", {}, items);
}

/** Return the comparisons with the current rule set (compatibility mode) and with the official Schematron. */
function comparisons(answer, lang, show) {
  const labels = LABELS[lang];
  const { compatibility, reference } = answer.validation_details;
  const differences = releaseDifferences(answer, lang, show);
  const result = referenceResult(answer, lang);
  return [
    compatibility?.message ? el("p", {}, compatibility.message) : null,
    differences ? [el("h3", {}, labels.differences), differences] : [],
    result
      ? [
          el("h3", { id: "reference-title" }, labels.referenceValidation),
          el(
            "p",
            { class: "reference-result" },
            result.agreed === null ? null : icon(result.agreed ? "success" : "error"),
            result.text,
          ),
          referenceDifferences(answer, lang, show),
          layerList(reference.layers, labels),
        ]
      : [],
  ];
}
