"""Generate an invoice from a draft, and the schema of drafts."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

import einvoice
from appliance.api.described import BODIES, problems
from appliance.api.judging import NO_STORE, done, job, links, note, recipe, with_last
from appliance.api.parameters import INVALID_LANGUAGE, PREFIX, Lang
from appliance.artifacts import Kind
from appliance.documents import Document
from appliance.jobs import to_json
from appliance.problems import Problem, ProblemKind, Words
from appliance.schemas import GenerateAnswer
from appliance.services import Services, Who
from appliance.upload import read_body
from appliance.workers import TOO_COMPLEX

JSON_EXPECTED = ProblemKind(
    "json_expected",
    415,
    de=Words("JSON erwartet", "Der Inhalt muss vom Typ application/json sein, nicht „{found}“."),
    en=Words("JSON expected", "The body must be of the type application/json, not “{found}”."),
    example={"found": "text/plain"},
)
INVALID_DRAFT = ProblemKind(
    "invalid_draft",
    422,
    de=Words("Kein gültiger Entwurf", "Falsche Stellen im Entwurf: {count}. Sie stehen in errors."),
    en=Words("Not a valid draft", "Wrong places in the draft: {count}. They are listed in errors."),
    example={"count": 2},
)


def routes(services: Services) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix=PREFIX)
    described = einvoice.draft_schema()
    schema = Document.of_json(described)
    content = {"schema": {"type": "object"}, "example": described["examples"][0]}
    body = {"required": True, "content": {"application/json": content}}

    @router.post(
        "/generate",
        response_model=GenerateAnswer,
        response_description="The invoice, and the verdict on it.",
        responses=problems(INVALID_LANGUAGE, INVALID_DRAFT, TOO_COMPLEX, JSON_EXPECTED, *BODIES),
        openapi_extra={"requestBody": body},
    )
    async def generate(request: Request, lang: Lang, who: Who) -> Response:
        """Make an invoice from a draft, as UBL, CII or ZUGFERD, and judge it; see the draft's schema for its fields."""
        _expect_json(request.headers.get("content-type", ""))
        with services.workers.place() as place:
            draft = await read_body(request.stream(), seconds=services.settings.upload_seconds, take=place.take)
            outcome = await done(services, job(services, "generate", draft, request, who, lang))
        if isinstance(outcome, Response):
            return outcome
        note(services, request, outcome)
        answer, document = outcome.parts
        kinds: dict[Kind, bool] = {"validation_report_pdf": True, "readable_invoice_pdf": True}
        if is_hybrid := outcome.head["facts"]["format"] == "ZUGFERD":
            kinds["zugferd_pdf"] = True
        artifacts = await links(services, request, who, recipe(document, "", lang), kinds)
        if is_hybrid:
            artifacts["embedded_xml"] = outcome.head["embedded_xml"]
        body = with_last(answer, "artifacts", to_json(artifacts))
        return Response(body, media_type="application/json", headers=NO_STORE)

    @router.get("/schemas/invoice-draft.json", response_description="The schema.", responses=problems())
    async def invoice_draft_schema(request: Request) -> Response:
        """Return the JSON Schema (2020-12) of drafts."""
        return schema.response(request)

    return router


def _expect_json(content_type: str) -> None:
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type != "application/json" and not (
        media_type.startswith("application/") and media_type.endswith("+json")
    ):
        raise Problem(JSON_EXPECTED, found=content_type)
