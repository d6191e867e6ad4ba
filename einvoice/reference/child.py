"""Artefacts run in a process that can come to harm: bounded in memory and time, and replaced from time to time.

    this process ──asks──> worker, started once, with Saxon loaded and stylesheets compiled

The worker (`einvoice.reference.worker`) is started when the first document comes, and ends with this process. It is
asked one thing at a time; threads wait for each other. Who asks while it goes down gets a `Failed`, and the next one a
new worker. Unlike those of `einvoice.pdf.guard` it judges many documents, since compiling a stylesheet takes a hundred
times as long as running it; and it cannot be forked once Saxon is loaded, which has threads of its own.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final

from einvoice.reference import limits

if TYPE_CHECKING:
    import socket
    import subprocess

_START: Final = (
    "import sys; sys.path[:] = sys.argv[2:]; from einvoice.reference import worker; worker.main(int(sys.argv[1]))"
)


class Failed(Exception):  # noqa: N818 (says what happened)
    """There is no answer; `reason` is that of a `Run`."""

    def __init__(self, reason: str, detail: str = "") -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(f"{reason}: {detail}" if detail else reason)


def ask(work: str, body: bytes = b"", seconds: float | None = None, **told: Any) -> dict[str, Any]:
    """Have the worker do something, and return what it answers.

    Args:
        work: name of a task of `einvoice.reference.worker`.
        body: the document that it is about.
        seconds: how long it may take, with waiting for its turn; None stands for `limits.SECONDS`.
        told: what else the task wants to know; JSON.

    Raises:
        Failed: it says why not ("stopped", "artefact"), took too long ("time"), or went down ("died").
        ChildProcessError: the system starts no process.
    """
    answer = _worker.ask({"work": work, **told}, body, limits.SECONDS if seconds is None else seconds)
    if "reason" in answer:
        raise Failed(str(answer["reason"]), str(answer.get("detail", "")))
    return answer


class _Worker:
    """The process that runs artefacts, started when it is needed, and again when it has gone or is full."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._turns = 0

    def ask(self, told: dict[str, Any], body: bytes, seconds: float) -> dict[str, Any]:
        """Send a request and wait for the answer."""
        until = time.monotonic() + seconds
        if not self._lock.acquire(timeout=max(seconds, 0)):
            raise Failed("time")
        try:
            answer = self._asked(told, body, until)
            self._turns += 1
            if self._turns >= limits.TURNS or answer.get("memory", 0) > limits.FULL:
                self._stop()
            return answer
        except BaseException:  # also an interrupt: the answer to this would be taken for that to the next request
            self._stop()
            raise
        finally:
            self._lock.release()

    def _asked(self, told: dict[str, Any], body: bytes, until: float) -> dict[str, Any]:
        from einvoice.reference import frames

        if self._process is None or self._process.poll() is not None:
            self._stop()
            self._start()
        assert self._connection is not None
        self._connection.settimeout(max(until - time.monotonic(), 0.001))
        try:
            frames.send(self._connection, told, body)
            received = frames.receive(self._connection, limits.ANSWER)
        except TimeoutError:
            raise Failed("time") from None
        except (OSError, ValueError):
            raise Failed("died") from None
        if received is None:
            raise Failed("died")
        return received[0]

    def stop(self) -> None:
        """End the process."""
        with self._lock:
            self._stop()

    def forget(self) -> None:
        """In a forked process: leave the worker to the one that started it."""
        self._lock = threading.Lock()
        if self._process is not None:
            self._process.returncode = 0  # it is not ours to wait for
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None

    def _start(self) -> None:
        import socket
        import subprocess

        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _START, str(limits.MEMORY), *sys.path],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,  # Saxon tells there what it also raises, in the document's words
                    start_new_session=True,  # Ctrl-C in a terminal is meant for us
                )
            except OSError as error:
                ours.close()
                raise ChildProcessError("The process that runs artefacts cannot be started.") from error
        self._connection, self._turns = ours, 0

    def _stop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = self._connection = None


_worker: Final = _Worker()
atexit.register(_worker.stop)
os.register_at_fork(after_in_child=_worker.forget)
