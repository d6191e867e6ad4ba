"""The files to validate: a name and a content each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias, overload

from einvoice.bulk.lines import Lines
from einvoice.bulk.record import Row
from einvoice.errors import UnreadableDocument

Content: TypeAlias = "bytes | str | UnreadableDocument | Row"
"""Bytes of a file, its path, why it cannot be read, or its row of an earlier run."""

_SEPARATOR: Final = b"\xff"
"""Separates texts in a block: no text contains this byte in UTF-8, whatever its characters."""
_NO_PATH: Final = b""


class Item(NamedTuple):
    """A file to validate: its name in the results, and its content."""

    name: str
    content: Content


class Contents(Sequence[Content]):
    """Contents in their order; paths are compressed, others are kept as they are."""

    def __init__(self) -> None:
        self._paths = Lines(separator=_SEPARATOR)
        self._others: dict[int, Content] = {}

    def append(self, content: Content) -> None:
        """Append a content."""
        if isinstance(content, str):
            self._paths.append(_encoded(content))
        else:
            self._others[len(self)] = content
            self._paths.append(_NO_PATH)

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[Content]:
        for position, path in enumerate(self._paths):
            yield _decoded(path) if path else self._others[position]

    @overload
    def __getitem__(self, key: int) -> Content: ...
    @overload
    def __getitem__(self, key: slice) -> list[Content]: ...
    def __getitem__(self, key: int | slice) -> Content | list[Content]:
        positions = range(len(self))[key]
        if isinstance(positions, range):
            return [self[position] for position in positions]
        path = self._paths[positions]
        return _decoded(path) if path else self._others[positions]


class Items(Sequence[Item]):
    """Files in their order.

    Memory: about 10 bytes per path if paths are similar; an object of each would take 500 bytes.
    """

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._names = Lines(separator=_SEPARATOR)
        self._contents = Contents()
        for item in items:
            self._names.append(_encoded(item.name))
            self._contents.append(item.content)

    @classmethod
    def of(cls, names: Iterable[str], contents: Contents) -> Items:
        """Return the files with these names and contents."""
        items = cls()
        items._names.extend(map(_encoded, names))
        items._contents = contents
        return items

    def names(self) -> Iterator[str]:
        """Yield the names."""
        return map(_decoded, self._names)

    def find(self, name: str) -> Item | None:
        """Return the first file with this name; None if there is none."""
        sought = _encoded(name)
        position = next((position for position, it in enumerate(self._names) if it == sought), None)
        return None if position is None else self[position]

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[Item]:
        return map(Item, self.names(), self._contents)

    @overload
    def __getitem__(self, key: int) -> Item: ...
    @overload
    def __getitem__(self, key: slice) -> list[Item]: ...
    def __getitem__(self, key: int | slice) -> Item | list[Item]:
        positions = range(len(self))[key]
        if isinstance(positions, range):
            return [self[position] for position in positions]
        return Item(_decoded(self._names[positions]), self._contents[positions])


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # filenames that are not UTF-8 have surrogates


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogatepass")
