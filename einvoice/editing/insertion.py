"""Inserts elements at the position that the XML schema requires, with the document's prefixes and indentation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from lxml import etree

from einvoice.editing import spans
from einvoice.editing.moving import TRAILING_COMMENTS
from einvoice.editing.serialization import EditError, escape_text, quoted
from einvoice.editing.spans import XML, Span, indentation
from einvoice.model.location import NAMESPACES
from einvoice.syntax import schema
from einvoice.syntax.schema.content_model import ContentModels, Sequence
from einvoice.syntax.schema.files import ROOTS

_STEP: Final = re.compile(r"(?P<prefix>[^:\[\]]+):(?P<local>[^:\[\]]+)(?:\[(?P<number>[1-9][0-9]*)\])?")
_LOCAL_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*")
_PREFIXES: Final = {uri: prefix for prefix, uri in {**NAMESPACES, "xml": XML}.items()}


class Name(NamedTuple):
    """A name as written in a document, and the namespace declaration that it needs or b""."""

    written: bytes
    declaration: bytes
    namespaces: Mapping[str | None, str]


def in_scope(tag: str, namespaces: Mapping[str | None, str], *, is_attribute: bool = False) -> Name:
    """Return how to write a name, given as by lxml, where these namespaces are declared.

    Raises:
        EditError: it is not a name.
    """
    uri, _, local = tag.rpartition("}")
    uri = uri[1:]
    if not _LOCAL_NAME.fullmatch(local):
        raise EditError(f"{tag!r} is not a name in XML")
    if is_attribute and not uri:
        return Name(local.encode(), b"", namespaces)
    usual = _PREFIXES.get(uri, "ns")
    prefixes = [prefix for prefix, known in namespaces.items() if known == uri and (prefix or not is_attribute)]
    if prefixes:
        prefix = usual if usual in prefixes else min(prefixes, key=lambda it: it or "")
        return Name(f"{prefix}:{local}".encode() if prefix else local.encode(), b"", namespaces)
    while usual in namespaces:
        usual += "1"
    declared = b"" if usual == "xml" else f" xmlns:{usual}=".encode() + quoted(uri)
    return Name(f"{usual}:{local}".encode(), declared, {**namespaces, usual: uri})


class Insertions:
    """The elements to insert into one document.

    They are added to the parsed tree, which thereby gives their order and the elements beside them.
    """

    def __init__(self, text: bytes, root: Any, known: Mapping[Any, Span]) -> None:
        self._text = text
        self._root = root
        self._spans = known
        self._contents: dict[Any, tuple[str, Mapping[str, str]]] = {}
        self._models: ContentModels | None = None

    def add(self, parent: Any, path: tuple[str, ...], text: str, attributes: Mapping[str, str]) -> None:
        """Add an element with its missing ancestors.

        Raises:
            EditError: the path is invalid, or the element exists.
        """
        if not path:
            raise EditError("an insertion needs the name of an element")
        element, is_new = parent, False
        for step in path:
            element, is_new = self._child(element, step)
        if not is_new and (element in self._spans or text or attributes):
            raise EditError(f"{'/'.join(path)} cannot be inserted: it exists")
        if is_new:
            self._contents[element] = (text, attributes)

    def patches(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield start, end and content of each place where elements are inserted."""
        for element in self._contents:
            previous = element.getprevious()
            if element.getparent() in self._spans and (previous is None or previous in self._spans):
                yield self._patch(element)

    def _child(self, parent: Any, step: str) -> tuple[Any, bool]:
        """Return the child for a step of a path, and whether it was added."""
        match = _STEP.fullmatch(step)
        uri = NAMESPACES.get(match["prefix"]) if match else None
        if match is None or uri is None:
            raise EditError(f"{step!r} is not the name of an element, such as 'cbc:ID' or 'cac:TaxSubtotal[2]'")
        tag, number = f"{{{uri}}}{match['local']}", int(match["number"] or 1)
        existing = parent.findall(tag)
        if number <= len(existing):
            return existing[number - 1], False
        if number > len(existing) + 1:
            raise EditError(f"{step} cannot be inserted: there are only {len(existing)} of these elements")
        child = etree.Element(tag)
        parent.insert(self._index(parent, tag), child)
        self._contents[child] = ("", {})
        return child, True

    def _index(self, parent: Any, tag: str) -> int:
        """Return the index of a new child: behind the last one that does not come after it in the schema."""
        ranks = {particle.tag: rank for rank, particle in enumerate(self._sequence(parent))}
        if tag not in ranks:
            return len(parent)
        before = [n for n, child in enumerate(parent) if ranks.get(child.tag, len(ranks)) <= ranks[tag]]
        return before[-1] + 1 if before else 0

    def _sequence(self, parent: Any) -> Sequence:
        if self._models is None:
            root = etree.QName(self._root).localname
            if root not in ROOTS:
                return ()
            self._models = schema.content_models(root)
        return self._models.sequence_of(parent)

    def _patch(self, first: Any) -> tuple[int, int, bytes]:
        """Return the patch that inserts an element and the inserted ones that follow it."""
        group = [first]
        while (following := group[-1].getnext()) is not None and following not in self._spans:
            group.append(following)
        parent, previous, text = first.getparent(), first.getprevious(), self._text
        span, neighbour = self._spans[parent], previous
        if neighbour is None:
            neighbour = following
        outer = indentation(text, span.start)
        if neighbour is None:
            inner = outer + self._unit() if outer else b""
        else:
            inner = indentation(text, self._spans[neighbour].start)
        unit = inner[len(outer) :] if outer and inner.startswith(outer) and inner != outer else self._unit()
        content = b"".join(inner + self._written(it, parent.nsmap, inner, unit) for it in group)
        if previous is not None:
            end = self._spans[previous].end
            match = TRAILING_COMMENTS.match(text, end) if inner else None
            end = match.end() if match else end
            return end, end, content
        if span.is_empty_tag:
            start = spans.attributes_end(text, span)
            return start, span.end, b">" + content + outer + b"</" + spans.name(text, span) + b">"
        is_closed = neighbour is not None or indentation(text, span.close)
        return span.content, span.content, content if is_closed else content + outer

    def _unit(self) -> bytes:
        """Return the blanks by which a level is indented: those of the first level."""
        first = next((child for child in self._root if child in self._spans), None)
        start = self._spans[self._root if first is None else first].start
        return indentation(self._text, start).lstrip(b"\r\n") or b"  "

    def _written(self, element: Any, namespaces: Mapping[str | None, str], inner: bytes, unit: bytes) -> bytes:
        """Return an inserted element as XML; `inner` is its indentation, b"" for a document without line breaks."""
        name = in_scope(element.tag, namespaces)
        scope = name.namespaces
        start = name.written + name.declaration
        text, attributes = self._contents[element]
        for key, value in attributes.items():
            attribute = in_scope(key, scope, is_attribute=True)
            start += attribute.declaration + b" " + attribute.written + b"=" + quoted(value)
            scope = attribute.namespaces
        deeper = inner + unit if inner else b""
        children = b"".join(deeper + self._written(child, scope, deeper, unit) for child in element)
        content = children + inner if children else escape_text(text)
        return b"<" + start + (b">" + content + b"</" + name.written + b">" if content else b"/>")
