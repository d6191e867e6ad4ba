"""The page at `/`: a program in the browser that asks the interface as any other would, with the user's key."""

from collections.abc import Mapping
from importlib.resources import files

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from appliance.documents import Document
from appliance.problems import NOT_FOUND, Problem

HEADERS = {
    # The last two forbid scripts to make markup out of text: an invoice cannot smuggle any in.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}


def routes() -> APIRouter:
    """Return the routes of the page and its files."""
    router = APIRouter()
    documents = _documents()

    @router.get("/", response_class=Response)
    async def page(request: Request) -> Response:
        """Return the page."""
        return _answer(documents, "index.html", request)

    @router.get("/page/{name}", response_class=Response)
    async def file(name: str, request: Request) -> Response:
        """Return a file of the page."""
        return _answer(documents, name, request)

    return router


def _documents() -> Mapping[str, Document]:
    found = {}
    for file in (files("appliance") / "web").iterdir():
        media_type = MEDIA_TYPES.get("." + file.name.rpartition(".")[2])
        if media_type:
            found[file.name] = Document.of(file.read_bytes(), media_type)
    return found


def _answer(documents: Mapping[str, Document], name: str, request: Request) -> Response:
    if name not in documents:
        raise Problem(NOT_FOUND)
    response = documents[name].response(request)
    response.headers.update(HEADERS)
    return response
