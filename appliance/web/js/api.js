// Client for the public HTTP API. Callers pass the API key with each call; this module does not store it.

/** A failed request: problem details (RFC 9457), or code "no_response" if the server did not respond. */
export class ProblemError extends Error {
  constructor(problem) {
    super(problem.title ?? "");
    this.problem = problem;
  }
}

/** Return permissions, limits and engines of the key. */
export async function capabilities(key, lang, signal) {
  return (await request(`api/external/capabilities?lang=${lang}`, { headers: { "X-API-Key": key }, signal })).json();
}

/** Validate one file and return the result with its causes and letter; `options` selects mode and engine. */
export async function validate(key, lang, file, options, signal) {
  const form = formData(options);
  form.append("file", file, file.name);
  return (await post("api/external/validate", key, lang, form, signal)).json();
}

/** Validate several files and return the results with their causes and letters in the same order. Batches support mode "current" only. */
export async function validateBatch(key, lang, files, options, signal) {
  const form = formData(options);
  for (const file of files) {
    form.append("files", file, file.name);
  }
  return (await (await post("api/external/validate/batch", key, lang, form, signal)).json()).items;
}

/** Return the answer of the endpoint `name`, such as "convert", for one file. */
export async function documentOf(name, key, lang, file) {
  const body = new FormData();
  body.append("file", file, file.name);
  const options = { method: "POST", headers: { "X-API-Key": key }, body };
  return (await request(`api/external/${name}?lang=${lang}`, options)).json();
}

/** Validate a ZIP in the background, and return the job. */
export async function createJob(key, lang, file, engine) {
  const form = new FormData();
  if (engine) {
    form.append("engine", engine);
  }
  form.append("file", file, file.name);
  return (await request(`api/external/jobs?lang=${lang}`, { method: "POST", headers: { "X-API-Key": key }, body: form })).json();
}

/** Return the jobs of the key, the latest first. */
export async function listJobs(key, lang) {
  return (await requestJob("", key, lang)).json();
}

/** Return a job: its state, its progress and its results. */
export async function stateOfJob(key, lang, id) {
  return (await requestJob(`/${id}`, key, lang)).json();
}

/** Return a result of a job, such as "results.csv". */
export async function jobResult(key, lang, id, part) {
  return (await requestJob(`/${id}/${part}`, key, lang)).blob();
}

/** Erase a job with its results. */
export async function deleteJob(key, lang, id) {
  await requestJob(`/${id}`, key, lang, "DELETE");
}

function requestJob(path, key, lang, method = "GET") {
  return request(`api/external/jobs${path}?lang=${lang}`, { method, headers: { "X-API-Key": key } });
}

/** Return the PDF of an artifact link. */
export async function artifact(key, lang, url) {
  // Use the path only: the page may be open under a different host name of the appliance.
  const path = url.slice(url.indexOf("/api/external/artifacts/") + 1);
  return (await request(`${path}?lang=${lang}`, { headers: { "X-API-Key": key } })).blob();
}

function formData({ mode, engine }) {
  const form = new FormData();
  form.append("validation_mode", mode);
  if (engine) {
    form.append("engine", engine);
  }
  return form;
}

function post(path, key, lang, body, signal) {
  return request(`${path}?lang=${lang}&causes=true&assess=true&letter=true`, { method: "POST", headers: { "X-API-Key": key }, body, signal });
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { ...options, cache: "no-store", credentials: "omit", redirect: "error" });
  } catch (error) {
    if (error.name === "AbortError") {
      throw error;
    }
    throw new ProblemError({ code: "no_response" });
  }
  if (response.ok) {
    return response;
  }
  const problem = await response.json().catch(() => ({}));
  const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  throw new ProblemError({ ...problem, status: response.status, seconds: Number.isNaN(seconds) ? null : seconds });
}
