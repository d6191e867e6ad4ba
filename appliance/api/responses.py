"""OpenAPI descriptions of routes: possible problems, and multipart forms."""

from collections import defaultdict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from appliance.access.auth import KEY_INVALID, KEY_MISSING, PLAN_REQUIRED, RIGHT_REQUIRED
from appliance.access.quotas import DAILY_REQUESTS
from appliance.access.rates import CONCURRENCY_LIMIT, RATE_LIMIT
from appliance.contract.problems import INTERNAL_ERROR, Problem, ProblemType
from appliance.transport.uploads import (
    BATCH_FILES,
    BODY_TOO_LARGE,
    FILE_TOO_LARGE,
    FORM_TOO_LARGE,
    UPLOAD_TOO_SLOW,
)
from appliance.workers.pool import BUSY

_MODE = "`current`: the current rule set. `compatibility`: the rule set the invoice declares, if available."
_ENGINE = (
    "`native`: einvoice. `reference`: the official Schematron. `both`: einvoice, compared with the official Schematron."
)
_CAUSES = (
    "`true`: also return the causes of the findings, each with the change that resolves them, as "
    "`validation_details.causes`. Takes as long as about fifty validations."
)
_ASSESS = (
    "`true`: also return what the document and its errors mean for the recipient under the VAT law of seller and "
    "buyer, as `validation_details.assessment`; the report states it, too. Information, not advice."
)
_LETTER = (
    "`true`: also return a letter that asks the issuer to correct the invoice, as `validation_details.letter`; with "
    "`assess=true`, it also asks for what the law requires. Takes as long as the causes."
)
_LINKS = "`false`: store nothing and return no links to PDFs; their members of `artifacts` are unavailable."
_FILE = "XML (UBL or CII) or hybrid PDF (ZUGFeRD, Factur-X); 10 MB at most."
_ARCHIVE = "ZIP of XML and PDF files of 10 MB at most each; `capabilities` names its limits."
_SCHEMA = {"$ref": "#/components/schemas/ProblemDetails"}

_COMMON_PROBLEMS = (
    KEY_MISSING,
    KEY_INVALID,
    PLAN_REQUIRED,
    RATE_LIMIT,
    CONCURRENCY_LIMIT,
    DAILY_REQUESTS,
    INTERNAL_ERROR,
)
UPLOAD_PROBLEMS = (FILE_TOO_LARGE, FORM_TOO_LARGE, UPLOAD_TOO_SLOW, BUSY)
"""Problems of requests with a multipart form."""
BODY_PROBLEMS = (BODY_TOO_LARGE, UPLOAD_TOO_SLOW, BUSY, RIGHT_REQUIRED)
"""Problems of requests with a JSON body."""


def problem_responses(*types: ProblemType, unreadable: bool = False) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses for the given problem types and for those common to all routes.

    Args:
        types: problem types of the route.
        unreadable: whether the route also reports unreadable files, which have further codes.
    """
    by_status: dict[int, list[ProblemType]] = defaultdict(list)
    for type in (*_COMMON_PROBLEMS, *types):
        by_status[type.status].append(type)
    responses: dict[int | str, dict[str, Any]] = {}
    for status, same_status in sorted(by_status.items()):
        descriptions = [f"`{type.code}` ({type.title('en')})" for type in same_status]
        if unreadable and status == 422:
            descriptions.append("or the reason why the file cannot be read, such as `not_well_formed`")
        examples = {type.code: _example(type) for type in same_status}
        responses[status] = {
            "description": f"{', '.join(descriptions)}.",
            "content": {"application/problem+json": {"schema": _SCHEMA, "examples": examples}},
        }
    return responses


def _example(type: ProblemType) -> dict[str, Any]:
    return {"value": Problem(type, headers=None, **type.example).to_dict("en")}


def form_body(file_field: str, *, multiple: bool, modes: list[str], engines: list[str]) -> dict[str, Any]:
    """Return the OpenAPI request body of a multipart form with files, and the query parameters beside `lang`."""
    file: dict[str, Any] = {"type": "string", "format": "binary"}
    files = {"type": "array", "items": file, "minItems": 1, "maxItems": BATCH_FILES.max_files} if multiple else file
    properties = {
        file_field: {**files, "description": _FILE},
        "validation_mode": {"type": "string", "enum": modes, "default": "current", "description": _MODE},
        "engine": {"type": "string", "enum": engines, "description": _ENGINE},
        "links": {**_BOOLEAN, "default": True, "description": _LINKS},
    }
    schema = {"type": "object", "required": [file_field], "properties": properties}
    body = {"required": True, "content": {"multipart/form-data": {"schema": schema}}}
    details = [
        _parameter(name, False, text)
        for name, text in {"causes": _CAUSES, "assess": _ASSESS, "letter": _LETTER}.items()
    ]
    return {"parameters": [*details, LINKS_PARAMETER], "requestBody": body}


def file_form(
    fields: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    flags: Mapping[str, str] = MappingProxyType({}),
    *,
    two_files: bool = False,
) -> dict[str, Any]:
    """Return the OpenAPI request body of a form with one file or two, further texts, and query parameters.

    Args:
        fields: schemas of the further form fields.
        flags: descriptions of query parameters that are true or false.
        two_files: whether the form has two files.
    """
    file: dict[str, Any] = {"type": "string", "format": "binary"}
    name, files = (
        ("files", {"type": "array", "items": file, "minItems": 2, "maxItems": 2}) if two_files else ("file", file)
    )
    properties = {
        name: {**files, "description": _FILE},
        **{field: {"type": "string", **schema} for field, schema in fields.items()},
    }
    schema = {"type": "object", "required": [name], "properties": properties}
    body = {"required": True, "content": {"multipart/form-data": {"schema": schema}}}
    return {"parameters": [_parameter(flag, False, text) for flag, text in flags.items()], "requestBody": body}


def archive_form(engines: list[str]) -> dict[str, Any]:
    """Return the OpenAPI request body of a form with an archive."""
    properties = {
        "file": {"type": "string", "format": "binary", "description": _ARCHIVE},
        "engine": {"type": "string", "enum": engines, "description": _ENGINE},
    }
    schema = {"type": "object", "required": ["file"], "properties": properties}
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


def _parameter(name: str, default: bool, description: str) -> dict[str, Any]:
    """Return the OpenAPI description of a query parameter that is true or false."""
    schema = {**_BOOLEAN, "default": default}
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": description}


_BOOLEAN = {"type": "boolean"}
LINKS_PARAMETER = _parameter("links", True, _LINKS)
"""The query parameter `links`."""
