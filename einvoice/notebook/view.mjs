// A result to explore. Python decides what is shown; here it is put on the page, always as text, never as markup.

const SIGNS = { fatal: "■", warning: "▲", information: "○" };
const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
let views = 0;

// An element with attributes (functions are listeners; false, null and undefined are left out) and content.
function make(name, attributes = {}, ...content) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...content.filter((it) => it !== null && it !== undefined && it !== ""));
  return element;
}

function render({ model, el }) {
  const id = `einvoice-view-${(views += 1)}`;
  const word = (key) => model.get("_words")[key] ?? key;
  const root = make("div", { class: "einvoice-view" });
  const head = make("div", { class: "ev-head" });
  const bar = make("div", { class: "ev-bar", role: "search" });
  const status = make("p", { class: "ev-status", role: "status", "aria-live": "polite" });
  const body = make("tbody");
  const heads = make("tr");
  const grid = make("table", { role: "grid", tabindex: "0", keydown: move, click: point }, make("thead", {}, heads), body);
  const list = make("div", { class: "ev-list" }, grid);
  const rest = make("p", { class: "ev-rest" });
  const detail = make("section", { class: "ev-detail", tabindex: "0" });
  const source = make("section", { class: "ev-source" });
  root.append(head, bar, status, make("div", { class: "ev-panes" }, make("div", {}, list, rest), detail, source));

  function change(key, value) {
    model.set(key, value);
    model.save_changes();
  }

  function filter(key, value) {
    const filters = { ...model.get("filters"), [key]: value };
    if (!value.length) delete filters[key];
    change("filters", filters);
  }

  // ---------------------------------------------------------------- the head: the verdict, and the language

  function drawHead() {
    const said = model.get("_head");
    const about = said.about.flatMap((text) => [" · ", text]);
    const languages = ["de", "en"].map((lang) =>
      make(
        "button",
        { type: "button", lang, "aria-pressed": String(model.get("lang") === lang), click: () => change("lang", lang) },
        { de: "Deutsch", en: "English" }[lang],
      ),
    );
    const sign = said.valid ? "✓ " : "✗ ";
    head.replaceChildren(
      make("p", { class: said.valid ? "ev-valid" : "ev-invalid" }, make("strong", {}, sign, said.verdict), ...about),
      make("div", { class: "ev-languages", role: "group", "aria-label": word("language") }, ...languages),
      said.indicative ? make("p", { class: "ev-remark" }, said.indicative) : "",
    );
    root.lang = model.get("lang");
  }

  // ---------------------------------------------------------------- filters

  const search = make("input", { type: "search", input: () => filter("text", search.value) });

  function drawBar() {
    const choices = model.get("_choices");
    const severities = choices.severity.map(([value, , count]) =>
      make(
        "button",
        { type: "button", "data-severity": value, click: () => toggle(value) },
        make("span", { class: `ev-${value}`, "aria-hidden": "true" }, SIGNS[value], " "),
        `${word(value)} ${count}`,
      ),
    );
    const selects = ["layer", "section", "term"].map((key) => {
      const options = choices[key].map(([value, label, count]) => make("option", { value }, `${label} (${count})`));
      const all = make("option", { value: "" }, `${word(key)}: ${word("all")}`);
      const attributes = { "data-key": key, "aria-label": word(key) };
      return make("select", { ...attributes, change: (event) => filter(key, event.target.value) }, all, ...options);
    });
    search.placeholder = word("search");
    search.setAttribute("aria-label", word("search"));
    const reset = make("button", { type: "button", class: "ev-reset", click: () => change("filters", {}) }, word("reset"));
    bar.setAttribute("aria-label", word("filter"));
    const group = make("span", { role: "group", "aria-label": word("severity") }, ...severities);
    bar.replaceChildren(group, ...selects, search, reset);
    setBar();
  }

  function toggle(severity) {
    const chosen = new Set(model.get("filters").severity ?? []);
    if (!chosen.delete(severity)) chosen.add(severity);
    filter("severity", [...chosen]);
  }

  function setBar() {
    const filters = model.get("filters");
    for (const button of bar.querySelectorAll("[data-severity]"))
      button.setAttribute("aria-pressed", String((filters.severity ?? []).includes(button.dataset.severity)));
    for (const select of bar.querySelectorAll("select")) select.value = filters[select.dataset.key] ?? "";
    if (search.value !== (filters.text ?? "") && search.ownerDocument.activeElement !== search) search.value = filters.text ?? "";
    if (!Object.keys(filters).length) search.value = "";
  }

  // ---------------------------------------------------------------- the table

  function drawTable() {
    const { rows, status: counted, rest: left } = model.get("_table");
    grid.setAttribute("aria-label", word("findings"));
    heads.replaceChildren(
      ...["severity", "code", "term", "line", "finding"].map((key) =>
        make("th", { scope: "col", class: `ev-${key}` }, word(key)),
      ),
    );
    body.replaceChildren(
      ...rows.map((row) =>
        make(
          "tr",
          { id: `${id}-${row.number}`, "data-number": row.number },
          make(
            "td",
            { role: "gridcell", class: "ev-severity" },
            make("span", { class: `ev-${row.severity}`, "aria-hidden": "true" }, SIGNS[row.severity], " "),
            word(row.severity),
          ),
          make("td", { role: "gridcell", class: "ev-code" }, row.code),
          make("td", { role: "gridcell", class: "ev-term" }, row.term),
          make("td", { role: "gridcell", class: "ev-line" }, String(row.line ?? "")),
          make("td", { role: "gridcell" }, row.title),
        ),
      ),
    );
    list.hidden = !rows.length;
    status.textContent = counted;
    rest.textContent = left;
    rest.hidden = !left;
    mark();
  }

  function mark() {
    const selected = String(model.get("selected"));
    for (const row of body.rows) row.setAttribute("aria-selected", String(row.dataset.number === selected));
    const row = body.querySelector('[aria-selected="true"]');
    if (row) grid.setAttribute("aria-activedescendant", row.id);
    else grid.removeAttribute("aria-activedescendant");
    return row;
  }

  function select(row) {
    change("selected", Number(row.dataset.number));
  }

  function point(event) {
    const row = event.target.closest("tr[data-number]");
    if (row) select(row);
  }

  function move(event) {
    const step = STEPS[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation(); // else the notebook goes to another cell
    const rows = [...body.rows];
    const now = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
    const next = rows[Math.min(Math.max(now + step, 0), rows.length - 1)];
    if (next) select(next);
  }

  // Scrolls the list only, never the notebook around it.
  function reveal() {
    const row = mark();
    if (!row) return;
    const edge = heads.offsetHeight;
    if (row.offsetTop - edge < list.scrollTop) list.scrollTop = row.offsetTop - edge;
    const bottom = row.offsetTop + row.offsetHeight;
    if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
  }

  // ---------------------------------------------------------------- one finding, and its place

  function drawDetail() {
    const told = model.get("_detail");
    detail.setAttribute("aria-label", word("detail"));
    detail.hidden = source.hidden = !told.code;
    if (!told.code) return;
    const kind = make("p", { class: "ev-kind" }, make("span", { class: `ev-${told.severity}`, "aria-hidden": "true" }, SIGNS[told.severity], " "), make("strong", {}, told.code), ` · ${told.judged}`);
    const numbers = told.numbers.map(([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, text)));
    const facts = told.facts.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]);
    detail.replaceChildren(
      kind,
      make("p", { class: "ev-title", role: "heading", "aria-level": "3" }, told.title),
      make("p", {}, told.explanation),
      numbers.length ? make("dl", { class: "ev-numbers" }, ...numbers) : "",
      make("p", { class: "ev-fix" }, make("strong", {}, word("fix"), ": "), told.fix),
      told.reason ? make("p", { class: "ev-remark" }, told.reason) : "",
      ...told.notes.map(drawNote),
      make("dl", { class: "ev-facts" }, ...facts),
    );
    detail.scrollTop = 0;
    drawSource(told.excerpt);
  }

  function drawNote({ text, source: from }) {
    const link = /^https?:/.test(from) ? make("a", { href: from, target: "_blank", rel: "noopener noreferrer" }, from) : from;
    return make("p", { class: "ev-remark" }, make("strong", {}, word("note"), ": "), text, from ? " " : "", link);
  }

  function drawSource(part) {
    source.setAttribute("aria-label", word("source"));
    if (!part.marked) {
      source.replaceChildren(make("p", { class: "ev-remark" }, word("no_place")));
      return;
    }
    const [before, marked, after] = part.marked;
    let number = part.first;
    const line = (attributes, ...content) =>
      make("span", { class: "ev-text", ...attributes }, make("span", { class: "ev-ln", "aria-hidden": "true" }, String(number++)), ...content, "\n");
    const above = part.above.map((text) => line({}, text));
    const here = line({ "aria-current": "true" }, before, make("mark", {}, marked), after);
    const below = part.below.map((text) => line({}, text));
    const code = make("pre", { tabindex: "0", "aria-label": word("source") }, ...above, here, ...below);
    source.replaceChildren(code);
    const mark = here.querySelector("mark");
    code.scrollTop = here.offsetTop - code.clientHeight / 3;
    code.scrollLeft = Math.max(0, mark.offsetLeft - code.clientWidth / 3);
  }

  // ---------------------------------------------------------------- what Python changes

  const listeners = {
    "change:_head": drawHead,
    "change:lang": drawHead,
    "change:_choices": drawBar,
    "change:_words": () => [drawBar(), drawTable(), drawDetail()],
    "change:filters": setBar,
    "change:_table": drawTable,
    "change:selected": reveal,
    "change:_detail": drawDetail,
  };
  for (const [event, listener] of Object.entries(listeners)) model.on(event, listener);
  el.append(root);
  drawHead();
  drawBar();
  drawTable();
  drawDetail();
  return () => {
    for (const [event, listener] of Object.entries(listeners)) model.off(event, listener);
  };
}

export default { render };
