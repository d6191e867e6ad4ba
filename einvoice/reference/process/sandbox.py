"""Artefacts run in a process that can come to harm: bounded in memory and time, and replaced from time to time.

    this process ──asks──> worker, started once, with Saxon loaded and stylesheets compiled

The worker (`einvoice.reference.process.worker`) is an `einvoice.sandbox.process`, asked one thing at a time; threads
wait for each other.
Who asks while it goes down gets a `Failed`, and the next one a new worker. Unlike those of `einvoice.pdf.sandbox` it
judges many documents, since compiling a stylesheet takes a hundred times as long as running it; and it cannot be
forked once Saxon is loaded, which has threads of its own.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from einvoice.reference.process import limits
from einvoice.sandbox.process import Child

if TYPE_CHECKING:
    import socket

_worker: Final = Child("einvoice.reference.process.worker", limits.MEMORY)


class Failed(Exception):  # noqa: N818 (says what happened)
    """There is no answer; `reason` is that of a `Run`."""

    def __init__(self, reason: str, detail: str = "") -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(f"{reason}: {detail}" if detail else reason)


def ask(work: str, body: bytes = b"", seconds: float | None = None, **told: Any) -> dict[str, Any]:
    """Have the worker do something, and return what it answers.

    Args:
        work: name of a task of `einvoice.reference.process.worker`.
        body: the document that it is about.
        seconds: how long it may take, with waiting for its turn; None stands for `limits.SECONDS`.
        told: what else the task wants to know; JSON.

    Raises:
        Failed: it says why not ("stopped", "artefact"), took too long ("time"), or went down ("died").
        ChildProcessError: the system starts no process.
    """
    answer = _answer({"work": work, **told}, body, limits.SECONDS if seconds is None else seconds)
    if "reason" in answer:
        raise Failed(str(answer["reason"]), str(answer.get("detail", "")))
    return answer


def _answer(told: dict[str, Any], body: bytes, seconds: float) -> dict[str, Any]:
    until = time.monotonic() + seconds
    try:
        with _worker.turn(max(seconds, 0)) as connection:
            connection.settimeout(max(until - time.monotonic(), 0.001))
            answer = _exchanged(connection, told, body)
            if _worker.turns >= limits.TURNS or answer.get("memory", 0) > limits.FULL:
                _worker.stop()
            return answer
    except TimeoutError:
        raise Failed("time") from None


def _exchanged(connection: socket.socket, told: dict[str, Any], body: bytes) -> dict[str, Any]:
    from einvoice.sandbox import protocol

    try:
        protocol.send(connection, told, body)
        received = protocol.receive(connection, limits.ANSWER)
    except TimeoutError:
        raise
    except (OSError, ValueError):
        raise Failed("died") from None
    if received is None:
        raise Failed("died")
    return received[0]
