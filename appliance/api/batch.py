"""Validate several files in one request."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from appliance.access.auth import RIGHT_REQUIRED
from appliance.access.quotas import DAILY_FILES
from appliance.api.dependencies import (
    DETAILS,
    INVALID_LANGUAGE,
    INVALID_LINKS,
    Caller,
    CurrentCaller,
    QueryLanguage,
    wants_links,
)
from appliance.api.form_fields import INVALID_ENGINE, INVALID_MODE, form_engine, form_mode
from appliance.api.processing import (
    NO_STORE,
    artifact_source,
    build_job,
    create_links,
    record_verdict,
    requested_details,
    with_artifacts,
)
from appliance.api.responses import UPLOAD_PROBLEMS, form_body, problem_responses
from appliance.contract.paths import API
from appliance.contract.schemas import BatchResponse
from appliance.contract.values import ENGINES, ArtifactKind, Engine, Language, Mode
from appliance.services import Services
from appliance.transport.uploads import BATCH_FILES, INVALID_FORM, NO_FILE, TOO_MANY_FILES, UploadedFile, read_form
from appliance.workers.pool import JobCrashed, JobLimitExceeded
from appliance.workers.reference_time import REFERENCE_LIMIT

_MODES: dict[str, Mode] = {"current": "current"}
"""Compatibility mode is available for single files only."""

_PROBLEMS = problem_responses(
    INVALID_LANGUAGE,
    *DETAILS.values(),
    INVALID_LINKS,
    INVALID_FORM,
    NO_FILE,
    TOO_MANY_FILES,
    INVALID_MODE,
    INVALID_ENGINE,
    RIGHT_REQUIRED,
    REFERENCE_LIMIT,
    *UPLOAD_PROBLEMS,
    DAILY_FILES,
)


def routes(services: Services) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix=API)

    @router.post(
        "/validate/batch",
        response_model=BatchResponse,
        response_description="The validation results.",
        responses=_PROBLEMS,
        openapi_extra=form_body("files", multiple=True, modes=list(_MODES), engines=list(ENGINES)),
    )
    async def validate_batch(request: Request, lang: QueryLanguage, caller: CurrentCaller) -> Response:
        """Validate up to ten invoices. An unreadable file does not affect the others."""
        details = requested_details(services, request)
        is_long = details["causes_seconds"] is not None
        with services.workers.reserve(caller.key.name, is_long=is_long) as reservation:
            form = await read_form(
                request.stream(),
                request.headers.get("content-type", ""),
                BATCH_FILES,
                seconds=services.settings.upload_seconds,
                reserve=reservation.add_bytes,
            )
            form_mode(form.fields, _MODES)
            links = wants_links(request, form.fields)
            engine = form_engine(form.fields, services.settings.engine, caller.entitlements)
            limit = caller.entitlements.daily_validation_limit
            await services.quotas.consume(caller.key.name, DAILY_FILES, limit, len(form.files))
            # Without it, the last files of a batch would time out waiting for a worker.
            semaphore = asyncio.Semaphore(services.settings.workers)
            items = await _gather(
                _validate_item(services, semaphore, request, caller, lang, engine, details, links, file)
                for file in form.files
            )
        body = b'{"status":"done","count":%d,"items":[%b]}' % (len(items), b",".join(items))
        return Response(body, media_type="application/json", headers=NO_STORE)

    return router


async def _gather(awaitables: Iterable[Awaitable[bytes]]) -> list[bytes]:
    """Wait for all awaitables, then return the results or raise the first exception."""
    results = await asyncio.gather(*awaitables, return_exceptions=True)
    try:
        if errors := [it for it in results if isinstance(it, BaseException)]:
            raise errors[0]
        return [it for it in results if not isinstance(it, BaseException)]
    finally:
        del results, errors  # they refer to this frame, and to the files


async def _validate_item(
    services: Services,
    semaphore: asyncio.Semaphore,
    request: Request,
    caller: Caller,
    lang: Language,
    engine: Engine,
    details: Mapping[str, Any],
    links: bool,
    file: UploadedFile,
) -> bytes:
    """Validate a file and return its item in the response."""
    head = {"name": file.name, "engine": engine, **details}
    job = build_job(services, "validate_item", file.content, request, caller, lang, **head)
    async with semaphore:
        try:
            outcome = await services.workers.run(job, caller.key.name)
        except JobLimitExceeded:
            limits = {"seconds": services.settings.document_seconds, "megabytes": services.settings.worker_megabytes}
            job = build_job(services, "abandon_item", b"", request, caller, lang, name=file.name, **limits)
            outcome = await services.workers.run(job, caller.key.name)
        except JobCrashed:
            job = build_job(services, "abandon_item", b"", request, caller, lang, name=file.name)
            outcome = await services.workers.run(job, caller.key.name)
    record_verdict(services, request, outcome, file.content)
    readable = outcome.head["verdict"]["syntax"] is not None
    kinds: dict[ArtifactKind, bool] = {"validation_report_pdf": readable and links, "readable_invoice_pdf": False}
    source = artifact_source(file.content, file.name, lang, engine=engine, assess="assess" in details["details"])
    return with_artifacts(outcome.parts[0], await create_links(services, request, caller, source, kinds))
