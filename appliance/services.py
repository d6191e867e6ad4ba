"""The shared services of a running server."""

from dataclasses import dataclass

from appliance.access.quotas import Quotas
from appliance.archive_jobs.runner import JobRunner
from appliance.artifacts.links import ArtifactLinks
from appliance.observability.metrics import Metrics
from appliance.settings import Settings
from appliance.workers.pool import WorkerPool


@dataclass(frozen=True, slots=True)
class Services:
    """The services that the routes need; `jobs` is None if they are not offered."""

    settings: Settings
    workers: WorkerPool
    links: ArtifactLinks
    metrics: Metrics
    quotas: Quotas
    jobs: JobRunner | None
