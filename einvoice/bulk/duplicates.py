"""Invoices that were possibly sent twice, and sellers whose account has changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from einvoice.bulk.patterns import check
from einvoice.bulk.tables import Table
from einvoice.render.tables import KINDS

NEEDED: Final = (
    "file", "number", "date", "type", "seller", "seller_vat", "signed_gross", "currency", "iban", "sha256"
)  # fmt: skip
"""Columns of the table "files" that decide, and that the rows of the result have."""
COLUMNS: Final = ("group", *NEEDED)
_Row: TypeAlias = Mapping[str, Any]


def duplicates(files: Table, by: str) -> Table:
    """Return the rows of `COLUMNS`, numbered by group; see `Exports.duplicates`.

    Raises:
        ValueError: `by` is unknown.
    """
    check("value of 'by'", by, tuple(_KEYS))
    groups: dict[tuple[Any, ...], list[_Row]] = defaultdict(list)
    for cells in files.rows:
        row = dict(zip(files.columns, cells, strict=True))
        key = (_seller(row), *_KEYS[by](row))
        if all(it not in (None, "") for it in key):
            groups[key].append(row)
    found = map(_first_of_accounts, groups.values()) if by == "iban" else groups.values()
    return Table(COLUMNS, _numbered(it for it in found if len(it) > 1), {**KINDS, "group": "integer"})


def _seller(row: _Row) -> str:
    """Return what identifies a seller: the VAT identifier without blanks, or else the name."""
    identifier = "".join((row["seller_vat"] or "").split()).upper()
    return identifier or (row["seller"] or "").strip().casefold()


_KEYS: Final[Mapping[str, Callable[[_Row], tuple[Any, ...]]]] = {
    "number": lambda row: (row["number"],),
    "amount": lambda row: (row["date"], row["signed_gross"], row["currency"]),
    "iban": lambda row: (),
}


def _first_of_accounts(rows: Sequence[_Row]) -> list[_Row]:
    """Return the first invoice with each account of a seller, in the order of their dates."""
    first: dict[str, _Row] = {}
    for row in sorted(rows, key=lambda it: it["date"] or ""):
        if row["iban"]:
            first.setdefault(row["iban"], row)
    return list(first.values())


def _numbered(groups: Iterable[Sequence[_Row]]) -> Iterator[tuple[Any, ...]]:
    for number, rows in enumerate(groups, 1):
        for row in rows:
            yield (number, *[row[name] for name in NEEDED])
