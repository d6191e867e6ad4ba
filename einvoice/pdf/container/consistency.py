"""Consistency checks between the XMP metadata and the embedded XML."""

from __future__ import annotations

import re
from typing import Final

from einvoice.pdf.container.check import Faults, check
from einvoice.pdf.container.metadata import FACTUR_X
from einvoice.pdf.reader.opened_pdf import OpenedPdf
from einvoice.quotation import quote

_CONFORMANCE_LEVELS: Final = (
    # Pattern of the identifier in BT-24, and the allowed values of ConformanceLevel.
    (r"xrechnung", ("XRECHNUNG", "EN 16931")),
    (r"minimum", ("MINIMUM",)),
    (r"basicwl", ("BASIC WL",)),
    (r"extended", ("EXTENDED",)),
    (r"[:#]basic$", ("BASIC",)),
    (r"[ck]omfort", ("COMFORT", "EN 16931")),
    (r"^urn:cen\.eu:en16931:2017", ("EN 16931", "COMFORT")),
)
_OTHER_EDITION: Final = r"en16931(-1)?:(?!2017)[0-9]{4}(?![0-9])"
"""BT-24 of another edition of EN 16931, which has no profiles here; the validation of the XML says so."""
_WITHOUT_LINES: Final = {"MINIMUM", "BASIC WL"}


def _conformance_levels(guideline: str) -> tuple[str, ...]:
    """Return the ConformanceLevel values allowed for BT-24, in any spelling; empty if BT-24 is unknown.

    >>> _conformance_levels("urn:cen.eu:en16931:2017:compliant:factur-x.eu:1p0:basic")
    ('BASIC',)
    """
    matches = (levels for pattern, levels in _CONFORMANCE_LEVELS if re.search(pattern, guideline, re.IGNORECASE))
    return next(matches, ())


@check("PDF-FILE-NAME-DIFFERS")
def file_name(opened: OpenedPdf) -> Faults:
    """DocumentFileName is the name of the attachment."""
    declared = opened.metadata.invoice.get("DocumentFileName")
    if declared and declared != opened.chosen.name:
        yield {"expected": quote(opened.chosen.name), "actual": quote(declared)}


@check("PDF-LEVEL-DIFFERS")
def conformance_level(opened: OpenedPdf) -> Faults:
    """ConformanceLevel is the profile that the invoice declares in BT-24."""
    actual, allowed = opened.metadata.invoice.get("ConformanceLevel"), _conformance_levels(opened.chosen.guideline)
    if actual and allowed and actual not in allowed:
        yield {"expected": allowed[0], "actual": quote(actual), "declared": opened.chosen.guideline}


@check("PDF-GUIDELINE")
def guideline(opened: OpenedPdf) -> Faults:
    """BT-24 declares a known profile; otherwise ConformanceLevel cannot be compared."""
    declared = opened.chosen.guideline
    if not _conformance_levels(declared) and not re.search(_OTHER_EDITION, declared, re.IGNORECASE):
        yield {"declared": declared or "–"}


@check("PDF-GENERATION")
def generation(opened: OpenedPdf) -> Faults:
    """Metadata and XML belong to the same generation of ZUGFeRD or Factur-X."""
    namespace = opened.metadata.namespace
    if namespace and opened.chosen.kind == "CII" and namespace != FACTUR_X:
        yield {"namespace": namespace, "known": FACTUR_X}


@check("PDF-LEVEL-RELATIONSHIP")
def relationship(opened: OpenedPdf) -> Faults:
    """MINIMUM and BASIC WL are not complete invoices, so their AFRelationship is Data, not Alternative."""
    if not _is_zugferd_2_0(opened):
        yield from _not_data(opened)


@check("PDF-LEVEL-RELATIONSHIP-2-0")
def relationship_zugferd_2_0(opened: OpenedPdf) -> Faults:
    """ZUGFeRD 2.0 does not require Data for MINIMUM and BASIC WL; later versions do."""
    if _is_zugferd_2_0(opened):
        yield from _not_data(opened)


def _is_zugferd_2_0(opened: OpenedPdf) -> bool:
    return "zugferd.de:2p0" in opened.chosen.guideline


def _not_data(opened: OpenedPdf) -> Faults:
    actual = opened.chosen.relationship
    level = next((it for it in _conformance_levels(opened.chosen.guideline) if it in _WITHOUT_LINES), "")
    if level and actual and actual != "Data":
        yield {"level": level, "actual": quote(actual)}
