// Findings that differ: between einvoice and the official Schematron, or between the declared and the current rule set.

import { el } from "./dom.js";
import { LABELS } from "./labels.js";

const MAX_ITEMS = 50;

/** Return the comparison with the official Schematron as {agreed, text}; null if it was not run. */
export function referenceResult(answer, lang) {
  const reference = answer.validation_details.reference;
  if (!reference) {
    return null;
  }
  const labels = LABELS[lang];
  const applied = answer.validation_details.validation_stack.layers;
  const layers = reference.compared.map((name) => applied.find((layer) => layer.name === name)?.label || name).join(", ");
  const text = { true: labels.agreed, false: labels.disagreed, null: labels.notCompared }[reference.agreed];
  return { agreed: reference.agreed, text: typeof text === "string" ? text : text({ layers }) };
}

/** Return the list of findings reported only by einvoice or only by the official Schematron; null if empty. */
export function referenceDifferences(answer, lang, show) {
  const labels = LABELS[lang];
  const { only_native: native = [], only_reference: official = [] } = answer.validation_details.reference ?? {};
  const findings = [
    ...native.map((finding) => [finding, labels.onlyNative]),
    ...official.map((finding) => [finding, labels.onlyReference]),
  ];
  return list(findings, lang, show);
}

/** Return the list of findings that differ between the declared and the current rule set; null if empty. */
export function releaseDifferences(answer, lang, show) {
  const labels = LABELS[lang];
  const differences = answer.validation_details.compatibility?.differences ?? [];
  const origin = ({ only_in: side, changed_in: { release } }) => labels[side === "current" ? "addedIn" : "removedIn"]({ release });
  return list(differences.map((it) => [it, origin(it)]), lang, show);
}

function list(findings, lang, show) {
  if (!findings.length) {
    return null;
  }
  const labels = LABELS[lang];
  const lineButton = (finding) =>
    el("button", { type: "button", class: "link-button", onclick: () => show(finding) }, labels.line({ line: finding.line }));
  const items = findings.slice(0, MAX_ITEMS).map(([finding, origin]) =>
    el(
      "li",
      { class: finding.severity },
      el("span", { class: "visually-hidden" }, `${labels[`${finding.severity}One`]}: `),
      el("span", { class: "code" }, finding.code),
      el("span", { class: "origin" }, origin),
      el("span", { class: "title" }, finding.title),
      finding.line ? lineButton(finding) : null,
    ),
  );
  const remaining = findings.length - items.length;
  const more = remaining > 0 ? el("li", { class: "muted" }, labels.andMore({ count: remaining })) : null;
  return el("ul", { class: "differences" }, items, more);
}
