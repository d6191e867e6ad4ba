"""The router of the documented interface."""

from collections.abc import Mapping
from typing import Final

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute

from appliance.api import artifacts, batch, capabilities, catalog, documents, generate, jobs, validate
from appliance.api.dependencies import current_caller, query_language
from appliance.contract.paths import API
from appliance.services import Services

REQUIRED_ENTITLEMENTS: Final[Mapping[str, str]] = {
    f"{API}/validate/batch": "can_batch",
    f"{API}/generate": "can_generate_invoice",
    **{f"{API}/{name}": right for name, right in documents.DOCUMENT_RIGHTS.items()},
    jobs.PATH: jobs.RIGHT,
}
"""Entitlement that a path requires besides `can_use_api`."""


def routes(services: Services) -> APIRouter:
    """Return all routes of the interface."""
    router = APIRouter(dependencies=[Depends(current_caller), Depends(query_language)])
    for module in (validate, batch, generate, documents, jobs, capabilities, catalog, artifacts):
        router.include_router(module.routes(services))
    return router


def direct_routes(services: Services) -> list[APIRoute]:
    """Return the routes to be called by `appliance.api.direct`."""
    routers = (validate.routes(services), batch.routes(services))
    return [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
