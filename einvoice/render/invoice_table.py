"""Lines and VAT breakdown of an invoice as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from einvoice.model.invoice import Invoice
from einvoice.model.lines import Line
from einvoice.model.money import AllowanceCharge
from einvoice.model.values import Date, Number
from einvoice.render.tables import require_pandas

if TYPE_CHECKING:
    import pandas as pd

LINES: Final = (
    "line",
    "above",
    "name",
    "description",
    "seller_item",
    "buyer_item",
    "standard_item",
    "quantity",
    "unit",
    "price",
    "base_quantity",
    "allowances",
    "charges",
    "net",
    "vat_category",
    "vat_rate",
    "order_line",
    "period_start",
    "period_end",
    "accounting_reference",
)
"""Columns of a line (BG-25, BG-DEX-01)."""
VAT: Final = ("vat_category", "vat_rate", "taxable", "tax", "exemption_code", "exemption")
"""Columns of a VAT breakdown (BG-23)."""
NUMBERS: Final = frozenset(
    ("quantity", "price", "base_quantity", "allowances", "charges", "net", "vat_rate", "taxable", "tax")
)
"""Columns with a `Decimal`, None if it is missing or not a number."""
_CATEGORIES: Final = ("unit", "vat_category")


def frame(invoice: Invoice, which: str) -> pd.DataFrame:
    """Return the lines or the VAT breakdown as a pandas table; see `Invoice.to_frame`."""
    if which not in ("lines", "vat"):
        raise ValueError(f"argument 'which' must be 'lines' or 'vat', not {which!r}")
    require_pandas()
    import pandas as pd

    columns, rows = (LINES, line_rows(invoice)) if which == "lines" else (VAT, vat_rows(invoice))
    dtypes: dict[str, Any] = dict.fromkeys(columns, "str") | dict.fromkeys(NUMBERS.intersection(columns), "object")
    dtypes |= {name: "category" for name in _CATEGORIES if name in columns}
    return pd.DataFrame(list(rows), columns=list(columns)).astype(dtypes)


def line_rows(invoice: Invoice) -> Iterator[tuple[Any, ...]]:
    """Yield the row of each line, followed by those of its sub-lines."""
    return _line_rows(invoice.lines, "")


def _line_rows(lines: Sequence[Line], parent: str) -> Iterator[tuple[Any, ...]]:
    for line in lines:
        item, vat, price = line.item, line.vat, line.price
        period = line.periods[0] if line.periods else None
        identifier = str(line.identifier)
        yield (
            identifier,
            parent or str(line.parent_line),
            str(item.name),
            str(item.description),
            str(item.seller_identifier),
            str(item.buyer_identifier),
            str(item.standard_identifier),
            _number(line.quantity),
            str(line.quantity.unit),
            _number(price.net),
            _number(price.base_quantity),
            _sum(line.allowances),
            _sum(line.charges),
            _number(line.net_amount),
            str(vat.category),
            _number(vat.rate),
            str(line.order_line),
            date_text(period.start) if period else "",
            date_text(period.end) if period else "",
            str(line.accounting_reference),
        )
        yield from _line_rows(line.lines, identifier)


def vat_rows(invoice: Invoice) -> Iterator[tuple[Any, ...]]:
    """Yield the row of each VAT breakdown."""
    for vat in invoice.vat_breakdown:
        yield (
            str(vat.category),
            _number(vat.rate),
            _number(vat.taxable_amount),
            _number(vat.tax_amount),
            str(vat.exemption_reason_code),
            str(vat.exemption_reason),
        )


def date_text(date: Date) -> str:
    """Return a date in ISO 8601, or the text of the document if it is not a date."""
    return str(date.date or date)


def _number(value: Number) -> Decimal | None:
    number = value.number
    return number if isinstance(number, Decimal) else None


def _sum(parts: Iterable[AllowanceCharge]) -> Decimal | None:
    """Return the sum of amounts; None if there are none, or if one is not a number."""
    numbers = [_number(it.amount) for it in parts]
    known = [it for it in numbers if it is not None]
    return sum(known, Decimal(0)) if known and len(known) == len(numbers) else None
