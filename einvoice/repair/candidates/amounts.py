"""Sets an amount to what follows from the other amounts of the invoice, forwards and backwards."""

from __future__ import annotations

from collections.abc import Iterator

from einvoice.model.group import terms_of, types_of
from einvoice.model.values import Amount as AmountValue
from einvoice.model.values import UnitPrice, absent
from einvoice.repair.arithmetic import Amount, calculated
from einvoice.repair.case import Candidate, Case, decimal_text

_FORWARDS = 25
_BACKWARDS = 70


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield a candidate for each amount that differs from the calculated one."""
    for it in calculated(case.invoice):
        value = getattr(it.group, it.field)
        if value is not absent and (value.number == it.number or value.node is None):
            continue
        kind, _ = types_of(type(it.group))[it.field]
        is_money = issubclass(kind, AmountValue) and not issubclass(kind, UnitPrice)
        text = decimal_text(it.number, 2 if is_money else 0)
        attributes = case.currency_attributes if issubclass(kind, AmountValue) else {}
        edit = case.add(it.group, it.field, text, attributes) if value is absent else case.set(value, text)
        if edit:
            rank = _BACKWARDS if it.is_input else _FORWARDS
            yield Candidate((edit,), rank, not it.is_input, _terms(case, it), alternative=it.is_input)


def _terms(case: Case, amount: Amount) -> tuple[str, ...]:
    known = [it.number for it in case.values if it.group is amount.group and it.field == amount.field]
    return tuple(number for number in known or terms_of(type(amount.group), amount.field) if number)[:1]
