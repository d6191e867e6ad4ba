"""The worker process that runs official artefacts, one task at a time. See `einvoice.reference.process.sandbox`.

A task is called with the text of the document, without its XML declaration, and the arguments of the request. It
returns the answer, or raises `ExecutionFailed`.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Mapping
from typing import Any, Final

from einvoice.quotation import quote
from einvoice.reference.process import limits, saxon, schemas
from einvoice.reference.process.errors import ExecutionFailed
from einvoice.sandbox import protocol, system

_DETAIL: Final = 300
"""Maximum length of an engine's message (characters)."""

_FILE: Final = re.compile(r"\s+(of|systemId:)\s+file:\S*?(?=[:;]?(\s|$))")
"""Paths of the user's folders, which are removed from messages."""

_TASKS: Final[Mapping[str, Callable[..., dict[str, Any]]]] = {
    "match": saxon.match,
    "run": saxon.run,
    "schema": schemas.run,
    "check_match": saxon.check_match,
    "check_stylesheet": saxon.check_stylesheet,
    "check_schema": schemas.check,
}


def main(connection: socket.socket, memory: int) -> None:
    """Answer requests until the connection is closed.

    Args:
        connection: carries frames of `einvoice.sandbox.protocol`.
        memory: maximum data segment of this process (bytes).
    """
    system.set_limits(data=memory)  # not the address space: Saxon reserves 32 GB of it
    with connection:
        while request := protocol.receive(connection, limits.MESSAGE):
            system.alarm(limits.SECONDS + 5)  # in case the client fails to kill this process
            header, document = request
            answer = _answer(header["task"], header["arguments"], document.decode())
            system.alarm(0)
            protocol.send(connection, {**answer, "memory": system.peak_memory()})


def _answer(task: str, arguments: dict[str, Any], text: str) -> dict[str, Any]:
    try:
        return _TASKS[task](text, **arguments)
    except ExecutionFailed as error:
        detail = " ".join(_FILE.sub("", error.detail).split())
        return {"reason": error.reason, "detail": quote(detail, limit=_DETAIL)}
    except (MemoryError, RecursionError) as error:
        return {"reason": "died", "detail": type(error).__name__}
