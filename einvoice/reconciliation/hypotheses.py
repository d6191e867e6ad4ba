"""Explains numbers that contradict each other: by a wrong number, a transformation of all lines, or a missing group.

A hypothesis is weighed by the equations of EN 16931-1 (6.4.2 and 6.4.3): how many that did not hold hold with it. One
with which an equation no longer holds contradicts the invoice, and is no explanation. The best one is taken, and what
it leaves is explained in the same way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations
from typing import Any, Final, TypeAlias

from einvoice.editing.content import content_of
from einvoice.model.calculation import EQUATIONS, Calculation, Operand, round2
from einvoice.model.invoice import Invoice
from einvoice.model.values import absent
from einvoice.reconciliation.amounts import total
from einvoice.reconciliation.equations import NOT_ZERO, OF_DOCUMENT, Equations, State, Summand, place_of, vat_of
from einvoice.reconciliation.slips import is_slip

Key: TypeAlias = tuple[Any, ...]

_MAX_ROUNDS: Final = 8
_MAX_SINGLE: Final = 200
"""Maximum number of equations of which each number is tried."""
_MAX_CARRIED: Final = 50
"""Maximum number of wrong results that are carried on."""
_MAX_SUMMANDS: Final = 500
"""Maximum number of operands of an equation each of which is tried."""
_MAX_TRIED: Final = 50_000
"""Maximum number of equations that are calculated in a round to try single numbers, allowances and charges."""
_ZERO: Final = Decimal(0)
_CENT: Final = Decimal("0.01")
_MIN_GROUP: Final = Decimal(1)
"""A smaller difference is a wrong amount; no line, allowance or charge is missing."""
_TOTALS: Final = ("BT-106", "BT-107", "BT-108", "BT-109", "BT-110", "BT-112", "BT-113", "BT-115")
_DOWNWARDS: Final = ("BT-106", "BT-116", "BT-117", "BT-109", "BT-110", "BT-112", "BT-115")
"""Results in the order in which a wrong one is carried on to the next."""
_LINE_AMOUNT: Final = EQUATIONS["BT-131"]
"""The equation of the net amount of a line; one that is a subtotal has another one."""
_LINE: Final = ("BT-131", "BT-146", "BT-129", "BT-149")
"""Terms of a line of which all can be wrong in the same way."""
_GROUPS: Final = {"BT-131": "BG-25", "BT-92": "BG-20", "BT-99": "BG-21"}
_SUMS: Final = {"BT-106": "BT-131", "BT-107": "BT-92", "BT-108": "BT-99"}
_OF_PRICES: Final = frozenset(("BT-147", "BT-148", "BT-149"))
_CERTAIN, _FRACTION, _UNLIKELY = -1, 5, 9
"""Prices of one unit with a base quantity, the sums of lines without VAT, an allowance of 0, or sums that contain what
is neither allowance nor charge are no coincidence; a price without a base quantity is no slip."""
_POWERS: Final = {Decimal(10) ** it for it in range(5)}
"""Base quantities that prices usually have."""
_MAX_DECIMALS: Final = 2
"""More decimals are those of a quotient, not of a price or a quantity that somebody stated."""
_MAX_ROUNDING: Final = Decimal(1)
"""Amounts due are rounded by less (BT-114)."""


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """What may be wrong.

    Attributes:
        prior: how unusual it is; the lower one is named first.
        values: numbers with their right value.
        summands: amounts of groups that are missing or surplus.
        missing: business group that is missing, "" for none.
        surplus: group that is there twice; None for none.
        turned: allowance that is a charge, or the other way round, or what does not say which it is; None for none. The
            last summand says what it becomes.
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
        self._equations = Equations(invoice)
        self.calculations = self._equations.calculations
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
        values = {place_of(operand): number for operand, number in hypothesis.values}
        self._equations.assume(values, hypothesis.summands)
        if hypothesis.includes_vat:
            for index, it in enumerate(self.calculations):
                if index in hypothesis.solved or it.equation is _LINE_AMOUNT:
                    self._equations.states[index] = State.NEAR

    def _weighed(self, hypothesis: Hypothesis) -> Hypothesis | None:
        """Return a hypothesis with what it solves; None if it solves nothing, or contradicts an equation that holds.

        That another equation, which lacked the number, does not hold with it speaks against it; so does a sum of lines
        that are all to be changed, if it is still wrong.
        """
        if hypothesis.solved:
            return hypothesis
        values = {place_of(operand): number for operand, number in hypothesis.values}
        if self._equations.is_base_stated({}) and not self._equations.is_base_stated(values):
            return None
        solved, cost = [], hypothesis.cost
        for index in self._equations.affected(values, hypothesis.summands):
            before, after = self._equations.states[index], self._equations.state(index, values, hypothesis.summands)
            if after < before and before in (State.EXACT, State.NEAR):
                return None
            if before in (State.WRONG, State.LACKING) and after in (State.EXACT, State.NEAR):
                solved.append(index)
            was_open = before is State.LACKING or self._equations.number(self.calculations[index].result) is None
            cost += was_open and after is State.WRONG
            if before is after is State.WRONG and self.calculations[index].equation.result in _SUMS:
                cost += hypothesis.prior and len(values) - 1
        return replace(hypothesis, solved=frozenset(solved), cost=cost) if solved else None

    def _leaves_out_subtotals(self, calculation: Calculation) -> bool:
        """Return whether a sum of lines is only wrong because it leaves out subtotals, which an extension knows."""
        if calculation.equation.result != "BT-106":
            return False
        counted = total(it.net_amount.number for it in self._invoice.counted_lines)
        return bool(calculation.result.number == counted)

    def _leaves_out_deductions(self, index: int) -> bool:
        """Return whether the net amount of a line is only wrong because it leaves out its allowances and charges."""
        calculation = self.calculations[index]
        if calculation.equation is not _LINE_AMOUNT:
            return False
        stated = [it for it in calculation.place.allowances_and_charges if it.amount.number is not absent]
        left_out = total(it.amount.number * (1 if it.is_allowance else -1) for it in stated)
        return bool(left_out) and self._equations.difference(index) == left_out

    def _all(self) -> Iterator[Hypothesis]:
        wrong = [index for index, state in enumerate(self._equations.states) if state is State.WRONG]
        wrong = [it for it in wrong if not self._leaves_out_subtotals(self.calculations[it])]
        wrong = [it for it in wrong if not self._leaves_out_deductions(it)]
        wrong.sort(key=lambda it: self.calculations[it].equation.at not in OF_DOCUMENT)  # of many, sums say most
        lacking = [index for index, state in enumerate(self._equations.states) if state is State.LACKING]
        self._tried = 0
        for index in (*wrong[:_MAX_SINGLE], *lacking[:_MAX_SINGLE]):
            yield from self._single(index)
        lines = [it for it in wrong if self.calculations[it].equation is _LINE_AMOUNT]
        stated = [it for it in lines if self._equations.difference(it) is not None]
        yield from self._of_all_lines(lines)
        if len(stated) < len(lines):  # a line without a readable number says nothing about the others
            yield from self._of_all_lines(stated)
        yield from self._of_all_lines([it for it in lacking if self.calculations[it].equation is _LINE_AMOUNT])
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
            if (value := self._equations.solved(index, operand)) is not None:
                self._tried += len(self._equations.around(operand))
                is_derived = operand is not it.result and operand.number is None  # another equation gives it
                yield Hypothesis(_prior(operand, value) + is_derived, ((operand, value),))

    def _of_all_lines(self, wrong: Sequence[int]) -> Iterator[Hypothesis]:
        """Yield the hypotheses that all lines that are wrong are so in the same way."""
        if len(wrong) < 2:
            return
        lines = [{o.term: o for o in (self.calculations[it].result, *self.calculations[it].operands)} for it in wrong]
        for number in _LINE:
            if not all(number in line for line in lines):
                continue
            solved = [
                (line[number], self._equations.solved(index, line[number]))
                for index, line in zip(wrong, lines, strict=True)
            ]
            values = tuple((operand, value) for operand, value in solved if value is not None)
            if len(values) == len(lines) and (prior := _prior_of_all(values)) < _UNLIKELY:
                yield Hypothesis(prior, values)
                if number == "BT-131":  # a sum of wrong amounts agrees with them
                    yield from self._carried_on(prior, values)
        pairs = [(line["BT-131"], line["BT-146"]) for line in lines]
        exchanged = [
            (place, self._equations.number(o)) for pair in pairs for place, o in zip(pair, pair[::-1], strict=True)
        ]
        values = tuple((place, number) for place, number in exchanged if number is not None)
        if len(values) == len(exchanged):
            yield Hypothesis(1, values)

    def _including_vat(self, wrong: Sequence[int]) -> Iterator[Hypothesis]:
        """Yield the hypothesis that the lines are stated with VAT: without it, they are what the VAT breakdown adds."""
        rows = [it for it in wrong if self.calculations[it].equation.is_by_vat]
        sums = [it for it in wrong if self.calculations[it].equation.result == "BT-106"]
        if sums and rows and all(map(self._is_net_of, rows)):
            yield Hypothesis(_CERTAIN, includes_vat=True, solved=frozenset((*rows, *sums)))

    def _is_net_of(self, index: int) -> bool:
        """Return whether a taxable amount is what its lines are without VAT, as exactly as prices with cents say."""
        row, difference = self.calculations[index], self._equations.difference(index)
        rate = row.place.rate.number
        lines = [o.group for o in row.operands if o.term == "BT-131"]
        if difference is None or rate is absent or rate <= 0:
            return False
        total = sum((self._equations.number(o) or _ZERO for o in row.operands if o.term == "BT-131"), _ZERO)
        tax = total - round2(total * 100 / (100 + rate))
        tolerance = _CENT * sum(1 + abs(it.quantity.number or _ZERO) for it in lines)
        return bool(abs(difference + tax) <= tolerance < abs(tax) / 2)

    def _exchanged(self) -> Iterator[Hypothesis]:
        """Yield the hypotheses that two totals, or the two amounts of a VAT breakdown, have each other's place."""
        groups: defaultdict[Any, list[Operand]] = defaultdict(list)
        for operand in self._equations.operands.values():
            if operand.term in _TOTALS:
                groups[""].append(operand)
            elif operand.term in ("BT-116", "BT-117"):
                groups[id(operand.group)].append(operand)
        for operands in groups.values():
            for one, other in combinations(operands, 2):
                first, second = self._equations.number(one), self._equations.number(other)
                is_wrong = any(self._equations.states[it] is State.WRONG for it in self._equations.around(one))
                if is_wrong and first is not None and second is not None and first != second:
                    yield Hypothesis(1, ((one, second), (other, first)), exchanged=True)

    def _groups(self, wrong: Sequence[int]) -> Iterator[Hypothesis]:
        """Yield the hypotheses that a line, an allowance or a charge is missing, there twice, or the other of both."""
        sums = {it: self._equations.difference(it) for it in wrong}
        rows = [it for it in wrong if self.calculations[it].equation.is_by_vat]
        for index, known in enumerate(self.calculations):  # nothing is left of the category and rate of a row
            if (
                known.equation.is_by_vat
                and self._equations.sums[index] is None
                and not any(map(_is_stated, known.operands))
            ):
                sums[index] = self._equations.number(known.result)
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
                    summand = Summand(number, difference, vat_of(place))
                    if difference >= _MIN_GROUP or (number == "BT-131" and self._is_deduction(-difference)):
                        yield Hypothesis(2, summands=(summand,), missing=_GROUPS[number])
                    yield from self._surplus(summand)
        yield from self._repeated_rows()
        for it in self._invoice.allowances_and_charges:
            key = next(map(vat_of, it.taxes), None)
            if self._tried <= _MAX_TRIED:
                self._tried += len(self._equations.sums_with(key))
                yield from self._turned(it, key, ("BT-92", "BT-99"))
        for index in wrong:
            line = self.calculations[index].place
            yield from self._of_line(index, line)
            for it in line.allowances_and_charges if self.calculations[index].equation is _LINE_AMOUNT else ():
                yield from self._turned(it, line, ("BT-136", "BT-141"))

    def _turned(self, item: Any, at: Any, numbers: tuple[str, str]) -> Iterator[Hypothesis]:
        """Yield the hypotheses that an allowance is a charge, the reverse, or that one without indicator is either."""
        amount = item.amount.number
        if amount is absent or not amount:
            return
        allowance, charge = (Summand(number, amount, at) for number in numbers)
        if item.is_charge or item.is_allowance:
            stated, other = (charge, allowance) if item.is_charge else (allowance, charge)
            yield Hypothesis(1, summands=(stated._replace(amount=-amount), other), turned=item)
        else:
            yield Hypothesis(_CERTAIN, summands=(allowance,), turned=item)
            yield Hypothesis(_CERTAIN, summands=(charge,), turned=item)

    def _is_deduction(self, amount: Decimal) -> bool:
        """Return whether a line may deduct an amount; a line that adds it is rather one too many."""
        return amount >= _MIN_GROUP and all(it.net_amount.number != amount for it in self._invoice.lines)

    def _of_line(self, index: int, line: Any) -> Iterator[Hypothesis]:
        """Yield the hypothesis that a line lacks the allowance or charge that its net amount contains.

        It is less than what quantity and price give.
        """
        difference, calculated = self._equations.difference(index), self._equations.sums[index] or _ZERO
        if self.calculations[index].equation is _LINE_AMOUNT and difference and abs(difference) < abs(calculated):
            number, group = ("BT-141", "BG-28") if difference > 0 else ("BT-136", "BG-27")
            yield Hypothesis(4, summands=(Summand(number, abs(difference), line),), missing=group)

    def _repeated_rows(self) -> Iterator[Hypothesis]:
        known: set[Any] = set()
        for row in self._invoice.vat_breakdown:
            if row.node is None or row.tax_amount.number is absent:
                continue
            content = content_of(row.node)
            if content in known:
                yield Hypothesis(0, summands=(Summand("BT-117", -row.tax_amount.number, vat_of(row)),), surplus=row)
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
            if (number := self._equations.solved(first, self.calculations[first].result)) is None:
                continue
            yield from self._carried_on(4, ((self.calculations[first].result, number),))

    def _carried_on(self, prior: int, wrong: Sequence[tuple[Operand, Decimal]]) -> Iterator[Hypothesis]:
        """Yield the hypothesis that wrong numbers were carried on to the results that are calculated from them."""
        values = {place_of(operand): value for operand, value in wrong}
        for result in _DOWNWARDS:
            for index in sorted({it for key in values for it in self._equations.of[key]}):
                it = self.calculations[index]
                is_next = it.equation.result == result and self._equations.states[index] is State.EXACT
                if is_next and place_of(it.result) not in values:
                    unrounded = self._equations.unrounded(index, values, ())
                    if unrounded is not None:
                        values[place_of(it.result)] = round2(unrounded) if it.equation.is_rounded else unrounded
        if further := len(values) - len(wrong):
            changed = tuple((self._equations.operands[key], value) for key, value in values.items())
            yield Hypothesis(prior, changed, cost=further)


