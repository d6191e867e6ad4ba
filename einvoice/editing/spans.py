"""Byte spans of the markup of an XML document, measured by expat.

All offsets refer to the document in UTF-8 without byte order mark, as `einvoice.syntax.xml.transcode` returns it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple
from xml.parsers import expat

_START_TAG: Final = re.compile(rb"""<[^\s<>/="']++(?:[^<>"']++|"[^"]*+"|'[^']*+')*+>""")
_NAME: Final = re.compile(rb"""<([^\s<>/="']++)""")
_ATTRIBUTE: Final = re.compile(rb"""\s++([^\s<>/="']++)\s*+=\s*+("[^"]*+"|'[^']*+')""")
_CONTENT: Final = re.compile(rb"<!--.*?-->|<\?.*?\?>|(?:<!\[CDATA\[.*?\]\]>|[^<]++)+", re.DOTALL)
XML: Final = "http://www.w3.org/XML/1998/namespace"


class Span(NamedTuple):
    """An element: its start tag from `start` to `content`, its end tag from `close` to `end`.

    The end tag of an empty-element tag is empty.
    """

    start: int
    content: int
    close: int
    end: int

    @property
    def is_empty_tag(self) -> bool:
        """Whether the element is an empty-element tag such as <a/>."""
        return self.close == self.end


class Attribute(NamedTuple):
    """An attribute from `start`, the white space before its name, to `end`; its value begins at `value`.

    The value includes its quotation marks.
    """

    start: int
    value: int
    end: int


def measure(text: bytes) -> list[Span]:
    """Return the spans of all elements, in document order.

    Raises:
        ValueError: expat cannot parse the document: it has a document type declaration, or it is not well-formed.
    """
    spans: list[Span | None] = []
    starts: list[int] = []
    opened: list[int] = []
    parser = expat.ParserCreate("utf-8")

    def start(_name: str, _attributes: object) -> None:
        opened.append(len(spans))
        starts.append(parser.CurrentByteIndex)
        spans.append(None)

    def end(_name: str) -> None:
        number = opened.pop()
        first = starts[number]
        content = _end_of_start_tag(text, first)
        if text[content - 2 : content] == b"/>":
            spans[number] = Span(first, content, content, content)
        else:
            close = parser.CurrentByteIndex
            spans[number] = Span(first, content, close, text.index(b">", close) + 1)

    def reject(*_: object) -> None:
        raise ValueError("the document has a document type declaration")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = reject
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise ValueError(f"expat cannot parse the document: {error}") from None
    return [span for span in spans if span is not None]


def _end_of_start_tag(text: bytes, start: int) -> int:
    match = _START_TAG.match(text, start)
    if match is None:
        raise ValueError("the document is not well-formed")
    return match.end()


def name_end(text: bytes, span: Span) -> int:
    """Return the end of the name in the start tag."""
    match = _NAME.match(text, span.start)
    if match is None:
        raise ValueError("the span belongs to another document")
    return match.end()


def name(text: bytes, span: Span) -> bytes:
    """Return the name as in the document, with its prefix."""
    return text[span.start + 1 : name_end(text, span)]


def attributes(text: bytes, span: Span, namespaces: Mapping[str | None, str]) -> dict[str, Attribute]:
    """Return the attributes of an element by name as lxml writes it, without namespace declarations.

    Args:
        text: the document.
        span: the element.
        namespaces: its namespaces by prefix.
    """
    found: dict[str, Attribute] = {}
    for match in _attributes(text, span):
        prefix, _, local = match[1].decode("utf-8").rpartition(":")
        if prefix == "xmlns" or (not prefix and local == "xmlns"):
            continue
        uri = XML if prefix == "xml" else namespaces[prefix] if prefix else ""
        found[f"{{{uri}}}{local}" if uri else local] = Attribute(match.start(), match.start(2), match.end())
    return found


def namespaces(text: bytes, span: Span) -> dict[str, Attribute]:
    """Return the namespace declarations of an element by prefix, "" for the default namespace."""
    found: dict[str, Attribute] = {}
    for match in _attributes(text, span):
        prefix, _, local = match[1].decode("utf-8").rpartition(":")
        if prefix == "xmlns" or (not prefix and local == "xmlns"):
            found[local if prefix else ""] = Attribute(match.start(), match.start(2), match.end())
    return found


def attributes_end(text: bytes, span: Span) -> int:
    """Return the end of the last attribute or namespace declaration; without one, the end of the name."""
    return max((match.end() for match in _attributes(text, span)), default=name_end(text, span))


def _attributes(text: bytes, span: Span) -> Iterator[re.Match[bytes]]:
    position = name_end(text, span)
    while match := _ATTRIBUTE.match(text, position, span.content):
        yield match
        position = match.end()


def text_runs(text: bytes, span: Span) -> list[tuple[int, int]]:
    """Return the spans of the text of an element without children; comments and processing instructions divide it."""
    matches = _CONTENT.finditer(text, span.content, span.close)
    return [match.span() for match in matches if not match[0].startswith((b"<!--", b"<?"))]


def indentation(text: bytes, start: int) -> bytes:
    """Return the line break and blanks before a start tag; b"" if the tag does not begin its line."""
    blanks = start
    while text[blanks - 1 : blanks] in (b" ", b"\t"):
        blanks -= 1
    for line_break in (b"\r\n", b"\n", b"\r"):
        if text.endswith(line_break, 0, blanks):
            return text[blanks - len(line_break) : start]
    return b""
