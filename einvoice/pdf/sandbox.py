"""Parses untrusted PDFs in a subprocess with memory and time limits.

    this process ──> server, started once, with pikepdf loaded ──forks──> worker, one for each file

The server (`einvoice.pdf.worker`) is a `SandboxProcess`. Each worker gets one end of a socket pair, receives the PDF
and sends its answer in frames of `einvoice.sandbox.protocol`. Threads may read several files at once.

Where there is no fork (Windows), the server itself reads the files, one after the other. It is then killed by this
process if a file takes too long.
"""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING, Any, Final

from einvoice import errors
from einvoice.pdf import limits
from einvoice.pdf.hybrid import Hybrid
from einvoice.pdf.picture.page_text import PROBLEMS, PageText, rows
from einvoice.sandbox import protocol, system
from einvoice.sandbox.process import SandboxProcess

if TYPE_CHECKING:
    import socket

_ATTEMPTS: Final = 3
"""The server may have exited unnoticed, or may exit while it starts the worker; each attempt restarts it."""

_FORKS: Final = hasattr(os, "fork")

_server: Final = SandboxProcess("einvoice.pdf.worker")


def read_hybrid(data: bytes) -> Hybrid:
    """Return the invoice embedded in a PDF, with the results of the container checks.

    Raises:
        errors.PdfSupportMissing: pikepdf is not installed.
        errors.PdfDamaged, errors.PdfEncrypted, errors.PdfWithoutXml, errors.EmbeddedXmlUnreadable: see these classes.
        errors.PdfTooComplex: reading exceeded the memory or time limit, or crashed the worker.
        ChildProcessError: the server cannot be started.
    """
    hybrid, pending = _read(data, limits.HANDOVER)
    pending.close()
    return hybrid


def read_hybrid_with_pages(data: bytes) -> tuple[Hybrid, PendingText]:
    """Return the invoice as `read_hybrid` does, and the text of the pages, which the worker reads in the meantime.

    The caller must call `PendingText.result` or `PendingText.close`. A PDF whose pages cannot be read, even one that
    crashes the worker, has its invoice all the same.
    """
    return _read(data, limits.HANDOVER_WITH_PAGES)


class PendingText:
    """The text of the pages that a worker is reading."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def result(self) -> PageText:
        """Wait for the text, and close the connection."""
        with self._connection as connection:
            connection.settimeout(limits.PAGES_SECONDS + 1)
            try:
                answer = protocol.receive(connection, limits.ANSWER)
                header = answer[0] if answer else {}
                if "pages" in header:
                    return PageText([rows(words) for words in header["pages"]])
                return PageText((), PROBLEMS.get(header.get("problem"), "failure"))
            except (OSError, ValueError, TypeError, IndexError):
                _stop_reading()
                return PageText((), "failure")

    def close(self) -> None:
        """Close the connection without the text."""
        self._connection.close()


def _read(data: bytes, handover: bytes) -> tuple[Hybrid, PendingText]:
    if importlib.util.find_spec("pikepdf") is None:
        raise errors.PdfSupportMissing
    for _ in range(_ATTEMPTS):
        connection = _connect(handover)
        if connection is None:
            continue
        try:
            answer = _exchange(connection, data, pages=handover == limits.HANDOVER_WITH_PAGES)
            if answer is not None:
                return _decode(*answer), PendingText(connection)
        except BaseException:
            connection.close()
            raise
        connection.close()
    raise ChildProcessError("The process that reads PDFs cannot be started.")


def _connect(handover: bytes) -> socket.socket | None:
    """Return the connection to a new worker; None if the server exited before it started one."""
    import socket

    connection, worker_connection = socket.socketpair()
    with worker_connection:
        try:
            with _server.session() as control:
                system.hand_over(control, handover, worker_connection, _server.pid or 0)
        except OSError:
            connection.close()
            return None
        except BaseException:
            connection.close()
            raise
    connection.settimeout(limits.TIMEOUT if _FORKS else limits.SECONDS)
    return connection


def _exchange(connection: socket.socket, data: bytes, *, pages: bool) -> tuple[dict[str, Any], bytes] | None:
    """Return a worker's answer for a PDF; None if the server exited before it started the worker."""
    try:
        if not _is_ready(connection):
            return None
        protocol.send(connection, {"pages": pages}, data)
        answer = protocol.receive(connection, limits.ANSWER)
    except (OSError, ValueError):
        answer = None
    if answer is None:
        _stop_reading()
        raise _too_complex()
    return answer


def _is_ready(connection: socket.socket) -> bool:
    """Return whether a worker has begun to serve this connection; others may be served, or crash the server, before."""
    try:
        return protocol.receive(connection, limits.ANSWER) is not None
    except OSError:
        return False


def _stop_reading() -> None:
    """Kill the server if it is what reads the file; workers end by themselves."""
    if not _FORKS:
        _server.stop()


def _decode(header: dict[str, Any], xml: bytes) -> Hybrid:
    """Return the hybrid in an answer, or raise the error it describes; a malformed answer counts as a crash."""
    try:
        if "error" in header:
            raise _error(header["error"], header["values"])
        return Hybrid.from_plain(header["hybrid"], xml)
    except (ValueError, KeyError, TypeError):
        raise _too_complex() from None


def _error(code: str, values: dict[str, Any]) -> errors.EinvoiceError:
    classes = {error.code: error for error in errors.UnreadableDocument.__subclasses__()}
    return classes[code](**values)


def _too_complex() -> errors.PdfTooComplex:
    return errors.PdfTooComplex(megabytes=limits.MEMORY >> 20, seconds=limits.SECONDS)
