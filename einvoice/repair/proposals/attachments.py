"""Sets the type of an attached file (BT-125-1) to what its content and its name say."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Final

from einvoice.causes.applicability import UNSAFE
from einvoice.editing.edits import SetAttribute
from einvoice.model.values import Binary, absent
from einvoice.repair.case import Case
from einvoice.repair.proposal import Proposal

_ATTRIBUTE: Final = "mimeCode"
_TERM: Final = "BT-125-1"
_SIGNATURES: Final[Mapping[bytes, str]] = {
    b"%PDF-": "application/pdf",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
}
"""First bytes of a file of each type: ISO 32000-1 (7.5.2), ISO/IEC 15948 (5.2), ISO/IEC 10918-1 (B.1)."""
_ENDINGS: Final[Mapping[str, str]] = {
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".csv": "text/csv",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
}
"""Usual endings of the types that EN 16931-1 allows (BT-125-1)."""
_MAX_SIGNATURE: Final = 16
"""Number of base64 characters that the longest signature needs, a multiple of four."""


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal for each attached file whose type a finding is about."""
    places = {finding.xpath for finding in case.findings}
    elements = {finding.location.node for finding in case.findings}
    for it in case.values:
        if not isinstance(it.value, Binary) or it.value.node not in elements:
            continue
        path = case.xpath(it.value.node)
        if places.isdisjoint((path, case.xpath(it.value.node, _ATTRIBUTE))):
            continue
        known = type_of(it.value)
        if known and known != it.value.attributes.get(_ATTRIBUTE):
            yield Proposal((SetAttribute(path, _ATTRIBUTE, known),), UNSAFE, terms=(_TERM,))


def type_of(file: Binary) -> str:
    """Return the MIME type that the first bytes or the name of a file say; "" if they contradict each other.

    >>> type_of(Binary("JVBERi0xLjc=", attributes={"filename": "times.pdf"})), type_of(Binary("JVBERi0xLjc="))
    ('application/pdf', 'application/pdf')
    """
    start = _start(file.raw)
    by_content = next((kind for signature, kind in _SIGNATURES.items() if start.startswith(signature)), "")
    name = file.filename
    by_name = "" if name is absent else _ENDINGS.get(PurePath(name).suffix.lower(), "")
    known = {it for it in (by_content, by_name) if it}
    return known.pop() if len(known) == 1 else ""


def _start(text: str) -> bytes:
    """Return the first bytes of a file in base64; b"" if it is none."""
    try:
        return base64.b64decode("".join(text[: 10 * _MAX_SIGNATURE].split())[:_MAX_SIGNATURE], validate=True)
    except (binascii.Error, ValueError):
        return b""
