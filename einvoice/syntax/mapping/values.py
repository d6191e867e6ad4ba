"""Converts values to the notation of a syntax: dates, codes and attributes."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Final, TypeVar

from einvoice.model.invoice import Invoice
from einvoice.model.values import (
    BLANKS,
    Amount,
    Binary,
    Code,
    Date,
    Identifier,
    Number,
    Quantity,
    Value,
    absent,
    normalize_space,
)
from einvoice.syntax.mapping.binding import Row

V = TypeVar("V", bound=Value)

#: Attributes in both syntaxes, by type of value.
_ATTRIBUTES: Final[Mapping[type[Value], tuple[str, ...]]] = {
    Identifier: ("schemeID", "listID", "listVersionID"),
    Quantity: ("unitCode",),
    Binary: ("mimeCode", "filename"),
}


def with_attributes(value: V, **attributes: str | None) -> V:
    """Return a copy of `value` with other attributes (None removes one) and without further occurrences."""
    result = copy.copy(value)
    result.attributes = {name: text for name, text in {**value.attributes, **attributes}.items() if text is not None}
    result.more = ()
    return result


def is_creditor(identifier: Identifier) -> bool:
    """Return whether an identifier of the seller or payee is the creditor identifier (BT-90) in UBL."""
    return identifier.scheme is not absent and identifier.scheme.upper() == "SEPA"


class ValueFormatter:
    """Formats the values of one invoice for one syntax."""

    def __init__(self, syntax: str, invoice: Invoice) -> None:
        self.is_ubl = syntax == "UBL"
        self.is_foreign = invoice.syntax not in ("", syntax)
        self.currency = normalize_space(invoice.currency.raw) if invoice.currency is not absent else "EUR"

    def format(self, value: Value, row: Row) -> tuple[str, dict[str, str]]:
        """Return text and attributes of `value` in the element of `row`."""
        if self.is_foreign and isinstance(value, Number | Identifier):
            value = _without_quirks(value)
        if isinstance(value, Date):
            return self._date(value)
        if isinstance(value, Amount):
            return value.raw, self._currency(value, row)
        names = _ATTRIBUTES.get(type(value), ())
        attributes = {name: value.attributes[name] for name in names if name in value.attributes}
        return _text(value, row.foreign or {}), attributes

    def _date(self, value: Date) -> tuple[str, dict[str, str]]:
        date = value.date
        if self.is_ubl:
            return value.raw if date is absent else date.isoformat(), {}
        return value.raw if date is absent else date.strftime("%Y%m%d"), {"format": "102"}

    def _currency(self, value: Amount, row: Row) -> dict[str, str]:
        """Return the currency attribute: for every amount in UBL, only for the VAT totals in CII."""
        if not self.is_ubl and row.path:
            return {}
        return {"currencyID": value.attributes.get("currencyID", self.currency)}


def _text(value: Value, foreign: Mapping[str, str]) -> str:
    """Return the text; remove white space around codes, which only the UBL rules ignore."""
    text = normalize_space(value.raw) if isinstance(value, Code) else value.raw
    return foreign.get(value.text, foreign.get(text, text))


def _without_quirks(value: Value) -> Value:
    """Return a number or identifier without what only one syntax accepts: white space around it, the sign of a zero."""
    text = value.raw.strip(BLANKS)
    if isinstance(value, Number) and value.number == 0:
        text = text.removeprefix("-")
    if text == value.raw:
        return value
    result = with_attributes(value)
    result.raw = result.text = text
    return result
