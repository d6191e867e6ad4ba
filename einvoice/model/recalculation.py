"""Calculates the amounts of an invoice again after it was edited (EN 16931-1, 6.4.2 and 6.4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from einvoice.model.calculation import EQUATIONS, RATED, calculations, round2, taxed_items
from einvoice.model.invoice import Invoice, Totals
from einvoice.model.money import TaxTotal, VatBreakdown
from einvoice.model.values import Amount, absent

_VAT_TOTAL: Final = "BT-110"


def recalculate(invoice: Invoice) -> None:
    """Set the calculated amounts of an invoice; see `Invoice.recalculate`."""
    if invoice.totals is absent:
        invoice.totals = Totals()
    _update_breakdown(invoice)
    for equation in EQUATIONS.values():
        if equation.is_free:  # such as the percentage of an allowance, which need not explain its amount
            continue
        for it in calculations(invoice):
            if it.equation.result != equation.result:  # subtotals have one of their own
                continue
            number = it.solve().number
            if number is not None and number != it.result.number:
                _set(invoice, equation.result, it.result.group, it.result.field, number)


def _set(invoice: Invoice, term: str, group: Any, field: str, number: Decimal) -> None:
    amount = round2(number) if round2(number) == number else number
    if term == _VAT_TOTAL:
        stated = next((it for it in invoice.tax_totals if it.amount is invoice.vat_total), None)
        if stated is None:
            stated = TaxTotal(amount=Amount("0.00", {"currencyID": invoice.currency.text}))
            invoice.tax_totals = [stated, *invoice.tax_totals]
        stated.amount = amount
        return
    known = getattr(group, field)
    attributes: Mapping[str, str] = {} if known is not absent or invoice.syntax == "CII" else _currency(invoice)
    setattr(group, field, Amount(format(amount, "f"), attributes) if known is absent else amount)


def _currency(invoice: Invoice) -> Mapping[str, str]:
    return {} if invoice.currency is absent else {"currencyID": invoice.currency.text}


def _update_breakdown(invoice: Invoice) -> None:
    """Give each category and rate of the lines, allowances and charges an entry, and no other one."""
    taxes: dict[tuple[str, Any], Any] = {}
    for item in taxed_items(invoice):
        for tax in item.taxes:
            taxes.setdefault(_key(tax), tax)
    entries = {_key(it): it for it in invoice.vat_breakdown}
    added = [
        VatBreakdown(category=tax.category, rate=tax.rate, scheme=tax.scheme)
        for key, tax in taxes.items()
        if key not in entries
    ]
    kept = [it for it in invoice.vat_breakdown if _key(it) in taxes]
    if added or len(kept) < len(invoice.vat_breakdown):
        invoice.vat_breakdown = [*kept, *added]


def _key(tax: Any) -> tuple[str, Any]:
    category = tax.category.text if tax.category is not absent else ""
    return category, tax.rate.number if category in RATED else None
