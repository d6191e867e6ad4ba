"""Shares of key holders in an artifact store, so that none can fill it for the others.

A holder may have stored as much as is left: a single one half of the store, each of two a third, and so on.
"""

import math
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from appliance.artifacts.store import ShareExceeded, StoreError

ROW_BYTES: Final = 512
"""Size of a row without its content, in the table and its indexes."""

NO_ROOM: Final = "the artifact store has reached its maximum size"
SHARE_REACHED: Final = "a key has reached its share of the artifact store"


class HolderShares:
    """Counts the bytes stored for each holder. Safe for threads.

    Args:
        capacity: size of the store in bytes.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()
        self._total = 0
        self._refused_bytes = math.inf

    @contextmanager
    def adding(self, holder: str, size: int) -> Iterator[None]:
        """Count content of `size` bytes that is being stored; uncount it after an exception.

        Raises:
            ShareExceeded: the holder has stored too much for that.
            StoreError: there is no room, whoever stores it.
        """
        self._add(holder, size + ROW_BYTES)
        try:
            yield
        except BaseException:
            self._uncount(holder, size)
            raise

    def refuse(self, size: int) -> None:
        """Refuse content of this size or more until something is removed: the pages of the file leave no room for it.

        To find that out takes ten times as long as to refuse it.
        """
        with self._lock:
            self._refused_bytes = min(self._refused_bytes, size + ROW_BYTES)

    def allow(self) -> None:
        """Try content of any size again: pages of the file were freed."""
        self._refused_bytes = math.inf

    def _add(self, holder: str, size: int) -> None:
        with self._lock:
            held, left = self._held[holder] + size, self._capacity - self._total - size
            if left < 0 or size >= self._refused_bytes:
                raise StoreError(NO_ROOM)
            if held > left:
                raise ShareExceeded(SHARE_REACHED)
            self._held[holder] = held
            self._total += size

    def remove(self, holder: str, size: int) -> None:
        """Uncount content that was removed."""
        self._uncount(holder, size)
        self.allow()

    def _uncount(self, holder: str, size: int) -> None:
        size += ROW_BYTES
        with self._lock:
            self._total -= size
            self._held[holder] -= size
            if self._held[holder] <= 0:
                del self._held[holder]

    def reset(self, stored: Iterable[tuple[str, int]]) -> None:
        """Count anew; `stored` has holder and size of all content."""
        held: Counter[str] = Counter()
        for holder, size in stored:
            held[holder] += size + ROW_BYTES
        with self._lock:
            self._held, self._total = held, held.total()
        self.allow()
