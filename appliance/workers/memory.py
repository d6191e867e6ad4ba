"""Memory of the server and its workers."""

import asyncio
import ctypes
import gc
import sys
from typing import Final

_M_MMAP_THRESHOLD: Final = -3
_LARGE_BYTES: Final = 1 << 20
_TRIM_SECONDS: Final = 1.0


def return_large_blocks() -> None:
    """Make the C library return each freed block of a megabyte or more to the system at once.

    By default glibc keeps freed blocks of up to 32 MB for reuse: documents would stay in memory after the response.
    See mallopt(3). Does nothing where the C library is another one.
    """
    _call_c_library("mallopt", _M_MMAP_THRESHOLD, _LARGE_BYTES)


class MemoryTrimmer:
    """Returns freed pages to the system a moment after large uploads, which arrive in many small blocks.

    Without it, parts of a document would stay in memory until the next one overwrites them. See malloc_trim(3).
    """

    def __init__(self) -> None:
        self._is_scheduled = False

    def released(self, size: int) -> None:
        """Note that an upload of `size` bytes was released. Must be called in the event loop."""
        if size >= _LARGE_BYTES and not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_later(_TRIM_SECONDS, self._trim)

    def _trim(self) -> None:
        self._is_scheduled = False
        _call_c_library("malloc_trim", 0)


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
