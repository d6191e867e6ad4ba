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
from appliance.jobs import locate_rules
from appliance.problems import Language
from appliance.schemas import CatalogAnswer
from appliance.services import Services
from appliance.settings import Settings

_NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "The caller has it already (If-None-Match)."}}


@functools.cache
def _document(lang: Language, base: str | None) -> Document:
    catalog = einvoice.catalog().to_dict(lang)
    locate_rules(catalog["items"], base)
    return Document.of_json(catalog)


def _base(settings: Settings) -> str | None:
    """What the addresses of rules begin with; the same for all callers, since the catalog is."""
    return settings.public_url if settings.catalog_pages else None


def warm_up(settings: Settings) -> None:
    """Work the catalogs out, so that the first caller does not wait for them."""
    for lang in LANGUAGES.values():
        _document(lang, _base(settings))


def routes(services: Services) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix=PREFIX)
    base = _base(services.settings)

    @router.get(
        "/errors/catalog",
        response_model=CatalogAnswer,
        response_description="The catalog.",
        responses={**problems(INVALID_LANGUAGE), **_NOT_MODIFIED},
    )
    def error_catalog(request: Request, lang: Lang) -> Response:
        """Return all codes that a finding can have, with their texts."""
        return _document(lang, base).response(request)

    return router
