"""PDFs from strangers are opened in a process that can come to harm: a limit of memory, of time, and no way back.

    this process ──asks──> server, started once, with pikepdf loaded ──forks──> worker, one a file, ends with it

The server (`einvoice.pdf.worker`) is an `einvoice.sandbox.process`. A worker is handed one end of a socket pair, reads
the PDF from it and writes its answer into it: plain JSON and the XML, since what comes back from a process that has
read a hostile file is no more trusted than the file. Threads may ask at once.
"""

from __future__ import annotations

import importlib.util
import struct
from typing import TYPE_CHECKING, Any, Final

from einvoice import errors
from einvoice.pdf import limits
from einvoice.pdf.hybrid import Hybrid
from einvoice.sandbox.process import Child

if TYPE_CHECKING:
    import socket

_LENGTH: Final = struct.Struct("!Q")
_TRIES: Final = 3
"""The server may have gone unnoticed, may go while it is asked, and is then a new one."""

_server: Final = Child("einvoice.pdf.worker")


def read_hybrid(data: bytes) -> Hybrid:
    """Return the invoice that a PDF holds, and what the checks of the container say.

    Raises:
        errors.PdfSupportMissing: pikepdf is not installed.
        errors.PdfDamaged, errors.PdfEncrypted, errors.PdfWithoutXml, errors.EmbeddedXmlUnreadable: what they say.
        errors.PdfTooComplex: reading took more memory or time than it may, or brought the worker down.
        ChildProcessError: the system starts no process.
    """
    if importlib.util.find_spec("pikepdf") is None:
        raise errors.PdfSupportMissing
    for _ in range(_TRIES):
        answer = _asked(data)
        if answer is not None:
            return _told(answer)
    raise ChildProcessError("The process that reads PDFs cannot be started.")


def _asked(data: bytes) -> bytes | None:
    """The answer of a worker; b"" if it died over the file, None if there was none."""
    import socket

    ours, theirs = socket.socketpair()
    with ours, theirs:
        try:
            with _server.turn() as control:
                socket.send_fds(control, [limits.STARTED], [theirs.fileno()])
        except OSError:  # it went just now
            return None
        theirs.close()
        ours.settimeout(limits.PATIENCE)
        try:
            if ours.recv(1) != limits.STARTED:
                return None
            ours.sendall(data)
            ours.shutdown(socket.SHUT_WR)
            return _received(ours)
        except OSError:
            return b""


def _received(connection: socket.socket) -> bytes:
    """All that comes, within bounds."""
    answer = bytearray()
    while part := connection.recv(1 << 20):
        answer += part
        if len(answer) > limits.ANSWER:
            return b""
    return bytes(answer)


def _told(answer: bytes) -> Hybrid:
    """The answer as the hybrid or the error that it tells of; one cut short is no answer."""
    import json

    too_complex = errors.PdfTooComplex(megabytes=limits.MEMORY >> 20, seconds=limits.SECONDS)
    try:
        (length,) = _LENGTH.unpack_from(answer)
        end = _LENGTH.size + length
        told: dict[str, Any] = json.loads(answer[_LENGTH.size : end])
        if "error" in told:
            raise _error(told["error"], told["values"])
        xml = answer[end:]
        if len(xml) != told["bytes"]:
            raise too_complex
        return Hybrid.from_plain(told["hybrid"], xml)
    except (struct.error, ValueError, KeyError, TypeError):
        raise too_complex from None


def _error(code: str, values: dict[str, Any]) -> errors.EinvoiceError:
    kinds = {kind.code: kind for kind in errors.UnreadableDocument.__subclasses__()}
    return kinds[code](**values)


def packed(told: dict[str, Any], xml: bytes = b"") -> bytes:
    """What a worker tells, as `read_hybrid` understands it."""
    import json

    head = json.dumps(told).encode()
    return _LENGTH.pack(len(head)) + head + xml
