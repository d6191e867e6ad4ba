"""Jobs: validate a ZIP of many invoices in the background."""

import datetime
from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path
from starlette.requests import Request
from starlette.responses import Response

from appliance.access.auth import RIGHT_REQUIRED
from appliance.access.quotas import DAILY_FILES
from appliance.api.byte_ranges import RANGE_NOT_SATISFIABLE, download
from appliance.api.dependencies import INVALID_LANGUAGE, Caller, CurrentCaller, QueryLanguage
from appliance.api.form_fields import INVALID_ENGINE, form_engine
from appliance.api.processing import NO_STORE
from appliance.api.responses import archive_form, problem_responses
from appliance.archive_jobs.job_store import CHUNK_BYTES
from appliance.archive_jobs.records import PARTS, Job, Progress
from appliance.archive_jobs.runner import JobRunner, in_thread
from appliance.archive_jobs.upload import (
    ARCHIVE_BOMB,
    ARCHIVE_EMPTY,
    JOB_NOT_FOUND,
    JOB_TOO_LARGE,
    JOBS_UNAVAILABLE,
    NO_ZIP,
    ONE_ARCHIVE_EXPECTED,
    TOO_MANY_ARCHIVED,
    Upload,
    archive_field,
    translated_errors,
)
from appliance.contract.job_schemas import JobList, JobResponse, JobSummary
from appliance.contract.paths import API
from appliance.contract.problems import Problem, ProblemType, quoted
from appliance.contract.serialization import to_json
from appliance.contract.values import ENGINES, Language
from appliance.services import Services
from appliance.settings import Settings
from appliance.transport.forwarded import base_url
from appliance.transport.uploads import EMPTY_FILE, FORM_TOO_LARGE, INVALID_FORM, NO_FILE, UPLOAD_TOO_SLOW, read_form
from appliance.workers.pool import BUSY
from einvoice.localization import Messages

PATH: Final = f"{API}/jobs"
RIGHT: Final = "can_use_jobs"

JOB_EXPIRED = ProblemType("job_expired", 410)
JOB_NOT_DONE: Final = {
    "files": ProblemType("job_not_done", 409, example={"done": 1216, "total": 20_000}),
    "causes": ProblemType("job_not_done", 409, message="job_searches_causes"),
    "summary": ProblemType("job_not_done", 409, message="job_is_summarized"),
}
"""Problems of a job that is not done, by its phase."""
JOBS_NOT_OFFERED = ProblemType("jobs_not_offered", 501)

_RETRY_SECONDS: Final = 10
_WORDS: Final = Messages("appliance", "words")
_MEDIA_TYPES: Final = {"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}
_COMMON = (INVALID_LANGUAGE, RIGHT_REQUIRED, JOBS_NOT_OFFERED, JOBS_UNAVAILABLE)
_LIST = problem_responses(*_COMMON)
_ONE = problem_responses(*_COMMON, JOB_NOT_FOUND, JOB_EXPIRED)
_RESULTS = problem_responses(*_COMMON, JOB_NOT_FOUND, JOB_EXPIRED, JOB_NOT_DONE["files"])
_CREATE = problem_responses(
    *_COMMON,
    INVALID_FORM,
    NO_FILE,
    EMPTY_FILE,
    ONE_ARCHIVE_EXPECTED,
    NO_ZIP,
    ARCHIVE_EMPTY,
    ARCHIVE_BOMB,
    TOO_MANY_ARCHIVED,
    INVALID_ENGINE,
    JOB_TOO_LARGE,
    FORM_TOO_LARGE,
    UPLOAD_TOO_SLOW,
    BUSY,
    DAILY_FILES,
)
_CONTENT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "All of it.",
        "content": {
            media_type: {"schema": {"type": "string"}, "examples": {"shortened": {"value": example}}}
            for media_type, example in (
                ("application/jsonl", '{"filename":"invoice.xml","is_valid":true,"errors":[]}\n'),
                ("text/csv", "file,verdict,number\ninvoice.xml,valid,R-1\n"),
            )
        },
    },
    206: {"description": "The part that `Range` asks for."},
}


