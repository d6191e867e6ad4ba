// Widget for one result. Python computes the content; this script renders it.

let viewCount = 0;

function render({ model, el }) {
  const causesId = `einvoice-cause-${(viewCount += 1)}`;
  const label = (key) => model.get("_labels")[key] ?? key;
  const search = searchField({ change: (text) => filter("text", text), leave: () => list.focus() });
  const root = widgetRoot("ev-single", search);
  const verdict = create("p");
  const language = languageSwitch(model.get("_languages"), (lang) => change("lang", lang));
  const notes = create("div", { class: "ev-notes" });
  const headerElement = create("div", { class: "ev-header" }, verdict, language.element, notes);
  const toolbar = create("div", { class: "ev-toolbar", role: "search" });
  const status = create("p", { class: "ev-status", role: "status", "aria-live": "polite" });
  const list = selectableTable({
    select: (key) => change("selected", Number(key)),
    enter: () => detail.focus(),
    leave: () => search.focus(),
  });
  const more = create("p", { class: "ev-more" });
  const causesTitle = create("p", { class: "ev-causes-title", role: "status", "aria-live": "polite" });
  const findCauses = create("button", { type: "button", class: "ev-find-causes", click: showCauses });
  const causesHeader = create("div", { class: "ev-causes-header" }, causesTitle, findCauses);
  const causesList = create("ul", { class: "ev-causes-list" });
  const causes = create("section", { class: "ev-causes" }, causesHeader, causesList);
  const assessment = create("details", { class: "ev-fold ev-assessment" });
  const letterText = create("div", { class: "ev-letter-text", role: "group", tabindex: "0" });
  const letterSummary = create("summary");
  const copyLetter = create("div");
  const letter = create("details", { class: "ev-fold ev-letter", toggle: openLetter }, letterSummary, letterText, copyLetter);
  const back = (event) => event.key === "Escape" && list.focus();
  const detail = create("section", { class: "ev-detail", tabindex: "0", keydown: back });
  const source = create("section", { class: "ev-source", keydown: back });
  const footer = create("div", { class: "ev-footer" });
  const panes = create("div", { class: "ev-panes" }, create("div", {}, list.element, more), detail, source);
  root.append(headerElement, assessment, causes, letter, toolbar, status, panes, footer);

  function change(key, value) {
    model.set(key, value);
    model.save_changes();
  }

  function filter(key, value) {
    const filters = { ...model.get("filters"), [key]: value };
    if (!value.length) delete filters[key];
    change("filters", filters);
  }

  // ---------------------------------------------------------------- header and footer

  function renderHeader() {
    const header = model.get("_header");
    const summary = header.summary.flatMap((text) => [" · ", text]);
    verdict.className = header.valid ? "ev-valid" : "ev-invalid";
    verdict.replaceChildren(create("strong", {}, header.valid ? "✓ " : "✗ ", header.verdict), ...summary);
    notes.replaceChildren(...header.remarks.map((text) => create("p", {}, text)));
    language.update(model.get("lang"), label("language"));
  }

  // Layers and rule set differences, collapsed: they are the same for most invoices.
  function renderFooter() {
    const sections = model.get("_header").sections.map(([summary, lines]) => {
      const items = lines.map((text) => create("li", {}, text));
      return create("details", {}, create("summary", {}, summary), create("ul", {}, ...items));
    });
    footer.replaceChildren(...sections, create("p", { class: "ev-shortcuts" }, label("shortcuts")));
  }

  // ---------------------------------------------------------------- filters

  function renderToolbar() {
    const choices = model.get("_choices");
    const severities = choices.severity.map(([value, , count]) => {
      const attributes = { type: "button", "data-severity": value, click: () => toggle(value) };
      return create("button", attributes, severityIcon(value), `${label(value)} ${count}`);
    });
    const selects = ["layer", "section", "term"].map((key) => {
      const options = choices[key].map(([value, text, count]) => create("option", { value }, `${text} (${count})`));
      const all = create("option", { value: "" }, `${label(key)}: ${label("all")}`);
      const attributes = { "data-key": key, "aria-label": label(key) };
      return create("select", { ...attributes, change: (event) => filter(key, event.target.value) }, all, ...options);
    });
    search.placeholder = label("search");
    search.setAttribute("aria-label", label("search"));
    const resetFilters = () => change("filters", {});
    const reset = create("button", { type: "button", class: "ev-reset", click: resetFilters }, label("reset"));
    toolbar.setAttribute("aria-label", label("filter"));
    const group = create("span", { role: "group", "aria-label": label("severity") }, ...severities);
    toolbar.replaceChildren(group, ...selects, search, reset);
    updateToolbar();
  }

  function toggle(severity) {
    const selected = new Set(model.get("filters").severity ?? []);
    if (!selected.delete(severity)) selected.add(severity);
    filter("severity", [...selected]);
  }

  function updateToolbar() {
    const filters = model.get("filters");
    for (const button of toolbar.querySelectorAll("[data-severity]"))
      button.setAttribute("aria-pressed", String((filters.severity ?? []).includes(button.dataset.severity)));
    for (const select of toolbar.querySelectorAll("select")) select.value = filters[select.dataset.key] ?? "";
    const text = filters.text ?? "";
    if (search.value !== text && search.ownerDocument.activeElement !== search) search.value = text;
    if (!Object.keys(filters).length) search.value = "";
  }

  // ---------------------------------------------------------------- causes: each opens to its findings and changes

  function showCauses() {
    findCauses.textContent = label("causes_searched");
    findCauses.setAttribute("aria-disabled", "true");
    change("with_causes", true);
  }

  function renderCauses() {
    const { title, items, more, remark, hidden } = model.get("_causes");
    const [hadFocus, focused] = [causes.contains(root.getRootNode().activeElement), focusedCause()];
    causes.hidden = hidden;
    causes.setAttribute("aria-label", label("causes"));
    causesTitle.textContent = title;
    findCauses.hidden = model.get("with_causes");
    findCauses.textContent = label("find_causes");
    findCauses.title = label("find_causes_hint");
    findCauses.removeAttribute("aria-disabled");
    const lines = items.map(({ text, explains, severity, codes }, number) => {
      const id = `${causesId}-${number}`;
      const click = () => change("cause", model.get("cause") === number ? -1 : number);
      const content = [severityIcon(severity), create("span", {}, text), create("small", {}, `${explains} (${codes})`)];
      const button = create("button", { type: "button", "data-cause": number, "aria-controls": id, click }, ...content);
      const onKeydown = (event) => event.key === "Escape" && (event.preventDefault(), button.focus());
      const attributes = { id, class: "ev-cause", role: "group", "aria-label": text, keydown: onKeydown };
      return create("li", {}, button, create("div", attributes));
    });
    for (const text of [more, remark]) if (text) lines.push(create("li", { class: "ev-more" }, text));
    causesList.replaceChildren(...lines);
    causesList.hidden = !lines.length;
    renderCause();
    if (hadFocus) (causesList.querySelector(`[data-cause="${focused}"]`) ?? causesList.querySelector("button"))?.focus();
  }

  function focusedCause() {
    return root.getRootNode().activeElement?.closest("li")?.querySelector("[data-cause]")?.dataset.cause ?? "0";
  }

  function renderCause() {
    const [open, details] = [model.get("cause"), model.get("_cause_details")];
    for (const button of causesList.querySelectorAll("[data-cause]")) {
      const isOpen = Number(button.dataset.cause) === open && Boolean(details.findings);
      const body = button.nextElementSibling;
      button.setAttribute("aria-expanded", String(isOpen));
      body.hidden = !isOpen;
      body.replaceChildren(...(isOpen ? causeContent(details) : []));
    }
    markCausedFinding();
  }

  function causeContent({ place, note, label: changeLabel, changes, findings, more: moreText }) {
    const buttons = findings.map(({ number, severity, code, position, title }) => {
      const where = position ? ` (${position})` : "";
      const attributes = { type: "button", "data-finding": number, click: () => change("selected", number) };
      return create("li", {}, create("button", attributes, severityIcon(severity), create("strong", {}, code), where, ": ", title));
    });
    return [
      place ? create("p", { class: "ev-place" }, create("code", {}, place)) : "",
      note ? create("p", { class: "ev-note" }, note) : "",
      changeLabel ? create("p", {}, create("strong", {}, changeLabel)) : "",
      ...changes.map(renderChange),
      create("p", {}, create("strong", {}, label("findings"))),
      create("ul", { class: "ev-caused" }, ...buttons),
      moreText ? create("p", { class: "ev-more" }, moreText) : "",
    ].filter(Boolean);
  }

  function renderChange({ text, proof, copy, diff }) {
    const change = create("pre", { class: "ev-change", tabindex: "0", "aria-label": text }, copy);
    const difference = create("pre", { class: "ev-change", tabindex: "0", "aria-label": label("diff") }, diff);
    const copyAttributes = { "aria-label": `${label("copy_change")}: ${text}` };
    const copyDiffAttributes = { "aria-label": `${label("copy_diff")}: ${text}` };
    return create(
      "div",
      { class: "ev-fix" },
      create("p", {}, text),
      create("p", {}, proof),
      change,
      copyButton(copyAttributes, label("copy_change"), () => label("copied"), change),
      diff
        ? create(
            "details",
            {},
            create("summary", {}, label("diff")),
            difference,
            copyButton(copyDiffAttributes, label("copy_diff"), () => label("copied"), difference),
          )
        : "",
    );
  }

  function markCausedFinding() {
    for (const button of causesList.querySelectorAll("[data-finding]"))
      button.setAttribute("aria-pressed", String(Number(button.dataset.finding) === model.get("selected")));
  }

  // ---------------------------------------------------------------- what errors mean for the recipient

  function renderAssessment() {
    const { title, sentences, steps_label, steps, errors_label, classes, remarks, items_label, items, about } =
      model.get("_assessment");
    assessment.hidden = !title;
    if (!title) return;
    const list = (name, entries, kind = "ul") =>
      entries.length ? [create("p", {}, `${name}:`), create(kind, {}, ...entries.map((it) => create("li", {}, ...it)))] : [];
    const found = classes.map(({ name, codes, meaning }) => [
      create("strong", {}, name),
      `: ${codes}`,
      create("div", {}, meaning),
    ]);
    assessment.replaceChildren(
      create("summary", {}, title),
      ...sentences.map((text, at) =>
        create("p", {}, 0 < at && at < sentences.length - 1 ? text : create("strong", {}, text)),
      ),
      ...list(steps_label, steps.map((it) => [it]), "ol"),
      ...list(errors_label, found),
      ...remarks.map((text) => create("p", {}, text)),
      ...list(items_label, items.map((it) => [it])),
      create("p", { class: "ev-note" }, about),
    );
  }

  // ---------------------------------------------------------------- letter to the issuer, written when it is opened

  function openLetter() {
    if (letter.open && !model.get("with_letter")) change("with_letter", true);
  }

  function renderLetter() {
    const { text, hidden } = model.get("_letter");
    letter.hidden = hidden;
    letterSummary.textContent = label("letter");
    letterText.textContent = text || label("letter_written");
    letterText.setAttribute("aria-label", label("letter"));
    copyLetter.replaceChildren(text ? copyButton({}, label("copy_letter"), () => label("copied"), letterText) : "");
  }

  // ---------------------------------------------------------------- findings, details and XML excerpt

  function renderTable() {
    const { groups, status: message, more: moreText } = model.get("_table");
    const columns = ["severity", "code", "term", "line", "finding"].map((key) => [key, label(key)]);
    const cells = (row) => {
      const severity = [severityIcon(row.severity), label(row.severity)];
      return [row.number, severity, row.code, row.term, String(row.line ?? ""), row.title];
    };
    const tableGroups = groups.map(({ title, rows }) => ({ title, rows: rows.map(cells) }));
    list.render(label("findings"), columns, tableGroups);
    list.setSelected(model.get("selected"), false);
    status.textContent = message;
    more.textContent = moreText;
    more.hidden = !moreText;
  }

  function renderDetail() {
    const finding = model.get("_finding_details");
    detail.setAttribute("aria-label", label("details"));
    detail.hidden = source.hidden = !finding.code;
    if (!finding.code) return;
    const entry = ([name, text]) => [create("dt", {}, name), create("dd", {}, text)];
    const values = finding.values.map((value) => create("div", {}, ...entry(value)));
    const properties = finding.properties.flatMap(entry);
    const code = create("strong", {}, finding.code);
    detail.replaceChildren(
      create("p", { class: "ev-rule" }, severityIcon(finding.severity), code, ` · ${finding.severity_label}`),
      create("p", { class: "ev-title", role: "heading", "aria-level": "3" }, finding.title),
      create("p", {}, finding.explanation),
      values.length ? create("dl", { class: "ev-values" }, ...values) : "",
      create("p", { class: "ev-fix" }, create("strong", {}, label("fix"), ": "), finding.fix),
      finding.reason ? create("p", { class: "ev-note" }, finding.reason) : "",
      ...finding.notes.map(renderNote),
      create("dl", { class: "ev-properties" }, ...properties),
    );
    detail.scrollTop = 0;
    renderExcerpt(source, finding.excerpt, label);
  }

  function renderNote({ text, source: url }) {
    const attributes = { href: url, target: "_blank", rel: "noopener noreferrer" };
    const link = /^https?:/.test(url) ? create("a", attributes, url) : url;
    return create("p", { class: "ev-note" }, create("strong", {}, label("note"), ": "), text, url ? " " : "", link);
  }

  const renderAll = () => [renderHeader(), renderAssessment(), renderCauses(), renderLetter(), renderToolbar(), renderTable(), renderDetail(), renderFooter()];
  el.append(root);
  renderAll();
  return addListeners(model, {
    "change:_header": () => [renderHeader(), renderFooter()],
    "change:lang": renderHeader,
    "change:_choices": renderToolbar,
    "change:_labels": renderAll,
    "change:filters": updateToolbar,
    "change:_table": renderTable,
    "change:selected": () => [list.setSelected(model.get("selected")), markCausedFinding()],
    "change:_causes": renderCauses,
    "change:_cause_details": renderCause,
    "change:_letter": renderLetter,
    "change:_assessment": renderAssessment,
    "change:_finding_details": renderDetail,
  });
}

export default { render };
