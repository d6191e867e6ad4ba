"""Sets an amount to what follows from the other amounts of the invoice, forwards and backwards.

Amounts that follow from lines at fault are not set: calculated from a line without net amount or VAT category, the
totals would contain the fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from einvoice.model.group import types_of
from einvoice.model.lines import Line
from einvoice.model.values import Amount as AmountValue
from einvoice.model.values import UnitPrice, absent
from einvoice.repair.applicability import SAFE
from einvoice.repair.arithmetic import Amount, calculated, recalculated
from einvoice.repair.case import Candidate, Case, decimal_text
from einvoice.repair.edits import Edit, SetAttribute

_FORWARDS = 25
_MISSING = 26
_BACKWARDS = 70
_CARRIED = 72
_ALL = 75
_UNIT = "unitCode"
_PAID = "paid"
_TOTALS = ("line_net", "net", "gross", "due")
"""Totals in the order in which each is calculated from the one before."""


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield a candidate for each amount that differs from the calculated one, and one for all of them."""
    missing: dict[tuple[type, str, bool], list[tuple[Edit, Amount]]] = {}
    for it in calculated(case.invoice):
        if (edit := _edit(case, it)) and not _lacks_unit(case, it):
            rank = _BACKWARDS if it.is_input else _FORWARDS
            is_total = not it.is_input and not isinstance(it.group, Line)
            edits = (edit, *_unit(case, it))
            candidate = Candidate(edits, rank, SAFE, _terms(case, it), it.is_input, is_total=is_total)
            # Only the issuer knows what was paid.
            yield replace(candidate, only_doubt=not it.is_possible, beside=it.field == _PAID)
            if getattr(it.group, it.field) is absent:
                missing.setdefault((type(it.group), it.field, it.is_input), []).append((edit, it))
    for found in missing.values():  # amounts that depend on all of them may be right
        if len({id(it.group) for _, it in found}) == len(found) > 1:
            terms = tuple(term for _, it in found for term in _terms(case, it))
            yield Candidate(tuple(edit for edit, _ in found), _MISSING, SAFE, terms)
    changed = recalculated(case.invoice, with_lines=False)
    yield from _carried(case, changed)
    yield from _together(case, changed, _ALL)
    yield from _together(case, recalculated(case.invoice, with_lines=True), _ALL)


def _carried(case: Case, changed: Sequence[Amount]) -> Iterator[Candidate]:
    """Yield one candidate for totals that differ by the same amount: an error is carried from each one to the next."""
    totals = {it.field: it for it in changed if it.group is case.invoice.totals}
    run: list[Amount] = []
    for field in (*_TOTALS, ""):
        it = totals.get(field)
        if run and (it is None or _error(it) != _error(run[-1])):
            if len(run) > 1:
                yield from _together(case, run, _CARRIED)
            run = []
        if it is not None and _error(it) is not absent:
            run.append(it)


def _error(amount: Amount) -> Any:
    """Return by how much the stated amount is wrong; absent if there is none."""
    return getattr(amount.group, amount.field).number - amount.number


def _together(case: Case, amounts: Sequence[Amount], rank: int) -> Iterator[Candidate]:
    """Yield one candidate that sets several amounts."""
    edited = [(edit, it) for it in amounts if (edit := _edit(case, it))]
    if edited:
        terms = tuple(term for _, it in edited for term in _terms(case, it))
        edits = tuple(edit for edit, _ in edited)
        yield Candidate(edits, rank, SAFE, terms, is_fallback=rank == _ALL, is_total=True)


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
    if unit := _unit_of_others(case, amount):
        attributes = {_UNIT: unit}
    return case.add(amount.group, amount.field, text, attributes)


def _unit(case: Case, amount: Amount) -> Iterator[Edit]:
    """Yield the edit that adds the unit to a quantity without one."""
    value = getattr(amount.group, amount.field)
    if value is not absent and not value.attributes.get(_UNIT) and (unit := _unit_of_others(case, amount)):
        yield SetAttribute(case.xpath(value.node), _UNIT, unit)


def _lacks_unit(case: Case, amount: Amount) -> bool:
    """Return whether the quantity of a line has no unit and none is known; without it, the line remains incomplete."""
    if amount.field != "quantity":
        return False
    value = getattr(amount.group, amount.field)
    unit = value.attributes.get(_UNIT) if value is not absent else ""
    return not unit and not _unit_of_others(case, amount)


def _unit_of_others(case: Case, amount: Amount) -> str:
    """Return the unit for the quantity of a line: that of its base quantity, or else that of all other lines."""
    line = amount.group
    if amount.field != "quantity" or not isinstance(line, Line):
        return ""
    base = line.price.base_quantity
    if base is not absent and base.attributes.get(_UNIT):
        return str(base.attributes[_UNIT])
    quantities = [it.quantity for it in case.invoice.lines if it is not line]
    units = {it.attributes.get(_UNIT, "") for it in quantities if it is not absent}
    return str(units.pop()) if len(units) == 1 else ""


def _terms(case: Case, amount: Amount) -> tuple[str, ...]:
    number = case.term_of(amount.group, amount.field)
    return (number,) if number else ()
