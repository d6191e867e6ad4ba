// The application: state, validation of files, and rendering. All state, including the API key, is kept in memory only.

import { artifact, capabilities, ProblemError } from "./api.js";
import { assessmentBox } from "./assessment.js";
import { causesSection, hasCauses } from "./causes.js";
import { csv } from "./csv.js";
import { documentButtons } from "./documents.js";
import { copyText, el, onFilesDropped, save } from "./dom.js";
import { fileList } from "./file_list.js";
import { findingsList, sortedFindings } from "./findings.js";
import { formatSize } from "./format.js";
import { isArchive, JobList } from "./jobs.js";
import { LABELS, LANGUAGES, preferredLanguage } from "./labels.js";
import { readSource } from "./source.js";
import { problemSummary, resultSummary } from "./summary.js";
import { validateEntries } from "./validation.js";
import { XmlView } from "./xml_view.js";

const byId = (id) => document.getElementById(id);

const state = {
  lang: preferredLanguage(),
  limits: { max_upload_size_bytes: 10_485_760, batch_max_files: 10 },
  checkedKey: null, // the key last sent to the server
  validKey: null, // the key accepted by the server, and its plan
  plan: null,
  rights: {}, // whether the key may convert and fix
  options: { mode: "current", engine: null }, // engine null: server default
  pending: [], // files selected before a valid key was entered
  entries: [], // {file, name, answer, problem, single, source}, in order of selection
  currentFile: 0,
  selectedFinding: 0,
  separator: null,
  running: null,
  view: null,
};

const jobs = new JobList(byId("jobs"), { key, lang: () => state.lang, options: () => state.options, setStatus, showError });

// ------------------------------------------------------------------ validation

async function addFiles(files) {
  if (!files.length) {
    return;
  }
  if (!key()) {
    state.pending = files;
    setStatus(LABELS[state.lang].keyNeeded({ count: files.length }));
    byId("key").focus();
    return;
  }
  state.pending = [];
  for (const archive of files.filter(isArchive)) {
    await jobs.start(archive);
  }
  const entries = files.filter((file) => !isArchive(file)).map((file) => ({ file, name: file.name }));
  if (entries.length) {
    await run(entries, { replace: true });
  }
}

/** Validate entries and show the results. With `replace` they replace the current entries. */
async function run(entries, { replace = false } = {}) {
  state.running?.abort();
  const running = new AbortController();
  const { signal } = running;
  state.running = running;
  setBusy(true);
  setStatus(LABELS[state.lang].validating({ count: entries.length }));
  byId("error").replaceChildren();
  const { lang, options, limits } = state;
  try {
    const outcomes = await validateEntries(entries, { key: key(), lang, options, limits, signal });
    signal.throwIfAborted();
    for (const [entry, outcome] of outcomes) {
      Object.assign(entry, { answer: null, problem: null, ...outcome });
    }
    showResults(entries, replace);
  } catch (error) {
    if (error.name !== "AbortError") {
      setStatus("");
      showError(error, () => run(entries, { replace }));
      state.pending = isKeyError(error) ? (replace ? entries : state.entries).map((entry) => entry.file) : [];
    }
  } finally {
    if (state.running === running) {
      state.running = null;
      setBusy(false);
    }
  }
}

function showResults(entries, replace) {
  if (replace) {
    Object.assign(state, { entries, currentFile: 0, selectedFinding: 0 });
  }
  render();
  const valid = state.entries.filter((entry) => entry.answer?.is_valid).length;
  setStatus(completed(valid, state.entries.length), { visible: false });
  if (replace) {
    focusHeading(byId("result-title"));
  }
}

function completed(valid, total) {
  const labels = LABELS[state.lang];
  return total > 1 ? labels.completed({ valid, total }) : valid ? labels.completedValid : labels.completedInvalid;
}

/** Verify the key once, then validate the pending files. */
async function verifyKey() {
  updateKeyHint();
  if (!key() || key() === state.checkedKey) {
    return;
  }
  state.checkedKey = key();
  try {
    const known = await capabilities(key(), state.lang);
    const { limits, plan_type: plan, engines, entitlements, convert, fix } = known;
    Object.assign(state.limits, limits);
    showEngines(engines, entitlements.can_use_reference);
    const rights = { convert: convert.available, fix: fix.available };
    Object.assign(state, { plan, rights, validKey: state.checkedKey });
    byId("error").replaceChildren();
    await jobs.offer(known.jobs);
    updateKeyHint();
    updateDropHint();
    await addFiles(state.pending);
  } catch (error) {
    state.checkedKey = null;
    showError(error, verifyKey);
  }
}

