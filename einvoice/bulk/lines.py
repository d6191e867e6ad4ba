"""Compressed records, names and paths of many files."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, overload

_BLOCK: Final = 256
"""Number of records that are compressed together."""


class Lines(Sequence[bytes]):
    """Records in their order, each a line of JSON without a line ending. They are similar, so they compress well.

    Memory: about 0.2 kB per record. Iterating decompresses each block once; an index, the block that it is in.

    Args:
        lines: the records.
        separator: bytes that no record contains.
    """

    def __init__(self, lines: Iterable[bytes] = (), *, separator: bytes = b"\n") -> None:
        self._separator = separator
        self._blocks: list[bytes] = []
        self._last: list[bytes] = []  # not yet a complete block
        self._cached: tuple[int, list[bytes]] = (-1, [])
        self.extend(lines)

    def extend(self, lines: Iterable[bytes]) -> None:
        """Append records."""
        for line in lines:
            self.append(line)

    def append(self, line: bytes) -> None:
        """Append a record."""
        self._last.append(line)
        if len(self._last) == _BLOCK:
            self._blocks.append(zlib.compress(self._separator.join(self._last), 1))
            self._last = []

    def __len__(self) -> int:
        return len(self._blocks) * _BLOCK + len(self._last)

    def __iter__(self) -> Iterator[bytes]:
        for block in self._blocks:
            yield from self._decompressed(block)
        yield from self._last

    @overload
    def __getitem__(self, key: int) -> bytes: ...
    @overload
    def __getitem__(self, key: slice) -> list[bytes]: ...
    def __getitem__(self, key: int | slice) -> bytes | list[bytes]:
        positions = range(len(self))[key]
        if isinstance(positions, range):
            return [self._line(position) for position in positions]
        return self._line(positions)

    def _line(self, position: int) -> bytes:
        number, index = divmod(position, _BLOCK)
        if number == len(self._blocks):
            return self._last[index]
        cached, lines = self._cached  # read once: another thread may replace it
        if cached != number:
            lines = self._decompressed(self._blocks[number])
            self._cached = (number, lines)
        return lines[index]

    def _decompressed(self, block: bytes) -> list[bytes]:
        return zlib.decompress(block).split(self._separator)
