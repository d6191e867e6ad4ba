"""The server process that parses PDFs: loads pikepdf once and forks a worker per file. See `einvoice.pdf.sandbox`."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import io
import os
import resource
import signal
import socket
from typing import Any

from einvoice import errors
from einvoice.pdf import embedded_invoice, limits
from einvoice.pdf.picture import page_text
from einvoice.pdf.reader import streams
from einvoice.sandbox import protocol
from einvoice.sandbox.process import set_limits


def main(control: socket.socket) -> None:
    """Fork a worker for each connection received through `control`, until `control` is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps the workers
    streams.limit_decompression()
    _warm_up()
    gc.disable()  # workers are too short-lived to need it
    gc.freeze()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, len(limits.HANDOVER), 1)
        if not message:
            return
        for descriptor in descriptors:
            _fork_worker(control, descriptor)
        if message == limits.HANDOVER_WITH_PAGES:
            _load_pdfium()  # meanwhile the worker reads its file; it loads pdfium itself


def _warm_up() -> None:
    """Read one file, so that workers inherit all modules that are loaded lazily."""
    import pikepdf

    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        pdf.attachments["factur-x.xml"] = b"<CrossIndustryInvoice/>"
        file = io.BytesIO()
        pdf.save(file)
    _read(file.getvalue())


@functools.cache
def _load_pdfium() -> None:
    with contextlib.suppress(ImportError, OSError):
        importlib.import_module("pypdfium2")
    gc.freeze()


def _fork_worker(control: socket.socket, descriptor: int) -> None:
    """Fork a worker for one file; if that fails, the connection closes without a ready frame and the client retries."""
    try:
        worker = os.fork()
    except OSError:
        worker = -1
    if worker == 0:
        status = 1
        try:
            control.close()
            with socket.socket(fileno=descriptor) as connection:
                _serve(connection)
            status = 0
        finally:
            os._exit(status)
    os.close(descriptor)


def _serve(connection: socket.socket) -> None:
    _set_limits()
    protocol.send(connection, {"ready": True})
    request = protocol.receive(connection, limits.MEMORY)
    if request is None:
        return
    header, data = request
    answer = _read(data)
    protocol.send(connection, *answer)
    if header.get("pages") and "hybrid" in answer[0]:
        signal.alarm(limits.PAGES_SECONDS)
        protocol.send(connection, _read_pages(data))


def _set_limits() -> None:
    set_limits({resource.RLIMIT_AS: limits.MEMORY, resource.RLIMIT_CPU: limits.SECONDS // 2})
    signal.alarm(limits.SECONDS)


def _read(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header and the body of the answer."""
    try:
        hybrid = embedded_invoice.read(data)
    except errors.UnreadableDocument as error:
        return _error(error)
    except (MemoryError, RecursionError):
        return _error(errors.PdfTooComplex(megabytes=limits.MEMORY >> 20, seconds=limits.SECONDS))
    except Exception as error:
        # A damaged file can raise anything, and this process has no log.
        return _error(errors.PdfDamaged(reason=type(error).__name__))
    return {"hybrid": hybrid.to_plain()}, hybrid.xml


def _read_pages(data: bytes) -> dict[str, Any]:
    """Return the words of the pages, or why there are none; see `einvoice.pdf.picture.page_text.Problem`."""
    try:
        return {"pages": page_text.read_pages(data)}
    except ImportError:
        return {"problem": "library"}
    except page_text.TooLong:
        return {"problem": "length"}
    except Exception:
        return {"problem": "failure"}


def _error(error: errors.UnreadableDocument) -> tuple[dict[str, Any], bytes]:
    return {"error": error.code, "values": error.values}, b""
