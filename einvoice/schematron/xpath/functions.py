"""The functions of XPath that sheets call, by name.

Sources: XQuery 1.0 and XPath 2.0 Functions and Operators; XSL Transformations 2.0, 16.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, Final, NamedTuple

from einvoice.schematron import regex
from einvoice.schematron.errors import LimitReached, Stopped
from einvoice.schematron.tree import local_name, namespace, words
from einvoice.schematron.values import (
    CASTS,
    Date,
    Untyped,
    arithmetic,
    atoms,
    cast,
    general_comparison,
    is_node,
    number_item,
    optional,
    rounded,
    text_of,
    to_double,
    to_integer,
    total,
)
from einvoice.schematron.xpath.compiled import Kind


class Function(NamedTuple):
    """A function.

    Attributes:
        call: gets the arguments in the form that `arguments` names.
        kind: what it returns.
        arguments: for each argument "string" (a text or nothing), "text" (any item, as text), "boolean", "number"
            (as `fn:number`), "items" (a sequence) or "item" (any value). The last one repeats if `repeats`.
        least: number of arguments that must be given.
        repeats: whether the last argument may be given any number of times.
        of_context: whether the context item stands for a missing argument.
    """

    call: Callable[..., Any]
    kind: Kind
    arguments: Sequence[str]
    least: int
    repeats: bool = False
    of_context: bool = False

    def argument(self, index: int) -> str:
        """Return the form of an argument."""
        return self.arguments[min(index, len(self.arguments) - 1)]


_PICTURE: Final = re.compile(r"(?:#+(?:,#+)*(?:,?0+(?:,0+)*)?|0+(?:,0+)*)?(?:\.0*#*)?")
_DIGITS: Final = Context(prec=400)
_MAX_TEXT: Final = 20_000_000
"""Characters of a text, twice as many as a document has."""
FUNCTIONS: Final[dict[str, Function]] = {}


def _function(
    name: str, arguments: str, kind: Kind, *, least: int = -1, repeats: bool = False, of_context: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function."""

    def register(call: Callable[..., Any]) -> Callable[..., Any]:
        forms = arguments.split()
        needed = len(forms) if least < 0 else least
        FUNCTIONS[name] = Function(call, kind, forms, 0 if of_context else needed, repeats, of_context)
        return call

    return register


# ---------------------------------------------------------------- texts


def _joined(*parts: str) -> str:
    if sum(map(len, parts)) > _MAX_TEXT:
        raise LimitReached("a text is too long")
    return "".join(parts)


_function("string", "text", Kind.TEXT, of_context=True)(lambda text: text)
_function("string-length", "string", Kind.INTEGER, of_context=True)(len)
_function("upper-case", "string", Kind.TEXT)(str.upper)
_function("lower-case", "string", Kind.TEXT)(str.lower)
_function("concat", "text", Kind.TEXT, least=2, repeats=True)(_joined)
_function("contains", "string string", Kind.BOOLEAN)(lambda text, part: part in text)
_function("starts-with", "string string", Kind.BOOLEAN)(lambda text, part: text.startswith(part))
_function("ends-with", "string string", Kind.BOOLEAN)(lambda text, part: text.endswith(part))


_function("normalize-space", "string", Kind.TEXT, of_context=True)(words)


@_function("substring", "string number number", Kind.TEXT, least=2)
def _substring(text: str, start: float, length: float = math.inf) -> str:
    first = _nearest(start)
    last = first + _nearest(length)
    if math.isnan(last) or last <= 1:
        return ""
    begin = max(int(first) - 1, 0) if math.isfinite(first) else 0
    return text[begin:] if last == math.inf else text[begin : int(last) - 1]


def _nearest(value: float) -> float:
    return float(math.floor(value + 0.5)) if math.isfinite(value) else value


@_function("substring-before", "string string", Kind.TEXT)
def _substring_before(text: str, part: str) -> str:
    return text.partition(part)[0] if part and part in text else ""


@_function("substring-after", "string string", Kind.TEXT)
def _substring_after(text: str, part: str) -> str:
    return text.partition(part)[2] if part else text


@_function("translate", "string string string", Kind.TEXT)
def _translate(text: str, of: str, to: str) -> str:
    table: dict[int, str | None] = {}
    for index, sign in enumerate(of):
        table.setdefault(ord(sign), to[index] if index < len(to) else None)
    return text.translate(table)


@_function("string-join", "items string", Kind.TEXT, least=1)
def _string_join(parts: Sequence[Any], separator: str = "") -> str:
    return _joined(separator.join(text_of(it) for it in atoms(parts)))


