"""What a key may do, and where everything is."""

import asyncio
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

import einvoice
from appliance.address import base_url
from appliance.api.described import problems
from appliance.api.parameters import LANGUAGES, MODES, PREFIX
from appliance.artifacts import FILES
from appliance.jobs import to_json
from appliance.plans import Entitlements
from appliance.schemas import Capabilities, Engine
from appliance.services import Services, Who
from appliance.upload import FILE_LIMIT, TEN_FILES

FORMATS = ("UBL", "CII", "ZUGFERD")

_PATHS = {
    "validate": "/validate",
    "validate_batch": "/validate/batch",
    "generate": "/generate",
    "invoice_draft_schema": "/schemas/invoice-draft.json",
    "artifact_report": f"/artifacts/{{token}}/{FILES['validation_report_pdf']}",
    "artifact_invoice": f"/artifacts/{{token}}/{FILES['readable_invoice_pdf']}",
    "artifact_zugferd": f"/artifacts/{{token}}/{FILES['zugferd_pdf']}",
    "capabilities": "/capabilities",
    "error_catalog": "/errors/catalog",
}


def capabilities(rights: Entitlements, engine: Engine, base: str) -> dict[str, Any]:
    """Return what a key with these rights is told.

    `engine` judges where a request does not say; `base` is the address of the appliance.
    """
    current = einvoice.catalog().rule_set
    return {
        "status": "ok",
        "plan_type": rights.plan_type,
        "entitlements": rights.model_dump(),
        "limits": {
            "max_upload_size_bytes": FILE_LIMIT,
            "max_upload_size_mb": FILE_LIMIT / (1 << 20),
            "batch_max_files": TEN_FILES.most,
        },
        "supported_formats": FORMATS,
        "supported_generation_formats": FORMATS,
        "supported_languages": list(LANGUAGES),
        "supported_validation_modes": list(MODES),
        "rule_sets": [
            {
                "name": release.name,
                "version": release.version,
                "specification": release.specification,
                "en16931": release.core,
                "valid_from": release.valid_from,
                "announced": release.announced,
                "current": release == current,
            }
            for release in einvoice.rule_sets()
        ],
        "engines": _engines(engine),
        "endpoints": {name: f"{base}{PREFIX}{path}" for name, path in _PATHS.items()},
    }


def _engines(default: Engine) -> dict[str, Any]:
    """Who can judge: our rules, and the official artefacts as far as they are there."""
    there = einvoice.engines()
    configurations = [
        {
            "name": it.name,
            "kind": it.kind,
            "title": it.title,
            "sha256": it.sha256,
            "scenarios": [scenario.name for scenario in it.scenarios],
        }
        for it in there.configurations
    ]
    return {
        "native": {"version": version("einvoice-toolkit")},
        "reference": {"version": there.saxon, "configurations": configurations},
        "default": default,
    }


def routes(services: Services) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix=PREFIX)

    @router.get(
        "/capabilities",
        name="capabilities",
        response_model=Capabilities,
        response_description="What there is.",
        responses=problems(),
    )
    async def what_there_is(request: Request, who: Who) -> Response:
        """Confirm the key, and say what it entitles to, how much may be sent, and where."""
        engine = services.settings.engine
        answer = await asyncio.to_thread(capabilities, who.rights, engine, base_url(request.scope))
        return Response(to_json(answer), media_type="application/json", headers={"Cache-Control": "no-store"})

    return router
