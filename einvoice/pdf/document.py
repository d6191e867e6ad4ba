"""Parses the XML of hybrid PDFs."""

from __future__ import annotations

from lxml import etree

from einvoice import errors
from einvoice.model.location import NAMESPACES, line
from einvoice.pdf.hybrid import Hybrid
from einvoice.quotation import quote
from einvoice.syntax import xml


def parse(hybrid: Hybrid) -> etree._ElementTree:
    """Return the tree of the embedded XML; lines and columns refer to the XML.

    Raises:
        errors.EmbeddedXmlNotWellFormed: the attachment is not well-formed XML.
        errors.UblInPdf: the invoice is UBL.
        errors.UnreadableDocument: other subclasses that `einvoice.syntax.xml.parse` raises, such as TooDeep.
    """
    name = quote(hybrid.chosen.name)
    try:
        document = xml.parse(hybrid.xml)
    except (errors.NotWellFormed, errors.EmptyFile, errors.UnsupportedFormat, errors.EmptyArchive) as error:
        reason = error.sentence.format(**error.values)
        raise errors.EmbeddedXmlNotWellFormed(
            name=name, reason=reason, line=error.line or 1, column=error.column or 1
        ) from None
    root = document.getroot()
    if etree.QName(root).namespace in (NAMESPACES["ubl"], NAMESPACES["cn"]):
        raise errors.UblInPdf(name=name, line=line(root))
    return document
