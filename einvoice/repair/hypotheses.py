"""Explains numbers that contradict each other: by a wrong number, a transformation of all lines, or a missing group.

A hypothesis is weighed by the equations of EN 16931-1 (6.4.2 and 6.4.3): how many that did not hold hold with it. One
with which an equation no longer holds contradicts the invoice, and is no explanation. The best one is taken, and what
it leaves is explained in the same way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import IntEnum
from itertools import combinations
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice.model.calculation import RATED, Calculation, Operand, calculations, round2
from einvoice.model.invoice import Invoice
from einvoice.model.terms import term
from einvoice.model.values import absent
from einvoice.repair.arithmetic import unclassified
from einvoice.repair.content import content_of
from einvoice.repair.readings import readings
from einvoice.repair.slips import is_slip

Key: TypeAlias = tuple[Any, ...]

_MAX_ROUNDS: Final = 8
_OF_DOCUMENT: Final = ("", "vat_breakdown")
"""Places of the equations that add amounts of lines, allowances and charges."""
_MAX_SINGLE: Final = 200
"""Maximum number of equations of which each number is tried."""
_MAX_CARRIED: Final = 50
"""Maximum number of wrong results that are carried on."""
_MAX_SUMMANDS: Final = 500
"""Maximum number of operands of an equation each of which is tried."""
_MAX_TRIED: Final = 50_000
"""Maximum number of equations that are calculated in a round to try single numbers, allowances and charges."""
_MAX_OPERANDS: Final = 250_000
"""Maximum number of operands of all equations; where many rows repeat one category, each of them adds all lines."""
_ZERO: Final = Decimal(0)
_CENT: Final = Decimal("0.01")
_MIN_GROUP: Final = Decimal(1)
"""A smaller difference is a wrong amount; no line, allowance or charge is missing."""
_NOT_NEGATIVE: Final = frozenset(
    ("BT-92", "BT-99", "BT-113", "BT-136", "BT-141", "BT-146", "BT-147", "BT-148", "BT-149")
)
_TOTALS: Final = ("BT-106", "BT-107", "BT-108", "BT-109", "BT-110", "BT-112", "BT-113", "BT-115")
_DOWNWARDS: Final = ("BT-106", "BT-116", "BT-117", "BT-109", "BT-110", "BT-112", "BT-115")
"""Results in the order in which a wrong one is carried on to the next."""
_LINE: Final = ("BT-131", "BT-146", "BT-129", "BT-149")
"""Terms of a line of which all can be wrong in the same way."""
_GROUPS: Final = {"BT-131": "BG-25", "BT-92": "BG-20", "BT-99": "BG-21"}
_SUMS: Final = {"BT-106": "BT-131", "BT-107": "BT-92", "BT-108": "BT-99"}
_OF_PRICES: Final = frozenset(("BT-147", "BT-148", "BT-149"))
_CERTAIN, _FRACTION, _UNLIKELY = -1, 5, 9
"""A base quantity with which prices are those of one unit is no coincidence; a price without one is no slip."""
_MAX_DECIMALS: Final = 2
"""More decimals are those of a quotient, not of a price or a quantity that somebody stated."""
_MAX_ROUNDING: Final = Decimal(1)
"""Amounts due are rounded by less (BT-114)."""


class State(IntEnum):
    """How an equation holds at a place."""

    WRONG, LACKING, NEAR, EXACT = range(4)


class Summand(NamedTuple):
    """An amount that a group adds to the sums, or takes from them: a term, and the category and rate, or the line."""

    term: str
    amount: Decimal
    at: Any


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """What may be wrong.

    Attributes:
        prior: how unusual it is; the lower one is named first.
        values: numbers with their right value.
        summands: amounts of groups that are missing or surplus.
        missing: business group that is missing, "" for none.
        surplus: group that is there twice; None for none.
        turned: allowance that is a charge, or the other way round; None for none.
        exchanged: whether the values have each other's place.
        includes_vat: whether prices and net amounts of the lines include VAT; the net ones are not known to the cent.
        solved: indices of the equations that hold with it.
        cost: number of values beyond the first one that have to be wrong, too, and of equations that it contradicts.
    """

    prior: int
    values: tuple[tuple[Operand, Decimal], ...] = ()
    summands: tuple[Summand, ...] = ()
    missing: str = ""
    surplus: Any = None
    turned: Any = None
    exchanged: bool = False
    includes_vat: bool = False
    solved: frozenset[int] = frozenset()
    cost: int = 0

    @property
    def weight(self) -> int:
        """How much speaks for it: what it solves, less what it has to assume."""
        return len(self.solved) - self.cost


class Hypotheses:
    """The explanations of the numbers of an invoice.

    Args:
        invoice: the invoice.

    Attributes:
        explanations: hypotheses, the best ones first; those of one item explain the same.
    """

    def __init__(self, invoice: Invoice) -> None:
        self._invoice = invoice
        self.calculations: Sequence[Calculation] = _bounded(calculations(invoice))
        self._of: defaultdict[Key, list[int]] = defaultdict(list)
        self._numbers: dict[Key, Decimal | None] = {}
        self._operands: dict[Key, Operand] = {}
        for index, it in enumerate(self.calculations):
            for operand in (it.result, *it.operands):
                key = _key(operand)
                self._of[key].append(index)
                self._numbers[key], self._operands[key] = _stated(operand), operand
        self._at: defaultdict[int, list[int]] = defaultdict(list)
        for index, it in enumerate(self.calculations):
            self._at[id(it.place)].append(index)
        self._sums_of: defaultdict[Any, list[int]] = defaultdict(list)  # by category and rate; None for all
        for index, it in enumerate(self.calculations):
            if it.equation.at in _OF_DOCUMENT:
                self._sums_of[_vat(it.place) if it.equation.is_by_vat else None].append(index)
        self._bases = [key for key, it in self._operands.items() if it.term in ("BT-109", "BT-116")]
        self._added: list[Summand] = []
        self._is_open = not invoice.lines or bool(unclassified(invoice))
        self._sums = [self._unrounded(it, {}, ()) for it in range(len(self.calculations))]
        self._states = [self._state(it, {}, ()) for it in range(len(self.calculations))]
        self._totals: dict[int, Decimal | None] = {}
        self._tried = 0
        self.explanations = tuple(self._explained())

    def rules(self, hypothesis: Hypothesis) -> list[tuple[str, Any]]:
        """Return the codes of the rules that a hypothesis satisfies, each with the group that has the result."""
        solved = (self.calculations[index] for index in hypothesis.solved)
        return [(code, it.place) for it in solved for code in it.rules]

    def _explained(self) -> Iterator[tuple[Hypothesis, ...]]:
        for _ in range(_MAX_ROUNDS):
            weighed = [it for it in map(self._weighed, self._all()) if it is not None]
            if not weighed:
                return
            best = min(weighed, key=lambda it: (-it.weight, it.prior))
            same = (it for it in weighed if it.solved == best.solved and it.weight == best.weight)
            likely = sorted(same, key=lambda it: it.prior)
            limit = 0 if likely[0].prior == _CERTAIN else max(likely[0].prior + 1, _FRACTION)
            yield tuple(it for it in likely if it.prior < min(limit, _UNLIKELY) or it is likely[0])
            self._apply(best)

    def _apply(self, hypothesis: Hypothesis) -> None:
        values = {_key(operand): number for operand, number in hypothesis.values}
        affected = self._affected(values, hypothesis.summands)
        self._numbers.update(values)
        self._added += hypothesis.summands
        if hypothesis.includes_vat:
            for index in hypothesis.solved:
                self._states[index] = State.NEAR
        self._totals.clear()
        for index in affected:
            self._sums[index] = self._unrounded(index, {}, ())
            self._states[index] = self._state(index, {}, ())

    def _weighed(self, hypothesis: Hypothesis) -> Hypothesis | None:
        """Return a hypothesis with what it solves; None if it solves nothing, or contradicts an equation that holds.

        That another equation, which lacked the number, does not hold with it speaks against it.
        """
        if hypothesis.solved:
            return hypothesis
        values = {_key(operand): number for operand, number in hypothesis.values}
        if self._is_base_stated({}) and not self._is_base_stated(values):
            return None
        solved, cost = [], hypothesis.cost
        for index in self._affected(values, hypothesis.summands):
            before, after = self._states[index], self._state(index, values, hypothesis.summands)
            if after < before and before in (State.EXACT, State.NEAR):
                return None
            if before in (State.WRONG, State.LACKING) and after in (State.EXACT, State.NEAR):
                solved.append(index)
            cost += before is State.LACKING and after is State.WRONG
        return replace(hypothesis, solved=frozenset(solved), cost=cost) if solved else None

    def _is_base_stated(self, values: Mapping[Key, Decimal]) -> bool:
        """Return whether the taxable amounts add up to the total without VAT, as it follows from all equations."""
        numbers = {"BT-116": _ZERO, "BT-109": _ZERO}
        for key in self._bases:
            number = values.get(key, self._numbers[key])
            if number is None:
                return False
            numbers[self._operands[key].term] += number
        return numbers["BT-116"] == numbers["BT-109"]

    def _affected(self, values: Mapping[Key, Decimal], summands: Sequence[Summand]) -> set[int]:
        found = {index for key in values for index in self._of[key]}
        for it in summands:
            near = self._sums_with(it.at) if isinstance(it.at, tuple) else self._at[id(it.at)]
            found.update(index for index in near if _takes(self.calculations[index], it))
        return found

    def _sums_with(self, at: Any) -> list[int]:
        return [*self._sums_of[None], *self._sums_of[at]]

    # -- numbers

    def _state(self, index: int, values: Mapping[Key, Decimal], summands: Sequence[Summand]) -> State:
        it = self.calculations[index]
        unrounded = self._unrounded(index, values, summands) if values or summands else self._sums[index]
        if unrounded is None:
            return State.LACKING
        key = _key(it.result)
        stated = values[key] if key in values else self._numbers[key]
        if stated is None:
            return State.WRONG
        if stated == (round2(unrounded) if it.equation.is_rounded else unrounded):
            return State.EXACT
        return State.NEAR if abs(stated - unrounded) <= it.equation.tolerance and it.equation.tolerance else State.WRONG

    def _unrounded(self, index: int, values: Mapping[Key, Decimal], summands: Sequence[Summand]) -> Decimal | None:
        """Return the calculated number; None if it cannot be calculated: an operand is missing, or there is none."""
        it = self.calculations[index]
        if (values or summands) and not it.equation.factors and (total := self._shifted(index, values, summands)):
            return total[0]
        if any(not key.value.filled or key.value.value is absent for key in it.keys):
            return None
        numbers: dict[str, list[Decimal]] = {}
        for operand in it.operands:
            key = _key(operand)
            number = values[key] if key in values else self._numbers[key]
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
        total, equation = self._sums[index], self.calculations[index].equation
        if total is None:
            return None
        changes = [(it.term, it.amount) for it in summands if _takes(self.calculations[index], it)]
        for key, number in values.items():
            if index not in self._of[key]:
                continue
            before, changed = self._numbers[key], self._operands[key].term
            if before is None:
                return None
            changes.append((changed, number - before))
        for changed, difference in changes:
            sign = 1 if changed in equation.plus else -1 if changed in equation.minus else 0
            total += sign * difference
        return (total,)

    def _difference(self, index: int) -> Decimal | None:
        """Return by how much the stated result exceeds the calculated one."""
        stated, unrounded = self._numbers[_key(self.calculations[index].result)], self._sums[index]
        return None if stated is None or unrounded is None else round2(stated) - round2(unrounded)

    # -- hypotheses

    def _all(self) -> Iterator[Hypothesis]:
        wrong = [index for index, state in enumerate(self._states) if state is State.WRONG]
        wrong.sort(key=lambda it: self.calculations[it].equation.at not in _OF_DOCUMENT)  # of many, sums say most
        lacking = [index for index, state in enumerate(self._states) if state is State.LACKING]
        self._tried = 0
        for index in (*wrong[:_MAX_SINGLE], *lacking[:_MAX_SINGLE]):
            yield from self._single(index)
        for indices in (wrong, lacking):
            yield from self._of_all_lines([it for it in indices if self.calculations[it].equation.result == "BT-131"])
        yield from self._exchanged()
        yield from self._including_vat(wrong)
        yield from self._groups(wrong)
        yield from self._carried(wrong)

    def _single(self, index: int) -> Iterator[Hypothesis]:
        """Yield the hypotheses that the result is wrong, or one of the operands."""
        it = self.calculations[index]
        places = (it.result, *it.operands) if len(it.operands) <= _MAX_SUMMANDS else (it.result,)
        for operand in places:
            if self._tried > _MAX_TRIED and operand is not it.result:
                return
            if (value := self._solved(index, operand)) is not None:
                self._tried += len(self._of[_key(operand)])
                yield Hypothesis(_prior(operand, value), ((operand, value),))

    def _solved(self, index: int, operand: Operand) -> Decimal | None:
        """Return the number of a place with which an equation holds; None if there is none that it can have."""
        it = self.calculations[index]
        key = _key(operand)
        if operand.group is absent or operand.term in _RATES:
            return None
        if operand is it.result:
            unrounded = self._sums[index]
            number = None if unrounded is None else it.equation.calculate(self._known(index))
        elif not it.equation.factors and (before := self._numbers[key]) is not None:
            total, stated = self._total(index), self._numbers[_key(it.result)]
            sign = -1 if operand.term in it.equation.minus else 1
            number = None if total is None or stated is None else before + sign * (stated - total)
        elif any(o.is_lacking and self._numbers[_key(o)] is None for o in it.operands if o is not operand):
            return None
        else:
            stated = self._numbers[_key(it.result)]
            number = None if stated is None else it.equation.operand(operand.term, stated, self._known(index, key))
        if number is None or number == self._numbers[key]:
            return None
        is_impossible = number < 0 and operand.term in _NOT_NEGATIVE and not (self._numbers[key] or _ZERO) < 0
        is_money = term(operand.term).datatype == "Amount"
        return None if is_impossible or (is_money and round2(number) != number) else number

    def _total(self, index: int) -> Decimal | None:
        """Return the sum of the operands of an equation without factors; None if one is lacking."""
        if index not in self._totals:
            it = self.calculations[index]
            is_lacking = any(o.is_lacking and self._numbers[_key(o)] is None for o in it.operands)
            self._totals[index] = None if is_lacking else it.equation.unrounded(self._known(index))
        return self._totals[index]

    def _known(self, index: int, without: Key | None = None) -> dict[str, list[Decimal]]:
        it, numbers = self.calculations[index], dict[str, list[Decimal]]()
        for operand in it.operands:
            key = _key(operand)
            number = self._numbers[key]
            if key != without and number is not None:
                numbers.setdefault(operand.term, []).append(number)
        for summand in self._added:
            if _takes(it, summand):
                numbers.setdefault(summand.term, []).append(summand.amount)
        return numbers

    def _of_all_lines(self, wrong: Sequence[int]) -> Iterator[Hypothesis]:
        """Yield the hypotheses that all lines that are wrong are so in the same way."""
        if len(wrong) < 2:
            return
        lines = [{o.term: o for o in (self.calculations[it].result, *self.calculations[it].operands)} for it in wrong]
        for number in _LINE:
            if not all(number in line for line in lines):
                continue
            solved = [
                (line[number], self._solved(index, line[number])) for index, line in zip(wrong, lines, strict=True)
            ]
            values = tuple((operand, value) for operand, value in solved if value is not None)
            if len(values) == len(lines):
                yield Hypothesis(_prior_of_all(values), values)
        pairs = [(line["BT-131"], line["BT-146"]) for line in lines]
        exchanged = [
            (place, self._numbers[_key(o)]) for pair in pairs for place, o in zip(pair, pair[::-1], strict=True)
        ]
        values = tuple((place, number) for place, number in exchanged if number is not None)
        if len(values) == len(exchanged):
            yield Hypothesis(1, values)

    def _including_vat(self, wrong: Sequence[int]) -> Iterator[Hypothesis]:
        """Yield the hypothesis that the lines are stated with VAT: without it, they are what the VAT breakdown adds."""
        rows = [it for it in wrong if self.calculations[it].equation.is_by_vat]
        sums = [it for it in wrong if self.calculations[it].equation.result == "BT-106"]
        if sums and rows and all(map(self._is_net_of, rows)):
            yield Hypothesis(0, includes_vat=True, solved=frozenset((*rows, *sums)))

    def _is_net_of(self, index: int) -> bool:
        """Return whether a taxable amount is what its lines are without VAT, as exactly as prices with cents say."""
        row, difference = self.calculations[index], self._difference(index)
        rate = row.place.rate.number
        lines = [o.group for o in row.operands if o.term == "BT-131"]
        if difference is None or rate is absent or rate <= 0:
            return False
        total = sum((self._numbers[_key(o)] or _ZERO for o in row.operands if o.term == "BT-131"), _ZERO)
        tax = total - round2(total * 100 / (100 + rate))
        tolerance = _CENT * sum(1 + abs(it.quantity.number or _ZERO) for it in lines)
        return bool(abs(difference + tax) <= tolerance < abs(tax) / 2)

    def _exchanged(self) -> Iterator[Hypothesis]:
        """Yield the hypotheses that two totals, or the two amounts of a VAT breakdown, have each other's place."""
        groups: defaultdict[Any, list[Operand]] = defaultdict(list)
        for operand in self._operands.values():
            if operand.term in _TOTALS:
                groups[""].append(operand)
            elif operand.term in ("BT-116", "BT-117"):
                groups[id(operand.group)].append(operand)
        for operands in groups.values():
            for one, other in combinations(operands, 2):
                first, second = self._numbers[_key(one)], self._numbers[_key(other)]
                is_wrong = any(self._states[it] is State.WRONG for it in self._of[_key(one)])
                if is_wrong and first is not None and second is not None and first != second:
                    yield Hypothesis(1, ((one, second), (other, first)), exchanged=True)

    def _groups(self, wrong: Sequence[int]) -> Iterator[Hypothesis]:
        """Yield the hypotheses that a line, an allowance or a charge is missing, there twice, or the other of both."""
        sums = {it: self._difference(it) for it in wrong}
        rows = [it for it in wrong if self.calculations[it].equation.is_by_vat]
        for index, known in enumerate(self.calculations):  # nothing is left of the category and rate of a row
            if known.equation.is_by_vat and self._sums[index] is None and not any(map(_is_stated, known.operands)):
                sums[index] = self._numbers[_key(known.result)]
                rows.append(index)
        for index in wrong:
            number = _SUMS.get(self.calculations[index].equation.result)
            difference = sums[index]
            if number is None or difference is None:
                continue
            sign = -1 if number == "BT-92" else 1
            for row in rows:
                if sums[row] == sign * difference:
                    place = self.calculations[row].place
                    summand = Summand(number, difference, _vat(place))
                    if difference >= _MIN_GROUP or (number == "BT-131" and self._is_deduction(-difference)):
                        yield Hypothesis(2, summands=(summand,), missing=_GROUPS[number])
                    yield from self._surplus(summand)
        yield from self._repeated_rows()
        for it in self._invoice.allowances_and_charges:
            amount, key = it.amount.number, next(map(_vat, it.taxes), None)
            if amount is not absent and amount and self._tried <= _MAX_TRIED:
                self._tried += len(self._sums_with(key))
                sign = -1 if it.is_charge else 1
                summands = (Summand("BT-92", -sign * amount, key), Summand("BT-99", sign * amount, key))
                yield Hypothesis(1, summands=summands, turned=it)
        for index in wrong:
            line = self.calculations[index].place
            yield from self._of_line(index, line)
            for it in line.allowances_and_charges if self.calculations[index].equation.result == "BT-131" else ():
                if (amount := it.amount.number) is not absent and amount:
                    sign = -1 if it.is_charge else 1
                    summands = (Summand("BT-136", -sign * amount, line), Summand("BT-141", sign * amount, line))
                    yield Hypothesis(1, summands=summands, turned=it)

    def _is_deduction(self, amount: Decimal) -> bool:
        """Return whether a line may deduct an amount; a line that adds it is rather one too many."""
        return amount >= _MIN_GROUP and all(it.net_amount.number != amount for it in self._invoice.lines)

    def _of_line(self, index: int, line: Any) -> Iterator[Hypothesis]:
        """Yield the hypothesis that a line lacks the allowance or charge that its net amount contains."""
        difference = self._difference(index)
        if self.calculations[index].equation.result == "BT-131" and difference:
            number, group = ("BT-141", "BG-28") if difference > 0 else ("BT-136", "BG-27")
            yield Hypothesis(4, summands=(Summand(number, abs(difference), line),), missing=group)

    def _repeated_rows(self) -> Iterator[Hypothesis]:
        known: set[Any] = set()
        for row in self._invoice.vat_breakdown:
            if row.node is None or row.tax_amount.number is absent:
                continue
            content = content_of(row.node)
            if content in known:
                yield Hypothesis(0, summands=(Summand("BT-117", -row.tax_amount.number, _vat(row)),), surplus=row)
            known.add(content)

    def _surplus(self, summand: Summand) -> Iterator[Hypothesis]:
        """Yield the hypotheses that a group with an amount is there twice.

        Another one has the same content, or another line the same number, item name and amount.
        """
        invoice = self._invoice
        if summand.term == "BT-131":
            groups = [(it, it.net_amount, it.identifier) for it in invoice.lines]
        else:
            groups = [
                (it, it.amount, absent) for it in (invoice.charges if summand.term == "BT-99" else invoice.allowances)
            ]
        known: set[Any] = set()
        for group, amount, identifier in groups:
            if amount.number != -summand.amount or group.node is None:
                continue
            own = None if identifier is absent or identifier.node is None else content_of(identifier.node)
            content = tuple(it for it in content_of(group.node) if own is None or (it,) != own)
            named = (own, group.item.name.text) if own is not None else content
            if known & {content, named}:
                yield Hypothesis(0, summands=(summand,), surplus=group)
            known |= {content, named}

    def _carried(self, wrong: Sequence[int]) -> Iterator[Hypothesis]:
        """Yield the hypotheses that a wrong result was carried on to the results that are calculated from it."""
        for first in wrong[:_MAX_CARRIED]:
            if (number := self._solved(first, self.calculations[first].result)) is None:
                continue
            values = {_key(self.calculations[first].result): number}
            for result in _DOWNWARDS:
                for index in sorted({it for key in values for it in self._of[key]}):
                    it = self.calculations[index]
                    is_next = it.equation.result == result and self._states[index] is State.EXACT
                    if is_next and _key(it.result) not in values:
                        unrounded = self._unrounded(index, values, ())
                        if unrounded is not None:
                            values[_key(it.result)] = round2(unrounded) if it.equation.is_rounded else unrounded
            if len(values) > 1:
                changed = tuple((self._operands[key], value) for key, value in values.items())
                yield Hypothesis(4, changed, cost=len(values) - 1)


