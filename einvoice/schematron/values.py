"""The values of XPath 2.0, and what can be done with them.

A sequence is a list or tuple of items. An item is a node (`tree`), or an atomic value: `Untyped` (the value of a node),
str, bool, int (xs:integer), Decimal (xs:decimal), float (xs:double), or `Date`. An expression whose type is known to be
one item or none may also be the item itself, or None.

Sources: XPath 2.0, 2.4 and 3.4 to 3.5; XQuery 1.0 and XPath 2.0 Functions and Operators, 6, 10, 17.
"""

from __future__ import annotations

import datetime
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache
from typing import Any, Final

from einvoice.schematron.errors import LimitReached, Stopped
from einvoice.schematron.tree import BLANKS, Attribute, Element, Text

_DOUBLE: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_DECIMAL: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)", re.ASCII)
_INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)
_DATE: Final = re.compile(r"(-?\d{4,})-(\d\d)-(\d\d)(Z|[+-]\d\d:\d\d)?", re.ASCII)
_TIME: Final = re.compile(r"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?|24:00:00)(?:Z|[+-]\d\d:\d\d)?", re.ASCII)
_WHOLE: Final = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_MAX_PLACES: Final = 1_000
_MAX_ZONE: Final = 14 * 60
_SPECIAL: Final = {"INF": math.inf, "-INF": -math.inf, "NaN": math.nan}
_DIGITS: Final = Context(prec=60)
"""Decimals are exact; a quotient has more digits than Saxon's, which no rounding that sheets use can tell."""
_EXACT: Final = Context(prec=100_000)
_HALF: Final = Decimal("0.5")
_QUOTIENT: Final = 18
"""Decimals of a quotient of exact numbers."""
_LONG: Final = 1 << 31
"""The official engine keeps whole numbers from here on without the zeros at their end."""
_MAX_BITS: Final = 100_000
"""Size of an integer; multiplied again and again, it would fill the memory."""
_MAX_LENGTH: Final = 4_000
"""Characters of a number; longer ones would take long to convert."""

_SHORT: Final = 40
"""Characters of a number that is remembered, since the same one is asked for again and again."""


class Untyped(str):
    """The value of a node, which becomes a number, a date or a text where it is compared with one."""

    __slots__ = ()


class Date:
    """A date (xs:date); without a time zone, UTC is used."""

    __slots__ = ("day", "minutes", "text")

    def __init__(self, text: str) -> None:
        match = _DATE.fullmatch(text)
        if match is None:
            raise Stopped("FORG0001", f"'{text[:40]}' is no date")
        year, month, day, zone = match.groups()
        try:
            self.day = datetime.date(int(year), int(month), int(day))
        except ValueError:
            raise Stopped("FORG0001", f"'{text[:40]}' is no date") from None
        offset = 0 if zone in (None, "Z") else int(zone[1:3]) * 60 + int(zone[4:])
        if offset > _MAX_ZONE:
            raise Stopped("FORG0001", f"'{text[:40]}' is no date")
        self.minutes = self.day.toordinal() * 1440 - (-offset if zone and zone[0] == "-" else offset)
        self.text = text


TEXTS: Final = frozenset((str, Untyped))
NUMBERS: Final = frozenset((int, float, Decimal))
EXACT: Final = frozenset((int, Decimal))
"""Classes of numbers that are no doubles."""
_NODES: Final[frozenset[Any]] = frozenset((Element, Attribute, Text))


def item_text(node: Any) -> Any:
    """Return an item as an atomic value."""
    return Untyped(node.text) if node.__class__ in _NODES else node


def is_node(item: Any) -> bool:
    """Return whether an item is a node."""
    return item.__class__ in _NODES


def atoms(sequence: Sequence[Any]) -> list[Any]:
    """Return the items of a sequence as atomic values."""
    return [item_text(it) for it in sequence]


def items(value: Any) -> Sequence[Any]:
    """Return a value as a sequence."""
    if value.__class__ in (list, tuple):
        return value
    return () if value is None else (value,)


def optional(value: Any) -> Any:
    """Return the atomic value of a sequence of one or no item; None for no item.

    Raises:
        Stopped: it has several.
    """
    if value.__class__ in (list, tuple):
        if not value:
            return None
        if len(value) > 1:
            raise Stopped("XPTY0004", "a sequence of several items where one is allowed")
        value = value[0]
    return item_text(value)


def string(value: Any) -> str:
    """Return an argument that is a text or nothing (xs:string?); "" for nothing."""
    found = optional(value)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise Stopped("XPTY0004", f"{text_of(found)} is no text")
    return found


def text_of(value: Any) -> str:
    """Return the text of a value (`fn:string`); "" for nothing."""
    value = optional(value)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return _plain(value)
    return _double_text(value) if isinstance(value, float) else str(value.text)


