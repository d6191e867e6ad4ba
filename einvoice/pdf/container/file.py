"""The file as a whole (ISO 19005-3, 6.1)."""

from __future__ import annotations

from typing import Final

from einvoice import errors
from einvoice.pdf.container.check import Faults, check
from einvoice.pdf.reader.opened import Opened
from einvoice.pdf.reader.streams import entry, items, message, text

_MOST_INTENTS: Final = 20


@check("PDF-HEADER")
def header(opened: Opened) -> Faults:
    """The header is the very first thing (6.1.2)."""
    before = opened.data.find(b"%PDF-")
    if before:
        yield {"bytes": before}


@check("PDF-REPAIRED")
def repaired(opened: Opened) -> Faults:
    """The reader had nothing to mend."""
    if opened.repairs:
        yield {"reason": errors.quote(message(opened.repairs[0]), limit=100), "count": len(opened.repairs)}


@check("PDF-ENCRYPTED")
def encrypted(opened: Opened) -> Faults:
    """No encryption, not even one that opens without a password (6.1.3)."""
    if opened.pdf.is_encrypted:
        yield {}


@check("PDF-FILE-ID")
def file_id(opened: Opened) -> Faults:
    """The trailer has the identifier of the file (6.1.3)."""
    if len(list(items(opened.pdf.trailer.get("/ID"), 2))) < 2:
        yield {}


@check("PDF-OUTPUT-INTENT")
def output_intent(opened: Opened) -> Faults:
    """Colours that depend on a device need an output intent with a profile (6.2.3); what colours there are, we do not
    look at, so its absence proves nothing."""
    intents = items(entry(opened.pdf.Root, "/OutputIntents"), _MOST_INTENTS)
    if not any(text(entry(it, "/S")) == "/GTS_PDFA1" and entry(it, "/DestOutputProfile") is not None for it in intents):
        yield {}
