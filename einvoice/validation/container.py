"""The validation result of a hybrid PDF container: its faults as findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from einvoice.localization import Messages
from einvoice.quotation import quote
from einvoice.result import Container, Layer

if TYPE_CHECKING:
    from einvoice.pdf.hybrid import Hybrid
    from einvoice.validation.findings import FindingBuilder

LAYER: Final = "pdf"
_MAX_LENGTH: Final = 300
"""Maximum number of characters of the name of an attachment."""
_MESSAGES: Final = Messages("einvoice.pdf", "container")


def validate_container(data: bytes, hybrid: Hybrid, build: FindingBuilder) -> tuple[Container, Layer]:
    """Return the result for a container, and its layer of the validation stack."""
    from einvoice.pdf import verapdf  # imports subprocess, which is slow

    faults, command = list(hybrid.faults), verapdf.command()
    if command:
        faults += verapdf.faults(data, command)
    findings = tuple(build.of_entry(code, LAYER, None, values) for code, values in faults)
    title = _MESSAGES.translations("title_with_verapdf" if command else "title")
    candidates = tuple(quote(file.name, limit=_MAX_LENGTH) for file in hybrid.candidates)
    relationship = hybrid.chosen.relationship
    container = Container(candidates[0], relationship, candidates, findings, title, build.lang, hybrid.signed)
    return container, Layer(LAYER, title, rules=hybrid.checks)
