"""Reading XML from strangers: no entities, no network, bounded, and errors that say where.

`parse` is the one way in. What it refuses, it refuses before a tree is built:

- more bytes than the limit, empty input, what is neither XML nor in a supported encoding;
- a document type declaration, and with it every entity (XML 1.0, 2.8 and 4.2; "billion laughs", XXE);
- more elements or attributes than the limit; nesting deeper than `MAX_DEPTH`.

Comments and processing instructions are dropped, so that an element's text is whole: `31<!-- -->4.86` reads 314.86.
"""

import codecs
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, TypeAlias
from xml.parsers import expat

from lxml import etree

from einvoice import errors

MAX_DEPTH: Final = 256
"""Elements in elements: libxml2's own bound, kept while it parses. Invoices with all their extensions stay under 20."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a document is read.

    Attributes:
        bytes: size of the file; the default is the 10 MB of the HTTP interface.
        elements: elements, and likewise attributes; an invoice of 10,000 lines has about 300,000 elements. They are
            counted by their signs, before they can cost anything: a tag in a comment counts too, and every "=".
    """

    bytes: int = 10_485_760
    elements: int = 500_000


DEFAULT: Final = Limits()

Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO


def source_bytes(source: Source, limits: Limits = DEFAULT) -> tuple[bytes, str]:
    """Return the content of a path, of bytes or of an open binary file, and the file's name without its folder.

    A `str` is a path, never content. The name is "" where there is none. No more than the limit is read.

    Raises:
        errors.TooLarge: more bytes than the limit.
        TypeError: XML handed over as `str`, a file opened as text, or something else that holds no bytes.
        OSError: Python's own, such as FileNotFoundError.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        data, name = bytes(source), ""
    elif isinstance(source, str | os.PathLike):
        if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
            raise TypeError("A str is taken for a path; hand XML over as bytes, such as text.encode('utf-8').")
        path = Path(source)
        with path.open("rb") as file:
            data, name = _read(file, limits), path.name
    elif hasattr(source, "read"):
        given = getattr(source, "name", "")
        data, name = _read(source, limits), Path(given).name if isinstance(given, str) else ""
    else:
        raise TypeError(f"Expected a path, bytes or a binary file, not {type(source).__name__}.")
    if len(data) > limits.bytes:
        raise errors.TooLarge(limit=limits.bytes)
    return data, name


def _read(file: BinaryIO, limits: Limits) -> bytes:
    """Read one byte more than allowed at most; a raw file may answer in portions."""
    data = bytearray()
    while len(data) <= limits.bytes:
        part = file.read(limits.bytes + 1 - len(data))
        if isinstance(part, str):
            raise TypeError("The file is open as text; open it as binary, with mode 'rb'.")
        if not part:
            break
        data += part
    return bytes(data)


_BLANK: Final = b" \t\r\n"
_NOTHING: Final = _BLANK + b"\0" + codecs.BOM_UTF8 + codecs.BOM_UTF16
_SIGNATURES: Final = (
    (b"\x89PNG", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
    (b"PK\x03\x04", "ZIP"),
    (b"\x1f\x8b", "GZIP"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Microsoft Office 97–2003"),
    (b"{\\rtf", "RTF"),
    (b"UNA", "EDIFACT"),
    (b"UNB+", "EDIFACT"),
    (b"{", "JSON"),
    (b"[", "JSON"),
)


def sniff(data: bytes) -> str:
    """Say what the bytes are, from their beginning: "xml", "pdf", or what else they look like.

    The third answer needs no translation: the name of a format ("PNG"), else the first words in quotation marks, else
    the first bytes in hexadecimal. A PDF may have up to 1024 bytes before its header, as readers accept it.
    """
    head = data[:1024]
    if b"%PDF-" in head:
        return "pdf"
    start = head.removeprefix(codecs.BOM_UTF8).lstrip(_BLANK)
    if re.match(rb"(?i)<(!doctype\s+)?html\b", start):
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
        return f'"{errors.quote(text)}"'
    return head[:8].hex(" ").upper()


def parse(data: bytes, limits: Limits = DEFAULT) -> etree._ElementTree:
    """Return the tree of an XML document, without comments and processing instructions.

    Lines (`sourceline`) are exact up to 65,535 and near beyond; `positions` gives exact lines and columns.

    Raises:
        errors.UnreadableDocument: one of its subclasses, see there; with line and column where there is a place.
    """
    if len(data) > limits.bytes:
        raise errors.TooLarge(limit=limits.bytes)
    if not data.strip(_NOTHING):
        raise errors.EmptyFile
    found = sniff(data)
    if found != "xml":
        raise errors.UnsupportedFormat(found="PDF" if found == "pdf" else found)
    text = _utf8(data)
    _refuse_doctype(text)
    _count(text, limits)
    # libxml2 takes no text node over 10,000,000 bytes unless told that huge ones are welcome.
    huge = len(text) > 10_000_000
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=huge,
        remove_comments=True,
        remove_pis=True,
    )
    wrong = None
    try:
        tree = etree.fromstring(text, parser).getroottree()
    except etree.XMLSyntaxError as error:
        wrong = _explained(error, text)
    if wrong is not None:
        raise wrong  # out here, without libxml2's error as its context: that cannot travel between processes
    if huge and tree.xpath("boolean(" + "/*" * (MAX_DEPTH + 1) + ")"):  # then libxml2's bound is not ours
        raise errors.TooDeep(limit=MAX_DEPTH)
    return tree


class Position(NamedTuple):
    """A place in a document: line and column, from 1, the column in characters (a byte order mark is none)."""

    line: int
    column: int


def positions(data: bytes, elements: Sequence[etree._Element]) -> list[Position]:
    """Return where the start tags of `elements`, of the tree parsed from `data`, begin.

    The document is scanned once more, so ask for all places of a document together, and only when somebody asks.

    Raises:
        ValueError: an element that the document does not have.
    """
    if not elements:
        return []
    wanted = set(elements)
    root = elements[0].getroottree().getroot()
    order = {element: n for n, element in enumerate(root.iter(etree.Element)) if element in wanted}
    starts: list[Position] = []
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = lambda name, attributes: starts.append(
        Position(parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)
    )
    try:
        parser.Parse(_utf8(data), True)
        return [starts[order[element]] for element in elements]
    except (expat.ExpatError, KeyError, IndexError):
        raise ValueError("The elements are not those of this document.") from None


# Encodings

_READ: Final = {
    *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "ascii"),
    *(f"iso8859-{n}" for n in range(1, 17)),
    *(f"cp{n}" for n in range(1250, 1259)),
}
_DECLARED: Final = re.compile(rb"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)["']""")


