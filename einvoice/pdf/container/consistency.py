"""Consistency checks between the XMP metadata and the embedded XML."""

from __future__ import annotations

import re
from typing import Final

from einvoice.pdf.container.check import Faults, check
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
    """ConformanceLevel, if it is one, is the profile that the invoice declares in BT-24."""
    actual, allowed = opened.metadata.invoice.get("ConformanceLevel", ""), _conformance_levels(opened.chosen.guideline)
    if actual in opened.release.levels and allowed and actual not in allowed:
        yield {"expected": allowed[0], "actual": quote(actual), "declared": opened.chosen.guideline}


@check("PDF-GUIDELINE")
def guideline(opened: OpenedPdf) -> Faults:
    """BT-24 declares a known profile; otherwise ConformanceLevel cannot be compared."""
    declared = opened.chosen.guideline
    if not _conformance_levels(declared) and not re.search(_OTHER_EDITION, declared, re.IGNORECASE):
        yield {"declared": declared or "–"}


@check("PDF-GENERATION")
def generation(opened: OpenedPdf) -> Faults:
    """Metadata, attachment and XML belong to the same release of ZUGFeRD or Factur-X."""
    namespace, release = opened.metadata.namespace, opened.release
    if namespace and namespace != release.namespace:
        yield {"namespace": namespace, "known": release.namespace, "release": release.title}
