"""Validate one file."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from appliance.api.described import UPLOADS, form, problems
from appliance.api.judging import NO_STORE, done, job, links, note, recipe, with_last
from appliance.api.parameters import (
    ENGINES,
    INVALID_ENGINE,
    INVALID_LANGUAGE,
    INVALID_MODE,
    MODES,
    PREFIX,
    Lang,
    form_engine,
    form_mode,
)
from appliance.artifacts import Kind
from appliance.jobs import to_json
from appliance.schemas import ValidationAnswer
from appliance.services import Services, Who
from appliance.upload import EMPTY_FILE, INVALID_FORM, NO_FILE, ONE_FILE, ONE_FILE_EXPECTED, read_form
from appliance.usage import FILES
from appliance.workers import TOO_COMPLEX

PROBLEMS = problems(
    *(
        INVALID_LANGUAGE,
        INVALID_FORM,
        NO_FILE,
        ONE_FILE_EXPECTED,
        EMPTY_FILE,
        INVALID_MODE,
        INVALID_ENGINE,
        TOO_COMPLEX,
    ),
    *(*UPLOADS, FILES),
    unreadable=True,
)


def routes(services: Services) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix=PREFIX)

    @router.post(
        "/validate",
        response_model=ValidationAnswer,
        response_description="The verdict.",
        responses=PROBLEMS,
        openapi_extra=form("file", several=False, mode=list(MODES), engine=list(ENGINES)),
    )
    async def validate(request: Request, lang: Lang, who: Who) -> Response:
        """Judge one invoice: UBL, CII, or a PDF with CII inside (ZUGFeRD, Factur-X)."""
        with services.workers.place() as place:
            sent = await read_form(
                request.stream(),
                request.headers.get("content-type", ""),
                ONE_FILE,
                seconds=services.settings.upload_seconds,
                take=place.take,
            )
            mode, file = form_mode(sent.fields, MODES), sent.files[0]
            engine = form_engine(sent.fields, services.settings.engine)
            await services.usage.take(who.key.name, FILES, who.rights.daily_validation_limit)
            work = job(services, "validate", file.content, request, who, lang, mode=mode, engine=engine)
            outcome = await done(services, work)
        if isinstance(outcome, Response):
            return outcome
        note(services, request, outcome)
        made_from = recipe(file.content, file.name, lang, mode, engine)
        kinds: dict[Kind, bool] = {"validation_report_pdf": True, "readable_invoice_pdf": True}
        artifacts = await links(services, request, who, made_from, kinds)
        body = with_last(outcome.parts[0], "artifacts", to_json(artifacts))
        return Response(body, media_type="application/json", headers=NO_STORE)

    return router
