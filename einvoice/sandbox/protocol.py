"""What goes over the wire between this process and the one that runs artefacts: JSON, and the document."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any, Final

_LENGTHS: Final = struct.Struct("!QQ")


def send(connection: socket.socket, told: dict[str, Any], body: bytes = b"") -> None:
    """Send one message."""
    head = json.dumps(told).encode()
    connection.sendall(_LENGTHS.pack(len(head), len(body)) + head + body)


def receive(connection: socket.socket, most: int) -> tuple[dict[str, Any], bytes] | None:
    """The next message of at most so many bytes; None if the other side has gone.

    Raises:
        ValueError: more bytes, or no JSON object.
        OSError: the other side takes too long, or went in the middle.
    """
    lengths = _exactly(connection, _LENGTHS.size)
    if not lengths:
        return None
    head, body = _LENGTHS.unpack(lengths)
    if head + body > most:
        raise ValueError(f"A message of {head + body} bytes.")
    told = json.loads(_exactly(connection, head))
    if not isinstance(told, dict):
        raise ValueError("No JSON object.")
    return told, _exactly(connection, body)


def _exactly(connection: socket.socket, length: int) -> bytes:
    """So many bytes; none at all if the other side goes before the first."""
    data = bytearray()
    while len(data) < length:
        part = connection.recv(min(length - len(data), 1 << 20))
        if not part:
            if data:
                raise ConnectionResetError("The other side went in the middle.")
            break
        data += part
    return bytes(data)