@_function("matches", "string string string", Kind.BOOLEAN, least=2)
def _matches(text: str, pattern: str, flags: str = "") -> bool:
    return regex.pattern(pattern, flags).is_in(text)


@_function("replace", "string string string string", Kind.TEXT, least=3)
def _replace(text: str, pattern: str, replacement: str, flags: str = "") -> str:
    return regex.pattern(pattern, flags).replace(text, replacement)


@_function("tokenize", "string string string", Kind.ANY, least=1)
def _tokenize(text: str, pattern: str | None = None, flags: str = "") -> list[str]:
    return words(text).split() if pattern is None else regex.pattern(pattern, flags).split(text)


@_function("string-to-codepoints", "string", Kind.ANY)
def _to_codepoints(text: str) -> list[int]:
    return [ord(sign) for sign in text]


@_function("codepoints-to-string", "items", Kind.TEXT)
def _from_codepoints(codes: Sequence[Any]) -> str:
    return "".join(chr(to_integer(it)) for it in atoms(codes))


@_function("compare", "string string", Kind.ITEM)
def _compare(first: str, second: str) -> int:
    return (first > second) - (first < second)


# ---------------------------------------------------------------- boolean, sequences

_function("true", "", Kind.BOOLEAN)(lambda: True)
_function("false", "", Kind.BOOLEAN)(lambda: False)
_function("not", "boolean", Kind.BOOLEAN)(lambda value: not value)
_function("boolean", "boolean", Kind.BOOLEAN)(lambda value: value)
_function("exists", "items", Kind.BOOLEAN)(bool)
_function("empty", "items", Kind.BOOLEAN)(lambda sequence: not sequence)
_function("count", "items", Kind.INTEGER)(len)
_function("data", "items", Kind.ANY)(atoms)
_function("reverse", "items", Kind.ANY)(lambda sequence: sequence[::-1])


@_function("distinct-values", "items", Kind.ANY)
def _distinct(sequence: Sequence[Any]) -> list[Any]:
    found: dict[Any, Any] = {}
    for it in atoms(sequence):
        found.setdefault(text_of(it) if isinstance(it, Date) else it, it)
    return [*found.values()]


@_function("index-of", "items item", Kind.ANY)
def _index_of(sequence: Sequence[Any], value: Any) -> list[int]:
    return [index for index, it in enumerate(atoms(sequence), 1) if general_comparison("=", it, optional(value))]


@_function("subsequence", "items number number", Kind.ANY, least=2)
def _subsequence(sequence: Sequence[Any], start: float, length: float = math.inf) -> list[Any]:
    first, last = _nearest(start), _nearest(start) + _nearest(length)
    return [it for index, it in enumerate(sequence, 1) if first <= index < last]


@_function("remove", "items number", Kind.ANY)
def _remove(sequence: Sequence[Any], place: float) -> list[Any]:
    return [it for index, it in enumerate(sequence, 1) if index != place]


@_function("insert-before", "items number items", Kind.ANY)
def _insert_before(sequence: Sequence[Any], place: float, others: Sequence[Any]) -> list[Any]:
    at = max(int(place) - 1, 0)
    return [*sequence[:at], *others, *sequence[at:]]


def _exact(name: str, test: Callable[[int], bool]) -> None:
    def call(sequence: Sequence[Any]) -> Sequence[Any]:
        if not test(len(sequence)):
            raise Stopped("FORG0005", f"{name} got {len(sequence)} items")
        return sequence

    _function(name, "items", Kind.ANY)(call)


_exact("exactly-one", lambda size: size == 1)
_exact("zero-or-one", lambda size: size <= 1)
_exact("one-or-more", lambda size: size >= 1)

# ---------------------------------------------------------------- numbers

_function("number", "number", Kind.ITEM, of_context=True)(lambda value: value)
_function("sum", "items item", Kind.ITEM, least=1)(total)
_function("round", "item number", Kind.ITEM, least=1)(lambda value, places=0: rounded(value, int(places), "half_up"))
_function("floor", "item", Kind.ITEM)(lambda value: rounded(value, 0, "floor"))
_function("ceiling", "item", Kind.ITEM)(lambda value: rounded(value, 0, "ceiling"))
_function("round-half-to-even", "item number", Kind.ITEM, least=1)(
    lambda value, places=0: rounded(value, int(places), "half_even")
)


