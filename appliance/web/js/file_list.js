// The list of validated files, shown if there is more than one.

import { el, icon } from "./dom.js";
import { LABELS } from "./labels.js";

/** Return the list; `select(index)` is called when a file is selected. */
export function fileList(entries, selected, lang, select) {
  const labels = LABELS[lang];
  const valid = entries.filter((entry) => entry.answer?.is_valid).length;
  return el(
    "nav",
    { class: "file-list", "aria-label": labels.files },
    el("p", { class: "muted" }, labels.filesValid({ valid, total: entries.length })),
    el("ul", {}, entries.map((entry, index) => el("li", {}, button(entry, index)))),
  );

  function button({ name, answer }, index) {
    const result = answer ? (answer.is_valid ? labels.valid : labels.invalid) : labels.notValidated;
    return el(
      "button",
      { type: "button", "aria-current": index === selected ? "true" : null, onclick: () => select(index) },
      icon(answer?.is_valid ? "success" : "error"),
      el("span", { class: "name" }, name),
      el("span", { class: "muted" }, result),
    );
  }
}
