"""The child process that runs the official artefacts, one task at a time. See `einvoice.reference.process.sandbox`.

A task gets the text of the document, without XML declaration, and what the request tells by name. It returns what is
answered, or raises `Failed`.
"""

from __future__ import annotations

import re
import resource
import signal
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from einvoice import errors
from einvoice.reference.process import limits, saxon, schemas
from einvoice.reference.process.sandbox import Failed
from einvoice.sandbox import protocol
from einvoice.sandbox.process import bound

_DETAIL: Final = 300
"""So many characters of an engine's message are told."""

_FILE: Final = re.compile(r"\s+(of|systemId:)\s+file:\S*?(?=[:;]?(\s|$))")
"""Which of the user's folders it was is no part of the message."""

_TASKS: Final[Mapping[str, Callable[..., dict[str, Any]]]] = {
    "match": saxon.match,
    "run": saxon.run,
    "schema": schemas.run,
    "check_match": saxon.check_match,
    "check_stylesheet": saxon.check_stylesheet,
    "check_schema": schemas.check,
}


def main(connection: socket.socket, memory: int) -> None:
    """Answer the requests that come by a connection, until that is closed, with so many bytes of memory."""
    bound({resource.RLIMIT_DATA: memory})  # address space says nothing: Saxon reserves 32 GB of it
    with connection:
        while request := protocol.receive(connection, limits.ANSWER):
            signal.alarm(limits.SECONDS + 5)  # should whoever asks be unable to end this
            told, body = request
            answer = _answer(told, body.decode())
            signal.alarm(0)
            protocol.send(connection, {**answer, "memory": _held()})


def _held() -> int:
    """Bytes that this process has held at most; `ru_maxrss` would begin with what its parent held, maybe a notebook."""
    try:
        status = Path("/proc/self/status").read_text("ascii")
    except OSError:  # not on Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    return int(found[1]) << 10 if found else 0


def _answer(told: dict[str, Any], text: str) -> dict[str, Any]:
    try:
        return _TASKS[told.pop("work")](text, **told)
    except Failed as error:
        detail = " ".join(_FILE.sub("", error.detail).split())
        return {"reason": error.reason, "detail": errors.quote(detail, limit=_DETAIL)}
    except (MemoryError, RecursionError) as error:
        return {"reason": "died", "detail": type(error).__name__}
