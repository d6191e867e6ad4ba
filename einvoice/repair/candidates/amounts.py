"""Sets an amount to what follows from the other amounts of the invoice, forwards and backwards.

Amounts that follow from lines at fault are not set: calculated from a line without net amount or VAT category, the
totals would contain the fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from einvoice.model.group import terms_of, types_of
from einvoice.model.lines import Line
from einvoice.model.values import Amount as AmountValue
from einvoice.model.values import UnitPrice, absent
from einvoice.repair.arithmetic import Amount, calculated, recalculated
from einvoice.repair.case import Candidate, Case, decimal_text
from einvoice.repair.edits import Edit

_FORWARDS = 25
_MISSING = 26
_BACKWARDS = 70
_ALL = 75

# Amounts at the start and at the end of a calculation. If both differ, the invoice states all amounts between them
# consistently, and the value from which they are calculated (a line, a rate) may be wrong instead.
_CONSISTENT = ({"BT-106", "BT-116"}, {"BT-117", "BT-115"})


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield a candidate for each amount that differs from the calculated one, and one for all of them."""
    numbers = case.numbers
    missing: dict[tuple[type, str, bool], list[tuple[Edit, Amount]]] = {}
    for it in calculated(case.invoice):
        if edit := _edit(case, it):
            rank = _BACKWARDS if it.is_input else _FORWARDS
            is_total = not it.is_input and not isinstance(it.group, Line)
            yield Candidate((edit,), rank, not it.is_input, _terms(numbers, it), it.is_input, is_total=is_total)
            if getattr(it.group, it.field) is absent:
                missing.setdefault((type(it.group), it.field, it.is_input), []).append((edit, it))
    for (_, _, is_input), found in missing.items():  # amounts that depend on all of them may be right
        if len({id(it.group) for _, it in found}) == len(found) > 1:
            terms = tuple(term for _, it in found for term in _terms(numbers, it))
            yield Candidate(tuple(edit for edit, _ in found), _MISSING, not is_input, terms)
    for with_lines in (False, True):
        amounts = [(edit, it) for it in recalculated(case.invoice, with_lines=with_lines) if (edit := _edit(case, it))]
        if amounts:
            terms = tuple(term for _, it in amounts for term in _terms(numbers, it))
            is_safe = not with_lines and not any(pair <= set(terms) for pair in _CONSISTENT)
            edits = tuple(edit for edit, _ in amounts)
            yield Candidate(edits, _ALL, is_safe, terms, is_fallback=True, is_total=True)


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
