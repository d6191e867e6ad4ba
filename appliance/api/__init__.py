"""The documented interface: one module for each subject, each with its routes."""

from fastapi import APIRouter, Depends

from appliance.api import about, artifacts, batch, catalog, generate, validate
from appliance.api.parameters import PREFIX
from appliance.services import Services, caller

RIGHTS = {f"{PREFIX}/validate/batch": "can_batch", f"{PREFIX}/generate": "can_generate_invoice"}
"""What a plan must entitle to, beside `can_use_api`, by path."""


def routes(services: Services) -> APIRouter:
    """Return all routes of the interface."""
    router = APIRouter(dependencies=[Depends(caller)])
    for subject in (validate, batch, generate, about, catalog, artifacts):
        router.include_router(subject.routes(services))
    return router
