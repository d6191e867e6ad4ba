"""Functions that look up groups in the whole invoice: by class, by VAT category and rate, and by exemption reason.

In a program, the first two use one index per invoice (`descendants_of`, `VatIndex`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from einvoice.model.descendants import descendants_of
from einvoice.model.invoice import Invoice
from einvoice.model.money import TaxCategory, VatIndex
from einvoice.model.values import absent
from einvoice.rulebook.functions.registry import Numeric, function
from einvoice.rulebook.functions.strings import normalize_space


@function()
def descendants(invoice: Invoice, cls: str) -> Sequence[Any]:
    """`//cls`: every group of a class of the model, also at undefined places; written `descendants(LineTax)`."""
    return descendants_of(invoice)(cls, ())


@function()
def with_vat(items: Sequence[Any], category: str, rate: Numeric = None) -> Sequence[Any]:
    """`items[tax/category = $category][tax/rate = $rate]`, the rate only if it is given.

    Items are lines, or allowances and charges. As in the official rules, the category and the rate may come from
    different taxes, and the tax need not be VAT.

    >>> from decimal import Decimal
    >>> from einvoice.model.lines import Line
    >>> from einvoice.model.money import LineTax
    >>> from einvoice.model.values import Code, Percentage
    >>> line = Line(taxes=[LineTax(category=Code("S"), rate=Percentage("19.0"))])
    >>> with_vat([line], "S", Decimal(19)) == [line], with_vat([line], "S", Decimal(7)), with_vat([line], "E")
    (True, (), ())
    """
    return VatIndex()(items, category, rate)


@function()
def with_same_exemption(items: Sequence[Any], tax: TaxCategory) -> Sequence[Any]:
    """`items[normalize-space(tax/reason) = $reason and normalize-space(tax/code) = $code]`, as stated by `tax`.

    A missing reason or code equals a blank one. The reason and the code of an item may be in different taxes.

    >>> from einvoice.model.lines import Line
    >>> from einvoice.model.money import LineTax
    >>> from einvoice.model.values import Code, Text
    >>> exempt, line = LineTax(exemption_reason=Text(" §  4 UStG")), Line(taxes=[LineTax()])
    >>> with_same_exemption([Line(taxes=[exempt]), line], LineTax(exemption_reason_code=Code(" "))) == [line]
    True
    """
    exemption = _exemption((tax,))
    return [item for item in items if _exemption(item.taxes) == exemption]


def _exemption(taxes: Sequence[TaxCategory]) -> tuple[str, str]:
    """Return the first exemption reason and the first code of taxes; '' if they have none."""
    reason = next((tax.exemption_reason for tax in taxes if tax.exemption_reason is not absent), absent)
    code = next((tax.exemption_reason_code for tax in taxes if tax.exemption_reason_code is not absent), absent)
    return normalize_space("" if reason is absent else reason.raw), normalize_space("" if code is absent else code.raw)
