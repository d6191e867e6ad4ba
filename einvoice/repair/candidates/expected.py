"""Sets a term to the value that a rule calculated."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from einvoice.model.calculation import calculations
from einvoice.model.group import types_of
from einvoice.model.lines import Line
from einvoice.model.values import Amount, absent
from einvoice.repair.applicability import QUESTION, SAFE
from einvoice.repair.arithmetic import has_repeated_breakdown, unclassified
from einvoice.repair.case import Candidate, Case, decimal_text
from einvoice.result import Finding

_RANK = 20
_SCHEMA: Final = "schema"
"""Layer whose findings name the elements that they expect, no values."""


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield a candidate for each finding of a rule with an expected value."""
    totals = _calculated_from_faulty_lines(case) | {
        it.equation.result for it in calculations(case.invoice) if it.lacking
    }
    for finding in case.findings:
        expected = finding.values.get("expected")
        if expected is None or isinstance(expected, bool) or finding.layer == _SCHEMA:
            continue
        if not totals.isdisjoint(finding.terms[:1]) or _lacks_factor(case, finding):
            continue
        text = _text(expected)
        is_amount = isinstance(expected, Decimal)
        ceiling = SAFE if is_amount else QUESTION
        is_total = is_amount and finding.terms[:1] != ("BT-131",)
        known = case.value_at(finding)
        if known is not None:
            if known.value.raw != text:
                yield Candidate((case.set(known.value, text),), _RANK, ceiling, finding.terms[:1], is_total=is_total)
        elif missing := case.missing_at(finding):
            group, field = missing
            attributes = case.currency_attributes if _is_amount(group, field) else {}
            if edit := case.add(group, field, text, attributes):
                yield Candidate((edit,), _RANK, ceiling, finding.terms[:1], is_total=is_total)


def _calculated_from_faulty_lines(case: Case) -> set[str]:
    """Return the sums that no rule calculates correctly, as the lines lack amounts, VAT categories or rates."""
    invoice = case.invoice
    if not invoice.lines or any(line.net_amount.number is absent for line in invoice.lines):
        return {"BT-106", "BT-116"}
    return {"BT-116"} if unclassified(invoice) or has_repeated_breakdown(invoice) else set()


def _lacks_factor(case: Case, finding: Finding) -> bool:
    """Return whether the line of a net amount has no quantity or price; rules assume one for them."""
    if finding.terms[:1] != ("BT-131",):
        return False
    node = finding.location.node
    groups = () if node is None else map(case.groups.get, (node, *node.iterancestors()))
    line = next((it for it in groups if isinstance(it, Line)), None)
    return line is not None and (line.quantity.number is absent or line.price.net.number is absent)


def _text(expected: Any) -> str:
    if isinstance(expected, Decimal):
        return decimal_text(expected, 2)
    return expected.isoformat() if isinstance(expected, datetime.date) else str(expected)


def _is_amount(group: Any, field: str) -> bool:
    kind, _ = types_of(type(group))[field]
    return issubclass(kind, Amount)
