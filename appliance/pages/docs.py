"""The description of the interface as a page that needs neither scripts nor the internet."""

import json
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from appliance.address import base_url
from appliance.description import Description
from appliance.pages.page import page


def for_programs(description: Description) -> APIRouter:
    """Return the route of the description as it is."""
    router = APIRouter()

    @router.get("/openapi.json", response_class=Response)
    async def openapi(request: Request) -> Response:
        """Return the description (OpenAPI 3.1)."""
        return (await description.document()).response(request)

    return router


def for_people(description: Description) -> APIRouter:
    """Return the route of the page."""
    router = APIRouter()

    @router.get("/docs", response_class=Response)
    async def docs(request: Request) -> Response:
        """Describe the interface."""
        described = await description.content()
        return page(described["info"]["title"], "".join(_body(described, base_url(request.scope))), "en")

    return router


def _body(described: dict[str, Any], base: str) -> Iterator[str]:
    info = described["info"]
    yield f"<h1>{escape(info['title'])}</h1>"
    for paragraph in info["description"].strip().split("\n\n"):
        yield f"<p>{_ticked(paragraph)}</p>"
    yield f'<p><a href="{escape(base)}/openapi.json">openapi.json</a> for programs</p><nav><ul>'
    operations = [
        (method, path, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]
    for method, path, operation in operations:
        yield f'<li><a href="#{operation["operationId"]}">{method.upper()} {escape(path)}</a></li>'
    yield "</ul></nav>"
    for method, path, operation in operations:
        yield from _operation(method, path, operation, base)
    yield "<h2>Objects</h2>"
    for name, schema in described["components"]["schemas"].items():
        yield from _object(name, schema)


def _operation(method: str, path: str, operation: dict[str, Any], base: str) -> Iterator[str]:
    yield f'<h2 id="{operation["operationId"]}"><span class="method">{method.upper()}</span> {escape(path)}</h2>'
    yield f"<p>{_ticked(operation.get('description', ''))}</p><pre>{escape(_call(method, path, operation, base))}</pre>"
    rows = [(it["name"], it["in"], it["schema"], it.get("description", "")) for it in operation.get("parameters", ())]
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = content["schema"]
        fields = schema.get("properties", {"body": schema})
        rows += [(name, media_type, field, field.get("description", "")) for name, field in fields.items()]
    if rows:
        cells = (
            (f"<code>{escape(name)}</code>", escape(place), _kind(schema), _ticked(about))
            for name, place, schema, about in rows
        )
        yield "<h3>Parameters</h3>" + _table(("Name", "In", "Kind", "Description"), cells)
    answers = (
        (status, ", ".join(map(_content, answer.get("content", {}).values())), _ticked(answer["description"]))
        for status, answer in operation["responses"].items()
    )
    yield "<h3>Answers</h3>" + _table(("Status", "Object", "Description"), answers)
    for status, answer in operation["responses"].items():
        for content in answer.get("content", {}).values():
            for name, example in content.get("examples", {}).items():
                yield _example(f"{status}, {name}", example["value"])


def _object(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{_ticked(schema.get("description", ""))}</p>'
    required = schema.get("required", ())
    fields = schema.get("properties", {})
    if fields:
        cells = (
            (
                f"<code>{escape(field)}</code>",
                _kind(it),
                "" if field in required else "optional",
                _ticked(it.get("description", "")),
            )
            for field, it in fields.items()
        )
        yield _table(("Field", "Kind", "", "Description"), cells)


def _call(method: str, path: str, operation: dict[str, Any], base: str) -> str:
    words = ["curl"]
    if operation.get("security"):
        words.append("-H 'X-API-Key: …'")
    content = operation.get("requestBody", {}).get("content", {})
    if form := content.get("multipart/form-data"):
        words.append(f"-F {next(iter(form['schema']['properties']))}=@invoice.xml")
    if body := content.get("application/json"):
        words.append(f"--json '{json.dumps(body['example'], ensure_ascii=False, indent=1)}'")
    if method not in ("get", "post"):
        words.append(f"-X {method.upper()}")
    return " ".join((*words, f"'{base}{path}'"))


def _example(about: str, value: Any) -> str:
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return f"<details><summary>Example: {escape(about)}</summary><pre>{escape(shown)}</pre></details>"


def _kind(schema: dict[str, Any]) -> str:
    if reference := schema.get("$ref"):
        name = escape(reference.rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if several := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(map(_kind, several))
    if values := schema.get("enum") or ([schema["const"]] if "const" in schema else None):
        return " | ".join(f"<code>{escape(json.dumps(value))}</code>" for value in values)
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    kinds = schema.get("type", "any")
    return escape(kinds if isinstance(kinds, str) else " or ".join(kinds))


def _content(content: dict[str, Any]) -> str:
    return _kind(content.get("schema", {}))


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table; its cells are HTML."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _ticked(text: str) -> str:
    """Plain text as HTML; what stands between backticks is code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))
