// What the document and its errors mean for the recipient under VAT law: one box above the findings.

import { el } from "./dom.js";

/** Return the box; null if the answer has no assessment. */
export function assessmentBox(answer) {
  const { assessment } = answer.validation_details;
  if (!assessment) {
    return null;
  }
  const { classes, errors, items, labels: words } = assessment;
  const ofClass = (name) => errors.filter((it) => it.error_class === name);
  const found = Object.entries(classes).map(([name, meaning]) => errorClass(ofClass(name), meaning, words));
  const contested = errors.map((it) => it.contested).filter(Boolean);
  const unclassified = errors.filter((it) => it.reason).map((it) => `${it.code}: ${it.reason}`);
  const missing = items.map((it) => el("li", {}, `${it.title} (${it.source}). ${it.fix}`));
  return el(
    "section",
    { class: "assessment", "aria-labelledby": "assessment-title" },
    el("h2", { id: "assessment-title" }, words.title),
    el("p", { class: "statement" }, assessment.statement),
    found.length ? [el("h3", {}, words.errors), el("ul", {}, found)] : null,
    [...new Set([...contested, ...unclassified])].map((text) => el("p", {}, text)),
    missing.length ? [el("h3", {}, words.items), el("ul", {}, missing)] : null,
    el("p", { class: "muted" }, `${assessment.undecidable} ${assessment.note}`),
  );
}

function errorClass(errors, meaning, words) {
  const [{ class_name: name, basis }] = errors;
  const codes = [...new Set(errors.map((error) => code(error, words)))].join(", ");
  return el("li", {}, el("strong", {}, `${name} (${basis})`), `: ${codes}`, el("p", {}, meaning));
}

function code({ code, item, contested }, words) {
  const remarks = [item, contested ? words.contested : ""].filter(Boolean);
  return remarks.length ? `${code} (${remarks.join("; ")})` : code;
}
