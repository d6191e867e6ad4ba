"""The process that opens PDFs: loads pikepdf once, and forks a worker for each file. See `einvoice.pdf.sandbox`."""

from __future__ import annotations

import gc
import io
import os
import resource
import signal
import socket
from typing import Any

from einvoice import errors
from einvoice.pdf import limits
from einvoice.pdf.reader import extract, streams
from einvoice.pdf.sandbox import packed
from einvoice.sandbox.process import bound


def main(control: socket.socket) -> None:
    """Fork a worker for each connection that is handed over by this one, until that is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system buries the workers
    streams.bound_unpacking()
    _rehearse()
    gc.disable()  # workers do not live long enough
    gc.freeze()
    while True:
        message, handed, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        for descriptor in handed:
            _serve(control, descriptor)


def _rehearse() -> None:
    """Read a file once, so that what is loaded at the first time is there for all workers."""
    import pikepdf

    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        pdf.attachments["factur-x.xml"] = b"<CrossIndustryInvoice/>"
        file = io.BytesIO()
        pdf.save(file)
    _answer(file.getvalue())


def _serve(control: socket.socket, descriptor: int) -> None:
    """Have one file read. If there is no worker, the connection ends without a word, and the other side knows."""
    try:
        worker = os.fork()
    except OSError:
        worker = -1
    if worker == 0:
        status = 1
        try:
            control.close()
            with socket.socket(fileno=descriptor) as connection:
                _work(connection)
            status = 0
        finally:
            os._exit(status)
    os.close(descriptor)


def _work(connection: socket.socket) -> None:
    _bound()
    connection.sendall(limits.STARTED)
    data = bytearray()
    while part := connection.recv(1 << 20):
        data += part
    connection.sendall(_answer(bytes(data)))


def _bound() -> None:
    bound({resource.RLIMIT_AS: limits.MEMORY, resource.RLIMIT_CPU: limits.SECONDS // 2})
    signal.alarm(limits.SECONDS)


def _answer(data: bytes) -> bytes:
    try:
        hybrid = extract.read(data)
    except errors.UnreadableDocument as error:
        return packed(_of_error(error))
    except (MemoryError, RecursionError):
        return packed(_of_error(errors.PdfTooComplex(megabytes=limits.MEMORY >> 20, seconds=limits.SECONDS)))
    except Exception as error:
        # Damage shows in ways that nobody foresaw, and there is nobody here to tell of it.
        return packed(_of_error(errors.PdfDamaged(reason=type(error).__name__)))
    return packed({"hybrid": hybrid.to_plain(), "bytes": len(hybrid.xml)}, hybrid.xml)


def _of_error(error: errors.UnreadableDocument) -> dict[str, Any]:
    return {"error": error.code, "values": error.values}
