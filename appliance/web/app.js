// The page: what was dropped, what was answered, and what is looked at. All of it, the key too, lives in this memory only.

import { artifact, capabilities, Refusal } from "./api.js";
import { csv } from "./csv.js";
import { el, save } from "./dom.js";
import { size } from "./figures.js";
import { filesList } from "./files.js";
import { findingsList, inOrder } from "./findings.js";
import { outcomes } from "./outcomes.js";
import { readSource } from "./source.js";
import { refusal, verdict } from "./verdict.js";
import { WORDS } from "./words.js";
import { XmlView } from "./xml.js";

const byId = (id) => document.getElementById(id);

const state = {
  lang: navigator.language?.startsWith("de") ? "de" : "en",
  limits: { max_upload_size_bytes: 10_485_760, batch_max_files: 10 },
  tried: null, // the key that was asked about last
  works: null, // the key that works, and its plan
  plan: null,
  how: { mode: "current", engine: null }, // by which rules, and who; null is as the operator has set it
  waiting: [], // files that came before the key
  entries: [], // {file, name, answer, problem, alone, source}, in the order in which they came
  shown: 0,
  chosen: 0,
  separator: null,
  running: null,
  view: null,
};

// ------------------------------------------------------------------ asking

async function take(files) {
  if (!files.length) {
    return;
  }
  if (!key()) {
    state.waiting = files;
    tell(WORDS[state.lang].keyNeeded(files.length));
    byId("key").focus();
    return;
  }
  state.waiting = [];
  await check(files.map((file) => ({ file, name: file.name })), { fresh: true });
}

/** Ask about these entries, and show what was answered: they are `fresh`, or some of those that are shown. */
async function check(entries, { fresh = false } = {}) {
  state.running?.abort();
  const running = new AbortController();
  const { signal } = running;
  state.running = running;
  busy(true);
  tell(WORDS[state.lang].checking(entries.length));
  byId("trouble").replaceChildren();
  try {
    const told = await outcomes(entries, { key: key(), lang: state.lang, how: state.how, limits: state.limits, signal });
    signal.throwIfAborted();
    for (const [entry, outcome] of told) {
      Object.assign(entry, { answer: null, problem: null, ...outcome });
    }
    checked(entries, fresh);
  } catch (error) {
    if (error.name !== "AbortError") {
      tell("");
      trouble(error, () => check(entries, { fresh }));
      state.waiting = isAboutKey(error) ? (fresh ? entries : state.entries).map((entry) => entry.file) : [];
    }
  } finally {
    if (state.running === running) {
      state.running = null;
      busy(false);
    }
  }
}

function checked(entries, fresh) {
  if (fresh) {
    Object.assign(state, { entries, shown: 0, chosen: 0 });
  }
  draw();
  const valid = state.entries.filter((entry) => entry.answer?.is_valid).length;
  tell(WORDS[state.lang].done(valid, state.entries.length), true);
  if (fresh) {
    lookAt(byId("verdict"));
  }
}

/** Ask what the key entitles to, once; then ask about the files that waited for it. */
async function tryKey() {
  aboutKey();
  if (!key() || key() === state.tried) {
    return;
  }
  state.tried = key();
  try {
    const { limits, plan_type: plan, engines } = await capabilities(key(), state.lang);
    Object.assign(state.limits, limits);
    offer(engines);
    Object.assign(state, { plan, works: state.tried });
    aboutKey();
    aboutDrop();
    byId("trouble").replaceChildren();
    await take(state.waiting);
  } catch (error) {
    state.tried = null;
    trouble(error, tryKey);
  }
}

async function download(entry, kind, name) {
  tell(WORDS[state.lang].fetching);
  try {
    save(await artifact(key(), state.lang, entry.answer.artifacts[kind].url), `${stem(entry.name)}-${name}.pdf`);
    byId("trouble").replaceChildren();
    tell(WORDS[state.lang].fetched);
  } catch (error) {
    tell("");
    // A link that has ended stays ended: then the file is judged anew, which gives new links.
    const ended = [404, 410].includes(error.problem?.status);
    trouble(error, () => (ended ? check([entry]) : download(entry, kind, name)));
  }
}

// ------------------------------------------------------------------ showing

function draw() {
  const result = byId("result");
  const entry = state.entries[state.shown];
  result.hidden = !entry;
  document.body.classList.toggle("has-result", Boolean(entry));
  state.view = null;
  if (!entry) {
    return;
  }
  const several = state.entries.length > 1 ? [filesList(state.entries, state.shown, state.lang, look)] : [];
  const said = entry.answer ? verdict(entry, state.lang, showPlace) : refusal(entry.problem, state.lang, { name: entry.name });
  result.replaceChildren(...several, said, tools(entry), columns(entry));
  drawSource(entry);
}

