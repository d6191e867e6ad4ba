"""Fills in terms that the rest of the invoice determines: process, specification, line number, VAT category."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from einvoice.causes.applicability import QUESTION, UNSAFE, Applicability
from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.lines import Line
from einvoice.model.values import absent
from einvoice.repair.case import Case
from einvoice.repair.proposal import Proposal
from einvoice.syntax.remarks import nearest
from einvoice.syntax.specifications import Specification, declared_specification, specifications


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield proposals for missing and empty terms."""
    invoice = case.invoice
    if _is_doubtful(case, invoice.business_process, "BT-23"):
        for process in _processes(case):
            yield from _filled(case, invoice, "business_process", process, "BT-23", UNSAFE)
    yield from _specification(case)
    numbers = {line.identifier.text for line in invoice.lines if line.identifier is not absent}
    for position, line in enumerate(invoice.lines, 1):
        if line.identifier is absent or not line.identifier.filled:
            free = next(str(it) for it in range(position, position + len(numbers) + 1) if str(it) not in numbers)
            ceiling = UNSAFE if _is_numbered(case, line, free) else QUESTION
            yield from _filled(case, line, "identifier", free, "BT-126", ceiling)


def _processes(case: Case) -> list[str]:
    """Return the process of the declared specification; if that has none of its own, those of all current ones."""
    declared = case.invoice.specification
    known = declared_specification(case.syntax, declared.raw.strip() if declared is not absent else None, case.rules)
    found = [known] if known.business_process else _current()
    return list(dict.fromkeys(it.business_process for it in found if it.business_process))


def _specification(case: Case) -> Iterator[Proposal]:
    """Yield the current specification that the declared one resembles; if none is declared, those that are possible.

    A specification of another country, or another edition, is never replaced: that would only change the label.
    No other is tried: under a specification with fewer rules, findings would vanish that remain true. That the invoice
    suggests no specification does not mean that it follows EN 16931 alone.
    """
    specification = case.invoice.specification
    if not _is_doubtful(case, specification, "BT-24"):
        return
    if declared := specification.raw.strip() if specification is not absent else "":
        known = declared_specification(case.syntax, declared, case.rules)
        similar = None if known.pattern else nearest(declared, case.syntax, case.rules)
        if similar and similar.has_rules:
            yield from _filled(case, case.invoice, "specification", similar.identifiers[0], "BT-24")
        return
    core, *others = [it for it in _current() if case.syntax in it.syntaxes]
    suggested = [it for it in others if _suggests(case.invoice, it)]
    for it in (core, *suggested) if suggested else ():
        for proposal in _filled(case, case.invoice, "specification", it.identifiers[0], "BT-24"):
            yield replace(proposal, alternative=True, beside=it is core)


def _current() -> list[Specification]:
    """Return the specifications that an invoice can declare today; EN 16931 itself is the first."""
    return [it for it in specifications().values() if it.identifiers and it.current]


def _suggests(invoice: Invoice, specification: Specification) -> bool:
    """Return whether the process or the buyer reference of the invoice has the form that the specification uses."""
    return _matches(invoice.business_process, specification.suggested_by_process) or _matches(
        invoice.buyer_reference, specification.suggested_by_buyer_reference
    )


def _matches(value: Any, pattern: str) -> bool:
    return bool(pattern) and value is not absent and re.fullmatch(pattern, value.text, re.DOTALL) is not None


def _is_doubtful(case: Case, value: Any, term: str) -> bool:
    return any(term in finding.terms[:1] for finding in case.findings) or (value is not absent and not value.filled)


def _is_numbered(case: Case, line: Line, free: str) -> bool:
    """Return whether the other lines have their positions as identifiers, so that only this one can be missing."""
    numbered = [(str(at), it) for at, it in enumerate(case.invoice.lines, 1)]
    return len(numbered) > 1 and all((free if it is line else it.identifier.text) == at for at, it in numbered)


def _filled(
    case: Case, group: Group, field: str, text: str, term: str, ceiling: Applicability = QUESTION
) -> Iterator[Proposal]:
    value = getattr(group, field)
    if value is not absent and value.raw == text:
        return
    edit = case.give(group, field, text)
    ceiling = QUESTION if value is not absent and value.filled else ceiling
    if edit:
        yield Proposal((edit,), ceiling, terms=(term,) if term else tuple(filter(None, (case.term_of(group, field),))))
