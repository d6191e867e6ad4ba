"""The order in which waiting jobs get a worker: fair to key holders, with room for quick validations."""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from appliance.workers.worker_time import WorkerTime

JobKind: TypeAlias = Literal["validation", "reference", "causes", "pdf", "generation"]
JOB_KINDS: Final[tuple[JobKind, ...]] = get_args(JobKind)

QUICK_SECONDS: Final = 0.1
"""Time within which a quick job usually ends. The holder of one that takes longer counts as slow."""

LATE_SECONDS: Final = 0.5
"""Time after which a job that was expected to be quick counts as long."""

SLOW_SECONDS: Final = 60
"""Time for which a holder counts as slow."""


@dataclass(eq=False, slots=True)
class Turn:
    """The turn of a job.

    Attributes:
        holder: name of the key holder.
        kind: kind of the job.
        is_long: whether the job is expected to take longer than `QUICK_SECONDS`.
        started: set to True when the job may run, to False when it waited too long.
        started_at: time of the start.
        is_late: whether the running job takes longer than expected.
        interrupt: interrupts the running job, and returns whether it could.
    """

    holder: str
    kind: JobKind
    is_long: bool
    started: asyncio.Future[bool]
    started_at: float = 0.0
    is_late: bool = False
    interrupt: Callable[[], bool] = bool


class Schedule:
    """Decides which job is next: of the holder with the least recent worker time; then the one served longest ago.

    Long jobs run on all workers but one; with one worker, on that one. A job that is not long but takes long all the
    same is interrupted as soon as a quick job waits for the worker that is kept free.

    Args:
        workers: number of jobs that run at the same time.
        clock: time in seconds.
    """

    def __init__(self, workers: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._workers = workers
        self._max_long = max(1, workers - 1)
        self._clock = clock
        self._waiting: list[Turn] = []
        self._running: list[Turn] = []
        self._time = WorkerTime(clock)
        self._slow_until: dict[str, float] = {}
        self._served: dict[str, int] = {}
        self._numbers = itertools.count()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def waiting(self) -> dict[str, int]:
        """Number of waiting jobs, by kind."""
        return _by_kind(self._waiting)

    @property
    def running(self) -> dict[str, int]:
        """Number of running jobs, by kind."""
        return _by_kind(self._running)

    @property
    def used_seconds(self) -> Mapping[str, float]:
        """Worker time that has been used, by key holder."""
        return self._time.total

    @asynccontextmanager
    async def turn(self, holder: str, kind: JobKind, seconds: float, *, is_long: bool = False) -> AsyncIterator[Turn]:
        """Wait for the turn of a job; the job runs in the context.

        Args:
            holder: name of the key holder.
            kind: kind of the job. All but validations are long.
            seconds: maximum time to wait.
            is_long: whether a validation is long, too.

        Raises:
            TimeoutError: it is not the job's turn in time.
        """
        is_long = is_long or kind != "validation"
        turn = Turn(holder, kind, is_long, asyncio.get_running_loop().create_future())
        self._time.join(holder, {it.holder for it in (*self._waiting, *self._running)})
        self._waiting.append(turn)
        self._start_next()
        try:
            if not turn.started.done():
                await _wait(turn.started, seconds)
            if not turn.started.result():
                raise TimeoutError
            yield turn
        finally:
            if turn in self._running:
                self._end(turn)
            else:
                self._waiting.remove(turn)
            self._start_next()

    def is_slow(self, holder: str) -> bool:
        """Return whether a job of the holder took longer than expected within the last minute."""
        return self._slow_until.get(holder, 0) > self._clock()

    def _end(self, turn: Turn) -> None:
        now = self._clock()
        seconds = now - turn.started_at
        self._running.remove(turn)
        self._time.add(turn.holder, seconds)
        if seconds > QUICK_SECONDS and (turn.is_late or not turn.is_long):
            self._slow_until[turn.holder] = now + SLOW_SECONDS
            for waiting in self._waiting:
                waiting.is_long = waiting.is_long or waiting.holder == turn.holder

    def _start_next(self) -> None:
        """Start jobs as long as workers are free."""
        while len(self._running) < self._workers and (turn := self._next()) is not None:
            self._waiting.remove(turn)
            self._running.append(turn)
            self._served[turn.holder] = next(self._numbers)
            turn.started_at = self._clock()
            turn.started.set_result(True)
        if self._waiting and self._timer is None and self._max_long < self._workers:
            self._timer = asyncio.get_running_loop().call_later(LATE_SECONDS / 2, self._keep_room)

    def _next(self) -> Turn | None:
        has_room = self._long_count() < self._max_long
        turns = [it for it in self._waiting if not it.started.done() and (has_room or not it.is_long)]
        if len(turns) < 2:
            return turns[0] if turns else None
        recent = {holder: self._recent(holder) for holder in {it.holder for it in turns}}
        running = Counter(it.holder for it in self._running)
        return min(turns, key=lambda it: (recent[it.holder], running[it.holder], self._served.get(it.holder, -1)))

    def _recent(self, holder: str) -> float:
        """Return the recent worker time of a holder, with that of running jobs."""
        now = self._clock()
        return self._time.recent(holder) + sum(now - it.started_at for it in self._running if it.holder == holder)

    def _long_count(self) -> int:
        return sum(it.is_long for it in self._running)

    def _keep_room(self) -> None:
        """Interrupt a job that has been running for too long on the worker that is kept free, if a quick one waits."""
        self._timer = None
        now = self._clock()
        for turn in self._running:
            if not turn.is_long and now - turn.started_at >= LATE_SECONDS:
                turn.is_long = turn.is_late = True
        late = [it for it in self._running if it.is_late]
        if late and self._long_count() > self._max_long and any(not it.is_long for it in self._waiting):
            max(late, key=lambda it: it.started_at).interrupt()
        self._start_next()


def _by_kind(turns: list[Turn]) -> dict[str, int]:
    counts = Counter(it.kind for it in turns)
    return {kind: counts[kind] for kind in JOB_KINDS}


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
