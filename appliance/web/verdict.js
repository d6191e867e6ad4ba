// What is said of a file as a whole: the verdict in words, the key facts, the layers that ran, or why there is none.

import { onlyOne, secondOpinion, sinceThen } from "./compared.js";
import { el } from "./dom.js";
import { date, figure } from "./figures.js";
import { WORDS } from "./words.js";

/** Return the verdict on a file that was judged; `show(finding)` is called when the place of one is asked for. */
export function verdict(entry, lang, show) {
  const { answer } = entry;
  const words = WORDS[lang];
  const mood = answer.is_valid ? "good" : "bad";
  return el(
    "div",
    { class: `verdict ${mood}` },
    el(
      "div",
      {},
      el("p", { class: "filename" }, entry.name),
      el("h2", { id: "verdict", tabindex: "-1" }, sign(mood), answer.is_valid ? words.valid : words.invalid),
      el("p", { class: "sentence" }, sentence(answer, words)),
    ),
    el("div", { class: "layers" }, layers(answer.validation_details, words), others(answer, lang, show)),
    facts(answer.invoice_summary, lang),
  );
}

/** Return what is said of a file, or of all, that the service did not judge. */
export function refusal(problem, lang, { name, again } = {}) {
  const words = WORDS[lang];
  const { title, detail } = explained(problem, words);
  const places = problem.errors ?? [];
  return el(
    "div",
    { class: "verdict bad refusal" },
    name ? el("p", { class: "filename" }, name) : null,
    el("h2", { id: name ? "verdict" : null, tabindex: "-1" }, sign("bad"), title),
    detail ? el("p", { class: "sentence" }, detail) : null,
    problem.line ? el("p", {}, words.problemPlace(problem.line, problem.column)) : null,
    places.length
      ? el("ul", {}, places.map((it) => el("li", {}, it.pointer ? el("code", {}, `${it.pointer} `) : null, it.message)))
      : null,
    problem.seconds ? el("p", {}, words.later(problem.seconds)) : null,
    again ? el("p", {}, el("button", { type: "button", class: "button", onclick: again }, words.again)) : null,
  );
}

/** Return a small sign for a list of files: a tick, or a cross. */
export function sign(mood) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `sign ${mood}`);
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", mood === "good" ? "m3 8.500 3.500 3.500 6.500-8" : "m4 4 8 8m0-8-8 8");
  svg.append(path);
  return svg;
}

function explained(problem, words) {
  if (problem.code === "no_answer") {
    return { title: words.noAnswer, detail: words.noAnswerAbout };
  }
  return { title: problem.title || words.unknownProblem(problem.status), detail: problem.detail };
}

function sentence(answer, words) {
  const count = (severity) => answer.warnings.filter((it) => it.severity === severity).length;
  const besides = words.besides(count("warning"), count("information"));
  const main = answer.is_valid
    ? words.verdictValid(profile(answer))
    : answer.validation_format
      ? words.verdictInvalid(answer.errors.length)
      : words.verdictUnread;
  return besides ? `${main} ${words.besidesAll(besides)}` : main;
}

function profile(answer) {
  const version = answer.validation_profile.startsWith("XRechnung") ? ` ${answer.xrechnung_version}` : "";
  return `${answer.validation_profile}${version}, ${answer.validation_format}`;
}

function facts(summary, lang) {
  if (!summary) {
    return null;
  }
  const words = WORDS[lang];
  const due = summary.amount_due ? `${figure(summary.amount_due, lang, 2)} ${summary.currency ?? ""}` : "";
  const dated = summary.invoice_date ? `${words.dated} ${date(summary.invoice_date, lang)}` : "";
  const told = [
    [words.number, `${summary.invoice_number} ${dated}`.trim()],
    [words.seller, summary.seller],
    [words.buyer, summary.buyer],
    [words.due, due],
  ].filter(([, value]) => value);
  return el("dl", { class: "facts" }, told.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function extent(layer, words) {
  const rules = layer.rules ? words.rules(layer.rules) : "";
  return [layer.version, layer.executed ? rules : words.skipped].filter(Boolean).join(", ");
}

function layers(details, words) {
  const { layers: ran = [], engine } = details.validation_stack;
  const { container } = details;
  if (!ran.length) {
    return [];
  }
  return [
    el("h3", {}, words.layers),
    layerList(ran, words),
    engine === "reference" ? el("p", {}, words.referenceAlone) : null,
    container ? el("p", {}, container.is_valid ? words.pdfGood : words.pdfBad) : null,
  ];
}

function layerList(ran, words) {
  const items = ran.map((layer) =>
    el(
      "li",
      { class: layer.executed ? "ran" : "skipped" },
      sign(layer.executed ? "good" : "bad"),
      el("span", {}, `${layer.title || layer.name} `, el("span", { class: "quiet" }, extent(layer, words))),
    ),
  );
  return el("ul", {}, items);
}

/** What others say: the rules of today, where the declared ones have judged, and the official artefacts. */
function others(answer, lang, show) {
  const words = WORDS[lang];
  const { compatibility, reference } = answer.validation_details;
  const changed = sinceThen(answer, lang, show);
  const second = secondOpinion(answer, lang);
  return [
    compatibility?.message ? el("p", {}, compatibility.message) : null,
    changed ? [el("h3", {}, words.differences), changed] : [],
    second
      ? [
          el("h3", { id: "second" }, words.second),
          el("p", { class: "second" }, second.agreed === null ? null : sign(second.agreed ? "good" : "bad"), second.sentence),
          onlyOne(answer, lang, show),
          layerList(reference.layers, words),
        ]
      : [],
  ];
}