async def _entitled(caller: CurrentCaller) -> Caller:
    """Return the caller.

    Raises:
        Problem: its plan does not include jobs.
    """
    if not getattr(caller.entitlements, RIGHT):
        raise Problem(RIGHT_REQUIRED, right=RIGHT)
    return caller


JobCaller = Annotated[Caller, Depends(_entitled)]
JobId = Annotated[str, Path(description="Identifier of the job.")]
_FILE = Path(description="Name of the download.", json_schema_extra={"enum": list(PARTS)})


def job_limits(settings: Settings) -> dict[str, int]:
    """Return the limits of jobs, as the capabilities name them."""
    return {
        "max_size_bytes": settings.job_megabytes << 20,
        "max_files": settings.job_files,
        "lifetime_seconds": settings.job_seconds,
    }


def routes(services: Services) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix=API)

    @router.post(
        "/jobs",
        status_code=202,
        response_model=JobResponse,
        response_description="The job; `Location` is its address.",
        responses=_CREATE,
        openapi_extra=archive_form(list(ENGINES)),
    )
    async def create_job(request: Request, lang: QueryLanguage, caller: JobCaller) -> Response:
        """Validate a ZIP of invoices in the background. Each file counts for the daily limit."""
        jobs, holder, settings = _offered(services), caller.key.name, services.settings
        with services.workers.reserve(holder) as reservation:
            reservation.add_bytes(2 * CHUNK_BYTES)  # the rest is in the store
            now = jobs.clock()
            upload = Upload(jobs.store, settings, now, holder)
            try:
                form = await read_form(
                    request.stream(),
                    request.headers.get("content-type", ""),
                    archive_field(settings),
                    seconds=settings.upload_seconds,
                    sink=upload.add,
                )
                (file,) = form.files
                engine = form_engine(form.fields, settings.engine, caller.entitlements)
                job = Job(
                    id=upload.id,
                    holder=holder,
                    key=caller.key.label,
                    filename=quoted(file.name),
                    lang=lang,
                    engine=engine,
                    base=base_url(request.scope) if settings.catalog_pages else None,
                    has_facts=caller.entitlements.can_view_structured_invoice,
                    files=await upload.finish(file.content),
                    created=now,
                    expires=now + settings.job_seconds,
                )
                limit = caller.entitlements.daily_validation_limit
                await services.quotas.consume(holder, DAILY_FILES, limit, job.files)
                with translated_errors():
                    await in_thread(jobs.store.add, job)
            except BaseException:
                await upload.discard()
                raise
        jobs.start(holder)
        content = await _described(jobs, job, request, lang)
        return _json(content, 202, {"Location": content["url"]})

    @router.get("/jobs", response_model=JobList, response_description="The jobs.", responses=_LIST)
    async def list_jobs(request: Request, lang: QueryLanguage, caller: JobCaller) -> Response:
        """Return the jobs of the key, the latest first."""
        jobs, items = _offered(services), []
        with translated_errors():
            found = await in_thread(jobs.store.jobs, caller.key.name)
        for job in found:
            try:
                items.append(await _described(jobs, job, request, lang))
            except Problem as problem:
                if problem.type != JOB_NOT_FOUND:  # deleted meanwhile
                    raise
        return _json({"status": "ok", "count": len(items), "items": items})

    @router.get("/jobs/{id}", response_model=JobResponse, response_description="The job.", responses=_ONE)
    async def job(request: Request, id: JobId, lang: QueryLanguage, caller: JobCaller) -> Response:
        """Return the state and the progress of a job."""
        jobs = _offered(services)
        return _json(await _described(jobs, await _found(jobs, caller, id), request, lang))

    @router.delete("/jobs/{id}", status_code=204, response_class=Response, responses=_ONE)
    async def delete_job(id: JobId, lang: QueryLanguage, caller: JobCaller) -> Response:
        """End a job, and erase it with its results."""
        jobs = _offered(services)
        found = await _found(jobs, caller, id)
        with translated_errors():
            await in_thread(jobs.store.erase, found)
            await jobs.stop(found)
            await in_thread(jobs.store.erase, found)  # what was stored meanwhile
        return Response(status_code=204)

    @router.get(
        "/jobs/{id}/summary", response_model=JobSummary, response_description="The summary.", responses=_RESULTS
    )
    async def job_summary(id: JobId, lang: QueryLanguage, caller: JobCaller) -> Response:
        """Return verdicts, codes and common causes of the files of a job, in the language of the job."""
        jobs = _offered(services)
        found, _ = await _finished(jobs, caller, id)
        with translated_errors():
            (body,) = await in_thread(jobs.store.block, found, "summary", 0)
        return Response(body, media_type="application/json", headers=NO_STORE)

    @router.head("/jobs/{id}/{file}", include_in_schema=False)
    @router.get(
        "/jobs/{id}/{file}",
        response_class=Response,
        responses={**_CONTENT, **_RESULTS, **problem_responses(RANGE_NOT_SATISFIABLE)},
    )
    async def job_results(
        request: Request, id: JobId, file: Annotated[str, _FILE], lang: QueryLanguage, caller: JobCaller
    ) -> Response:
        """Return the results of a job: JSON lines, or CSV of the files or the findings. `Range` resumes a download."""
        jobs = _offered(services)
        if file not in PARTS:
            raise Problem(JOB_NOT_FOUND)
        found, progress = await _finished(jobs, caller, id)
        part = PARTS.index(file)

        async def block(number: int) -> bytes:
            return (await in_thread(jobs.store.block, found, "results", number))[1 + part]

        etag, media_type = f'"{found.id}"', _MEDIA_TYPES[file.rpartition(".")[2]]
        return download(request, progress.sizes(part), block, etag, media_type, file)

    return router


