"""The interface's description (OpenAPI 3.1): FastAPI makes it from the routes, here is what it cannot know."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

import einvoice
from appliance.schemas import ProblemAnswer

VERSION = "1.1.0"
"""Of the interface as it is described."""

ABOUT = """Validates e-invoices (UBL, CII, ZUGFeRD / Factur-X) and makes them from JSON.

Every request under `/api/` needs the header `X-API-Key`. Problems are answered as `application/problem+json`
(RFC 9457); tell them apart by `code`. What a document has wrong is no problem of the request: the answer is 200, and
`is_valid` is false.
"""


def describe(app: FastAPI) -> None:
    """Let `app` describe itself with the draft's schema, the key, and the shape of problems."""

    def description() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app)
        return app.openapi_schema

    app.openapi = description  # type: ignore[method-assign]


def _described(app: FastAPI) -> dict[str, Any]:
    made = get_openapi(
        title="E-invoice validation and generation", version=VERSION, description=ABOUT, routes=app.routes
    )
    schemas = made["components"]["schemas"]
    schemas["ProblemAnswer"] = ProblemAnswer.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(schemas["ProblemAnswer"].pop("$defs", {}))
    _take_in_draft(made, schemas)
    made["components"]["securitySchemes"] = {"ApiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"}}
    for path, operations in made["paths"].items():
        if path.startswith("/api/"):
            for operation in operations.values():
                operation["security"] = [{"ApiKey": []}]
    return made


def _take_in_draft(made: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Put the draft's schema among the others; its parts are named apart from theirs."""
    draft = einvoice.draft_schema()
    parts = draft.pop("$defs", {})
    for name in ("$id", "$schema"):
        draft.pop(name, None)
    for name, part in {"": draft, **parts}.items():
        schemas[f"Draft{name}"] = _relocated(part)
    body = made["paths"]["/api/external/generate"]["post"]["requestBody"]["content"]["application/json"]
    body["schema"] = {"$ref": "#/components/schemas/Draft"}


def _relocated(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _relocated_ref(value) if name == "$ref" else _relocated(value) for name, value in part.items()}
    return [_relocated(value) for value in part] if isinstance(part, list) else part


def _relocated_ref(reference: str) -> str:
    return reference.replace("#/$defs/", "#/components/schemas/Draft")
