"""What the PDF says of the invoice, against what the XML says of itself."""

from __future__ import annotations

import re
from typing import Final

from einvoice import errors
from einvoice.pdf.container.check import Faults, check
from einvoice.pdf.container.metadata import FACTUR_X
from einvoice.pdf.reader.opened import Opened

_LEVELS: Final = (
    # What the identifier has to match, and the levels that fit it.
    (r"xrechnung", ("XRECHNUNG", "EN 16931")),
    (r"minimum", ("MINIMUM",)),
    (r"basicwl", ("BASIC WL",)),
    (r"extended", ("EXTENDED",)),
    (r"[:#]basic$", ("BASIC",)),
    (r"[ck]omfort", ("COMFORT", "EN 16931")),
    (r"^urn:cen\.eu:en16931:2017", ("EN 16931", "COMFORT")),
)
_NO_INVOICE: Final = {"MINIMUM", "BASIC WL"}


def _levels(guideline: str) -> tuple[str, ...]:
    """The levels that fit a guideline (BT-24), which is written in many ways; none for an unknown one.

    >>> _levels("urn:cen.eu:en16931:2017:compliant:factur-x.eu:1p0:basic")
    ('BASIC',)
    """
    return next((levels for pattern, levels in _LEVELS if re.search(pattern, guideline, re.IGNORECASE)), ())


@check("PDF-FILE-NAME-DIFFERS")
def file_name(opened: Opened) -> Faults:
    """DocumentFileName is the name of the attachment."""
    said = opened.metadata.invoice.get("DocumentFileName")
    if said and said != opened.chosen.name:
        yield {"expected": errors.quote(opened.chosen.name), "actual": errors.quote(said)}


@check("PDF-LEVEL-DIFFERS")
def level(opened: Opened) -> Faults:
    """ConformanceLevel is the profile that the invoice declares in BT-24."""
    said, fitting = opened.metadata.invoice.get("ConformanceLevel"), _levels(opened.chosen.guideline)
    if said and fitting and said not in fitting:
        yield {"expected": fitting[0], "actual": errors.quote(said), "declared": opened.chosen.guideline}


@check("PDF-GUIDELINE")
def guideline(opened: Opened) -> Faults:
    """BT-24 names a profile that is known, or else nothing can be compared."""
    if not _levels(opened.chosen.guideline):
        yield {"declared": opened.chosen.guideline or "–"}


@check("PDF-GENERATION")
def generation(opened: Opened) -> Faults:
    """Metadata and XML are of the same generation."""
    said = opened.metadata.namespace
    if said and opened.chosen.kind == "CII" and said != FACTUR_X:
        yield {"namespace": said, "known": FACTUR_X}


@check("PDF-LEVEL-RELATIONSHIP")
def level_relationship(opened: Opened) -> Faults:
    """MINIMUM and BASIC WL are no invoices, so they cannot be an alternative to one: they are its data."""
    if not _is_zugferd_2_0(opened):
        yield from _not_data(opened)


@check("PDF-LEVEL-RELATIONSHIP-2-0")
def level_relationship_before(opened: Opened) -> Faults:
    """ZUGFeRD 2.0 did not ask for that yet."""
    if _is_zugferd_2_0(opened):
        yield from _not_data(opened)


def _is_zugferd_2_0(opened: Opened) -> bool:
    return "zugferd.de:2p0" in opened.chosen.guideline


def _not_data(opened: Opened) -> Faults:
    told = opened.chosen.relationship
    level = next((it for it in _levels(opened.chosen.guideline) if it in _NO_INVOICE), "")
    if level and told and told != "Data":
        yield {"level": level, "actual": errors.quote(told)}
