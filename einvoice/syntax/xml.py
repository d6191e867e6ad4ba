"""Parses untrusted XML: no entities, no network access, bounded resources, errors with line and column.

`parse` rejects before it builds a tree:

- more bytes than the limit, empty input, formats other than XML, unsupported encodings;
- a document type declaration, and so all entities (XML 1.0, 2.8 and 4.2; "billion laughs", XXE);
- more elements or attributes than the limit, in all or of one element; nesting deeper than `MAX_DEPTH`;
- a namespace name longer than `MAX_NAMESPACE_BYTES`.

Comments and processing instructions are dropped, so that the text of an element is complete: `31<!-- -->4.86` is
314.86.
"""

import codecs
import os
import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, TypeAlias

from lxml import etree

from einvoice import errors
from einvoice.quotation import quote

MAX_DEPTH: Final = 256
"""Maximum depth of nested elements, libxml2's own limit. Invoices with extensions need less than 20."""

MAX_ATTRIBUTES: Final = 256
"""Maximum number of attributes and namespace declarations of an element: the time to validate them grows with its
square. The schemas allow fewer than 20 attributes, and documents declare fewer than 30 namespaces."""

MAX_NAMESPACE_BYTES: Final = 1000
"""Maximum length of a namespace name: it is part of the name of each of its elements, however many there are."""


class Limits(NamedTuple):
    """Maximum size of a document.

    Attributes:
        bytes: size of the file; the default is the limit of the HTTP interface, 10 MB.
        elements: number of elements, and of attributes; an invoice of 10,000 lines has about 300,000 elements. They
            are estimated from "<" and "=" before parsing, so tags in comments count too.
    """

    bytes: int = 10_485_760
    elements: int = 500_000


DEFAULT: Final = Limits()

Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO


