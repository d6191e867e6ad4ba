// Shared components. Python prepends this file to each widget script. All content becomes text, never markup.

const ICONS = { fatal: "■", warning: "▲", information: "○" };
const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
let tableCount = 0;

// Return an element. Functions become event listeners; false, null and undefined set no attribute.
function create(name, attributes = {}, ...content) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...content.filter((it) => it !== null && it !== undefined && it !== ""));
  return element;
}

function severityIcon(severity) {
  return create("span", { class: `ev-${severity}`, "aria-hidden": "true" }, ICONS[severity], " ");
}

function hasNoModifiers(event) {
  return !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey);
}

// Return the root element of a widget. Key presses do not reach the notebook, which would treat them as commands;
// "/" focuses the search field.
function widgetRoot(className, search) {
  const onKeydown = (event) => {
    if (!hasNoModifiers(event)) return;
    event.stopPropagation();
    if (event.key !== "/" || event.target.matches("input, select")) return;
    event.preventDefault();
    search.focus();
  };
  return create("div", { class: `einvoice-view ${className}`, keydown: onKeydown });
}

// Return the search field. Enter and the down arrow move to the results, Escape clears the field.
function searchField({ change, leave }) {
  const onKeydown = (event) => {
    if (event.key === "Escape") {
      event.preventDefault(); // the browser would clear it again
      field.value = "";
      change("");
    } else if (event.key !== "Enter" && event.key !== "ArrowDown") return;
    event.preventDefault();
    leave();
  };
  const onInput = () => change(field.value);
  const field = create("input", { type: "search", "aria-keyshortcuts": "/", input: onInput, keydown: onKeydown });
  return field;
}

// Return the language switch for pairs of tag and name. Its buttons are never rendered again, so that they keep the focus.
function languageSwitch(languages, select) {
  const buttons = languages.map(([lang, name]) =>
    create("button", { type: "button", lang, click: () => select(lang) }, name),
  );
  const element = create("div", { class: "ev-language-switch", role: "group" }, ...buttons);
  function update(selected, label) {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.lang === selected));
    element.setAttribute("aria-label", label);
    element.closest(".einvoice-view").lang = selected;
  }
  return { element, update };
}

