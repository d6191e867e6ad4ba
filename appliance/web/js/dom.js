// DOM helpers. All elements are created here; invoice content becomes text nodes, never markup.

/**
 * Return a new element.
 * Properties starting with "on" add event listeners. True sets an empty attribute; null, false and undefined set none.
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

/** Return an icon: a check mark for "success", a cross for "error". */
export function icon(status) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `icon ${status}`);
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", status === "success" ? "m3 8.500 3.500 3.500 6.500-8" : "m4 4 8 8m0-8-8 8");
  svg.append(path);
  return svg;
}

/** Copy text to the clipboard; return whether that succeeded. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text); // only on https and localhost
    return true;
  } catch {
    const area = el("textarea", { class: "visually-hidden", "aria-hidden": true, tabindex: "-1" });
    const focused = document.activeElement;
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    focused?.focus();
    return copied;
  }
}

/** Download `blob` as a file called `name`. */
export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Call `handle` with the files, not the folders, that are dropped on the page; `zone` shows that they can be. */
export function onFilesDropped(zone, handle) {
  let depth = 0; // dragenter and dragleave also fire for child elements
  const setDragOver = (step) => {
    depth = step ? depth + step : 0;
    zone.classList.toggle("drag-over", depth > 0);
  };
  document.addEventListener("dragenter", () => setDragOver(1));
  document.addEventListener("dragleave", () => setDragOver(-1));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    setDragOver(0);
    const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
    handle(items.filter((item) => !item.webkitGetAsEntry()?.isDirectory).map((item) => item.getAsFile()));
  });
}