def source_bytes(source: Source, limits: Limits = DEFAULT) -> tuple[bytes, str]:
    """Return the content of a path, bytes or binary file, and the file name without its folder.

    A `str` is a path, never content. The name is "" for bytes. At most one byte more than the limit is read.

    Raises:
        errors.TooLarge: more bytes than the limit.
        TypeError: XML as `str`, a file opened as text, or an object without bytes.
        OSError: the file cannot be read.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        data, name = bytes(source), ""
    elif isinstance(source, str | os.PathLike):
        if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
            raise TypeError("a str is a path; pass XML as bytes, such as text.encode('utf-8')")
        path = source if isinstance(source, Path) else Path(source)
        with path.open("rb", buffering=0) as file:
            data, name = _read(file, limits), path.name
    elif hasattr(source, "read"):
        given = getattr(source, "name", "")
        data, name = _read(source, limits), Path(given).name if isinstance(given, str) else ""
    else:
        raise TypeError(f"expected a path, bytes or a binary file, not {type(source).__name__}")
    if len(data) > limits.bytes:
        raise errors.TooLarge(limit=limits.bytes)
    return data, name


_PART: Final = 65_536


def _read(file: BinaryIO, limits: Limits) -> bytes:
    """Read at most one byte more than allowed; a raw file may return fewer bytes than requested."""
    data = bytearray()
    while len(data) <= limits.bytes:
        # Python allocates as many bytes as are requested.
        part = file.read(min(max(_PART, len(data)), limits.bytes + 1 - len(data)))
        if isinstance(part, str):
            raise TypeError("the file is open as text; open it with mode 'rb'")
        if not part:
            break
        data += part
    return bytes(data)


_BLANK: Final = b" \t\r\n"
_NOTHING: Final = _BLANK + b"\0" + codecs.BOM_UTF8 + codecs.BOM_UTF16
_ZIP: Final = b"PK\x03\x04"
_EMPTY_ZIP: Final = b"PK\x05\x06"
_SIGNATURES: Final = (
    (b"\x89PNG", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
    (_ZIP, "ZIP"),
    (b"\x1f\x8b", "GZIP"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Microsoft Office 97–2003"),
    (b"{\\rtf", "RTF"),
    (b"UNA", "EDIFACT"),
    (b"UNB+", "EDIFACT"),
    (b"{", "JSON"),
    (b"[", "JSON"),
)


def is_pdf(data: bytes) -> bool:
    """Return whether the bytes are a PDF, which may have up to 1024 bytes before its header, as PDF readers accept."""
    return data.find(b"%PDF-", 0, 1024) >= 0 and not data.startswith(_ZIP)  # a ZIP may contain a PDF as it is


def sniff(data: bytes) -> str:
    """Return the format of the bytes, detected from their beginning: "xml", "pdf", or a description.

    The description needs no translation: name of a format ("PNG"), else the first words in quotation marks, else the
    first bytes in hexadecimal.
    """
    if is_pdf(data):
        return "pdf"
    head = data[:1024]
    start = head.removeprefix(codecs.BOM_UTF8).lstrip(_BLANK)
    if not start.startswith(b"<?") and re.match(rb"(?i)<(!doctype\s+)?html\b", start):
        return "HTML"
    if start.startswith(b"<") or _byte_order(data):
        return "xml"
    for signature, name in _SIGNATURES:
        if start.startswith(signature):
            return name
    try:
        text = start[:60].decode("utf-8", "strict" if len(start) < 60 else "ignore")
    except UnicodeDecodeError:
        text = ""
    if text and all(char.isprintable() or char in "\t\r\n" for char in text):
        return f'"{quote(text)}"'
    return head[:8].hex(" ").upper()


def parse(data: bytes, limits: Limits = DEFAULT, *, keep_blanks: bool = True) -> etree._ElementTree:
    """Return the tree of an XML document, without comments and processing instructions.

    Lines (`sourceline`) are exact up to 65,535 and approximate beyond; `positions` returns exact lines and columns.

    Args:
        data: the document.
        limits: its maximum size.
        keep_blanks: False leaves out the white space before and after elements, a third of the nodes of an indented
            document. The text of an element without child elements stays as it is.

    Raises:
        errors.UnreadableDocument: one of its subclasses, with line and column if known.
    """
    if len(data) > limits.bytes:
        raise errors.TooLarge(limit=limits.bytes)
    if not data[:1024].strip(_NOTHING) and not data.strip(_NOTHING):  # a copy of a large file takes time
        raise errors.EmptyFile
    if data.startswith(_EMPTY_ZIP):
        raise errors.EmptyArchive
    found = sniff(data)
    if found != "xml":
        raise errors.UnsupportedFormat(found="PDF" if found == "pdf" else found)
    text = _utf8(data)
    _reject_doctype(text)
    _check_size(text, limits)
    if _may_have_long_tag(text):
        _check_attributes(text)
        _check_namespaces(text)
    if not keep_blanks and b"\r" in text:
        text = _with_line_feeds(text)
    # Without huge_tree libxml2 rejects text nodes over 10,000,000 bytes.
    huge = len(text) > 10_000_000
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=huge,
        remove_comments=True,
        remove_pis=True,
        remove_blank_text=not (keep_blanks or _has_markup(text)),
    )
    failure = None
    try:
        tree = etree.fromstring(text, parser).getroottree()
    except etree.XMLSyntaxError as error:
        failure = _parse_error(error, text)
    if failure is not None:
        raise failure  # outside the except block, since libxml2's error as context cannot be pickled
    if (huge or not _libxml2_limits_depth()) and (below := _too_deep(tree)):  # huge_tree disables libxml2's limit
        raise errors.TooDeep(limit=MAX_DEPTH, line=below[0].sourceline)
    return tree


def _too_deep(tree: etree._ElementTree) -> Any:
    """Return a list with the first element that is nested too deep, empty if there is none."""
    return tree.xpath("(" + "/*" * (MAX_DEPTH + 1) + ")[1]")


@cache
def _libxml2_limits_depth() -> bool:
    """Return whether libxml2 rejects one level more than `MAX_DEPTH`; older versions, as on Windows, accept it."""
    levels = MAX_DEPTH + 1
    try:
        etree.fromstring(b"<a>" * levels + b"</a>" * levels)
    except etree.XMLSyntaxError:
        return True
    return False


def _with_line_feeds(text: bytes) -> bytes:
    """Return a document with line feeds as its only line ends, as a parser reads it (XML 1.0, 2.11).

    A document that also has single carriage returns is returned as it is.
    """
    converted = text.replace(b"\r\n", b"\n")
    return text if b"\r" in converted else converted


def _has_markup(text: bytes) -> bool:
    """Return whether a document has comments, CDATA sections, processing instructions or single carriage returns.

    Before these, libxml2 also leaves out white space that belongs to a value. Most documents have none of them, and
    one byte is found faster than two.
    """
    start = text.find(b"?>") if text.startswith(b"<?") else 0
    return (
        b"\r" in text
        or (b"!" in text and b"<!" in text)
        or (text.find(b"?", start + 1) >= 0 and text.find(b"<?", start) >= 0)
    )


# Start tags of a well-formed document: no "<" is in text or in attribute values (XML 1.0, 2.4 and 3.1).
_TAG: Final = rb"(?s)<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|(<)[^/!?]"
_LINE_END: Final = rb"\r\n?|\n"  # XML 1.0, 2.11


class Position(NamedTuple):
    """Line and column in a document, counted from 1; columns in characters, without a byte order mark."""

    line: int
    column: int


def positions(data: bytes, elements: Sequence[etree._Element]) -> list[Position]:
    """Return the positions of the start tags of `elements`, which belong to the tree parsed from `data`.

    Scans the document again, so request all positions of a document in one call.

    Raises:
        ValueError: an element belongs to another document.
    """
    if not elements:
        return []
    wanted = set(elements)
    root = elements[0].getroottree().getroot()
    order = {element: n for n, element in enumerate(root.iter(etree.Element)) if element in wanted}
    text = _utf8(data)
    starts = [tag.start() for tag in re.finditer(_TAG, text) if tag[1]]
    try:
        return _positions(text, [starts[order[element]] for element in elements])
    except (KeyError, IndexError):
        raise ValueError("the elements belong to another document") from None


def _positions(text: bytes, offsets: Sequence[int]) -> list[Position]:
    """Return the positions of these offsets in a document in UTF-8; "\\r", "\\n" and both together end a line."""
    lines = [0, *(end.end() for end in re.finditer(_LINE_END, text))]
    found = []
    for offset in offsets:
        line = bisect_right(lines, offset)
        found.append(Position(line, len(text[lines[line - 1] : offset].decode("utf-8", "replace")) + 1))
    return found


# Encodings

_SUPPORTED: Final = {
    *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "ascii"),
    *(f"iso8859-{n}" for n in range(1, 17)),
    *(f"cp{n}" for n in range(1250, 1259)),
}
_DECLARED: Final = re.compile(rb"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)["']""")


