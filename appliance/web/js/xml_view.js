// The XML next to the findings. Virtual scrolling: only visible rows are in the DOM, so that files of 10 MB stay fast.

import { el } from "./dom.js";
import { findRow, splitRows } from "./rows.js";

const MAX_ROWS = 500_000;
const OVERSCAN = 40;
const MAX_LOOKBEHIND = 2000;

export class XmlView {
  /** Show `text` in the scroll container `element`. */
  constructor(element, text) {
    this.box = element;
    this.text = text;
    this.rows = splitRows(text, MAX_ROWS);
    this.highlighted = -1;
    this.drawn = [-1, -1];
    this.body = el("div", { class: "rows" });
    this.content = el("div", { class: "scroll-content" }, this.body);
    this.box.replaceChildren(this.content);
    this.height = this.#rowHeight();
    this.content.style.height = `${this.rows.starts.length * this.height}px`;
    const digits = String(this.rows.lines.at(-1) ?? 1).length;
    this.box.style.setProperty("--digits", digits);
    this.box.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(this.box);
    this.draw();
  }

  /** The number of rows shown if the text is truncated, otherwise null. */
  get truncatedAt() {
    return this.rows.complete ? null : this.rows.starts.length;
  }

  /** Highlight a location and scroll to it; return false if it is not part of the text shown. */
  highlight(line, column) {
    this.highlighted = line ? findRow(this.rows, line, column) : -1;
    if (this.highlighted >= 0) {
      const top = (this.highlighted + 0.5) * this.height - this.#visibleHeight() / 3;
      this.box.scrollTo({ top: Math.max(0, top), left: this.#indent(), behavior: "instant" });
    }
    this.draw(true);
    return this.highlighted >= 0;
  }

  draw(force = false) {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - OVERSCAN);
    const count = Math.ceil(this.box.clientHeight / this.height) + 2 * OVERSCAN;
    const last = Math.min(this.rows.starts.length, first + count);
    const [drawnFirst, drawnLast] = this.drawn;
    const covered = Math.abs(first - drawnFirst) < OVERSCAN / 2 && last <= drawnLast + OVERSCAN / 2;
    if (!force && drawnFirst >= 0 && covered) {
      return;
    }
    this.drawn = [first, last];
    this.body.style.transform = `translateY(${first * this.height}px)`;
    this.body.replaceChildren(...Array.from({ length: last - first }, (_, offset) => this.#row(first + offset)));
  }

  #row(index) {
    const { starts, ends, lines } = this.rows;
    const first = index === 0 || lines[index - 1] !== lines[index];
    const highlighted = index === this.highlighted;
    return el(
      "div",
      {
        class: highlighted ? "row highlighted" : "row",
        "aria-current": highlighted ? "location" : null,
        "data-line": lines[index],
      },
      el("span", { class: "gutter", "aria-hidden": true }, first ? String(lines[index]) : "·"),
      el("code", {}, highlightTags(this.text.slice(starts[index], ends[index]), this.#insideTag(starts[index]))),
    );
  }

  /** Return the height of the part of the box inside the viewport. */
  #visibleHeight() {
    const available = window.innerHeight - this.box.getBoundingClientRect().top;
    return available > 6 * this.height ? Math.min(available, this.box.clientHeight) : this.box.clientHeight;
  }

  #insideTag(offset) {
    const before = this.text.slice(Math.max(0, offset - MAX_LOOKBEHIND), offset);
    return before.lastIndexOf("<") > before.lastIndexOf(">");
  }

  /** Return the horizontal scroll position for the highlighted row if its text is far indented. */
  #indent() {
    const row = this.text.slice(this.rows.starts[this.highlighted], this.rows.ends[this.highlighted]);
    const blank = row.length - row.trimStart().length;
    return blank > 40 ? (blank - 8) * this.height * 0.4 : 0;
  }

  #rowHeight() {
    this.body.replaceChildren(this.#row(0));
    const height = this.body.firstElementChild.getBoundingClientRect().height;
    return height || 20;
  }
}

/** Wrap tags and text in separate elements, for syntax highlighting. */
function highlightTags(text, insideTag) {
  const tag = insideTag ? /(^[^>]*>?|<[^>]*>?)/ : /(<[^>]*>?)/;
  return text
    .split(tag)
    .map((part, index) => (part ? el("span", { class: index % 2 ? "tag" : "text" }, part) : ""));
}
