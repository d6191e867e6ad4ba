"""Tables of findings: CSV and pandas.

Tables of one result and of many have the same columns and dtypes; missing values are `pd.NA` (NaN in categories, NaT in
dates).
"""

from __future__ import annotations

import csv
import datetime
import io
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from importlib import import_module
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from einvoice.localization import Language
from einvoice.quotation import printable
from einvoice.render.text import NUMBERS
from einvoice.result.finding import Finding
from einvoice.result.validation import ValidationResult

if TYPE_CHECKING:
    import pandas as pd

Amounts: TypeAlias = Literal["decimal", "float"]
Kind: TypeAlias = str | tuple[str, ...]

CONTEXT: Final = ("file", "number", "seller", "type", "folder")
"""Columns that tell which invoice a finding belongs to."""

COLUMNS: Final = (
    "code",
    "severity",
    "layer",
    "section",
    "bt_field",
    "terms",
    "line",
    "column",
    "title",
    *NUMBERS,
    "explanation",
    "fix",
    "xpath",
    "flag",
    "override_reason",
    "indicative",
    "notes",
)
"""Columns of a finding."""

#: Kind of each column that is not text, by name. A tuple holds the ordered values of a category.
KINDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("type", "folder", "code", "layer", "section", "bt_field", "title"), "category"),
    **dict.fromkeys(("currency", "syntax", "profile", "version", "ruleset"), "category"),
    **dict.fromkeys(("only_in", "changed_in", "seller_country", "buyer_country"), "category"),
    **dict.fromkeys(("unit", "vat_category", "exemption_code", "error_class", "assessment"), "category"),
    **dict.fromkeys(("severity", "flag"), ("information", "warning", "fatal")),
    "verdict": ("valid", "invalid", "unreadable"),
    "agreement": ("same", "different"),
    **dict.fromkeys(("line", "column", "line_count", "errors", "warnings", "information"), "integer"),
    **dict.fromkeys(("codes_only_declared", "codes_only_current"), "integer"),
    **dict.fromkeys(("date", "due_date"), "date"),
    **dict.fromkeys((*NUMBERS, "net", "vat", "gross", "signed_gross", "amount_due"), "amount"),
    "indicative": "bool",
}

_CHUNK: Final = 8192
"""Number of rows that become arrays together."""
_PRECISION: Final = 18  # twice this fits decimal128, so that columns can be multiplied and divided
_DECIMALS: Final = 4


def row(finding: Finding, lang: Language) -> dict[str, Any]:
    """Return the row of a finding, keyed by `COLUMNS`; missing values are None."""
    return {
        "code": finding.code,
        "severity": finding.severity,
        "layer": finding.layer,
        "section": finding.section,
        "bt_field": finding.bt_field,
        "terms": " ".join(finding.terms),
        "line": finding.line,
        "column": finding.column,
        "title": finding.title(lang),
        **{name: finding.values.get(name) for name in NUMBERS},
        "explanation": finding.explanation(lang),
        "fix": finding.fix(lang),
        "xpath": finding.xpath,
        "flag": finding.flag,
        "override_reason": finding.override_reason(lang),
        "indicative": finding.indicative,
        "notes": " ".join(note.text for note in finding.notes(lang)),
    }


def context(result: ValidationResult) -> dict[str, Any]:
    """Return what a table says about the invoice of a finding, keyed by `CONTEXT`."""
    summary = result.summary
    return {
        "file": result.filename,
        "number": summary.invoice_number,
        "seller": summary.seller,
        "type": str(result.invoice.type_code).strip(),
        "folder": folder_of(result.filename),
    }


def folder_of(file: str) -> str:
    """Return the folder of a filename with slashes: "." if it has none, "" without a filename."""
    return (file.rpartition("/")[0] or ".") if file else ""


def frame(
    columns: Sequence[str],
    rows: Iterable[Iterable[Any]],
    amounts: Amounts,
    kinds: Mapping[str, Kind] = KINDS,
) -> pd.DataFrame:
    """Return a pandas table whose dtypes follow from the names of its columns, by `kinds`.

    Rows are read in chunks, so that the table takes little more memory than its columns.

    Raises:
        ImportError: pandas is not installed (extra "notebook").
        ValueError: `amounts` is unknown.
    """
    if amounts not in ("decimal", "float"):
        raise ValueError(f"argument 'amounts' must be 'decimal' or 'float', not {amounts!r}")
    require_pandas()
    import pandas as pd

    builders = [_builder(kinds.get(name, "text"), amounts) for name in columns]
    remaining = iter(rows)
    while True:
        chunk = list(islice(remaining, _CHUNK))
        for builder, cells in zip(builders, zip(*chunk, strict=True) if chunk else repeat(()), strict=False):
            builder.add(cells)
        if len(chunk) < _CHUNK:
            break
    return pd.DataFrame({name: it.array() for name, it in zip(columns, builders, strict=True)}, columns=list(columns))


class _Column:
    """A column of any kind: the arrays of its chunks, put together."""

    def __init__(self, kind: Kind, amounts: Amounts) -> None:
        self._kind = kind
        self._amounts = amounts
        self._arrays: list[Any] = []

    def add(self, cells: Sequence[Any]) -> None:
        """Append cells."""
        self._arrays.append(_array(self._kind, cells, self._amounts))

    def array(self) -> Any:
        """Return the column."""
        import pandas as pd

        chunks = [pd.Series(it) for it in self._arrays]
        return (pd.concat(chunks, ignore_index=True) if len(chunks) > 1 else chunks[0]).array


