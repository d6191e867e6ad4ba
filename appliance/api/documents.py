"""Convert, extract, fix, read and compare invoices."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from appliance.access.auth import RIGHT_REQUIRED
from appliance.access.quotas import DAILY_FILES
from appliance.api.dependencies import INVALID_LANGUAGE, Caller, CurrentCaller, QueryLanguage, is_requested
from appliance.api.form_fields import INVALID_TO, form_target
from appliance.api.processing import NO_STORE, build_job, record_verdict, run_job
from appliance.api.responses import UPLOAD_PROBLEMS, file_form, problem_responses
from appliance.contract.document_schemas import (
    ConvertResponse,
    DiffResponse,
    ExtractResponse,
    FixResponse,
    ReadResponse,
)
from appliance.contract.paths import API
from appliance.contract.problems import Problem, ProblemType
from appliance.contract.values import Language
from appliance.services import Services
from appliance.transport.uploads import (
    EMPTY_FILE,
    INVALID_FORM,
    NO_FILE,
    ONE_FILE_EXPECTED,
    SINGLE_FILE,
    FileField,
    read_form,
)
from appliance.workers.document_jobs import CONVERSION_REFUSED, INVALID_SPECIFICATION, SIGNED_DOCUMENT
from appliance.workers.pool import TOO_COMPLEX

DOCUMENT_RIGHTS: Final[Mapping[str, str]] = {
    "convert": "can_convert",
    "extract": "can_extract",
    "fix": "can_fix",
    "read": "can_read",
    "diff": "can_diff",
}
"""Entitlement that each endpoint requires."""

INVALID_STRICT = ProblemType("invalid_strict", 422, example={"known": "true | false", "value": "yes"})
INVALID_UNSAFE = ProblemType("invalid_unsafe", 422, example={"known": "true | false", "value": "yes"})
TWO_FILES_EXPECTED = ProblemType("two_files_expected", 422, example={"field": "files"})

_TWO_FILES = FileField("files", 2, TWO_FILES_EXPECTED)
_TO = "Syntax of the result; by default the other one."
_SPECIFICATION = (
    "What the result declares (BT-24): an identifier, or a name such as XRECHNUNG or EN16931. By default the same as "
    "before, but EN 16931 for a profile of Factur-X that becomes UBL."
)
_CONVERT_FORM = file_form(
    {"to": {"enum": ["UBL", "CII"], "description": _TO}, "specification": {"description": _SPECIFICATION}},
    {"strict": "`true`: return no document if a term of EN 16931 was lost, or a valid invoice became invalid."},
)
_FIX_FORM = file_form({}, {"unsafe": "`true`: also make changes that leave one thing open; check them."})


def routes(services: Services) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix=API)

    @router.post(
        "/convert",
        response_model=ConvertResponse,
        response_description="The converted document, and what happened to its terms.",
        responses=_problems(ONE_FILE_EXPECTED, INVALID_TO, INVALID_SPECIFICATION, INVALID_STRICT, CONVERSION_REFUSED),
        openapi_extra=_CONVERT_FORM,
    )
    async def convert(request: Request, lang: QueryLanguage, caller: CurrentCaller) -> Response:
        """Convert an invoice between UBL and CII, validate it before and after, and list each term that changed."""

        def head(fields: Mapping[str, str]) -> dict[str, Any]:
            return {
                "to": form_target(fields),
                "specification": fields.get("specification") or None,
                "strict": is_requested(request, fields, "strict", INVALID_STRICT),
            }

        return await _answer(services, request, lang, caller, "convert", head)

    @router.post(
        "/extract",
        response_model=ExtractResponse,
        response_description="The XML, and the attachments.",
        responses=_problems(ONE_FILE_EXPECTED),
        openapi_extra=file_form(),
    )
    async def extract(request: Request, lang: QueryLanguage, caller: CurrentCaller) -> Response:
        """Extract the XML of a hybrid PDF, byte for byte and without validating it, and list what is attached."""
        return await _answer(services, request, lang, caller, "extract")

    @router.post(
        "/fix",
        response_model=FixResponse,
        response_description="The corrected XML, each change, and what remains.",
        responses=_problems(ONE_FILE_EXPECTED, INVALID_UNSAFE, SIGNED_DOCUMENT),
        openapi_extra=_FIX_FORM,
    )
    async def fix(request: Request, lang: QueryLanguage, caller: CurrentCaller) -> Response:
        """Correct an invoice where its content says how; each change is validated, all other bytes stay as they are.

        What only the issuer knows stays a question. Only the issuer may correct an invoice that has been sent.
        """

        def head(fields: Mapping[str, str]) -> dict[str, Any]:
            return {"unsafe": is_requested(request, fields, "unsafe", INVALID_UNSAFE)}

        return await _answer(services, request, lang, caller, "fix", head, is_long=True)

    @router.post(
        "/read",
        response_model=ReadResponse,
        response_description="The invoice.",
        responses=_problems(ONE_FILE_EXPECTED),
        openapi_extra=file_form(),
    )
    async def read(request: Request, lang: QueryLanguage, caller: CurrentCaller) -> Response:
        """Read an invoice as JSON by its business terms, without validating it."""
        return await _answer(services, request, lang, caller, "read")

    @router.post(
        "/diff",
        response_model=DiffResponse,
        response_description="The comparison.",
        responses=_problems(TWO_FILES_EXPECTED),
        openapi_extra=file_form(two_files=True),
    )
    async def diff(request: Request, lang: QueryLanguage, caller: CurrentCaller) -> Response:
        """Compare two invoices by their business terms, in any syntax, without validating them."""
        return await _answer(services, request, lang, caller, "diff", file_field=_TWO_FILES)

    return router


def _problems(*types: ProblemType) -> dict[int | str, dict[str, Any]]:
    common = (INVALID_LANGUAGE, INVALID_FORM, NO_FILE, EMPTY_FILE, RIGHT_REQUIRED, TOO_COMPLEX, DAILY_FILES)
    return problem_responses(*types, *common, *UPLOAD_PROBLEMS, unreadable=True)


async def _answer(
    services: Services,
    request: Request,
    lang: Language,
    caller: Caller,
    task: str,
    head: Callable[[Mapping[str, str]], dict[str, Any]] = lambda fields: {},
    *,
    file_field: FileField = SINGLE_FILE,
    is_long: bool = False,
) -> Response:
    """Read the form, run the job `task` with what `head` takes from its fields, and return the response.

    Raises:
        Problem: the request is invalid, or beyond a limit.
    """
    holder = caller.key.name
    with services.workers.reserve(holder, is_long=is_long) as reservation:
        form = await read_form(
            request.stream(),
            request.headers.get("content-type", ""),
            file_field,
            seconds=services.settings.upload_seconds,
            reserve=reservation.add_bytes,
        )
        if len(form.files) < file_field.max_files:
            raise Problem(TWO_FILES_EXPECTED, field=file_field.name)
        options = {"names": [it.name for it in form.files], **head(form.fields)}
        documents = tuple(it.content for it in form.files)
        limit = caller.entitlements.daily_validation_limit
        await services.quotas.consume(holder, DAILY_FILES, limit, len(form.files))
        job = replace(build_job(services, task, b"", request, caller, lang, **options), parts=documents)
        outcome = await run_job(services, job, caller)
    if isinstance(outcome, Response):
        return outcome
    if "verdict" in outcome.head:
        record_verdict(services, request, outcome, documents[0])
    return Response(outcome.parts[0], media_type="application/json", headers=NO_STORE)
