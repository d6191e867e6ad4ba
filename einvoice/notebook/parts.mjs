// What the widgets are made of. Python puts this before the script of each; everything becomes text, never markup.

const SIGNS = { fatal: "■", warning: "▲", information: "○" };
const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
let choosers = 0;

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

function sign(severity) {
  return make("span", { class: `ev-${severity}`, "aria-hidden": "true" }, SIGNS[severity], " ");
}

function isPlain(event) {
  return !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey);
}

// The frame of a widget. What is typed here is not for the notebook, where a letter may delete a cell; "/" searches.
function frame(kind, search) {
  const typed = (event) => {
    if (!isPlain(event)) return;
    event.stopPropagation();
    if (event.key !== "/" || event.target.matches("input, select")) return;
    event.preventDefault();
    search.focus();
  };
  return make("div", { class: `einvoice-view ${kind}`, keydown: typed });
}

// The field to search: Enter and the arrow go on to what was found, Escape begins again.
function searching({ type, leave }) {
  const keyed = (event) => {
    if (event.key === "Escape") {
      event.preventDefault(); // else the browser empties it a second time
      field.value = "";
      type("");
    } else if (event.key !== "Enter" && event.key !== "ArrowDown") return;
    event.preventDefault();
    leave();
  };
  const field = make("input", { type: "search", "aria-keyshortcuts": "/", input: () => type(field.value), keydown: keyed });
  return field;
}

// The choice of a language; its buttons stay when everything else is drawn anew, so that the focus does too.
function languages(choose) {
  const buttons = Object.entries({ de: "Deutsch", en: "English" }).map(([lang, name]) =>
    make("button", { type: "button", lang, click: () => choose(lang) }, name),
  );
  const element = make("div", { class: "ev-languages", role: "group" }, ...buttons);
  function mark(chosen, label) {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.lang === chosen));
    element.setAttribute("aria-label", label);
    element.closest(".einvoice-view").lang = chosen;
  }
  return { element, mark };
}

// A table to choose a row of: one stop of the Tab key, in which arrows choose; Enter goes on, Escape goes back.
function chooser({ choose, enter, leave }) {
  const id = `einvoice-rows-${(choosers += 1)}`;
  const heads = make("tr");
  const table = make("table", { role: "grid", tabindex: "0", keydown: move, click: point }, make("thead", {}, heads));
  const element = make("div", { class: "ev-list" }, table);
  const rows = () => [...table.querySelectorAll("tr[data-key]")];

  function move(event) {
    if (!isPlain(event)) return;
    const step = STEPS[event.key];
    const done = { Enter: enter, Escape: leave }[event.key];
    if (step === undefined && !done) return;
    event.preventDefault();
    if (done) return done();
    const all = rows();
    const now = all.findIndex((row) => row.getAttribute("aria-selected") === "true");
    const next = all[Math.min(Math.max(now + step, 0), all.length - 1)];
    if (next) choose(next.dataset.key);
  }

  function point(event) {
    const row = event.target.closest("tr[data-key]");
    if (row) choose(row.dataset.key);
  }

  // Columns are [name, heading]; a group has a title ("" for none), and rows of a key and a cell for each column.
  function draw(label, columns, groups) {
    table.setAttribute("aria-label", label);
    heads.replaceChildren(...columns.map(([name, heading]) => make("th", { scope: "col", class: `ev-${name}` }, heading)));
    for (const body of [...table.tBodies]) body.remove();
    let number = 0;
    for (const { title, rows } of groups) {
      const heading = title && make("tr", { class: "ev-group" }, make("th", { colspan: columns.length, scope: "rowgroup" }, title));
      const lines = rows.map(([key, ...cells]) => {
        const shown = cells.map((content, at) => make("td", { role: "gridcell", class: `ev-${columns[at][0]}` }, ...[content].flat()));
        return make("tr", { id: `${id}-${(number += 1)}`, "data-key": key }, ...shown);
      });
      table.append(make("tbody", {}, ...[heading].filter(Boolean), ...lines));
    }
    element.hidden = !number;
  }

  // Scrolls the list only, never the notebook around it.
  function mark(key, reveal = true) {
    table.removeAttribute("aria-activedescendant");
    for (const row of rows()) {
      const chosen = row.dataset.key === String(key);
      row.setAttribute("aria-selected", String(chosen));
      if (!chosen) continue;
      table.setAttribute("aria-activedescendant", row.id);
      if (reveal) show(row);
    }
  }

  function show(row) {
    const edge = heads.offsetHeight;
    if (row.offsetTop - edge < element.scrollTop) element.scrollTop = row.offsetTop - edge;
    const bottom = row.offsetTop + row.offsetHeight;
    if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
  }

  return { element, draw, mark, focus: () => table.focus() };
}

// The lines around a place, the place marked and scrolled to; as soon as there is room, since a cell may still be closed.
function drawSource(pane, part, word) {
  pane.setAttribute("aria-label", word("source"));
  if (!part.marked) {
    pane.replaceChildren(make("p", { class: "ev-remark" }, part.missing || word("no_place")));
    return;
  }
  const [before, marked, after] = part.marked;
  let number = part.first;
  const line = (attributes, ...content) => {
    const counted = make("span", { class: "ev-ln", "aria-hidden": "true" }, String(number++));
    return make("span", { class: "ev-text", ...attributes }, counted, ...content, "\n");
  };
  const above = part.above.map((text) => line({}, text));
  const mark = make("mark", {}, marked);
  const here = line({ "aria-current": "true" }, before, mark, after);
  const below = part.below.map((text) => line({}, text));
  const code = make("pre", { tabindex: "0", "aria-label": word("source"), role: "region" }, ...above, here, ...below);
  pane.replaceChildren(code);
  new ResizeObserver((_, observer) => {
    code.scrollTop = here.offsetTop - code.clientHeight / 3;
    code.scrollLeft = Math.max(0, mark.offsetLeft - code.clientWidth / 3);
    observer.disconnect();
  }).observe(code);
}

// Listeners of a model, for as long as the widget is there.
function listen(model, listeners) {
  for (const [event, listener] of Object.entries(listeners)) model.on(event, listener);
  return () => {
    for (const [event, listener] of Object.entries(listeners)) model.off(event, listener);
  };
}