_BYTE_ORDERS: Final = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"<\x00\x00\x00": "utf-32",
    b"\x00\x00\x00<": "utf-32",
    b"\x4c\x6f\xa7\x94": "ebcdic",
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
    b"<\x00": "utf-16-le",
    b"\x00<": "utf-16-be",
}
_ANY_BYTE_ORDER: Final = tuple(_BYTE_ORDERS)


def _byte_order(data: bytes) -> str:
    """Return the encoding detected from the first four bytes (XML 1.0, appendix F), or ""."""
    if not data.startswith(_ANY_BYTE_ORDER):
        return ""
    return next(name for signature, name in _BYTE_ORDERS.items() if data.startswith(signature))


def text(data: bytes) -> str:
    """Return the document as text.

    Raises:
        errors.UnreadableDocument: unsupported encoding.
    """
    return _utf8(data).decode("utf-8", "replace")


class Transcoded(NamedTuple):
    """A document in UTF-8, and how to restore its encoding.

    Attributes:
        utf8: the document without byte order mark; the encoding declaration remains.
        codec: Python's name of its encoding.
        mark: its byte order mark, or b"".
    """

    utf8: bytes
    codec: str
    mark: bytes

    def encode(self, utf8: bytes) -> bytes:
        """Return a changed document in the encoding of this one, with its byte order mark.

        A character that the encoding lacks becomes a character reference, so it may occur in content only.
        """
        is_utf8 = self.codec == "utf-8"
        return self.mark + (utf8 if is_utf8 else utf8.decode("utf-8").encode(self.codec, "xmlcharrefreplace"))


