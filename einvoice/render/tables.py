"""Tables of findings: CSV and pandas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from einvoice.localization import Language
from einvoice.presentation import to_csv, to_frame
from einvoice.render.text import NUMBERS
from einvoice.result.finding import Finding
from einvoice.result.validation import ValidationResult

if TYPE_CHECKING:
    import os

    import pandas as pd

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


def require_pandas() -> None:
    """Raise `ImportError` with an installation hint if pandas is missing."""
    try:
        import pandas as pd  # noqa: F401
    except ImportError as error:
        raise ImportError("tables need pandas: pip install 'einvoice-toolkit[notebook]'") from error


@to_frame.register(ValidationResult)
def _result_frame(result: ValidationResult, lang: Language) -> pd.DataFrame:
    require_pandas()
    import pandas as pd

    frame = pd.DataFrame([row(finding, lang) for finding in result.findings], columns=list(COLUMNS))
    return frame.astype({"line": "Int64", "column": "Int64", "indicative": "bool"})


@to_csv.register(ValidationResult)
def _result_csv(result: ValidationResult, lang: Language, path: str | os.PathLike[str] | None = None) -> str:
    text = csv_text(COLUMNS, (row(finding, lang).values() for finding in result.findings))
    if path is not None:
        Path(path).write_bytes(text.encode("utf-8"))
    return text


def csv_text(header: Iterable[str] | None, rows: Iterable[Iterable[Any]], *, sep: str = ",", decimal: str = ".") -> str:
    """Return rows as CSV (RFC 4180), preceded by the header if given."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=sep)
    if header is not None:
        writer.writerow(header)
    writer.writerows([_cell(content, decimal) for content in cells] for cells in rows)
    return file.getvalue()


def _cell(content: Any, decimal: str) -> str:
    """Return a cell as text. An apostrophe prevents spreadsheets from evaluating document text as a formula."""
    if content is None:
        return ""
    if isinstance(content, Decimal):
        return format(content, "f").replace(".", decimal)
    text = str(content)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
