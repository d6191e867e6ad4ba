"""Checks of the XMP packet: readable, claims PDF/A-3, describes the invoice (ISO 19005-3, 6.6; Factur-X 1.0)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from einvoice.pdf.container.check import Faults, check
from einvoice.pdf.reader.metadata import INVOICE
from einvoice.pdf.reader.opened_pdf import OpenedPdf
from einvoice.pdf.reader.pdfa import allows
from einvoice.pdf.reader.release import Release, releases
from einvoice.quotation import quote

_HEADERS: Final = {"1": "1.0 … 1.7", "2": "1.0 … 1.7", "3": "1.0 … 1.7", "4": "2.0 …"}
"""PDF versions that a part of PDF/A allows, for the texts: parts 1 to 3 are based on PDF 1, part 4 on PDF 2."""


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


@check("PDF-A-VERSION")
def version_of_part(opened: OpenedPdf) -> Faults:
    """The version in the header is one on which the claimed part is based (6.1.2)."""
    part, version = opened.metadata.pdfa.get("part", ""), opened.pdf.pdf_version
    if not allows(part, version):
        yield {"version": quote(version), "part": part, "known": _HEADERS[part]}


@check("PDF-FX-MISSING")
def properties_missing(opened: OpenedPdf) -> Faults:
    """The packet has the four Factur-X properties."""
    if _readable(opened) and not opened.metadata.invoice:
        yield {}


@check("PDF-FX-NAMESPACE")
def namespace(opened: OpenedPdf) -> Faults:
    """The Factur-X properties are in a namespace that Factur-X or ZUGFeRD defines."""
    namespace = opened.metadata.namespace
    if namespace and not _defining(namespace):
        yield {"namespace": namespace, "known": opened.release.namespace}


@check("PDF-FX-PREFIX")
def prefix(opened: OpenedPdf) -> Faults:
    """The Factur-X properties have the usual prefix, which simple readers rely on."""
    actual = opened.metadata.prefix
    for release in _defining(opened.metadata.namespace):
        if actual and actual != release.prefix:
            yield {"prefix": actual, "usual": release.prefix}


@check("PDF-FX-DOCUMENT-TYPE")
def document_type(opened: OpenedPdf) -> Faults:
    """DocumentType is one of the release."""
    yield from _not_among(opened, "DocumentType", opened.release.types)


@check("PDF-FX-VERSION")
def version(opened: OpenedPdf) -> Faults:
    """Version is one that the release prescribes for the conformance level."""
    yield from _not_among(opened, "Version", opened.release.versions)


@check("PDF-FX-LEVEL")
def conformance_level(opened: OpenedPdf) -> Faults:
    """ConformanceLevel is one of the release, including its spaces."""
    yield from _not_among(opened, "ConformanceLevel", opened.release.levels)


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


def _defining(namespace: str) -> list[Release]:
    return [it for it in releases() if it.namespace == namespace]


def _not_among(opened: OpenedPdf, name: str, known: Collection[str]) -> Faults:
    if opened.metadata.invoice:
        actual = opened.metadata.invoice.get(name, "")
        if actual not in known:
            yield {"actual": actual or "–", "known": ", ".join(known), "release": opened.release.title}