def _is_stated(operand: Operand) -> bool:
    return operand.value is not absent


def _prior(operand: Operand, value: Decimal) -> int:
    number = operand.number
    if operand.term == "BT-114" and abs(value) >= _MAX_ROUNDING:
        return _UNLIKELY
    if _is_certain(operand, value):
        return _CERTAIN
    if number is None:
        return (_UNLIKELY if operand.term in _OF_PRICES else 3) if operand.is_optional else 0
    if _is_slip(number, value):
        return 0
    if not number and operand.term in NOT_ZERO:
        return _CERTAIN
    return 3 if _is_as_exact(value, number) else _FRACTION


def _is_as_exact(value: Decimal, stated: Decimal) -> bool:
    """Return whether a number has no more decimals than the stated one, or than an amount."""
    return _decimals(value) <= max(_decimals(stated), _MAX_DECIMALS)


def _is_certain(operand: Operand, value: Decimal) -> bool:
    """Return whether a base quantity is wrong: with 1 the numbers agree, or with a whole one where it is the price."""
    if operand.term != "BT-149":
        return False
    return value == 1 or (value == value.to_integral_value() and operand.number == operand.group.net.number)


def _decimals(number: Decimal) -> int:
    return len(f"{number:f}".partition(".")[2])


def _prior_of_all(values: Sequence[tuple[Operand, Decimal]]) -> int:
    """Return how unusual it is that all these numbers are wrong: not at all if they are so by the same factor."""
    if all(_is_certain(operand, value) for operand, value in values):
        return _CERTAIN
    if any(operand.term == "BT-149" and operand.number is None and value not in _POWERS for operand, value in values):
        return _UNLIKELY  # such as a base quantity of 1.19, with which a price that includes VAT fits
    factors = {value / number for operand, value in values if (number := operand.number)}
    if len(factors) == 1 and (-next(iter(factors)) == 1 or next(iter(factors)).normalize().as_tuple().digits == (1,)):
        return 0
    if len(factors) == 1:
        return 1
    return max(3 if _is_as_exact(value, operand.number or _ZERO) else _UNLIKELY for operand, value in values)


def _is_slip(one: Decimal, other: Decimal) -> bool:
    """Return whether two numbers differ as slips of a keyboard do: by the sign, a factor of ten, or one digit or two.

    >>> [_is_slip(Decimal(one), Decimal("415.33")) for one in ("451.33", "415.38", "41.33", "-415.33", "41533", "12")]
    [True, True, True, True, True, False]
    """
    first, second = (f"{abs(it):f}".strip("0").replace(".", "") if it else "0" for it in (one, other))
    return is_slip(first, second)
