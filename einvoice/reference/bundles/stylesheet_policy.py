"""Nothing that is added reaches out of its folder: not what it includes or imports, and not what it reads at work.

Two things hold a stylesheet back. Here its text is read, and what reaches for the network or for other folders is
refused. At work one that has no files of its own to read is given none at all
(`einvoice.reference.process.saxon`); so one that reads, and whose reads cannot be known beforehand, is refused too.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from lxml import etree

from einvoice.errors import UnreadableDocument, quote
from einvoice.reference.bundles.errors import BundleRejected
from einvoice.reference.bundles.expressions import Read, bound, reads
from einvoice.syntax import xml

_XSL: Final = "{http://www.w3.org/1999/XSL/Transform}"
_XSD: Final = "{http://www.w3.org/2001/XMLSchema}"
_BASE: Final = "{http://www.w3.org/XML/1998/namespace}base"
_INCLUDES: Final = (f"{_XSL}include", f"{_XSL}import")
_DECLARES: Final = (f"{_XSL}param", f"{_XSL}variable")
_READS: Final = tuple(f"{_XSL}{name}" for name in ("evaluate", "source-document", "merge-source", "use-package"))
_MOST: Final = 10_000_000
"""So many characters of one attribute or text are looked at, those behind several braces as often."""


def inside(uri: str, file: Path, folder: Path) -> Path:
    """Return the file of `folder` that a URI in `file` means.

    Raises:
        BundleRejected: it lies elsewhere, or is not there.
    """
    parts = urlsplit(uri)
    path = (file.parent / unquote(parts.path)).resolve() if parts.path else file.resolve()
    if parts.scheme or parts.netloc or parts.path.startswith("/") or not path.is_relative_to(folder.resolve()):
        raise BundleRejected("remote", file=file.name, path=quote(uri, limit=200))
    if not path.is_file():
        raise BundleRejected("missing", file=file.name, path=quote(uri, limit=200))
    return path


def check_stylesheet(path: Path, folder: Path) -> bool:
    """Return whether a stylesheet needs files beside its own: such as it includes, or reads while it runs.

    Raises:
        BundleRejected: one of them lies elsewhere or is not there, or it cannot be known which they are.
    """
    found = _Stylesheet(folder)
    found.look(path.resolve())
    unknowable = found.unknowable()
    if found.needed and unknowable:
        raise BundleRejected("unknowable", file=path.name, what=unknowable)
    return bool(found.needed)


def check_schema(path: Path, folder: Path) -> None:
    """See to it that an XML schema imports files of its folder only.

    Raises:
        BundleRejected: one of them lies elsewhere, or is not there.
    """
    files = [path.resolve()]
    for file in files:
        for element in _schema_root(file).iter(f"{_XSD}import", f"{_XSD}include", f"{_XSD}redefine"):
            location = element.get("schemaLocation")
            found = inside(location, file, folder) if location else file
            if found not in files:
                files.append(found)


class _Stylesheet:
    """What a stylesheet, and what it includes, reaches for."""

    def __init__(self, folder: Path) -> None:
        self.needed: set[Path] = set()
        self._folder = folder
        self._looked: set[Path] = set()
        self._reads: list[Read] = []
        self._unset: set[str] = set()
        self._declared: Counter[str] = Counter()
        self._bound: set[str] = set()

    def look(self, file: Path) -> None:
        """Look at a file, and at those that it includes."""
        if file in self._looked:
            return
        self._looked.add(file)
        root = _root(file)
        expands = any(str(name).endswith("expand-text") for element in root.iter("*") for name in element.attrib)
        for element in root.iter("*"):
            self._element(element, file)
            for text in (element.text, element.tail) if expands else ():
                self._expression(text or "", element, file)

    def unknowable(self) -> str:
        """A function or an instruction that reads what cannot be known beforehand, "" if there is none.

        A parameter that nobody gives a value is known: it is empty. SchXslt's stylesheets ask for such a document.
        """
        unset = {name for name in self._unset - self._bound if self._declared[name] == 1}
        return next((read.function for read in self._reads if read.variable not in unset), "")

    def _element(self, element: etree._Element, file: Path) -> None:
        if element.tag in _INCLUDES:
            included = inside(element.get("href", ""), file, self._folder)
            self.needed.add(included)
            self.look(included)
        elif element.tag in _READS:
            self._reads.append(Read(etree.QName(element).localname))
        elif element.tag in _DECLARES:
            name = element.get("name", "").strip()
            self._declared[name] += 1
            top = element.getparent() is element.getroottree().getroot()
            if top and element.tag == _DECLARES[0] and not (element.get("select") or len(element) or element.text):
                self._unset.add(name)
        for attribute, value in element.attrib.items():
            name = str(attribute)
            if name == _BASE or (str(element.tag).startswith(_XSL) and name.startswith("_")):
                raise BundleRejected("unknowable", file=file.name, what=etree.QName(name).localname)
            self._expression(str(value), element, file)

    def _expression(self, value: str, element: etree._Element, file: Path) -> None:
        """Look at an attribute or a text, be it an expression as a whole, or a template with some in braces."""
        starts = [0, *(number for number, sign in enumerate(value, 1) if sign == "{")]
        if len(starts) * len(value) > _MOST:
            self._reads.append(Read("{"))
            return
        for expression in (value[start:] for start in starts):
            self._bound.update(bound(expression))
            for read in reads(expression, element.nsmap):
                if read.uri is None:
                    self._reads.append(read)
                else:
                    self.needed.add(inside(read.uri, file, self._folder))


def _root(file: Path) -> etree._Element:
    try:
        return xml.parse(xml.source_bytes(file)[0]).getroot()
    except UnreadableDocument as error:
        raise BundleRejected("damaged", file=file.name, reason=str(error)) from None


def _schema_root(file: Path) -> etree._Element:
    """Unlike all else a schema may have a DOCTYPE: that of XML signatures has one, with entities of its own."""
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True)
    try:
        return etree.fromstring(xml.source_bytes(file)[0], parser)
    except (UnreadableDocument, etree.XMLSyntaxError) as error:
        raise BundleRejected("damaged", file=file.name, reason=str(error)) from None
