// CSV export of findings, generated in the browser.

import { isDecimal } from "./format.js";
import { LABELS } from "./labels.js";

const COLUMNS = ["file", "invoice", "result", "severity", "code", "title", "actual", "expected", "difference",
  "explanation", "fix", "notes", "terms", "line", "column", "xpath", "layer"];

/**
 * Return the findings of all entries as CSV (RFC 4180), with a byte order mark so that Excel reads it as UTF-8.
 * With semicolons as separator, numbers have a decimal comma, as Excel with German settings expects.
 */
export function csv(entries, separator, lang) {
  const labels = LABELS[lang];
  const rows = [COLUMNS.map((name) => labels[`csv_${name}`])];
  for (const entry of entries) {
    rows.push(...entryRows(entry, labels));
  }
  const decimalComma = separator === ";";
  const line = (row) => row.map((cell) => encode(cell, separator, decimalComma)).join(separator) + "\r\n";
  return "\ufeff" + rows.map(line).join("");
}

function entryRows(entry, labels) {
  const { answer, problem, name } = entry;
  if (!answer) {
    return [[name, "", labels.notValidated, "", problem?.code, problem?.title, "", "", "", problem?.detail, "", "", "",
      problem?.line, problem?.column, "", ""]];
  }
  const result = answer.is_valid ? labels.valid : labels.invalid;
  const number = answer.invoice_summary?.invoice_number;
  const findings = [...answer.errors, ...answer.warnings];
  if (!findings.length) {
    return [[name, number, result, ...Array(14).fill("")]];
  }
  return findings.map((it) => [
    name, number, result, labels[`${it.severity}One`], it.code, it.title,
    it.values?.actual, it.values?.expected, it.values?.difference,
    it.explanation, it.fix, (it.notes ?? []).map((note) => note.text).join(" "), (it.terms ?? []).join(" "),
    it.line, it.column, it.xpath, it.validation_layer,
  ]);
}

function encode(cell, separator, decimalComma) {
  let text = cell === null || cell === undefined ? "" : String(cell);
  if (isDecimal(text)) {
    text = decimalComma ? text.replace(".", ",") : text;
  } else if (/^[=+\-@\t\r]/.test(text)) {
    // Prevent formula injection: the text may come from the invoice.
    text = `'${text}`;
  }
  return text.includes(separator) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
