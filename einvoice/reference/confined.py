"""Nothing that is added reaches out of its folder: not what it includes or imports, and not what it reads at work.

Two things hold a stylesheet back. Here its text is read, and what reaches for the network or for other folders is
refused. At work one that has no files of its own to read is given none at all (`einvoice.reference.saxon`); so one
that reads, and whose reads cannot be known beforehand, is refused too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from lxml import etree

from einvoice.errors import UnreadableDocument, quote
from einvoice.reference.expressions import reads
from einvoice.reference.refused import ConfigurationRefused
from einvoice.syntax import xml

_XSL: Final = "{http://www.w3.org/1999/XSL/Transform}"
_XSD: Final = "{http://www.w3.org/2001/XMLSchema}"
_BASE: Final = "{http://www.w3.org/XML/1998/namespace}base"
_OTHERS: Final = tuple(f"{_XSL}{name}" for name in ("evaluate", "source-document", "merge-source", "use-package"))
_MOST: Final = 10_000_000
"""So many characters of one attribute or text are looked at, those behind several braces as often."""


def inside(uri: str, file: Path, folder: Path) -> Path:
    """Return the file of `folder` that a URI in `file` means.

    Raises:
        ConfigurationRefused: it lies elsewhere, or is not there.
    """
    parts = urlsplit(uri)
    path = (file.parent / unquote(parts.path)).resolve()
    if parts.scheme or parts.netloc or parts.path.startswith("/") or not path.is_relative_to(folder.resolve()):
        raise ConfigurationRefused("remote", file=file.name, path=quote(uri, most=200))
    if not path.is_file():
        raise ConfigurationRefused("missing", file=file.name, path=quote(uri, most=200))
    return path


def check_stylesheet(path: Path, folder: Path) -> bool:
    """Return whether a stylesheet needs files beside its own: such as it includes, or reads while it runs.

    Raises:
        ConfigurationRefused: one of them lies elsewhere or is not there, or it cannot be known which they are.
    """
    needed: set[Path] = set()
    unknowable: dict[str, str] = {}
    files = [path.resolve()]
    for file in files:  # grows by what they include
        for what, uri in _reached(_root(file), file):
            if uri is None:
                unknowable.setdefault(what, file.name)
                continue
            found = inside(uri, file, folder)
            needed.add(found)
            if what == "include" and found not in files:
                files.append(found)
    for what, name in unknowable.items():
        if needed:
            raise ConfigurationRefused("unknowable", file=name, what=what)
    return bool(needed)


def check_schema(path: Path, folder: Path) -> None:
    """See to it that an XML schema imports files of its folder only.

    Raises:
        ConfigurationRefused: one of them lies elsewhere, or is not there.
    """
    files = [path.resolve()]
    for file in files:
        for element in _schema_root(file).iter(f"{_XSD}import", f"{_XSD}include", f"{_XSD}redefine"):
            location = element.get("schemaLocation")
            found = inside(location, file, folder) if location else file
            if found not in files:
                files.append(found)


def _reached(root: etree._Element, file: Path) -> Iterator[tuple[str, str | None]]:
    """What a stylesheet reaches for, and by which means: a URI, None where it cannot be known."""
    expands = any(str(name).endswith("expand-text") for element in root.iter("*") for name in element.attrib)
    for element in root.iter("*"):
        namespaces: Mapping[str | None, str] = element.nsmap
        if element.tag in (f"{_XSL}include", f"{_XSL}import"):
            yield "include", element.get("href", "")
        elif element.tag in _OTHERS:
            yield etree.QName(element).localname, None
        for name, value in element.attrib.items():
            if str(name) == _BASE or (str(element.tag).startswith(_XSL) and str(name).startswith("_")):
                raise ConfigurationRefused("unknowable", file=file.name, what=etree.QName(name).localname)
            yield from _read_by(str(value), namespaces)
        for text in (element.text, element.tail) if expands else ():
            yield from _read_by(text or "", namespaces)


def _read_by(value: str, namespaces: Mapping[str | None, str]) -> Iterator[tuple[str, str | None]]:
    """What an attribute or a text reads, be it an expression as a whole, or a template with some in braces."""
    starts = (0, *(number for number, sign in enumerate(value, 1) if sign == "{"))
    if len(starts) * len(value) > _MOST:
        yield "{", None
        return
    for start in starts:
        yield from reads(value[start:], namespaces)


def _root(file: Path) -> etree._Element:
    try:
        return xml.parse(xml.source_bytes(file)[0]).getroot()
    except UnreadableDocument as error:
        raise ConfigurationRefused("damaged", file=file.name, reason=str(error)) from None


def _schema_root(file: Path) -> etree._Element:
    """Unlike all else a schema may have a DOCTYPE: that of XML signatures has one, with entities of its own."""
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True)
    try:
        return etree.fromstring(xml.source_bytes(file)[0], parser)
    except (UnreadableDocument, etree.XMLSyntaxError) as error:
        raise ConfigurationRefused("damaged", file=file.name, reason=str(error)) from None
