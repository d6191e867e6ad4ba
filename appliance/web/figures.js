// Numbers stay decimal text: they are regrouped for the reader, never calculated with.

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;
const MARKS = { de: [".", ","], en: [",", "."] };

export function isDecimal(text) {
  return DECIMAL.test(text);
}

/**
 * Return decimal text as the language writes it, with at least `places` after the mark: "1234.5" is "1.234,50".
 * Text that is no decimal comes back as it is.
 */
export function figure(text, lang, places = 0) {
  const match = DECIMAL.exec(text);
  if (!match) {
    return String(text);
  }
  const [group, mark] = MARKS[lang];
  const whole = match[2].replace(/\B(?=(\d{3})+$)/g, group);
  const fraction = (match[3] ?? "").padEnd(places, "0");
  return `${match[1] && "−"}${whole}${fraction && mark + fraction}`;
}

/** Return how many places after the mark decimal text has. */
export function places(text) {
  return (DECIMAL.exec(text)?.[3] ?? "").length;
}

/** Return a date (YYYY-MM-DD) as the language writes it. */
export function date(text, lang) {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  return parts && lang === "de" ? `${parts[3]}.${parts[2]}.${parts[1]}` : text;
}

/** Return a size in bytes in words. */
export function size(bytes, lang) {
  const mark = MARKS[lang][1];
  return bytes < 1_048_576
    ? `${Math.ceil(bytes / 1024)} KB`
    : `${(bytes / 1_048_576).toFixed(1).replace(".", mark).replace(/[.,]0$/, "")} MB`;
}
