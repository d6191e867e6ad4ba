"""What people read in a browser; each page can be turned off."""

from fastapi import APIRouter, FastAPI

from appliance.pages import docs, rules, web
from appliance.services import Services


def routes(services: Services, app: FastAPI) -> APIRouter:
    """Return the routes of those pages that are turned on."""
    router = APIRouter()
    settings = services.settings
    if settings.page:
        router.include_router(web.routes())
    if settings.openapi:
        router.include_router(docs.description(app))
        if settings.docs:
            router.include_router(docs.routes(app))
    if settings.catalog_pages:
        router.include_router(rules.routes())
    return router
