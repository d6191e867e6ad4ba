"""Lexical forms that libxml2 decides otherwise than XML Schema does.

XML Schema removes the white space around a date or time before it looks at the value; libxml2 rejects such a value (and
of the other data types of the schemas none). XML Schema rejects a character in binary content that is not of the
alphabet of base64; libxml2 ignores it. Xerces, which official validators use, follows XML Schema in both.

Source: XML Schema 1.0 part 2, 4.3.6 (whiteSpace) and 3.2.16 (base64Binary).
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
_BASE64: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=" + BLANKS.encode()
_OF_UBL: Final = (f"{{{NAMESPACES['cbc']}}}EmbeddedDocumentBinaryObject",)
_OF_CII: Final = tuple(
    f"{{{NAMESPACES['ram']}}}{name}BinaryObject"
    for name in ("Attachment", "Description", "Included", "ReferenceFile", "SignatoryImage")
)
"""Elements with binary content."""


@contextmanager
def collapsed(document: etree._ElementTree) -> Iterator[bool]:
    """Remove the white space around dates and times for the time of a ``with`` block.

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
