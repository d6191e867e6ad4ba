"""Memory of the server and its workers."""

import asyncio
import ctypes
import gc
import sys
from typing import Final

from appliance.workers.erasure import FreeMemory, overwrite_receive_buffer

_M_MMAP_THRESHOLD: Final = -3
_M_ARENA_MAX: Final = -8
_LARGE_BYTES: Final = 1 << 20
_TRIM_SECONDS: Final = 1.0
"""Time after which freed pages are returned to the system, after large uploads."""

_IDLE_SECONDS: Final = 6.0
"""Time without uploads after which what they left is overwritten; idle connections have been closed by then."""


def return_large_blocks() -> None:
    """Make the C library return each freed block of a megabyte or more to the system at once.

    By default glibc keeps freed blocks of up to 32 MB for reuse: documents would stay in memory after the response.
    See mallopt(3). Does nothing where the C library is another one.
    """
    _call_c_library("mallopt", _M_MMAP_THRESHOLD, _LARGE_BYTES)


def use_one_heap() -> None:
    """Make the threads of this process share the heap of the C library, whose freed blocks are overwritten."""
    _call_c_library("mallopt", _M_ARENA_MAX, 1)


class MemoryTrimmer:
    """Returns freed pages to the system a moment after large uploads, and overwrites what all left when it is idle.

    Without it, parts of a document would stay in memory until the next one overwrites them. See malloc_trim(3).
    """

    def __init__(self) -> None:
        self._is_scheduled = self._has_large = False
        self._last = 0.0
        self._free_memory = FreeMemory()
        self._erasure: asyncio.Task[None] | None = None

    def released(self, size: int) -> None:
        """Note that an upload of `size` bytes was released. Must be called in the event loop."""
        loop = asyncio.get_running_loop()
        self._last = loop.time()
        self._has_large = self._has_large or size >= _LARGE_BYTES
        if not self._is_scheduled:
            self._is_scheduled = True
            loop.call_later(_TRIM_SECONDS, self._trim)

    def _trim(self) -> None:
        loop = asyncio.get_running_loop()
        if self._has_large:
            self._has_large = False
            _call_c_library("malloc_trim", 0)
        if loop.time() >= self._last + _IDLE_SECONDS:
            self._is_scheduled = False
            self._erasure = asyncio.create_task(self._erase())
        else:
            loop.call_later(_TRIM_SECONDS, self._trim)

    async def _erase(self) -> None:
        await overwrite_receive_buffer()
        self._free_memory.overwrite()


def _call_c_library(name: str, *arguments: int) -> None:
    """Call a function of the C library, if it has it."""
    if sys.platform == "linux":
        function = getattr(ctypes.CDLL(None), name, None)
        if function is not None:
            function(*arguments)


def collect_garbage() -> None:
    """Free cyclic garbage, and exempt the rest from later runs of the collector.

    The rest is what lives as long as the process: modules, and what the caches hold, such as rule sets. Examining it
    again takes longer with each rule set.
    """
    gc.collect()
    gc.freeze()
