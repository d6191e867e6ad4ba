"""Metadata of an artefact's file: its release, its number of rules, and whether they are the rules of EN 16931."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from lxml import etree

from einvoice.syntax import xml

_VERSIONS: Final = (
    re.compile(rb"(?i)Schematron version (\d+(?:\.\w+)*)"),
    re.compile(rb"release metadata\s+Version: (\d+(?:\.\w+)*)"),
)
_VERSION_IN_NAME: Final = re.compile(r"_(\d+(?:\.\d+)+)_")
_SVRL: Final = "{http://purl.oclc.org/dsdl/svrl}"
_XSL: Final = "{http://www.w3.org/1999/XSL/Transform}"
_EN16931_RULES: Final = {"BR-01", "BR-CO-10"}


@dataclass(frozen=True, slots=True)
class FileMetadata:
    """Metadata of an artefact's file; for an XML schema only `version` and `sha256`.

    Attributes:
        version: its release; "" if it does not state one.
        sha256: SHA-256 of the file, hexadecimal.
        rules: number of asserts and reports.
        is_en16931: whether they are the rules of EN 16931.
        stated: its release, if its content states it, not only its name.
    """

    version: str
    sha256: str
    rules: int = 0
    is_en16931: bool = False
    stated: str = ""


def read_metadata(path: Path) -> FileMetadata:
    """Return the metadata of a file; cached until the file changes.

    Raises:
        errors.UnreadableDocument: a stylesheet is not XML, or exceeds the limits of `einvoice.syntax.xml`.
        OSError: the file cannot be opened.
    """
    status = path.stat()
    return _read_metadata(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _read_metadata(path: Path, _modified: int, _size: int) -> FileMetadata:
    data, name = xml.source_bytes(path)
    digest = hashlib.sha256(data).hexdigest()
    in_content = next(filter(None, (version.search(data) for version in _VERSIONS)), None)
    in_name = _VERSION_IN_NAME.search(name)
    stated = in_content[1].decode() if in_content else ""
    version = stated or (in_name[1] if in_name else "")
    if path.suffix == ".xsd":
        return FileMetadata(version, digest)
    rules = [*xml.parse(data).getroot().iter(f"{_SVRL}failed-assert", f"{_SVRL}successful-report")]
    ids = {_id(rule) for rule in rules}
    return FileMetadata(version, digest, len(rules), ids >= _EN16931_RULES, stated)


def _id(rule: etree._Element) -> str:
    """Return the id of a rule, from its attribute or from the `xsl:attribute` that creates it."""
    literal = rule.get("id")
    if literal is not None:
        return literal
    return next((it.text or "" for it in rule.iterchildren(f"{_XSL}attribute") if it.get("name") == "id"), "")
