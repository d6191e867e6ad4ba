// Widget for a result set. Python computes the content; this script renders it.

const MOVES = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };

function render({ model, el }) {
  const label = (key) => model.get("_labels")[key] ?? key;
  const search = searchField({ change: (text) => change({ text }), leave: () => files.focus() });
  const root = widgetRoot("ev-many", search);
  const verdict = create("p");
  const language = languageSwitch(model.get("_languages"), (lang) => change({ lang }));
  const notes = create("div", { class: "ev-notes" });
  const headerElement = create("div", { class: "ev-header" }, verdict, language.element, notes);
  const charts = create("div", { class: "ev-charts" });
  const heatmap = create("div", { class: "ev-heatmap", keydown: onHeatmapKeydown });
  const moreGroups = create("p", { class: "ev-more" });
  const status = create("span", { class: "ev-status", role: "status", "aria-live": "polite" });
  const resetFilters = () => change({ code: null, group: null, text: "" });
  const reset = create("button", { type: "button", class: "ev-reset", click: resetFilters });
  const toolbar = create("div", { class: "ev-toolbar", role: "search" }, search, reset, status);
  const files = selectableTable({
    select: (file) => change({ file }),
    enter: () => (detail.hidden ? files : findings).focus(),
    leave: () => search.focus(),
  });
  const moreFiles = create("p", { class: "ev-more" });
  const findings = selectableTable({
    select: (key) => change({ selected: Number(key) }),
    enter: () => explanation.focus(),
    leave: () => files.focus(),
  });
  const title = create("p", { class: "ev-title", role: "heading", "aria-level": "3" });
  const back = (event) => event.key === "Escape" && findings.focus();
  const explanation = create("div", { class: "ev-explanation", tabindex: "0", role: "region", keydown: back });
  const source = create("div", { class: "ev-source", keydown: back });
  const noFindings = create("p", { class: "ev-more" });
  const detail = create("section", { class: "ev-file" }, title, noFindings, findings.element, explanation, source);
  const shortcuts = create("p", { class: "ev-shortcuts" });
  const panes = create("div", { class: "ev-panes" }, create("div", {}, files.element, moreFiles), detail);
  const footer = create("div", { class: "ev-footer" }, shortcuts);
  root.append(headerElement, charts, heatmap, moreGroups, toolbar, panes, footer);

  function change(values) {
    for (const [key, value] of Object.entries(values)) model.set(key, value);
    model.save_changes();
  }

  // ---------------------------------------------------------------- header and charts

  function renderHeader() {
    const header = model.get("_header");
    verdict.className = header.valid ? "ev-valid" : "ev-invalid";
    verdict.replaceChildren(create("strong", {}, header.valid ? "✓ " : "✗ "), header.summary.join(" · "));
    notes.textContent = header.remark;
    language.update(model.get("lang"), label("language"));
    search.placeholder = label("search_files");
    search.setAttribute("aria-label", label("search_files"));
    reset.textContent = label("reset");
    toolbar.setAttribute("aria-label", label("search_files"));
    shortcuts.textContent = label("shortcuts_many");
  }

  function renderCharts() {
    const sections = model.get("_charts").map(({ kind, title, bars, more }) => {
      const heading = create("button", { type: "button", "data-by": kind, click: () => change({ by: kind }) }, title);
      const lines = bars.map(({ name, label: text, description, count, invalid, valid }) => {
        const bar = create("span", { class: "ev-stacked-bar", "aria-hidden": "true" });
        for (const [part, width] of Object.entries({ invalid, valid })) {
          const piece = create("span", { class: `ev-bar-${part}` });
          piece.style.width = `${width}%`;
          bar.append(piece);
        }
        const ariaLabel = `${text}: ${description}`;
        const click = () => selectGroup(kind, name);
        const attributes = { type: "button", "data-by": kind, "data-group": name, click };
        const content = [create("span", { class: "ev-name" }, text), bar, create("span", { class: "ev-count" }, count)];
        const button = create("button", { ...attributes, title: ariaLabel, "aria-label": ariaLabel }, ...content);
        return create("li", {}, button);
      });
      const chartHeader = create("div", { class: "ev-chart-header" }, heading, create("span", {}, label("invalid_of_all")));
      const list = create("ul", {}, ...lines);
      return create("section", { "aria-label": title }, chartHeader, list, more ? create("p", {}, more) : "");
    });
    const focused = [...charts.querySelectorAll("button")].indexOf(charts.ownerDocument.activeElement);
    charts.replaceChildren(...sections);
    charts.querySelectorAll("button")[focused]?.focus();
    updateSelection();
  }

  function selectGroup(by, group) {
    const selected = model.get("by") === by && model.get("group") === group;
    change(selected ? { group: null } : { by, code: null, group });
  }

  // ---------------------------------------------------------------- heatmap: rules by groups

  // A cell shows the number of files; its colour intensity is the share of the group.
  function renderHeatmap() {
    const { groups, rows, more } = model.get("_heatmap");
    const cell = (count, share, ariaLabel, code, group) => {
      const attributes = { type: "button", tabindex: "-1", "data-cell": "", "aria-label": ariaLabel };
      const click = () => selectCell(code, group);
      const button = create("button", { ...attributes, click }, count ? String(count) : "·");
      button.classList.toggle("ev-zero", !count);
      button.isSelected = () => model.get("code") === code && model.get("group") === group;
      button.style.setProperty("--ev-share", `${share && 12 + share * 0.6}%`);
      return create("td", {}, button);
    };
    const lines = rows.map(({ code, severity, title, files, cells, shares }) =>
      create(
        "tr",
        {},
        create("th", { scope: "row" }, severityIcon(severity), code),
        create("td", {}, title),
        cell(files, 0, `${code}: ${files}`, code, null),
        ...cells.map((count, index) => {
          const [group, text] = groups[index];
          return cell(count, shares[index], `${code}, ${text}: ${count}`, code, group);
        }),
      ),
    );
    const headings = [label("code"), label("finding"), label("files"), ...groups.map(([, text]) => text)];
    const headerRow = create("tr", {}, ...headings.map((text) => create("th", { scope: "col" }, text)));
    const hadFocus = heatmap.contains(heatmap.ownerDocument.activeElement);
    const table = [create("thead", {}, headerRow), create("tbody", {}, ...lines)];
    heatmap.replaceChildren(create("table", { "aria-label": label("heatmap") }, ...table));
    heatmap.hidden = !rows.length;
    moreGroups.textContent = more;
    moreGroups.hidden = !more;
    updateSelection();
    if (hadFocus) heatmap.querySelector('[tabindex="0"]')?.focus();
  }

  function selectCell(code, group) {
    const selected = model.get("code") === code && model.get("group") === group;
    change(selected ? { code: null, group: null } : { code, group });
  }

  // Mark the selection as pressed. The heatmap has a single tab stop: the selected cell, or the first.
  function updateSelection() {
    const [by, code, group] = ["by", "code", "group"].map((key) => model.get(key));
    for (const button of charts.querySelectorAll("button")) {
      const { by: kind, group: name } = button.dataset;
      const selected = kind === by && (name === undefined || (name === group && code === null));
      button.setAttribute("aria-pressed", String(selected));
    }
    const cells = [...heatmap.querySelectorAll("[data-cell]")];
    for (const button of cells) button.setAttribute("aria-pressed", String(button.isSelected()));
    setTabStop(cells.find((button) => button.isSelected()) ?? cells[0]);
  }

  function setTabStop(cell) {
    for (const button of heatmap.querySelectorAll('[tabindex="0"]')) button.tabIndex = -1;
    if (cell) cell.tabIndex = 0;
  }

  function onHeatmapKeydown(event) {
    const cell = event.target.closest("[data-cell]");
    if (!cell || !hasNoModifiers(event)) return;
    if (event.key === "Escape") return change({ code: null, group: null });
    if (!(event.key in MOVES)) return;
    event.preventDefault();
    const [down, right] = MOVES[event.key];
    const rows = [...heatmap.querySelectorAll("tbody tr")];
    const row = rows[rows.indexOf(cell.closest("tr")) + down];
    const next = row?.querySelectorAll("[data-cell]")[cell.closest("td").cellIndex - 2 + right];
    if (!next) return;
    setTabStop(next);
    next.focus();
  }

  // ---------------------------------------------------------------- files and findings

  function renderFiles() {
    const { rows, status: message, more: moreText } = model.get("_files");
    const columns = ["file", "verdict", "seller", "errors"].map((key) => [key, label(key)]);
    files.render(label("files"), columns, [{ title: "", rows }]);
    files.setSelected(model.get("file"), false);
    status.textContent = message;
    moreFiles.textContent = moreText;
    moreFiles.hidden = !moreText;
    if (search.ownerDocument.activeElement !== search) search.value = model.get("text");
  }

  function renderDetail() {
    const { file, rows } = model.get("_file_details");
    detail.hidden = !file;
    if (!file) return;
    detail.setAttribute("aria-label", file);
    title.textContent = file;
    noFindings.textContent = label("no_findings");
    noFindings.hidden = rows.length > 0;
    const columns = ["code", "line", "finding"].map((key) => [key, label(key)]);
    const cells = ([number, severity, code, line, text]) => {
      return [number, [severityIcon(severity), code], String(line ?? ""), text];
    };
    findings.render(label("findings"), columns, [{ title: "", rows: rows.map(cells) }]);
    findings.setSelected(model.get("selected"), false);
    renderFinding();
  }

  function renderFinding() {
    const finding = model.get("_finding_details");
    explanation.hidden = source.hidden = !finding.excerpt;
    if (!finding.excerpt) return;
    explanation.setAttribute("aria-label", label("details"));
    explanation.replaceChildren(
      create("p", {}, finding.explanation),
      create("p", { class: "ev-fix" }, create("strong", {}, label("fix"), ": "), finding.fix),
      create("p", { class: "ev-note" }, label("open_file")),
    );
    explanation.scrollTop = 0;
    renderExcerpt(source, finding.excerpt, label);
  }

  const renderAll = () => [renderHeader(), renderCharts(), renderHeatmap(), renderFiles(), renderDetail()];
  el.append(root);
  renderAll();
  return addListeners(model, {
    "change:_labels": renderAll,
    "change:_header": renderHeader,
    "change:lang": renderHeader,
    "change:_charts": renderCharts,
    "change:_heatmap": renderHeatmap,
    "change:by": updateSelection,
    "change:code": updateSelection,
    "change:group": updateSelection,
    "change:_files": renderFiles,
    "change:file": () => files.setSelected(model.get("file")),
    "change:_file_details": renderDetail,
    "change:selected": () => findings.setSelected(model.get("selected")),
    "change:_finding_details": renderFinding,
  });
}

export default { render };
