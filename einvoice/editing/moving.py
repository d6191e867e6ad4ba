"""Moves elements to the position that the XML schema requires, byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lxml import etree

from einvoice.editing.serialization import EditError
from einvoice.editing.spans import Span, indentation
from einvoice.syntax import schema
from einvoice.syntax.schema.files import ROOTS

TRAILING_COMMENTS: Final = re.compile(rb"(?:[ \t]*+<!--(?:(?!-->)[^\r\n])*+-->)++")
"""Comments in the line of an element, behind it."""


class Moves:
    """The elements to move in one document."""

    def __init__(self, text: bytes, known: Mapping[Any, Span]) -> None:
        self._text = text
        self._spans = known
        self._moved: list[Any] = []

    def add(self, element: Any) -> None:
        """Add an element.

        Raises:
            EditError: the schema prescribes no place for it.
        """
        parent = element.getparent()
        if parent is None or element.tag not in ranks(parent):
            raise EditError(f"the schema has no place for {element.tag} in its parent")
        self._moved.append(element)

    def patches(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield start, end and content of the places that elements leave and where they are inserted."""
        for parent in dict.fromkeys(element.getparent() for element in self._moved):
            rank = ranks(parent)
            moved = [child for child in parent if child in self._moved]
            for element in sorted(moved, key=lambda it: rank[it.tag]):
                span = self._spans[element]
                start = span.start - len(indentation(self._text, span.start))
                place = self._place(parent, element, rank)
                yield start, span.end, b""
                yield place, place, self._text[start : span.end]

    def _place(self, parent: Any, element: Any, rank: Mapping[str, int]) -> int:
        """Return the offset behind the last sibling that does not come after the element in the schema."""
        before = None
        for child in parent:
            is_there = child in self._spans and child not in self._moved  # another edit may insert a sibling
            if is_there and rank.get(child.tag, len(rank)) <= rank[element.tag]:
                before = child
        if before is None:
            return self._spans[parent].content
        end = self._spans[before].end
        match = (
            TRAILING_COMMENTS.match(self._text, end) if indentation(self._text, self._spans[element].start) else None
        )
        return match.end() if match else end


def ranks(parent: Any) -> Mapping[str, int]:
    """Return the position of each child in the sequence of the XML schema, by tag; empty if it has no sequence."""
    root = etree.QName(parent.getroottree().getroot()).localname
    sequence = schema.content_models(root).sequence_of(parent) if root in ROOTS else ()
    return {particle.tag: rank for rank, particle in enumerate(sequence)}