class _Categories:
    """A column with few different texts, of which it keeps the numbers."""

    def __init__(self) -> None:
        self._numbers: dict[str | None, int] = {None: -1, "": -1}
        self._codes = array("q")

    def add(self, cells: Sequence[Any]) -> None:
        """Append cells."""
        numbers = self._numbers
        for text in set(cells).difference(numbers):
            numbers[text] = len(numbers) - 2
        self._codes.extend([numbers[text] for text in cells])

    def array(self) -> Any:
        """Return the column with its categories in alphabetical order."""
        import numpy as np
        import pandas as pd

        texts = list(self._numbers)[2:]
        ranks = np.full(len(texts) + 1, -1)  # the last for missing values
        for rank, number in enumerate(sorted(range(len(texts)), key=lambda it: str(texts[it]))):
            ranks[number] = rank
        categories = pd.Categorical(texts).categories
        return pd.Categorical.from_codes(ranks[np.asarray(self._codes)], categories=categories)


def _builder(kind: Kind, amounts: Amounts) -> _Column | _Categories:
    return _Categories() if kind == "category" else _Column(kind, amounts)


def _array(kind: Kind, cells: Sequence[Any], amounts: Amounts) -> Any:
    """Return the column of a pandas table."""
    import pandas as pd

    if isinstance(kind, tuple):
        return pd.Categorical([cell or None for cell in cells], categories=list(kind), ordered=True)
    match kind:
        case "integer":
            return pd.array(list(cells), dtype="Int64")
        case "bool":
            return pd.array(list(cells), dtype="bool")
        case "date":
            return pd.array([cell if cell and is_iso_date(cell) else None for cell in cells], dtype="datetime64[s]")
        case "amount":
            return _amounts(cells, amounts, _DECIMALS)
        case "quantity":
            return _amounts(cells, amounts, 2 * _DECIMALS)
    return pd.array([cell or None for cell in cells], dtype="string")


def _amounts(cells: Sequence[Any], amounts: Amounts, decimals: int) -> Any:
    """Return amounts as floats, as Arrow decimals, or without pyarrow as objects."""
    import pandas as pd

    numbers = [cell if isinstance(cell, Decimal) else None for cell in cells]
    if amounts == "float":
        return pd.Series([math.nan if it is None else float(it) for it in numbers], dtype="float64")
    rounded = [_rounded(it, decimals) for it in numbers]
    try:
        pyarrow = import_module("pyarrow")
    except ImportError:
        return pd.Series([pd.NA if it is None else it for it in rounded], dtype="object")
    dtype: Any = pd.ArrowDtype(pyarrow.decimal128(_PRECISION, decimals))
    return pd.array(rounded, dtype=dtype)


def _rounded(number: Decimal | None, decimals: int) -> Decimal | None:
    if number is None or number.adjusted() >= _PRECISION - decimals:
        return None
    rounded = number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return rounded if rounded.adjusted() < _PRECISION - decimals else None


def is_iso_date(text: str) -> bool:
    """Return whether a text is a valid date in ISO 8601."""
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def require_pandas() -> None:
    """Raise `ImportError` with an installation hint if pandas is missing."""
    try:
        import pandas as pd  # noqa: F401
    except ImportError as error:
        raise ImportError("tables need pandas: pip install 'einvoice-toolkit[notebook]'") from error


def result_frame(result: ValidationResult, lang: Language, *, amounts: Amounts = "decimal") -> pd.DataFrame:
    """Return the findings as a pandas table; see `ValidationResult.to_frame`."""
    return frame((*CONTEXT, *COLUMNS), _rows(result, lang), amounts)


def result_csv(result: ValidationResult, lang: Language) -> str:
    """Return the findings as CSV with a header; see `ValidationResult.to_csv`."""
    columns = (*CONTEXT, *COLUMNS)
    return csv_text(columns, with_printable_names(columns, _rows(result, lang)))


def _rows(result: ValidationResult, lang: Language) -> Iterable[Iterable[Any]]:
    known = context(result).values()
    return ((*known, *row(finding, lang).values()) for finding in result.findings)


def with_printable_names(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> Iterator[Iterable[Any]]:
    """Yield the rows with marks for control characters in the names of files and folders."""
    names = [position for position, column in enumerate(columns) if column in ("file", "folder")]
    for row in rows:
        cells = list(row)
        for position in names:
            cells[position] = printable(cells[position])
        yield cells


def csv_text(header: Iterable[str] | None, rows: Iterable[Iterable[Any]], *, sep: str = ",", decimal: str = ".") -> str:
    """Return rows as CSV (RFC 4180), preceded by the header if given."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=sep)
    if header is not None:
        writer.writerow(header)
    for cells in rows:  # most cells are texts that stay as they are
        writer.writerow([it if type(it) is str and it[:1] not in _FORMULA else _cell(it, decimal) for it in cells])
    return file.getvalue()


def _cell(content: Any, decimal: str) -> str:
    """Return a cell as text. An apostrophe prevents spreadsheets from evaluating document text as a formula."""
    if content is None:
        return ""
    if isinstance(content, Decimal):
        return format(content, "f").replace(".", decimal)
    text = str(content)
    return f"'{text}" if text[:1] in _FORMULA else text


_FORMULA: Final = frozenset("=+-@\t\r")
