"""Functions that calculate, exactly or in binary floating point, and the function for dates.

The official rules read an amount as `xs:decimal` if they convert it, otherwise as `xs:double`. In edge cases the
results differ. Here a number is exact unless a rule says `double`.
"""

from __future__ import annotations

import datetime
import functools
import math
import operator
import re
from collections.abc import Iterable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_DOWN, ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

from einvoice.model.values import BLANKS, Number, Value, absent
from einvoice.rulebook.functions.registry import CALLABLE, GLOBALS, Numeric, function, helper

#: Sums and products are exact and raise nothing. Generated rules run inside `decimal.localcontext(EXACT)`.
EXACT: Final = Context(prec=1000, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])


@function("sum")
def total(numbers: Iterable[Numeric]) -> Numeric:
    """`sum(x)` of the numbers that are not absent, 0 if there are none; added in order, which matters for doubles.

    >>> total([Decimal("0.10"), absent, Decimal("0.20")]), total([]), total([0.1] * 10), total([-0.0])
    (Decimal('0.30'), 0, 0.9999999999999999, -0.0)
    """
    return functools.reduce(operator.add, [number for number in numbers if number is not absent] or (0,))


GLOBALS["abs"] = CALLABLE["abs"] = abs


@function()
def number(x: Numeric) -> Numeric:
    """`xs:decimal(x)`: the exact number of a value, or the exact value of a double.

    >>> number(0.5), number(float("inf"))
    (Decimal('0.5'), absent)
    """
    if isinstance(x, float):
        return Decimal(x) if math.isfinite(x) else absent
    return x


_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
_SPECIAL: Final = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf, "NaN": math.nan}


@function()
def double(x: Value | Numeric) -> Numeric:
    """`number(x)` as XPath compares and adds untyped values (`xs:double`).

    >>> double(Value(" 1e3 ")), double(Value("0.1")) + double(Value("0.2")), double(Value("?"))
    (1000.0, 0.30000000000000004, absent)
    """
    if isinstance(x, Number) and x.number is not absent:  # the usual case
        return float(x.raw)
    if not isinstance(x, Value):
        return x if x is absent else float(x)
    text = x.raw.strip(BLANKS)
    return float(text) if _DOUBLE.match(text) else _SPECIAL.get(text, absent)


_WHOLE = r"[+-]?[0-9]+\Z"
_MIN_EXPONENT: Final = -300
"""Smaller numbers may be zero as a double."""


@function()
def compare(x: Value, y: Numeric) -> Numeric:
    """Compare an untyped value with a number, as `x = y`, `x < y` … do: -1 below, 0 equal, 1 above.

    Saxon uses Java's order of doubles: -0.0 is below 0.0 and NaN above all numbers. As an exception, "-0" without
    decimals equals the whole number 0.

    >>> compare(Value("-0.00"), 0), compare(Value("-0"), 0), compare(Value("1e3"), 5), compare(absent, 0)
    (-1, 0, 1, absent)
    """
    if y == 0 and isinstance(x, Number) and (exact := x.number) and exact.adjusted() > _MIN_EXPONENT:
        return 1 if exact > 0 else -1  # the usual case: the sign of the exact number is that of the double
    one, other = double(x), double(y)
    if one is absent or other is absent or math.isnan(other):
        return absent
    if one != other:
        return -1 if one < other else 1
    if one or (isinstance(y, int) and re.match(_WHOLE, x.raw.strip(BLANKS))):
        return 0
    return (math.copysign(1, one) > math.copysign(1, other)) - (math.copysign(1, one) < math.copysign(1, other))


_ONE: Final = Decimal(1)
_CENT: Final = Decimal("0.01")


@function("round")
def rounded(x: Numeric) -> Numeric:
    """`round(x)`: to a whole number, halves towards +infinity.

    >>> rounded(Decimal("2.5")), rounded(Decimal("-2.5")), rounded(-2.5), rounded(-0.5)
    (Decimal('3'), Decimal('-2'), -2.0, -0.0)
    """
    if isinstance(x, Decimal):
        return x.quantize(_ONE, ROUND_HALF_DOWN if x < 0 else ROUND_HALF_UP, EXACT)
    if not isinstance(x, float) or not math.isfinite(x):
        return x
    whole = math.floor(x)
    return math.copysign(whole + 1 if x - whole >= 0.5 else whole, x)


