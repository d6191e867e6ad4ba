"""The XMP packet of a PDF, read for what an invoice should say there (ISO 16684-1; ISO 19005-3, 6.6)."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from lxml import etree

from einvoice import errors
from einvoice.pdf.reader.streams import NotUnpacked, unpacked

if TYPE_CHECKING:
    import pikepdf

_LIMIT: Final = 4 << 20
_RDF: Final = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_PDFA: Final = "http://www.aiim.org/pdfa/ns/id/"
_PDFUA: Final = "http://www.aiim.org/pdfua/ns/id/"
_EXTENSION: Final = "{http://www.aiim.org/pdfa/ns/schema#}"
_PROPERTY: Final = "{http://www.aiim.org/pdfa/ns/property#}"
_PADDING: Final = b"\0 \r\n\t"
_LONGEST: Final = 200

INVOICE: Final = ("DocumentType", "DocumentFileName", "Version", "ConformanceLevel")
"""The four properties that Factur-X, ZUGFeRD and Order-X define."""
_FAMILIES: Final = ("factur-x", "zugferd", "ferd", "order-x")


@dataclass(frozen=True)
class Metadata:
    """What the packet says. Where it cannot be read, `fault` is the code that says so and all else is empty.

    Attributes:
        is_utf8: as PDF/A asks for.
        rdfs: number of rdf:RDF elements; readers of XMP look at the first one only, and so does this.
        pdfa, pdfua: the claims, such as {"part": "3", "conformance": "B"}.
        invoice: the properties of the invoice by their names, see `INVOICE`.
        namespace, prefix: of those properties; "" where there are none, prefix "" also where they are attributes.
        as_attributes: whether they are written as attributes.
        schemas: the properties that the extension schemas describe, by namespace.
    """

    fault: str = ""
    reason: str = ""
    is_utf8: bool = True
    rdfs: int = 0
    pdfa: Mapping[str, str] = field(default_factory=dict)
    pdfua: Mapping[str, str] = field(default_factory=dict)
    invoice: Mapping[str, str] = field(default_factory=dict)
    namespace: str = ""
    prefix: str = ""
    as_attributes: bool = False
    schemas: Mapping[str, frozenset[str]] = field(default_factory=dict)


def read_metadata(pdf: pikepdf.Pdf) -> Metadata:
    """Return what the XMP of a document says."""
    import pikepdf

    stream = pdf.Root.get("/Metadata")
    if not isinstance(stream, pikepdf.Stream):
        return Metadata("PDF-XMP-MISSING")
    try:
        packet = _trimmed(unpacked(stream, _LIMIT))
        root = etree.fromstring(packet, _parser())
    except (NotUnpacked, etree.XMLSyntaxError, ValueError) as error:
        return Metadata("PDF-XMP-BROKEN", errors.quote(str(error), limit=100))
    if root.getroottree().docinfo.internalDTD is not None:
        return Metadata("PDF-XMP-BROKEN", "DOCTYPE")
    rdfs = list(root.iter(f"{_RDF}RDF"))
    return _said(rdfs, _is_utf8(packet))


def _parser() -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )


def _trimmed(packet: bytes) -> bytes:
    """The packet without its padding; in UTF-16 half of a character may look like that."""
    return packet if packet.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else packet.strip(_PADDING)


def _is_utf8(packet: bytes) -> bool:
    try:
        return "\0" not in packet.decode("utf-8")
    except UnicodeDecodeError:
        return False


def _said(rdfs: list[etree._Element], is_utf8: bool) -> Metadata:
    if not rdfs:
        return Metadata(is_utf8=is_utf8)
    stated = list(_statements(rdfs[0]))
    invoice = [it for it in stated if it.name in INVOICE and any(family in it.namespace for family in _FAMILIES)]
    namespace = invoice[0].namespace if invoice else ""
    own = [it for it in invoice if it.namespace == namespace]
    return Metadata(
        is_utf8=is_utf8,
        rdfs=len(rdfs),
        pdfa={it.name: it.value for it in stated if it.namespace == _PDFA},
        pdfua={it.name: it.value for it in stated if it.namespace == _PDFUA},
        invoice={it.name: it.value for it in own},
        namespace=namespace,
        prefix=next((it.prefix for it in own if it.prefix), ""),
        as_attributes=any(it.is_attribute for it in own),
        schemas=dict(_schemas(rdfs[0])),
    )


class _Statement(NamedTuple):
    namespace: str
    name: str
    value: str
    prefix: str
    is_attribute: bool


def _statements(rdf: etree._Element) -> Iterator[_Statement]:
    """The simple properties of all rdf:Description elements, written as elements or as attributes."""
    for description in rdf.iterchildren(f"{_RDF}Description"):
        for tag, value in description.attrib.items():
            yield _statement(str(tag), str(value), "", True)
        for element in description.iterchildren(etree.Element):
            yield _statement(str(element.tag), element.text or "", element.prefix or "", False)


def _statement(tag: str, value: str, prefix: str, is_attribute: bool) -> _Statement:
    name = etree.QName(tag)
    shown = errors.quote(value.strip(), limit=_LONGEST)
    return _Statement(errors.quote(name.namespace or "", limit=_LONGEST), name.localname, shown, prefix, is_attribute)


def _schemas(rdf: etree._Element) -> Iterator[tuple[str, frozenset[str]]]:
    """The extension schemas (ISO 19005-3, 6.6.2.3.3): namespace, and the names of the properties described."""
    for uri in rdf.iter(f"{_EXTENSION}namespaceURI"):
        schema = uri.getparent()
        if schema is not None:
            names = frozenset((name.text or "").strip() for name in schema.iter(f"{_PROPERTY}name"))
            yield (uri.text or "").strip(), names
