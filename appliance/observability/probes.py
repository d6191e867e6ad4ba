"""What machines ask that run the appliance: is it alive, is it ready, how much has it done. No key is needed."""

from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse, PlainTextResponse, Response

from appliance.schemas import Health, Readiness
from appliance.services import Services

NO_STORE = {"Cache-Control": "no-store"}


def routes(services: Services) -> APIRouter:
    """Return the routes; `/metrics` only where it is turned on."""
    router = APIRouter()
    workers, metrics = services.workers, services.metrics

    @router.get("/healthz", response_model=Health, responses={200: _shown(alive={"status": "ok"})})
    async def health() -> Response:
        """Say that the process is alive."""
        return JSONResponse({"status": "ok"}, headers=NO_STORE)

    @router.get(
        "/readyz",
        response_model=Readiness,
        responses={
            200: _shown(ready=_readiness(True, True), degraded=_readiness(True, False)),
            503: {"model": Readiness, **_shown(not_ready=_readiness(False, True))},
        },
    )
    async def readiness() -> Response:
        """Say whether documents can be judged; without a place for PDFs they are, but the answers have no links."""
        answer = _readiness(workers.ready > 0, services.artifacts.available)
        return JSONResponse(answer, status_code=503 if answer["status"] == "not_ready" else 200, headers=NO_STORE)

    if services.settings.metrics:
        metrics.watch("workers_ready", "gauge", "Processes that judge documents and are ready.", lambda: workers.ready)
        metrics.watch("workers_started_total", "counter", "Processes started so far.", lambda: workers.started)
        metrics.watch("documents_waiting", "gauge", "Documents that wait for a process.", lambda: workers.waiting)
        metrics.watch("artifacts_available", "gauge", "1 while PDFs can be kept.", lambda: services.artifacts.available)
        metrics.watch("upload_bytes_free", "gauge", "Memory left for uploads.", lambda: workers.memory)

        example = _shown("text/plain", excerpt="# TYPE einvoice_workers_ready gauge\neinvoice_workers_ready 2\n")

        @router.get("/metrics", response_class=PlainTextResponse, responses={200: example})
        async def figures() -> Response:
            """Tell figures for Prometheus."""
            return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4", headers=NO_STORE)

    return router


def _readiness(workers: bool, artifacts: bool) -> dict[str, Any]:
    status = "not_ready" if not workers else "ready" if artifacts else "degraded"
    return {"status": status, "checks": {"workers": workers, "artifacts": artifacts}}


def _shown(media_type: str = "application/json", **answers: Any) -> dict[str, Any]:
    """What OpenAPI says of an answer that has these examples."""
    return {"content": {media_type: {"examples": {name: {"value": answer} for name, answer in answers.items()}}}}
