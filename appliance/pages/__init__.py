"""What people read in a browser; each page can be turned off."""

from fastapi import APIRouter

from appliance.description import Description
from appliance.pages import docs, rules, web
from appliance.services import Services


def routes(services: Services, description: Description) -> APIRouter:
    """Return the routes of those pages that are turned on."""
    router = APIRouter()
    settings = services.settings
    if settings.page:
        router.include_router(web.routes())
    if settings.openapi:
        router.include_router(docs.for_programs(description))
        if settings.docs:
            router.include_router(docs.for_people(description))
    if settings.catalog_pages:
        router.include_router(rules.routes())
    return router
