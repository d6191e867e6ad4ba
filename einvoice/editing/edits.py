"""Edits of an XML document that leave all other bytes unchanged.

    edits = [SetText("/ubl:Invoice/cbc:DocumentCurrencyCode", "EUR")]
    data = apply(data, edits)

White space, line ends, order of attributes, prefixes, comments, CDATA sections, character references, byte order mark
and XML declaration remain as they are. XPaths are those of `Finding.xpath`, with the prefixes of `einvoice.NAMESPACES`;
all XPaths refer to the original document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from lxml import etree

from einvoice.editing import spans
from einvoice.editing.finder import Finder
from einvoice.editing.insertion import Insertions, in_scope
from einvoice.editing.moving import Moves
from einvoice.editing.serialization import EditError, escape_text, quoted
from einvoice.editing.spans import Span
from einvoice.model.location import NAMESPACES
from einvoice.syntax import xml

_WORD: Final = re.compile("(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class SetText:
    """Replace the text of an element without children; comments in it remain."""

    xpath: str
    text: str


@dataclass(frozen=True, slots=True)
class SetAttribute:
    """Set an attribute, named as by lxml; a new one becomes the last attribute of its element."""

    xpath: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class RemoveAttribute:
    """Remove an attribute with the white space before it."""

    xpath: str
    name: str


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove an element with its content and indentation."""

    xpath: str


@dataclass(frozen=True, slots=True)
class Rename:
    """Give an element another name, such as "cbc:ID"; its content and attributes remain."""

    xpath: str
    name: str


@dataclass(frozen=True, slots=True)
class RenameAttribute:
    """Give an attribute another name, as lxml writes it; its value remains."""

    xpath: str
    name: str
    new: str


@dataclass(frozen=True, slots=True)
class SetNamespace:
    """Declare another namespace for a prefix of an element, "" for the default namespace."""

    xpath: str
    prefix: str
    uri: str


@dataclass(frozen=True, slots=True)
class Move:
    """Move an element, with its bytes and indentation, to its place in the sequence of the XML schema."""

    xpath: str


@dataclass(frozen=True, slots=True)
class Insert:
    """Insert an element, with those of its ancestors that are missing.

    The position is that in the sequence of the XML schema. Edits of one call that name the same missing ancestor insert
    it once.

    Attributes:
        parent: XPath of an existing element.
        path: names from there, such as ("cac:Party", "cbc:EndpointID"). A name with a number is a further element of
            that name: ("cac:TaxTotal", "cac:TaxSubtotal[2]", "cbc:TaxAmount") inserts a second VAT breakdown, or into
            it if it exists. The last element must not exist.
        text: its text.
        attributes: its attributes.
    """

    parent: str
    path: tuple[str, ...]
    text: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)


Edit: TypeAlias = (
    SetText | SetAttribute | RemoveAttribute | Remove | Rename | RenameAttribute | SetNamespace | Move | Insert
)


def as_dict(edit: Edit) -> dict[str, Any]:
    """Return an edit as plain data, ready for JSON: its kind, such as "set_text", its XPath and the new content."""
    kind = _WORD.sub("_", type(edit).__name__).lower()
    if not isinstance(edit, Insert):
        return {"edit": kind, **asdict(edit)}
    content = {"path": [*edit.path], "text": edit.text, "attributes": dict(edit.attributes)}
    return {"edit": kind, "xpath": edit.parent, **content}


