"""Memory of the server and its workers."""

import ctypes
import gc
import sys
from typing import Final

_M_MMAP_THRESHOLD: Final = -3
_LARGE_BYTES: Final = 1 << 20


def return_large_blocks() -> None:
    """Make the C library return each freed block of a megabyte or more to the system at once.

    By default glibc keeps freed blocks of up to 32 MB for reuse: documents would stay in memory after the response.
    See mallopt(3). Does nothing where the C library is another one.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)


def collect_garbage() -> None:
    """Free cyclic garbage, and exempt the rest from later runs of the collector.

    The rest is what lives as long as the process: modules, and what the caches hold, such as rule sets. Examining it
    again takes longer with each rule set.
    """
    gc.collect()
    gc.freeze()
