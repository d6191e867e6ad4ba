"""Joins the writes of a response, so that its head and its body are sent by one system call, in one packet."""

import asyncio
from typing import Any, Final

_MAX_BYTES: Final = 65_536
"""Size from which data is passed on at once, so that the flow control of the transport applies."""


class JoinedWrites:
    """A transport that collects what is written until the event loop is done with the current callback.

    The server writes the head and the body of a response one after the other, and uvloop sends each at once. Data that
    may take long to send is passed on unchanged: nothing is copied.

    Args:
        transport: transport of the connection.
        loop: event loop.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._collected: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write data, at the latest in the next iteration of the event loop; drop it if the connection closes."""
        if not data:
            return
        if not self._collected:
            self._loop.call_soon(self._flush)
        self._collected.append(data)
        self._size += len(data)
        if self._size >= _MAX_BYTES:
            self._flush()

    def write_eof(self) -> None:
        """Close the sending side after what has been written."""
        self._flush()
        self._transport.write_eof()

    def close(self) -> None:
        """Close the connection after what has been written."""
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        """Close the connection at once."""
        self._collected.clear()
        self._transport.abort()

    def _flush(self) -> None:
        collected, self._collected, self._size = self._collected, [], 0
        if collected and not self._transport.is_closing():  # the client may have disconnected meanwhile
            self._transport.writelines(collected)