def apply(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Return the document with the edits, in its encoding.

    A character that the encoding lacks is written as a character reference. Equal edits count once.

    Raises:
        EditError: an edit does not fit the document, or two edits contradict each other.
        errors.UnreadableDocument: the document cannot be read.
    """
    requested = list(dict.fromkeys(edits))
    if not requested:
        return data
    source = xml.transcode(data)
    editor = _Editor(source.utf8, xml.parse(data).getroot())
    elements = [editor.element(edit.parent if isinstance(edit, Insert) else edit.xpath) for edit in requested]
    for edit, element in zip(requested, elements, strict=True):
        editor.add(edit, element)
    return source.encode(editor.result())


class _Patch(NamedTuple):
    """Bytes to replace; an insertion if `start` equals `end`."""

    start: int
    end: int
    content: bytes


_TEXT: Final = "text()"
_NAME: Final = "name()"
_PLACE: Final = "position()"


class _Editor:
    """Collects the patches for one document."""

    def __init__(self, text: bytes, root: Any) -> None:
        self._text = text
        self._root = root
        self._finder = Finder(root)
        elements = list(root.iter(etree.Element))
        try:
            self._spans: dict[Any, Span] = dict(zip(elements, spans.measure(text), strict=True))
        except ValueError as error:
            raise EditError(f"the document cannot be edited: {error}") from None
        self._patches: list[_Patch] = []
        self._set: dict[tuple[Any, str], str] = {}
        self._insertions = Insertions(text, root, self._spans)
        self._moves = Moves(text, self._spans)

    def element(self, xpath: str) -> Any:
        """Return the element that an XPath selects; to be called before an edit is added."""
        try:
            found = self._finder.find(xpath)
        except etree.XPathError as error:
            raise EditError(f"invalid XPath {xpath!r}: {error}") from None
        if not isinstance(found, list) or len(found) != 1 or found[0] not in self._spans:
            raise EditError(f"{xpath} does not select exactly one element of the document")
        return found[0]

    def add(self, edit: Edit, element: Any) -> None:
        """Add an edit of an element; the element of an insertion is its parent."""
        match edit:
            case Insert():
                self._insertions.add(element, edit.path, edit.text, edit.attributes)
            case SetText():
                self._claim(element, _TEXT, edit.xpath)
                self._set_text(element, edit)
            case SetAttribute():
                self._claim(element, f"@{edit.name}", edit.xpath)
                self._set_attribute(element, edit)
            case RemoveAttribute():
                self._claim(element, f"@{edit.name}", edit.xpath)
                self._remove_attribute(element, edit)
            case Remove():
                self._remove(element, edit)
            case Rename():
                self._claim(element, _NAME, edit.xpath)
                self._rename(element, edit)
            case RenameAttribute():
                self._claim(element, f"@{edit.name}", edit.xpath)
                self._rename_attribute(element, edit)
            case SetNamespace():
                self._claim(element, f"xmlns:{edit.prefix}", edit.xpath)
                self._set_namespace(element, edit)
            case Move():
                self._claim(element, _PLACE, edit.xpath)
                self._moves.add(element)

    def result(self) -> bytes:
        """Return the document with all patches."""
        for element, what in self._set:
            if what == _TEXT and len(element):
                raise EditError(f"{self._set[element, what]} has child elements; its text cannot be set")
        others = (*self._moves.patches(), *self._insertions.patches())
        patches = sorted([*self._patches, *map(_Patch._make, others)], key=lambda it: it[:2])
        parts, position = [], 0
        for patch in patches:
            if patch.start < position:
                line = self._text.count(b"\n", 0, patch.start) + 1
                raise EditError(f"two edits contradict each other: both change line {line}")
            parts += [self._text[position : patch.start], patch.content]
            position = patch.end
        return b"".join([*parts, self._text[position:]])

    def _claim(self, element: Any, what: str, xpath: str) -> None:
        if (element, what) in self._set:
            raise EditError(f"two edits contradict each other: both change {xpath}/{what}")
        self._set[element, what] = xpath

    def _patch(self, start: int, end: int, content: bytes = b"") -> None:
        self._patches.append(_Patch(start, end, content))

    def _set_text(self, element: Any, edit: SetText) -> None:
        content, span = escape_text(edit.text), self._spans[element]
        if len(element) or (element.text or "") == edit.text:
            return  # for children see result()
        if span.is_empty_tag:
            end = spans.attributes_end(self._text, span)
            self._patch(end, span.end, b">" + content + b"</" + spans.name(self._text, span) + b">")
            return
        first, *others = spans.text_runs(self._text, span) or [(span.content, span.content)]
        self._patch(*first, content)
        for run in others:
            self._patch(*run)

    def _set_attribute(self, element: Any, edit: SetAttribute) -> None:
        span = self._spans[element]
        known = spans.attributes(self._text, span, element.nsmap).get(edit.name)
        if known is None:
            name = in_scope(edit.name, element.nsmap, is_attribute=True)
            end = spans.attributes_end(self._text, span)
            self._patch(end, end, name.declaration + b" " + name.written + b"=" + quoted(edit.value))
        elif element.get(edit.name) != edit.value:
            mark = self._text[known.value : known.value + 1]
            self._patch(known.value, known.end, quoted(edit.value, mark))

    def _remove_attribute(self, element: Any, edit: RemoveAttribute) -> None:
        known = spans.attributes(self._text, self._spans[element], element.nsmap).get(edit.name)
        if known is None:
            raise EditError(f"{edit.xpath} has no attribute {edit.name}")
        self._patch(known.start, known.end)

    def _rename(self, element: Any, edit: Rename) -> None:
        prefix, _, local = edit.name.partition(":")
        if prefix not in NAMESPACES:
            raise EditError(f"{edit.name!r} is not the name of an element, such as 'cbc:ID'")
        name, span = in_scope(f"{{{NAMESPACES[prefix]}}}{local}", element.nsmap), self._spans[element]
        end = spans.name_end(self._text, span)
        length = end - span.start - len(b"<")
        self._patch(span.start + len(b"<"), end, name.written + name.declaration)
        if not span.is_empty_tag:
            start = span.close + len(b"</")
            self._patch(start, start + length, name.written)

    def _rename_attribute(self, element: Any, edit: RenameAttribute) -> None:
        known = spans.attributes(self._text, self._spans[element], element.nsmap)
        attribute = known.get(edit.name)
        if attribute is None or edit.new in known:
            raise EditError(f"{edit.xpath} has no attribute {edit.name}, or it has {edit.new}")
        name = in_scope(edit.new, element.nsmap, is_attribute=True)
        value = self._text[attribute.value : attribute.end]
        self._patch(attribute.start, attribute.end, name.declaration + b" " + name.written + b"=" + value)

    def _set_namespace(self, element: Any, edit: SetNamespace) -> None:
        declared = spans.namespaces(self._text, self._spans[element]).get(edit.prefix)
        if declared is None:
            raise EditError(f"{edit.xpath} declares no namespace for the prefix '{edit.prefix}'")
        mark = self._text[declared.value : declared.value + 1]
        self._patch(declared.value, declared.end, quoted(edit.uri, mark))

    def _remove(self, element: Any, edit: Remove) -> None:
        if element is self._root:
            raise EditError(f"{edit.xpath} is the root element; it cannot be removed")
        span = self._spans[element]
        self._patch(span.start - len(spans.indentation(self._text, span.start)), span.end)
