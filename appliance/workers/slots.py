"""Slots of the worker pool."""

import asyncio
import contextlib
import logging
from collections import Counter

from appliance.settings import Settings
from appliance.workers.process import JobTimeout, WorkerExited, WorkerNotReady, WorkerProcess
from appliance.workers.protocol import Message

log = logging.getLogger(__name__)

RESTART_DELAY_SECONDS = 1
"""Pause after a failed start."""


class WorkerSlot:
    """Keeps one worker running. A worker that reached its job limit keeps serving until its replacement is ready.

    Attributes:
        start_count: number of workers started so far.
        deaths: number of workers that ended unexpectedly, by cause.
    """

    def __init__(self, settings: Settings) -> None:
        self.start_count = 0
        self.deaths: Counter[str] = Counter()
        self._settings = settings
        self._worker: WorkerProcess | None = None
        self._running: WorkerProcess | None = None
        self._used_at = 0.0
        self._idle_timer: asyncio.TimerHandle | None = None
        self._has_worker = asyncio.Event()
        self._supervisor: asyncio.Task[None] | None = None

    @property
    def ready(self) -> bool:
        """Whether a worker is running."""
        return self._worker is not None and self._worker.alive

    def start(self) -> None:
        """Start supervising: keep a worker running from now on."""
        self._supervisor = asyncio.create_task(self._supervise())

    async def stop(self) -> None:
        """Stop supervising and terminate the worker."""
        if self._supervisor is not None:
            self._supervisor.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._supervisor
        if self._worker is not None:
            await self._worker.terminate()

    async def run(self, job: Message, timeout: float) -> Message:
        """Run a job; wait at most `timeout` seconds for a worker.

        Raises:
            WorkerNotReady: no worker became ready in time.
            WorkerExited: the worker exited during the job.
            JobTimeout: the job exceeded its time limit.
            JobInterrupted: `interrupt` was called.
        """
        worker = self._worker
        if worker is None or not worker.alive:
            worker = await self._wait_until_ready(timeout)
        self._running = worker
        try:
            return await worker.run(job)
        finally:
            self._running = None
            if worker is not self._worker:
                worker.kill()
            self._note_use()

    def _note_use(self) -> None:
        loop = asyncio.get_running_loop()
        self._used_at = loop.time()
        if self._idle_timer is None:
            self._idle_timer = loop.call_later(self._settings.worker_idle_seconds, self._check_idle)

    def _check_idle(self) -> None:
        """Replace the worker if it has been idle for a while: documents leave traces in its memory."""
        self._idle_timer = None
        loop = asyncio.get_running_loop()
        left = self._used_at + self._settings.worker_idle_seconds - loop.time()
        if self._running is not None or left > 0:
            self._idle_timer = loop.call_later(max(left, 1), self._check_idle)
        elif self._worker is not None:
            self._worker.retired.set()

    def interrupt(self) -> bool:
        """Interrupt the running job, and return whether there is one."""
        return self._running is not None and self._running.interrupt()

    async def _wait_until_ready(self, timeout: float) -> WorkerProcess:
        try:
            async with asyncio.timeout(timeout):
                return await self.wait_until_ready()
        except TimeoutError:
            raise WorkerNotReady from None

    async def wait_until_ready(self) -> WorkerProcess:
        """Wait for a running worker and return it."""
        while self._worker is None or not self._worker.alive:
            self._has_worker.clear()
            await self._has_worker.wait()
        return self._worker

    async def _supervise(self) -> None:
        while True:
            worker = WorkerProcess(self._settings)
            self.start_count += 1
            try:
                await worker.start()
            except (OSError, WorkerExited, JobTimeout) as error:
                log.error("A worker failed to start", exc_info=error)
                await worker.terminate()
                await asyncio.sleep(RESTART_DELAY_SECONDS)
                continue
            except asyncio.CancelledError:
                await worker.terminate()
                raise
            previous, self._worker = self._worker, worker
            self._has_worker.set()
            if previous is not None and not previous.busy:
                previous.kill()
            await worker.retired.wait()
            if not worker.alive:
                await worker.terminate()
                self._record_death(worker)

    @property
    def pid(self) -> int | None:
        """Process identifier of the worker, if it is running."""
        return self._worker.pid if self._worker is not None and self._worker.alive else None

    def _record_death(self, worker: WorkerProcess) -> None:
        self.deaths[worker.cause_of_death] += 1
        fields = {"cause": worker.cause_of_death, "pid": worker.pid, "exit_status": worker.exit_status}
        log.warning("A worker ended and is replaced", extra={"fields": fields})
