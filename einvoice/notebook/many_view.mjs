// Widget for a result set. Python computes the content; this script renders it.

const VERDICT_ICONS = { valid: "✓", invalid: "✗", unreadable: "?" };
const MOVES = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };

const DESCENDING_FIRST = ["errors", "warnings"];
const GROUPS = ["folder", "seller", "month"];

function render({ model, el }) {
  const label = (key) => model.get("_labels")[key] ?? key;
  const search = searchField({ change: (text) => filter({ text: text || null }), leave: () => files.focus() });
  const root = widgetRoot("ev-many", search);
  const verdict = create("p");
  const language = languageSwitch(model.get("_languages"), (lang) => change({ lang }));
  const notes = create("div", { class: "ev-notes" });
  const headerElement = create("div", { class: "ev-header" }, verdict, language.element, notes);
  const toggles = Object.fromEntries(["verdict", "severity"].map((key) => [key, create("span", { role: "group" })]));
  const selects = ["code", ...GROUPS].map((key) => {
    const onChange = (event) => filter({ [key]: event.target.value ? event.target.value.slice(1) : null });
    return create("select", { "data-key": key, change: onChange });
  });
  const toggleConsequences = () => change({ consequences: !model.get("consequences") });
  const consequences = create("button", { type: "button", class: "ev-consequences", click: toggleConsequences });
  const reset = create("button", { type: "button", class: "ev-reset", click: () => change({ filters: {} }) });
  const status = create("span", { class: "ev-status", role: "status", "aria-live": "polite" });
  const controls = [...Object.values(toggles), ...selects, search, consequences, reset, status];
  const toolbar = create("div", { class: "ev-toolbar", role: "search" }, ...controls);
  const charts = create("div", { class: "ev-charts" });
  const causesTitle = create("strong");
  const causesAbout = create("span", { role: "status", "aria-live": "polite" });
  const causesClick = () => {
    if (model.get("with_causes")) return change({ with_causes: false });
    causesButton.setAttribute("aria-disabled", "true");
    causesAbout.textContent = label("causes_searched");
    change({ with_causes: true });
  };
  const causesButton = create("button", { type: "button", class: "ev-find-causes", click: causesClick });
  const causesHeader = create("div", { class: "ev-causes-header" }, causesTitle, causesButton, causesAbout);
  const causesTable = create("table");
  const moreCauses = create("p", { class: "ev-more" });
  const causes = create("section", { class: "ev-causes" }, causesHeader, causesTable, moreCauses);
  const heatmap = create("div", { class: "ev-heatmap", keydown: onHeatmapKeydown });
  const moreGroups = create("p", { class: "ev-more" });
  const files = selectableTable({
    select: (file) => change({ file }),
    enter: () => (detail.hidden ? files : findings).focus(),
    leave: () => search.focus(),
    sort: onSort,
  });
  const noFiles = create("p", { class: "ev-more" });
  const range = create("span", { class: "ev-range" });
  const pageButton = (key, text, page) => {
    const onClick = () => goToPage(page(model.get("page"), model.get("_files").pages));
    return create("button", { type: "button", "data-key": key, click: onClick }, text);
  };
  const pager = create(
    "div",
    { class: "ev-pager", role: "group" },
    pageButton("first_page", "«", () => 1),
    pageButton("previous_page", "‹", (page) => page - 1),
    range,
    pageButton("next_page", "›", (page) => page + 1),
    pageButton("last_page", "»", (_, pages) => pages),
  );
  const findings = selectableTable({
    select: (key) => change({ selected: Number(key) }),
    enter: () => explanation.focus(),
    leave: () => files.focus(),
  });
  const title = create("p", { class: "ev-title", role: "heading", "aria-level": "3" });
  const back = (event) => event.key === "Escape" && findings.focus();
  const explanation = create("div", { class: "ev-explanation", tabindex: "0", role: "region", keydown: back });
  const source = create("section", { class: "ev-source", keydown: back });
  const noFindings = create("p", { class: "ev-more" });
  const moreFindings = create("p", { class: "ev-more" });
  const openLabel = create("span");
  const openCode = create("code");
  const copy = copyButton({ class: "ev-copy" }, "", () => label("copied"), openCode);
  const open = create("div", { class: "ev-open" }, openLabel, openCode, copy);
  const parts = [title, open, noFindings, findings.element, moreFindings, explanation];
  const detail = create("section", { class: "ev-file" }, ...parts);
  const shortcuts = create("p", { class: "ev-shortcuts" });
  const panes = create("div", { class: "ev-panes" }, create("div", {}, files.element, noFiles, pager), detail, source);
  const footer = create("div", { class: "ev-footer" }, shortcuts);
  root.append(headerElement, toolbar, charts, causes, heatmap, moreGroups, panes, footer);

  function change(values) {
    for (const [key, value] of Object.entries(values)) model.set(key, value);
    model.save_changes();
  }

  // Change filters, and other values with them; null removes a filter.
  function filter(values, others = {}) {
    const filters = { ...model.get("filters"), ...values };
    for (const key of Object.keys(filters)) if (filters[key] === null) delete filters[key];
    change({ filters, ...others });
  }

  function toggle(key, value) {
    const chosen = new Set(model.get("filters")[key] ?? []);
    if (!chosen.delete(value)) chosen.add(value);
    filter({ [key]: chosen.size ? [...chosen] : null });
  }

  // ---------------------------------------------------------------- header

  function renderHeader() {
    const header = model.get("_header");
    verdict.className = header.valid ? "ev-valid" : "ev-invalid";
    verdict.replaceChildren(create("strong", {}, header.valid ? "✓ " : "✗ "), header.summary.join(" · "));
    notes.textContent = header.remark;
    language.update(model.get("lang"), label("language"));
    search.placeholder = label("search_files");
    search.setAttribute("aria-label", label("search_files"));
    reset.textContent = label("reset");
    toolbar.setAttribute("aria-label", label("filter_files"));
    consequences.textContent = `${label("consequences")} ${header.consequences}`;
    consequences.title = label("consequences_hint");
    consequences.hidden = !header.consequences;
    for (const [key, group] of Object.entries(toggles)) group.setAttribute("aria-label", label(key));
    for (const select of selects) select.setAttribute("aria-label", label(select.dataset.key));
    pager.setAttribute("aria-label", label("pages"));
    for (const button of pager.querySelectorAll("button"))
      for (const name of ["title", "aria-label"]) button.setAttribute(name, label(button.dataset.key));
    shortcuts.textContent = label("shortcuts_many");
  }

  // ---------------------------------------------------------------- filters

  function renderToolbar() {
    const [choices, filters] = [model.get("_choices"), model.get("filters")];
    for (const [key, group] of Object.entries(toggles)) {
      const focused = group.contains(root.getRootNode().activeElement) && root.getRootNode().activeElement.dataset.value;
      const buttons = choices[key].map(([value, text, count]) => {
        const chosen = (filters[key] ?? []).includes(value);
        const attributes = { type: "button", "data-value": value, "aria-pressed": String(chosen) };
        const icon = key === "severity" ? severityIcon(value) : verdictIcon(value);
        return create("button", { ...attributes, click: () => toggle(key, value) }, icon, `${text} ${number(count)}`);
      });
      group.replaceChildren(...buttons);
      if (focused) buttons.find((it) => it.dataset.value === focused)?.focus();
    }
    for (const select of selects) {
      const key = select.dataset.key;
      const options = choices[key].map(([value, text, count]) =>
        create("option", { value: `=${value}` }, `${text} (${number(count)})`),
      );
      select.replaceChildren(create("option", { value: "" }, `${label(key)}: ${label("all")}`), ...options);
      select.value = key in filters ? `=${filters[key]}` : "";
      select.classList.toggle("ev-chosen", key in filters);
      select.hidden = !choices[key].length;
    }
    consequences.setAttribute("aria-pressed", String(model.get("consequences")));
    const text = filters.text ?? "";
    if (root.getRootNode().activeElement !== search || !text) search.value = text;
  }

  const number = (count) => count.toLocaleString(model.get("lang"));

  function verdictIcon(name) {
    return create("span", { class: `ev-icon-${name}`, "aria-hidden": "true" }, VERDICT_ICONS[name], " ");
  }

  // ---------------------------------------------------------------- charts

  function renderCharts() {
    const sections = model.get("_charts").map(({ kind, title, unit, bars, more }) => {
      const heading = create("button", { type: "button", "data-by": kind, click: () => change({ by: kind }) }, title);
      const lines = bars.map(({ name, label: text, full, description, count, ...parts }) => {
        const bar = create("span", { class: "ev-stacked-bar", "aria-hidden": "true" });
        for (const part of ["invalid", "unreadable", "valid"]) {
          const piece = create("span", { class: `ev-bar-${part}` });
          piece.style.width = `${parts[part]}%`;
          bar.append(piece);
        }
        const ariaLabel = `${full}: ${description}`;
        const click = () => selectGroup(kind, name);
        const attributes = { type: "button", "data-by": kind, "data-group": name, click };
        const content = [create("span", { class: "ev-name" }, text), bar, create("span", { class: "ev-count" }, count)];
        const button = create("button", { ...attributes, title: ariaLabel, "aria-label": ariaLabel }, ...content);
        return create("li", {}, button);
      });
      const chartHeader = create("div", { class: "ev-chart-header" }, heading, create("span", {}, unit));
      const list = create("ul", {}, ...lines);
      return create("section", { "aria-label": title }, chartHeader, list, more ? create("p", {}, more) : "");
    });
    const focused = [...charts.querySelectorAll("button")].indexOf(charts.ownerDocument.activeElement);
    charts.replaceChildren(...sections);
    charts.querySelectorAll("button")[focused]?.focus();
    updateSelection();
  }

  function selectGroup(by, group) {
    const chosen = model.get("filters")[by] === group;
    filter({ [by]: chosen ? null : group }, { by });
  }

  // ---------------------------------------------------------------- causes: changes that would mend most files

  function renderCauses() {
    const { hidden, searched, about, columns, rows, more } = model.get("_causes");
    const chosen = model.get("filters").cause;
    causes.hidden = hidden;
    causes.setAttribute("aria-label", label("causes_by_change"));
    causesTitle.textContent = label("causes_by_change");
    causesButton.removeAttribute("aria-disabled");
    causesButton.textContent = label(searched ? "hide_causes" : "find_causes");
    causesButton.title = searched ? "" : label("find_many_causes_hint");
    causesAbout.textContent = model.get("_causes_progress") || (searched ? about.join(" ") : "");
    causesTable.hidden = !searched || !rows.length;
    moreCauses.hidden = !searched || !more;
    moreCauses.textContent = more;
    const focused = causesTable.contains(root.getRootNode().activeElement) && root.getRootNode().activeElement.dataset.cause;
    const lines = rows.map(({ name, text, codes, cells, share }) => {
      const bar = create("span", { class: "ev-stacked-bar", "aria-hidden": "true" }, create("span", { class: "ev-bar-invalid" }));
      bar.firstChild.style.width = `${share}%`;
      const click = () => filter({ cause: chosen === name ? null : name });
      const content = [create("span", {}, text), create("small", {}, codes), bar];
      const attributes = { type: "button", "data-cause": name, "aria-pressed": String(chosen === name), click };
      const heading = create("th", { scope: "row" }, create("button", attributes, ...content));
      return create("tr", {}, heading, ...cells.map((cell) => create("td", {}, cell)));
    });
    const [last, ...others] = [...columns.slice(-1), ...columns.slice(0, -1)];
    const headings = [last, ...others].map((text) => create("th", { scope: "col" }, text));
    causesTable.setAttribute("aria-label", label("causes_by_change"));
    causesTable.replaceChildren(create("thead", {}, create("tr", {}, ...headings)), create("tbody", {}, ...lines));
    if (focused) causesTable.querySelector(`[data-cause="${CSS.escape(focused)}"]`)?.focus();
  }

  // ---------------------------------------------------------------- heatmap: rules by groups

  // A cell shows the number of files; its colour intensity is the share of the group.
  function renderHeatmap() {
    const { groups, rows, more } = model.get("_heatmap");
    const cell = (count, share, ariaLabel, code, group) => {
      const attributes = { type: "button", tabindex: "-1", "data-cell": "", "aria-label": ariaLabel };
      const button = create("button", { ...attributes, click: () => selectCell(code, group) }, count ? number(count) : "·");
      button.classList.toggle("ev-zero", !count);
      button.isSelected = () => isCell(code, group);
      button.style.setProperty("--ev-share", `${share && 12 + share * 0.6}%`);
      return create("td", {}, button);
    };
    const line = ({ code, severity, title, files, cells, shares }) =>
      create(
        "tr",
        {},
        create("th", { scope: "row", "data-key": "code", "data-value": code }, severityIcon(severity), code),
        create("td", { title }, create("span", {}, title)),
        cell(files, 0, `${code}: ${files}`, code, null),
        ...cells.map((count, index) => {
          const [group, text] = groups[index];
          return cell(count, shares[index], `${code}, ${text}: ${count}`, code, group);
        }),
      );
    const unreadable = rows.filter((row) => row.unreadable).map(line);
    const heading = create("th", { colspan: groups.length + 3, scope: "rowgroup" }, label("unreadable_files"));
    const separator = unreadable.length ? [create("tr", { class: "ev-group" }, heading)] : [];
    const lines = [...rows.filter((row) => !row.unreadable).map(line), ...separator, ...unreadable];
    const columns = groups.map(([name, text, full]) => {
      return create("th", { scope: "col", title: full || null, "data-value": name }, text);
    });
    const headings = ["code", "finding", "files"].map((key) => create("th", { scope: "col" }, label(key)));
    const headerRow = create("tr", {}, ...headings, ...columns);
    const hadFocus = heatmap.contains(heatmap.ownerDocument.activeElement);
    const table = [create("thead", {}, headerRow), create("tbody", {}, ...lines)];
    heatmap.replaceChildren(create("table", { "aria-label": label("heatmap") }, ...table));
    heatmap.hidden = !rows.length;
    moreGroups.textContent = more;
    moreGroups.hidden = !more;
    updateSelection();
    if (hadFocus) heatmap.querySelector('[tabindex="0"]')?.focus();
  }

  const group = () => model.get("filters")[model.get("by")] ?? null;

  function isCell(code, name) {
    return (model.get("filters").code ?? null) === code && group() === name;
  }

  function selectCell(code, name) {
    const by = model.get("by");
    filter(isCell(code, name) ? { code: null, [by]: null } : { code, [by]: name });
  }

  // Mark the selection as pressed. The heatmap has a single tab stop: the selected cell, or the first.
  function updateSelection() {
    const filters = model.get("filters");
    for (const button of charts.querySelectorAll("button")) {
      const { by: kind, group: name } = button.dataset;
      const selected = name === undefined ? kind === model.get("by") : name === filters[kind];
      button.setAttribute("aria-pressed", String(selected));
    }
    const cells = [...heatmap.querySelectorAll("[data-cell]")];
    for (const button of cells) button.setAttribute("aria-pressed", String(button.isSelected()));
    for (const heading of heatmap.querySelectorAll("th[data-value]"))
      heading.classList.toggle("ev-chosen", filters[heading.dataset.key ?? model.get("by")] === heading.dataset.value);
    setTabStop(cells.find((button) => button.isSelected()) ?? cells[0]);
  }

  function setTabStop(cell) {
    for (const button of heatmap.querySelectorAll('[tabindex="0"]')) button.tabIndex = -1;
    if (cell) cell.tabIndex = 0;
  }

  function onHeatmapKeydown(event) {
    const cell = event.target.closest("[data-cell]");
    if (!cell || !hasNoModifiers(event)) return;
    if (event.key === "Escape") return filter({ code: null, [model.get("by")]: null });
    if (!(event.key in MOVES)) return;
    event.preventDefault();
    const [down, right] = MOVES[event.key];
    const rows = [...heatmap.querySelectorAll("tbody tr:not(.ev-group)")];
    const row = rows[rows.indexOf(cell.closest("tr")) + down];
    const next = row?.querySelectorAll("[data-cell]")[cell.closest("td").cellIndex - 2 + right];
    if (!next) return;
    setTabStop(next);
    next.focus();
  }

  // ---------------------------------------------------------------- files and findings

  function onSort(name) {
    const [column, descending] = model.get("_files").sort;
    change({ sort: (column === name ? !descending : DESCENDING_FIRST.includes(name)) ? `-${name}` : name });
  }

  function goToPage(page) {
    if (page >= 1 && page <= model.get("_files").pages && page !== model.get("page")) change({ page });
  }

  function renderFiles() {
    const { rows, status: message, pages, range: rangeText } = model.get("_files");
    const [sorted, descending] = model.get("_files").sort;
    const columns = ["file", "verdict", "number", "date", "seller", "errors", "warnings"].map((key) => {
      const order = key !== sorted ? "none" : descending ? "descending" : "ascending";
      return [key, label(key), order];
    });
    const cells = ([key, file, word, verdictText, invoiceNumber, date, seller, ...counts]) => {
      const texts = [file, invoiceNumber, seller].map((text) => create("span", { title: text }, text));
      const verdictCell = [verdictIcon(word), verdictText];
      return [key, texts[0], verdictCell, texts[1], date, texts[2], ...counts.map(number)];
    };
    files.render(label("files"), columns, [{ title: "", rows: rows.map(cells) }]);
    files.setSelected(model.get("file"), false);
    files.scrollToTop();
    status.textContent = message;
    noFiles.textContent = label("no_files");
    noFiles.hidden = rows.length > 0;
    range.textContent = rangeText;
    pager.hidden = pages < 2;
    const page = model.get("page");
    for (const button of pager.querySelectorAll("button")) {
      const isForward = ["next_page", "last_page"].includes(button.dataset.key);
      button.setAttribute("aria-disabled", String(isForward ? page >= pages : page <= 1));
    }
  }

  function renderDetail() {
    const { file, open: code, groups, more } = model.get("_file_details");
    detail.hidden = !file;
    if (!file) source.hidden = true;
    if (!file) return;
    detail.setAttribute("aria-label", file);
    title.textContent = file;
    openLabel.textContent = label("open_file");
    openCode.textContent = code;
    copy.textContent = label("copy");
    noFindings.textContent = label("no_findings");
    noFindings.hidden = groups.length > 0 || Boolean(more);
    moreFindings.textContent = more;
    moreFindings.hidden = !more;
    const columns = ["code", "line", "finding"].map((key) => [key, label(key)]);
    const cells = ([key, severity, code, line, text]) => [key, [severityIcon(severity), code], String(line ?? ""), text];
    const tableGroups = groups.map(({ title, rows }) => ({ title, rows: rows.map(cells) }));
    findings.render(label("findings"), columns, tableGroups);
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
    );
    explanation.scrollTop = 0;
    renderExcerpt(source, finding.excerpt, label);
  }

  const renderAll = () => {
    for (const renderPart of [renderHeader, renderToolbar, renderCharts, renderCauses, renderHeatmap, renderFiles, renderDetail]) renderPart();
  };
  el.append(root);
  renderAll();
  return addListeners(model, {
    "change:_labels": renderAll,
    "change:_header": renderHeader,
    "change:lang": renderHeader,
    "change:_choices": renderToolbar,
    "change:consequences": renderToolbar,
    "change:filters": () => [renderToolbar(), updateSelection(), renderCauses()],
    "change:_charts": renderCharts,
    "change:_causes": renderCauses,
    "change:_causes_progress": renderCauses,
    "change:_heatmap": renderHeatmap,
    "change:by": updateSelection,
    "change:_files": renderFiles,
    "change:file": () => files.setSelected(model.get("file")),
    "change:_file_details": renderDetail,
    "change:selected": () => findings.setSelected(model.get("selected")),
    "change:_finding_details": renderFinding,
  });
}

export default { render };
