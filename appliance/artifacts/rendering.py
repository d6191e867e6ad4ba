"""Rendering of PDFs by the worker pool, with the limits of any other job."""

from appliance.artifacts.links import ArtifactSource, Render
from appliance.contract.values import ArtifactKind
from appliance.workers.pool import JobCrashed, JobFailed, JobLimitExceeded, WorkerPool, busy_problem
from appliance.workers.protocol import Message


def renderer(pool: WorkerPool) -> Render:
    """Return a function that renders PDFs with `pool`.

    It raises `Problem` if no worker is available or a limit is exceeded, and `JobFailed` after an internal error.
    """

    async def render(kind: ArtifactKind, source: ArtifactSource, holder: str) -> bytes:
        head = {
            "job": kind,
            "lang": source.lang,
            "mode": source.mode,
            "engine": source.engine,
            "name": source.filename,
            "validated_at": source.validated_at,
            "causes_seconds": pool.causes_seconds,
            "assess": source.assess,
        }
        with pool.reserve(holder, is_long=True):
            try:
                outcome = await pool.run(Message(head, (source.document,)), holder)
            except JobCrashed:
                raise busy_problem() from None
            except JobLimitExceeded:
                raise pool.too_complex_problem() from None
        if not outcome.parts:  # a problem, although the document has been validated before
            raise JobFailed
        return outcome.parts[0]

    return render
