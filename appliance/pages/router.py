"""The router of the pages."""

from fastapi import APIRouter

from appliance.openapi.document import OpenApiDocument
from appliance.pages import catalog, docs, web_app
from appliance.services import Services


def routes(services: Services, document: OpenApiDocument) -> APIRouter:
    """Return the routes of the enabled pages."""
    router = APIRouter()
    settings = services.settings
    if settings.page:
        router.include_router(web_app.routes(settings.languages))
    if settings.openapi:
        router.include_router(docs.json_routes(document))
        if settings.docs:
            router.include_router(docs.html_routes(document))
    if settings.catalog_pages:
        router.include_router(catalog.routes())
    return router
