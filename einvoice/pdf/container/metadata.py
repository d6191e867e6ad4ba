"""The XMP packet by itself: readable, claims PDF/A-3, and names the invoice (ISO 19005-3, 6.6; Factur-X 1.0)."""

from __future__ import annotations

from typing import Final

from einvoice.pdf.container.check import Faults, check
from einvoice.pdf.reader.metadata import INVOICE
from einvoice.pdf.reader.opened import Opened

FACTUR_X: Final = "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#"
NAMESPACES: Final = {
    FACTUR_X: "fx",
    "urn:zugferd:pdfa:CrossIndustryDocument:invoice:2p0#": "zf",
    "urn:ferd:pdfa:CrossIndustryDocument:invoice:1p0#": "zf",
    "urn:factur-x:pdfa:CrossIndustryDocument:1p0#": "fx",  # Order-X
}
_TYPES: Final = frozenset({"INVOICE", "ORDER", "ORDER_RESPONSE", "ORDER_CHANGE"})
_VERSIONS: Final = frozenset({"1.0", "1p0", "2p0", "1.2", "2.0", "2.1", "2.2", "2.3", "3.0"})
_LEVELS: Final = frozenset({"MINIMUM", "BASIC WL", "BASIC", "COMFORT", "EN 16931", "EXTENDED", "XRECHNUNG"})


@check("PDF-XMP-MISSING")
def xmp_missing(opened: Opened) -> Faults:
    """The catalog has a stream of metadata (6.6.2.1)."""
    if opened.metadata.fault == "PDF-XMP-MISSING":
        yield {}


@check("PDF-XMP-BROKEN")
def xmp_broken(opened: Opened) -> Faults:
    """The packet is well-formed XML (6.6.2.1)."""
    if opened.metadata.fault == "PDF-XMP-BROKEN":
        yield {"reason": opened.metadata.reason}


@check("PDF-XMP-ENCODING")
def xmp_encoding(opened: Opened) -> Faults:
    """The packet is UTF-8 (6.6.2.1)."""
    if not opened.metadata.is_utf8:
        yield {}


@check("PDF-XMP-RDF")
def xmp_rdf(opened: Opened) -> Faults:
    """The packet has one rdf:RDF: readers of XMP overlook a second one (ISO 16684-1)."""
    if not opened.metadata.fault and opened.metadata.rdfs != 1:
        yield {"count": opened.metadata.rdfs}


@check("PDF-A-PART")
def part(opened: Opened) -> Faults:
    """The claim is PDF/A-3: only that allows any file to be embedded (6.6.4)."""
    if _readable(opened) and opened.metadata.pdfa.get("part") != "3":
        yield {"part": opened.metadata.pdfa.get("part", "–")}


@check("PDF-A-CONFORMANCE")
def conformance(opened: Opened) -> Faults:
    """The level of conformance is one of PDF/A-3 (6.6.4)."""
    claim = opened.metadata.pdfa
    if claim.get("part") == "3" and claim.get("conformance") not in ("A", "B", "U"):
        yield {"conformance": claim.get("conformance", "–")}


@check("PDF-FX-MISSING")
def properties_missing(opened: Opened) -> Faults:
    """The packet says that there is an invoice, by four properties."""
    if _readable(opened) and not opened.metadata.invoice:
        yield {}


@check("PDF-FX-NAMESPACE")
def namespace(opened: Opened) -> Faults:
    """Those are in a namespace that Factur-X or ZUGFeRD define."""
    found = opened.metadata.namespace
    if found and found not in NAMESPACES:
        yield {"namespace": found, "known": FACTUR_X}


@check("PDF-FX-PREFIX")
def prefix(opened: Opened) -> Faults:
    """The prefix is the usual one, which is what simple readers look for."""
    usual, found = NAMESPACES.get(opened.metadata.namespace), opened.metadata.prefix
    if usual and found and found != usual:
        yield {"prefix": found, "usual": usual}


@check("PDF-FX-DOCUMENT-TYPE")
def document_type(opened: Opened) -> Faults:
    """DocumentType is INVOICE (or one of Order-X)."""
    yield from _not_among(opened, "DocumentType", _TYPES)


@check("PDF-FX-VERSION")
def version(opened: Opened) -> Faults:
    """Version is one that was published."""
    yield from _not_among(opened, "Version", _VERSIONS)


@check("PDF-FX-LEVEL")
def level(opened: Opened) -> Faults:
    """ConformanceLevel is a profile, with the blanks in it."""
    yield from _not_among(opened, "ConformanceLevel", _LEVELS)


@check("PDF-FX-FILE-NAME")
def file_name(opened: Opened) -> Faults:
    """DocumentFileName is there."""
    if opened.metadata.invoice and not opened.metadata.invoice.get("DocumentFileName"):
        yield {}


@check("PDF-FX-ATTRIBUTES")
def attributes(opened: Opened) -> Faults:
    """The properties are elements; as attributes they mean the same, but simple readers overlook them."""
    if opened.metadata.as_attributes:
        yield {}


@check("PDF-FX-SCHEMA")
def extension_schema(opened: Opened) -> Faults:
    """Properties that XMP itself does not define need an extension schema (6.6.2.3)."""
    said = opened.metadata
    if said.invoice:
        missing = [name for name in INVOICE if name not in said.schemas.get(said.namespace, ())]
        if missing:
            yield {"missing": ", ".join(missing)}


def _readable(opened: Opened) -> bool:
    return not opened.metadata.fault


def _not_among(opened: Opened, name: str, known: frozenset[str]) -> Faults:
    if opened.metadata.invoice:
        found = opened.metadata.invoice.get(name, "")
        if found not in known:
            yield {"actual": found or "–", "known": ", ".join(sorted(known))}
