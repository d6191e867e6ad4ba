"""Reads a sheet from a file, within limits, and compiles it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from einvoice.errors import DoctypeForbidden, UnreadableDocument
from einvoice.model.location import NAMESPACES
from einvoice.quotation import quote
from einvoice.schematron.errors import NotCompilable
from einvoice.schematron.program import Program
from einvoice.schematron.sheets import iso, xslt
from einvoice.schematron.sheets.names import SCHEMATRON, SVRL, XSL
from einvoice.schematron.sheets.sheet import Sheet
from einvoice.schematron.tree import Document
from einvoice.schematron.xpath.compiled import as_boolean
from einvoice.schematron.xpath.compiler import Scope, compile_text
from einvoice.schematron.xpath.frame import Frame, Run
from einvoice.syntax import xml

_LIMITS: Final = xml.Limits(bytes=64 << 20, elements=2_000_000)
_NAMES: Final = tuple(name.strip("{}").encode() for name in (SCHEMATRON, SVRL))
_OF_SYNTAX: Final = {"rsm": "exists(/rsm:CrossIndustryInvoice)", "cbc": "exists(/ubl:Invoice | /cn:CreditNote)"}
"""XPath that matches all invoices in a syntax, by the prefix of a namespace that only it has."""


def read(path: Path, folder: Path | None = None) -> Sheet:
    """Read a sheet.

    Args:
        path: its file.
        folder: the folder with the files that it may include; None for none.

    Raises:
        NotCompilable: it is no sheet, or includes a file from elsewhere.
        OSError: it cannot be opened.
    """
    root = _root(path.read_bytes())
    if root.tag in (f"{XSL}stylesheet", f"{XSL}transform"):
        return xslt.read(root)
    if root.tag == f"{SCHEMATRON}schema":
        return iso.read(root, folder, _root, path.parent)
    raise NotCompilable("it is neither Schematron nor a stylesheet (XSLT)")


def is_sheet(path: Path) -> bool:
    """Return whether a file is a Schematron, or a stylesheet that writes SVRL; one with a DTD, if it names either."""
    data = path.read_bytes()
    try:
        root = _root(data)
    except NotCompilable as error:
        return isinstance(error.__cause__, DoctypeForbidden) and any(name in data for name in _NAMES)
    return root.tag == f"{SCHEMATRON}schema" or next(root.iter(f"{SVRL}failed-assert"), None) is not None


def _root(data: bytes) -> Any:
    try:
        return xml.parse(data, _LIMITS).getroot()
    except DoctypeForbidden as error:
        raise NotCompilable("it has a DTD (<!DOCTYPE>), which is not read; remove it from the file") from error
    except UnreadableDocument as error:
        raise NotCompilable(f"it is no valid XML: {error}") from None


def program(path: Path, folder: Path | None = None, codes: frozenset[str] | None = None) -> Program:
    """Return the compiled sheet of a file, which is kept until the file changes; rules are compiled when they judge.

    Args:
        path, folder: as of `read`.
        codes: of the assertions that judge; None for all. Contexts of the others still take precedence.

    Raises:
        NotCompilable, OSError: as `read`.
    """
    status = path.stat()
    return _program(path, folder, codes, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _program(path: Path, folder: Path | None, codes: frozenset[str] | None, _modified: int, _size: int) -> Program:
    return compile_file(path, folder, codes)


def compile_file(path: Path, folder: Path | None, codes: frozenset[str] | None = None) -> Program:
    """Return the sheet of a file, to be compiled; it may read files beside it, such as code lists.

    Args:
        path, folder, codes: as of `program`.

    Raises:
        NotCompilable, OSError: as `read`.
    """
    sheet = read(path, folder)
    return Program(sheet if codes is None else sheet.with_codes(codes), partial(_beside, path, folder))


def _beside(path: Path, folder: Path | None, name: str) -> Document:
    file = path.parent / name
    if folder is None or not file.is_file() or not file.resolve().is_relative_to(folder.resolve()):
        raise NotCompilable(f"the file {quote(name, limit=80)} did not come with the sheet")
    status = file.stat()
    return _document(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=32)
def _document(path: Path, _modified: int, _size: int) -> Document:
    return Document(_root(path.read_bytes()))


def syntax_condition(sheet: Sheet) -> str:
    """Return the XPath of the documents in the syntax of a sheet; "" if it may be either."""
    found = [prefix for prefix in _OF_SYNTAX if NAMESPACES[prefix] in sheet.namespaces.values()]
    return _OF_SYNTAX[found[0]] if len(found) == 1 else ""


@lru_cache(maxsize=256)
def _condition(text: str, namespaces: tuple[tuple[str, str], ...]) -> Any:
    return as_boolean(compile_text(text, Scope(dict(namespaces))))


def check_condition(text: str, namespaces: Mapping[str, str]) -> None:
    """Compile a condition on documents.

    Raises:
        NotCompilable: it is no XPath, or not supported.
    """
    _condition(text, tuple(namespaces.items()))


def applies(text: str, namespaces: Mapping[str, str], document: Document) -> bool:
    """Return whether a condition is true of a document.

    Raises:
        Stopped: its evaluation fails.
    """
    run = Run(document, {})
    return bool(_condition(text, tuple(namespaces.items()))(Frame(run, document.node, {})))