def _plain(value: Decimal) -> str:
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def _double_text(value: float) -> str:
    """Return a double as XPath writes it (F&O 17.1.2)."""
    if math.isnan(value) or math.isinf(value):
        return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    exact = Decimal(repr(value))
    if 1e-6 <= abs(value) < 1e6:
        return _plain(exact)
    sign, digits, exponent = exact.normalize().as_tuple()
    shown = "".join(map(str, digits))
    power = int(exponent) + len(digits) - 1
    return f"{'-' * sign}{shown[0]}.{shown[1:] or '0'}E{power}"


# ---------------------------------------------------------------- casts


def _lexical(value: Any, pattern: re.Pattern[str], kind: str) -> str:
    text = value.strip(BLANKS)
    if len(text) > _MAX_LENGTH or pattern.fullmatch(text) is None:
        raise Stopped("FORG0001", f"'{text[:40]}' is no {kind}")
    return str(text)


def to_double(value: Any) -> float:
    """Cast an atomic value to xs:double."""
    if isinstance(value, str):
        return _double(value) if len(value) <= _SHORT else float(_lexical(value, _DOUBLE, "number"))
    if isinstance(value, Date):
        raise Stopped("XPTY0004", "a date is no number")
    return float(value)


@lru_cache(maxsize=4096)
def _double(text: str) -> float:
    special = _SPECIAL.get(text.strip(BLANKS))
    return float(_lexical(text, _DOUBLE, "number")) if special is None else special


def to_decimal(value: Any) -> Decimal:
    """Cast an atomic value to xs:decimal."""
    if isinstance(value, str):
        return _decimal(value) if len(value) <= _SHORT else Decimal(_lexical(value, _DECIMAL, "decimal number"))
    if isinstance(value, float) and not math.isfinite(value):
        raise Stopped("FOCA0002", f"{text_of(value)} is no decimal number")
    if isinstance(value, Date):
        raise Stopped("XPTY0004", "a date is no number")
    return Decimal(value)


@lru_cache(maxsize=4096)
def _decimal(text: str) -> Decimal:
    return Decimal(_lexical(text, _DECIMAL, "decimal number"))


def to_integer(value: Any) -> int:
    """Cast an atomic value to xs:integer."""
    if isinstance(value, str):
        return int(_lexical(value, _INTEGER, "integer"))
    return int(to_decimal(value))


def to_boolean(value: Any) -> bool:
    """Cast an atomic value to xs:boolean."""
    if isinstance(value, str):
        text = value.strip(BLANKS)
        if text not in ("true", "1", "false", "0"):
            raise Stopped("FORG0001", f"'{text[:40]}' is no boolean")
        return text in ("true", "1")
    if isinstance(value, Date):
        raise Stopped("XPTY0004", "a date is no boolean")
    return bool(value) and value == value


def to_date(value: Any) -> Date:
    """Cast an atomic value to xs:date."""
    if isinstance(value, Date):
        return value
    if not isinstance(value, str):
        raise Stopped("XPTY0004", f"{text_of(value)} is no date")
    return _date(value.strip(BLANKS)) if len(value) <= _SHORT else Date(value.strip(BLANKS))


@lru_cache(maxsize=1024)
def _date(text: str) -> Date:
    return Date(text)


def _to_time(value: Any) -> str:
    return _lexical(text_of(value), _TIME, "time")


def _at_least(least: int) -> Callable[[Any], int]:
    def cast(value: Any) -> int:
        number = to_integer(value)
        if number < least:
            raise Stopped("FORG0001", f"{number} is too low")
        return number

    return cast


CASTS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "xs:string": text_of,
    "xs:boolean": to_boolean,
    "xs:double": to_double,
    "xs:float": to_double,
    "xs:decimal": to_decimal,
    "xs:integer": to_integer,
    "xs:int": to_integer,
    "xs:long": to_integer,
    "xs:nonNegativeInteger": _at_least(0),
    "xs:positiveInteger": _at_least(1),
    "xs:date": to_date,
    "xs:time": _to_time,
    "xs:untypedAtomic": lambda value: Untyped(text_of(value)),
    "xs:anyAtomicType": lambda value: value,
}


def cast(value: Any, to: str) -> Any:
    """Cast a sequence of one or no item; None for no item."""
    found = optional(value)
    return None if found is None else CASTS[to](found)


def is_castable(value: Any, to: str, optional_: bool) -> bool:
    """Return whether a cast would succeed."""
    try:
        found = optional(value)
        if found is None:
            return optional_
        CASTS[to](found)
    except Stopped:
        return False
    return True


# ---------------------------------------------------------------- boolean, comparison


