"""The equations of an invoice with the numbers that it states, or that are assumed instead: how each of them holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from enum import IntEnum
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice.model.calculation import RATED, Calculation, Operand, calculations, round2
from einvoice.model.invoice import Invoice
from einvoice.model.terms import term
from einvoice.model.values import absent
from einvoice.reconciliation.amounts import unclassified
from einvoice.reconciliation.readings import readings

Key: TypeAlias = tuple[Any, ...]

OF_DOCUMENT: Final = ("", "vat_breakdown")
"""Places of the equations that add amounts of lines, allowances and charges."""
_MAX_OPERANDS: Final = 250_000
"""Maximum number of operands of all equations; where many rows repeat one category, each of them adds all lines."""
NOT_ZERO: Final = frozenset(("BT-92", "BT-99", "BT-136", "BT-141"))
"""Amounts of allowances and charges: nobody states one of 0."""
_NOT_NEGATIVE: Final = frozenset(
    ("BT-92", "BT-99", "BT-113", "BT-136", "BT-141", "BT-146", "BT-147", "BT-148", "BT-149")
)
_RATES: Final = frozenset(("BT-119",))
"""Numbers by which amounts are added; a wrong one is no matter of one equation."""
MAX_RATE: Final = 100
"""A higher percentage looks like one without its decimal point, so nothing is calculated from it."""
_ZERO: Final = Decimal(0)


class State(IntEnum):
    """How an equation holds at a place."""

    WRONG, LACKING, NEAR, EXACT = range(4)


class Summand(NamedTuple):
    """An amount that a group adds to the sums, or takes from them: a term, and the category and rate, or the line."""

    term: str
    amount: Decimal
    at: Any


class Equations:
    """The equations of an invoice, each with how it holds.

    Args:
        invoice: the invoice.

    Attributes:
        calculations: the equations at their places.
        operands: the places of their numbers, by what identifies a number.
        numbers: the numbers at these places, as they are stated or assumed.
        of: the indices of the equations of each number.
        states: how each equation holds.
        sums: what each equation calculates, not rounded; None if an operand is missing.
    """

    def __init__(self, invoice: Invoice) -> None:
        self.calculations: Sequence[Calculation] = _bounded(calculations(invoice))
        self.of: defaultdict[Key, list[int]] = defaultdict(list)
        self.numbers: dict[Key, Decimal | None] = {}
        self.operands: dict[Key, Operand] = {}
        for index, it in enumerate(self.calculations):
            for operand in (it.result, *it.operands):
                key = place_of(operand)
                self.of[key].append(index)
                self.numbers[key], self.operands[key] = _stated(operand), operand
        self._at: defaultdict[int, list[int]] = defaultdict(list)
        for index, it in enumerate(self.calculations):
            self._at[id(it.place)].append(index)
        self._sums_of: defaultdict[Any, list[int]] = defaultdict(list)  # by category and rate; None for all
        for index, it in enumerate(self.calculations):
            if it.equation.at in OF_DOCUMENT:
                self._sums_of[vat_of(it.place) if it.equation.is_by_vat else None].append(index)
        self._bases = [key for key, it in self.operands.items() if it.term in ("BT-109", "BT-116")]
        self._added: list[Summand] = []
        self._is_open = not invoice.lines or bool(unclassified(invoice))
        self.sums = [self.unrounded(it, {}, ()) for it in range(len(self.calculations))]
        self.states = [self.state(it, {}, ()) for it in range(len(self.calculations))]
        self._totals: dict[int, Decimal | None] = {}

    def number(self, operand: Operand) -> Decimal | None:
        """Return the number of an operand as it is stated or assumed; None if there is none."""
        return self.numbers[place_of(operand)]

    def around(self, operand: Operand) -> list[int]:
        """Return the indices of the equations that an operand is part of, as their result or an operand."""
        return self.of[place_of(operand)]

    def assume(self, values: Mapping[Key, Decimal], summands: Sequence[Summand]) -> None:
        """Take numbers and amounts of groups as those of the invoice from now on."""
        affected = self.affected(values, summands)
        self.numbers.update(values)
        self._added += summands
        self._totals.clear()
        for index in affected:
            self.sums[index] = self.unrounded(index, {}, ())
            self.states[index] = self.state(index, {}, ())

    def is_base_stated(self, values: Mapping[Key, Decimal]) -> bool:
        """Return whether the taxable amounts add up to the total without VAT, as it follows from all equations."""
        numbers = {"BT-116": _ZERO, "BT-109": _ZERO}
        for key in self._bases:
            number = values.get(key, self.numbers[key])
            if number is None:
                return False
            numbers[self.operands[key].term] += number
        return numbers["BT-116"] == numbers["BT-109"]

    def affected(self, values: Mapping[Key, Decimal], summands: Sequence[Summand]) -> set[int]:
        """Return the indices of the equations that have one of the numbers, or that add one of the summands."""
        found = {index for key in values for index in self.of[key]}
        for it in summands:
            near = self.sums_with(it.at) if isinstance(it.at, tuple) else self._at[id(it.at)]
            found.update(index for index in near if _takes(self.calculations[index], it))
        return found

    def sums_with(self, at: Any) -> list[int]:
        """Return the indices of the sums over the document, and over what has a category and rate."""
        return [*self._sums_of[None], *self._sums_of[at]]

    def state(self, index: int, values: Mapping[Key, Decimal], summands: Sequence[Summand]) -> State:
        """Return how an equation holds with other numbers and further summands."""
        it = self.calculations[index]
        unrounded = self.unrounded(index, values, summands) if values or summands else self.sums[index]
        if unrounded is None:
            return State.LACKING
        key = place_of(it.result)
        stated = values[key] if key in values else self.numbers[key]
        if stated is None:
            return State.WRONG
        if stated == (round2(unrounded) if it.equation.is_rounded else unrounded):
            return State.EXACT
        return State.NEAR if abs(stated - unrounded) <= it.equation.tolerance and it.equation.tolerance else State.WRONG

    def unrounded(self, index: int, values: Mapping[Key, Decimal], summands: Sequence[Summand]) -> Decimal | None:
        """Return the calculated number; None if it cannot be calculated: an operand is missing, or there is none."""
        it = self.calculations[index]
        if (values or summands) and not it.equation.factors and (total := self._shifted(index, values, summands)):
            return total[0]
        if any(not key.value.filled or key.value.value is absent for key in it.keys):
            return None
        numbers: dict[str, list[Decimal]] = {}
        for operand in it.operands:
            key = place_of(operand)
            number = values[key] if key in values else self.numbers[key]
            if number is not None:
                numbers.setdefault(operand.term, []).append(number)
            elif operand.is_lacking:
                return None
        for summand in (*self._added, *summands):
            if _takes(it, summand):
                numbers.setdefault(summand.term, []).append(summand.amount)
        if it.equation.is_by_vat and (not numbers or self._is_open):
            return None  # nothing has this category and rate, so one of them may be wrong, or something lacks them
        if it.equation.result == "BT-106" and not numbers:
            return None
        return it.equation.unrounded(numbers)

    def _shifted(self, index: int, values: Mapping[Key, Decimal], summands: Sequence[Summand]) -> tuple[Decimal] | None:
        """Return a known sum with the differences of changed summands, which may be few of many; None if not known."""
        total, equation = self.sums[index], self.calculations[index].equation
        if total is None:
            return None
        changes = [(it.term, it.amount) for it in summands if _takes(self.calculations[index], it)]
        for key, number in values.items():
            if index not in self.of[key]:
                continue
            before, changed = self.numbers[key], self.operands[key].term
            if before is None:
                return None
            changes.append((changed, number - before))
        for changed, difference in changes:
            sign = 1 if changed in equation.added else -1 if changed in equation.minus else 0
            total += sign * difference
        return (total,)

    def difference(self, index: int) -> Decimal | None:
        """Return by how much the stated result exceeds the calculated one."""
        stated, unrounded = self.number(self.calculations[index].result), self.sums[index]
        return None if stated is None or unrounded is None else round2(stated) - round2(unrounded)

    def solved(self, index: int, operand: Operand) -> Decimal | None:
        """Return the number of a place with which an equation holds; None if there is none that it can have."""
        it = self.calculations[index]
        key = place_of(operand)
        if operand.group is absent or operand.term in _RATES:
            return None
        if it.equation.factors and any(_is_no_percentage(other) for other in it.operands if other is not operand):
            return None
        if operand is it.result:
            unrounded = self.sums[index]
            number = None if unrounded is None else it.equation.calculate(self._known(index))
        elif not it.equation.factors and (before := self.numbers[key]) is not None:
            total, stated = self._total(index), self.number(it.result)
            sign = -1 if operand.term in it.equation.minus else 1
            number = None if total is None or stated is None else before + sign * (stated - total)
        elif any(o.is_lacking and self.number(o) is None for o in it.operands if o is not operand):
            return None
        else:
            stated = self.number(it.result)
            number = None if stated is None else it.equation.operand(operand.term, stated, self._known(index, key))
        if number is None or number == self.numbers[key]:
            return None
        is_impossible = number < 0 and operand.term in _NOT_NEGATIVE and not (self.numbers[key] or _ZERO) < 0
        is_impossible = is_impossible or (not number and operand.term in NOT_ZERO)
        is_money = term(operand.term).datatype == "Amount"
        return None if is_impossible or (is_money and round2(number) != number) else number

    def _total(self, index: int) -> Decimal | None:
        """Return the sum of the operands of an equation without factors; None if one is lacking."""
        if index not in self._totals:
            it = self.calculations[index]
            is_lacking = any(o.is_lacking and self.number(o) is None for o in it.operands)
            self._totals[index] = None if is_lacking else it.equation.unrounded(self._known(index))
        return self._totals[index]

    def _known(self, index: int, without: Key | None = None) -> dict[str, list[Decimal]]:
        it, numbers = self.calculations[index], dict[str, list[Decimal]]()
        for operand in it.operands:
            key = place_of(operand)
            number = self.numbers[key]
            if key != without and number is not None:
                numbers.setdefault(operand.term, []).append(number)
        for summand in self._added:
            if _takes(it, summand):
                numbers.setdefault(summand.term, []).append(summand.amount)
        return numbers


def _bounded(found: Iterable[Calculation]) -> tuple[Calculation, ...]:
    """Return the equations; none if they are too many to search for an explanation."""
    result, operands = [], 0
    for it in found:
        operands += len(it.operands)
        if operands > _MAX_OPERANDS:
            return ()
        result.append(it)
    return tuple(result)


def place_of(operand: Operand) -> Key:
    """Return what identifies a number: its place in the XML, as several groups can have it, or else its group."""
    value = operand.value
    return (
        (id(operand.group), operand.field) if value is absent or value.node is None else (value.node, value.attribute)
    )


def _is_no_percentage(operand: Operand) -> bool:
    number = operand.number
    return number is not None and number > MAX_RATE and term(operand.term).datatype == "Percentage"


def _stated(operand: Operand) -> Decimal | None:
    """Return the number of a place, an amount rounded; as it is read if it is written otherwise and has one reading."""
    if operand.term in _RATES and _is_no_percentage(operand):
        return None
    if operand.number is not None and term(operand.term).datatype == "Amount":
        return round2(operand.number)  # otherwise those that are calculated from it would have too many decimals, too
    if operand.number is not None or operand.value is absent:
        return operand.number
    known = readings(operand.value)
    return known[0] if len(known) == 1 else None


def vat_of(tax: Any) -> tuple[str, Any]:
    """Return category and rate, by which amounts are added."""
    category = tax.category.text
    return category, tax.rate.number if category in RATED else None


def _takes(calculation: Calculation, summand: Summand) -> bool:
    """Return whether an equation adds or subtracts a summand."""
    equation, at = calculation.equation, summand.at
    if summand.term not in (*equation.added, *equation.minus):
        return False
    if isinstance(at, tuple):
        return not equation.is_by_vat or vat_of(calculation.place) == at
    return at is not None and calculation.place is at
