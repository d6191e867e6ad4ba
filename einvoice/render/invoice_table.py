"""Invoice lines as a pandas table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from einvoice.model.invoice import Invoice
from einvoice.model.lines import Line
from einvoice.model.values import Number, Value, absent
from einvoice.render.tables import require_pandas

if TYPE_CHECKING:
    import pandas as pd

#: Columns and the paths of their values in a line (BG-25, BG-DEX-01).
_PATHS: Final = {
    "line": "identifier",
    "name": "item.name",
    "description": "item.description",
    "seller_item": "item.seller_identifier",
    "buyer_item": "item.buyer_identifier",
    "standard_item": "item.standard_identifier",
    "quantity": "quantity",
    "unit": "quantity.unit",
    "price": "price.net",
    "base_quantity": "price.base_quantity",
    "net": "net_amount",
    "vat_category": "vat.category",
    "vat_rate": "vat.rate",
}
_NUMBERS: Final = ("quantity", "price", "base_quantity", "net", "vat_rate")
_CATEGORIES: Final = ("unit", "vat_category")


def lines_frame(invoice: Invoice) -> pd.DataFrame:
    """Return the lines as a pandas table; see `Invoice.to_frame`."""
    require_pandas()
    import pandas as pd

    columns = ["line", "above", *list(_PATHS)[1:]]
    frame = pd.DataFrame(list(_rows(invoice.lines, "")), columns=columns)
    dtypes: dict[str, Any] = dict.fromkeys(columns, "str")
    return frame.astype(dtypes | dict.fromkeys(_NUMBERS, "object") | dict.fromkeys(_CATEGORIES, "category"))


def _rows(lines: Sequence[Line], parent: str) -> Iterator[tuple[Any, ...]]:
    for line in lines:
        identifier, *cells = (_cell(line, path) for path in _PATHS.values())
        yield identifier, parent or str(line.parent_line), *cells
        yield from _rows(line.lines, identifier)


def _cell(line: Line, path: str) -> Any:
    """Return the value at a path of a line: a number or text."""
    value: Any = line
    for name in path.split("."):
        value = getattr(value, name)
    if isinstance(value, Number):
        return None if value.number is absent else value.number
    if path in (_PATHS[name] for name in _NUMBERS):
        return None
    return value.text if isinstance(value, Value) else str(value)
