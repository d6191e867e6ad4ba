"""The OpenAPI document as JSON, and as an HTML page that works without scripts and without internet access."""

import asyncio
import json
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from appliance.openapi.document import OpenApiDocument
from appliance.pages.layout import html_page
from appliance.transport.forwarded import base_url
from appliance.transport.static_documents import StaticDocument

MAX_PAGES: Final = 8
"""Maximum number of pages, each with the address of the service that a client used; further ones have paths only."""


def json_routes(document: OpenApiDocument) -> APIRouter:
    """Return the route of the JSON document."""
    router = APIRouter()

    @router.get("/openapi.json", response_class=Response)
    async def openapi(request: Request) -> Response:
        """Return the OpenAPI document."""
        return (await document.document()).response(request)

    return router


def html_routes(document: OpenApiDocument) -> APIRouter:
    """Return the route of the HTML page."""
    router = APIRouter()
    pages: dict[str, StaticDocument] = {}
    lock = asyncio.Lock()

    @router.get("/docs", response_class=Response)
    async def docs(request: Request) -> Response:
        """Return the documentation of the interface."""
        base = base_url(request.scope)
        async with lock:
            if base not in pages and len(pages) >= MAX_PAGES:
                base = ""
            if base not in pages:
                pages[base] = await asyncio.to_thread(_page, await document.content(), base)
        return pages[base].response(request)

    return router


def _page(content: dict[str, Any], base: str) -> StaticDocument:
    return html_page(content["info"]["title"], "".join(_body(content, base)), "en")


def _body(content: dict[str, Any], base: str) -> Iterator[str]:
    info = content["info"]
    yield f"<h1>{escape(info['title'])}</h1>"
    for paragraph in info["description"].strip().split("\n\n"):
        yield f"<p>{_inline_code(paragraph)}</p>"
    yield f'<p><a href="{escape(base)}/openapi.json">openapi.json</a> (machine-readable)</p><nav><ul>'
    operations = [
        (method, path, operation) for path, methods in content["paths"].items() for method, operation in methods.items()
    ]
    for method, path, operation in operations:
        yield f'<li><a href="#{operation["operationId"]}">{method.upper()} {escape(path)}</a></li>'
    yield "</ul></nav>"
    for method, path, operation in operations:
        yield from _operation(method, path, operation, base)
    yield "<h2>Schemas</h2>"
    for name, schema in content["components"]["schemas"].items():
        yield from _schema(name, schema)


def _operation(method: str, path: str, operation: dict[str, Any], base: str) -> Iterator[str]:
    yield f'<h2 id="{operation["operationId"]}"><span class="method">{method.upper()}</span> {escape(path)}</h2>'
    yield f"<p>{_inline_code(operation.get('description', ''))}</p>"
    yield f"<pre>{escape(_curl(method, path, operation, base))}</pre>"
    rows = [
        (parameter["name"], parameter["in"], parameter["schema"], parameter.get("description", ""))
        for parameter in operation.get("parameters", ())
    ]
    for media_type, body in operation.get("requestBody", {}).get("content", {}).items():
        schema = body["schema"]
        fields = schema.get("properties", {"body": schema})
        rows += [(name, media_type, field, field.get("description", "")) for name, field in fields.items()]
    if rows:
        cells = (
            (f"<code>{escape(name)}</code>", escape(location), _type(schema), _inline_code(description))
            for name, location, schema, description in rows
        )
        yield "<h3>Parameters</h3>" + _table(("Name", "In", "Type", "Description"), cells)
    responses = (
        (
            status,
            ", ".join(map(_content_type, response.get("content", {}).values())),
            _inline_code(response["description"]),
        )
        for status, response in operation["responses"].items()
    )
    yield "<h3>Responses</h3>" + _table(("Status", "Schema", "Description"), responses)
    for status, response in operation["responses"].items():
        for content in response.get("content", {}).values():
            for name, example in content.get("examples", {}).items():
                yield _example(f"{status}, {name}", example["value"])


def _schema(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{_inline_code(schema.get("description", ""))}</p>'
    required = schema.get("required", ())
    fields = schema.get("properties", {})
    if fields:
        cells = (
            (
                f"<code>{escape(field)}</code>",
                _type(field_schema),
                "" if field in required else "optional",
                _inline_code(field_schema.get("description", "")),
            )
            for field, field_schema in fields.items()
        )
        yield _table(("Field", "Type", "", "Description"), cells)


def _curl(method: str, path: str, operation: dict[str, Any], base: str) -> str:
    arguments = ["curl"]
    if operation.get("security"):
        arguments.append("-H 'X-API-Key: …'")
    content = operation.get("requestBody", {}).get("content", {})
    if form := content.get("multipart/form-data"):
        arguments.append(f"-F {next(iter(form['schema']['properties']))}=@invoice.xml")
    if body := content.get("application/json"):
        arguments.append(f"--json '{json.dumps(body['example'], ensure_ascii=False, indent=1)}'")
    if method not in ("get", "post"):
        arguments.append(f"-X {method.upper()}")
    return " ".join((*arguments, f"'{base}{path}'"))


def _example(name: str, value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return f"<details><summary>Example: {escape(name)}</summary><pre>{escape(text)}</pre></details>"


def _type(schema: dict[str, Any]) -> str:
    if reference := schema.get("$ref"):
        name = escape(reference.rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if alternatives := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(map(_type, alternatives))
    if values := schema.get("enum") or ([schema["const"]] if "const" in schema else None):
        return " | ".join(f"<code>{escape(json.dumps(value))}</code>" for value in values)
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    types = schema.get("type", "any")
    return escape(types if isinstance(types, str) else " or ".join(types))


def _content_type(content: dict[str, Any]) -> str:
    return _type(content.get("schema", {}))


def _table(headers: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table whose cells are HTML."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in headers)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _inline_code(text: str) -> str:
    """Return plain text as HTML; text between backticks becomes code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))
