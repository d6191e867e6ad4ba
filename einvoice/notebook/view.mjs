// A result to explore. Python decides what is shown; here it is put on the page.

function render({ model, el }) {
  const word = (key) => model.get("_words")[key] ?? key;
  const search = searching({ type: (text) => filter("text", text), leave: () => list.focus() });
  const root = frame("ev-one", search);
  const verdict = make("p");
  const language = languages((lang) => change("lang", lang));
  const remarks = make("div", { class: "ev-remarks" });
  const head = make("div", { class: "ev-head" }, verdict, language.element, remarks);
  const bar = make("div", { class: "ev-bar", role: "search" });
  const status = make("p", { class: "ev-status", role: "status", "aria-live": "polite" });
  const list = chooser({
    choose: (key) => change("selected", Number(key)),
    enter: () => detail.focus(),
    leave: () => search.focus(),
  });
  const rest = make("p", { class: "ev-rest" });
  const back = (event) => event.key === "Escape" && list.focus();
  const detail = make("section", { class: "ev-detail", tabindex: "0", keydown: back });
  const source = make("section", { class: "ev-source", keydown: back });
  const foot = make("div", { class: "ev-foot" });
  const panes = make("div", { class: "ev-panes" }, make("div", {}, list.element, rest), detail, source);
  root.append(head, bar, status, panes, foot);

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
    verdict.className = said.valid ? "ev-valid" : "ev-invalid";
    verdict.replaceChildren(make("strong", {}, said.valid ? "✓ " : "✗ ", said.verdict), ...about);
    remarks.replaceChildren(...said.remarks.map((text) => make("p", {}, text)));
    language.mark(model.get("lang"), word("language"));
  }

  // What judged, and what today's rules would say; folded, since it is the same for most invoices.
  function drawFoot() {
    const folded = model.get("_head").folded.map(([summary, lines]) =>
      make("details", {}, make("summary", {}, summary), make("ul", {}, ...lines.map((text) => make("li", {}, text)))),
    );
    foot.replaceChildren(...folded, make("p", { class: "ev-keys" }, word("keys")));
  }

  // ---------------------------------------------------------------- filters

  function drawBar() {
    const choices = model.get("_choices");
    const severities = choices.severity.map(([value, , count]) => {
      const attributes = { type: "button", "data-severity": value, click: () => toggle(value) };
      return make("button", attributes, sign(value), `${word(value)} ${count}`);
    });
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

  // ---------------------------------------------------------------- the findings, one of them, and its place

  function drawTable() {
    const { groups, status: counted, rest: left } = model.get("_table");
    const columns = ["severity", "code", "term", "line", "finding"].map((key) => [key, word(key)]);
    const shown = groups.map(({ title, rows }) => ({
      title,
      rows: rows.map((row) => [row.number, [sign(row.severity), word(row.severity)], row.code, row.term, String(row.line ?? ""), row.title]),
    }));
    list.draw(word("findings"), columns, shown);
    list.mark(model.get("selected"), false);
    status.textContent = counted;
    rest.textContent = left;
    rest.hidden = !left;
  }

  function drawDetail() {
    const told = model.get("_detail");
    detail.setAttribute("aria-label", word("detail"));
    detail.hidden = source.hidden = !told.code;
    if (!told.code) return;
    const numbers = told.numbers.map(([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, text)));
    const facts = told.facts.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]);
    detail.replaceChildren(
      make("p", { class: "ev-kind" }, sign(told.severity), make("strong", {}, told.code), ` · ${told.judged}`),
      make("p", { class: "ev-title", role: "heading", "aria-level": "3" }, told.title),
      make("p", {}, told.explanation),
      numbers.length ? make("dl", { class: "ev-numbers" }, ...numbers) : "",
      make("p", { class: "ev-fix" }, make("strong", {}, word("fix"), ": "), told.fix),
      told.reason ? make("p", { class: "ev-remark" }, told.reason) : "",
      ...told.notes.map(drawNote),
      make("dl", { class: "ev-facts" }, ...facts),
    );
    detail.scrollTop = 0;
    drawSource(source, told.excerpt, word);
  }

  function drawNote({ text, source: from }) {
    const link = /^https?:/.test(from) ? make("a", { href: from, target: "_blank", rel: "noopener noreferrer" }, from) : from;
    return make("p", { class: "ev-remark" }, make("strong", {}, word("note"), ": "), text, from ? " " : "", link);
  }

  const draw = () => [drawHead(), drawBar(), drawTable(), drawDetail(), drawFoot()];
  el.append(root);
  draw();
  return listen(model, {
    "change:_head": () => [drawHead(), drawFoot()],
    "change:lang": drawHead,
    "change:_choices": drawBar,
    "change:_words": draw,
    "change:filters": setBar,
    "change:_table": drawTable,
    "change:selected": () => list.mark(model.get("selected")),
    "change:_detail": drawDetail,
  });
}

export default { render };