@function()
def round2(x: Numeric) -> Numeric:
    """`round(x * 10 * 10) div 100`: to two decimals, halves towards +infinity.

    Doubles are multiplied twice, as in the official rules: `x * 100` can differ.

    >>> round2(Decimal("314.865")), round2(Decimal("-314.865")), round2(1.005)
    (Decimal('314.87'), Decimal('-314.86'), 1.0)
    """
    if isinstance(x, Decimal):
        return x.quantize(_CENT, ROUND_HALF_DOWN if x < 0 else ROUND_HALF_UP, EXACT)
    if isinstance(x, float):
        return float(rounded(x * 10 * 10) / 100)
    return x


@function()
def within_exclusive(x: Numeric, y: Numeric, tolerance: Numeric) -> bool:
    """`x - tolerance < y and x + tolerance > y`: they differ by less than the tolerance.

    >>> within_exclusive(Decimal("10.99"), 10, 1), within_exclusive(11, 10, 1), within_exclusive(absent, 10, 1)
    (True, False, False)
    """
    return bool(x - tolerance < y and x + tolerance > y)


@function()
def within(x: Numeric, y: Numeric, tolerance: Numeric) -> bool:
    """`x - tolerance <= y and x + tolerance >= y`: they differ by at most the tolerance.

    >>> within(11, 10, 1), within(Decimal("11.01"), 10, 1)
    (True, False)
    """
    return x == y or bool(x - tolerance <= y and x + tolerance >= y)


_QUOTIENT: Final = Context(prec=200, rounding=ROUND_DOWN, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
_DECIMALS: Final = 18
_SHORT: Final = Decimal((0, (1,), -_DECIMALS))


@helper
def _divide(x: Numeric, y: Numeric) -> Numeric:
    """`x div y` for exact numbers: 18 decimals, or more if the dividend has more decimals than the divisor.

    Halves are rounded towards zero. Division by zero is an error in XPath and `absent` here.

    >>> _divide(Decimal(2), Decimal(3)), _divide(Decimal("1.50"), Decimal(100)), _divide(1, 0)
    (Decimal('0.666666666666666667'), Decimal('0.015'), absent)
    """
    if x is absent or y is absent or not y:
        return absent
    if y == 1:
        return x
    quotient = _QUOTIENT.divide(x, y)
    if not quotient.is_finite():  # operands with more digits than the context holds
        return absent
    short = quotient.quantize(_SHORT, ROUND_HALF_DOWN, EXACT)
    if short == quotient:
        return quotient
    more = max(0, _scale(x) - _scale(y))
    return quotient.quantize(Decimal((0, (1,), -_DECIMALS - more)), ROUND_HALF_DOWN, EXACT)


def _scale(x: Decimal | int) -> int:
    """Return the number of decimals, without trailing zeros."""
    return max(0, -int(Decimal(x).normalize(EXACT).as_tuple().exponent))


@helper
def _divide_double(x: Numeric, y: Numeric) -> Numeric:
    """`x div y` for doubles, including division by zero.

    >>> _divide_double(-1.0, 0.0), _divide_double(0.3, 0.1)
    (-inf, 2.9999999999999996)
    """
    if x is absent or y is absent:
        return absent
    if y:
        return x / y
    return math.nan if not x or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1.0, y)


_DAY = r"(-?[0-9]{4,}?)(?P<dash>-?)([0-9]{2})(?P=dash)([0-9]{2})(?:Z|([+-])([0-9]{2}):([0-9]{2}))?"


@function()
def date(x: Any) -> Any:
    """`xs:date(x)`: the start of the day, in UTC if it has no time zone; `absent` for an invalid date.

    The result is a number of minutes, for comparisons only: Python's dates end with the year 9999.

    >>> date(Value("2026-01-01+01:00")) < date(Value("2026-01-01Z")), date(Value("2026-02-30"))
    (True, absent)
    """
    match = re.fullmatch(_DAY, x.raw.strip(BLANKS)) if x is not absent else None
    if match is None:
        return absent
    year, _, month, day, sign, hours, minutes = match.groups(default="0")
    try:
        cycle, rest = divmod(int(year), 400)  # the calendar repeats every 400 years
        days = datetime.date(2000 + rest, int(month), int(day)).toordinal() + cycle * 146_097
    except ValueError:
        return absent
    east = int(hours) * 60 + int(minutes)
    return days * 1440 - (-east if sign == "-" else east)


@function()
def is_date(x: str) -> bool:
    """`string-length(x) = 10 and x castable as xs:date`: a calendar date YYYY-MM-DD without time zone.

    >>> is_date("2024-02-29"), is_date("2023-02-29"), is_date("20240229"), is_date(" 2024-02-29")
    (True, False, False, False)
    """
    return re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", x) is not None and date(Value(x)) is not absent
