"""The validation result of a hybrid PDF container: its faults as findings."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from einvoice.localization import Messages
from einvoice.quotation import quote
from einvoice.result import Container, Layer

if TYPE_CHECKING:
    from einvoice.model.invoice import Invoice
    from einvoice.model.values import Value
    from einvoice.pdf.hybrid import Hybrid
    from einvoice.pdf.picture.page_text import PageText
    from einvoice.result import Finding
    from einvoice.validation.findings import FindingBuilder

LAYER: Final = "pdf"
_MAX_LENGTH: Final = 300
"""Maximum number of characters of the name of an attachment."""
_MAX_SHOWN: Final = 60
_DIFFERENCES: Final = {
    "BT-1": "PDF-PICTURE-NUMBER",
    "BT-2": "PDF-PICTURE-DATE",
    "BT-5": "PDF-PICTURE-CURRENCY",
    "BT-9": "PDF-PICTURE-DATE",
    "BT-31": "PDF-PICTURE-VAT-ID",
    "BT-84": "PDF-PICTURE-ACCOUNT",
    **dict.fromkeys(("BT-109", "BT-110", "BT-112", "BT-115"), "PDF-PICTURE-AMOUNT"),
}
_NO_COMPARISON: Final[dict[str, str]] = {
    "library": "PDF-PICTURE-NO-LIBRARY",
    "length": "PDF-PICTURE-NOT-COMPARED",
    "failure": "PDF-PICTURE-NOT-COMPARED",
}
_MESSAGES: Final = Messages("einvoice.pdf", "container")


def validate_container(
    data: bytes, hybrid: Hybrid, build: FindingBuilder, invoice: Invoice, pages: PageText | None
) -> tuple[Container, Layer]:
    """Return the result for a container, and its layer of the validation stack.

    Args:
        data: the PDF.
        hybrid: what was read from it.
        build: builder of the findings.
        invoice: the invoice in its XML.
        pages: the text of its pages, to compare with the invoice; None if they are not to be compared.
    """
    from einvoice.pdf import verapdf  # imports subprocess, which is slow

    faults, command = list(hybrid.faults), verapdf.command()
    if command:
        faults += verapdf.faults(data, command)
    findings = tuple(build.of_entry(code, LAYER, None, values) for code, values in faults)
    if pages is not None:
        findings += tuple(_of_picture(pages, build, invoice))
    title = _MESSAGES.translations("title_with_verapdf" if command else "title")
    candidates = tuple(quote(file.name, limit=_MAX_LENGTH) for file in hybrid.candidates)
    relationship = hybrid.chosen.relationship
    digest = hashlib.sha256(data).hexdigest()
    container = Container(
        candidates[0],
        relationship,
        candidates,
        findings,
        title,
        lang=build.lang,
        signed=hybrid.signed,
        sha256=digest,
        software=hybrid.software,
    )
    return container, Layer(LAYER, title, rules=hybrid.checks)


def _of_picture(pages: PageText, build: FindingBuilder, invoice: Invoice) -> Iterator[Finding]:
    """Yield the findings on what the pages show; a comparison that did not take place is one, too."""
    from einvoice.pdf.picture.comparison import compare

    if pages.problem:
        yield build.of_entry(_NO_COMPARISON[pages.problem], LAYER, None, {})
        return
    found = compare(invoice, pages.pages)
    if not found.has_text:
        yield build.of_entry("PDF-PICTURE-NO-TEXT", LAYER, None, {"pages": len(pages.pages)})
        return
    for number, value, shown, label, page in found.differences:
        values = {"term": number, "expected": _meaning(value), "actual": shown, "label": label, "page": page}
        yield build.of_entry(_DIFFERENCES[number], LAYER, value.node, values, (number,))
    if found.missing:
        missing = tuple((number, _meaning(value)) for number, value in found.missing)
        yield build.of_entry("PDF-PICTURE-NOT-FOUND", LAYER, None, {"missing": missing, "found": found.found})


def _meaning(value: Value) -> str | Decimal | datetime.date:
    """Return a value for the texts: an amount or a date, which are written in their language, or else the text."""
    for it in (getattr(value, "number", None), getattr(value, "value", None)):
        if isinstance(it, Decimal | datetime.date):
            return it
    return quote(value.text, limit=_MAX_SHOWN)
