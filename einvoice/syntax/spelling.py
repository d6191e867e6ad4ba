"""How a syntax spells the values of an invoice that came from elsewhere: dates, codes, and what stands beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from einvoice.model.invoice import Invoice
from einvoice.model.values import Amount, Binary, Code, Date, Identifier, Quantity, Value, absent
from einvoice.syntax.binding import Row

#: The attributes that each kind of value keeps in both syntaxes.
_BESIDE: Final[Mapping[type[Value], tuple[str, ...]]] = {
    Identifier: ("schemeID", "listID", "listVersionID"),
    Code: ("listID",),
    Quantity: ("unitCode",),
    Binary: ("mimeCode", "filename"),
}


class Spelling:
    """The spelling of one syntax for one invoice."""

    def __init__(self, syntax: str, invoice: Invoice) -> None:
        self.is_ubl = syntax == "UBL"
        self.currency = invoice.currency.raw if invoice.currency is not absent else "EUR"

    def of(self, value: Value, row: Row) -> tuple[str, dict[str, str]]:
        """The text and the attributes that ``value`` has at the place of ``row``."""
        if isinstance(value, Date):
            return self._date(value)
        if isinstance(value, Amount):
            return value.raw, self._currency(value, row)
        text = (row.foreign or {}).get(value.raw, value.raw)
        beside = _BESIDE.get(type(value), ())
        return text, {name: value.attributes[name] for name in beside if name in value.attributes}

    def _date(self, value: Date) -> tuple[str, dict[str, str]]:
        day = value.date
        if day is absent:
            return value.raw, dict(value.attributes)
        return (day.isoformat(), {}) if self.is_ubl else (day.strftime("%Y%m%d"), {"format": "102"})

    def _currency(self, value: Amount, row: Row) -> dict[str, str]:
        """UBL names the currency beside every amount, CII beside the VAT totals alone."""
        if not self.is_ubl and row.path:
            return {}
        return {"currencyID": value.attributes.get("currencyID", self.currency)}
