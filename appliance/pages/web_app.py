"""The web app at `/`. It runs in the browser and calls the documented interface with the user's key."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from appliance.contract.problems import NOT_FOUND, Problem
from appliance.contract.values import Language
from appliance.transport.static_documents import StaticDocument
from einvoice.localization import Messages

HEADERS = {
    # Trusted Types keep scripts from turning text into markup, so an invoice cannot inject any.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_LABELS: Final = Messages("appliance", "page")
_CAUSES: Final = Messages("einvoice.causes", "display")
_NAMES: Final = Messages("einvoice.localization", "language")
_FORMATS: Final = Messages("einvoice.localization", "format")
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}


def routes(languages: Sequence[Language]) -> APIRouter:
    """Return the routes of the web app and its files. `languages` are those that the page offers."""
    router = APIRouter()
    documents = {**_load_documents(), "languages.json": _languages(languages)}

    @router.get("/", response_class=Response)
    async def index(request: Request) -> Response:
        """Return the start page."""
        return _response(documents, "index.html", request)

    @router.get("/page/{name:path}", response_class=Response)
    async def file(name: str, request: Request) -> Response:
        """Return a file of the web app."""
        return _response(documents, name, request)

    return router


def _load_documents() -> Mapping[str, StaticDocument]:
    documents = {}
    web = files("appliance") / "web"
    for prefix, folder in (("", web), ("js/", web / "js")):
        for file in folder.iterdir():
            media_type = MEDIA_TYPES.get("." + file.name.rpartition(".")[2])
            if media_type and file.is_file():
                documents[prefix + file.name] = StaticDocument.from_bytes(
                    file.read_bytes(), media_type, headers=HEADERS
                )
    return documents


def _languages(languages: Sequence[Language]) -> StaticDocument:
    """Return name, formats and labels of each language."""
    content = {
        lang: {
            "name": _NAMES[lang]["name"],
            "format": dict(_FORMATS[lang]),
            "labels": dict(_LABELS[lang]),
            "causes": dict(_CAUSES[lang]),
        }
        for lang in languages
    }
    return StaticDocument.from_json(content)


def _response(documents: Mapping[str, StaticDocument], name: str, request: Request) -> Response:
    if name not in documents:
        raise Problem(NOT_FOUND)
    return documents[name].response(request)