/** Look at another of the files. */
function look(number) {
  Object.assign(state, { shown: number, chosen: 0 });
  draw();
  byId("result").querySelectorAll(".files button")[number].focus();
}

function tools(entry) {
  const words = WORDS[state.lang];
  const links = entry.answer?.artifacts ?? {};
  const fetched = (kind, name, label) =>
    links[kind]?.available
      ? el("button", { type: "button", class: "button", onclick: () => download(entry, kind, name) }, label)
      : null;
  const alone = () => {
    entry.alone = true;
    check([entry]);
  };
  const single =
    entry.answer?.validation_format && state.entries.length > 1 && !entry.answer.invoice_summary
      ? el("button", { type: "button", class: "button", title: words.aloneAbout, onclick: alone }, words.alone)
      : null;
  return el(
    "div",
    { class: "tools" },
    fetched("validation_report_pdf", "report", words.report),
    fetched("readable_invoice_pdf", "invoice", words.readable),
    single,
    csvTool(),
    el("button", { type: "button", class: "button", onclick: () => window.print() }, words.print),
  );
}

function csvTool() {
  const words = WORDS[state.lang];
  const separator = state.separator ?? (state.lang === "de" ? ";" : ",");
  const options = [[";", words.semicolon], [",", words.comma], ["\t", words.tab]];
  const select = el(
    "select",
    { "aria-label": words.csvSeparator, onchange: () => (state.separator = select.value) },
    options.map(([value, label]) => el("option", { value, selected: value === separator }, label)),
  );
  const give = () => {
    const name = state.entries.length === 1 ? `${stem(state.entries[0].name)}-${words.csvName}` : words.csvName;
    save(new Blob([csv(state.entries, select.value, state.lang)], { type: "text/csv;charset=utf-8" }), `${name}.csv`);
  };
  return el("span", { class: "joined" }, el("button", { type: "button", class: "button", onclick: give }, words.csv), select);
}

function columns(entry) {
  const words = WORDS[state.lang];
  const list = entry.answer
    ? el(
        "section",
        { class: "findings", "aria-labelledby": "findings-title" },
        el("h2", { id: "findings-title" }, words.findings),
        findingsList(entry.answer, state.lang, { chosen: state.chosen, choose, show }),
      )
    : null;
  return el(
    "div",
    { class: entry.answer && !inOrder(entry.answer).length ? "columns clean" : "columns" },
    list,
    el(
      "section",
      { class: "source", "aria-labelledby": "source-title" },
      el("h2", { id: "source-title" }, words.xml),
      el("p", { class: "quiet", id: "source-about", role: "status" }),
      el("div", { class: "xml", id: "xml", tabindex: "0", role: "region", "aria-labelledby": "source-title" }),
    ),
  );
}

async function drawSource(entry) {
  const words = WORDS[state.lang];
  const box = byId("xml");
  let source;
  try {
    source = await (entry.source ??= readSource(entry.file));
  } catch {
    entry.source = null;
    source = { text: null, gone: true };
  }
  if (box !== byId("xml")) {
    return; // meanwhile another file is shown
  }
  if (source.text === null) {
    box.hidden = true;
    byId("source-about").textContent = source.gone ? words.goneAbout : source.inPdf ? words.xmlInPdf : words.xmlNoText;
    return;
  }
  const attachment = entry.answer?.validation_details.container?.name ?? words.xml;
  byId("source-title").textContent = source.inPdf ? words.xmlIn(attachment) : words.xmlOf(entry.name);
  state.view = new XmlView(box, source.text);
  mark(entry.answer ? inOrder(entry.answer)[state.chosen] : entry.problem);
}

function choose(number, opened) {
  for (const item of document.querySelectorAll(".finding")) {
    item.classList.toggle("chosen", opened && item.dataset.number === String(number));
  }
  state.chosen = opened ? number : null;
  mark(opened ? inOrder(state.entries[state.shown].answer)[number] : null);
}

function show(number) {
  choose(number, true);
  lookAtXml();
}

/** Show the place of a finding that is none of those listed. */
function showPlace(finding) {
  choose(null, false);
  mark(finding);
  lookAtXml();
}

function lookAtXml() {
  const box = byId("xml");
  box.scrollIntoView({ block: "nearest", behavior: "instant" });
  box.focus({ preventScroll: true });
}

function mark(place) {
  const words = WORDS[state.lang];
  if (!state.view) {
    return;
  }
  const found = state.view.mark(place?.line, place?.column);
  const cut = state.view.cutAfter;
  const told = [cut ? words.xmlCut(cut.toLocaleString(state.lang)) : ""];
  if (place && place.line) {
    told.push(found ? words.xmlMarked(place.line) : words.xmlBeyond);
  } else if (place) {
    told.push(words.xmlNowhere);
  }
  byId("source-about").textContent = told.filter(Boolean).join(" ");
}

