"""Checks of the file structure (ISO 19005-3, 6.1)."""

from __future__ import annotations

from typing import Final

from einvoice.pdf.container.check import Faults, check
from einvoice.pdf.reader.colours import device_colours
from einvoice.pdf.reader.opened_pdf import OpenedPdf
from einvoice.pdf.reader.streams import entry, items, message, text
from einvoice.quotation import quote

_MAX_INTENTS: Final = 20


@check("PDF-HEADER")
def header(opened: OpenedPdf) -> Faults:
    """The header is at the start of the file (6.1.2)."""
    offset = opened.data.find(b"%PDF-")
    if offset:
        yield {"bytes": offset}


@check("PDF-REPAIRED")
def repaired(opened: OpenedPdf) -> Faults:
    """The PDF reader did not have to repair any damage."""
    if opened.repairs:
        yield {"reason": quote(message(opened.repairs[0]), limit=100), "count": len(opened.repairs)}


@check("PDF-ENCRYPTED")
def encrypted(opened: OpenedPdf) -> Faults:
    """The file is not encrypted, even if it opens without a password (6.1.3)."""
    if opened.pdf.is_encrypted:
        yield {}


@check("PDF-FILE-ID")
def file_id(opened: OpenedPdf) -> Faults:
    """The trailer has a file identifier (6.1.3)."""
    if len(list(items(opened.pdf.trailer.get("/ID"), 2))) < 2:
        yield {}


@check("PDF-OUTPUT-INTENT")
def output_intent(opened: OpenedPdf) -> Faults:
    """Device-dependent colours require an output intent with an ICC profile (6.2.3, 6.2.4.3)."""
    intents = items(entry(opened.pdf.Root, "/OutputIntents"), _MAX_INTENTS)
    if any(text(entry(it, "/S")) == "/GTS_PDFA1" and entry(it, "/DestOutputProfile") is not None for it in intents):
        return
    if colours := device_colours(opened.resources):
        yield {"colours": ", ".join(colours)}
