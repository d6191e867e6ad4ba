"""Overwrites what uploads leave in the memory of the server: in its receive buffer, and in freed blocks.

Freed blocks keep their content until they are used again, which may take hours in an idle server.
"""

import asyncio
import ctypes
import socket
import sys
from typing import Any, Final

_BLOCK_SIZES: Final = (*(1 << power for power in range(17, 10, -1)), *range(1032, 23, -16))
"""Large blocks first, which would be split otherwise; of the small ones each size, since they are kept by size."""
_RECEIVE_BYTES: Final = 256_000
"""Size of the buffer in which uvloop receives from all connections."""


class FreeMemory:
    """The freed blocks in the heap of the C library. Does nothing where this is not glibc."""

    def __init__(self) -> None:
        library: Any = ctypes.CDLL(None) if sys.platform == "linux" else None
        self._library: Any = library if hasattr(library, "malloc_trim") else None
        if self._library is not None:
            self._library.malloc.argtypes, self._library.malloc.restype = (ctypes.c_size_t,), ctypes.c_void_p
            self._library.free.argtypes = (ctypes.c_void_p,)
            self._library.sbrk.argtypes, self._library.sbrk.restype = (ctypes.c_ssize_t,), ctypes.c_void_p

    def overwrite(self) -> None:
        """Overwrite the freed blocks, and return free pages to the system."""
        if self._library is None:
            return
        self._library.malloc_trim(0)
        end, blocks = self._library.sbrk(0), list[int]()
        for size in _BLOCK_SIZES:
            self._take(size, end, blocks)
        for block in blocks:
            self._library.free(block)
        self._library.malloc_trim(0)

    def _take(self, size: int, end: int, blocks: list[int]) -> None:
        """Take and overwrite blocks of a size up to the first one beyond the end of the heap."""
        while block := self._library.malloc(size):
            ctypes.memset(block, 0, size)
            blocks.append(block)
            if block >= end:
                return


async def overwrite_receive_buffer() -> None:
    """Receive zeros, so that the buffer holds nothing else."""
    loop = asyncio.get_running_loop()
    receiver, sender = socket.socketpair()
    with sender:
        for end in (receiver, sender):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * _RECEIVE_BYTES)
        sender.setblocking(False)
        sender.send(bytes(_RECEIVE_BYTES))
    done = loop.create_future()
    await loop.create_connection(lambda: _Discard(done), sock=receiver)
    await done


class _Discard(asyncio.Protocol):
    def __init__(self, done: asyncio.Future[None]) -> None:
        self._done = done

    def connection_lost(self, error: Exception | None) -> None:
        self._done.set_result(None)
