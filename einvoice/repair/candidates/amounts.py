"""Sets an amount to what follows from the other amounts of the invoice, forwards and backwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from einvoice.model.group import terms_of, types_of
from einvoice.model.values import Amount as AmountValue
from einvoice.model.values import UnitPrice, absent
from einvoice.repair.arithmetic import Amount, calculated, recalculated
from einvoice.repair.case import Candidate, Case, decimal_text
from einvoice.repair.edits import Edit

_FORWARDS = 25
_BACKWARDS = 70
_ALL = 75


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield a candidate for each amount that differs from the calculated one, and one for all of them."""
    numbers = {(id(it.group), it.field): it.number for it in reversed(case.values) if it.number}
    for it in calculated(case.invoice):
        if edit := _edit(case, it):
            rank = _BACKWARDS if it.is_input else _FORWARDS
            yield Candidate((edit,), rank, not it.is_input, _terms(numbers, it), alternative=it.is_input)
    for with_lines in (False, True):
        amounts = [(edit, it) for it in recalculated(case.invoice, with_lines=with_lines) if (edit := _edit(case, it))]
        if amounts:
            terms = tuple(term for _, it in amounts for term in _terms(numbers, it))
            yield Candidate(tuple(edit for edit, _ in amounts), _ALL, True, terms, is_fallback=True)


def _edit(case: Case, amount: Amount) -> Edit | None:
    """Return the edit that sets an amount; None if it has that value or the syntax has no place for it."""
    value = getattr(amount.group, amount.field)
    if value is not absent and (value.number == amount.number or value.node is None):
        return None
    kind, _ = types_of(type(amount.group))[amount.field]
    is_money = issubclass(kind, AmountValue) and not issubclass(kind, UnitPrice)
    text = decimal_text(amount.number, 2 if is_money else 0)
    if value is not absent:
        return case.set(value, text)
    attributes = case.currency_attributes if issubclass(kind, AmountValue) else {}
    return case.add(amount.group, amount.field, text, attributes)


def _terms(numbers: Mapping[tuple[int, str], str], amount: Amount) -> tuple[str, ...]:
    """Return the business term of an amount; `numbers` are those of the values of the invoice by group and field."""
    known = numbers.get((id(amount.group), amount.field))
    possible = (known,) if known else terms_of(type(amount.group), amount.field)
    return tuple(number for number in possible if number)[:1]
