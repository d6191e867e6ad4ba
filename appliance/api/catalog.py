"""The error catalog."""

import functools
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

import einvoice
from appliance.api.dependencies import INVALID_LANGUAGE, QueryLanguage
from appliance.api.responses import problem_responses
from appliance.contract.paths import API
from appliance.contract.results import add_links
from appliance.contract.schemas import CatalogResponse
from appliance.contract.values import Language
from appliance.services import Services
from appliance.settings import Settings
from appliance.transport.static_documents import StaticDocument

_NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "If-None-Match names the current ETag."}}


@functools.cache
def _document(lang: Language, base: str | None) -> StaticDocument:
    catalog = einvoice.catalog().to_dict(lang)
    add_links(catalog["items"], base)
    return StaticDocument.from_json(catalog)


def _base(settings: Settings) -> str | None:
    """Return the base of rule links: the same for all callers, since the document is cached."""
    return settings.public_url if settings.catalog_pages else None


def warm_up() -> None:
    """Build what the catalogs have in common; the first request for a language takes a tenth of a second more."""
    _ = einvoice.catalog().version  # a digest of all entries


def routes(services: Services) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix=API)
    base = _base(services.settings)

    @router.get(
        "/errors/catalog",
        response_model=CatalogResponse,
        response_description="The catalog.",
        responses={**problem_responses(INVALID_LANGUAGE), **_NOT_MODIFIED},
    )
    def error_catalog(request: Request, lang: QueryLanguage) -> Response:
        """Return all rule codes with their texts."""
        return _document(lang, base).response(request)

    return router
