"""What OpenAPI says of a route beside its answer: the problems it can end in, and its form."""

from collections import defaultdict
from typing import Any

from appliance.gate import KEY_INVALID, KEY_MISSING, PLAN_REQUIRED, RIGHT_REQUIRED
from appliance.problems import INTERNAL_ERROR, Problem, ProblemKind
from appliance.upload import BODY_TOO_LARGE, FILE_TOO_LARGE, FORM_TOO_LARGE, UPLOAD_TOO_SLOW
from appliance.usage import REQUESTS
from appliance.workers import BUSY

MODE = "`current`: today's rules. `compatibility`: those that the invoice declares, where they are there."
ENGINE = "`native`: our rules. `reference`: the official artefacts. `both`: ours, and whether the artefacts agree."
_SCHEMA = {"$ref": "#/components/schemas/ProblemAnswer"}

_EVERYWHERE = (KEY_MISSING, KEY_INVALID, PLAN_REQUIRED, REQUESTS, INTERNAL_ERROR)
UPLOADS = (FILE_TOO_LARGE, FORM_TOO_LARGE, UPLOAD_TOO_SLOW, BUSY)
BODIES = (BODY_TOO_LARGE, UPLOAD_TOO_SLOW, BUSY, RIGHT_REQUIRED)


def problems(*kinds: ProblemKind, unreadable: bool = False) -> dict[int | str, dict[str, Any]]:
    """Return what OpenAPI says of the problems that a route can end in, beside those that all have.

    With `unreadable` a file can be the matter, in more ways than are listed.
    """
    by_status: dict[int, list[ProblemKind]] = defaultdict(list)
    for kind in (*_EVERYWHERE, *kinds):
        by_status[kind.status].append(kind)
    described: dict[int | str, dict[str, Any]] = {}
    for status, there in sorted(by_status.items()):
        told = [f"`{kind.code}` ({kind.en.title.lower()})" for kind in there]
        if unreadable and status == 422:
            told.append("or what makes the file unreadable, such as `not_well_formed`")
        described[status] = {
            "description": f"{', '.join(told)}.",
            "content": {
                "application/problem+json": {"schema": _SCHEMA, "examples": {it.code: _example(it) for it in there}}
            },
        }
    return described


def _example(kind: ProblemKind) -> dict[str, Any]:
    return {"value": Problem(kind, headers=None, **kind.example).told("en")}


def form(file_field: str, *, several: bool, mode: list[str], engine: list[str]) -> dict[str, Any]:
    """Return what OpenAPI says of a form with files."""
    file: dict[str, Any] = {"type": "string", "format": "binary"}
    files = {"type": "array", "items": file, "minItems": 1, "maxItems": 10} if several else file
    about = "XML (UBL or CII), or PDF with CII inside (ZUGFeRD, Factur-X); 10 MB at most."
    properties = {
        file_field: {**files, "description": about},
        "validation_mode": {"type": "string", "enum": mode, "default": "current", "description": MODE},
        "engine": {"type": "string", "enum": engine, "description": ENGINE},
    }
    schema = {"type": "object", "required": [file_field], "properties": properties}
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}
