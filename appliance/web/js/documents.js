// Buttons that download another document made from the file: converted to the other syntax, or corrected.

import { documentOf } from "./api.js";
import { el, save } from "./dom.js";
import { LABELS } from "./labels.js";

/**
 * Return the buttons for a validated file.
 * `rights` has the rights of the key; `request(call)` calls with the key, and shows its problem or the returned status.
 */
export function documentButtons(entry, lang, { rights, name, request }) {
  const { answer } = entry;
  const labels = LABELS[lang];
  if (!answer?.validation_format) {
    return [];
  }
  const to = answer.validation_format === "UBL" ? "CII" : "UBL";
  const convert = async (key) => {
    const converted = await documentOf("convert", key, lang, entry.file);
    saveDocument(converted, `${name}-${to.toLowerCase()}.xml`);
    return converted.is_faithful ? labels.converted({ to }) : labels.convertedChanged({ to, changes: told(converted.changes) });
  };
  const fix = async (key) => {
    const fixed = await documentOf("fix", key, lang, entry.file);
    if (!fixed.is_changed) {
      return fixed.text;
    }
    saveDocument(fixed, `${name}-${labels.correctedName}.xml`);
    const changes = [...fixed.changes.map((it) => it.text), ...fixed.remarks].join(" ");
    return labels.correctedSaved({ changes });
  };
  return [
    rights.fix && isFixable(answer) ? button(labels.corrected, () => request(fix), labels.correctedHint) : null,
    rights.convert ? button(labels.convert({ to }), () => request(convert)) : null,
  ];
}

/** Return whether a cause has a change that the rest of the invoice proves. */
function isFixable({ validation_details: { causes } }) {
  return (causes ?? []).some((it) => !it.is_question && it.changes[0]?.safe);
}

function told(changes) {
  return [...new Set(changes.map((it) => `${it.term} ${it.name}`.trim()))].join(", ");
}

function saveDocument({ xml, xml_base64: encoded }, name) {
  const content = xml ?? Uint8Array.from(atob(encoded), (it) => it.charCodeAt(0));
  save(new Blob([content], { type: "application/xml" }), name);
}

function button(label, onclick, title = null) {
  return el("button", { type: "button", class: "button", onclick, title }, label);
}
