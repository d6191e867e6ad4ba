"""Assembles the ASGI application."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Callable
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

import einvoice
from appliance import capacity
from appliance.access.auth import AuthMiddleware
from appliance.access.keys import KeyRing
from appliance.access.quota_store import open_quota_store
from appliance.access.quotas import Quotas
from appliance.api import catalog
from appliance.api import router as api
from appliance.api.direct import DirectRoutes
from appliance.api.kosit import KositDaemon, posts_to_daemon
from appliance.archive_jobs.job_store import JobStore
from appliance.archive_jobs.runner import JobRunner
from appliance.artifacts.factory import open_store
from appliance.artifacts.links import ArtifactLinks
from appliance.artifacts.rendering import renderer
from appliance.observability import probes
from appliance.observability.metrics import Metrics, resident_bytes
from appliance.openapi.document import OpenApiDocument
from appliance.pages import router as pages
from appliance.services import Services
from appliance.settings import ARTIFACTS_OFF, REDIS_SCHEMES, Settings
from appliance.steady_clock import SteadyClock
from appliance.transport.access_log import AccessLog
from appliance.transport.connections import OpenConnections
from appliance.transport.forwarded import ForwardedHeaders
from appliance.transport.middleware import DrainBody, ErrorBoundary
from appliance.transport.problem_responses import install_problem_handlers
from appliance.transport.uploads import BATCH_FILES, MAX_FILE_BYTES, MAX_FORM_BYTES
from appliance.workers.memory import collect_garbage
from appliance.workers.pool import WorkerPool

log = logging.getLogger(__name__)


def create_app(
    settings: Settings,
    keys: KeyRing,
    draining: Callable[[], bool] = lambda: False,
    connections: OpenConnections | None = None,
    dropped_log_lines: Callable[[], int] = lambda: 0,
) -> ASGIApp:
    """Return the ASGI application.

    Args:
        settings: settings of the service.
        keys: valid API keys.
        draining: returns whether the server is about to shut down and no longer ready.
        connections: the connections of the server, for the metrics.
        dropped_log_lines: returns the number of log lines that the reader of the log did not take in time.

    Raises:
        StoreError: the artifact store could not be opened.
    """
    services = _create_services(settings)
    _add_metrics(services.metrics, keys, connections or OpenConnections(settings), settings)
    services.metrics.add_counter("log_lines_dropped", "Log lines that were not read in time.", dropped_log_lines)
    app = FastAPI(
        title="einvoice",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=lambda app: _lifespan(services),
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.languages = settings.languages
    app.include_router(api.routes(services))
    app.include_router(_probes(services, draining))
    app.include_router(pages.routes(services, OpenApiDocument(app, services.workers.run)), include_in_schema=False)
    install_problem_handlers(app)
    return _with_middleware(app, services, keys)


def _with_middleware(app: FastAPI, services: Services, keys: KeyRing) -> ASGIApp:
    """Return the application inside its middleware, from the innermost to the outermost.

    It is around the application, not added to it, so that the direct routes pass none of the layers of the framework.
    """
    settings = services.settings
    app.add_middleware(ErrorBoundary)  # before the framework answers an exception in its own way
    layers: ASGIApp = DirectRoutes(app, api.direct_routes(services))
    required = api.REQUIRED_ENTITLEMENTS
    if settings.kosit_daemon == "off":
        layers = AuthMiddleware(layers, keys, services.quotas, required)
    else:
        holder = _daemon_holder(settings, keys)
        layers = KositDaemon(layers, services)
        layers = AuthMiddleware(layers, keys, services.quotas, required, posts_to_daemon, holder)
    layers = DrainBody(ErrorBoundary(layers), settings.upload_seconds, _largest_request(settings))
    if settings.cors_origins:
        layers = CORSMiddleware(layers, **_cors(settings))
    layers = ForwardedHeaders(AccessLog(layers, services.metrics), settings)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = app
        await layers(scope, receive, send)

    return application


def _largest_request(settings: Settings) -> int:
    """Return the size in bytes of the largest request that is not refused: a full batch, or the archive of a job."""
    return max(BATCH_FILES.max_files * MAX_FILE_BYTES, settings.job_megabytes << 20) + MAX_FORM_BYTES


def _daemon_holder(settings: Settings, keys: KeyRing) -> str:
    """Return the holder whose key requests to the daemon use if they have none; "" if they must have one."""
    holder = "" if settings.kosit_daemon == "on" else settings.kosit_daemon
    if holder and keys.valid_key(holder) is None:
        log.error("EINVOICE_KOSIT_DAEMON names no valid key: requests without a key are refused")
    return holder


def _create_services(settings: Settings) -> Services:
    workers = WorkerPool(settings)
    store = open_store(settings.artifacts, settings.data / "artifacts", settings.artifact_megabytes)
    quotas = Quotas(open_quota_store(settings.artifacts, settings.data))
    links = ArtifactLinks(store, settings.artifact_seconds, renderer(workers))
    metrics = Metrics()
    return Services(settings, workers, links, metrics, quotas, _open_jobs(settings, workers, metrics))


def _open_jobs(settings: Settings, workers: WorkerPool, metrics: Metrics) -> JobRunner | None:
    location = settings.artifacts if settings.job_megabytes else ARTIFACTS_OFF
    folder = settings.data / "jobs"
    store = open_store(location, folder, settings.job_store_megabytes)
    if store is None:
        return None
    clock = SteadyClock()
    jobs = JobStore(store, clock, is_shared=location.startswith(REDIS_SCHEMES))
    return JobRunner(jobs, workers, settings, metrics, clock)


@contextlib.asynccontextmanager
async def _lifespan(services: Services) -> AsyncIterator[None]:
    services.workers.start()
    warm_up = asyncio.create_task(_warm_up(services))
    try:
        async with services.links.running(), services.jobs.working() if services.jobs else contextlib.nullcontext():
            yield
    finally:
        warm_up.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await warm_up
        await services.workers.stop()
        services.quotas.close()


async def _warm_up(services: Services) -> None:
    """Build the error catalog, after the workers are ready so as not to compete with them.

    Without a cache this takes many seconds. A daemon thread does not delay the end of the server.
    """
    await services.workers.wait_until_ready()
    threading.Thread(target=_build_catalog, daemon=True).start()


def _build_catalog() -> None:
    """Build the error catalog, then exempt it, the routes and all modules from the garbage collector."""
    catalog.warm_up()
    collect_garbage()


def _probes(services: Services, draining: Callable[[], bool]) -> APIRouter:
    workers, links, metrics = services.workers, services.links, services.metrics
    metrics.add_gauge("workers_ready", "Worker processes that are ready.", lambda: workers.ready_count)
    metrics.add_counter("workers_started", "Worker processes started.", lambda: workers.start_count)
    metrics.add_counters("worker_deaths", "Workers that ended, by cause.", "cause", lambda: workers.deaths)
    metrics.add_gauges("memory_bytes", "Resident memory, in bytes.", "process", lambda: _memory(workers))
    metrics.add_gauge("memory_limit_bytes", "Memory of the container or machine.", lambda: capacity.memory() << 20)
    metrics.add_counter("oom_kills", "Processes that the system killed for lack of memory.", capacity.oom_kills)
    metrics.add_info("build", "Version and current rule set.", _build())
    metrics.add_gauges("documents_waiting", "Documents waiting for a worker, by kind.", "kind", lambda: workers.waiting)
    metrics.add_gauges("documents_running", "Documents being processed, by kind.", "kind", lambda: workers.running)
    help = "Time for which workers ran jobs, in seconds, by name of the key."
    metrics.add_counters("client_worker_seconds", help, "client", lambda: workers.used_seconds)
    metrics.add_gauge("artifacts_available", "1 if the artifact store is available.", lambda: links.available)
    metrics.add_gauge("artifacts_bytes", "Size of the artifact file, in bytes.", links.store_bytes)
    metrics.add_counter("links_dropped", "Responses without links for lack of a store.", lambda: links.dropped)
    if (jobs := services.jobs) is not None:
        metrics.add_gauge("jobs_running", "Jobs that are worked on.", lambda: len(jobs.running - jobs.waiting))
        metrics.add_gauge("jobs_waiting", "Jobs that wait for space in their store.", lambda: len(jobs.waiting))
        metrics.add_counter("job_files", "Files of jobs that have a result.", lambda: jobs.files)
        metrics.add_gauge("jobs_bytes", "Size of the file of jobs, in bytes.", jobs.store.size)
    metrics.add_gauge("upload_free_bytes", "Upload memory left, in bytes.", lambda: workers.free_upload_bytes)
    return probes.routes(
        lambda: workers.ready_count > 0 and not draining(),
        lambda: links.available,
        metrics if services.settings.metrics else None,
    )


def _add_metrics(metrics: Metrics, keys: KeyRing, connections: OpenConnections, settings: Settings) -> None:
    """Export metrics of connections and keys."""
    metrics.add_gauge("connections", "Open connections.", lambda: connections.count)
    metrics.add_gauge("connections_limit", "Maximum number of open connections.", lambda: settings.connections)
    help = "Connections and requests refused before their key was checked, by code of the problem."
    metrics.add_counters("refusals", help, "code", lambda: connections.refusals)
    metrics.add_gauge("keys", "API keys.", lambda: len(keys.keys()))
    metrics.add_gauges("key_expiry_days", "Days until a key expires, by label.", "key", keys.days_left)


def _memory(workers: WorkerPool) -> dict[str, float]:
    return {"server": resident_bytes("self"), "workers": sum(map(resident_bytes, workers.pids))}


def _build() -> dict[str, str]:
    rule_sets = {release.ruleset: release.name for release in einvoice.rule_sets() if not release.announced}
    return {
        "version": version("einvoice-toolkit"),
        "ruleset": einvoice.catalog().rule_set.name,
        "rule_sets": ",".join(rule_sets.values()),
    }


def _cors(settings: Settings) -> dict[str, Any]:
    return {
        "allow_origins": settings.cors_origins,
        "allow_methods": ["GET", "POST", "DELETE"],
        "allow_headers": ["X-API-Key", "Content-Type", "X-Request-ID"],
        "expose_headers": ["X-Request-ID", "Retry-After", "ETag"],
        "max_age": 600,
    }
