// Validates files: individually or in batches of the size that the API accepts.

import { ProblemError, validate, validateBatch } from "./api.js";
import { formatSize } from "./format.js";
import { LABELS } from "./labels.js";

/**
 * Return [entry, {answer}] or [entry, {problem}] for each entry.
 * Throws ProblemError if the failure is not specific to a file.
 */
export async function validateEntries(entries, { key, lang, options, limits, signal }) {
  const outcomes = [];
  for (const entry of entries) {
    const problem = await precheck(entry.file, lang, limits);
    outcomes.push(...(problem ? [[entry, { problem }]] : []));
  }
  const accepted = entries.filter((entry) => !outcomes.some(([rejected]) => rejected === entry));
  const single = accepted.filter((entry) => entry.single || accepted.length === 1 || options.mode !== "current");
  const batched = accepted.filter((entry) => !single.includes(entry));
  for (const entry of single) {
    outcomes.push(...(await attempt([entry], async () => [await validate(key, lang, entry.file, options, signal)])));
  }
  const size = limits.batch_max_files;
  for (let start = 0; start < batched.length; start += size) {
    const batch = batched.slice(start, start + size);
    const files = batch.map((entry) => entry.file);
    outcomes.push(...(await attempt(batch, () => validateBatch(key, lang, files, options, signal))));
  }
  return outcomes;
}

/** Assign problems that concern the files (413, 422) to the entries; throw all others. */
async function attempt(entries, send) {
  try {
    const answers = await send();
    return entries.map((entry, index) => [entry, { answer: answers[index] }]);
  } catch (error) {
    if (error instanceof ProblemError && [413, 422].includes(error.problem.status)) {
      return entries.map((entry) => [entry, { problem: error.problem }]);
    }
    throw error;
  }
}

/** Return the problem of a file that cannot be sent, or null. */
async function precheck(file, lang, limits) {
  const labels = LABELS[lang];
  const limit = limits.max_upload_size_bytes;
  if (file.size > limit) {
    const detail = labels.tooLargeDetail({ size: formatSize(file.size, lang), limit: formatSize(limit, lang) });
    return { code: "file_too_large", title: labels.tooLarge, detail };
  }
  if (!file.size) {
    return { code: "empty_file", title: labels.empty, detail: labels.emptyDetail };
  }
  try {
    await file.slice(0, 1).arrayBuffer();
    return null;
  } catch {
    return { code: "file_gone", title: labels.fileGone, detail: labels.fileGoneDetail };
  }
}