async function download(entry, kind, name) {
  setStatus(LABELS[state.lang].generatingPdf);
  try {
    save(await artifact(key(), state.lang, entry.answer.artifacts[kind].url), `${stem(entry.name)}-${name}.pdf`);
    byId("error").replaceChildren();
    setStatus(LABELS[state.lang].pdfReady);
  } catch (error) {
    setStatus("");
    // An expired link cannot be renewed: validate the file again to get new links.
    const expired = [404, 410].includes(error.problem?.status);
    showError(error, () => (expired ? run([entry]) : download(entry, kind, name)));
  }
}

/** Call with the key, and show the returned status, or the problem. */
async function request(call) {
  setStatus("");
  try {
    setStatus(await call(key()));
    byId("error").replaceChildren();
  } catch (error) {
    showError(error, () => request(call));
  }
}

// ------------------------------------------------------------------ rendering

function render() {
  const result = byId("result");
  const entry = state.entries[state.currentFile];
  result.hidden = !entry;
  document.body.classList.toggle("has-result", Boolean(entry));
  state.view = null;
  if (!entry) {
    return;
  }
  const list = state.entries.length > 1 ? [fileList(state.entries, state.currentFile, state.lang, selectFile)] : [];
  const summary = entry.answer
    ? resultSummary(entry, state.lang, showLocation)
    : problemSummary(entry.problem, state.lang, { name: entry.name });
  const box = (entry.answer && assessmentBox(entry.answer, state.lang)) || null;
  result.replaceChildren(...list, ...[summary, toolbar(entry), box, columns(entry)].filter(Boolean));
  renderSource(entry);
}

function selectFile(index) {
  Object.assign(state, { currentFile: index, selectedFinding: 0 });
  render();
  byId("result").querySelectorAll(".file-list button")[index].focus();
}

function toolbar(entry) {
  const labels = LABELS[state.lang];
  const artifacts = entry.answer?.artifacts ?? {};
  const pdfButton = (kind, name, label) =>
    artifacts[kind]?.available
      ? el("button", { type: "button", class: "button", onclick: () => download(entry, kind, name) }, label)
      : null;
  const validateSingle = () => {
    entry.single = true;
    run([entry]);
  };
  const properties = { type: "button", class: "button", title: labels.validateSingleHint, onclick: validateSingle };
  const batched = entry.answer?.validation_format && state.entries.length > 1 && !entry.answer.invoice_summary;
  return el(
    "div",
    { class: "toolbar" },
    pdfButton("validation_report_pdf", "report", labels.report),
    pdfButton("readable_invoice_pdf", "invoice", labels.readableInvoice),
    letterButton(entry),
    documentButtons(entry, state.lang, { rights: state.rights, name: stem(entry.name), request }),
    batched ? el("button", properties, labels.validateSingle) : null,
    csvExport(),
    el("button", { type: "button", class: "button", onclick: () => window.print() }, labels.print),
  );
}

/** Return the button that copies the letter to the issuer; null if there is nothing to ask. */
function letterButton(entry) {
  const labels = LABELS[state.lang];
  const { is_valid: isValid, validation_details: details } = entry.answer ?? {};
  const letter = isValid && !details?.assessment?.asks_issuer ? null : details?.letter;
  const copy = async () => setStatus((await copyText(letter)) ? labels.letterCopied : labels.letterNotCopied);
  const properties = { type: "button", class: "button", title: labels.letterHint, onclick: copy };
  return letter ? el("button", properties, labels.letter) : null;
}

function csvExport() {
  const labels = LABELS[state.lang];
  const separator = state.separator ?? (LANGUAGES[state.lang].format.decimal === "," ? ";" : ",");
  const options = [[";", labels.semicolon], [",", labels.comma], ["\t", labels.tab]];
  const select = el(
    "select",
    { "aria-label": labels.csvSeparator, onchange: () => (state.separator = select.value) },
    options.map(([value, label]) => el("option", { value, selected: value === separator }, label)),
  );
  const saveCsv = () => {
    const name = state.entries.length === 1 ? `${stem(state.entries[0].name)}-${labels.csvName}` : labels.csvName;
    save(new Blob([csv(state.entries, select.value, state.lang)], { type: "text/csv;charset=utf-8" }), `${name}.csv`);
  };
  const button = el("button", { type: "button", class: "button", onclick: saveCsv }, labels.csv);
  return el("span", { class: "input-group" }, button, select);
}

