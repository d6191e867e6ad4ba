"""The error catalog."""

import functools
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

import einvoice
from appliance.api.described import problems
from appliance.api.parameters import INVALID_LANGUAGE, LANGUAGES, PREFIX, Lang
from appliance.documents import Document
from appliance.problems import Language
from appliance.schemas import CatalogAnswer
from appliance.services import Services

_NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "The caller has it already (If-None-Match)."}}


@functools.cache
def _document(lang: Language) -> Document:
    return Document.of_json(einvoice.catalog().to_dict(lang))


def warm_up() -> None:
    """Work the catalogs out, so that the first caller does not wait for them."""
    for lang in LANGUAGES.values():
        _document(lang)


def routes(services: Services) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix=PREFIX)

    @router.get(
        "/errors/catalog",
        response_model=CatalogAnswer,
        response_description="The catalog.",
        responses={**problems(INVALID_LANGUAGE), **_NOT_MODIFIED},
    )
    def error_catalog(request: Request, lang: Lang) -> Response:
        """Return all codes that a finding can have, with their texts."""
        return _document(lang).response(request)

    return router
