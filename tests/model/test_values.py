"""Values of business terms, and ``absent``."""

import base64
import calendar
import copy
import datetime
import operator
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from einvoice.model.values import (
    BLANKS,
    Amount,
    Binary,
    Code,
    Date,
    Identifier,
    Number,
    Percentage,
    Quantity,
    Text,
    UnitPrice,
    Value,
    absent,
    creator,
)
from tests.helpers.strategies import decimals, texts, values

# ---------------------------------------------------------------- absent

ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv)
COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)

anything = st.one_of(
    st.none(), st.integers(), st.decimals(), st.text(), st.dates(), st.just(absent), values(Text), values(Amount)
)


@given(anything, st.sampled_from(COMPARISONS))
def test_comparing_with_absent_is_false_from_either_side(other: Any, compare: Callable[[Any, Any], Any]) -> None:
    assert compare(absent, other) is False
    assert compare(other, absent) is False


@given(anything, st.sampled_from(ARITHMETIC))
def test_calculating_with_absent_is_absent_from_either_side(other: Any, calculate: Callable[[Any, Any], Any]) -> None:
    assert calculate(absent, other) is absent
    assert calculate(other, absent) is absent


def test_absent_is_empty() -> None:
    assert not absent
    assert list(absent) == []
    assert len(absent) == 0
    assert "a" not in absent
    assert str(absent) == ""
    assert absent.seller.address.city.text is absent
    assert -absent is +absent is abs(absent) is absent


def test_a_misspelt_field_of_absent_is_an_error_with_the_name_that_is_meant() -> None:
    with pytest.raises(AttributeError, match=r"no term has a field 'adress'; did you mean 'address'\?"):
        _ = absent.seller.adress


def test_there_is_one_absent() -> None:
    assert copy.copy(absent) is copy.deepcopy(absent) is pickle.loads(pickle.dumps(absent)) is absent
    assert not hasattr(absent, "__array__")  # libraries ask for protocols; absent has none but its own


# ---------------------------------------------------------------- numbers

DECIMAL = etree.XMLSchema(
    etree.XML('<schema xmlns="http://www.w3.org/2001/XMLSchema"><element name="n" type="decimal"/></schema>')
)

nearly_numbers = st.text(st.sampled_from("0123456789+-.,eE \t\n\r\u00a0\u0663"), max_size=10)


def is_decimal(text: str) -> bool:
    element = etree.Element("n")
    element.text = text
    return DECIMAL.validate(element)


@given(nearly_numbers | decimals(most=10**15))
@example("")
@example(".")
@example("-.5")
@example("5.")
@example("+ 5")
@example("1e3")
@example("INF")
@example("NaN")
@example("\u0665")
@example("5\n")
def test_a_number_is_an_xml_schema_decimal(text: str) -> None:
    number = Number(text).number
    assert (number is not absent) == is_decimal(text)
    if number is not absent:
        assert number == Decimal(text.strip(BLANKS))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4))
def test_a_number_is_exact(exact: Decimal) -> None:
    value = Amount(f"\n {exact:f}\t")
    assert value.number == value.value == exact
    assert -value.number.as_tuple().exponent == 4


# ---------------------------------------------------------------- dates

ZONES = ("", "Z", "+01:00", "-12:30")
FORMS = ("{:04}-{:02}-{:02}", "{:04}{:02}{:02}")
NO_DATES = """
2024 24-01-31 2024-1-31 31.01.2024 2024-01-31T00:00:00 2024-0131 0000-01-01 2024-01-31+1:00 ２０２４-01-31
"""


@given(st.dates(), st.sampled_from(ZONES), st.text(BLANKS, max_size=2))
def test_every_date_survives_a_round_trip(day: datetime.date, zone: str, blanks: str) -> None:
    assert Date(f"{blanks}{day.isoformat()}{zone}{blanks}").date == day
    assert Date(day.isoformat().replace("-", "") + blanks).value == day


@given(
    st.integers(1, 9999),
    st.integers(0, 99),
    st.integers(0, 99),
    st.sampled_from(("{:04}-{:02}-{:02}", "{:04}{:02}{:02}")),
)
def test_only_calendar_dates_are_dates(year: int, month: int, day: int, form: str) -> None:
    exists = 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]
    assert (Date(form.format(year, month, day)).date is not absent) == exists


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2024",
        "24-01-31",
        "2024-1-31",
        "31.01.2024",
        "2024-01-31T00:00:00",
        "2024-0131",
        "0000-01-01",
        "2024-01-31+1:00",
        "２０２４-01-31",
    ],
)
def test_invalid_date_text_has_no_value(text: str) -> None:
    assert Date(text).date is absent


# ---------------------------------------------------------------- values

VALUES = (Text, Code, Identifier, Amount, UnitPrice, Quantity, Percentage, Date, Binary)
any_value = st.sampled_from(VALUES).flatmap(values)


@given(st.binary(), st.integers(1, 20))
def test_a_file_is_the_bytes_of_its_base64(content: bytes, width: int) -> None:
    encoded = base64.b64encode(content).decode()
    wrapped = "\n  ".join(encoded[i : i + width] for i in range(0, len(encoded), width))
    assert Binary(wrapped).value == content


@pytest.mark.parametrize("text", ["A", "AAA", "AA=A", "Grüße", "data:,x"])
def test_invalid_base64_text_has_no_value(text: str) -> None:
    assert Binary(text).value is absent


@given(texts())
def test_a_value_keeps_its_text_unchanged(raw: str) -> None:
    for cls in VALUES:
        assert cls(raw).raw == cls(raw).text == str(cls(raw)) == raw
        assert cls(raw).filled == any(letter not in " \t\r\n" for letter in raw)


@given(any_value, any_value)
def test_values_are_equal_by_class_text_and_attributes(one: Value, other: Value) -> None:
    twin = type(one)(one.raw, dict(one.attributes))
    assert twin == one
    assert hash(twin) == hash(one)
    told_apart = (type(one), one.raw, one.attributes) != (type(other), other.raw, other.attributes)
    assert (one != other) == told_apart


@given(any_value)
def test_further_occurrences_are_compared(value: Value) -> None:
    twin = copy.deepcopy(value)
    assert twin == value
    twin.more = [value]
    assert twin != value


@pytest.mark.parametrize(
    ("cls", "attribute", "asked"),
    [
        (Identifier, "schemeID", "scheme"),
        (Identifier, "listID", "list_id"),
        (Identifier, "listVersionID", "list_version"),
        (Code, "listID", "list_id"),
        (Amount, "currencyID", "currency"),
        (UnitPrice, "currencyID", "currency"),
        (Quantity, "unitCode", "unit"),
        (Binary, "mimeCode", "mime"),
        (Binary, "filename", "filename"),
    ],
)
def test_attributes_of_a_value(cls: type[Value], attribute: str, asked: str) -> None:
    assert getattr(cls("1", {attribute: "X"}), asked) == "X"
    assert getattr(cls("1"), asked) is absent


# ---------------------------------------------------------------- created by the reader


@pytest.mark.parametrize("cls", [Value, Text, Code, Identifier, Number, Amount, UnitPrice, Quantity, Percentage, Date])
@given(texts() | decimals())
def test_the_reader_creates_the_same_values_as_the_constructor(cls: type[Value], raw: str) -> None:
    constructed = cls(raw, {"currencyID": "EUR"})
    created = creator(cls)(raw, constructed.filled, raw, {"currencyID": "EUR"}, None)
    assert created == constructed
    for name in (*Value.__slots__, "value"):
        assert repr(getattr(created, name)) == repr(getattr(constructed, name))
