"""Generate an invoice from a draft; the JSON Schema of drafts."""

import functools

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

import einvoice
from appliance.api.dependencies import INVALID_LANGUAGE, INVALID_LINKS, CurrentCaller, QueryLanguage, wants_links
from appliance.api.processing import (
    NO_STORE,
    artifact_source,
    build_job,
    create_links,
    record_verdict,
    run_job,
    with_artifacts,
)
from appliance.api.responses import BODY_PROBLEMS, LINKS_PARAMETER, problem_responses
from appliance.artifacts.links import STORE_UNAVAILABLE, ArtifactLinks
from appliance.contract.paths import API
from appliance.contract.problems import Problem, ProblemType
from appliance.contract.results import INVALID_DRAFT
from appliance.contract.schemas import GenerateResponse
from appliance.contract.values import ArtifactKind
from appliance.services import Services
from appliance.transport.static_documents import StaticDocument
from appliance.transport.uploads import read_body
from appliance.workers.pool import TOO_COMPLEX

JSON_EXPECTED = ProblemType("json_expected", 415, example={"found": "text/plain"})
LINKS_REQUIRED = ProblemType("links_required", 422)
ZUGFERD_NOT_OFFERED = ProblemType("zugferd_not_offered", 501)

_PROBLEMS = problem_responses(
    INVALID_LANGUAGE,
    INVALID_LINKS,
    LINKS_REQUIRED,
    INVALID_DRAFT,
    TOO_COMPLEX,
    JSON_EXPECTED,
    ZUGFERD_NOT_OFFERED,
    STORE_UNAVAILABLE,
    *BODY_PROBLEMS,
)


def routes(services: Services) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix=API)
    request_body = {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}

    @router.post(
        "/generate",
        response_model=GenerateResponse,
        response_description="The invoice and its validation result.",
        responses=_PROBLEMS,
        openapi_extra={"parameters": [LINKS_PARAMETER], "requestBody": request_body},
    )
    async def generate(request: Request, lang: QueryLanguage, caller: CurrentCaller) -> Response:
        """Generate a UBL, CII or ZUGFERD invoice from a draft and validate it. The draft schema lists the fields.

        A ZUGFERD PDF is delivered by link. If no link can be created, the draft is refused with 503 or 501.
        """
        links = wants_links(request)
        _require_json(request.headers.get("content-type", ""))
        with services.workers.reserve(caller.key.name, is_long=True) as reservation:
            draft = await read_body(
                request.stream(), seconds=services.settings.upload_seconds, reserve=reservation.add_bytes
            )
            deliver = links and services.links.writable
            job = build_job(services, "generate", draft, request, caller, lang, deliver_pdf=deliver)
            outcome = await run_job(services, job, caller)
        if isinstance(outcome, Response):
            return outcome
        if "undeliverable" in outcome.head:
            raise _undeliverable(services.links, links)
        body, invoice = outcome.parts
        kinds: dict[ArtifactKind, bool] = {
            "validation_report_pdf": links,
            "readable_invoice_pdf": links and outcome.head["printable"],
        }
        if is_hybrid := outcome.head["verdict"]["format"] == "ZUGFERD":
            kinds["zugferd_pdf"] = True
        artifacts = await create_links(services, request, caller, artifact_source(invoice, "", lang), kinds)
        if is_hybrid:
            if not artifacts["zugferd_pdf"]["available"]:
                raise _undeliverable(services.links, links)
            artifacts["embedded_xml"] = outcome.head["embedded_xml"]
        record_verdict(services, request, outcome, invoice)
        return Response(with_artifacts(body, artifacts), media_type="application/json", headers=NO_STORE)

    @router.get(
        "/schemas/invoice-draft.json", response_description="The schema.", responses=problem_responses(INVALID_LANGUAGE)
    )
    def invoice_draft_schema(request: Request) -> Response:
        """Return the JSON Schema (2020-12) of drafts."""
        return _schema_document().response(request)

    return router


@functools.cache
def _schema_document() -> StaticDocument:
    """Return the schema; on first use, since the server needs the model of drafts for nothing else."""
    return StaticDocument.from_json(einvoice.draft_schema())


def _undeliverable(links: ArtifactLinks, wanted: bool) -> Problem:
    """Return the problem of a ZUGFERD PDF for which there is no link."""
    if not wanted:
        return Problem(LINKS_REQUIRED)
    if not links.enabled:
        return Problem(ZUGFERD_NOT_OFFERED)
    return Problem(STORE_UNAVAILABLE, headers={"Retry-After": str(links.retry_seconds)})


def _require_json(content_type: str) -> None:
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type != "application/json" and not (
        media_type.startswith("application/") and media_type.endswith("+json")
    ):
        raise Problem(JSON_EXPECTED, found=content_type)
