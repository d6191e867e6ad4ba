"""Exchanges two values that stand in each other's place: two amounts, or the start and the end of a period."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import combinations
from typing import Any, Final

from einvoice.model.group import Group
from einvoice.model.lines import Line
from einvoice.model.money import VatBreakdown
from einvoice.model.values import absent
from einvoice.repair.applicability import QUESTION, SAFE, Applicability
from einvoice.repair.arithmetic import Amount, calculated, calculated_totals, in_currency
from einvoice.repair.case import Candidate, Case

_RANK = 18  # before the sums, which would be calculated from the exchanged amounts
_PERIOD_RANK = 45
_TOTALS: Final = ("line_net", "allowances", "charges", "net", "gross", "paid", "rounding", "due")
_MIN_WRONG: Final = 2
"""Minimum number of equations that two exchanged amounts violate: each of them is the result of one, or in one."""

Place = tuple[Group, str]


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield a candidate for each pair of amounts that agree with the others when exchanged, and each reversed period.

    Of a period, another date may be wrong; of amounts that then all agree, none is.
    """
    for one, other, is_total in _pairs(case):
        yield from _exchanged(case, one, other, _RANK, SAFE, is_total=is_total)
    of_lines = [it for line in case.invoice.lines for it in line.periods]
    for period in [*case.invoice.periods, *of_lines]:
        start, end = period.start, period.end
        if absent not in (start, end) and absent not in (start.value, end.value) and end.value < start.value:
            yield from _exchanged(case, (period, "start"), (period, "end"), _PERIOD_RANK, QUESTION)


def _pairs(case: Case) -> Iterator[tuple[Place, Place, bool]]:
    """Yield the pairs of amounts whose exchange mends them, and whether all amounts agree then.

    The exchange of two document totals must mend all totals. That of the amounts of a VAT breakdown must mend both:
    another amount can be wrong, too.
    """
    invoice = case.invoice
    wrong = _wrong(calculated(invoice))
    if len(wrong) < _MIN_WRONG:
        return
    totals: list[Place] = [(invoice.totals, field) for field in _TOTALS]
    totals += [(it, "amount") for it in invoice.tax_totals if in_currency(it, invoice)]
    for places in (totals, *(_amounts_of(vat) for vat in invoice.vat_breakdown)):
        stated = [it for it in places if it[0] is not absent and _number(it) is not absent]
        for one, other in combinations(stated, 2):
            if _number(one) != _number(other):
                with _exchange(one, other):
                    if places is totals and _wrong(calculated_totals(invoice)):
                        continue
                    left = _wrong(calculated(invoice))
                own = {(id(group), field) for group, field in (one, other)}
                if left < wrong and len(wrong - left) >= _MIN_WRONG and own.isdisjoint(left):
                    yield one, other, not left


def _amounts_of(vat: VatBreakdown) -> list[Place]:
    return [(vat, "taxable_amount"), (vat, "tax_amount")]


def _wrong(amounts: Iterable[Amount]) -> set[tuple[int, str]]:
    """Return which amounts are not as calculated; a net amount of a line can be agreed instead."""
    results = (it for it in amounts if not it.is_input and not isinstance(it.group, Line))
    return {(id(it.group), it.field) for it in results if getattr(it.group, it.field).number != it.number}


def _number(place: Place) -> Any:
    return getattr(*place).number


@contextmanager
def _exchange(one: Place, other: Place) -> Iterator[None]:
    first, second = getattr(*one), getattr(*other)
    setattr(*one, second)
    setattr(*other, first)
    try:
        yield
    finally:
        setattr(*one, first)
        setattr(*other, second)


def _exchanged(
    case: Case, one: Place, other: Place, rank: int, ceiling: Applicability, *, is_total: bool = False
) -> Iterator[Candidate]:
    first, second = getattr(*one), getattr(*other)
    if first.node is None or second.node is None:
        return
    terms = tuple(case.numbers.get((id(group), field), "") for group, field in (one, other))
    edits = (case.set(first, second.raw), case.set(second, first.raw))
    yield Candidate(edits, rank, ceiling, terms, is_total=is_total, swapped=True)
