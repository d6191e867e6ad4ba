// Many results to explore. Python counts; here it is put on the page.

const MOVES = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };

function render({ model, el }) {
  const word = (key) => model.get("_words")[key] ?? key;
  const search = searching({ type: (text) => change({ text }), leave: () => files.focus() });
  const root = frame("ev-many", search);
  const verdict = make("p");
  const language = languages((lang) => change({ lang }));
  const remarks = make("div", { class: "ev-remarks" });
  const head = make("div", { class: "ev-head" }, verdict, language.element, remarks);
  const charts = make("div", { class: "ev-charts" });
  const map = make("div", { class: "ev-map", keydown: moveInMap });
  const left = make("p", { class: "ev-rest" });
  const status = make("span", { class: "ev-status", role: "status", "aria-live": "polite" });
  const reset = make("button", { type: "button", class: "ev-reset", click: () => change({ code: null, group: null, text: "" }) });
  const bar = make("div", { class: "ev-bar", role: "search" }, search, reset, status);
  const files = chooser({
    choose: (file) => change({ file }),
    enter: () => (detail.hidden ? files : findings).focus(),
    leave: () => search.focus(),
  });
  const rest = make("p", { class: "ev-rest" });
  const findings = chooser({
    choose: (key) => change({ selected: Number(key) }),
    enter: () => told.focus(),
    leave: () => files.focus(),
  });
  const title = make("p", { class: "ev-title", role: "heading", "aria-level": "3" });
  const back = (event) => event.key === "Escape" && findings.focus();
  const told = make("div", { class: "ev-told", tabindex: "0", role: "region", keydown: back });
  const source = make("div", { class: "ev-source", keydown: back });
  const clean = make("p", { class: "ev-rest" });
  const detail = make("section", { class: "ev-file" }, title, clean, findings.element, told, source);
  const foot = make("p", { class: "ev-keys" });
  const panes = make("div", { class: "ev-panes" }, make("div", {}, files.element, rest), detail);
  root.append(head, charts, map, left, bar, panes, make("div", { class: "ev-foot" }, foot));

  function change(values) {
    for (const [key, value] of Object.entries(values)) model.set(key, value);
    model.save_changes();
  }

  // ---------------------------------------------------------------- the head, and a chart for each kind of groups

  function drawHead() {
    const said = model.get("_head");
    verdict.className = said.valid ? "ev-valid" : "ev-invalid";
    verdict.replaceChildren(make("strong", {}, said.valid ? "✓ " : "✗ "), said.about.join(" · "));
    remarks.textContent = said.remark;
    language.mark(model.get("lang"), word("language"));
    search.placeholder = word("search_files");
    search.setAttribute("aria-label", word("search_files"));
    reset.textContent = word("reset");
    bar.setAttribute("aria-label", word("search_files"));
    foot.textContent = word("keys_many");
  }

  function drawCharts() {
    const drawn = model.get("_charts").map(({ kind, title, bars, rest }) => {
      const heading = make("button", { type: "button", "data-by": kind, click: () => change({ by: kind }) }, title);
      const lines = bars.map(({ name, label, said, count, wrong, right }) => {
        const bar = make("span", { class: "ev-bars", "aria-hidden": "true" });
        for (const [part, share] of Object.entries({ wrong, right })) {
          const piece = make("span", { class: `ev-${part}` });
          piece.style.width = `${share}%`;
          bar.append(piece);
        }
        const about = `${label}: ${said}`;
        const attributes = { type: "button", "data-by": kind, "data-group": name, title: about, "aria-label": about };
        const content = [make("span", { class: "ev-name" }, label), bar, make("span", { class: "ev-count" }, count)];
        return make("li", {}, make("button", { ...attributes, click: () => pick(kind, name) }, ...content));
      });
      const over = make("div", { class: "ev-over" }, heading, make("span", {}, word("wrong_of")));
      return make("section", { "aria-label": title }, over, make("ul", {}, ...lines), rest ? make("p", {}, rest) : "");
    });
    const focused = [...charts.querySelectorAll("button")].indexOf(charts.ownerDocument.activeElement);
    charts.replaceChildren(...drawn);
    charts.querySelectorAll("button")[focused]?.focus();
    press();
  }

  function pick(by, group) {
    const chosen = model.get("by") === by && model.get("group") === group;
    change(chosen ? { group: null } : { by, code: null, group });
  }

  // ---------------------------------------------------------------- the map: codes by groups

  // A field says in how many files, and by the strength of its colour in which share of the group.
  function drawMap() {
    const { groups, rows, rest } = model.get("_map");
    const field = (count, share, label, code, group) => {
      const attributes = { type: "button", tabindex: "-1", "data-field": "", "aria-label": label, class: count ? "" : "ev-none" };
      const button = make("button", { ...attributes, click: () => choose(code, group) }, count ? String(count) : "·");
      button.chosen = () => model.get("code") === code && model.get("group") === group;
      button.style.setProperty("--ev-share", `${share && 12 + share * 0.6}%`);
      return make("td", {}, button);
    };
    const lines = rows.map(({ code, severity, title, files, cells, shares }) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, sign(severity), code),
        make("td", {}, title),
        field(files, 0, `${code}: ${files}`, code, null),
        ...cells.map((count, at) => field(count, shares[at], `${code}, ${groups[at][1]}: ${count}`, code, groups[at][0])),
      ),
    );
    const heads = [word("code"), word("finding"), word("files"), ...groups.map(([, label]) => label)];
    const top = make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)));
    const hadFocus = map.contains(map.ownerDocument.activeElement);
    map.replaceChildren(make("table", { "aria-label": word("map") }, make("thead", {}, top), make("tbody", {}, ...lines)));
    map.hidden = !rows.length;
    left.textContent = rest;
    left.hidden = !rest;
    press();
    if (hadFocus) map.querySelector('[tabindex="0"]')?.focus();
  }

  function choose(code, group) {
    const chosen = model.get("code") === code && model.get("group") === group;
    change(chosen ? { code: null, group: null } : { code, group });
  }

  // What is chosen looks pressed; the map is one stop of the Tab key, at the chosen field or the first.
  function press() {
    const [by, code, group] = ["by", "code", "group"].map((key) => model.get(key));
    for (const button of charts.querySelectorAll("button")) {
      const { by: kind, group: name } = button.dataset;
      button.setAttribute("aria-pressed", String(kind === by && (name === undefined || (name === group && code === null))));
    }
    const fields = [...map.querySelectorAll("[data-field]")];
    for (const button of fields) button.setAttribute("aria-pressed", String(button.chosen()));
    stop(fields.find((button) => button.chosen()) ?? fields[0]);
  }

  function stop(field) {
    for (const button of map.querySelectorAll('[tabindex="0"]')) button.tabIndex = -1;
    if (field) field.tabIndex = 0;
  }

  function moveInMap(event) {
    const field = event.target.closest("[data-field]");
    if (!field || !isPlain(event)) return;
    if (event.key === "Escape") return change({ code: null, group: null });
    if (!(event.key in MOVES)) return;
    event.preventDefault();
    const [down, right] = MOVES[event.key];
    const rows = [...map.querySelectorAll("tbody tr")];
    const row = rows[rows.indexOf(field.closest("tr")) + down];
    const next = row?.querySelectorAll("[data-field]")[field.closest("td").cellIndex - 2 + right];
    if (!next) return;
    stop(next);
    next.focus();
  }

  // ---------------------------------------------------------------- the files of a field, down to the single finding

  function drawFiles() {
    const { rows, status: counted, rest: more } = model.get("_files");
    const columns = ["file", "verdict", "seller", "errors"].map((key) => [key, word(key)]);
    files.draw(word("files"), columns, [{ title: "", rows }]);
    files.mark(model.get("file"), false);
    status.textContent = counted;
    rest.textContent = more;
    rest.hidden = !more;
    if (search.ownerDocument.activeElement !== search) search.value = model.get("text");
  }

  function drawDetail() {
    const { file, rows } = model.get("_detail");
    detail.hidden = !file;
    if (!file) return;
    detail.setAttribute("aria-label", file);
    title.textContent = file;
    clean.textContent = word("clean");
    clean.hidden = rows.length > 0;
    const columns = ["code", "line", "finding"].map((key) => [key, word(key)]);
    findings.draw(word("findings"), columns, [
      { title: "", rows: rows.map(([number, severity, code, line, text]) => [number, [sign(severity), code], String(line ?? ""), text]) },
    ]);
    findings.mark(model.get("selected"), false);
    drawPlace();
  }

  function drawPlace() {
    const said = model.get("_place");
    told.hidden = source.hidden = !said.excerpt;
    if (!said.excerpt) return;
    told.setAttribute("aria-label", word("detail"));
    told.replaceChildren(
      make("p", {}, said.explanation),
      make("p", { class: "ev-fix" }, make("strong", {}, word("fix"), ": "), said.fix),
      make("p", { class: "ev-remark" }, word("open")),
    );
    told.scrollTop = 0;
    drawSource(source, said.excerpt, word);
  }

  const draw = () => [drawHead(), drawCharts(), drawMap(), drawFiles(), drawDetail()];
  el.append(root);
  draw();
  return listen(model, {
    "change:_words": draw,
    "change:_head": drawHead,
    "change:lang": drawHead,
    "change:_charts": drawCharts,
    "change:_map": drawMap,
    "change:by": press,
    "change:code": press,
    "change:group": press,
    "change:_files": drawFiles,
    "change:file": () => files.mark(model.get("file")),
    "change:_detail": drawDetail,
    "change:selected": () => findings.mark(model.get("selected")),
    "change:_place": drawPlace,
  });
}

export default { render };
