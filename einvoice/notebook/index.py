"""Index of a result set by group and code, built once so that selections need not read the results again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from sys import intern
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from einvoice.bulk import ResultSet

KINDS: Final = ("folder", "seller", "month")
_MONTH: Final = re.compile(r"\d{4}-\d\d")


class Row(NamedTuple):
    """Indexed values of a file."""

    file: str
    verdict: str
    seller: str
    number: str
    errors: int
    codes: frozenset[str]


class Group(NamedTuple):
    """A folder, seller or month: name ("" for none), number of files, number of files that are not valid."""

    name: str
    files: int
    invalid: int


class Index:
    """Index of files by group and code."""

    def __init__(self, results: ResultSet) -> None:
        self.rows: list[Row] = []
        self._members: dict[str, dict[str, list[int]]] = {kind: {} for kind in KINDS}
        self._with_code: dict[str, list[int]] = {}
        sets: dict[frozenset[str], frozenset[str]] = {}  # shared, because most files have one of a few sets
        for number, record in enumerate(results.records()):
            codes = frozenset(intern(it["code"]) for it in record.get("findings", ()))
            row = Row(
                record["file"],
                intern(record["verdict"]),
                intern(record.get("seller", "")),
                record.get("number", ""),
                record.get("errors", 0),
                sets.setdefault(codes, codes),
            )
            self.rows.append(row)
            for kind in KINDS:
                self._members[kind].setdefault(_group(row, record.get("date", ""), kind), []).append(number)
            for code in row.codes:
                self._with_code.setdefault(code, []).append(number)

    def __len__(self) -> int:
        return len(self.rows)

    def groups(self, kind: str) -> list[Group]:
        """Return the groups of a kind, unordered."""
        rows = self.rows
        return [
            Group(name, len(members), sum(rows[number].verdict != "valid" for number in members))
            for name, members in self._members[kind].items()
        ]

    def has(self, kind: str, name: str | None) -> bool:
        """Return whether a group has this name."""
        return name in self._members[kind]

    def cells(self, kind: str) -> Mapping[tuple[str, str], int]:
        """Return the number of files with a code, by code and group."""
        cells: Counter[tuple[str, str]] = Counter()
        for name, members in self._members[kind].items():
            codes = Counter(code for number in members for code in self.rows[number].codes)
            cells.update({(code, name): count for code, count in codes.items()})
        return cells

    def matching(self, kind: str, name: str | None, code: str | None, text: str) -> list[int]:
        """Return the indices of the files that match group, code and search text; None matches all."""
        numbers: Any = range(len(self)) if name is None else self._members[kind].get(name, ())
        if code is not None:
            with_code = self._with_code.get(code, ())
            numbers = with_code if name is None else sorted(set(numbers) & set(with_code))
        search_text = text.casefold()
        return [number for number in numbers if not search_text or search_text in _search_text(self.rows[number])]


def _group(row: Row, date: str, kind: str) -> str:
    """Return the group of a file: folder, seller, or month as YYYY-MM; "" if it has none."""
    if kind == "folder":
        return row.file.rpartition("/")[0]
    if kind == "seller":
        return row.seller
    month = _MONTH.match(date)
    return month[0] if month else ""


def _search_text(row: Row) -> str:
    return f"{row.file}\n{row.seller}\n{row.number}".casefold()
