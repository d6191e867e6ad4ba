"""Validate one file."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from appliance.access.auth import RIGHT_REQUIRED
from appliance.access.quotas import DAILY_FILES
from appliance.api.dependencies import (
    DETAILS,
    INVALID_LANGUAGE,
    INVALID_LINKS,
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
    run_job,
    with_artifacts,
)
from appliance.api.responses import UPLOAD_PROBLEMS, form_body, problem_responses
from appliance.contract.paths import API
from appliance.contract.schemas import ValidationResponse
from appliance.contract.values import ENGINES, MODES, ArtifactKind
from appliance.services import Services
from appliance.transport.uploads import EMPTY_FILE, INVALID_FORM, NO_FILE, ONE_FILE_EXPECTED, SINGLE_FILE, read_form
from appliance.workers.pool import TOO_COMPLEX
from appliance.workers.reference_time import REFERENCE_LIMIT

_PROBLEMS = problem_responses(
    INVALID_LANGUAGE,
    *DETAILS.values(),
    INVALID_LINKS,
    INVALID_FORM,
    NO_FILE,
    ONE_FILE_EXPECTED,
    EMPTY_FILE,
    INVALID_MODE,
    INVALID_ENGINE,
    RIGHT_REQUIRED,
    TOO_COMPLEX,
    REFERENCE_LIMIT,
    *UPLOAD_PROBLEMS,
    DAILY_FILES,
    unreadable=True,
)


def routes(services: Services) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix=API)

    @router.post(
        "/validate",
        response_model=ValidationResponse,
        response_description="The validation result.",
        responses=_PROBLEMS,
        openapi_extra=form_body("file", multiple=False, modes=list(MODES), engines=list(ENGINES)),
    )
    async def validate(request: Request, lang: QueryLanguage, caller: CurrentCaller) -> Response:
        """Validate one invoice: UBL, CII, or a hybrid PDF (ZUGFeRD, Factur-X)."""
        details = requested_details(services, request)
        is_long = details["causes_seconds"] is not None
        with services.workers.reserve(caller.key.name, is_long=is_long) as reservation:
            form = await read_form(
                request.stream(),
                request.headers.get("content-type", ""),
                SINGLE_FILE,
                seconds=services.settings.upload_seconds,
                reserve=reservation.add_bytes,
            )
            links = wants_links(request, form.fields)
            mode, file = form_mode(form.fields, MODES), form.files[0]
            engine = form_engine(form.fields, services.settings.engine, caller.entitlements)
            await services.quotas.consume(caller.key.name, DAILY_FILES, caller.entitlements.daily_validation_limit)
            head = {"mode": mode, "engine": engine, **details}
            job = build_job(services, "validate", file.content, request, caller, lang, **head)
            outcome = await run_job(services, job, caller)
        if isinstance(outcome, Response):
            return outcome
        record_verdict(services, request, outcome, file.content)
        source = artifact_source(file.content, file.name, lang, mode, engine, assess="assess" in details["details"])
        kinds: dict[ArtifactKind, bool] = {
            "validation_report_pdf": links,
            "readable_invoice_pdf": links and outcome.head["printable"],
        }
        artifacts = await create_links(services, request, caller, source, kinds)
        body = with_artifacts(outcome.parts[0], artifacts)
        return Response(body, media_type="application/json", headers=NO_STORE)

    return router