def _byte_order(data: bytes) -> str:
    """Return the encoding that the first four bytes give away (XML 1.0, appendix F), or ""."""
    for signature, name in (
        (b"\xff\xfe\x00\x00", "utf-32"),
        (b"\x00\x00\xfe\xff", "utf-32"),
        (b"<\x00\x00\x00", "utf-32"),
        (b"\x00\x00\x00<", "utf-32"),
        (b"\x4c\x6f\xa7\x94", "ebcdic"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
        (b"<\x00", "utf-16-le"),
        (b"\x00<", "utf-16-be"),
    ):
        if data.startswith(signature):
            return name
    return ""


def text(data: bytes) -> str:
    """The document as text, as it was written.

    Raises:
        errors.UnreadableDocument: it is in no supported encoding.
    """
    return _utf8(data).decode("utf-8", "replace")


def _utf8(data: bytes) -> bytes:
    """Return the document in UTF-8, whatever it was in, without byte order mark; it keeps its encoding declaration."""
    found = _byte_order(data)
    if found in ("utf-32", "ebcdic"):
        raise errors.UnsupportedEncoding(encoding=found.upper())
    text = _decoded(data, found, "UTF-16").encode("utf-8") if found else data
    marked = text.startswith(codecs.BOM_UTF8)
    text = text.removeprefix(codecs.BOM_UTF8)
    match = _DECLARED.match(text, 0, 1024)
    if not match:
        return text
    declared = match[1].decode("ascii")
    codec = _codec(declared)
    fits = codec in ("utf-16", found) if found else not codec.startswith("utf-16")
    if not fits:
        # A converter kept the old declaration. libxml2 overlooks it, Saxon under the official validator stops.
        raise errors.EncodingMismatch(encoding=errors.quote(declared), line=1, column=1)
    if found or marked or codec == "utf-8":
        return text
    return _decoded(text, codec, declared).encode("utf-8")


def _codec(declared: str) -> str:
    """Return Python's name of a declared encoding."""
    try:
        codec = codecs.lookup(declared).name
    except LookupError:
        codec = ""
    if codec not in _READ:
        raise errors.UnsupportedEncoding(encoding=errors.quote(declared))
    return codec


def _decoded(data: bytes, codec: str, name: str) -> str:
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        line, column = _place(data[: error.start].decode(codec, "ignore"))
        raise errors.EncodingMismatch(encoding=errors.quote(name), line=line, column=column) from None


# Bounds

_PROLOG: Final = re.compile(rb"(?:(?>[ \t\r\n]+|<\?.*?\?>|<!--.*?-->))*+(?=<!DOCTYPE)", re.DOTALL)


def _refuse_doctype(text: bytes) -> None:
    """Refuse a DOCTYPE. It can only stand before the root element, so no more than the prolog is looked at."""
    match = _PROLOG.match(text)
    if match:
        line, column = _place(text[: match.end()].decode("utf-8", "replace"))
        raise errors.DoctypeForbidden(line=line, column=column)


def _count(text: bytes, limits: Limits) -> None:
    """Refuse too many elements or attributes, where the size allows for so many at all."""
    if len(text) <= 4 * limits.elements:  # the shortest element is <a/>
        return
    elements = text.count(b"<") - text.count(b"</") - text.count(b"<!") - text.count(b"<?")
    if max(elements, text.count(b"=")) > limits.elements:
        raise errors.TooManyElements(limit=limits.elements)


# Errors

_MISMATCH: Final = re.compile(r"tag mismatch: (?P<opened>\S+) line (?P<line>\d+) and (?P<closed>\S+)")


def _explained(error: etree.XMLSyntaxError, text: bytes) -> errors.UnreadableDocument:
    """Turn libxml2's error into one of ours, by its number (xmlerror.h) and, where one number has two causes, words."""
    kinds = etree.ErrorTypes
    message = error.msg.rpartition(", line ")[0].strip()
    line, column = error.position
    number: int = error.code  # type: ignore[attr-defined]  # the stubs lack it
    if number == kinds.ERR_RESOURCE_LIMIT and "depth" in message:
        return errors.TooDeep(limit=MAX_DEPTH, line=line, column=column)
    mismatch = _MISMATCH.search(message)
    if mismatch:
        opened, opened_line, closed = mismatch.groups()
        names = {"opened": errors.quote(opened), "closed": errors.quote(closed)}
        return errors.TagMismatch(**names, opened_line=int(opened_line), line=line, column=column)
    if number == kinds.ERR_UNDECLARED_ENTITY or "EntityRef: no name" in message:
        return errors.BadReference(line=line, column=column)
    if number != kinds.NS_ERR_UNDEFINED_NAMESPACE and (line, column) >= _end(text):
        return errors.TruncatedXml(line=line, column=column)
    if "EntityRef" in message:
        return errors.BadReference(line=line, column=column)
    if number == kinds.ERR_INVALID_ENCODING:
        return errors.EncodingMismatch(encoding="UTF-8", line=line, column=column)
    if number == kinds.ERR_INVALID_CHAR:
        return errors.ForbiddenCharacter(line=line, column=column)
    if number == kinds.ERR_RESERVED_XML_NAME:
        return errors.MisplacedDeclaration(line=line, column=column)
    return errors.NotWellFormed(reason=errors.quote(message), line=line, column=column)


def _end(text: bytes) -> Position:
    """Return the place behind the last character; a character that is cut in two does not count."""
    return _place(text.decode("utf-8", "ignore"))


def _place(before: str) -> Position:
    """Return the place that follows the text `before`."""
    before = before.removeprefix("\ufeff")  # a byte order mark is no character of the text
    return Position(before.count("\n") + 1, len(before) - before.rfind("\n"))
