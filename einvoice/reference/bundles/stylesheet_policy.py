"""Rejects schemas and stylesheets that include, import or read anything outside their folder.

The static check here rejects access to the network and to other folders. At run time, a stylesheet without further
files may read no files at all (`einvoice.reference.process.saxon`). A stylesheet with further files may read files, so
it is rejected if the files it reads are only known at run time.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from lxml import etree

from einvoice.errors import UnreadableDocument
from einvoice.quotation import quote
from einvoice.reference.bundles.errors import BundleRejected
from einvoice.reference.bundles.expressions import FileAccess, bound_variables, file_accesses
from einvoice.syntax import xml

_XSL: Final = "{http://www.w3.org/1999/XSL/Transform}"
_XSD: Final = "{http://www.w3.org/2001/XMLSchema}"
_BASE: Final = "{http://www.w3.org/XML/1998/namespace}base"
_INCLUDES: Final = (f"{_XSL}include", f"{_XSL}import")
_DECLARES: Final = (f"{_XSL}param", f"{_XSL}variable")
_READ_FILES: Final = tuple(f"{_XSL}{name}" for name in ("evaluate", "source-document", "merge-source", "use-package"))
_MAX_SCANNED: Final = 10_000_000
"""Maximum number of characters scanned per attribute or text; text after several braces counts once per brace."""


def resolve(uri: str, file: Path, folder: Path) -> Path:
    """Return the file in `folder` that a URI in `file` refers to.

    Raises:
        BundleRejected: the file is outside of `folder`, or does not exist.
    """
    parts = urlsplit(uri)
    path = (file.parent / unquote(parts.path)).resolve() if parts.path else file.resolve()
    if parts.scheme or parts.netloc or parts.path.startswith("/") or not path.is_relative_to(folder.resolve()):
        raise BundleRejected("remote", file=file.name, path=quote(uri, limit=200))
    if not path.is_file():
        raise BundleRejected("missing", file=file.name, path=quote(uri, limit=200))
    return path


def check_stylesheet(path: Path, folder: Path) -> bool:
    """Return whether a stylesheet needs further files, included ones or ones it reads at run time.

    Raises:
        BundleRejected: a file is outside of `folder`, does not exist, or is only known at run time.
    """
    scan = _StylesheetScan(folder)
    scan.scan_file(path.resolve())
    dynamic = scan.dynamic_access()
    if scan.required and dynamic:
        raise BundleRejected("unknowable", file=path.name, what=dynamic)
    return bool(scan.required)


def check_schema(path: Path, folder: Path) -> None:
    """Check that an XML schema imports only files in its folder.

    Raises:
        BundleRejected: a file is outside of the folder, or does not exist.
    """
    files = [path.resolve()]
    for file in files:
        for element in _schema_root(file).iter(f"{_XSD}import", f"{_XSD}include", f"{_XSD}redefine"):
            location = element.get("schemaLocation")
            imported = resolve(location, file, folder) if location else file
            if imported not in files:
                files.append(imported)


class _StylesheetScan:
    """Collects the files that a stylesheet and its included files access."""

    def __init__(self, folder: Path) -> None:
        self.required: set[Path] = set()
        self._folder = folder
        self._scanned: set[Path] = set()
        self._dynamic: list[FileAccess] = []
        self._empty_parameters: set[str] = set()
        self._declared: Counter[str] = Counter()
        self._bound: set[str] = set()

    def scan_file(self, file: Path) -> None:
        """Scan a file and the files that it includes."""
        if file in self._scanned:
            return
        self._scanned.add(file)
        root = _root(file)
        expands = any(str(name).endswith("expand-text") for element in root.iter("*") for name in element.attrib)
        for element in root.iter("*"):
            self._element(element, file)
            for text in (element.text, element.tail) if expands else ():
                self._expression(text or "", element, file)

    def dynamic_access(self) -> str:
        """Return a function or instruction that reads a file only known at run time; "" if there is none.

        A global parameter that is never set is empty. SchXslt's stylesheets pass such a parameter to `document`.
        """
        empty = {name for name in self._empty_parameters - self._bound if self._declared[name] == 1}
        return next((access.function for access in self._dynamic if access.variable not in empty), "")

    def _element(self, element: etree._Element, file: Path) -> None:
        if element.tag in _INCLUDES:
            included = resolve(element.get("href", ""), file, self._folder)
            self.required.add(included)
            self.scan_file(included)
        elif element.tag in _READ_FILES:
            self._dynamic.append(FileAccess(etree.QName(element).localname))
        elif element.tag in _DECLARES:
            name = element.get("name", "").strip()
            self._declared[name] += 1
            is_global = element.getparent() is element.getroottree().getroot()
            has_value = element.get("select") or len(element) or element.text
            if is_global and element.tag == _DECLARES[0] and not has_value:
                self._empty_parameters.add(name)
        for attribute, value in element.attrib.items():
            name = str(attribute)
            if name == _BASE or (str(element.tag).startswith(_XSL) and name.startswith("_")):
                raise BundleRejected("unknowable", file=file.name, what=etree.QName(name).localname)
            self._expression(str(value), element, file)

    def _expression(self, value: str, element: etree._Element, file: Path) -> None:
        """Scan an attribute or a text: an XPath, or a template with XPaths in braces."""
        starts = [0, *(number for number, char in enumerate(value, 1) if char == "{")]
        if len(starts) * len(value) > _MAX_SCANNED:
            self._dynamic.append(FileAccess("{"))
            return
        for expression in (value[start:] for start in starts):
            self._bound.update(bound_variables(expression))
            for access in file_accesses(expression, element.nsmap):
                if access.uri is None:
                    self._dynamic.append(access)
                else:
                    self.required.add(resolve(access.uri, file, self._folder))


def _root(file: Path) -> etree._Element:
    try:
        return xml.parse(xml.source_bytes(file)[0]).getroot()
    except UnreadableDocument as error:
        raise BundleRejected("damaged", file=file.name, reason=str(error)) from None


def _schema_root(file: Path) -> etree._Element:
    """Parse a schema; unlike other files it may have a DOCTYPE, as the schema of XML Signature does."""
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True)
    try:
        return etree.fromstring(xml.source_bytes(file)[0], parser)
    except (UnreadableDocument, etree.XMLSyntaxError) as error:
        raise BundleRejected("damaged", file=file.name, reason=str(error)) from None
