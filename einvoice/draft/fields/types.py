"""The field types of the draft (text, exact number, date, file) and their conversion to values of the invoice."""

from __future__ import annotations

import base64
import binascii
import datetime
import re
from decimal import Decimal
from typing import Annotated, Any, Final, TypeAlias

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from einvoice.model import values
from einvoice.model.values import absent
from einvoice.quotation import quote

_DIGITS: Final = 20
"""Maximum digits before and after the decimal point."""
_NUMBER: Final = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
#: Characters that XML 1.0 forbids: control characters except tab and line ends, lone surrogates, U+FFFE and U+FFFF.
_NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise PydanticCustomError("string_type", "text expected")
    if found := _NOT_XML.search(given):
        raise PydanticCustomError("text_character", "no XML character", {"character": f"U+{ord(found[0]):04X}"})
    return given.strip().replace("\r\n", "\n").replace("\r", "\n")


def _number(given: Any) -> Decimal:
    if isinstance(given, float):
        given = repr(given)  # the shortest text of this float, as the caller wrote it
        given = format(Decimal(given), "f") if given not in ("nan", "inf", "-inf") else given
    if isinstance(given, str) and _NUMBER.fullmatch(given.strip()):
        given = Decimal(given.strip())
    if isinstance(given, int) and not isinstance(given, bool):
        given = Decimal(given)
    if not isinstance(given, Decimal) or not given.is_finite():
        raise PydanticCustomError("number_type", "number expected", {"found": quote(str(given))})
    exponent = given.as_tuple().exponent
    assert isinstance(exponent, int)
    if given.adjusted() >= _DIGITS or exponent < -_DIGITS:
        raise PydanticCustomError("number_digits", "too many digits", {"limit": _DIGITS})
    return given.quantize(Decimal(1)) if exponent > 0 else given


def _whole(given: Any) -> int:
    number = _number(given)
    if number != int(number) or number < 0:
        raise PydanticCustomError("whole_number", "whole number expected", {"found": quote(str(given))})
    return int(number)


def _money(given: Any) -> Decimal:
    number = _number(given)
    if number != round(number, 2):
        raise PydanticCustomError("money_decimals", "two decimals at most", {"found": quote(str(given))})
    return round(number, 2)


def _day(given: Any) -> datetime.date:
    if isinstance(given, datetime.date) and not isinstance(given, datetime.datetime):
        return given
    try:
        if isinstance(given, str) and _DAY.fullmatch(given.strip()):
            return datetime.date.fromisoformat(given.strip())
    except ValueError:
        pass
    raise PydanticCustomError("date_type", "date expected", {"found": quote(str(given))})


def _file(given: Any) -> str:
    text = "".join(_text(given).split())
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise PydanticCustomError("base64_type", "base64 expected") from None
    return text


Text: TypeAlias = Annotated[str, BeforeValidator(_text), WithJsonSchema({"type": "string"})]

Number: TypeAlias = Annotated[
    Decimal,
    BeforeValidator(_number),
    WithJsonSchema({"type": ["string", "number"], "pattern": r"^\s*[+-]?[0-9]+(\.[0-9]+)?\s*$"}),
]

WholeNumber: TypeAlias = Annotated[
    int,
    BeforeValidator(_whole),
    WithJsonSchema({"type": ["string", "integer"], "pattern": r"^\s*[+]?[0-9]+(\.0+)?\s*$"}),
]

#: An amount has at most two decimals (EN 16931-1, 6.5.2); prices, quantities and rates may have more.
Money: TypeAlias = Annotated[
    Decimal,
    BeforeValidator(_money),
    WithJsonSchema({"type": ["string", "number"], "pattern": r"^\s*[+-]?[0-9]+(\.[0-9]{1,2}0*)?\s*$"}),
]

Day: TypeAlias = Annotated[
    datetime.date,
    BeforeValidator(_day),
    WithJsonSchema({"type": "string", "format": "date"}),
]

File: TypeAlias = Annotated[
    str, BeforeValidator(_file), WithJsonSchema({"type": "string", "contentEncoding": "base64"})
]


def as_text(text: str | None) -> Any:
    """Return text of the invoice."""
    return absent if text is None else values.Text(text)


def as_code(code: str | None) -> Any:
    """Return a code of the invoice."""
    return absent if code is None else values.Code(code)


def as_identifier(text: str | None, **attributes: str | None) -> Any:
    """Return an identifier of the invoice, with the attributes that are not None."""
    given = {name: content for name, content in attributes.items() if content is not None}
    return absent if text is None else values.Identifier(text, given)


def as_date(day: datetime.date | None) -> Any:
    """Return a date of the invoice."""
    return absent if day is None else values.Date(day.isoformat())


def as_percentage(number: Decimal | None) -> Any:
    """Return a rate of the invoice, with its original decimals."""
    return absent if number is None else values.Percentage(format(number, "f"))


def as_amount(number: Decimal | None, currency: str) -> Any:
    """Return an amount of the invoice, with at least two decimals."""
    return absent if number is None else values.Amount(decimals(number), {"currencyID": currency})


def as_price(number: Decimal | None, currency: str) -> Any:
    """Return a unit price of the invoice, with at least two decimals."""
    return absent if number is None else values.UnitPrice(decimals(number), {"currencyID": currency})


def as_quantity(number: Decimal | None, unit: str | None) -> Any:
    """Return a quantity of the invoice with its unit."""
    attributes = {} if unit is None else {"unitCode": unit}
    return absent if number is None else values.Quantity(format(number, "f"), attributes)


def decimals(number: Decimal) -> str:
    """Return a number as text with at least two decimals.

    >>> decimals(Decimal("5")), decimals(Decimal("0.125")), decimals(Decimal("-0.00"))
    ('5.00', '0.125', '0.00')
    """
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return format(number or abs(number), f".{max(2, -exponent)}f")
