// The list of the files that were checked together; one of them is looked at.

import { el } from "./dom.js";
import { sign } from "./verdict.js";
import { WORDS } from "./words.js";

/** Return the list; `choose(number)` is called when another file is to be looked at. */
export function filesList(entries, shown, lang, choose) {
  const words = WORDS[lang];
  const valid = entries.filter((entry) => entry.answer?.is_valid).length;
  return el(
    "nav",
    { class: "files", "aria-label": words.files },
    el("p", { class: "quiet" }, words.filesValid(valid, entries.length)),
    el("ul", {}, entries.map((entry, number) => el("li", {}, button(entry, number)))),
  );

  function button({ name, answer }, number) {
    const told = answer ? (answer.is_valid ? words.valid : words.invalid) : words.refused;
    return el(
      "button",
      { type: "button", "aria-current": number === shown ? "true" : null, onclick: () => choose(number) },
      sign(answer?.is_valid ? "good" : "bad"),
      el("span", { class: "name" }, name),
      el("span", { class: "quiet" }, told),
    );
  }
}
