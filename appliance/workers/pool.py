"""The processes that judge documents: so many, each with one document at a time, each replaced when it ends.

A document that takes too long or brings its process down costs itself alone. Here is who may ask, and when;
`appliance.process` is one such process as the server sees it, `appliance.worker` what runs inside it.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from appliance.problems import Problem, ProblemKind, Words
from appliance.process import ProcessGone, Seat, TookTooLong
from appliance.settings import Settings
from appliance.wire import Message

RETRY_AFTER_SECONDS = 2

BUSY = ProblemKind(
    "busy",
    503,
    de=Words("Gerade ausgelastet", "Die Anfrage kam nicht an die Reihe. Bitte in {seconds} Sekunden wiederholen."),
    en=Words("Busy", "The request did not get its turn. Please try again in {seconds} seconds."),
    example={"seconds": RETRY_AFTER_SECONDS},
)

TOO_COMPLEX = ProblemKind(
    "too_complex",
    422,
    de=Words("Zu aufwendig", "Die Bearbeitung wurde abgebrochen: mehr als {seconds} Sekunden oder {megabytes} MB."),
    en=Words("Too complex", "The work was broken off: more than {seconds} seconds or {megabytes} megabytes."),
    example={"seconds": 30, "megabytes": 2048},
)


class JobFailed(Exception):  # noqa: N818 (it says what happened)
    """A fault of ours, which the worker has logged."""


class TooComplex(Exception):  # noqa: N818
    """A document took more time or memory than it may."""


def busy() -> Problem:
    """Return the problem that asks the caller to come again."""
    return Problem(BUSY, headers={"Retry-After": str(RETRY_AFTER_SECONDS)}, seconds=RETRY_AFTER_SECONDS)


class Place:
    """A request's place among those that are worked on, and the memory that its upload takes."""

    def __init__(self, workers: "Workers") -> None:
        self._workers = workers
        self._taken = 0

    def take(self, size: int) -> None:
        """Count `size` bytes more of the upload.

        Raises:
            Problem: there is no memory left for uploads (`BUSY`).
        """
        if size > self._workers.memory:
            raise busy()
        self._workers.memory -= size
        self._taken += size

    def give_back(self) -> None:
        """Give the memory back."""
        self._workers.memory += self._taken
        self._taken = 0


class Workers:
    """Does jobs in processes, `settings.workers` at the same time; some requests more may wait or be uploading.

    Attributes:
        memory: bytes that uploads may still take.
        waiting: so many documents wait for a process.
    """

    def __init__(self, settings: Settings) -> None:
        self.memory = settings.upload_megabytes << 20
        self.waiting = 0
        self._settings = settings
        self._free_places = settings.workers + settings.queue
        self._seats = [Seat(settings) for _ in range(settings.workers)]
        self._free_seats = list(self._seats)
        self._turns = asyncio.Semaphore(settings.workers)

    def start(self) -> None:
        """Start the processes; jobs may be given at once, and wait."""
        for seat in self._seats:
            seat.open()

    async def all_ready(self) -> None:
        """Wait until each process has got ready."""
        await asyncio.gather(*(seat.present() for seat in self._seats))

    async def stop(self) -> None:
        """End the processes."""
        await asyncio.gather(*(seat.close() for seat in self._seats))

    @property
    def ready(self) -> int:
        """How many processes are ready, at work or not."""
        return sum(seat.ready for seat in self._seats)

    @property
    def started(self) -> int:
        """How many processes have been started so far."""
        return sum(seat.started for seat in self._seats)

    @contextmanager
    def place(self) -> Iterator[Place]:
        """Hold a place for one request, from before its body is read.

        Raises:
            Problem: all places are taken (`BUSY`).
        """
        if not self._free_places:
            raise busy()
        self._free_places -= 1
        place = Place(self)
        try:
            yield place
        finally:
            self._free_places += 1
            place.give_back()

    async def run(self, job: Message) -> Message:
        """Have a job done as soon as a process is free, and return its outcome.

        Raises:
            Problem: no process got free in time, or it died (`BUSY`).
            TooComplex: it took more time or memory than a document may.
            JobFailed: a fault of ours.
        """
        self.waiting += 1
        try:
            async with asyncio.timeout(self._settings.queue_seconds):
                await self._turns.acquire()
        except TimeoutError:
            raise busy() from None
        finally:
            self.waiting -= 1
        seat = self._take_seat()
        try:
            outcome = await seat.do(job, self._settings.queue_seconds)
        except ProcessGone:
            raise busy() from None
        except TookTooLong:
            raise TooComplex from None
        finally:
            self._free_seats.append(seat)
            self._turns.release()
        if "too_complex" in outcome.head:
            raise TooComplex
        if "failed" in outcome.head:
            raise JobFailed
        return outcome

    def too_complex(self) -> Problem:
        """Return the problem that tells a caller of `TooComplex`."""
        settings = self._settings
        return Problem(TOO_COMPLEX, seconds=round(settings.document_seconds), megabytes=settings.worker_megabytes)

    def _take_seat(self) -> Seat:
        """A free seat, one whose process is ready if there is one."""
        seat = next((seat for seat in reversed(self._free_seats) if seat.ready), self._free_seats[-1])
        self._free_seats.remove(seat)
        return seat