def _offered(services: Services) -> JobRunner:
    if services.jobs is None:
        raise Problem(JOBS_NOT_OFFERED)
    return services.jobs


async def _found(jobs: JobRunner, caller: Caller, id: str) -> Job:
    """Return a job of the caller.

    Raises:
        Problem: there is none, or it has expired.
    """
    with translated_errors():
        job = await in_thread(jobs.store.find, caller.key.name, id)
        if job is None:
            expired = await in_thread(jobs.store.has_expired, caller.key.name, id)
            raise Problem(JOB_EXPIRED if expired else JOB_NOT_FOUND)
    return job


async def _progress(jobs: JobRunner, job: Job) -> Progress:
    with translated_errors():
        return await in_thread(jobs.store.progress, job)


async def _finished(jobs: JobRunner, caller: Caller, id: str) -> tuple[Job, Progress]:
    """Return a job of the caller that is done.

    Raises:
        Problem: there is none, or it is not done.
    """
    job = await _found(jobs, caller, id)
    progress = await _progress(jobs, job)
    if progress.phase != "done":
        headers = {"Retry-After": str(_RETRY_SECONDS)}
        raise Problem(JOB_NOT_DONE[progress.phase], headers=headers, done=progress.done, total=job.files)
    return job, progress


async def _described(jobs: JobRunner, job: Job, request: Request, lang: Language) -> dict[str, Any]:
    progress = await _progress(jobs, job)
    url = f"{base_url(request.scope)}{PATH}/{job.id}"
    status = jobs.status(job, progress)
    addresses = {part.replace(".", "_").removeprefix("results_"): f"{url}/{part}" for part in PARTS}
    return {
        "id": job.id,
        "url": url,
        "status": status,
        "phase": progress.phase,
        "message": _WORDS[lang]["job_waits"] if status == "waiting" else None,
        "filename": job.filename,
        "language": job.lang,
        "files": {"total": job.files, "done": progress.done, **progress.verdicts},
        "created_at": _time(job.created),
        "started_at": _time(progress.started),
        "finished_at": _time(progress.finished),
        "expires_at": _time(job.expires),
        "results": {**addresses, "summary": f"{url}/summary"} if status == "done" else None,
    }


def _time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _json(content: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] = NO_STORE) -> Response:
    return Response(to_json(content), status, media_type="application/json", headers={**NO_STORE, **headers})
