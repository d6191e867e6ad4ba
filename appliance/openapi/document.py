"""The interface's description (OpenAPI 3.1): FastAPI makes it from the routes, here is what it cannot know."""

import asyncio
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

import einvoice
from appliance.documents import Document
from appliance.examples import Examples, Run, examples
from appliance.schemas import ProblemAnswer

VERSION = "1.1.0"
"""Of the interface as it is described."""

ABOUT = """Validates e-invoices (UBL, CII, ZUGFeRD / Factur-X) and makes them from JSON.

Every request under `/api/` needs the header `X-API-Key`. Problems are answered as `application/problem+json`
(RFC 9457); tell them apart by `code`. What a document has wrong is no problem of the request: the answer is 200, and
`is_valid` is false.
"""


class Description:
    """The description of an app: its routes, the draft's schema, the key, the shape of problems, examples of answers.

    It is made when first asked for; `run` has a worker do a job, such as judging a sample for an example.
    """

    def __init__(self, app: FastAPI, run: Run) -> None:
        self._app = app
        self._run = run
        self._making = asyncio.Lock()
        self._made: tuple[dict[str, Any], Document] | None = None

    async def content(self) -> dict[str, Any]:
        """Return the description.

        Raises:
            Problem: no worker has the time to make the examples; it can be asked for again.
        """
        return (await self._both())[0]

    async def document(self) -> Document:
        """Return the description as a JSON document.

        Raises:
            Problem: as `content` does.
        """
        return (await self._both())[1]

    async def _both(self) -> tuple[dict[str, Any], Document]:
        async with self._making:
            if self._made is None:
                described = _described(self._app, await examples(self._run))
                self._made = described, Document.of_json(described)
        return self._made


def _described(app: FastAPI, shown: Examples) -> dict[str, Any]:
    made = get_openapi(
        title="E-invoice validation and generation", version=VERSION, description=ABOUT, routes=app.routes
    )
    schemas = made["components"]["schemas"]
    schemas["ProblemAnswer"] = ProblemAnswer.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(schemas["ProblemAnswer"].pop("$defs", {}))
    _take_in_draft(made, schemas)
    made["components"]["securitySchemes"] = {"ApiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"}}
    for path, operation in _operations(made):
        if path.startswith("/api/"):
            operation["security"] = [{"ApiKey": []}]
        _take_in_examples(operation, shown.get(operation["operationId"], {}))
    return made


def _operations(made: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, operations in made["paths"].items():
        for operation in operations.values():
            yield path, operation


def _take_in_examples(operation: dict[str, Any], shown: dict[str, dict[str, Any]]) -> None:
    for status, answers in shown.items():
        (content,) = operation["responses"][status]["content"].values()
        content.setdefault("examples", {}).update({name: {"value": value} for name, value in answers.items()})


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
