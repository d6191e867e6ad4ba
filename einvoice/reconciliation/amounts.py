"""What the amounts of an invoice belong to: VAT categories and rates, and the currency."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final, TypeAlias

from einvoice.model import calculation
from einvoice.model.calculation import RATED, taxed_items
from einvoice.model.invoice import Invoice
from einvoice.model.lines import Line
from einvoice.model.money import LogisticsCharge
from einvoice.model.values import absent

_MAX_DIGITS: Final = 38
"""Maximum digits of an amount before the decimal point."""
_TOLERANCE: Final = Decimal("0.02")
"""Maximum difference of a tax amount that is the sum of rounded ones."""
_MIN_STEP: Final = Decimal("0.1")
"""Minimum difference of two VAT rates in percent."""
Key: TypeAlias = tuple[str, Any]
"""VAT category and rate, by which amounts are added."""


def round2(number: Any) -> Any:
    """Round to two decimals, half away from zero; absent if the number is, or has too many digits for an amount."""
    return absent if number is absent or number.adjusted() >= _MAX_DIGITS else calculation.round2(number)


def total(numbers: Iterable[Any]) -> Any:
    """Return the sum; absent if a number is."""
    result: Any = Decimal(0)
    for number in numbers:
        result = result + number
    return result


def category_of(tax: Any) -> tuple[str, Any]:
    """Return category and rate, by which amounts are added; a category without tax has no rate."""
    return tax.category.text.strip() if tax.category is not absent else "", tax.rate.number


def key_of(tax: Any) -> Key:
    """Return category and rate, by which amounts are added; the rate is 0 in a category without tax."""
    category, rate = category_of(tax)
    return (category, rate) if category in RATED else (category, Decimal(0))


def signed_amount(item: Any) -> Any:
    """Return what a line, an allowance or a charge adds to the taxable amount of its breakdown."""
    if isinstance(item, Line):
        return item.net_amount.number
    is_charge = isinstance(item, LogisticsCharge) or item.is_charge
    return item.amount.number if is_charge else -item.amount.number


def unclassified(invoice: Invoice) -> list[Any]:
    """Return the lines, allowances and charges that may belong to any VAT breakdown, as they lack category or rate."""
    return [it for it in taxed_items(invoice) if not _is_classified(it.taxes)]


def _is_classified(taxes: Iterable[Any]) -> bool:
    keys = [category_of(tax) for tax in taxes]
    return bool(keys) and all(category and (category not in RATED or rate is not absent) for category, rate in keys)


def rate_of_amounts(vat: Any) -> Any:
    """Return the rate in whole percent with which a breakdown has its tax amount; absent if there is none.

    The tax amount may differ by the cents of a tax that is rounded per line, but by less than another rate makes.
    """
    taxable, tax = vat.taxable_amount.number, vat.tax_amount.number
    if absent in (taxable, tax) or not taxable or not tax:
        return absent
    percent = round2(tax * 100 / taxable)
    if percent is absent or not 1 <= percent <= 100:
        return absent
    percent = percent.to_integral_value()
    tolerance = min(_TOLERANCE, abs(taxable) * _MIN_STEP / 200)
    return percent if abs(round2(taxable * percent / 100) - tax) <= tolerance else absent


def is_taxed(invoice: Invoice) -> bool:
    """Return whether a rate or an amount of the invoice says that it has VAT."""
    taxes = (tax for it in taxed_items(invoice) for tax in it.taxes)
    rates = [tax.rate.number for tax in (*taxes, *invoice.vat_breakdown)]
    return any(it for it in (*rates, *(vat.tax_amount.number for vat in invoice.vat_breakdown)) if it is not absent)


def in_currency(tax: Any, invoice: Invoice) -> bool:
    """Return whether a total VAT amount is the one in the currency of the invoice (BT-110), not BT-111."""
    currency = tax.amount.currency
    other = invoice.tax_currency
    return other is absent or currency != other.text or other.text == invoice.currency.text
