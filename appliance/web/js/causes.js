// The causes of the findings of one file. Each cause expands to its change or question and the findings that it explains.

import { copyText, el } from "./dom.js";
import { moveFocus } from "./findings.js";
import { CAUSE_LABELS, LABELS } from "./labels.js";

const MAX_CAUSES = 50;
const MAX_FINDINGS = 20;
const COPIED_MILLISECONDS = 2000;

/** Return whether the causes of an answer say more than its findings, or that the search for them was incomplete. */
export function hasCauses(answer) {
  const { causes, causes_ended_by: endedBy } = answer.validation_details;
  return Boolean(causes?.some((cause) => cause.changes.length || cause.findings.length > 1) || (causes && endedBy));
}

/**
 * Return the section with the causes. `show(finding)` is called when a finding is requested, `announce(text)` with the
 * text for screen readers when a change was copied.
 */
export function causesSection(answer, lang, { show, announce }) {
  const words = CAUSE_LABELS[lang];
  const { causes, causes_ended_by: endedBy } = answer.validation_details;
  const findings = [...answer.errors, ...answer.warnings];
  const numbers = {
    causes: words.causes({ count: causes.length }),
    findings: words.findings({ count: findings.length }),
  };
  const items = causes.slice(0, MAX_CAUSES).map((cause, index) => item(cause, index));
  const more = causes.length - items.length;
  return el(
    "section",
    { class: "causes", "aria-labelledby": "causes-title" },
    el("h2", { id: "causes-title" }, words.heading(numbers)),
    el("p", { class: "muted" }, words.issuer),
    el("ol", { class: "list", onkeydown: (event) => moveFocus(event, ".cause-header") }, items),
    more > 0 ? el("p", { class: "muted" }, LABELS[lang].andMore({ count: more })) : null,
    endedBy ? el("p", { class: "muted" }, words[`ended_by_${endedBy}`]) : null,
  );

  function item(cause, index) {
    const expanded = index === 0;
    const body = el("div", { class: "cause-body", id: `cause-${index}` }, changes(cause), explained(cause));
    body.hidden = !expanded;
    const count = cause.findings.length;
    const header = el(
      "button",
      {
        type: "button",
        class: "cause-header",
        "aria-expanded": String(expanded),
        "aria-controls": body.id,
        onclick: () => toggle(header, body),
      },
      el("span", { class: "title" }, cause.text),
      el(
        "span",
        { class: "line" },
        [cause.line ? LABELS[lang].line(cause) : "", words.findings({ count })].filter(Boolean).join(" · "),
      ),
    );
    return el("li", { class: "cause" }, header, body);
  }

  function changes(cause) {
    if (!cause.changes.length) {
      return el("p", { class: "muted" }, words.no_change);
    }
    const heading = cause.is_question ? words.alternatives : words.change;
    return el(
      "div",
      { class: "changes" },
      el("h3", {}, heading),
      el("ul", {}, cause.changes.map((change) => el("li", {}, changeDetails(change)))),
    );
  }

  function changeDetails(change) {
    const copy = async () => {
      button.textContent = (await copyText(change.copy_text)) ? words.copied : words.copy;
      announce(button.textContent);
      setTimeout(() => (button.textContent = words.copy), COPIED_MILLISECONDS);
    };
    const button = el("button", { type: "button", class: "button copy", onclick: copy }, words.copy);
    return [el("p", {}, change.text), el("p", { class: "proof" }, change.proof), button];
  }

  function explained(cause) {
    const found = cause.findings.map((position) => findings[position]);
    const left = found.length - MAX_FINDINGS;
    return el(
      "div",
      { class: "explained" },
      el("h3", {}, words.explains({ count: found.length })),
      el("ul", {}, found.slice(0, MAX_FINDINGS).map(findingLink)),
      left > 0 ? el("p", { class: "muted" }, LABELS[lang].andMore({ count: left })) : null,
    );
  }

  function findingLink(finding) {
    const title = el("span", {}, finding.title);
    const code = el("span", { class: `code ${finding.severity}` }, finding.code);
    return el("li", {}, el("button", { type: "button", class: "link-button", onclick: () => show(finding) }, code, " ", title));
  }
}

function toggle(header, body) {
  const expand = header.getAttribute("aria-expanded") !== "true";
  header.setAttribute("aria-expanded", String(expand));
  body.hidden = !expand;
}