// ------------------------------------------------------------------ the frame

function key() {
  return byId("key").value.trim();
}

function stem(name) {
  return name.replace(/\.[^.]*$/, "");
}

/** Say what goes on; `seen` is what the page shows anyway, so that only a screen reader says it. */
function tell(text, seen = false) {
  byId("status").textContent = text;
  byId("status").classList.toggle("hidden", seen);
}

function lookAt(heading) {
  heading.focus({ preventScroll: true });
  if (heading.getBoundingClientRect().bottom > window.innerHeight * 0.6) {
    heading.scrollIntoView({ block: "start", behavior: "instant" });
  }
}

function isAboutKey(error) {
  return error instanceof Refusal && [401, 403].includes(error.problem.status);
}

function trouble(error, again) {
  if (!(error instanceof Refusal)) {
    throw error;
  }
  const wrongKey = isAboutKey(error);
  byId("trouble").replaceChildren(refusal(error.problem, state.lang, { again: wrongKey ? null : again }));
  byId("trouble").scrollIntoView({ block: "nearest", behavior: "instant" });
  if (wrongKey) {
    Object.assign(state, { tried: null, works: null });
    aboutKey();
    byId("key").focus();
    byId("key").select();
  }
}

function busy(now) {
  document.body.classList.toggle("busy", now);
  byId("result").setAttribute("aria-busy", String(now));
}

function aboutKey() {
  const works = key() !== "" && key() === state.works;
  byId("key-about").textContent = works ? WORDS[state.lang].keyWorks(state.plan) : WORDS[state.lang].keyAbout;
  byId("key-about").className = works ? "works" : "quiet";
}

function aboutDrop() {
  byId("drop-about").textContent = WORDS[state.lang].dropAbout(size(state.limits.max_upload_size_bytes, state.lang));
}

function speak(lang) {
  state.lang = lang;
  const words = WORDS[lang];
  document.documentElement.lang = lang;
  document.title = words.title;
  for (const element of document.querySelectorAll("[data-word]")) {
    element.textContent = words[element.dataset.word];
  }
  for (const element of document.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", words[element.dataset.label]);
  }
  press("[data-lang]", (button) => button.dataset.lang === lang);
  aboutKey();
  aboutDrop();
}

function press(selector, isPressed) {
  for (const button of document.querySelectorAll(selector)) {
    button.setAttribute("aria-pressed", String(isPressed(button)));
  }
}

async function changeLanguage(lang) {
  speak(lang);
  tell("");
  byId("trouble").replaceChildren();
  if (state.entries.length && key()) {
    await check(state.entries);
  }
}

/** Let the user choose who judges, where there is somebody else than the program itself. */
function offer({ reference, default: usual }) {
  byId("engine-choice").hidden = !(reference.version && reference.configurations.length);
  byId("engine").value = state.how.engine ?? usual;
}

/** Judge by other rules, or have somebody else judge, from now on and what is shown. */
async function changeHow(changed) {
  Object.assign(state.how, changed);
  if (state.entries.length && key()) {
    await check(state.entries);
  }
}

function changeTheme(theme) {
  if (theme === "auto") {
    delete document.documentElement.dataset.theme;
  } else {
    document.documentElement.dataset.theme = theme;
  }
  press("[data-theme-choice]", (button) => button.dataset.themeChoice === theme);
}

function listen() {
  for (const button of document.querySelectorAll("[data-lang]")) {
    button.addEventListener("click", () => changeLanguage(button.dataset.lang));
  }
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.addEventListener("click", () => changeTheme(button.dataset.themeChoice));
  }
  byId("mode").addEventListener("change", (event) => changeHow({ mode: event.target.value }));
  byId("engine").addEventListener("change", (event) => changeHow({ engine: event.target.value }));
  byId("key").addEventListener("change", tryKey);
  byId("key").addEventListener("paste", () => setTimeout(tryKey));
  byId("files").addEventListener("change", (event) => {
    const files = [...event.target.files];
    event.target.value = ""; // so that the same file can be chosen again
    take(files);
  });
  const drop = byId("drop");
  let depth = 0;
  const over = (step) => {
    depth = step ? depth + step : 0;
    drop.classList.toggle("over", depth > 0);
  };
  document.addEventListener("dragenter", () => over(1));
  document.addEventListener("dragleave", () => over(-1));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    over(0);
    const dropped = [...event.dataTransfer.items].filter((it) => it.kind === "file");
    take(dropped.filter((it) => !it.webkitGetAsEntry()?.isDirectory).map((it) => it.getAsFile()));
  });
}

speak(state.lang);
listen();
