"""Routes for orchestration and monitoring: liveness, readiness, metrics. They require no key."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse, PlainTextResponse, Response

from appliance.contract.schemas import Health, Readiness
from appliance.observability.metrics import CONTENT_TYPE, Metrics

NO_STORE = {"Cache-Control": "no-store"}


def routes(
    workers_ready: Callable[[], bool], artifacts_available: Callable[[], bool], metrics: Metrics | None
) -> APIRouter:
    """Return the routes; `/metrics` only if `metrics` is given."""
    router = APIRouter()

    @router.head("/healthz", include_in_schema=False)
    @router.get("/healthz", response_model=Health, responses={200: _examples(alive={"status": "ok"})})
    async def health() -> Response:
        """Liveness: 200 while the process responds."""
        return JSONResponse({"status": "ok"}, headers=NO_STORE)

    @router.head("/readyz", include_in_schema=False)
    @router.get(
        "/readyz",
        response_model=Readiness,
        responses={
            200: _examples(ready=_readiness(True, True), degraded=_readiness(True, False)),
            503: {"model": Readiness, **_examples(not_ready=_readiness(False, True))},
        },
    )
    async def readiness() -> Response:
        """Readiness: 200 while documents can be validated, even if the store of PDFs is unavailable; else 503."""
        body = _readiness(workers_ready(), artifacts_available())
        return JSONResponse(body, status_code=503 if body["status"] == "not_ready" else 200, headers=NO_STORE)

    if metrics is not None:
        excerpt = _examples("text/plain", excerpt="# TYPE einvoice_workers_ready gauge\neinvoice_workers_ready 2.0\n")

        @router.get("/metrics", name="metrics", response_class=PlainTextResponse, responses={200: excerpt})
        async def export_metrics() -> Response:
            """Metrics in the Prometheus text exposition format."""
            return PlainTextResponse(metrics.exposition(), media_type=CONTENT_TYPE, headers=NO_STORE)

    return router


def _readiness(workers: bool, artifacts: bool) -> dict[str, Any]:
    status = "not_ready" if not workers else "ready" if artifacts else "degraded"
    return {"status": status, "checks": {"workers": workers, "artifacts": artifacts}}


def _examples(media_type: str = "application/json", **examples: Any) -> dict[str, Any]:
    """Return the OpenAPI response object for these examples."""
    return {"content": {media_type: {"examples": {name: {"value": value} for name, value in examples.items()}}}}
