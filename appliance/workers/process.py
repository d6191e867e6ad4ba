"""A worker process as the server sees it."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from typing import TypeAlias, cast

from appliance.settings import Settings
from appliance.workers.environment import worker_environment
from appliance.workers.protocol import PREFIX_BYTES, Message
from appliance.workers.standard_error import StandardError

START_TIMEOUT_SECONDS = 60

_CRASHES = frozenset({signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE})


class WorkerExited(Exception):  # noqa: N818 (the event, expected by callers)
    """The worker exited before it answered."""


class WorkerNotReady(Exception):  # noqa: N818
    """No worker became ready in time."""


class WorkerCrashed(WorkerExited):
    """The worker was ended by an error in native code, as when memory is short."""


class JobTimeout(Exception):  # noqa: N818
    """The worker exceeded its time limit and was killed."""


_Failure: TypeAlias = type[Exception]
"""What a future holds instead of an exception, which would keep the frames that wait for it, and so the document."""


class JobInterrupted(Exception):  # noqa: N818
    """The job was interrupted, because a quick one waited."""


class WorkerProcess(asyncio.Protocol):
    """A worker process and the connection to it. It runs one job at a time.

    Attributes:
        retired: set when the worker needs a replacement, because it reached its job limit or exited.
        killed_for: why the server killed the worker: "timeout", "cancelled", "interrupted", or None.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._received = bytearray()
        self._response: asyncio.Future[Message | _Failure] | None = None
        self._transport: asyncio.Transport | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._standard_error: StandardError | None = None
        self.retired = asyncio.Event()
        self.killed_for: str | None = None

    async def start(self) -> None:
        """Start the process and wait until it is ready.

        Raises:
            WorkerExited: it exited during startup.
            JobTimeout: startup took too long.
            OSError: the process could not be started.
        """
        settings = self._settings
        limits = (settings.document_seconds, settings.worker_megabytes, settings.worker_documents, settings.log_level)
        hidden = (settings.data, settings.keys_file)
        server_socket, worker_socket = socket.socketpair()
        with worker_socket:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "appliance.workers.worker", *map(str, (*limits, *hidden))],
                stdin=worker_socket.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=worker_environment(os.environ),
                start_new_session=True,  # signals from the terminal reach the server only, which lets jobs finish
            )
        loop = asyncio.get_running_loop()
        self._standard_error = standard_error = StandardError(self._process.pid)
        await loop.connect_read_pipe(lambda: standard_error, self._process.stderr)
        await loop.create_unix_connection(lambda: self, sock=server_socket)
        await self._next_message(START_TIMEOUT_SECONDS)

    async def run(self, job: Message) -> Message:
        """Run a job and return its outcome.

        Raises:
            WorkerExited: the worker exited during the job.
            WorkerCrashed: an error in native code ended it.
            JobTimeout: the job exceeded its time limit; the worker was killed.
            JobInterrupted: `interrupt` was called; the worker was killed.
        """
        if self._transport is None:
            raise WorkerExited
        if self._standard_error is not None:
            self._standard_error.may_quote = True
        self._transport.write(job.pack())
        try:
            outcome = await self._next_message(self._settings.document_seconds)
        except WorkerExited:
            await self.terminate()
            raise WorkerCrashed if -(self.exit_status or 0) in _CRASHES else WorkerExited from None
        if outcome.head["retire"]:
            self.retired.set()
        return outcome

    @property
    def alive(self) -> bool:
        """Whether the connection is open."""
        return self._transport is not None and not self._transport.is_closing()

    @property
    def busy(self) -> bool:
        """Whether a job is running."""
        return self._response is not None

    async def _next_message(self, seconds: float) -> Message:
        loop = asyncio.get_running_loop()
        self._response = loop.create_future()
        timer = loop.call_later(seconds, self._time_out, self._response)  # takes a fraction of `asyncio.timeout`
        try:
            message = await self._response
        except asyncio.CancelledError:
            self.killed_for = "cancelled"
            self.kill()
            raise
        finally:
            timer.cancel()
            self._response = None
        if isinstance(message, Message):
            return message
        raise message

    def _time_out(self, response: asyncio.Future[Message | _Failure]) -> None:
        """Kill the process, unless it has answered or exited."""
        if not response.done():
            response.set_result(JobTimeout)
            self.killed_for = "timeout"
            self.kill()

    def interrupt(self) -> bool:
        """Kill the process if a job is running, and return whether it was."""
        if self._response is None or self._response.done():
            return False
        self._response.set_result(JobInterrupted)
        self.killed_for = "interrupted"
        self.kill()
        return True

    @property
    def pid(self) -> int | None:
        """Process identifier, or None before the start."""
        return None if self._process is None else self._process.pid

    @property
    def exit_status(self) -> int | None:
        """Exit status, or the negative number of the signal that ended the process."""
        return None if self._process is None else self._process.returncode

    @property
    def cause_of_death(self) -> str:
        """Why the process ended: as `killed_for`, or by a signal, as for lack of memory ("signal"), or not ("exit")."""
        return self.killed_for or ("signal" if (self.exit_status or 0) < 0 else "exit")

    def kill(self) -> None:
        """Kill the process and close the connection."""
        if self._process is not None:
            self._process.kill()
        if self._transport is not None:
            self._transport.close()

    async def terminate(self) -> None:
        """Kill the process and reap it."""
        self.kill()
        if self._process is not None:
            await asyncio.to_thread(self._process.wait)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport (`asyncio.Protocol`)."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Collect a message (`asyncio.Protocol`)."""
        self._received += data
        if len(self._received) < PREFIX_BYTES or len(self._received) < Message.length(self._received):
            return
        message = Message.unpack(self._received)
        self._received.clear()
        if self._response is not None and not self._response.done():
            self._response.set_result(message)

    def connection_lost(self, error: Exception | None) -> None:
        """Reap the process and fail a running job (`asyncio.Protocol`)."""
        self._transport = None
        self.retired.set()
        if self._process is not None:
            self._process.kill()  # it may have closed the connection without exiting
            asyncio.get_running_loop().run_in_executor(None, self._process.wait)
        if self._response is not None and not self._response.done():
            self._response.set_result(WorkerExited)
