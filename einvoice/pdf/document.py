"""From a file to the XML document in it, whether it is that XML or a PDF around it."""

from __future__ import annotations

from lxml import etree

from einvoice import errors
from einvoice.model.location import NAMESPACES, line
from einvoice.pdf.hybrid import Hybrid
from einvoice.syntax import xml


def open_hybrid(data: bytes) -> Hybrid | None:
    """Return what a PDF holds; None if the file is no PDF.

    Raises:
        errors.UnreadableDocument: those of `einvoice.pdf.sandbox.read_hybrid`.
    """
    if xml.sniff(data) != "pdf":
        return None
    from einvoice.pdf.sandbox import read_hybrid  # who has no PDFs need not wait for what opens them

    return read_hybrid(data)


def parse(hybrid: Hybrid) -> etree._ElementTree:
    """Return the tree of the embedded XML; lines and columns are those of the XML.

    Raises:
        errors.EmbeddedXmlNotWellFormed: it is no XML, or not well-formed.
        errors.UblInPdf: it is an invoice in UBL.
        errors.UnreadableDocument: the other subclasses that `einvoice.syntax.xml.parse` raises, such as TooDeep.
    """
    name = errors.quote(hybrid.chosen.name)
    try:
        document = xml.parse(hybrid.xml)
    except (errors.NotWellFormed, errors.EmptyFile, errors.UnsupportedFormat) as error:
        reason = error.sentence.format(**error.values)
        raise errors.EmbeddedXmlNotWellFormed(
            name=name, reason=reason, line=error.line or 1, column=error.column or 1
        ) from None
    root = document.getroot()
    if etree.QName(root).namespace in (NAMESPACES["ubl"], NAMESPACES["cn"]):
        raise errors.UblInPdf(name=name, line=line(root))
    return document
