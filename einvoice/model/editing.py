"""Checks the content assigned to fields of the invoice model, and converts plain Python values.

The reader stores its values without these checks.
"""

from __future__ import annotations

import base64
import datetime
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from einvoice.model.terms import name
from einvoice.model.values import Binary, Date, Number, Value, absent

_PLAIN: Final = (
    (Number, "a Decimal, int or text"),
    (Date, "a datetime.date or text"),
    (Binary, "bytes"),
    (Value, "text (str)"),
)
"""Plain Python type of each type of value."""


class Declared(NamedTuple):
    """The declaration of a field: its class and name, the type of its content, whether it is a list, its terms."""

    group: str
    field: str
    type: type[Any]
    many: bool
    terms: Sequence[str]


def content_of(declared: Declared, given: Any, previous: Any) -> Any:
    """Return the content of a field for an assigned value.

    Args:
        declared: declaration of the field.
        given: what is assigned. A plain value becomes a value of the field: `str` for text, codes and identifiers,
            `Decimal`, `int` or text such as "12.50" for numbers, `datetime.date` or text such as "2026-12-31" for
            dates, `bytes` for files.
        previous: content that it replaces. A plain value keeps the attributes of a single one: scheme, currency, unit.

    Raises:
        TypeError: the value has the wrong type.
        ValueError: the text is no number or calendar date, or the number is not finite.
    """
    if given is absent:
        return () if declared.many else absent
    if not declared.many:
        return _single(declared, given, previous, "")
    if not isinstance(given, list | tuple):
        raise _wrong_type(declared, given, f"a list of {declared.type.__name__}")
    return [_single(declared, it, absent, f"[{index}]") for index, it in enumerate(given)]


def _single(declared: Declared, given: Any, previous: Any, index: str) -> Any:
    kind = declared.type
    if isinstance(given, kind):
        return given
    if not issubclass(kind, Value):
        raise _wrong_type(declared, given, _with_article(kind), index)
    text = None if isinstance(given, Value) else _text(declared, given)
    if text is None:
        plain = next(plain for base, plain in _PLAIN if issubclass(kind, base))
        raise _wrong_type(declared, given, f"{plain}{',' if ' or ' in plain else ''} or {_with_article(kind)}", index)
    keeps_attributes = isinstance(previous, kind) and not issubclass(kind, Date)  # those of a date are its notation
    return kind(text, previous.attributes) if keeps_attributes else kind(text)


def _text(declared: Declared, given: Any) -> str | None:
    """Return a plain value as the text of a document; None if its type does not suit the field."""
    kind = declared.type
    if issubclass(kind, Number | Date) and isinstance(given, str):
        if kind(given).value is absent:
            example = "a date such as 2026-12-31" if issubclass(kind, Date) else "a number such as 12.50"
            raise ValueError(f"{_label(declared)} must be {example}, not {given!r}")
        return given
    if issubclass(kind, Number):
        if not isinstance(given, Decimal | int) or isinstance(given, bool):
            return None
        if not Decimal(given).is_finite():
            raise ValueError(f"{_label(declared)} must be finite, not {given}")
        return format(Decimal(given), "f")
    if issubclass(kind, Date):
        is_date = isinstance(given, datetime.date)
        return datetime.date(given.year, given.month, given.day).isoformat() if is_date else None
    if issubclass(kind, Binary):
        return base64.b64encode(given).decode("ascii") if isinstance(given, bytes) else None
    return given if isinstance(given, str) else None


def _wrong_type(declared: Declared, given: Any, expected: str, index: str = "") -> TypeError:
    remedy = "; `del` removes a term" if given is None else ""
    return TypeError(
        f"{_label(declared)} must be {expected}, not {type(given).__name__}: "
        f"{declared.group}.{declared.field}{index}{remedy}"
    )


def _with_article(kind: type[Any]) -> str:
    return f"a{'n' if kind.__name__[0] in 'AEIOU' else ''} {kind.__name__}"


def _label(declared: Declared) -> str:
    """Return the business terms of a field with their English names; without terms, the name of the field."""
    numbers = filter(None, dict.fromkeys(declared.terms))
    return " or ".join(f"{number} ({name(number, 'en')})" for number in numbers) or repr(declared.field)


def derived(declared: Declared) -> AttributeError:
    """Return the error for an assignment to a view or property."""
    return AttributeError(f"{_label(declared)} is derived from other fields: {declared.group}.{declared.field}")


def unknown_field(group: str, field: str, known: Iterable[str]) -> str:
    """Return the message about an unknown field, with the most similar known one."""
    from difflib import get_close_matches  # on use: only for messages

    near = get_close_matches(field, list(known), 1)
    return f"{group} has no field {field!r}" + (f"; did you mean {near[0]!r}?" if near else "")