// Return a table with selectable rows and a single tab stop. Arrow keys select; Enter and Escape leave the table.
// With `sort`, the headings are buttons that call it with the name of their column.
function selectableTable({ select, enter, leave, sort }) {
  const id = `einvoice-rows-${(tableCount += 1)}`;
  const headerRow = create("tr");
  const attributes = { role: "grid", tabindex: "0", keydown: onKeydown, click: onClick };
  const table = create("table", attributes, create("thead", {}, headerRow));
  const element = create("div", { class: "ev-list" }, table);
  const rows = () => [...table.querySelectorAll("tr[data-key]")];

  function onKeydown(event) {
    if (!hasNoModifiers(event)) return;
    const step = STEPS[event.key];
    const leaveTable = { Enter: enter, Escape: leave }[event.key];
    const isHeading = event.key === "Enter" && event.target !== table;
    if ((step === undefined && !leaveTable) || isHeading) return;
    event.preventDefault();
    if (leaveTable) return leaveTable();
    const all = rows();
    const current = all.findIndex((row) => row.getAttribute("aria-selected") === "true");
    const next = all[Math.min(Math.max(current + step, 0), all.length - 1)];
    if (next) select(next.dataset.key);
  }

  function onClick(event) {
    const row = event.target.closest("tr[data-key]");
    if (row) select(row.dataset.key);
  }

  // Columns are [name, heading] or [name, heading, order]: "ascending", "descending" or "none". A group has a title (may
  // be "") and rows of a key and one cell per column.
  function render(label, columns, groups) {
    table.setAttribute("aria-label", label);
    const focused = [...headerRow.querySelectorAll("button")].indexOf(table.ownerDocument.activeElement);
    const headings = columns.map(([name, text, order]) => {
      const mark = create("span", { "aria-hidden": "true" }, { ascending: " ▴", descending: " ▾" }[order]);
      const content = sort ? create("button", { type: "button", click: () => sort(name) }, text, mark) : text;
      return create("th", { scope: "col", class: `ev-${name}`, "aria-sort": order }, content);
    });
    headerRow.replaceChildren(...headings);
    headerRow.querySelectorAll("button")[focused]?.focus();
    for (const body of [...table.tBodies]) body.remove();
    let number = 0;
    for (const { title, rows } of groups) {
      const groupHeading = create("th", { colspan: columns.length, scope: "rowgroup" }, title);
      const heading = title && create("tr", { class: "ev-group" }, groupHeading);
      const bodyRows = rows.map(([key, ...cells]) => {
        const gridCells = cells.map((content, index) => {
          const [name] = columns[index];
          return create("td", { role: "gridcell", class: `ev-${name}` }, ...[content].flat());
        });
        return create("tr", { id: `${id}-${(number += 1)}`, "data-key": key }, ...gridCells);
      });
      table.append(create("tbody", {}, ...[heading].filter(Boolean), ...bodyRows));
    }
    element.hidden = !number;
  }

  // Scroll the list only, not the notebook.
  function setSelected(key, scroll = true) {
    table.removeAttribute("aria-activedescendant");
    for (const row of rows()) {
      const selected = row.dataset.key === String(key);
      row.setAttribute("aria-selected", String(selected));
      if (!selected) continue;
      table.setAttribute("aria-activedescendant", row.id);
      if (scroll) scrollTo(row);
    }
  }

  function scrollTo(row) {
    const top = headerRow.offsetHeight;
    if (row.offsetTop - top < element.scrollTop) element.scrollTop = row.offsetTop - top;
    const bottom = row.offsetTop + row.offsetHeight;
    if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
  }

  return { element, render, setSelected, focus: () => table.focus(), scrollToTop: () => (element.scrollTop = 0) };
}

// Render an XML excerpt, highlight the location and scroll to it. The observer waits until the output is visible.
function renderExcerpt(pane, excerpt, label) {
  pane.setAttribute("aria-label", label("excerpt"));
  if (!excerpt.marked) {
    pane.replaceChildren(create("p", { class: "ev-note" }, excerpt.missing || label("no_location")));
    return;
  }
  const [before, marked, after] = excerpt.marked;
  let number = excerpt.first;
  const line = (attributes, ...content) => {
    const lineNumber = create("span", { class: "ev-line-number", "aria-hidden": "true" }, String(number++));
    return create("span", { class: "ev-code-line", ...attributes }, lineNumber, ...content, "\n");
  };
  const above = excerpt.above.map((text) => line({}, text));
  const mark = create("mark", {}, marked);
  const current = line({ "aria-current": "true" }, before, mark, after);
  const below = excerpt.below.map((text) => line({}, text));
  const attributes = { tabindex: "0", "aria-label": label("excerpt"), role: "region" };
  const code = create("pre", attributes, ...above, current, ...below);
  pane.replaceChildren(code);
  new ResizeObserver((_, observer) => {
    code.scrollTop = current.offsetTop - code.clientHeight / 3;
    code.scrollLeft = Math.max(0, mark.offsetLeft - code.clientWidth / 3);
    observer.disconnect();
  }).observe(code);
}

// Return a button that copies the text of an element, and then has the label that `copied` returns. Without permission,
// the text is selected for the user to copy.
function copyButton(attributes, label, copied, element) {
  const click = async () => {
    try {
      await navigator.clipboard.writeText(element.textContent);
      button.textContent = copied();
    } catch {
      getSelection().selectAllChildren(element);
    }
  };
  const button = create("button", { type: "button", ...attributes, "aria-live": "polite", click }, label);
  return button;
}

// Add listeners to the model; return a function that removes them.
function addListeners(model, listeners) {
  for (const [event, listener] of Object.entries(listeners)) model.on(event, listener);
  return () => {
    for (const [event, listener] of Object.entries(listeners)) model.off(event, listener);
  };
}
