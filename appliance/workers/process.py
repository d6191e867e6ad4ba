"""One process that judges documents, as the server sees it, and the seat that always has one."""

import asyncio
import contextlib
import logging
import os
import socket
import subprocess
import sys
from typing import cast

from appliance.settings import Settings
from appliance.wire import HEAD_BYTES, Message

log = logging.getLogger(__name__)

START_SECONDS = 60
START_AGAIN_SECONDS = 1
"""So long after a process that did not even get ready the next one is tried."""


class ProcessGone(Exception):  # noqa: N818 (it says what happened)
    """The process ended before it answered."""


class TookTooLong(Exception):  # noqa: N818
    """The process had to be ended over a job."""


class Process(asyncio.Protocol):
    """A process, and the connection to it; it does one job at a time.

    Attributes:
        spent: it has done its share, or has ended.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._received = bytearray()
        self._answer: asyncio.Future[Message] | None = None
        self._transport: asyncio.Transport | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.spent = asyncio.Event()

    async def start(self) -> None:
        """Start it, and wait until it is ready.

        Raises:
            ProcessGone: it ended at once.
            TookTooLong: it does not get ready.
            OSError: the system starts no process.
        """
        settings = self._settings
        limits = (settings.document_seconds, settings.worker_megabytes, settings.worker_documents, settings.log_level)
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "appliance.worker", *map(str, limits)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env={name: value for name, value in os.environ.items() if not name.startswith("EINVOICE_KEY_")},
                start_new_session=True,  # a Ctrl-C or a stop is meant for the server, which lets jobs end
            )
        await asyncio.get_running_loop().create_unix_connection(lambda: self, sock=ours)
        await self._next_message(START_SECONDS)

    async def do(self, job: Message) -> Message:
        """Have a job done.

        Raises:
            ProcessGone: the process ended over it.
            TookTooLong: it took more than its time; the process has been ended.
        """
        if self._transport is None:
            raise ProcessGone
        self._transport.write(job.pack())
        outcome = await self._next_message(self._settings.document_seconds)
        if outcome.head["spent"]:
            self.spent.set()
        return outcome

    @property
    def alive(self) -> bool:
        """Whether it is ready for jobs, as far as is known."""
        return self._transport is not None and not self._transport.is_closing()

    @property
    def at_work(self) -> bool:
        """Whether it has a job."""
        return self._answer is not None

    async def _next_message(self, seconds: float) -> Message:
        self._answer = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(seconds):
                return await self._answer
        except TimeoutError:
            self.kill()
            raise TookTooLong from None
        except asyncio.CancelledError:
            self.kill()
            raise
        finally:
            self._answer = None

    def kill(self) -> None:
        """End it, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
        if self._transport is not None:
            self._transport.close()

    async def bury(self) -> None:
        """End it, and wait until the system has forgotten it."""
        self.kill()
        if self._process is not None:
            await asyncio.to_thread(self._process.wait)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Part of the protocol: the connection is there."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Part of the protocol: a piece of an answer has come."""
        self._received += data
        if len(self._received) < HEAD_BYTES or len(self._received) < Message.length(self._received):
            return
        message = Message.unpack(self._received)
        self._received.clear()
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(message)

    def connection_lost(self, error: Exception | None) -> None:
        """Part of the protocol: the process has ended."""
        self._transport = None
        self.spent.set()
        if self._process is not None:
            self._process.kill()  # it may have closed the connection only
            asyncio.get_running_loop().run_in_executor(None, self._process.wait)
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ProcessGone())


class Seat:
    """A place where there is always a process: one that has done its share works on until its successor is ready.

    Attributes:
        started: so many processes have been started here.
    """

    def __init__(self, settings: Settings) -> None:
        self.started = 0
        self._settings = settings
        self._process: Process | None = None
        self._has_process = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    @property
    def ready(self) -> bool:
        """Whether there is a process."""
        return self._process is not None and self._process.alive

    def open(self) -> None:
        """See to it from now on that there is a process."""
        self._keeper = asyncio.create_task(self._keep())

    async def close(self) -> None:
        """End the process, and start no other."""
        if self._keeper is not None:
            self._keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeper
        if self._process is not None:
            await self._process.bury()

    async def do(self, job: Message, patience: float) -> Message:
        """Have a job done by the process that is there within `patience` seconds.

        Raises:
            ProcessGone: there is none, or it ended over the job.
            TookTooLong: it had to be ended over the job.
        """
        try:
            async with asyncio.timeout(patience):
                process = await self.present()
        except TimeoutError:
            raise ProcessGone from None
        try:
            return await process.do(job)
        finally:
            if process is not self._process:
                process.kill()

    async def present(self) -> Process:
        """Return the process, as soon as there is one."""
        while self._process is None or not self._process.alive:
            self._has_process.clear()
            await self._has_process.wait()
        return self._process

    async def _keep(self) -> None:
        while True:
            process = Process(self._settings)
            self.started += 1
            try:
                await process.start()
            except (OSError, ProcessGone, TookTooLong) as error:
                log.error("A worker did not get ready", exc_info=error)
                await process.bury()
                await asyncio.sleep(START_AGAIN_SECONDS)
                continue
            except asyncio.CancelledError:
                await process.bury()
                raise
            before, self._process = self._process, process
            self._has_process.set()
            if before is not None and not before.at_work:
                before.kill()
            await process.spent.wait()
            if not process.alive:
                await process.bury()
