"""Index of a result set, built once so that selections need not read the results again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from sys import intern
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from einvoice.bulk.record import VERDICTS
from einvoice.bulk.stored_findings import entry_of
from einvoice.code_catalog import CatalogEntry, entry
from einvoice.notebook.filters import SEVERITIES

if TYPE_CHECKING:
    from einvoice.bulk import ResultSet
    from einvoice.bulk.common_causes import CommonCauses

KINDS: Final = ("folder", "seller", "month")
COLUMNS: Final = ("file", "verdict", "number", "date", "seller", "errors", "warnings")

Mask: TypeAlias = NDArray[np.bool_]
Numbers: TypeAlias = NDArray[np.int64]

_MONTH: Final = re.compile(r"\d{4}-\d\d")


class Row(NamedTuple):
    """Indexed values of a file."""

    file: str
    verdict: str
    number: str
    date: str
    seller: str


class Group(NamedTuple):
    """A folder, seller or month: name ("" for none), number of files, of invalid and of unreadable files."""

    name: str
    files: int
    invalid: int
    unreadable: int


class Index:
    """Files and findings of a result set as arrays.

    A finding is indexed once per file, code, severity and `consequence`: whether the document violates its XML schema,
    which may have caused the finding (`Finding.indicative`).

    Attributes:
        rows: the files, in the order of the results.
        kinds: those of `KINDS` that have several groups.
        verdicts: number of each file's verdict in `VERDICTS`.
        codes: all codes.
        unreadable_codes: numbers of the codes that make a file unreadable.
        file, code, severity, consequence: of each indexed finding: number of the file, of the code in `codes` and of
            the severity in `SEVERITIES`; sorted by file, then code.
        consequences: number of findings that may be consequences of schema errors.
        causes: the causes of the findings, once they are searched; else None.
    """

    def __init__(self, results: ResultSet) -> None:
        self.rows: list[Row] = []
        numbers: dict[str, int] = {}
        findings: list[tuple[int, int, int, bool]] = []
        counts: list[tuple[int, int, int, int]] = []
        unreadable = set()
        self._entries: dict[str, CatalogEntry] = {}
        self.consequences = 0
        for file, record in enumerate(results.records()):
            self.rows.append(_row(record))
            stored = record.get("findings", ())
            keys = {_finding(it, numbers) for it in stored}
            for it in stored:
                if it["code"] not in self._entries:
                    self._entries[it["code"]] = entry_of(it)
            findings += [(file, *key) for key in sorted(keys)]
            unreadable |= {key[0] for key in keys} if record["verdict"] == "unreadable" else set()
            caused = _caused(stored)
            self.consequences += sum(caused)
            counts.append((record.get("errors", 0), record.get("warnings", 0), caused[0], caused[1]))
        self.codes = list(numbers)
        self.unreadable_codes = frozenset(unreadable)
        self.file, self.code, self.severity, consequence = np.array(findings, np.int64).reshape(-1, 4).T.copy()
        self.consequence: Mask = consequence.astype(bool)
        self.verdicts = np.array([VERDICTS.index(row.verdict) for row in self.rows], np.int64)
        self._counts = np.array(counts, np.int64).reshape(-1, 4)
        self._groups = {kind: _grouped(_group(row, kind) for row in self.rows) for kind in KINDS}
        self.kinds = [kind for kind, (names, _) in self._groups.items() if len(names) > 1]
        self._ranks: dict[str, Numbers] = {}
        self.causes: CommonCauses | None = None
        self._texts = [f"{row.file}\n{row.seller}\n{row.number}".casefold() for row in self.rows]

    def __len__(self) -> int:
        return len(self.rows)

    def entry(self, code: str) -> CatalogEntry:
        """Return the catalog entry of a code, of these results or another one of the catalog."""
        return self._entries.get(code) or entry(code)

    def groups(self, kind: str, files: Mask | None = None) -> list[Group]:
        """Return the groups of a kind that have files, of all or of these files; unordered."""
        names, of_file = self._groups[kind]
        keys = of_file * len(VERDICTS) + self.verdicts
        counts = np.bincount(keys if files is None else keys[files], minlength=len(names) * len(VERDICTS))
        by_verdict = counts.reshape(-1, len(VERDICTS)).tolist()
        return [
            Group(name, sum(it), it[VERDICTS.index("invalid")], it[VERDICTS.index("unreadable")])
            for name, it in zip(names, by_verdict, strict=True)
            if any(it)
        ]

    def in_group(self, kind: str, name: str) -> Mask:
        """Return whether each file is in the group."""
        names, of_file = self._groups[kind]
        is_member: Mask = of_file == (names.index(name) if name in names else -1)
        return is_member

    def with_cause(self, name: str) -> Mask:
        """Return whether each file has the cause with this name."""
        found: Mask = np.zeros(len(self), np.bool_)
        files = next((it.files for it in self.causes or () if it.name == name), ())
        found[[self._numbers[file] for file in files]] = True
        return found

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """Number of each file by name; the first one if several have the same name."""
        return {row.file: number for number, row in reversed(list(enumerate(self.rows)))}

    def has_text(self, text: str, codes: Iterable[int]) -> Mask:
        """Return whether each file has the text in its name, seller or number, or a finding of these codes."""
        searched = text.casefold()
        found: Mask = np.fromiter((searched in it for it in self._texts), np.bool_, len(self))
        found[self.file[np.isin(self.code, list(codes))]] = True
        return found

    def cells(self, kind: str, names: Iterable[str], findings: Mask) -> Numbers:
        """Return the number of files by code and group, for these groups and findings; the last column is the total."""
        known, of_file = self._groups[kind]
        columns = {name: column for column, name in enumerate(names)}
        column_of = np.array([columns.get(name, len(columns)) for name in known], np.int64)
        file, code = self._distinct(findings)
        width = len(columns) + 1
        cells = np.bincount(code * width + column_of[of_file[file]], minlength=len(self.codes) * width)
        cells = cells.reshape(-1, width)
        cells[:, -1] = cells.sum(axis=1)
        return cells

    def files_by_verdict(self, files: Mask) -> list[int]:
        """Return the number of these files by number of the verdict."""
        counts: list[int] = np.bincount(self.verdicts[files], minlength=len(VERDICTS)).tolist()
        return counts

    def files_by_code(self, findings: Mask) -> list[int]:
        """Return the number of files with one of these findings, by number of the code."""
        counts: list[int] = np.bincount(self._distinct(findings)[1], minlength=len(self.codes)).tolist()
        return counts

    def files_by_severity(self, findings: Mask) -> list[int]:
        """Return the number of files with one of these findings, by number of the severity."""
        has_severity = np.zeros((len(self), len(SEVERITIES)), np.bool_)
        has_severity[self.file[findings], self.severity[findings]] = True
        counts: list[int] = has_severity.sum(axis=0).tolist()
        return counts

    def worst_severities(self) -> list[int]:
        """Return the number of the highest severity of each code."""
        worst = np.full(len(self.codes), len(SEVERITIES))
        np.minimum.at(worst, self.code, self.severity)
        numbers: list[int] = worst.tolist()
        return numbers

    def _distinct(self, findings: Mask) -> tuple[Numbers, Numbers]:
        """Return file and code of these findings, each pair once."""
        file, code = self.file[findings], self.code[findings]
        first = np.ones(len(file), np.bool_)
        first[1:] = (file[1:] != file[:-1]) | (code[1:] != code[:-1])
        return file[first], code[first]

    def counts(self, column: str, *, consequences: bool) -> Numbers:
        """Return the number of errors or warnings of each file."""
        number = ("errors", "warnings").index(column)
        counts = self._counts[:, number]
        return counts if consequences else counts - self._counts[:, number + 2]

    def ordered(self, files: Mask, column: str, *, descending: bool, consequences: bool) -> Numbers:
        """Return the numbers of these files, sorted by a column of `COLUMNS`; "" keeps the order of the results."""
        numbers = np.flatnonzero(files)
        if not column:
            return numbers
        keys = (
            self.counts(column, consequences=consequences) if column in ("errors", "warnings") else self._rank(column)
        )
        chosen = -keys[numbers] if descending else keys[numbers]
        return numbers[np.argsort(chosen, kind="stable")]

    def _rank(self, column: str) -> Numbers:
        """Return the rank of each file in a column of texts, ignoring case; computed on first use."""
        if column == "verdict":
            return self.verdicts
        if column not in self._ranks:
            texts = [getattr(row, column).casefold() for row in self.rows]
            ranks = {text: rank for rank, text in enumerate(sorted(set(texts)))}
            self._ranks[column] = np.array([ranks[text] for text in texts], np.int64)
        return self._ranks[column]


def _row(record: Mapping[str, Any]) -> Row:
    date, seller = record.get("date", ""), record.get("seller", "")
    return Row(record["file"], intern(record["verdict"]), record.get("number", ""), intern(date), intern(seller))


def _finding(stored: Mapping[str, Any], codes: dict[str, int]) -> tuple[int, int, bool]:
    """Return the numbers of code and severity, and whether the finding may be a consequence of a schema error."""
    code = codes.setdefault(stored["code"], len(codes))
    return code, SEVERITIES.index(stored["severity"]), stored.get("indicative", False)


def _caused(stored: Iterable[Mapping[str, Any]]) -> list[int]:
    """Return the number of possible consequences of schema errors, by number of the severity."""
    counts = [0] * len(SEVERITIES)
    for it in stored:
        if it.get("indicative"):
            counts[SEVERITIES.index(it["severity"])] += 1 + it.get("more", 0)
    return counts


def _grouped(names: Iterable[str]) -> tuple[list[str], Numbers]:
    """Return the distinct names, and the number of the name of each file."""
    numbers: dict[str, int] = {}
    of_file = [numbers.setdefault(name, len(numbers)) for name in names]
    return list(numbers), np.array(of_file, np.int64)


def _group(row: Row, kind: str) -> str:
    """Return the group of a file: folder, seller, or month as YYYY-MM; "" if it has none."""
    if kind == "folder":
        return row.file.rpartition("/")[0]
    if kind == "seller":
        return row.seller
    month = _MONTH.match(row.date)
    return month[0] if month else ""
