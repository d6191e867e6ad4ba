"""Tables of bulk results: pandas, CSV, Parquet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from einvoice.bulk.record import FileResult
from einvoice.render import tables
from einvoice.result.languages import Language

if TYPE_CHECKING:
    import pandas as pd

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


def to_frame(files: Iterable[FileResult], which: str, lang: Language, amounts: tables.Amounts) -> pd.DataFrame:
    """Return the table `which` as a pandas table; see `ResultSet.to_frame`."""
    columns, rows = _table(which)
    return tables.frame(columns, rows(files, lang), amounts)


def csv_lines(files: Iterable[FileResult], which: str, sep: str, lang: Language) -> Iterator[str]:
    """Yield the header and the rows of the table `which` as CSV; see `ResultSet.to_csv`."""
    columns, rows = _table(which)
    decimal = "," if sep == ";" else "."
    yield tables.csv_text(columns, (), sep=sep)
    for row in tables.with_printable_names(columns, rows(files, lang)):
        yield tables.csv_text(None, (row,), sep=sep, decimal=decimal)


def to_parquet(files: Iterable[FileResult], path: str | os.PathLike[str], which: str, lang: Language) -> None:
    """Write the table `which` as Parquet; see `ResultSet.to_parquet`."""
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install pyarrow") from error
    # The pandas metadata of the table keeps nullable integers from being read back as floats.
    parquet.write_table(pyarrow.Table.from_pandas(to_frame(files, which, lang, "decimal"), preserve_index=False), path)


Rows = Callable[[Iterable[FileResult], Language], Iterator[tuple[Any, ...]]]


def _table(which: str) -> tuple[tuple[str, ...], Rows]:
    if which == "findings":
        return FINDINGS, _finding_rows
    if which == "files":
        return FILES, _file_rows
    if which == "differences":
        return DIFFERENCES, _difference_rows
    raise ValueError(f"argument 'which' must be 'findings', 'files' or 'differences', not {which!r}")


def _finding_rows(files: Iterable[FileResult], lang: Language) -> Iterator[tuple[Any, ...]]:
    for file in files:
        for finding in file.findings:
            known = (getattr(file, name) for name in tables.CONTEXT)
            yield *known, *tables.row(finding, lang).values()


def _file_rows(files: Iterable[FileResult], lang: Language) -> Iterator[tuple[Any, ...]]:
    for file in files:
        yield tuple(getattr(file, name) for name in FILES)


def _difference_rows(files: Iterable[FileResult], lang: Language) -> Iterator[tuple[Any, ...]]:
    for file in files:
        for finding, *origin in file.differences:
            known = (getattr(file, name) for name in tables.CONTEXT)
            yield *known, *origin, *tables.row(finding, lang).values()
