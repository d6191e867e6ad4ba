"""The validation result of a hybrid PDF container: its faults as findings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, cast

from einvoice.localization import Messages
from einvoice.pdf.hybrid import Fault, Hybrid
from einvoice.quotation import quote
from einvoice.result import Container, Finding, Language, Layer, Severity
from einvoice.rulebook.catalog import entry

LAYER: Final = "pdf"
_MAX_LENGTH: Final = 300
_MESSAGES: Final = Messages("einvoice.pdf", "container")


def validate_container(data: bytes, hybrid: Hybrid, lang: Language) -> tuple[Container, Layer]:
    """Return the result for a container, and its layer of the validation stack."""
    from einvoice.pdf import verapdf  # imports subprocess, which is slow

    faults, command = list(hybrid.faults), verapdf.command()
    if command:
        faults += verapdf.faults(data, command)
    findings = tuple(_findings(faults, lang))
    title = _MESSAGES.translations("title_with_verapdf" if command else "title")
    chosen = hybrid.chosen
    candidates = tuple(quote(file.name, limit=_MAX_LENGTH) for file in hybrid.candidates)
    container = Container(candidates[0], chosen.relationship, candidates, findings, title, lang, hybrid.signed)
    return container, Layer(LAYER, title, rules=hybrid.checks)


def _findings(faults: Iterable[Fault], lang: Language) -> Iterable[Finding]:
    for code, values in faults:
        rule = entry(code)
        severity = cast("Severity", rule.severity)
        quoted = {
            name: quote(value, limit=_MAX_LENGTH) if isinstance(value, str) else value for name, value in values.items()
        }
        yield Finding(code, severity, severity, LAYER, rule.section, rule.terms, values=quoted, lang=lang)
