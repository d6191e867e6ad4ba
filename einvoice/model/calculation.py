"""The calculated amounts of an invoice: one table of equations (EN 16931-1, 6.4.2 and 6.4.3), and one rounding.

    solve(invoice, "BT-109")                       # what BT-109 should be
    solve(invoice, "BT-131", invoice.lines[0])
    for it in calculations(invoice): it.holds      # every equation at every place
    solve_for(it, it.operands[0])                  # an operand from the result and the other operands
    calculate("BT-109", {"BT-106": [net]})         # with numbers instead of an invoice

An equation uses the amounts as they are stated, not as they would be if all were correct.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice.model import terms
from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.lines import Line
from einvoice.model.money import VatIndex
from einvoice.model.values import Value, absent

Numbers: TypeAlias = Mapping[str, Sequence[Decimal]]
"""The numbers of each business term: one for each time that the invoice states it."""

RATED: Final = frozenset(("S", "L", "M", "B"))
"""VAT categories that differ by rate; any other has one entry in the VAT breakdown, whatever its rate."""

_MAX_DIGITS: Final = 40
"""Maximum digits before and after the decimal point of a number; longer ones are not amounts."""
#: Enough digits for exact products of three numbers, and exact sums.
_EXACT: Final = Context(prec=8 * _MAX_DIGITS, rounding=ROUND_HALF_UP)
_ZERO: Final = Decimal(0)
_ONE: Final = Decimal(1)
_CENT: Final = Decimal("0.01")


def round2(number: Decimal) -> Decimal:
    """Round to two decimals, half away from zero, so that a credit note mirrors its invoice; never to minus zero.

    >>> round2(Decimal("0.125")), round2(Decimal("-0.125")), round2(Decimal("-0.001"))
    (Decimal('0.13'), Decimal('-0.13'), Decimal('0.00'))
    """
    return _EXACT.add(_ZERO, number.quantize(_CENT, context=_EXACT))


@dataclass(frozen=True, slots=True)
class Equation:
    """result = first factor * second factor / divisor + plus - minus.

    Attributes:
        result: the calculated term.
        rules: codes of the rules that state it; `{}` stands for the part of a code that names the VAT category.
        at: path of the groups that have the result, "" for the invoice. The VAT breakdown adds the amounts of its
            category and rate, anything else those below its own group.
        plus, minus: terms of which all numbers are added or subtracted.
        extending: terms of extensions that are added, too.
        factors, divisor: terms with one number; a percentage counts in hundredths.
        is_rounded: whether the result is rounded to two decimals.
        is_free: whether the result can be stated without operands; then it is not calculated.
        tolerance: difference between the result and the unrounded number that the rule accepts.
    """

    result: str
    rules: tuple[str, ...]
    at: str = ""
    plus: tuple[str, ...] = ()
    minus: tuple[str, ...] = ()
    extending: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
    divisor: str = ""
    is_rounded: bool = True
    is_free: bool = False
    tolerance: Decimal = _ZERO

    @property
    def operands(self) -> tuple[str, ...]:
        """The terms from which the result is calculated."""
        divisors = (self.divisor,) if self.divisor else ()
        return (*self.factors, *divisors, *self.added, *self.minus)

    @property
    def added(self) -> tuple[str, ...]:
        """The terms that are added, those of extensions included."""
        return (*self.plus, *self.extending)

    @property
    def formula(self) -> str:
        """How the result is calculated, such as "BT-106 + BT-108 − BT-107"."""
        product = " ÷ ".join(filter(None, (" × ".join(self.factors), self.divisor)))
        summands = "".join(f" + {it}" for it in self.plus) + "".join(f" − {it}" for it in self.minus)
        return f"{product}{summands}".removeprefix(" + ")

    @property
    def is_by_vat(self) -> bool:
        """Whether it adds the amounts of one VAT category and rate."""
        return self.at == "vat_breakdown" and bool(self.plus)

    def unrounded(self, numbers: Numbers) -> Decimal:
        """Return the exact number of the result.

        A missing summand or VAT rate counts as 0, a missing or zero divisor as 1.

        Raises:
            LookupError: a factor is missing.
        """
        result = _ZERO
        if self.factors:
            result = _EXACT.divide(_product(self.factors, numbers), self._divisor(numbers))
        return _EXACT.add(result, self._sum(numbers))

    def calculate(self, numbers: Numbers) -> Decimal:
        """Return the number of the result; see `unrounded`."""
        number = self.unrounded(numbers)
        return round2(number) if self.is_rounded else number

    def operand(self, unknown: str, result: Decimal, numbers: Numbers) -> Decimal | None:
        """Return the number of an operand with which the result is `result`; None if there is none.

        In an equation with a product it is the one with the fewest decimals, as several give the same rounded result.

        Args:
            unknown: the term of the operand.
            result: the number of the result.
            numbers: those of the operands, without the unknown one.
        """
        if self.factors and unknown not in (*self.added, *self.minus):
            exact = self._exact_factor(unknown, _EXACT.subtract(result, self._sum(numbers)), numbers)
        else:
            difference = _EXACT.subtract(result, self.unrounded(numbers))
            exact = _EXACT.minus(difference) if unknown in self.minus else difference
        if exact is None or not self.factors:
            return exact
        shortened = (exact.quantize(_ONE.scaleb(-decimals), context=_EXACT) for decimals in range(_MAX_DIGITS))
        for number in shortened:
            solved = {**numbers, unknown: (*numbers.get(unknown, ()), number)}
            if (number or unknown != self.divisor) and self.calculate(solved) == result:
                return number
        return None

    def _exact_factor(self, unknown: str, product: Decimal, numbers: Numbers) -> Decimal | None:
        """Return the exact number of a factor or of the divisor; None if another one is zero."""
        known = _product((it for it in self.factors if it != unknown), numbers)
        if unknown == self.divisor:
            return _EXACT.divide(known, product) if product else None
        if not known:
            return None
        factor = _EXACT.divide(_EXACT.multiply(product, self._divisor(numbers)), known)
        return factor.scaleb(2, _EXACT) if _is_percentage(unknown) else factor

    def _divisor(self, numbers: Numbers) -> Decimal:
        return next(iter(numbers.get(self.divisor, ())), _ONE) or _ONE

    def _sum(self, numbers: Numbers) -> Decimal:
        result = _ZERO
        for term in self.added:
            for number in numbers.get(term, ()):
                result = _EXACT.add(result, number)
        for term in self.minus:
            for number in numbers.get(term, ()):
                result = _EXACT.subtract(result, number)
        return result


def _product(factors: Iterable[str], numbers: Numbers) -> Decimal:
    result = _ONE
    for factor in factors:
        number = next(iter(numbers.get(factor, ())), _DEFAULTS.get(factor))
        if number is None:
            raise LookupError(f"{factor} is missing")
        result = _EXACT.multiply(result, number.scaleb(-2, _EXACT) if _is_percentage(factor) else number)
    return result


def _is_percentage(term: str) -> bool:
    return terms.term(term).datatype == "Percentage"


def _share(result: str, at: str, base: str, percentage: str) -> Equation:
    """Return the equation of an allowance or charge: a percentage of a base amount."""
    rules = ("PEPPOL-EN16931-R040",)
    return Equation(result, rules, at, factors=(base, percentage), is_free=True, tolerance=2 * _CENT)


EQUATIONS: Final[Mapping[str, Equation]] = {
    it.result: it
    for it in (
        Equation("BT-146", ("PEPPOL-EN16931-R046",), "lines", plus=("BT-148",), minus=("BT-147",),
                 is_rounded=False, is_free=True),
        _share("BT-136", "lines.allowances", "BT-137", "BT-138"),
        _share("BT-141", "lines.charges", "BT-142", "BT-143"),
        Equation("BT-131", ("PEPPOL-EN16931-R120",), "lines", factors=("BT-146", "BT-129"), divisor="BT-149",
                 plus=("BT-141",), minus=("BT-136",), tolerance=2 * _CENT),
        _share("BT-92", "allowances", "BT-93", "BT-94"),
        _share("BT-99", "charges", "BT-100", "BT-101"),
        Equation("BT-116", ("BR-{}-08",), "vat_breakdown", plus=("BT-131", "BT-99"), minus=("BT-92",),
                 is_rounded=False),
        Equation("BT-117", ("BR-CO-17", "BR-{}-09"), "vat_breakdown", factors=("BT-116", "BT-119")),
        Equation("BT-106", ("BR-CO-10",), plus=("BT-131",)),
        Equation("BT-107", ("BR-CO-11",), plus=("BT-92",)),
        Equation("BT-108", ("BR-CO-12",), plus=("BT-99",)),
        Equation("BT-109", ("BR-CO-13",), plus=("BT-106", "BT-108"), minus=("BT-107",)),
        Equation("BT-110", ("BR-CO-14",), plus=("BT-117",)),
        Equation("BT-112", ("BR-CO-15",), plus=("BT-109", "BT-110")),
        Equation("BT-115", ("BR-CO-16",), plus=("BT-112", "BT-114"), minus=("BT-113",),
                 extending=("BT-DEX-002",), is_rounded=False),
    )
}  # fmt: skip
"""The equations by their result, each after those of its operands."""
SUBTOTAL: Final = Equation("BT-131", ("BR-FXEXT-08",), "lines", plus=("BT-131",))
"""What the amount of a line is that is a subtotal of those directly below it, as Factur-X EXTENDED has them."""

_OPTIONAL: Final = frozenset(("BT-107", "BT-108", "BT-113", "BT-114", "BT-147", "BT-149"))
"""Operands that an invoice states only if they differ from their default."""
_DEFAULTS: Final = {"BT-119": _ZERO}
"""Factors that can be missing; a rate only in a category without rates."""
_PATHS: Final = {"BT-147": "lines.price_allowances.amount", "BT-148": "lines.gross_unit_price"}
"""Paths of terms that UBL and CII have at different places; the others are in the table of terms."""
_ADDED_IN_EXTENSIONS: Final = {
    "BT-131": ("counted_lines.net_amount",),
    "BT-99": ("charges.amount", "logistics_charges.amount"),
    "BT-DEX-002": ("third_party_payments.amount", "financial_adjustments.amount"),
}
"""Paths of what the sums of the document add in an extension: no subtotals, but logistics charges (BG-X-42) and amounts
collected for third parties (BG-DEX-09, BG-X-72)."""
_EXTENSION: Final = "#conformant#"
"""Part of the specification identifier (BT-24) of an extension of EN 16931."""
_SUBTOTAL: Final = "GROUP"
"""Status (BT-X-8) of a line that is a subtotal."""
IN_CODES: Final = {
    "S": "S", "Z": "Z", "E": "E", "AE": "AE", "K": "IC", "G": "G", "O": "O", "L": "AF", "M": "AG",
}  # fmt: skip
"""VAT categories, and how the codes of rules name them."""

_LIKE: Final = {
    "PLAUS-LINE-AMOUNT": "PEPPOL-EN16931-R120",
    "BR-FXEXT-S08b": "BR-S-08",
    "BR-DEX-09": "BR-CO-16",
    **{f"BR-FXEXT-CO-{number}": f"BR-CO-{number}" for number in range(10, 17)},
    **{f"BR-FXEXT-{name}-08{kind}": f"BR-{name}-08" for name in IN_CODES.values() for kind in ("b", "ini", "rev")},
}
"""Rules that state an equation with another tolerance than the one in the table, or for extensions."""
RULES: Final = frozenset(
    code.format(category) for it in EQUATIONS.values() for code in it.rules for category in IN_CODES.values()
) | {*_LIKE}
"""Codes of all rules that state an equation."""


def rule_in_table(code: str) -> str:
    """Return the code with which the table names the equation that a rule states; the same for any other rule.

    >>> rule_in_table("BR-FXEXT-CO-10"), rule_in_table("BR-CO-10")
    ('BR-CO-10', 'BR-CO-10')
    """
    return _LIKE.get(code, code)


def calculate(result: str, numbers: Numbers) -> Decimal:
    """Return the number of a calculated term.

    Args:
        result: the term.
        numbers: those of its operands; other terms are ignored.

    Raises:
        LookupError: there is no equation for the term, or a factor is missing.

    >>> calculate("BT-131", {"BT-146": [Decimal("0.3333")], "BT-129": [Decimal(3)]})
    Decimal('1.00')
    """
    return EQUATIONS[result].calculate(numbers)


@dataclass(frozen=True, slots=True, eq=False)
class Operand:
    """A number in an equation, by its term and its place in the invoice.

    Attributes:
        term: the business term.
        group, field: its place; the group is `absent` if the invoice does not have it.
        is_optional: whether it can be missing.
    """

    term: str
    group: Any
    field: str
    is_optional: bool = False

    @property
    def value(self) -> Any:
        """The value in the invoice; `absent` if it is missing."""
        return getattr(self.group, self.field)

    @property
    def number(self) -> Decimal | None:
        """The number; None if it is missing, malformed, or has too many digits."""
        number = self.value.number
        if number is absent or number.adjusted() >= _MAX_DIGITS or number.as_tuple().exponent < -_MAX_DIGITS:
            return None
        return Decimal(number)

    @property
    def is_lacking(self) -> bool:
        """Whether nothing can be calculated from it: it is missing and not optional, or malformed."""
        return self.number is None and not (self.is_optional and self.value is absent)


class Solution(NamedTuple):
    """A calculated number, or None with what is missing or malformed.

    There is neither a number nor anything lacking if no number satisfies the equation, such as a price if the quantity
    is 0.
    """

    number: Decimal | None
    lacking: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Calculation:
    """An equation at one place of an invoice.

    Attributes:
        equation: the equation.
        place: the group that has the result; for a total the invoice.
        result: the result as stated.
        operands: the operands as stated, and those that are missing.
        keys: category and rate of the operands, if they are added by VAT.
    """

    equation: Equation
    place: Any
    result: Operand
    operands: tuple[Operand, ...]
    keys: tuple[Operand, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        """Codes of the rules that state the equation here."""
        category = IN_CODES.get(self.place.category.text, "") if self.equation.at == "vat_breakdown" else ""
        return tuple(code.format(category) for code in self.equation.rules if category or "{}" not in code)

    @property
    def lacking(self) -> tuple[Operand, ...]:
        """The operands that are missing or malformed, so that the result cannot be calculated."""
        keys = (it for it in self.keys if not it.value.filled or it.value.value is absent)
        return (*keys, *(it for it in self.operands if it.is_lacking))

    @property
    def numbers(self) -> dict[str, list[Decimal]]:
        """The numbers of the operands."""
        return _numbers(self.operands)

    @property
    def holds(self) -> bool | None:
        """Whether the rules accept the stated result; None if an operand is missing or malformed."""
        if self.lacking:
            return None
        stated = self.result.number
        if stated is None:
            return False
        if self.equation.tolerance:
            difference = _EXACT.subtract(stated, self.equation.unrounded(self.numbers))
            return difference.copy_abs() <= self.equation.tolerance
        return stated == self.equation.calculate(self.numbers)

    def solve(self) -> Solution:
        """Return the number that the result should be."""
        lacking = self.lacking
        return Solution(None, lacking) if lacking else Solution(self.equation.calculate(self.numbers))


def _numbers(operands: Iterable[Operand]) -> dict[str, list[Decimal]]:
    numbers: dict[str, list[Decimal]] = {}
    for it in operands:
        if (number := it.number) is not None:
            numbers.setdefault(it.term, []).append(number)
    return numbers


def solve(invoice: Invoice, term: str, place: Group | None = None) -> Solution:
    """Return the number of a term that the other numbers of the invoice give.

    Args:
        invoice: the invoice.
        term: a term with an equation.
        place: the line, allowance, charge or VAT breakdown that has the term; not needed for a total.

    Raises:
        LookupError: there is no equation for the term.
        ValueError: the invoice can have the term several times, and `place` is missing.
    """
    equation = EQUATIONS[term]
    if equation.at and place is None:
        raise ValueError(f"argument 'place' is missing: each of invoice.{equation.at} has {term}")
    return _Contents(invoice).calculation(equation, invoice if place is None else place).solve()


def solve_for(calculation: Calculation, unknown: Operand) -> Solution:
    """Return the number of an operand, one of those of the calculation, that the result and all others give."""
    stated = calculation.result.number
    lacking = tuple(it for it in calculation.lacking if it is not unknown)
    if stated is None:
        return Solution(None, (*lacking, calculation.result))
    if lacking:
        return Solution(None, lacking)
    others = _numbers(it for it in calculation.operands if it is not unknown)
    return Solution(calculation.equation.operand(unknown.term, stated, others))


def is_extended(invoice: Invoice) -> bool:
    """Return whether an invoice declares an extension of EN 16931, by its specification identifier (BT-24)."""
    return _EXTENSION in invoice.specification.text


def taxed_items(invoice: Invoice) -> list[Any]:
    """Return what the VAT breakdown adds: lines, allowances and charges.

    In an extension subtotals are not among them, but logistics charges are.
    """
    if not is_extended(invoice):
        return [*invoice.lines, *invoice.allowances_and_charges]
    return [*invoice.counted_lines, *invoice.allowances_and_charges, *invoice.logistics_charges]


def calculations(invoice: Invoice) -> Iterator[Calculation]:
    """Yield each equation at each place of the invoice where it says something, in the order of the table.

    It says nothing if neither the result nor an operand is stated, or if the result is free and an operand is missing,
    such as the percentage of an allowance.
    """
    contents = _Contents(invoice)
    for equation in EQUATIONS.values():
        for place in contents.places(equation):
            calculation = contents.calculation(equation, place)
            is_stated = any(it.value is not absent for it in (calculation.result, *calculation.operands))
            is_free = equation.is_free and any(it.value is absent for it in calculation.lacking)
            if is_stated and not is_free:
                yield calculation


class _Contents:
    """Finds the values of an invoice by the paths of terms; those of a VAT category and rate by an index."""

    def __init__(self, invoice: Invoice) -> None:
        self._is_extended = is_extended(invoice)
        self._by_path: dict[str, Sequence[Any]] = {"": [invoice]}
        self._with_vat = VatIndex()

    def at(self, path: str) -> Sequence[Any]:
        """Return the groups at a path."""
        if path not in self._by_path:
            above, _, step = path.rpartition(".")
            self._by_path[path] = _below(self.at(above), step)
        return self._by_path[path]

    def places(self, equation: Equation) -> Sequence[Any]:
        """Return the groups that have the result of an equation, subtotals after the lines that they add."""
        found = self.at(equation.at)
        return sorted(found, key=self._depth, reverse=True) if equation.at == "lines" and self._below else found

    @cached_property
    def _below(self) -> Mapping[str, Sequence[Line]]:
        """The lines that each subtotal adds, by its line number; none without extension."""
        found: dict[str, list[Line]] = {}
        for line in self.at("lines") if self._is_extended else ():
            if line.parent_line is not absent and line.status_reason.text in ("DETAIL", _SUBTOTAL):
                found.setdefault(_stripped(line.parent_line), []).append(line)
        return found

    @cached_property
    def _parents(self) -> Mapping[str, str]:
        lines = [it for it in self.at("lines") if it.parent_line is not absent]
        return {_stripped(it.identifier): _stripped(it.parent_line) for it in lines}

    def _depth(self, line: Line) -> int:
        """Return how many lines a line is below; their numbers may form a circle."""
        depth, number = 0, _stripped(line.identifier)
        while number in self._parents and depth < len(self._parents):
            depth, number = depth + 1, self._parents[number]
        return depth

    def calculation(self, equation: Equation, place: Any) -> Calculation:
        """Return an equation at a place; for a subtotal that of subtotals, if it has an amount and lines."""
        if equation.result == SUBTOTAL.result and place.status_reason.text == _SUBTOTAL and self._is_extended:
            lines = self._below.get(_stripped(place.identifier), ()) if place.net_amount is not absent else ()
            result, *below = (Operand(SUBTOTAL.result, it, "net_amount") for it in (place if lines else absent, *lines))
            return Calculation(SUBTOTAL, place, result, tuple(below))
        operands = [it for term in equation.operands for it in self._operands(equation, place, term)]
        keys = self._keys(equation, place) if equation.is_by_vat else ()
        return Calculation(equation, place, self._values(equation, place, equation.result)[0], tuple(operands), keys)

    def _keys(self, equation: Equation, place: Any) -> tuple[Operand, ...]:
        keys = ("BT-118", "BT-119") if place.category.text in RATED else ("BT-118",)
        return tuple(self._values(equation, place, term)[0] for term in keys)

    def _operands(self, equation: Equation, place: Any, term: str) -> Sequence[Operand]:
        """Return the operands of a term; a term of a group that the invoice need not have can be missing."""
        if term in equation.extending and not self._is_extended:
            return ()
        values = self._values(equation, place, term)
        is_required = terms.term(terms.term(term).parent).cardinality.startswith("1") and not equation.is_by_vat
        return values if is_required or values[0].group is not absent else ()

    def _values(self, equation: Equation, place: Any, term: str) -> Sequence[Operand]:
        """Return the values of a term that belong to a place, at least one, which may be `absent`."""
        paths: Sequence[str] = (_PATHS.get(term, terms.path_of(term)),)
        if self._is_extended and term != equation.result:
            paths = _ADDED_IN_EXTENSIONS.get(term, paths)
        is_optional = term in _OPTIONAL or (term == "BT-119" and place.category.text not in RATED)
        found = [(group, field) for above, _, field in (it.rpartition(".") for it in paths)
                 for group in self._groups(equation, place, above)]  # fmt: skip
        return [Operand(term, *it, is_optional) for it in found or [(absent, paths[0].rpartition(".")[2])]]

    def _groups(self, equation: Equation, place: Any, path: str) -> Sequence[Any]:
        if path == equation.at or path.startswith(f"{equation.at}."):
            groups: Sequence[Any] = [place]
            for step in filter(None, path.removeprefix(equation.at).split(".")):
                groups = _below(groups, step)
            return groups
        if not equation.is_by_vat:
            return self.at(path)
        category, rate = place.category.text, place.rate.number
        return self._with_vat(self.at(path), category, rate if category in RATED else None)


def _stripped(number: Value) -> str:
    """Return the number of a line as others refer to it; "" if it has none."""
    return "" if number is absent else number.text.strip()


def _below(groups: Iterable[Any], step: str) -> list[Any]:
    contents = (getattr(group, step) for group in groups)
    lists = (it if isinstance(it, list | tuple) else (it,) for it in contents)
    return [group for groups in lists for group in groups if group is not absent]
