"""Runs official artefacts in a subprocess with memory and time limits.

The worker (`einvoice.reference.process.worker`) is a `SandboxProcess` with Saxon loaded and stylesheets compiled. It
serves one request at a time. A crash fails the current request only: the next one starts a new worker.

Unlike the workers of `einvoice.pdf.sandbox` it serves many documents, since compiling a stylesheet takes a hundred
times as long as running it, and Saxon's threads do not survive a fork.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from einvoice.reference.process import limits
from einvoice.reference.process.errors import ExecutionFailed
from einvoice.sandbox.process import SandboxProcess

if TYPE_CHECKING:
    import socket

_worker: Final = SandboxProcess("einvoice.reference.process.worker", limits.MEMORY)


def request(task: str, document: bytes = b"", timeout: float | None = None, **arguments: Any) -> dict[str, Any]:
    """Run a task in the worker and return its result.

    Args:
        task: name of a task of `einvoice.reference.process.worker`.
        document: the document to run the task on.
        timeout: seconds, including waiting for other threads; by default `limits.SECONDS`.
        arguments: further arguments of the task; JSON.

    Raises:
        ExecutionFailed: the task failed ("stopped", "artefact"), timed out ("time"), or crashed the worker ("died").
        ChildProcessError: the worker cannot be started.
    """
    header = {"task": task, "arguments": arguments}
    answer = _exchange(header, document, limits.SECONDS if timeout is None else timeout)
    if "reason" in answer:
        raise ExecutionFailed(str(answer["reason"]), str(answer.get("detail", "")))
    return answer


def _exchange(header: dict[str, Any], document: bytes, timeout: float) -> dict[str, Any]:
    deadline = time.monotonic() + timeout
    try:
        with _worker.session(max(timeout, 0)) as connection:
            connection.settimeout(max(deadline - time.monotonic(), 0.001))
            answer = _receive(connection, header, document)
            if _worker.sessions >= limits.RECYCLE_REQUESTS or answer.get("memory", 0) > limits.RECYCLE_MEMORY:
                _worker.stop()
            return answer
    except TimeoutError:
        raise ExecutionFailed("time") from None


def _receive(connection: socket.socket, header: dict[str, Any], document: bytes) -> dict[str, Any]:
    from einvoice.sandbox import protocol

    try:
        protocol.send(connection, header, document)
        answer = protocol.receive(connection, limits.MESSAGE)
    except TimeoutError:
        raise
    except (OSError, ValueError):
        raise ExecutionFailed("died") from None
    if answer is None:
        raise ExecutionFailed("died")
    return answer[0]