def transcode(data: bytes) -> Transcoded:
    """Return the document in UTF-8.

    Raises:
        errors.UnreadableDocument: unsupported or wrong encoding.
    """
    found = _byte_order(data)
    if found in ("utf-32", "ebcdic"):
        raise errors.UnsupportedEncoding(encoding=found.upper())
    text = _decoded(data, found, "UTF-16").encode("utf-8") if found else data
    marked = text.startswith(codecs.BOM_UTF8)
    text = text.removeprefix(codecs.BOM_UTF8)
    mark = "\ufeff".encode(found or "utf-8") if marked else b""
    match = _DECLARED.match(text, 0, 1024)
    if not match:
        return Transcoded(text, found or "utf-8", mark)
    declared = match[1].decode("ascii")
    codec = _codec(declared)
    fits = codec in ("utf-16", found) if found else not codec.startswith("utf-16")
    if not fits:
        # The declaration is wrong, as after a conversion. libxml2 ignores it, Saxon in the official validator stops.
        raise errors.EncodingMismatch(encoding=quote(declared), line=1, column=1)
    if found or marked or codec == "utf-8":
        return Transcoded(text, found or "utf-8", mark)
    return Transcoded(_decoded(text, codec, declared).encode("utf-8"), codec, b"")


def _utf8(data: bytes) -> bytes:
    """Return the document in UTF-8, without byte order mark; the encoding declaration remains."""
    return transcode(data).utf8


def _codec(declared: str) -> str:
    """Return Python's name of a declared encoding."""
    try:
        codec = codecs.lookup(declared).name
    except LookupError:
        codec = ""
    if codec not in _SUPPORTED:
        raise errors.UnsupportedEncoding(encoding=quote(declared))
    return codec


def _decoded(data: bytes, codec: str, name: str) -> str:
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        line, column = _position(data[: error.start].decode(codec, "ignore"))
        raise errors.EncodingMismatch(encoding=quote(name), line=line, column=column) from None


# Limits

_PROLOG: Final = rb"(?s)(?:(?>[ \t\r\n]+|<\?.*?\?>|<!--.*?-->))*+(?=<!DOCTYPE)"


def _reject_doctype(text: bytes) -> None:
    """Reject a DOCTYPE. It can only be in the prolog, so only the prolog is searched."""
    match = re.match(_PROLOG, text)
    if match:
        line, column = _position(text[: match.end()].decode("utf-8", "replace"))
        raise errors.DoctypeForbidden(line=line, column=column)


def _check_size(text: bytes, limits: Limits) -> None:
    """Reject too many elements or attributes; a small document cannot exceed the limit."""
    if len(text) <= 4 * limits.elements:  # the shortest element is <a/>
        return
    if max(text.count(b"<"), text.count(b"=")) <= limits.elements:  # the other counts take longer
        return
    elements = text.count(b"<") - text.count(b"</") - text.count(b"<!") - text.count(b"<?")
    if max(elements, text.count(b"=")) > limits.elements:
        raise errors.TooManyElements(limit=limits.elements)


_WINDOW: Final = min(5 * MAX_ATTRIBUTES, MAX_NAMESPACE_BYTES) // 2  # the shortest attribute is ' a=""'


def _may_have_long_tag(text: bytes) -> bool:
    """Return whether a start tag can have too many attributes or a namespace name that is too long.

    There is no "<" inside a tag, so such a tag contains one of these windows completely. Long texts do, too.
    """
    starts = range(0, len(text) - _WINDOW + 1, _WINDOW)
    return -1 in [text.find(b"<", start, start + _WINDOW) for start in starts]


_ATTRIBUTE: Final = rb"""\s++[^\s<>/="']++\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+')"""
_MANY_ATTRIBUTES: Final = rb"""<[^\s<>/="']++(?:%b){%d}""" % (_ATTRIBUTE, MAX_ATTRIBUTES + 1)


def _check_attributes(text: bytes) -> None:
    """Reject an element with too many attributes, before libxml2 reads them. Takes linear time."""
    if text.count(b"=") <= MAX_ATTRIBUTES:
        return
    match = re.search(_MANY_ATTRIBUTES, text)
    if match:
        line, column = _position(text[: match.start()].decode("utf-8", "replace"))
        raise errors.TooManyAttributes(limit=MAX_ATTRIBUTES, line=line, column=column)