_RATES: Final = frozenset(("BT-119",))
"""Numbers by which amounts are added; a wrong one is no matter of one equation."""


def _bounded(found: Iterable[Calculation]) -> tuple[Calculation, ...]:
    """Return the equations; none if they are too many to search for an explanation."""
    result, operands = [], 0
    for it in found:
        operands += len(it.operands)
        if operands > _MAX_OPERANDS:
            return ()
        result.append(it)
    return tuple(result)


def _key(operand: Operand) -> Key:
    """Return what identifies a number: its place in the XML, as several groups can have it, or else its group."""
    value = operand.value
    return (
        (id(operand.group), operand.field) if value is absent or value.node is None else (value.node, value.attribute)
    )


def _is_stated(operand: Operand) -> bool:
    return operand.value is not absent


def _stated(operand: Operand) -> Decimal | None:
    """Return the number of a place, as it is read if it is written otherwise and has one reading."""
    if operand.number is not None or operand.value is absent:
        return operand.number
    known = readings(operand.value)
    return known[0] if len(known) == 1 else None


def _vat(tax: Any) -> tuple[str, Any]:
    """Return category and rate, by which amounts are added."""
    category = tax.category.text
    return category, tax.rate.number if category in RATED else None


def _takes(calculation: Calculation, summand: Summand) -> bool:
    """Return whether an equation adds or subtracts a summand."""
    equation, at = calculation.equation, summand.at
    if summand.term not in (*equation.plus, *equation.minus):
        return False
    if isinstance(at, tuple):
        return not equation.is_by_vat or _vat(calculation.place) == at
    return at is not None and calculation.place is at


