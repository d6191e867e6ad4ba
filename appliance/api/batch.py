"""Validate several files at once."""

import asyncio
from collections.abc import Awaitable, Iterable

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from appliance.api.described import UPLOADS, form, problems
from appliance.api.judging import NO_STORE, job, links, note, recipe, with_last
from appliance.api.parameters import (
    ENGINES,
    INVALID_ENGINE,
    INVALID_LANGUAGE,
    INVALID_MODE,
    PREFIX,
    Lang,
    form_engine,
    form_mode,
)
from appliance.artifacts import Kind
from appliance.gate import RIGHT_REQUIRED
from appliance.jobs import to_json
from appliance.problems import Language
from appliance.schemas import BatchAnswer, Engine, Mode
from appliance.services import Caller, Services, Who
from appliance.upload import INVALID_FORM, NO_FILE, TEN_FILES, TOO_MANY_FILES, UploadedFile, read_form
from appliance.usage import FILES
from appliance.workers import TooComplex

MODES: dict[str, Mode] = {"current": "current"}
"""Rule sets are compared for a single file only."""

PROBLEMS = problems(
    *(INVALID_LANGUAGE, INVALID_FORM, NO_FILE, TOO_MANY_FILES, INVALID_MODE, INVALID_ENGINE, RIGHT_REQUIRED),
    *(*UPLOADS, FILES),
)


def routes(services: Services) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix=PREFIX)

    @router.post(
        "/validate/batch",
        response_model=BatchAnswer,
        response_description="The verdicts.",
        responses=PROBLEMS,
        openapi_extra=form("files", several=True, mode=list(MODES), engine=list(ENGINES)),
    )
    async def validate_batch(request: Request, lang: Lang, who: Who) -> Response:
        """Judge up to ten invoices; a file that nobody can read does not keep the others from being judged."""
        with services.workers.place() as place:
            sent = await read_form(
                request.stream(),
                request.headers.get("content-type", ""),
                TEN_FILES,
                seconds=services.settings.upload_seconds,
                take=place.take,
            )
            form_mode(sent.fields, MODES)
            engine = form_engine(sent.fields, services.settings.engine)
            await services.usage.take(who.key.name, FILES, who.rights.daily_validation_limit, len(sent.files))
            turns = asyncio.Semaphore(services.settings.workers)
            items = await _all(_item(services, turns, request, who, lang, engine, file) for file in sent.files)
        body = b'{"status":"done","count":%d,"items":[%b]}' % (len(items), b",".join(items))
        return Response(body, media_type="application/json", headers=NO_STORE)

    return router


async def _all(coming: Iterable[Awaitable[bytes]]) -> list[bytes]:
    """Wait for all; if one fails, it is its fault that is raised, once the others have ended."""
    items = []
    for item in await asyncio.gather(*coming, return_exceptions=True):
        if isinstance(item, BaseException):
            raise item
        items.append(item)
    return items


async def _item(
    services: Services,
    turns: asyncio.Semaphore,
    request: Request,
    who: Caller,
    lang: Language,
    engine: Engine,
    file: UploadedFile,
) -> bytes:
    """Return what is answered about one of the files; they take turns, so that none waits for all before it."""
    async with turns:
        try:
            work = job(services, "validate_item", file.content, request, who, lang, name=file.name, engine=engine)
            outcome = await services.workers.run(work)
        except TooComplex:
            limits = {"seconds": services.settings.document_seconds, "megabytes": services.settings.worker_megabytes}
            work = job(services, "give_up_item", b"", request, who, lang, name=file.name, **limits)
            outcome = await services.workers.run(work)
    note(services, request, outcome)
    read = outcome.head["facts"]["syntax"] is not None
    kinds: dict[Kind, bool] = {"validation_report_pdf": read, "readable_invoice_pdf": False}
    artifacts = await links(services, request, who, recipe(file.content, file.name, lang, engine=engine), kinds)
    return with_last(outcome.parts[0], "artifacts", to_json(artifacts))
