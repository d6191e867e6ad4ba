"""The faults of a container as findings, and the verdict on it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, cast

from einvoice import errors
from einvoice.pdf.hybrid import Fault, Hybrid
from einvoice.result import Container, Finding, Language, Layer, Severity
from einvoice.rulebook.catalog import entry

LAYER: Final = "pdf"
_LONGEST: Final = 300
_TITLE: Final = {
    "de": "Container-Prüfung, keine vollständige PDF/A-Prüfung",
    "en": "Container check, no full PDF/A validation",
}
_WITH_VERAPDF: Final = {"de": "Container-Prüfung mit veraPDF", "en": "Container check with veraPDF"}


def judge(data: bytes, hybrid: Hybrid, lang: Language) -> tuple[Container, Layer]:
    """Return the verdict on a container, with its findings, and the layer that it adds to the stack."""
    from einvoice.pdf import verapdf  # with what runs other programs, which takes a while to import

    faults, command = list(hybrid.faults), verapdf.command()
    if command:
        faults += verapdf.faults(data, command)
    findings = tuple(_findings(faults, lang))
    title = _WITH_VERAPDF if command else _TITLE
    chosen = hybrid.chosen
    candidates = tuple(errors.quote(file.name, limit=_LONGEST) for file in hybrid.candidates)
    container = Container(candidates[0], chosen.relationship, candidates, findings, title, lang)
    return container, Layer(LAYER, title, rules=hybrid.checks)


def _findings(faults: Iterable[Fault], lang: Language) -> Iterable[Finding]:
    for code, values in faults:
        known = entry(code)
        severity = cast("Severity", known.severity)
        shown = {
            name: errors.quote(value, limit=_LONGEST) if isinstance(value, str) else value
            for name, value in values.items()
        }
        yield Finding(code, severity, severity, LAYER, known.section, known.terms, values=shown, lang=lang)