_LONG_VALUE: Final = rb"""\s*+=\s*+(?:"[^"<]{%d}|'[^'<]{%d})""" % (MAX_NAMESPACE_BYTES + 1, MAX_NAMESPACE_BYTES + 1)
_LONG_NAMESPACE: Final = rb"xmlns[^\s<>/=]*+" + _LONG_VALUE
_IN_TAG: Final = rb"""<[^\s<>/="']++(?:%b)*?\s++xmlns(?::[^\s<>/=]++)?%b""" % (_ATTRIBUTE, _LONG_VALUE)


def _check_namespaces(text: bytes) -> None:
    """Reject a namespace name that is too long. The faster searches before the last one also find other content."""
    match = _has_long_tag(text) and re.search(_LONG_NAMESPACE, text) and re.search(_IN_TAG, text)
    if match:
        line, column = _position(text[: match.start()].decode("utf-8", "replace"))
        raise errors.NamespaceTooLong(limit=MAX_NAMESPACE_BYTES, line=line, column=column)


def _has_long_tag(text: bytes) -> bool:
    """Return whether more bytes than a namespace name may have follow an "xmlns" before the next "<"."""
    start = text.find(b"xmlns")
    while start >= 0:
        end = text.find(b"<", start)
        if (end if end >= 0 else len(text)) - start > MAX_NAMESPACE_BYTES:
            return True
        start = text.find(b"xmlns", end) if end >= 0 else -1
    return False


# Errors

_RESOURCE_LIMIT: Final = 114
"""XML_ERR_RESOURCE_LIMIT of libxml2, which lxml names since 6.1."""
_MISMATCH: Final = r"tag mismatch: (?P<opened>\S+) line (?P<line>\d+) and (?P<closed>\S+)"


def _parse_error(error: etree.XMLSyntaxError, text: bytes) -> errors.UnreadableDocument:
    """Return the exception for libxml2's error, by its number (xmlerror.h) and, if ambiguous, its message."""
    kinds = etree.ErrorTypes
    message = error.msg.rpartition(", line ")[0].strip()
    line, column = error.position
    number: int = error.code  # type: ignore[attr-defined]  # the stubs lack it
    if number in (_RESOURCE_LIMIT, kinds.ERR_INTERNAL_ERROR) and "depth" in message:
        return errors.TooDeep(limit=MAX_DEPTH, line=line, column=column)
    mismatch = re.search(_MISMATCH, message)
    if mismatch:
        opened, opened_line, closed = mismatch.groups()
        names = {"opened": quote(opened), "closed": quote(closed)}
        return errors.TagMismatch(**names, opened_line=int(opened_line), line=line, column=column)
    if number == kinds.ERR_UNDECLARED_ENTITY or "EntityRef: no name" in message:
        return errors.BadReference(line=line, column=column)
    if number != kinds.NS_ERR_UNDEFINED_NAMESPACE and (line, column) >= _end(text):
        return errors.TruncatedXml(line=line, column=column)
    if "EntityRef" in message:
        return errors.BadReference(line=line, column=column)
    if number == kinds.ERR_INVALID_ENCODING or "not proper UTF-8" in message:  # before libxml2 2.13
        return errors.EncodingMismatch(encoding="UTF-8", line=line, column=column)
    if number == kinds.ERR_INVALID_CHAR:
        return errors.ForbiddenCharacter(line=line, column=column)
    if number == kinds.ERR_RESERVED_XML_NAME:
        return errors.MisplacedDeclaration(line=line, column=column)
    return errors.NotWellFormed(reason=quote(message), line=line, column=column)


def _end(text: bytes) -> Position:
    """Return the position after the last complete character."""
    return _position(text.decode("utf-8", "ignore"))


def _position(before: str) -> Position:
    """Return the position after the text `before`."""
    before = before.removeprefix("\ufeff")  # a byte order mark is not part of the text
    return Position(before.count("\n") + 1, len(before) - before.rfind("\n"))
