"""What machines ask that run the appliance: is it alive, is it ready, how much has it done. No key is needed."""

from fastapi import APIRouter
from starlette.responses import JSONResponse, PlainTextResponse, Response

from appliance.schemas import Health, Readiness
from appliance.services import Services

NO_STORE = {"Cache-Control": "no-store"}


def routes(services: Services) -> APIRouter:
    """Return the routes; `/metrics` only where it is turned on."""
    router = APIRouter()
    workers, metrics = services.workers, services.metrics

    @router.get("/healthz", response_model=Health)
    async def health() -> Response:
        """Say that the process is alive."""
        return JSONResponse({"status": "ok"}, headers=NO_STORE)

    @router.get("/readyz", response_model=Readiness, responses={503: {"model": Readiness}})
    async def readiness() -> Response:
        """Say whether documents can be judged, and their PDFs be kept."""
        checks = {"workers": workers.ready > 0, "artifacts": await services.artifacts.is_ready()}
        ready = all(checks.values())
        answer = {"status": "ready" if ready else "not_ready", "checks": checks}
        return JSONResponse(answer, status_code=200 if ready else 503, headers=NO_STORE)

    if services.settings.metrics:
        metrics.watch("workers_ready", "gauge", "Processes that judge documents and are ready.", lambda: workers.ready)
        metrics.watch("workers_started_total", "counter", "Processes started so far.", lambda: workers.started)
        metrics.watch("documents_waiting", "gauge", "Documents that wait for a process.", lambda: workers.waiting)
        metrics.watch("upload_bytes_free", "gauge", "Memory left for uploads.", lambda: workers.memory)

        @router.get("/metrics", response_class=PlainTextResponse)
        async def figures() -> Response:
            """Tell figures for Prometheus."""
            return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4", headers=NO_STORE)

    return router
