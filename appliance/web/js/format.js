// Locale formatting. Numbers stay decimal strings; nothing is calculated.

import { LANGUAGES } from "./labels.js";

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

export function isDecimal(text) {
  return DECIMAL.test(text);
}

/**
 * Format a decimal string with at least `decimals` decimals: "1234.5" becomes "1.234,50" in German.
 * Other strings are returned unchanged.
 */
export function formatDecimal(text, lang, decimals = 0) {
  const match = DECIMAL.exec(text);
  if (!match) {
    return String(text);
  }
  const { group, decimal, minus } = LANGUAGES[lang].format;
  const integer = match[2].replace(/\B(?=(\d{3})+$)/g, group);
  const fraction = (match[3] ?? "").padEnd(decimals, "0");
  return `${match[1] && minus}${integer}${fraction && decimal + fraction}`;
}

/** Return the number of decimals of a decimal string. */
export function countDecimals(text) {
  return (DECIMAL.exec(text)?.[3] ?? "").length;
}

/** Format an ISO 8601 date (YYYY-MM-DD). */
export function formatDate(text, lang) {
  const parts = /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)$/.exec(text)?.groups;
  return parts ? LANGUAGES[lang].format.date.replace(/\{(\w+)[^}]*\}/g, (_, name) => parts[name]) : text;
}

/** Format a file size. */
export function formatSize(bytes, lang) {
  const point = LANGUAGES[lang].format.decimal;
  return bytes < 1_048_576
    ? `${Math.ceil(bytes / 1024)} KB`
    : `${(bytes / 1_048_576).toFixed(1).replace(".", point).replace(/[.,]0$/, "")} MB`;
}