def effective_boolean(value: Any) -> bool:
    """Return the effective boolean value (XPath 2.0, 2.4.3)."""
    if value.__class__ in (list, tuple):
        if not value:
            return False
        if is_node(value[0]):
            return True
        if len(value) > 1:
            raise Stopped("FORG0006", "several values have no boolean value")
        value = value[0]
    if value is None:
        return False
    if isinstance(value, str):
        return bool(value)
    if isinstance(value, Date):
        raise Stopped("FORG0006", "a date has no boolean value")
    return True if is_node(value) else bool(value) and value == value


OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _like(value: Any, other: Any) -> Any:
    """Return an untyped value in the type of the other operand of a general comparison."""
    if isinstance(other, bool):
        return to_boolean(value)
    return to_date(value) if isinstance(other, Date) else value


def _pair(test: Callable[[Any, Any], bool], value: Any, other: Any) -> tuple[Any, Any]:
    """Return an untyped value and the other operand of a general comparison in one type.

    The official engine ranks the untyped number: -0.0 comes before 0 (only -0, without a point, equals the integer 0),
    NaN after all others.
    """
    if other.__class__ not in NUMBERS:
        return _like(value, other), other
    number = to_double(value)
    if number and number == number:
        return number, other
    if not number and isinstance(other, int) and _WHOLE.fullmatch(value) is not None:
        return 0, other
    if number != number and test not in (operator.eq, operator.ne):
        number = math.inf
    return _ranked(number), _ranked(other)


def _ranked(number: Any) -> Any:
    """Return a number, and the smallest double before 0 for -0.0."""
    is_negative_zero = isinstance(number, float) and not number and math.copysign(1, number) < 0
    return -math.ulp(0.0) if is_negative_zero else number


def _compared(test: Callable[[Any, Any], bool], left: Any, right: Any) -> bool:
    if left.__class__ in TEXTS and right.__class__ in TEXTS:
        return test(left, right)
    kind = _kind(left)
    if kind is not _kind(right):
        raise Stopped("XPTY0004", f"{text_of(left)[:40]} and {text_of(right)[:40]} cannot be compared")
    if kind is Date:
        return test(left.minutes, right.minutes)
    if kind is float and isinstance(left, float) is not isinstance(right, float):
        return test(float(left), float(right))
    return test(left, right)


def _kind(value: Any) -> type:
    if isinstance(value, str):
        return str
    return bool if isinstance(value, bool) else Date if isinstance(value, Date) else float


def general_comparison(sign: str, left: Any, right: Any) -> bool:
    """Return whether any pair of items compares true (XPath 2.0, 3.5.2)."""
    test, others = OPERATORS[sign], atoms(items(right))
    for item in items(left):
        a = item_text(item)
        for b in others:
            if a.__class__ is b.__class__ is Untyped:
                found = test(a, b)
            elif a.__class__ is Untyped:
                found = _compared(test, *_pair(test, a, b))
            elif b.__class__ is Untyped:
                found = _compared(test, *reversed(_pair(test, b, a)))
            else:
                found = _compared(test, a, b)
            if found:
                return True
    return False


def value_comparison(sign: str, left: Any, right: Any) -> bool | None:
    """Return whether two items compare true; None if one of them is missing (XPath 2.0, 3.5.1)."""
    a, b = optional(left), optional(right)
    return None if a is None or b is None else _compared(OPERATORS[sign], a, b)


# ---------------------------------------------------------------- arithmetic


def number_item(value: Any) -> Any:
    """Return an operand of an arithmetic function: a number, or None. An untyped value becomes a double."""
    if value.__class__ in NUMBERS:
        return value
    found = optional(value)
    if found.__class__ is Untyped:
        return to_double(found)
    if found is not None and (isinstance(found, bool) or not isinstance(found, int | float | Decimal)):
        raise Stopped("XPTY0004", f"{text_of(found)[:40]} is no number")
    return found


def arithmetic(sign: str, left: Any, right: Any) -> Any:
    """Return the result of an operator; None if an operand is missing (XPath 2.0, 3.4)."""
    a, b = number_item(left), number_item(right)
    if a is None or b is None:
        return None
    if isinstance(a, float) or isinstance(b, float):
        return DOUBLE_ARITHMETIC[sign](float(a), float(b))
    if sign in ("div", "idiv", "mod"):
        if not b:
            raise Stopped("FOAR0001", "division by zero")
        return _EXACT_DIVISION[sign](a, b)
    if a.__class__ is int and b.__class__ is int:
        if sign == "*" and a.bit_length() + b.bit_length() > _MAX_BITS:
            raise LimitReached("a number is too long")
        return _WHOLE_ARITHMETIC[sign](a, b)
    return EXACT_ARITHMETIC[sign](Decimal(a), Decimal(b))


def _divided(a: float, b: float) -> float:
    if b:
        return a / b
    return math.nan if not a or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)


