// Labels and formats of the page by language, from the message files of the server. Texts of findings and problems come
// from the API in the requested language.

const response = await fetch(new URL("../languages.json", import.meta.url));

/** The languages by tag: {name, format, labels}. */
export const LANGUAGES = await response.json();

/** The labels by language. One with placeholders is a function of their values. */
export const LABELS = Object.fromEntries(
  Object.entries(LANGUAGES).map(([lang, { labels }]) => [lang, withFunctions(labels, new Intl.PluralRules(lang))]),
);

/** The labels of causes by language, which the other displays of einvoice share. */
export const CAUSE_LABELS = Object.fromEntries(
  Object.entries(LANGUAGES).map(([lang, { causes }]) => [lang, withFunctions(causes, new Intl.PluralRules(lang))]),
);

function withFunctions(labels, plurals) {
  const label = ([key, text]) => [key, text.includes("{") ? (values) => filled(form(key, values.count), values) : text];
  const form = (key, count) => labels[`${key}_${plurals.select(count ?? 0)}`] ?? labels[key];
  return Object.fromEntries(Object.entries(labels).map(label));
}

function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** Return the language to begin with: the first of the browser that is available, otherwise English. */
export function preferredLanguage() {
  const tags = navigator.languages.flatMap((tag) => [tag, tag.split("-")[0]]);
  return tags.find((tag) => tag in LANGUAGES) ?? "en";
}
