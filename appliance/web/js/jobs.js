// ZIP archives: each is validated on the server as a job, which goes on if the page is closed.

import { createJob, deleteJob, jobResult, listJobs, ProblemError, stateOfJob } from "./api.js";
import { el, save } from "./dom.js";
import { formatSize } from "./format.js";
import { LABELS } from "./labels.js";

const POLL_MILLISECONDS = 2_000;
const RESULTS = [
  ["results.csv", "jobCsv"],
  ["findings.csv", "jobFindingsCsv"],
  ["results.jsonl", "jobJsonl"],
  ["summary", "jobSummary"],
];

export function isArchive(file) {
  return /\.zip$/i.test(file.name) || ["application/zip", "application/x-zip-compressed"].includes(file.type);
}

/** The list of the jobs of the key, in the element `section`. */
export class JobList {
  /** `page` has the functions key(), lang(), options(), setStatus(text, {visible}) and showError(error, retry). */
  constructor(section, page) {
    this.section = section;
    this.page = page;
    this.limits = null; // null until the key was verified
    this.rows = new Map(); // by identifier, in the order of the page
    this.timer = null;
  }

  /** Show the jobs of a key that was verified; `limits` are those of the capabilities. */
  async offer(limits) {
    this.clear();
    this.limits = limits;
    if (limits.available) {
      const { items } = await listJobs(this.page.key(), this.page.lang());
      items.forEach((job) => this.#add(job));
      this.#poll();
    }
  }

  /** Forget the jobs of a key that is not used any more. */
  clear() {
    clearTimeout(this.timer);
    Object.assign(this, { limits: null, timer: null, rows: new Map() });
    this.render();
  }

  /** Send an archive. */
  async start(file) {
    const { key, lang, options, setStatus, showError } = this.page;
    setStatus(LABELS[lang()].jobUploading({ name: file.name }));
    try {
      this.#check(file);
      this.#add(await createJob(key(), lang(), file, options().engine), { first: true });
      setStatus(LABELS[lang()].jobStarted({ name: file.name }));
      this.#poll();
    } catch (error) {
      setStatus("");
      showError(error, () => this.start(file));
    }
  }

  /** Show all texts anew, such as in another language. */
  render() {
    this.section.hidden = !this.rows.size;
    const labels = LABELS[this.page.lang()];
    this.heading = el("h2", { id: "jobs-title", tabindex: "-1" }, labels.jobs);
    const rows = [...this.rows.values()];
    rows.forEach((row) => row.render());
    this.section.replaceChildren(this.heading, el("ul", {}, rows.map((row) => row.element)));
  }

  #check(file) {
    const labels = LABELS[this.page.lang()];
    if (this.limits && !this.limits.available) {
      throw new ProblemError({ title: labels.jobsUnavailable, detail: labels.jobsUnavailableDetail });
    }
    const limit = this.limits?.max_size_bytes ?? Infinity;
    if (file.size > limit) {
      const [size, most] = [file.size, limit].map((bytes) => formatSize(bytes, this.page.lang()));
      throw new ProblemError({ title: labels.tooLarge, detail: labels.tooLargeDetail({ size, limit: most }) });
    }
  }

  #add(job, { first = false } = {}) {
    const added = [job.id, new JobRow(job, this.page, () => this.#remove(job.id))];
    this.rows = new Map(first ? [added, ...this.rows] : [...this.rows, added]);
    this.render();
  }

  #remove(id) {
    this.rows.delete(id);
    this.render();
    (this.rows.size ? this.heading : document.getElementById("files")).focus();
  }

  /** Ask for the state of the jobs that are not done, until all are. */
  #poll() {
    this.timer ??= setTimeout(async () => {
      this.timer = null;
      const { rows } = this;
      const open = [...rows.values()].filter((row) => !row.isDone);
      await Promise.all(open.map((row) => row.refresh()));
      if (open.length && rows === this.rows) {
        this.#poll();
      }
    }, POLL_MILLISECONDS);
  }
}

/** One job: its name, what is done, and the buttons for its results. */
class JobRow {
  constructor(job, page, onRemoved) {
    Object.assign(this, { job, page, onRemoved, element: el("li", {}) });
    this.render();
  }

  get isDone() {
    return this.job.status === "done";
  }

  render() {
    const { job, page } = this;
    const labels = LABELS[page.lang()];
    this.state = el("p", { class: "muted" });
    this.progress = el("progress", { max: job.files.total, "aria-label": labels.jobProgress({ name: job.filename }) });
    const name = el("p", { class: "filename", id: `job-${job.id}` }, job.filename);
    const buttons = this.isDone ? RESULTS.map(([part, label]) => this.#download(part, labels[label])) : [];
    const toolbar = el("div", { class: "toolbar", role: "group", "aria-labelledby": name.id }, buttons, this.#deletion());
    this.element.replaceChildren(name, this.state, this.isDone ? "" : this.progress, toolbar);
    this.#update();
  }

  /** Ask for the state; a job that is gone disappears, and what fails is tried again. */
  async refresh() {
    const { key, lang, setStatus } = this.page;
    try {
      this.job = await stateOfJob(key(), lang(), this.job.id);
    } catch (error) {
      if ([404, 410].includes(error.problem?.status)) {
        this.onRemoved();
      }
      return;
    }
    if (this.isDone) {
      this.render();
      const completed = LABELS[lang()].jobCompleted({ name: this.job.filename, result: this.state.textContent });
      setStatus(completed, { visible: false }); // the row says so, too
    } else {
      this.#update(); // the buttons stay, and with them the focus
    }
  }

  #update() {
    const { job, page } = this;
    const labels = LABELS[page.lang()];
    const expires = new Date(job.expires_at).toLocaleString(page.lang(), { dateStyle: "medium", timeStyle: "short" });
    const texts = {
      waiting: () => job.message,
      queued: () => labels.jobQueued,
      running: () => (job.phase === "files" ? labels.jobFiles(job.files) : labels.jobCauses),
      done: () => `${labels.jobDone(job.files)} ${labels.jobExpires({ time: expires })}`,
    };
    this.state.textContent = texts[job.status]();
    this.progress.value = job.files.done;
  }

  #download(part, label) {
    const { job, page } = this;
    const download = async () => {
      try {
        const stem = job.filename.replace(/\.zip$/i, "");
        const name = `${stem}-${part}${part.includes(".") ? "" : ".json"}`;
        save(await jobResult(page.key(), page.lang(), job.id, part), name);
        page.setStatus("");
      } catch (error) {
        page.showError(error, download);
      }
    };
    return el("button", { type: "button", class: "button", onclick: download }, label);
  }

  /** Return the button that deletes the job when it is pressed twice. */
  #deletion() {
    const { job, page } = this;
    const labels = LABELS[page.lang()];
    const remove = async () => {
      try {
        await deleteJob(page.key(), page.lang(), job.id);
        this.onRemoved();
        page.setStatus(labels.jobDeleted({ name: job.filename }));
      } catch (error) {
        page.showError(error, remove);
      }
    };
    let isArmed = false;
    const arm = (armed) => {
      isArmed = armed;
      button.textContent = armed ? labels.jobReallyDelete : labels.jobDelete;
    };
    const press = () => (isArmed ? remove() : arm(true));
    const properties = { type: "button", class: "button", onclick: press, onblur: () => arm(false) };
    const button = el("button", properties, labels.jobDelete);
    return button;
  }
}
