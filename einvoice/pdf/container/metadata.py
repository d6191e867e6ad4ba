"""Checks of the XMP packet: readable, claims PDF/A-3, describes the invoice (ISO 19005-3, 6.6; Factur-X 1.0)."""

from __future__ import annotations

from typing import Final

from einvoice.pdf.container.check import Faults, check
from einvoice.pdf.reader.metadata import INVOICE
from einvoice.pdf.reader.opened_pdf import OpenedPdf

FACTUR_X: Final = "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#"
NAMESPACES: Final = {
    FACTUR_X: "fx",
    "urn:zugferd:pdfa:CrossIndustryDocument:invoice:2p0#": "zf",
    "urn:ferd:pdfa:CrossIndustryDocument:invoice:1p0#": "zf",
    "urn:factur-x:pdfa:CrossIndustryDocument:1p0#": "fx",  # Order-X
}
_TYPES: Final = frozenset({"INVOICE", "ORDER", "ORDER_RESPONSE", "ORDER_CHANGE"})
_VERSIONS: Final = frozenset({"1.0", "1p0", "2p0", "1.2", "2.0", "2.1", "2.2", "2.3", "3.0"})
_CONFORMANCE_LEVELS: Final = frozenset({"MINIMUM", "BASIC WL", "BASIC", "COMFORT", "EN 16931", "EXTENDED", "XRECHNUNG"})


@check("PDF-XMP-MISSING")
def xmp_missing(opened: OpenedPdf) -> Faults:
    """The catalog has a metadata stream (6.6.2.1)."""
    if opened.metadata.fault == "PDF-XMP-MISSING":
        yield {}


@check("PDF-XMP-BROKEN")
def xmp_broken(opened: OpenedPdf) -> Faults:
    """The packet is well-formed XML (6.6.2.1)."""
    if opened.metadata.fault == "PDF-XMP-BROKEN":
        yield {"reason": opened.metadata.reason}


@check("PDF-XMP-ENCODING")
def xmp_encoding(opened: OpenedPdf) -> Faults:
    """The packet is UTF-8 (6.6.2.1)."""
    if not opened.metadata.is_utf8:
        yield {}


@check("PDF-XMP-RDF")
def xmp_rdf(opened: OpenedPdf) -> Faults:
    """The packet has one rdf:RDF element: XMP readers ignore a second one (ISO 16684-1)."""
    if not opened.metadata.fault and opened.metadata.rdfs != 1:
        yield {"count": opened.metadata.rdfs}


@check("PDF-A-PART")
def part(opened: OpenedPdf) -> Faults:
    """The file claims PDF/A-3, the only part that allows embedding any type of file (6.6.4)."""
    if _readable(opened) and opened.metadata.pdfa.get("part") != "3":
        yield {"part": opened.metadata.pdfa.get("part", "–")}


@check("PDF-A-CONFORMANCE")
def conformance(opened: OpenedPdf) -> Faults:
    """The conformance level is one that PDF/A-3 defines (6.6.4)."""
    claim = opened.metadata.pdfa
    if claim.get("part") == "3" and claim.get("conformance") not in ("A", "B", "U"):
        yield {"conformance": claim.get("conformance", "–")}


@check("PDF-FX-MISSING")
def properties_missing(opened: OpenedPdf) -> Faults:
    """The packet has the four Factur-X properties."""
    if _readable(opened) and not opened.metadata.invoice:
        yield {}


@check("PDF-FX-NAMESPACE")
def namespace(opened: OpenedPdf) -> Faults:
    """The Factur-X properties are in a namespace that Factur-X or ZUGFeRD defines."""
    namespace = opened.metadata.namespace
    if namespace and namespace not in NAMESPACES:
        yield {"namespace": namespace, "known": FACTUR_X}


@check("PDF-FX-PREFIX")
def prefix(opened: OpenedPdf) -> Faults:
    """The Factur-X properties have the usual prefix, which simple readers rely on."""
    usual, actual = NAMESPACES.get(opened.metadata.namespace), opened.metadata.prefix
    if usual and actual and actual != usual:
        yield {"prefix": actual, "usual": usual}


@check("PDF-FX-DOCUMENT-TYPE")
def document_type(opened: OpenedPdf) -> Faults:
    """DocumentType is INVOICE or a type of Order-X."""
    yield from _not_among(opened, "DocumentType", _TYPES)


@check("PDF-FX-VERSION")
def version(opened: OpenedPdf) -> Faults:
    """Version is a published version."""
    yield from _not_among(opened, "Version", _VERSIONS)


@check("PDF-FX-LEVEL")
def conformance_level(opened: OpenedPdf) -> Faults:
    """ConformanceLevel is a profile name, including its spaces."""
    yield from _not_among(opened, "ConformanceLevel", _CONFORMANCE_LEVELS)


@check("PDF-FX-FILE-NAME")
def file_name(opened: OpenedPdf) -> Faults:
    """DocumentFileName is present."""
    if opened.metadata.invoice and not opened.metadata.invoice.get("DocumentFileName"):
        yield {}


@check("PDF-FX-ATTRIBUTES")
def attributes(opened: OpenedPdf) -> Faults:
    """The Factur-X properties are elements; attributes are equivalent, but simple readers ignore them."""
    if opened.metadata.as_attributes:
        yield {}


@check("PDF-FX-SCHEMA")
def extension_schema(opened: OpenedPdf) -> Faults:
    """Properties that XMP does not define are described by an extension schema (6.6.2.3)."""
    metadata = opened.metadata
    if metadata.invoice:
        missing = [name for name in INVOICE if name not in metadata.schemas.get(metadata.namespace, ())]
        if missing:
            yield {"missing": ", ".join(missing)}


def _readable(opened: OpenedPdf) -> bool:
    return not opened.metadata.fault


def _not_among(opened: OpenedPdf, name: str, known: frozenset[str]) -> Faults:
    if opened.metadata.invoice:
        actual = opened.metadata.invoice.get(name, "")
        if actual not in known:
            yield {"actual": actual or "–", "known": ", ".join(sorted(known))}
