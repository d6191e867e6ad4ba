"""Location of a finding: line, column and XPath, computed on first access."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from einvoice.model import location
from einvoice.syntax.xml import Position, positions


class Places:
    """The locations of all findings in one document.

    Lines and columns are computed for all of them in one additional scan of the document: libxml2 reports the line
    where the start tag ends, and no line above 65,535.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._nodes: list[Any] = []
        self._steps: dict[Any, str] = {}
        self._starts: dict[Any, Position] = {}

    def at(self, node: Any, attribute: str | None = None) -> Location:
        """Return the location of an element, or of one of its attributes."""
        self._nodes.append(node)
        return Location(self, node, attribute)

    def xpath(self, node: Any, attribute: str | None) -> str:
        """Return an XPath that selects exactly this node."""
        return location.xpath(node, attribute, self._steps)

    def start(self, node: Any) -> Position:
        """Return the position of the start tag of an element."""
        if node not in self._starts:
            self._starts = dict(zip(self._nodes, positions(self._data, self._nodes), strict=True))
        return self._starts[node]

    def order(self) -> dict[Any, int]:
        """Return the elements of all locations with their rank in document order."""
        if len(self._nodes) < 2:
            return dict.fromkeys(self._nodes, 0)
        nodes = set(self._nodes)
        elements: Iterable[Any] = self._nodes[0].getroottree().getroot().iter()
        return {element: number for number, element in enumerate(elements) if element in nodes}


class Location:
    """A location in a document; `NOWHERE` is the location of a finding about the document as a whole."""

    __slots__ = ("_attribute", "_places", "node")

    def __init__(self, places: Places | None = None, node: Any = None, attribute: str | None = None) -> None:
        self._places = places
        self._attribute = attribute
        self.node = node

    @property
    def line(self) -> int | None:
        """Line of the start tag, counted from 1; None if there is no location."""
        return self._places.start(self.node).line if self._places else None

    @property
    def column(self) -> int | None:
        """Column of the start tag, counted from 1 in characters; None if there is no location."""
        return self._places.start(self.node).column if self._places else None

    @property
    def xpath(self) -> str:
        """XPath that selects exactly this location (prefixes: `NAMESPACES`); "" if there is no location."""
        return "" if self._places is None else self._places.xpath(self.node, self._attribute)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Location):
            return NotImplemented
        return (self.line, self.xpath) == (other.line, other.xpath)

    def __hash__(self) -> int:
        return hash((self.line, self.xpath))

    def __reduce__(self) -> tuple[Any, ...]:
        return _StoredLocation, (self.line, self.column, self.xpath)

    def __repr__(self) -> str:
        return f"Location({self.xpath!r}, line {self.line})"


class _StoredLocation(Location):
    """A location without its document, as in an unpickled or stored finding."""

    __slots__ = ("_values",)

    def __init__(self, *values: Any) -> None:
        super().__init__()
        self._values = values

    @property
    def line(self) -> int | None:
        line: int | None = self._values[0]
        return line

    @property
    def column(self) -> int | None:
        column: int | None = self._values[1]
        return column

    @property
    def xpath(self) -> str:
        xpath: str = self._values[2]
        return xpath


def stored_location(line: int | None, column: int | None, xpath: str) -> Location:
    """Return a location without its document, for example for a stored finding."""
    return _StoredLocation(line, column, xpath)


NOWHERE = Location()
