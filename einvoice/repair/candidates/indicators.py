"""Makes an allowance a charge, or a charge an allowance, if the amounts of the invoice were calculated that way."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from einvoice.model.lines import Line
from einvoice.model.values import absent
from einvoice.repair.arithmetic import net_amount, total
from einvoice.repair.case import Candidate, Case

_RANK = 24  # before the sums, which would include it with the wrong sign
_OTHER: Final = {"true": "false", "false": "true", "1": "0", "0": "1"}


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield a candidate for each indicator with whose other value the sums, or the net amount of a line, are right."""
    for it in case.invoice.allowances_and_charges:
        if _explains_sums(case, it):
            yield from _other(case, it)
    for line in case.invoice.lines:
        for it in line.allowances_and_charges:
            if _explains_line(line, it):
                yield from _other(case, it)


def _other(case: Case, item: Any) -> Iterator[Candidate]:
    other = _OTHER.get(item.indicator.text) if item.indicator is not absent else None
    if other and item.indicator.node is not None:
        turned = {it.number for node in item.node.iter() for it in case.by_element.get(node, ())}
        yield Candidate((case.set(item.indicator, other),), _RANK, turned=tuple(sorted(turned)))


def _explains_sums(case: Case, item: Any) -> bool:
    """Return whether the sums of allowances (BT-107) and charges (BT-108) are wrong by its amount, each way."""
    totals, amount = case.invoice.totals, item.amount.number if item.is_charge else -item.amount.number
    if amount is absent or not amount:
        return False
    sums = ((totals.allowances, case.invoice.allowances, -amount), (totals.charges, case.invoice.charges, amount))
    return all(total(it.amount.number for it in items) - _known(stated) == by for stated, items, by in sums)


def _known(stated: Any) -> Any:
    return Decimal(0) if stated is absent else stated.number


def _explains_line(line: Line, item: Any) -> bool:
    """Return whether the net amount of a line is wrong by twice its amount."""
    amount, expected = item.amount.number if item.is_charge else -item.amount.number, net_amount(line)
    return amount is not absent and bool(amount) and bool(expected - line.net_amount.number == 2 * amount)
