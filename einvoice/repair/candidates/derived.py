"""Fills in terms that the rest of the invoice determines: process, specification, line number, VAT category."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final

from einvoice.model.group import Group, terms_of
from einvoice.model.values import absent
from einvoice.repair.case import Candidate, Case
from einvoice.syntax.detect import specifications

_RANK = 30
_PROCESS: Final = "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"
"""BT-23 of an invoice that no other process is agreed for (Peppol BIS Billing 3.0; XRechnung adopted it)."""


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield candidates for missing and empty terms."""
    invoice = case.invoice
    if _is_doubtful(case, invoice.business_process, "BT-23"):
        yield from _filled(case, invoice, "business_process", _PROCESS, "BT-23")
    yield from _specification(case)
    numbers = {line.identifier.text for line in invoice.lines if line.identifier is not absent}
    for position, line in enumerate(invoice.lines, 1):
        if line.identifier is absent or not line.identifier.filled:
            free = next(str(it) for it in range(position, position + len(numbers) + 1) if str(it) not in numbers)
            yield from _filled(case, line, "identifier", free, "BT-126")


def _specification(case: Case) -> Iterator[Candidate]:
    """Yield the current specification that the declared one resembles, EN 16931 if none is declared.

    No other is tried: under a specification with fewer rules, findings would vanish that remain true.
    """
    specification = case.invoice.specification
    if not _is_doubtful(case, specification, "BT-24"):
        return
    known = [it.identifiers[0] for it in specifications().values() if it.identifiers and it.current]
    declared = specification.raw.strip() if specification is not absent else ""
    for identifier in get_close_matches(declared, known, 1, 0.8) if declared else known[:1]:
        yield from _filled(case, case.invoice, "specification", identifier, "BT-24")


def _is_doubtful(case: Case, value: Any, term: str) -> bool:
    return any(term in finding.terms[:1] for finding in case.findings) or (value is not absent and not value.filled)


def _filled(case: Case, group: Group, field: str, text: str, term: str) -> Iterator[Candidate]:
    value = getattr(group, field)
    if value is not absent and value.raw == text:
        return
    edit = case.add(group, field, text) if value is absent else case.set(value, text)
    if edit:
        yield Candidate((edit,), _RANK, terms=(term,) if term else terms_of(type(group), field)[:1])
