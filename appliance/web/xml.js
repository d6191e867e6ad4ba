// The XML beside the findings. Only the rows in sight are in the page, so that a file of 10 MB scrolls like a small one.

import { el } from "./dom.js";
import { cut, rowOf } from "./rows.js";

const MOST_ROWS = 500_000;
const AROUND = 40;
const LOOK_BACK = 2000;

export class XmlView {
  /** `element` is the box that scrolls; `text` is shown in it. */
  constructor(element, text) {
    this.box = element;
    this.text = text;
    this.rows = cut(text, MOST_ROWS);
    this.marked = -1;
    this.shown = [-1, -1];
    this.body = el("div", { class: "rows" });
    this.tall = el("div", { class: "tall" }, this.body);
    this.box.replaceChildren(this.tall);
    this.height = this.#measure();
    this.tall.style.height = `${this.rows.begins.length * this.height}px`;
    const digits = String(this.rows.lines.at(-1) ?? 1).length;
    this.box.style.setProperty("--digits", digits);
    this.box.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(this.box);
    this.draw();
  }

  /** How many rows are shown, if that is not all of the text; else null. */
  get cutAfter() {
    return this.rows.whole ? null : this.rows.begins.length;
  }

  /** Mark a place and scroll to it; return whether it is in the text that is shown. */
  mark(line, column) {
    this.marked = line ? rowOf(this.rows, line, column) : -1;
    if (this.marked >= 0) {
      const top = (this.marked + 0.5) * this.height - this.#inSight() / 3;
      this.box.scrollTo({ top: Math.max(0, top), left: this.#indent(), behavior: "instant" });
    }
    this.draw(true);
    return this.marked >= 0;
  }

  draw(anew = false) {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - AROUND);
    const seen = Math.ceil(this.box.clientHeight / this.height) + 2 * AROUND;
    const last = Math.min(this.rows.begins.length, first + seen);
    const [shownFirst, shownLast] = this.shown;
    const near = Math.abs(first - shownFirst) < AROUND / 2 && last <= shownLast + AROUND / 2;
    if (!anew && shownFirst >= 0 && near) {
      return;
    }
    this.shown = [first, last];
    this.body.style.transform = `translateY(${first * this.height}px)`;
    this.body.replaceChildren(...Array.from({ length: last - first }, (_, index) => this.#row(first + index)));
  }

  #row(number) {
    const { begins, ends, lines } = this.rows;
    const first = number === 0 || lines[number - 1] !== lines[number];
    const marked = number === this.marked;
    return el(
      "div",
      { class: marked ? "row marked" : "row", "aria-current": marked ? "location" : null, "data-line": lines[number] },
      el("span", { class: "gutter", "aria-hidden": true }, first ? String(lines[number]) : "·"),
      el("code", {}, coloured(this.text.slice(begins[number], ends[number]), this.#insideTag(begins[number]))),
    );
  }

  /** How much of the box's height is in the window: the box may reach beyond its lower edge. */
  #inSight() {
    const left = window.innerHeight - this.box.getBoundingClientRect().top;
    return left > 6 * this.height ? Math.min(left, this.box.clientHeight) : this.box.clientHeight;
  }

  #insideTag(place) {
    const before = this.text.slice(Math.max(0, place - LOOK_BACK), place);
    return before.lastIndexOf("<") > before.lastIndexOf(">");
  }

  /** Return how far to the right the marked row's text begins, if that is out of sight. */
  #indent() {
    const row = this.text.slice(this.rows.begins[this.marked], this.rows.ends[this.marked]);
    const blank = row.length - row.trimStart().length;
    return blank > 40 ? (blank - 8) * this.height * 0.4 : 0;
  }

  #measure() {
    this.body.replaceChildren(this.#row(0));
    const height = this.body.firstElementChild.getBoundingClientRect().height;
    return height || 20;
  }
}

/** Tags step back behind what they hold. */
function coloured(text, insideTag) {
  const tag = insideTag ? /(^[^>]*>?|<[^>]*>?)/ : /(<[^>]*>?)/;
  return text
    .split(tag)
    .map((part, number) => (part ? el("span", { class: number % 2 ? "tag" : "held" }, part) : ""));
}
