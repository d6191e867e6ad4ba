"""An invoice as a table for pandas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from einvoice.model.lines import Line
from einvoice.model.values import Number, Value, absent

if TYPE_CHECKING:
    import pandas as pd

    from einvoice.model.invoice import Invoice

#: The columns, and where the model has them: one row for each line (BG-25, BG-DEX-01).
LINES: Final = {
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


def to_frame(invoice: Invoice, which: str) -> pd.DataFrame:
    """The lines of an invoice, one row each, a line below a line after that.

    Columns: `line` (BT-126) and `above`, the line above, "" if none is; `name`, `description`, `seller_item`,
    `buyer_item`, `standard_item` (text, "" where missing); `quantity`, `price`, `base_quantity`, `net`, `vat_rate`
    (percent) as `Decimal`, None where they are missing or no numbers; `unit` and `vat_category` as categories.

    Raises:
        ImportError: pandas is not installed (extra "notebook").
        ValueError: another table than "lines" is asked for.
    """
    if which != "lines":
        raise ValueError(f"The table of an invoice is 'lines', not {which!r}")
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("A table needs pandas: pip install 'einvoice-toolkit[notebook]'") from error
    columns = ["line", "above", *list(LINES)[1:]]
    frame = pd.DataFrame(list(_rows(invoice.lines, "")), columns=columns)
    kinds: dict[str, Any] = dict.fromkeys(columns, "str")
    return frame.astype(kinds | dict.fromkeys(_NUMBERS, "object") | dict.fromkeys(_CATEGORIES, "category"))


def _rows(lines: Sequence[Line], above: str) -> Iterator[tuple[Any, ...]]:
    for line in lines:
        own, *others = (_cell(line, path) for path in LINES.values())
        yield own, above or str(line.parent_line), *others
        yield from _rows(line.lines, own)


def _cell(line: Line, path: str) -> Any:
    """What a line has there: a number, else text."""
    found: Any = line
    for name in path.split("."):
        found = getattr(found, name)
    if isinstance(found, Number):
        return None if found.number is absent else found.number
    if path in (LINES[name] for name in _NUMBERS):
        return None
    return found.text if isinstance(found, Value) else str(found)
