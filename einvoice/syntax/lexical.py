"""Lexical forms that libxml2 decides otherwise than XML Schema does.

XML Schema removes the white space around a date or time before it looks at the value; libxml2 rejects such a value (and
of the other data types of the schemas none). XML Schema rejects a character in binary content that is not of the
alphabet of base64; libxml2 ignores it. Xerces, which official validators use, follows XML Schema in both. XML Schema
limits no year but requires four digits at least; the years of libxml2 have 64 bits, those of Xerces 32.

Source: XML Schema 1.0 part 2, 4.3.6 (whiteSpace), 3.2.16 (base64Binary) and 5.4 (limits of processors).
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from lxml import etree

from einvoice.model.location import NAMESPACES
from einvoice.model.values import BLANKS

_MOMENT: Final = re.compile(r"-?\d{4,}-\d\d-\d\d|\d\d:\d\d:\d\d")
"""How a date or a time begins; whether the value is valid is left to libxml2."""
_LONG_YEAR: Final = re.compile(r"\s*(-?[0-9]{10,})-\d\d-\d\d")
"""How a date begins whose year may have more than 32 bits."""
_BASE64: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=" + BLANKS.encode()
_OF_UBL: Final = (f"{{{NAMESPACES['cbc']}}}EmbeddedDocumentBinaryObject",)
_OF_CII: Final = tuple(
    f"{{{NAMESPACES['ram']}}}{name}BinaryObject"
    for name in ("Attachment", "Description", "Included", "ReferenceFile", "SignatoryImage")
)
"""Elements with binary content."""


@contextmanager
def collapsed(document: etree._ElementTree) -> Iterator[bool]:
    """Remove the white space around dates and times for the time of a `with` block.

    Of a text that only looks like a date, white space is removed as well: no text of the schemas depends on it.

    Yields:
        whether there is any.
    """
    padded = [(it, text) for it in document.iter("{*}*") if (text := it.text) and not len(it) and _is_padded(text)]
    for element, text in padded:
        element.text = text.strip(BLANKS)
    try:
        yield bool(padded)
    finally:
        for element, text in padded:
            element.text = text


def _is_padded(text: str) -> bool:
    bare = text.strip(BLANKS)
    return bare != text and _MOMENT.match(bare) is not None


def wrong_binaries(document: etree._ElementTree) -> Iterator[etree._Element]:
    """Yield the elements whose binary content has a character that is not of the alphabet of base64."""
    is_cii = document.getroot().tag.startswith(f"{{{NAMESPACES['rsm']}}}")
    for element in document.iter(*(_OF_CII if is_cii else _OF_UBL)):
        if (element.text or "").encode().translate(None, _BASE64):
            yield element


def long_years(document: etree._ElementTree) -> Iterator[etree._Element]:
    """Yield the elements whose text begins like a date with a year of more than 32 bits; not all are of that type."""
    for element in document.iter("{*}*"):
        match = _LONG_YEAR.match(element.text or "")
        if match and not -(2**31) <= int(match[1][:20]) < 2**31:
            yield element
