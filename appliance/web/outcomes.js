// What comes of files that are to be checked: one by one or together, as many at a time as the service takes.

import { Refusal, validate, validateBatch } from "./api.js";
import { size } from "./figures.js";
import { WORDS } from "./words.js";

/**
 * Return what is to be said of each entry, as [entry, {answer}] or [entry, {problem}].
 * Raises Refusal where it is not the files that are refused.
 */
export async function outcomes(entries, { key, lang, how, limits, signal }) {
  const told = [];
  for (const entry of entries) {
    const problem = await unfit(entry.file, lang, limits);
    told.push(...(problem ? [[entry, { problem }]] : []));
  }
  const sent = entries.filter((entry) => !told.some(([unsent]) => unsent === entry));
  const single = sent.filter((entry) => entry.alone || sent.length === 1 || how.mode !== "current");
  const together = sent.filter((entry) => !single.includes(entry));
  for (const entry of single) {
    told.push(...(await asked([entry], async () => [await validate(key, lang, entry.file, how, signal)])));
  }
  const most = limits.batch_max_files;
  for (let begin = 0; begin < together.length; begin += most) {
    const some = together.slice(begin, begin + most);
    const files = some.map((entry) => entry.file);
    told.push(...(await asked(some, () => validateBatch(key, lang, files, how, signal))));
  }
  return told;
}

/** A refusal that concerns the files is said of them; one that concerns the caller or the server is raised. */
async function asked(entries, ask) {
  try {
    const answers = await ask();
    return entries.map((entry, number) => [entry, { answer: answers[number] }]);
  } catch (error) {
    if (error instanceof Refusal && [413, 422].includes(error.problem.status)) {
      return entries.map((entry) => [entry, { problem: error.problem }]);
    }
    throw error;
  }
}

/** Return the problem of a file that need not be sent at all. */
async function unfit(file, lang, limits) {
  const words = WORDS[lang];
  const limit = limits.max_upload_size_bytes;
  if (file.size > limit) {
    const told = words.tooLargeAbout(size(file.size, lang), size(limit, lang));
    return { code: "file_too_large", title: words.tooLarge, detail: told };
  }
  if (!file.size) {
    return { code: "empty_file", title: words.empty, detail: words.emptyAbout };
  }
  try {
    await file.slice(0, 1).arrayBuffer();
    return null;
  } catch {
    return { code: "file_gone", title: words.gone, detail: words.goneAbout };
  }
}