def _whole(a: float, b: float) -> int:
    if not b:
        raise Stopped("FOAR0001", "division by zero")
    if not math.isfinite(a) or math.isnan(b):
        raise Stopped("FOAR0002", "no whole quotient")
    return math.trunc(a / b)


def _rest(a: float, b: float) -> float:
    return math.nan if not b or math.isinf(a) or math.isnan(a) or math.isnan(b) else math.fmod(a, b)


_WHOLE_ARITHMETIC: Final = {"+": operator.add, "-": operator.sub, "*": operator.mul}
EXACT_ARITHMETIC: Final[Mapping[str, Callable[[Any, Any], Decimal]]] = {
    "+": _DIGITS.add,
    "-": _DIGITS.subtract,
    "*": _DIGITS.multiply,
}
DOUBLE_ARITHMETIC: Final[Mapping[str, Callable[[float, float], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "div": _divided,
    "idiv": _whole,
    "mod": _rest,
}


def _exact_whole(a: Any, b: Any) -> int:
    """Return the quotient without its fraction, of numbers with any number of digits."""
    (above, below), (other_above, other_below) = a.as_integer_ratio(), b.as_integer_ratio()
    quotient: int = abs(above * other_below) // abs(below * other_above)
    return -quotient if (a < 0) != (b < 0) else quotient


_TENS: Final = {10**places: places for places in range(_QUOTIENT + 1)}
"""The divisors that only move the point, by how many places."""


def _exact_quotient(a: Any, b: Any) -> Decimal:
    """Return a quotient with the decimals that the official engine keeps: 18, more if the dividend has decimals."""
    if (places := _TENS.get(b)) is not None:
        return Decimal(a).scaleb(-places, _EXACT)
    scale = max(_QUOTIENT, _scale(a) - _scale(b) + _QUOTIENT)
    (above, below), (other_above, other_below) = a.as_integer_ratio(), b.as_integer_ratio()
    divisor = abs(below * other_above)
    quotient, rest = divmod(abs(above * other_below) * 10**scale, divisor)
    digits = str(quotient + (2 * rest > divisor))  # a half is rounded down
    return Decimal(f"{'-' if (a < 0) != (b < 0) else ''}{digits}E-{scale}")


def _scale(number: Any) -> int:
    """Return the number of decimals without zeros at the end; minus the zeros at the end of a long whole number."""
    value = Decimal(number)
    if int(value.as_tuple().exponent) >= 0 and abs(value) < _LONG:
        return 0
    return -int(value.normalize(_EXACT).as_tuple().exponent)


def _exact_rest(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) % abs(b) * (-1 if a < 0 else 1)
    return _EXACT.subtract(Decimal(a), _EXACT.multiply(Decimal(_exact_whole(a, b)), Decimal(b)))


_EXACT_DIVISION: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "div": _exact_quotient,
    "idiv": _exact_whole,
    "mod": _exact_rest,
}


def total(sequence: Any, zero: Any = 0) -> Any:
    """Return the sum of a sequence; `zero` if it is empty (`fn:sum`)."""
    found = None
    for it in items(sequence):
        value = number_item(it)
        found = value if found is None else arithmetic("+", found, value)
    return zero if found is None else found


def rounded(value: Any, places: int, how: str) -> Any:
    """Return a number rounded to decimal places; None for nothing.

    Args:
        how: "half_up" (towards positive infinity, as `fn:round`), "half_even", "floor", "ceiling".
    """
    number = number_item(value)
    if number is None or (isinstance(number, int) and places >= 0):
        return number
    if abs(places) > _MAX_PLACES:
        raise LimitReached(f"rounding to {places} places")
    if isinstance(number, int):
        return int(_rounded(Decimal(number), places, how))
    if isinstance(number, float):
        if not math.isfinite(number) or not number:
            return number
        if how == "half_up" and not places:  # exact in binary: 0.5 more would round 0.49999999999999994 up
            below = math.floor(number)
            return math.copysign(float(below + (number - below >= 0.5)), number)
        return math.copysign(float(_rounded(Decimal(repr(number)), places, how)), number)
    return _rounded(number, places, how)


def _rounded(number: Decimal, places: int, how: str) -> Decimal:
    if how == "half_up" and not places:
        return (_DIGITS.plus(number) + _HALF).to_integral_value(ROUND_FLOOR)
    unit = Decimal(1).scaleb(-places)
    if how == "half_up":
        return _DIGITS.multiply((_DIGITS.divide(number, unit) + _HALF).to_integral_value(ROUND_FLOOR), unit)
    rounding = {"half_even": ROUND_HALF_EVEN, "floor": ROUND_FLOOR, "ceiling": ROUND_CEILING}[how]
    return _DIGITS.multiply(_DIGITS.divide(number, unit).to_integral_value(rounding), unit)