def _prior(operand: Operand, value: Decimal) -> int:
    number = operand.number
    if operand.term == "BT-114" and abs(value) >= _MAX_ROUNDING:
        return _UNLIKELY
    if operand.term == "BT-149" and value == 1:
        return _CERTAIN
    if number is None:
        return (_UNLIKELY if operand.term in _OF_PRICES else 3) if operand.is_optional else 0
    if _is_slip(number, value):
        return 0
    return 3 if _decimals(value) <= max(_decimals(number), _MAX_DECIMALS) else _FRACTION


def _decimals(number: Decimal) -> int:
    return len(f"{number:f}".partition(".")[2])


def _prior_of_all(values: Sequence[tuple[Operand, Decimal]]) -> int:
    """Return how unusual it is that all these numbers are wrong: not at all if they are so by the same factor."""
    if all(operand.term == "BT-149" and value == 1 for operand, value in values):
        return _CERTAIN
    factors = {value / number for operand, value in values if (number := operand.number)}
    if len(factors) == 1 and (-next(iter(factors)) == 1 or next(iter(factors)).normalize().as_tuple().digits == (1,)):
        return 0
    return 1 if len(factors) == 1 else 3


def _is_slip(one: Decimal, other: Decimal) -> bool:
    """Return whether two numbers differ as slips of a keyboard do: by the sign, a factor of ten, or one digit or two.

    >>> [_is_slip(Decimal(one), Decimal("415.33")) for one in ("451.33", "415.38", "41.33", "-415.33", "41533", "12")]
    [True, True, True, True, True, False]
    """
    first, second = (f"{abs(it):f}".strip("0").replace(".", "") if it else "0" for it in (one, other))
    return is_slip(first, second)