function columns(entry) {
  const labels = LABELS[state.lang];
  const { selectedFinding: selected, lang } = state;
  const announce = (text) => setStatus(text, { visible: false });
  const causes =
    entry.answer && hasCauses(entry.answer) ? causesSection(entry.answer, lang, { show: showFindingOfCause, announce }) : null;
  const list = entry.answer
    ? el(
        "section",
        { class: "findings", "aria-labelledby": "findings-title" },
        el("h2", { id: "findings-title" }, labels.findings),
        findingsList(entry.answer, lang, { selected, select: selectFinding, show: showFinding }),
      )
    : null;
  return el(
    "div",
    { class: entry.answer && !sortedFindings(entry.answer).length ? "columns no-findings" : "columns" },
    causes ? el("div", {}, causes, list) : list,
    el(
      "section",
      { class: "source", "aria-labelledby": "source-title" },
      el("h2", { id: "source-title" }, labels.xml),
      el("p", { class: "muted", id: "source-status", role: "status" }),
      el("div", { class: "xml", id: "xml", tabindex: "0", role: "region", "aria-labelledby": "source-title" }),
    ),
  );
}

async function renderSource(entry) {
  const labels = LABELS[state.lang];
  const box = byId("xml");
  let source;
  try {
    source = await (entry.source ??= readSource(entry.file));
  } catch {
    entry.source = null;
    source = { text: null, gone: true };
  }
  if (box !== byId("xml")) {
    return; // another file was selected in the meantime
  }
  if (source.text === null) {
    box.hidden = true;
    const reason = source.gone ? labels.fileGoneDetail : source.inPdf ? labels.xmlNotExtracted : labels.xmlNotText;
    byId("source-status").textContent = reason;
    return;
  }
  const attachment = entry.answer?.validation_details.container?.name ?? labels.xml;
  byId("source-title").textContent = source.inPdf ? labels.xmlIn({ name: attachment }) : labels.xmlOf({ name: entry.name });
  state.view = new XmlView(box, source.text);
  highlight(entry.answer ? sortedFindings(entry.answer)[state.selectedFinding] : entry.problem);
}

function selectFinding(index, expanded) {
  for (const item of document.querySelectorAll(".finding")) {
    item.classList.toggle("selected", expanded && item.dataset.index === String(index));
  }
  state.selectedFinding = expanded ? index : null;
  highlight(expanded ? sortedFindings(state.entries[state.currentFile].answer)[index] : null);
}

function showFinding(index) {
  selectFinding(index, true);
  focusXml();
}

/** Expand a finding in the list, if it is shown there, and show its location. */
function showFindingOfCause(finding) {
  const index = sortedFindings(state.entries[state.currentFile].answer).indexOf(finding);
  const header = document.querySelector(`.finding[data-index="${index}"] .finding-header`);
  if (header?.getAttribute("aria-expanded") === "false") {
    header.click();
  } else {
    selectFinding(index, true);
  }
  header?.scrollIntoView({ block: "start", behavior: "instant" });
  header?.focus({ preventScroll: true });
}

/** Show the location of a finding that is not in the findings list. */
function showLocation(finding) {
  selectFinding(null, false);
  highlight(finding);
  focusXml();
}

function focusXml() {
  const box = byId("xml");
  box.scrollIntoView({ block: "nearest", behavior: "instant" });
  box.focus({ preventScroll: true });
}

function highlight(location) {
  const labels = LABELS[state.lang];
  if (!state.view) {
    return;
  }
  const found = state.view.highlight(location?.line, location?.column);
  const limit = state.view.truncatedAt;
  const messages = [limit ? labels.xmlTruncated({ rows: limit.toLocaleString(state.lang) }) : ""];
  if (location && location.line) {
    messages.push(found ? labels.xmlHighlighted({ line: location.line }) : labels.xmlNotShown);
  } else if (location) {
    messages.push(labels.xmlNoLocation);
  }
  byId("source-status").textContent = messages.filter(Boolean).join(" ");
}

// ------------------------------------------------------------------ status, key and options

function key() {
  return byId("key").value.trim();
}

function stem(name) {
  return name.replace(/\.[^.]*$/, "");
}

/** Set the status message; `visible: false` announces it to screen readers only. */
function setStatus(text, { visible = true } = {}) {
  byId("status").textContent = text;
  byId("status").classList.toggle("visually-hidden", !visible);
}

function focusHeading(heading) {
  heading.focus({ preventScroll: true });
  if (heading.getBoundingClientRect().bottom > window.innerHeight * 0.6) {
    heading.scrollIntoView({ block: "start", behavior: "instant" });
  }
}

