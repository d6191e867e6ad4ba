// The public interface, as any other program would call it. The key is handed in; it is kept by nobody here.

/** What was answered instead of a result: a problem (RFC 9457), or that there was no answer at all. */
export class Refusal extends Error {
  constructor(problem) {
    super(problem.title ?? "");
    this.problem = problem;
  }
}

/** Return what the key entitles to. */
export async function capabilities(key, lang, signal) {
  return (await ask(`api/external/capabilities?lang=${lang}`, { headers: { "X-API-Key": key }, signal })).json();
}

/** Return the verdict on one file; `how` says by which rules it is judged, and by whom. */
export async function validate(key, lang, file, how, signal) {
  const form = asked(how);
  form.append("file", file, file.name);
  return (await send("api/external/validate", key, lang, form, signal)).json();
}

/** Return the verdicts on several files, in their order; of several there is no other mode than "current". */
export async function validateBatch(key, lang, files, how, signal) {
  const form = asked(how);
  for (const file of files) {
    form.append("files", file, file.name);
  }
  return (await (await send("api/external/validate/batch", key, lang, form, signal)).json()).items;
}

/** Return the PDF behind an artifact's link. */
export async function artifact(key, lang, url) {
  // Only the path is taken: the page may have been opened under another of the appliance's addresses.
  const path = url.slice(url.indexOf("/api/external/artifacts/") + 1);
  return (await ask(`${path}?lang=${lang}`, { headers: { "X-API-Key": key } })).blob();
}

function asked({ mode, engine }) {
  const form = new FormData();
  form.append("validation_mode", mode);
  if (engine) {
    form.append("engine", engine);
  }
  return form;
}

function send(path, key, lang, body, signal) {
  return ask(`${path}?lang=${lang}`, { method: "POST", headers: { "X-API-Key": key }, body, signal });
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, { ...options, cache: "no-store", credentials: "omit", redirect: "error" });
  } catch (error) {
    if (error.name === "AbortError") {
      throw error;
    }
    throw new Refusal({ code: "no_answer" });
  }
  if (response.ok) {
    return response;
  }
  const problem = await response.json().catch(() => ({}));
  const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  throw new Refusal({ ...problem, status: response.status, seconds: Number.isNaN(seconds) ? null : seconds });
}
