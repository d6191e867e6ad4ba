// The findings as a table for a spreadsheet, made in the browser.

import { isDecimal } from "./figures.js";
import { WORDS } from "./words.js";

/**
 * Return the findings of all entries as CSV (RFC 4180) with a byte order mark, so that Excel reads it as UTF-8.
 * With semicolons, numbers have a decimal comma: that is how a German Excel expects them.
 */
export function csv(entries, separator, lang) {
  const words = WORDS[lang];
  const rows = [words.csvHead];
  for (const entry of entries) {
    rows.push(...entryRows(entry, words));
  }
  const comma = separator === ";";
  return "\ufeff" + rows.map((row) => row.map((cell) => quoted(cell, separator, comma)).join(separator) + "\r\n").join("");
}

function entryRows(entry, words) {
  const { answer, problem, name } = entry;
  if (!answer) {
    return [[name, "", words.refused, "", problem?.code, problem?.title, "", "", "", problem?.detail, "", "", "",
      problem?.line, problem?.column, "", ""]];
  }
  const verdict = answer.is_valid ? words.valid : words.invalid;
  const number = answer.invoice_summary?.invoice_number;
  const findings = [...answer.errors, ...answer.warnings];
  if (!findings.length) {
    return [[name, number, verdict, ...Array(14).fill("")]];
  }
  return findings.map((it) => [
    name, number, verdict, words[`${it.severity}One`], it.code, it.title,
    it.values?.actual, it.values?.expected, it.values?.difference,
    it.explanation, it.fix, (it.notes ?? []).map((note) => note.text).join(" "), (it.terms ?? []).join(" "),
    it.line, it.column, it.xpath, it.validation_layer,
  ]);
}

function quoted(cell, separator, comma) {
  let text = cell === null || cell === undefined ? "" : String(cell);
  if (isDecimal(text)) {
    text = comma ? text.replace(".", ",") : text;
  } else if (/^[=+\-@\t\r]/.test(text)) {
    // A spreadsheet would take it for a formula, and it may come from the invoice.
    text = `'${text}`;
  }
  return text.includes(separator) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
