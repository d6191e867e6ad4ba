"""The server process that parses PDFs: loads pikepdf once and forks a worker per file. See `einvoice.pdf.sandbox`.

Where there is no fork (Windows), it reads the files itself, one after the other, and exits after one that exceeded its
limits, or after `limits.FILES`.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import io
import os
import signal
import socket
from typing import Any

from einvoice import errors
from einvoice.pdf import embedded_invoice, limits
from einvoice.pdf.picture import page_text
from einvoice.pdf.reader import streams
from einvoice.sandbox import protocol, system


def main(control: socket.socket) -> None:
    """Read the file of each connection received through `control`, until `control` is closed."""
    streams.limit_decompression()
    _warm_up()
    if hasattr(os, "fork"):
        _fork_workers(control)
    else:
        system.set_limits(address_space=limits.MEMORY)
        for _ in range(limits.FILES):
            taken = system.take_over(control)
            if taken is None or not _serve_here(taken[1]):
                return


def _fork_workers(control: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps the workers
    gc.disable()  # workers are too short-lived to need it
    gc.freeze()
    while taken := system.take_over(control):
        message, connection = taken
        with connection:
            _fork_worker(control, connection)
        if message == limits.HANDOVER_WITH_PAGES:
            _load_pdfium()  # meanwhile the worker reads its file; it loads pdfium itself


def _serve_here(connection: socket.socket) -> bool:
    """Serve one connection in this process; return whether it may serve others."""
    with connection:
        try:
            protocol.send(connection, {"ready": True})
            return _serve(connection)
        except OSError:  # the client wants no answer any more
            return True


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


def _fork_worker(control: socket.socket, connection: socket.socket) -> None:
    """Fork a worker for one file; if that fails, the connection closes without a ready frame and the client retries."""
    try:
        worker = os.fork()
    except OSError:
        return
    if worker == 0:
        status = 1
        try:
            control.close()
            with connection:
                _set_limits()
                protocol.send(connection, {"ready": True})
                _serve(connection)
            status = 0
        finally:
            os._exit(status)


def _set_limits() -> None:
    system.set_limits(address_space=limits.MEMORY, processor=limits.SECONDS // 2)
    system.alarm(limits.SECONDS)


def _serve(connection: socket.socket) -> bool:
    """Answer a request; return whether the file was within the limits of this process."""
    request = protocol.receive(connection, limits.MEMORY)
    if request is None:
        return True
    header, data = request
    answer = _read(data)
    protocol.send(connection, *answer)
    if header.get("pages") and "hybrid" in answer[0]:
        system.alarm(limits.PAGES_SECONDS)
        protocol.send(connection, _read_pages(data))
    return answer[0].get("error") != errors.PdfTooComplex.code


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
