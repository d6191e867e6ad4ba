"""Many results at a glance: of each file what a map of them asks for, read once, so that a click reads none again."""

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
    """What is remembered of a file."""

    file: str
    verdict: str
    seller: str
    number: str
    errors: int
    codes: frozenset[str]


class Group(NamedTuple):
    """A folder, a seller or a month: its name ("" for none), how many files it has, how many of them are not valid."""

    name: str
    files: int
    wrong: int


class Index:
    """Files by group and by code."""

    def __init__(self, results: ResultSet) -> None:
        self.rows: list[Row] = []
        self._members: dict[str, dict[str, list[int]]] = {kind: {} for kind in KINDS}
        self._with_code: dict[str, list[int]] = {}
        sets: dict[frozenset[str], frozenset[str]] = {}  # most files have one of a few
        for number, facts in enumerate(results.records()):
            codes = frozenset(intern(it["code"]) for it in facts.get("findings", ()))
            row = Row(
                facts["file"],
                intern(facts["verdict"]),
                intern(facts.get("seller", "")),
                facts.get("number", ""),
                facts.get("errors", 0),
                sets.setdefault(codes, codes),
            )
            self.rows.append(row)
            for kind in KINDS:
                self._members[kind].setdefault(_group(row, facts.get("date", ""), kind), []).append(number)
            for code in row.codes:
                self._with_code.setdefault(code, []).append(number)

    def __len__(self) -> int:
        return len(self.rows)

    def groups(self, kind: str) -> list[Group]:
        """The groups of a kind, in no particular order."""
        rows = self.rows
        return [
            Group(name, len(members), sum(rows[number].verdict != "valid" for number in members))
            for name, members in self._members[kind].items()
        ]

    def has(self, kind: str, name: str | None) -> bool:
        """Whether there is a group of this name."""
        return name in self._members[kind]

    def cells(self, kind: str) -> Mapping[tuple[str, str], int]:
        """In how many files of each group a code was found, by code and group."""
        found: Counter[tuple[str, str]] = Counter()
        for name, members in self._members[kind].items():
            codes = Counter(code for number in members for code in self.rows[number].codes)
            found.update({(code, name): count for code, count in codes.items()})
        return found

    def chosen(self, kind: str, name: str | None, code: str | None, text: str) -> list[int]:
        """The numbers of the files of a group that have a code, and a text in name, seller or number; None lets all."""
        of_group: Any = range(len(self)) if name is None else self._members[kind].get(name, ())
        if code is not None:
            with_code = self._with_code.get(code, ())
            of_group = with_code if name is None else sorted(set(of_group) & set(with_code))
        sought = text.casefold()
        return [number for number in of_group if not sought or sought in _words(self.rows[number])]


def _group(row: Row, date: str, kind: str) -> str:
    """The group of a file: its folder, its seller, or the month of its date as YYYY-MM; "" where it has none."""
    if kind == "folder":
        return row.file.rpartition("/")[0]
    if kind == "seller":
        return row.seller
    month = _MONTH.match(date)
    return month[0] if month else ""


def _words(row: Row) -> str:
    return f"{row.file}\n{row.seller}\n{row.number}".casefold()
