"""Tables of bulk results: pandas, CSV, Parquet."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from einvoice.bulk.patterns import check
from einvoice.bulk.record import FileResult, decode
from einvoice.bulk.stored_findings import FindingTexts, restored_value
from einvoice.model.terms import bt_field
from einvoice.render import tables
from einvoice.render.text import NUMBERS
from einvoice.result.languages import Language

if TYPE_CHECKING:
    import pandas as pd

_CHUNK: Final = 1024
FINDINGS: Final = (*tables.CONTEXT, *tables.COLUMNS)
FILES: Final = (
    "file",
    "verdict",
    "number",
    "date",
    "type",
    "seller",
    "buyer",
    "net",
    "vat",
    "gross",
    "signed_gross",
    "due_date",
    "amount_due",
    "buyer_reference",
    "currency",
    "seller_vat",
    "folder",
    "errors",
    "warnings",
    "information",
    "syntax",
    "profile",
    "version",
    "ruleset",
    "agreement",
    "compared",
    "only_native",
    "only_reference",
    "codes_only_declared",
    "codes_only_current",
    "sha256",
)
DIFFERENCES: Final = (*tables.CONTEXT, "only_in", "changed_in", *tables.COLUMNS)


TEXTS: Final = ("title", "explanation", "fix", "override_reason", "notes")
"""Columns of findings that are texts in a language."""

Record: TypeAlias = Mapping[str, Any]
Rows: TypeAlias = Iterable[tuple[Any, ...]]


class Table(NamedTuple):
    """A table: its columns and its rows."""

    columns: tuple[str, ...]
    rows: Rows

    def selected(self, columns: Sequence[str] | None) -> Table:
        """Return the table with some of its columns, in their order."""
        if columns is None or tuple(columns) == self.columns:
            return self
        positions = [self.columns.index(name) for name in columns]
        return Table(tuple(columns), (tuple([row[it] for it in positions]) for row in self.rows))


def table(
    lines: Iterable[bytes], which: str, lang: Language, columns: Sequence[str] | None = None, texts: bool = True
) -> Table:
    """Return the table `which` of encoded records; see `ResultSet.to_frame`.

    Raises:
        ValueError: the table or a column is unknown.
    """
    known = {"findings": FINDINGS, "files": FILES, "differences": DIFFERENCES}
    if which not in known:
        raise ValueError(f"argument 'which' must be 'findings', 'files' or 'differences', not {which!r}")
    for name in columns or ():
        check("column", name, known[which])
    wanted = columns or [name for name in known[which] if texts or name not in TEXTS]
    if which == "files":
        rows: Rows = map(_file_row, (decode(line, lang) for line in lines))
    else:
        rows = _finding_rows(map(json.loads, lines), lang, which, [name for name in TEXTS if name in wanted])
    return Table(known[which], rows).selected(wanted)


def to_frame(table: Table, amounts: tables.Amounts) -> pd.DataFrame:
    """Return a table as a pandas table; see `ResultSet.to_frame`."""
    return tables.frame(table.columns, table.rows, amounts)


def csv_lines(table: Table, sep: str) -> Iterator[str]:
    """Yield the header and then rows of a table as CSV; see `ResultSet.to_csv`."""
    decimal = "," if sep == ";" else "."
    yield tables.csv_text(table.columns, (), sep=sep)
    rows = tables.with_printable_names(table.columns, table.rows)
    while text := tables.csv_text(None, islice(rows, _CHUNK), sep=sep, decimal=decimal):
        yield text


def to_parquet(table: Table, path: str | os.PathLike[str]) -> None:
    """Write a table as Parquet."""
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install pyarrow") from error
    # The pandas metadata of the table keeps nullable integers from being read back as floats.
    parquet.write_table(pyarrow.Table.from_pandas(to_frame(table, "decimal"), preserve_index=False), path)


def _file_row(file: FileResult) -> tuple[Any, ...]:
    return tuple([getattr(file, name) for name in FILES])


def _finding_rows(records: Iterable[Record], lang: Language, which: str, names: Sequence[str]) -> Rows:
    """Yield the rows of findings or differences, with those texts that are named; of others, None."""
    texts = FindingTexts(names, lang)
    place = [names.index(name) if name in names else -1 for name in TEXTS]
    for record in records:
        get = record.get
        file = record["file"]
        of_file = (file, get("number", ""), get("seller", ""), get("type", ""), tables.folder_of(file))
        for finding in get(which, ()):
            given = (*texts.of(finding, record), None) if names else (None,)
            title, explanation, fix, override_reason, notes = [given[it] for it in place]
            origin = (finding["only_in"], finding.get("changed_in", "")) if which == "differences" else ()
            terms, values = finding.get("terms", ()), finding.get("values") or {}
            yield (
                *of_file,
                *origin,
                finding["code"],
                finding["severity"],
                finding["layer"],
                finding["section"],
                bt_field(terms),
                " ".join(terms),
                finding.get("line"),
                finding.get("column"),
                title,
                *[restored_value(values.get(name)) for name in NUMBERS],
                explanation,
                fix,
                finding.get("xpath", ""),
                finding.get("flag", finding["severity"]),
                override_reason,
                finding.get("indicative", False),
                notes,
            )