function isKeyError(error) {
  return error instanceof ProblemError && [401, 403].includes(error.problem.status);
}

function showError(error, retry) {
  if (!(error instanceof ProblemError)) {
    throw error;
  }
  const keyError = isKeyError(error);
  byId("error").replaceChildren(problemSummary(error.problem, state.lang, { retry: keyError ? null : retry }));
  byId("error").scrollIntoView({ block: "nearest", behavior: "instant" });
  if (keyError) {
    Object.assign(state, { checkedKey: null, validKey: null });
    jobs.clear();
    updateKeyHint();
    byId("key").focus();
    byId("key").select();
  }
}

function setBusy(busy) {
  document.body.classList.toggle("busy", busy);
  byId("result").setAttribute("aria-busy", String(busy));
}

function updateKeyHint() {
  const valid = key() !== "" && key() === state.validKey;
  byId("key-hint").textContent = valid ? LABELS[state.lang].keyValid({ plan: state.plan }) : LABELS[state.lang].keyHint;
  byId("key-hint").className = valid ? "key-valid" : "muted";
}

function updateDropHint() {
  const labels = LABELS[state.lang];
  const hints = [labels.dropHint({ size: formatSize(state.limits.max_upload_size_bytes, state.lang) })];
  if (jobs.limits?.available) {
    hints.push(labels.dropHintZip({ size: formatSize(jobs.limits.max_size_bytes, state.lang) }));
  }
  byId("drop-hint").textContent = hints.join(". ");
}

function setLanguage(lang) {
  state.lang = lang;
  const labels = LABELS[lang];
  document.documentElement.lang = lang;
  document.title = labels.title;
  for (const element of document.querySelectorAll("[data-i18n]")) {
    element.textContent = labels[element.dataset.i18n];
  }
  for (const element of document.querySelectorAll("[data-i18n-aria]")) {
    element.setAttribute("aria-label", labels[element.dataset.i18nAria]);
  }
  setPressed("[data-lang]", (button) => button.dataset.lang === lang);
  jobs.render();
  updateKeyHint();
  updateDropHint();
}

function setPressed(selector, isPressed) {
  for (const button of document.querySelectorAll(selector)) {
    button.setAttribute("aria-pressed", String(isPressed(button)));
  }
}

async function changeLanguage(lang) {
  setLanguage(lang);
  setStatus("");
  byId("error").replaceChildren();
  if (state.entries.length && key()) {
    await run(state.entries);
  }
}

/** Show the engine selection if the reference engine is available and the key may use it. */
function showEngines({ reference, default: defaultEngine }, isEntitled) {
  const isAllowed = isEntitled || defaultEngine !== "native";
  byId("engine-field").hidden = !(isAllowed && reference.version && reference.configurations.length);
  byId("engine").value = state.options.engine ?? defaultEngine;
}

/** Change mode or engine, and validate the current files again. */
async function changeOptions(changes) {
  Object.assign(state.options, changes);
  if (state.entries.length && key()) {
    await run(state.entries);
  }
}

function changeTheme(theme) {
  if (theme === "auto") {
    delete document.documentElement.dataset.theme;
  } else {
    document.documentElement.dataset.theme = theme;
  }
  setPressed("[data-theme-choice]", (button) => button.dataset.themeChoice === theme);
}

function addLanguages() {
  const buttons = Object.entries(LANGUAGES).map(([lang, { name }]) =>
    el("button", { type: "button", "data-lang": lang, lang, onclick: () => changeLanguage(lang) }, name),
  );
  byId("languages").replaceChildren(...buttons);
}

function addListeners() {
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.addEventListener("click", () => changeTheme(button.dataset.themeChoice));
  }
  byId("mode").addEventListener("change", (event) => changeOptions({ mode: event.target.value }));
  byId("engine").addEventListener("change", (event) => changeOptions({ engine: event.target.value }));
  byId("key").addEventListener("change", verifyKey);
  byId("key").addEventListener("paste", () => setTimeout(verifyKey));
  byId("files").addEventListener("change", addSelectedFiles);
  onFilesDropped(byId("drop-zone"), addFiles);
}

function addSelectedFiles() {
  const files = [...byId("files").files];
  byId("files").value = ""; // allow selecting the same file again
  addFiles(files);
}

addLanguages();
setLanguage(state.lang);
addListeners();

// What was entered while the labels were loading.
await verifyKey();
addSelectedFiles();
