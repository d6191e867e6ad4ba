"""The order in which waiting jobs get a worker: fair to key holders, with room for validations."""

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

JobKind: TypeAlias = Literal["validation", "causes", "pdf", "generation"]
JOB_KINDS: Final[tuple[JobKind, ...]] = get_args(JobKind)


@dataclass(eq=False, slots=True)
class _Job:
    holder: str
    kind: JobKind
    started: asyncio.Future[bool]

    @property
    def is_long(self) -> bool:
        return self.kind != "validation"


class Schedule:
    """Decides which job is next: of the holder with the fewest running jobs; among these, the one served longest ago.

    Long jobs (searches for causes, PDFs, generated invoices) run on all workers but one; with one worker, on that one.

    Args:
        workers: number of jobs that run at the same time.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._max_long = max(1, workers - 1)
        self._waiting: list[_Job] = []
        self._running: Counter[str] = Counter()
        self._kinds: Counter[JobKind] = Counter()
        self._served: dict[str, int] = {}
        self._numbers = itertools.count()

    @property
    def waiting(self) -> dict[str, int]:
        """Number of waiting jobs, by kind."""
        waiting = Counter(job.kind for job in self._waiting)
        return {kind: waiting[kind] for kind in JOB_KINDS}

    @property
    def running(self) -> dict[str, int]:
        """Number of running jobs, by kind."""
        return {kind: self._kinds[kind] for kind in JOB_KINDS}

    @asynccontextmanager
    async def turn(self, holder: str, kind: JobKind, seconds: float) -> AsyncIterator[None]:
        """Wait for the turn of a job; the job runs in the context.

        Args:
            holder: name of the key holder.
            kind: kind of the job.
            seconds: maximum time to wait.

        Raises:
            TimeoutError: it is not the job's turn in time.
        """
        job = _Job(holder, kind, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        self._start_next()
        try:
            if not job.started.done():
                await _wait(job.started, seconds)
            if not job.started.result():
                raise TimeoutError
            yield
        finally:
            if _is_set(job.started):
                self._end(job)
            else:
                self._waiting.remove(job)
            self._start_next()

    def _start_next(self) -> None:
        """Start jobs as long as workers are free."""
        while self._running.total() < self._workers and (job := self._next()) is not None:
            self._waiting.remove(job)
            self._running[job.holder] += 1
            self._kinds[job.kind] += 1
            self._served[job.holder] = next(self._numbers)
            job.started.set_result(True)

    def _next(self) -> _Job | None:
        has_room = self._kinds.total() - self._kinds["validation"] < self._max_long
        jobs = [it for it in self._waiting if not it.started.done() and (has_room or not it.is_long)]
        return min(jobs, key=lambda it: (self._running[it.holder], self._served.get(it.holder, -1)), default=None)

    def _end(self, job: _Job) -> None:
        self._running[job.holder] -= 1
        self._kinds[job.kind] -= 1
        if not self._running[job.holder]:
            del self._running[job.holder]


async def _wait(future: asyncio.Future[bool], seconds: float) -> None:
    """Wait for a future; set it to False if it takes too long. Takes a fraction of `asyncio.timeout`.

    An exception in a future would keep the frames that wait for it, and so the upload, until garbage is collected.
    """
    timer = asyncio.get_running_loop().call_later(seconds, _time_out, future)
    try:
        await future
    finally:
        timer.cancel()


def _time_out(future: asyncio.Future[bool]) -> None:
    if not future.done():
        future.set_result(False)


def _is_set(future: asyncio.Future[bool]) -> bool:
    return future.done() and not future.cancelled() and future.result()
