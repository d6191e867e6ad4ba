"""Tables of bulk results: pandas, CSV, Parquet."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from einvoice.bulk.record import VERDICTS, FileResult
from einvoice.render import tables
from einvoice.render.text import NUMBERS
from einvoice.result.languages import Language

if TYPE_CHECKING:
    import pandas as pd

FINDINGS: Final = ("file", *tables.COLUMNS)
FILES: Final = (
    "file",
    "sha256",
    "seller",
    "seller_vat",
    "buyer",
    "number",
    "date",
    "currency",
    "net",
    "vat",
    "gross",
    "syntax",
    "profile",
    "version",
    "ruleset",
    "verdict",
    "errors",
    "warnings",
    "information",
)
_AMOUNTS: Final = ("net", "vat", "gross")
_COUNTS: Final = ("errors", "warnings", "information")
_DECIMALS: Final = 6  # of amounts in Parquet; EN 16931 allows two
_TEXTS: Final = {
    "findings": ("terms", "explanation", "fix", "xpath", "override_reason", "notes"),
    "files": ("file", "sha256", "seller", "seller_vat", "buyer", "number"),
}
_CATEGORIES: Final = {
    "findings": ("file", "code", "layer", "section", "bt_field", "title"),
    "files": ("currency", "syntax", "profile", "version", "ruleset"),
}


def to_frame(files: Iterable[FileResult], which: str, lang: Language) -> pd.DataFrame:
    """Return the table `which` as a pandas table; see `ResultSet.to_frame`."""
    tables.require_pandas()
    import pandas as pd

    columns, rows = _table(which)
    frame = pd.DataFrame(list(rows(files, lang)), columns=list(columns))
    dtypes: dict[str, Any] = dict.fromkeys(_TEXTS[which], "str") | dict.fromkeys(_CATEGORIES[which], "category")
    severity = pd.CategoricalDtype(["information", "warning", "fatal"], ordered=True)
    if which == "findings":
        dtypes |= {"severity": severity, "flag": severity, "indicative": "bool", "line": "Int64", "column": "Int64"}
        dtypes |= dict.fromkeys(NUMBERS, "object")
    else:
        dtypes |= {"verdict": pd.CategoricalDtype(list(VERDICTS), ordered=True), "date": "datetime64[s]"}
        dtypes |= dict.fromkeys(_COUNTS, "Int64") | dict.fromkeys(_AMOUNTS, "object")
        frame["date"] = pd.array([_day(text) for text in frame["date"]], dtype="datetime64[s]")
    return frame.astype(dtypes)


def to_csv(
    files: Iterable[FileResult],
    path: str | os.PathLike[str] | None,
    which: str,
    sep: str,
    encoding: str,
    lang: Language,
) -> str:
    """Return the table `which` as CSV; see `ResultSet.to_csv`."""
    columns, rows = _table(which)
    decimal = "," if sep == ";" else "."
    text = tables.csv_text(columns, rows(files, lang), sep=sep, decimal=decimal)
    if path is not None:
        Path(path).write_bytes(text.encode(encoding, "backslashreplace"))
    return text


def to_parquet(files: Iterable[FileResult], path: str | os.PathLike[str], which: str, lang: Language) -> None:
    """Write the table `which` as Parquet; see `ResultSet.to_parquet`."""
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install pyarrow") from error
    frame = to_frame(files, which, lang)
    arrays: dict[str, Any] = {}
    for name in NUMBERS if which == "findings" else ():
        arrays[name] = pyarrow.array([_text(value) for value in frame[name]], pyarrow.string())
    for name in _AMOUNTS if which == "files" else ():
        amounts = [_quantized(number) for number in frame[name]]
        arrays[name] = pyarrow.array(amounts, pyarrow.decimal128(38, _DECIMALS))
    # The pandas metadata of the table keeps nullable integers from being read back as floats.
    table = pyarrow.Table.from_pandas(frame.assign(**dict.fromkeys(arrays)), preserve_index=False)
    for name, array in arrays.items():
        table = table.set_column(frame.columns.get_loc(name), name, array)
    parquet.write_table(table, path)


Rows = Callable[[Iterable[FileResult], Language], Iterator[tuple[Any, ...]]]


def _table(which: str) -> tuple[tuple[str, ...], Rows]:
    if which == "findings":
        return FINDINGS, _finding_rows
    if which == "files":
        return FILES, _file_rows
    raise ValueError(f"argument 'which' must be 'findings' or 'files', not {which!r}")


def _finding_rows(files: Iterable[FileResult], lang: Language) -> Iterator[tuple[Any, ...]]:
    for file in files:
        for finding in file.findings:
            yield file.file, *tables.row(finding, lang).values()


def _file_rows(files: Iterable[FileResult], lang: Language) -> Iterator[tuple[Any, ...]]:
    for file in files:
        yield tuple(getattr(file, name) for name in FILES)


def _day(text: str) -> str | None:
    """Return the date if it is valid, else None."""
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        return None


def _text(value: Any) -> str | None:
    return None if value is None else format(value, "f") if isinstance(value, Decimal) else str(value)


def _quantized(number: Decimal | None) -> Decimal | None:
    if number is None or number.adjusted() >= 38 - _DECIMALS:
        return None
    return number.quantize(Decimal(1).scaleb(-_DECIMALS))
