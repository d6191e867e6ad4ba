"""Where a finding points: line, column and XPath, worked out when somebody asks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from einvoice.model import location
from einvoice.syntax.xml import Position, positions


class Places:
    """The places of one document that findings point at.

    All of them are worked out together: they cost one more scan of the document, however many are asked for. libxml2's
    own line is that of a start tag's end, and stops at 65,535.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._wanted: list[Any] = []
        self._steps: dict[Any, str] = {}
        self._starts: dict[Any, Position | None] = {}

    def at(self, node: Any, attribute: str | None = None) -> Location:
        """The location of an element of the document, or of one attribute of it."""
        self._wanted.append(node)
        return Location(self, node, attribute)

    def xpath(self, node: Any, attribute: str | None) -> str:
        """An XPath that selects the node and nothing else."""
        return location.xpath(node, attribute, self._steps)

    def start(self, node: Any) -> Position | None:
        """Where an element's start tag begins; None where nobody can tell."""
        if node not in self._starts:
            try:
                found: list[Position] = positions(self._data, self._wanted)
            except ValueError:  # a name that libxml2 takes (XML 1.0, fifth edition), but expat does not (fourth)
                found = []
            self._starts = dict.fromkeys(self._wanted) | dict(zip(self._wanted, found, strict=False))
        return self._starts[node]

    def order(self) -> dict[Any, int]:
        """The elements that findings point at, numbered as they stand in the document."""
        if len(self._wanted) < 2:
            return dict.fromkeys(self._wanted, 0)
        wanted = set(self._wanted)
        elements: Iterable[Any] = self._wanted[0].getroottree().getroot().iter()
        return {element: number for number, element in enumerate(elements) if element in wanted}


class Location:
    """A place in a document; the empty one, `NOWHERE`, stands for what is about no place in it."""

    __slots__ = ("_attribute", "_places", "node")

    def __init__(self, places: Places | None = None, node: Any = None, attribute: str | None = None) -> None:
        self._places = places
        self._attribute = attribute
        self.node = node

    @property
    def line(self) -> int | None:
        """The line on which the element's start tag begins, counted from 1; None without a place."""
        start = self._places.start(self.node) if self._places else None
        return location.line(self.node) if start is None else start.line

    @property
    def column(self) -> int | None:
        """The column of the element's start tag, counted from 1 in characters; None where nobody can tell."""
        start = self._places.start(self.node) if self._places else None
        return None if start is None else start.column

    @property
    def xpath(self) -> str:
        """An XPath that selects the place and nothing else, with the prefixes of `NAMESPACES`; "" without a place."""
        return "" if self._places is None else self._places.xpath(self.node, self._attribute)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Location):
            return NotImplemented
        return (self.line, self.xpath) == (other.line, other.xpath)

    def __hash__(self) -> int:
        return hash((self.line, self.xpath))

    def __reduce__(self) -> tuple[Any, ...]:
        return _Remembered, (self.line, self.column, self.xpath)

    def __repr__(self) -> str:
        return f"Location({self.xpath!r}, line {self.line})"


class _Remembered(Location):
    """A place in a document that is not here: of a finding that was copied, or came from another process."""

    __slots__ = ("_place",)

    def __init__(self, *place: Any) -> None:
        super().__init__()
        self._place = place

    @property
    def line(self) -> int | None:
        line: int | None = self._place[0]
        return line

    @property
    def column(self) -> int | None:
        column: int | None = self._place[1]
        return column

    @property
    def xpath(self) -> str:
        xpath: str = self._place[2]
        return xpath


def remembered(line: int | None, column: int | None, xpath: str) -> Location:
    """A place in a document that is not here, such as one that was written down."""
    return _Remembered(line, column, xpath)


NOWHERE = Location()
