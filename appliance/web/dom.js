// Elements are made here and nowhere else. Whatever comes from an invoice becomes a text node, never markup.

/**
 * Return a new element.
 * Properties that begin with "on" are listeners; true sets an attribute without a value; null and false set none.
 */
export function el(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [property, value] of Object.entries(properties)) {
    if (property.startsWith("on")) {
      element.addEventListener(property.slice(2), value);
    } else if (value !== null && value !== false && value !== undefined) {
      element.setAttribute(property, value === true ? "" : value);
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== "" && child !== undefined));
  return element;
}

/** Let the browser save `blob` as a file called `name`. */
export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
