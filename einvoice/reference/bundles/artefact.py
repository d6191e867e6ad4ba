"""What a file of an artefact says about itself: its release, how many rules it has, and whose."""

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
_IN_NAME: Final = re.compile(r"_(\d+(?:\.\d+)+)_")
_SVRL: Final = "{http://purl.oclc.org/dsdl/svrl}"
_XSL: Final = "{http://www.w3.org/1999/XSL/Transform}"
_CORE: Final = {"BR-01", "BR-CO-10"}


@dataclass(frozen=True, slots=True)
class Facts:
    """What can be read off a file; of an XML schema only `sha256`.

    Attributes:
        version: the release that it says it is, "" if it says none.
        sha256: in hexadecimal digits.
        rules: how many asserts and reports it has.
        core: whether they are the rules of EN 16931.
    """

    version: str
    sha256: str
    rules: int = 0
    core: bool = False


def facts(path: Path) -> Facts:
    """What the file says; it is read again when it has changed.

    Raises:
        errors.UnreadableDocument: a stylesheet that is no XML, or not within the bounds of `einvoice.syntax.xml`.
        OSError: the file cannot be opened.
    """
    status = path.stat()
    return _facts(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _facts(path: Path, _changed: int, _size: int) -> Facts:
    data, name = xml.source_bytes(path)
    digest = hashlib.sha256(data).hexdigest()
    found = next(filter(None, (version.search(data) for version in _VERSIONS)), None)
    named = _IN_NAME.search(name)
    version = found[1].decode() if found else named[1] if named else ""
    if path.suffix == ".xsd":
        return Facts(version, digest)
    rules = [*xml.parse(data).getroot().iter(f"{_SVRL}failed-assert", f"{_SVRL}successful-report")]
    ids = {_id(rule) for rule in rules}
    return Facts(version, digest, len(rules), ids >= _CORE)


def _id(rule: etree._Element) -> str:
    """The id that a rule's report will have: written as an attribute, or by an instruction that makes one."""
    written = rule.get("id")
    if written is not None:
        return written
    return next((it.text or "" for it in rule.iterchildren(f"{_XSL}attribute") if it.get("name") == "id"), "")
