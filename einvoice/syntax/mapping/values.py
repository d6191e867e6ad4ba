"""How a syntax spells the values of an invoice that came from elsewhere: dates, codes, and what stands beside them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Final, TypeVar

from einvoice.model.invoice import Invoice
from einvoice.model.values import Amount, Binary, Code, Date, Identifier, Quantity, Value, absent
from einvoice.syntax.mapping.binding import Row, collapse

V = TypeVar("V", bound=Value)

#: The attributes that each kind of value keeps in both syntaxes.
_BESIDE: Final[Mapping[type[Value], tuple[str, ...]]] = {
    Identifier: ("schemeID", "listID", "listVersionID"),
    Quantity: ("unitCode",),
    Binary: ("mimeCode", "filename"),
}


def restated(value: V, **attributes: str | None) -> V:
    """A copy of ``value`` with other attributes (None: without), and without further occurrences."""
    twin = copy.copy(value)
    twin.attributes = {name: text for name, text in {**value.attributes, **attributes}.items() if text is not None}
    twin.more = ()
    return twin


class Spelling:
    """The spelling of one syntax for one invoice."""

    def __init__(self, syntax: str, invoice: Invoice) -> None:
        self.is_ubl = syntax == "UBL"
        self.currency = collapse(invoice.currency.raw) if invoice.currency is not absent else "EUR"

    def of(self, value: Value, row: Row) -> tuple[str, dict[str, str]]:
        """The text and the attributes that ``value`` has at the place of ``row``."""
        if isinstance(value, Date):
            return self._date(value)
        if isinstance(value, Amount):
            return value.raw, self._currency(value, row)
        beside = _BESIDE.get(type(value), ())
        attributes = {name: value.attributes[name] for name in beside if name in value.attributes}
        return _word(value, row.foreign or {}), attributes

    def _date(self, value: Date) -> tuple[str, dict[str, str]]:
        day = value.date
        if self.is_ubl:
            return value.raw if day is absent else day.isoformat(), {}
        return value.raw if day is absent else day.strftime("%Y%m%d"), {"format": "102"}

    def _currency(self, value: Amount, row: Row) -> dict[str, str]:
        """UBL names the currency beside every amount, CII beside the VAT totals alone."""
        if not self.is_ubl and row.path:
            return {}
        return {"currencyID": value.attributes.get("currencyID", self.currency)}


def _word(value: Value, foreign: Mapping[str, str]) -> str:
    """A code loses the blanks around it, which only the rules of UBL forgive; any other text is kept."""
    text = collapse(value.raw) if isinstance(value, Code) else value.raw
    return foreign.get(value.text, foreign.get(text, text))