@_function("format-number", "item string", Kind.TEXT)
def _format_number(value: Any, picture: str) -> str:
    """Return a number in a picture of digits, commas between their groups, and one point; others are not supported."""
    if _PICTURE.fullmatch(picture) is None or not picture.strip("."):
        raise Stopped("XTDE1310", "this picture of a number is not supported")
    found = number_item(value)
    if found is None or found != found:
        return "NaN"
    sign = "-" if found < 0 or (found == 0 and isinstance(found, float) and math.copysign(1, found) < 0) else ""
    if isinstance(found, float) and math.isinf(found):
        return f"{sign}Infinity"
    whole, _, decimals = picture.partition(".")
    unit = Decimal(1).scaleb(-len(decimals))
    exact = Decimal(repr(found)) if isinstance(found, float) else Decimal(found)
    digits = format(abs(exact.quantize(unit, ROUND_HALF_EVEN, _DIGITS)), "f")
    before, _, after = digits.partition(".")
    least = decimals.count("0") or int("0" not in whole and bool(decimals))
    after = after[:least] + after[least:].rstrip("0")
    before = _grouped(before.lstrip("0").rjust(whole.count("0"), "0"), whole)
    return f"{sign}{before}.{after}" if after else f"{sign}{before or '0'}"


def _grouped(digits: str, picture: str) -> str:
    """Return digits with commas where the whole part of a picture has them; equal groups go on to the left."""
    signs = picture.replace(",", "")
    places = {len(it.replace(",", "")) for it in _right_of_commas(picture)}
    size = min(places, default=0)
    if size and places == {*range(size, len(signs), size)}:
        places = {*range(size, len(digits), size)}
    return "".join(f",{it}" if at in places and at < len(digits) else it for it, at in _from_right(digits))


def _right_of_commas(picture: str) -> list[str]:
    return [picture[place + 1 :] for place, sign in enumerate(picture) if sign == ","]


def _from_right(digits: str) -> Iterator[tuple[str, int]]:
    """Yield each digit and how many stand from it on to the right."""
    return zip(digits, range(len(digits), 0, -1), strict=True)


def number(value: Any) -> float:
    """Return any value as a double; NaN for nothing, and for what is no number (`fn:number`)."""
    if value.__class__ is float:
        return float(value)
    found = optional(value)
    try:
        return math.nan if found is None else to_double(found)
    except Stopped:
        return math.nan


@_function("abs", "item", Kind.ITEM)
def _abs(value: Any) -> Any:
    found = number_item(value)
    return None if found is None else abs(found)


@_function("avg", "items", Kind.ITEM)
def _avg(sequence: Sequence[Any]) -> Any:
    return arithmetic("div", total(sequence), len(sequence)) if sequence else None


@_function("max", "items", Kind.ITEM)
def _max(sequence: Sequence[Any]) -> Any:
    return _extreme(sequence, ">")


@_function("min", "items", Kind.ITEM)
def _min(sequence: Sequence[Any]) -> Any:
    return _extreme(sequence, "<")


def _extreme(sequence: Sequence[Any], sign: str) -> Any:
    values = [to_double(it) if isinstance(it, Untyped) else it for it in atoms(sequence)]
    found = None
    for it in values:
        if isinstance(it, float) and math.isnan(it):
            return it
        found = it if found is None or general_comparison(sign, it, found) else found
    return found


# ---------------------------------------------------------------- nodes, dates, casts


def _of_node(name: str, call: Callable[[Any], str]) -> None:
    def named(value: Any) -> str:
        found = value[0] if isinstance(value, list | tuple) and value else value
        return call(found) if is_node(found) else ""

    _function(name, "item", Kind.TEXT, of_context=True)(named)


_of_node("name", operator.attrgetter("lexical_name"))
_of_node("local-name", local_name)
_of_node("namespace-uri", namespace)
_of_node("generate-id", lambda node: f"n{id(node)}")


def _of_date(name: str, part: Callable[[Date], int]) -> None:
    def call(value: Any) -> int | None:
        found = cast(value, "xs:date")
        return None if found is None else part(found)

    _function(name, "item", Kind.ITEM)(call)


_of_date("year-from-date", lambda it: it.day.year)
_of_date("month-from-date", lambda it: it.day.month)
_of_date("day-from-date", lambda it: it.day.day)


@_function("current-date", "", Kind.ITEM)
def _current_date() -> Date:
    import datetime

    return Date(datetime.datetime.now(datetime.UTC).date().isoformat())


def _casts() -> Mapping[str, Function]:
    def caster(to: str) -> Callable[[Any], Any]:
        return lambda value: cast(value, to)

    return {name: Function(caster(name), Kind.ITEM, ("item",), 1) for name in CASTS}


FUNCTIONS.update(_casts())
