"""Functions that look up groups in the whole invoice: by class, and by VAT category and rate.

In a program, both use one index per invoice (`descendants_of`, `VatIndex`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from einvoice.model.invoice import Invoice, descendants_of
from einvoice.model.money import VatIndex
from einvoice.rulebook.functions.registry import Numeric, function


@function()
def descendants(invoice: Invoice, cls: str) -> Sequence[Any]:
    """``//cls``: every group of a class of the model, also at undefined places; written ``descendants(LineTax)``."""
    return descendants_of(invoice)(cls, ())


@function()
def with_vat(items: Sequence[Any], category: str, rate: Numeric = None) -> Sequence[Any]:
    """``items[tax/category = $category][tax/rate = $rate]``, the rate only if it is given.

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
