"""Capabilities: the entitlements of the key, limits, rule sets, engines, and endpoints."""

import asyncio
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

import einvoice
from appliance.api.dependencies import INVALID_LANGUAGE, CurrentCaller
from appliance.api.documents import DOCUMENT_RIGHTS
from appliance.api.jobs import PATH as JOBS
from appliance.api.jobs import job_limits
from appliance.api.responses import problem_responses
from appliance.contract.paths import API, artifact_path
from appliance.contract.schemas import Capabilities, Entitlements, Plan
from appliance.contract.serialization import to_json
from appliance.contract.values import MODES, Engine, Language
from appliance.services import Services
from appliance.transport.forwarded import base_url
from appliance.transport.uploads import BATCH_FILES, MAX_FILE_BYTES

FORMATS = ("UBL", "CII", "ZUGFERD")

_ENDPOINTS = {
    "validate": f"{API}/validate",
    "validate_batch": f"{API}/validate/batch",
    "generate": f"{API}/generate",
    "invoice_draft_schema": f"{API}/schemas/invoice-draft.json",
    "artifact_report": artifact_path("{token}", "validation_report_pdf"),
    "artifact_invoice": artifact_path("{token}", "readable_invoice_pdf"),
    "artifact_zugferd": artifact_path("{token}", "zugferd_pdf"),
    "capabilities": f"{API}/capabilities",
    "error_catalog": f"{API}/errors/catalog",
}


def capabilities(
    plan: Plan,
    default_engine: Engine,
    languages: Sequence[Language],
    causes_seconds: float,
    base: str,
    *,
    has_store: bool = True,
    jobs: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Return the response body.

    Args:
        plan: plan of the key.
        default_engine: engine for requests that do not select one.
        languages: languages of responses.
        causes_seconds: time limit of the search for causes; 0 if there is none.
        base: base URL of the service.
        jobs: limits of jobs; None if they are not offered.
        has_store: whether links can be created; without them, ZUGFERD is not generated.
    """
    catalog = einvoice.catalog()
    current = catalog.rule_set
    return {
        "status": "ok",
        "plan_type": plan.plan_type,
        "entitlements": plan.model_dump(include=set(Entitlements.model_fields)),
        "limits": {
            "max_upload_size_bytes": MAX_FILE_BYTES,
            "max_upload_size_mb": MAX_FILE_BYTES / (1 << 20),
            "batch_max_files": BATCH_FILES.max_files,
        },
        "supported_formats": FORMATS,
        "supported_generation_formats": [name for name in FORMATS if has_store or name != "ZUGFERD"],
        "supported_languages": list(languages),
        "supported_validation_modes": list(MODES),
        "rule_sets": [
            {
                "name": release.name,
                "ruleset": release.ruleset,
                "version": release.version,
                "specification": release.specification,
                "en16931": release.core,
                "valid_from": release.valid_from,
                "announced": release.announced,
                "current": release == current,
            }
            for release in einvoice.rule_sets()
        ],
        "specifications": [
            {
                "name": ruleset.name,
                "title": ruleset.label,
                "kind": ruleset.kind,
                "base": ruleset.base,
                "releases": [version.name for version in ruleset.versions],
                "added": ruleset.name in catalog.data.added,
            }
            for ruleset in catalog.rule_sets
        ],
        "engines": _engines(default_engine),
        "causes": {"available": causes_seconds > 0, "max_seconds": causes_seconds},
        "assessment": {"available": True},
        "letter": {"available": causes_seconds > 0},
        **{
            name: {"available": getattr(plan, right), "url": f"{base}{API}/{name}"}
            for name, right in DOCUMENT_RIGHTS.items()
        },
        "jobs": {
            "available": plan.can_use_jobs and jobs is not None,
            "url": f"{base}{JOBS}",
            **(jobs or dict.fromkeys(("max_size_bytes", "max_files", "lifetime_seconds"), 0)),
        },
        "endpoints": {name: f"{base}{path}" for name, path in _ENDPOINTS.items()},
    }


def _engines(default: Engine) -> dict[str, Any]:
    engines = einvoice.engines()
    configurations = [
        {
            "name": configuration.name,
            "kind": configuration.kind,
            "title": configuration.title,
            "sha256": configuration.sha256,
            "scenarios": [scenario.name for scenario in configuration.scenarios],
        }
        for configuration in engines.configurations
    ]
    return {
        "native": {"version": version("einvoice-toolkit")},
        "reference": {"version": engines.saxon, "configurations": configurations},
        "default": default,
    }


def routes(services: Services) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix=API)

    @router.get(
        "/capabilities",
        name="capabilities",
        response_model=Capabilities,
        response_description="The capabilities.",
        responses=problem_responses(INVALID_LANGUAGE),
    )
    async def get_capabilities(request: Request, caller: CurrentCaller) -> Response:
        """Verify the key and return its entitlements, the limits, rule sets and engines, and all endpoints."""
        base = base_url(request.scope)
        settings, seconds = services.settings, services.workers.causes_seconds
        known = settings.engine, settings.languages, seconds
        has_store = services.links.is_offered(caller.key.name)
        limits = None if services.jobs is None else job_limits(settings)
        plan = caller.entitlements
        body = await asyncio.to_thread(capabilities, plan, *known, base, has_store=has_store, jobs=limits)
        return Response(to_json(body), media_type="application/json", headers={"Cache-Control": "no-store"})

    return router
