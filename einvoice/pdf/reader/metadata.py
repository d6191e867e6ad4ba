"""Reads the XMP packet of a PDF: PDF/A claims and Factur-X properties (ISO 16684-1; ISO 19005-3, 6.6)."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from lxml import etree

from einvoice.pdf.reader.streams import StreamUnreadable, read_stream
from einvoice.quotation import quote

if TYPE_CHECKING:
    import pikepdf

_LIMIT: Final = 4 << 20
_RDF: Final = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_PDFA: Final = "http://www.aiim.org/pdfa/ns/id/"
_PDFUA: Final = "http://www.aiim.org/pdfua/ns/id/"
_SOFTWARE: Final = {"http://ns.adobe.com/xap/1.0/": "CreatorTool", "http://ns.adobe.com/pdf/1.3/": "Producer"}
"""Properties with the software, by namespace; first that which made the original document."""
_EXTENSION: Final = "{http://www.aiim.org/pdfa/ns/schema#}"
_PROPERTY: Final = "{http://www.aiim.org/pdfa/ns/property#}"
_PADDING: Final = b"\0 \r\n\t"
_MAX_LENGTH: Final = 200

INVOICE: Final = ("DocumentType", "DocumentFileName", "Version", "ConformanceLevel")
"""Names of the four properties that Factur-X, ZUGFeRD and Order-X define."""
_FAMILIES: Final = ("factur-x", "zugferd", "ferd", "order-x")


@dataclass(frozen=True)
class Metadata:
    """The content of an XMP packet.

    Attributes:
        fault: catalog code if the packet cannot be read, in which case all other fields are empty; else "".
        reason: detail of the fault, in English.
        is_utf8: whether the packet is UTF-8, as PDF/A requires.
        rdfs: number of rdf:RDF elements; XMP readers, including this one, use only the first.
        pdfa, pdfua: the claims, such as {"part": "3", "conformance": "B"}.
        software: the programs that made the document, such as {"CreatorTool": "…", "Producer": "…"}.
        invoice: the Factur-X properties by name; see `INVOICE`.
        namespace, prefix: namespace and prefix of those properties; "" if there are none; the prefix is also "" if
            they are attributes.
        as_attributes: whether they are written as attributes.
        schemas: the properties that the extension schemas describe, by namespace.
    """

    fault: str = ""
    reason: str = ""
    is_utf8: bool = True
    rdfs: int = 0
    pdfa: Mapping[str, str] = field(default_factory=dict)
    pdfua: Mapping[str, str] = field(default_factory=dict)
    software: Mapping[str, str] = field(default_factory=dict)
    invoice: Mapping[str, str] = field(default_factory=dict)
    namespace: str = ""
    prefix: str = ""
    as_attributes: bool = False
    schemas: Mapping[str, frozenset[str]] = field(default_factory=dict)


def read_metadata(pdf: pikepdf.Pdf) -> Metadata:
    """Return the XMP metadata of a document."""
    import pikepdf

    stream = pdf.Root.get("/Metadata")
    if not isinstance(stream, pikepdf.Stream):
        return Metadata("PDF-XMP-MISSING")
    try:
        packet = _without_padding(read_stream(stream, _LIMIT))
        root = etree.fromstring(packet, _parser())
    except (StreamUnreadable, etree.XMLSyntaxError, ValueError) as error:
        return Metadata("PDF-XMP-BROKEN", quote(str(error), limit=100))
    if root.getroottree().docinfo.internalDTD is not None:
        return Metadata("PDF-XMP-BROKEN", "DOCTYPE")
    rdfs = list(root.iter(f"{_RDF}RDF"))
    return _metadata(rdfs, _is_utf8(packet))


def software_of(pdf: pikepdf.Pdf, metadata: Metadata) -> str:
    """Return the program that made a document, as its metadata name it; "" if they do not.

    The program that made the original document comes before that which made the PDF of it; XMP comes before the older
    document information dictionary (ISO 32000-1, 14.3).
    """
    import pikepdf

    info = pdf.trailer.get("/Info")
    older = info if isinstance(info, pikepdf.Dictionary) else pikepdf.Dictionary()
    for property_, key in (("CreatorTool", "/Creator"), ("Producer", "/Producer")):
        entry = older.get(key)
        text = metadata.software.get(property_) or (str(entry) if isinstance(entry, pikepdf.String) else "")
        if text.strip():
            return quote(text.strip(), limit=_MAX_LENGTH)
    return ""


def _parser() -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )


def _without_padding(packet: bytes) -> bytes:
    """Remove the padding, except in UTF-16, where half of a character may look like padding."""
    return packet if packet.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else packet.strip(_PADDING)


def _is_utf8(packet: bytes) -> bool:
    try:
        return "\0" not in packet.decode("utf-8")
    except UnicodeDecodeError:
        return False


def _metadata(rdfs: list[etree._Element], is_utf8: bool) -> Metadata:
    if not rdfs:
        return Metadata(is_utf8=is_utf8)
    properties = list(_properties(rdfs[0]))
    invoice = [it for it in properties if it.name in INVOICE and any(family in it.namespace for family in _FAMILIES)]
    namespace = invoice[0].namespace if invoice else ""
    invoice = [it for it in invoice if it.namespace == namespace]
    return Metadata(
        is_utf8=is_utf8,
        rdfs=len(rdfs),
        pdfa={it.name: it.value for it in properties if it.namespace == _PDFA},
        pdfua={it.name: it.value for it in properties if it.namespace == _PDFUA},
        software={it.name: it.value for it in properties if _SOFTWARE.get(it.namespace) == it.name},
        invoice={it.name: it.value for it in invoice},
        namespace=namespace,
        prefix=next((it.prefix for it in invoice if it.prefix), ""),
        as_attributes=any(it.is_attribute for it in invoice),
        schemas=dict(_schemas(rdfs[0])),
    )


class _Property(NamedTuple):
    namespace: str
    name: str
    value: str
    prefix: str
    is_attribute: bool


def _properties(rdf: etree._Element) -> Iterator[_Property]:
    """Yield the simple properties of all rdf:Description elements, written as elements or as attributes."""
    for description in rdf.iterchildren(f"{_RDF}Description"):
        for tag, value in description.attrib.items():
            yield _property(str(tag), str(value), "", True)
        for element in description.iterchildren(etree.Element):
            yield _property(str(element.tag), element.text or "", element.prefix or "", False)


def _property(tag: str, value: str, prefix: str, is_attribute: bool) -> _Property:
    name = etree.QName(tag)
    namespace, text = (quote(it, limit=_MAX_LENGTH) for it in (name.namespace or "", value.strip()))
    return _Property(namespace, name.localname, text, prefix, is_attribute)


def _schemas(rdf: etree._Element) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the extension schemas (ISO 19005-3, 6.6.2.3.3): namespace, and the names of the described properties."""
    for uri in rdf.iter(f"{_EXTENSION}namespaceURI"):
        schema = uri.getparent()
        if schema is not None:
            names = frozenset((name.text or "").strip() for name in schema.iter(f"{_PROPERTY}name"))
            yield (uri.text or "").strip(), names
