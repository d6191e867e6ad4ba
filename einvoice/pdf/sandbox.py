"""Parses untrusted PDFs in a subprocess with memory and time limits.

    this process ──> server, started once, with pikepdf loaded ──forks──> worker, one for each file

The server (`einvoice.pdf.worker`) is a `SandboxProcess`. Each worker gets one end of a socket pair, receives the PDF
and sends its answer in frames of `einvoice.sandbox.protocol`. Threads may read several files at once.
"""

from __future__ import annotations

import importlib.util
from typing import Any, Final

from einvoice import errors
from einvoice.pdf import limits
from einvoice.pdf.hybrid import Hybrid
from einvoice.sandbox import protocol
from einvoice.sandbox.process import SandboxProcess

_ATTEMPTS: Final = 3
"""The server may have exited unnoticed, or may exit while it starts the worker; each attempt restarts it."""

_server: Final = SandboxProcess("einvoice.pdf.worker")


def read_hybrid(data: bytes) -> Hybrid:
    """Return the invoice embedded in a PDF, with the results of the container checks.

    Raises:
        errors.PdfSupportMissing: pikepdf is not installed.
        errors.PdfDamaged, errors.PdfEncrypted, errors.PdfWithoutXml, errors.EmbeddedXmlUnreadable: see these classes.
        errors.PdfTooComplex: reading exceeded the memory or time limit, or crashed the worker.
        ChildProcessError: the server cannot be started.
    """
    if importlib.util.find_spec("pikepdf") is None:
        raise errors.PdfSupportMissing
    for _ in range(_ATTEMPTS):
        answer = _exchange(data)
        if answer is not None:
            return _decode(*answer)
    raise ChildProcessError("The process that reads PDFs cannot be started.")


def _exchange(data: bytes) -> tuple[dict[str, Any], bytes] | None:
    """Return a worker's answer for a PDF; None if the server exited before it started the worker."""
    import socket

    connection, worker_connection = socket.socketpair()
    with connection, worker_connection:
        try:
            with _server.session() as control:
                socket.send_fds(control, [limits.HANDOVER], [worker_connection.fileno()])
        except OSError:
            return None
        worker_connection.close()
        connection.settimeout(limits.TIMEOUT)
        try:
            if protocol.receive(connection, limits.ANSWER) is None:
                return None
            protocol.send(connection, {}, data)
            answer = protocol.receive(connection, limits.ANSWER)
        except (OSError, ValueError):
            raise _too_complex() from None
    if answer is None:
        raise _too_complex()
    return answer


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
