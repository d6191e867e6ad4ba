"""Judges what a change may do by the equations around the numbers that it sets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any, Final

from einvoice.causes.applicability import QUESTION, SAFE, UNSAFE, Applicability
from einvoice.editing.edits import Edit, Insert, Remove, SetAttribute, SetText
from einvoice.editing.finder import Finder
from einvoice.model.calculation import Calculation, Operand, calculations, round2
from einvoice.model.invoice import Invoice
from einvoice.model.iteration import Filled
from einvoice.model.values import Amount, Number, UnitPrice, absent
from einvoice.reconciliation.readings import readings
from einvoice.repair.case import Case

_CURRENCY: Final = "currencyID"
_DUE: Final = "BT-115"
_GIVEN: Final = frozenset(("BT-113", "BT-114", "BT-129", "BT-149"))
"""Numbers that no other number of an invoice proves: what was paid, rounded, delivered."""
_RATES: Final = frozenset(("BT-96", "BT-103", "BT-119", "BT-152"))
_BY_VAT: Final = frozenset(("BT-116", "BT-117", "BT-110"))
_POWER: Final = re.compile("[0-9][eE]")
_MIN_FACTS: Final = 2


def judged(
    before: Case, after: Case, edits: Sequence[Edit], ceiling: Applicability, *, is_combined: bool = False
) -> Applicability:
    """Return what a change may do.

    Args:
        before: the document.
        after: the changed document.
        edits: the change.
        ceiling: what the change may do at most.
        is_combined: whether it adds up entries of the VAT breakdown, whose numbers change as their sums do not.
    """
    if ceiling is QUESTION:
        return QUESTION
    return max((ceiling, *_Numbers(before, after).judged(edits, is_combined=is_combined)))


class _Numbers:
    """Judges the numbers that a change sets or adds by the equations around them."""

    def __init__(self, before: Case, after: Case) -> None:
        self._before, self._after = before, after
        self._was, self._is = _Equations(before.invoice), _Equations(after.invoice)
        self._finders = Finder(before.root), Finder(after.root)

    def judged(self, edits: Iterable[Edit], *, is_combined: bool) -> Iterator[Applicability]:
        removes = False
        for edit in edits:
            removes = removes or isinstance(edit, Remove)
            if isinstance(edit, SetAttribute) and edit.name == _CURRENCY:
                yield self._currency(edit)
            for old, new in () if is_combined else self._changed(edit):
                if isinstance(new.value, Number):
                    yield self._number(old, new)
        if removes and not self._is.agree_by_vat:
            yield QUESTION

    def _currency(self, edit: SetAttribute) -> Applicability:
        """Return what may be done with the currency of an amount: it is right if the amount agrees with the others."""
        nodes = self._finders[1].find(edit.xpath)
        amounts = [it for node in nodes for it in self._after.by_element.get(node, ()) if not it.value.attribute]
        around = [found for it in amounts for found in self._is.around(it.value)]
        return SAFE if all(it.agrees for it in around) else QUESTION

    def _changed(self, edit: Edit) -> Iterator[tuple[Filled | None, Filled]]:
        """Yield the values that an edit of a text changes, before and after; None for one that is added."""
        if not isinstance(edit, SetText | SetAttribute | Insert):
            return
        attribute = edit.name if isinstance(edit, SetAttribute) else None
        path = "/".join((edit.parent, *edit.path)) if isinstance(edit, Insert) else edit.xpath
        before, after = (it.find(path) for it in self._finders)
        old = {} if isinstance(edit, Insert) else self._values(self._before, before, attribute)
        for key, new in self._values(self._after, after[-1:], attribute).items():
            yield old.get(key), new

    @staticmethod
    def _values(case: Case, nodes: Iterable[Any], attribute: str | None) -> dict[str, Filled]:
        found = (it for node in nodes for it in case.by_element.get(node, ()))
        return {it.field: it for it in found if it.value.attribute == attribute}

    def _number(self, old: Filled | None, new: Filled) -> Applicability:
        number, given = _number(new), absent if old is None else _number(old)
        if number is absent:
            return QUESTION
        if given is not absent and given == number:
            return SAFE
        around = self._is.around(new.value)
        if old is not None and given is absent and (known := readings(old.value)):
            return _read(new, old.value.raw, known, around) if number in known else QUESTION
        if any(it.holds is False for it in around) or new.number in _GIVEN:
            return QUESTION
        if given is not absent and isinstance(new.value, Amount) and not isinstance(new.value, UnitPrice):
            is_rounded = abs(given - number) < Decimal("0.01") and round2(given) != given
            if is_rounded and (new.number == _DUE or not around):
                return UNSAFE
        if new.number == _DUE:
            return QUESTION
        if old is not None and any(it.agrees for it in self._was.around(old.value)):
            return QUESTION
        if new.number in _RATES:
            return self._rate(new)
        return self._proven(around, new)

    def _proven(self, around: Sequence[_Equation], new: Filled) -> Applicability:
        """Return what may be done with a number that no equation contradicts and that contradicted each before."""
        exact = [it for it in around if it.agrees]
        demands = [it for it in exact if _is_unique(it, new)]
        if not demands or len(exact) < len(around):
            return QUESTION
        if len(exact) >= _MIN_FACTS:
            return SAFE
        others = [it for it in demands[0].numbers if not _is_of(it, new.value)]
        supports = ([it for it in self._is.around(o.value) if it is not demands[0]] for o in others)
        return UNSAFE if others and all(any(it.agrees for it in these) for these in supports) else QUESTION

    def _rate(self, new: Filled) -> Applicability:
        """Return what may be done with a VAT rate: it is right if all amounts by VAT agree with it, and did not."""
        return UNSAFE if self._is.agree_by_vat and not self._was.agree_by_vat else QUESTION


def _number(filled: Filled) -> Any:
    return filled.value.number if isinstance(filled.value, Number) else absent


def agrees(calculation: Calculation) -> bool:
    """Return whether the stated result is exactly the calculated one; a rule may accept a difference of cents."""
    return not calculation.lacking and calculation.result.number == calculation.solve().number


class _Equation:
    """A calculation whose answers are kept, since many numbers of a sum ask for them."""

    def __init__(self, calculation: Calculation) -> None:
        self.calculation = calculation
        self.numbers = calculation.result, *calculation.operands

    @cached_property
    def holds(self) -> bool | None:
        return self.calculation.holds

    @cached_property
    def agrees(self) -> bool:
        return agrees(self.calculation)


class _Equations:
    """The equations of an invoice."""

    def __init__(self, invoice: Invoice) -> None:
        self._all = [_Equation(it) for it in calculations(invoice)]

    def around(self, value: Any) -> list[_Equation]:
        """Return the equations that a value is part of."""
        return self._by_value.get((value.node, value.attribute), []) if value is not absent else []

    @cached_property
    def _by_value(self) -> dict[tuple[Any, Any], list[_Equation]]:
        found: dict[tuple[Any, Any], dict[_Equation, None]] = {}
        for it in self._all:
            for value in (operand.value for operand in it.numbers):
                if value is not absent:
                    found.setdefault((value.node, value.attribute), {})[it] = None
        return {key: list(these) for key, these in found.items()}

    @cached_property
    def agree_by_vat(self) -> bool:
        """Whether all amounts that depend on VAT rates agree exactly with the others."""
        return all(it.agrees for it in self._all if it.calculation.equation.result in _BY_VAT)


def _is_of(operand: Operand, value: Any) -> bool:
    """Return whether an operand has this value; a value can be in several groups, as the total VAT amount is."""
    own = operand.value
    return own is not absent and value is not absent and own.node is value.node and own.attribute == value.attribute


def _is_unique(equation: _Equation, new: Filled) -> bool:
    """Return whether an equation has one solution for a value: not for a factor of a rounded product."""
    (term,) = {it.term for it in equation.numbers if _is_of(it, new.value)}
    return term not in (*equation.calculation.equation.factors, equation.calculation.equation.divisor)


def _read(new: Filled, text: str, known: Sequence[Decimal], around: Sequence[_Equation]) -> Applicability:
    """Return what may be done with one of the readings of a text that is no number."""
    is_plain = len(known) == 1 and not _POWER.search(text)
    if any(it.holds is False for it in around):
        return UNSAFE if is_plain and new.number != _DUE else QUESTION
    if around and all(it.agrees for it in around):
        return SAFE if len(known) == 1 else UNSAFE
    return SAFE if is_plain else QUESTION
