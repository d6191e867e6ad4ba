"""Wire format between a process and its sandbox: frames of a JSON object and a binary body, each with its length.

    8 bytes length of the JSON | 8 bytes length of the body | JSON | body

The receiver sets the maximum size. Nothing but JSON and bytes is decoded: an answer from a process that has read a
hostile file is as untrusted as the file.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any, Final

_LENGTHS: Final = struct.Struct("!QQ")
_CHUNK: Final = 1 << 20


def send(connection: socket.socket, header: dict[str, Any], body: bytes = b"") -> None:
    """Send one frame."""
    connection.sendall(encode(header, body))


def encode(header: dict[str, Any], body: bytes = b"") -> bytes:
    """Return a frame as bytes."""
    encoded = json.dumps(header).encode()
    return _LENGTHS.pack(len(encoded), len(body)) + encoded + body


def receive(connection: socket.socket, limit: int) -> tuple[dict[str, Any], bytes] | None:
    """Receive one frame of at most `limit` bytes; return None if the peer has closed the connection.

    Raises:
        ValueError: the frame is larger, or its header is not a JSON object.
        OSError: the peer is too slow, or closed the connection within the frame.
    """
    start = connection.recv(1)
    if not start:
        return None
    header_length, body_length = _LENGTHS.unpack(start + _receive_exactly(connection, _LENGTHS.size - 1))
    if header_length + body_length > limit:
        raise ValueError(f"The frame has {header_length + body_length} bytes, more than {limit}.")
    try:
        header = json.loads(_receive_exactly(connection, header_length))
    except RecursionError:
        raise ValueError("The header is nested too deeply.") from None
    if not isinstance(header, dict):
        raise ValueError("The header is not a JSON object.")
    return header, _receive_exactly(connection, body_length)


def _receive_exactly(connection: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        chunk = connection.recv(min(length - len(data), _CHUNK))
        if not chunk:
            raise ConnectionResetError("The peer closed the connection within a frame.")
        data += chunk
    return bytes(data)
