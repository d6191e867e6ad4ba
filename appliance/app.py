"""The appliance as an ASGI application: its parts put together."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from appliance import api, pages, probes
from appliance.address import Addresses
from appliance.answers import answer_problems
from appliance.api import catalog
from appliance.artifacts import Artifacts
from appliance.counts import open_counts
from appliance.description import Description
from appliance.edge import LastResort, Linger
from appliance.gate import Gate
from appliance.journal import Journal
from appliance.keys import KeyRing
from appliance.metrics import Metrics
from appliance.rendering import renderer
from appliance.services import Services
from appliance.settings import Settings
from appliance.stores import open_store
from appliance.usage import Usage
from appliance.workers import Workers


def create_app(settings: Settings, keys: KeyRing) -> FastAPI:
    """Return the appliance as an ASGI application that `keys` open.

    Raises:
        StoreError: there is no place for artifacts.
    """
    workers = Workers(settings)
    store = open_store(settings.artifacts, settings.data / "artifacts", settings.artifact_megabytes)
    usage = Usage(open_counts(settings.artifacts, settings.data))
    artifacts = Artifacts(store, settings.artifact_seconds, renderer(workers))
    services = Services(settings, keys, workers, artifacts, Metrics(), usage)

    @contextlib.asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        workers.start()
        warming = asyncio.create_task(_warm_up(workers, settings))
        try:
            async with artifacts.running():
                yield
        finally:
            warming.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await warming
            await workers.stop()
            usage.close()

    app = FastAPI(
        title="einvoice",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=running,
        generate_unique_id_function=lambda route: route.name,
    )
    app.include_router(api.routes(services))
    app.include_router(probes.routes(services))
    app.include_router(pages.routes(services, Description(app, workers.run)), include_in_schema=False)
    answer_problems(app)
    # The last one added is the outermost.
    app.add_middleware(Gate, keys=keys, usage=services.usage, rights=api.RIGHTS)
    app.add_middleware(LastResort)
    app.add_middleware(Linger)
    if settings.cors_origins:
        app.add_middleware(CORSMiddleware, **_cors(settings))
    app.add_middleware(Journal, metrics=services.metrics)
    app.add_middleware(Addresses, settings=settings)
    return app


async def _warm_up(workers: Workers, settings: Settings) -> None:
    """Work the catalogs out, once the workers have got ready: those come first."""
    await workers.all_ready()
    await asyncio.to_thread(catalog.warm_up, settings)


def _cors(settings: Settings) -> dict[str, Any]:
    return {
        "allow_origins": settings.cors_origins,
        "allow_methods": ["GET", "POST"],
        "allow_headers": ["X-API-Key", "Content-Type", "X-Request-ID"],
        "expose_headers": ["X-Request-ID", "Retry-After", "ETag"],
        "max_age": 600,
    }
