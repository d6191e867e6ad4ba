// Many results to explore. Python counts; here it is put on the page, always as text, never as markup.

const SIGNS = { fatal: "■", warning: "▲", information: "○" };

function make(name, attributes = {}, ...content) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...content.filter((it) => it !== null && it !== undefined && it !== ""));
  return element;
}

function render({ model, el }) {
  const word = (key) => model.get("_words")[key] ?? key;
  const root = make("div", { class: "einvoice-view ev-many" });
  const head = make("div", { class: "ev-head" });
  const map = make("div", { class: "ev-map" });
  const status = make("p", { class: "ev-status", role: "status", "aria-live": "polite" });
  const files = make("div", { class: "ev-list" });
  const detail = make("section", { class: "ev-detail", tabindex: "0" });
  root.append(head, map, status, make("div", { class: "ev-panes" }, files, detail));

  function change(values) {
    for (const [key, value] of Object.entries(values)) model.set(key, value);
    model.save_changes();
  }

  function drawHead() {
    const said = model.get("_head");
    const by = model.get("by");
    const options = ["folder", "seller", "month"].map((kind) => make("option", { value: kind }, word(`by_${kind}`)));
    const select = make("select", { "aria-label": word("by"), change: () => change({ by: select.value }) }, ...options);
    select.value = by;
    const languages = ["de", "en"].map((lang) =>
      make(
        "button",
        { type: "button", lang, "aria-pressed": String(model.get("lang") === lang), click: () => change({ lang }) },
        { de: "Deutsch", en: "English" }[lang],
      ),
    );
    const group = make("div", { class: "ev-languages", role: "group", "aria-label": word("language") }, ...languages);
    const about = make("p", { class: said.valid ? "ev-valid" : "ev-invalid" }, said.about.join(" · "));
    head.replaceChildren(about, make("label", {}, word("by"), " ", select), group);
    root.lang = model.get("lang");
  }

  // A field is a button: how many files, and the share of the group as the strength of its colour.
  function field(label, count, share, code, group) {
    if (!count) return make("span", { class: "ev-none", "aria-label": "0" }, "·");
    const chosen = model.get("code") === code && model.get("group") === group;
    const attributes = { type: "button", "aria-pressed": String(chosen), "aria-label": label, "data-field": "" };
    const button = make("button", { ...attributes, click: () => choose(chosen, code, group) }, String(count));
    if (share !== null) button.style.setProperty("--ev-share", `${15 + (share * 55) / 100}%`);
    return button;
  }

  function choose(chosen, code, group) {
    change(chosen ? { code: null, group: null } : { code, group });
  }

  function drawMap() {
    const { groups, rows } = model.get("_map");
    const heads = groups.map(([, label]) => make("th", { scope: "col" }, label || "—"));
    const lines = rows.map((row) => {
      const sign = make("span", { class: `ev-${row.severity}`, "aria-hidden": "true" }, SIGNS[row.severity], " ");
      const cells = row.cells.map((count, at) =>
        make("td", {}, field(`${row.code}, ${groups[at][1]}: ${count}`, count, row.shares[at], row.code, groups[at][0])),
      );
      const all = make("td", {}, field(`${row.code}: ${row.files}`, row.files, null, row.code, null));
      return make("tr", {}, make("th", { scope: "row" }, sign, row.code), make("td", {}, row.title), all, ...cells);
    });
    const first = [word("code"), word("finding"), word("files")].map((text) => make("th", { scope: "col" }, text));
    const table = make("table", { "aria-label": word("map") }, make("thead", {}, make("tr", {}, ...first, ...heads)));
    table.append(make("tbody", {}, ...lines));
    const focused = map.querySelector(":focus")?.getAttribute("aria-label");
    map.replaceChildren(table);
    // The field that was pressed keeps the focus, though it was drawn anew.
    for (const button of map.querySelectorAll("button")) if (button.getAttribute("aria-label") === focused) button.focus();
  }

  function drawFiles() {
    const { rows, status: counted } = model.get("_files");
    status.textContent = counted;
    const lines = rows.map(([name, label, verdict, seller, errors]) => {
      const pressed = String(model.get("file") === name);
      const open = make("button", { type: "button", "aria-pressed": pressed, click: () => change({ file: name }) }, label);
      return make("tr", {}, make("td", {}, open), make("td", {}, verdict), make("td", {}, seller), make("td", { class: "ev-line" }, String(errors)));
    });
    const heads = ["file", "verdict", "seller", "errors"].map((key) => make("th", { scope: "col" }, word(key)));
    const at = files.scrollTop;
    files.replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...lines)));
    files.scrollTop = at;
  }

  function drawDetail() {
    const told = model.get("_detail");
    detail.hidden = !told.file;
    if (!told.file) return;
    detail.setAttribute("aria-label", told.file);
    const findings = told.findings.map(([severity, code, line, title, fix]) =>
      make(
        "div",
        {},
        make("p", {}, make("span", { class: `ev-${severity}`, "aria-hidden": "true" }, SIGNS[severity], " "), make("strong", {}, code), line ? ` · ${word("line")} ${line}` : ""),
        make("p", {}, title),
        make("p", { class: "ev-fix" }, fix),
      ),
    );
    const title = make("p", { class: "ev-title", role: "heading", "aria-level": "3" }, told.file);
    detail.replaceChildren(title, ...findings, make("p", { class: "ev-remark" }, word("open")));
    detail.scrollTop = 0;
  }

  const listeners = {
    "change:_head": drawHead,
    "change:by": drawHead,
    "change:lang": drawHead,
    "change:_map": drawMap,
    "change:code": drawMap,
    "change:group": drawMap,
    "change:_files": drawFiles,
    "change:file": drawFiles,
    "change:_detail": drawDetail,
    "change:_words": () => [drawHead(), drawMap(), drawFiles(), drawDetail()],
  };
  for (const [event, listener] of Object.entries(listeners)) model.on(event, listener);
  el.append(root);
  drawHead();
  drawMap();
  drawFiles();
  drawDetail();
  return () => {
    for (const [event, listener] of Object.entries(listeners)) model.off(event, listener);
  };
}

export default { render };
