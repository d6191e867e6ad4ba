"""Sets a term to the value that a rule calculated."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from einvoice.causes.applicability import QUESTION, SAFE
from einvoice.model.calculation import rule_in_table
from einvoice.model.group import types_of
from einvoice.model.values import Amount
from einvoice.repair.case import Case, decimal_text
from einvoice.repair.proposal import Proposal

_SCHEMA: Final = "schema"
"""Layer whose findings name the elements that they expect, no values."""


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal for each finding of a rule with an expected value, unless it is one of the equations."""
    equations = {code for it in case.hypotheses.calculations for code in it.rules}
    for finding in case.findings:
        expected, code = finding.values.get("expected"), rule_in_table(finding.code)
        if expected is None or isinstance(expected, bool) or finding.layer == _SCHEMA or code in equations:
            continue
        text = _text(expected)
        ceiling = SAFE if isinstance(expected, Decimal) else QUESTION
        known = case.value_at(finding)
        if known is not None:
            if known.value.raw != text:
                yield Proposal((case.set(known.value, text),), ceiling, finding.terms[:1])
        elif missing := case.missing_at(finding):
            group, field = missing
            attributes = case.currency_attributes if _is_amount(group, field) else {}
            if edit := case.add(group, field, text, attributes):
                yield Proposal((edit,), ceiling, finding.terms[:1])


def _text(expected: Any) -> str:
    if isinstance(expected, Decimal):
        return decimal_text(expected, 2)
    return expected.isoformat() if isinstance(expected, datetime.date) else str(expected)


def _is_amount(group: Any, field: str) -> bool:
    kind, _ = types_of(type(group))[field]
    return issubclass(kind, Amount)
