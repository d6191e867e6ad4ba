"""Findings as a table: one row each, as CSV or for pandas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from einvoice.render.text import NUMBERS
from einvoice.result.finding import Finding
from einvoice.result.languages import Language

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
    """One finding by `COLUMNS`; None where it has nothing to say."""
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


def to_frame(findings: Iterable[Finding], lang: Language) -> pd.DataFrame:
    """The findings as a pandas table; line and column are whole numbers that may be missing."""
    import pandas as pd

    frame = pd.DataFrame([row(finding, lang) for finding in findings], columns=list(COLUMNS))
    return frame.astype({"line": "Int64", "column": "Int64", "indicative": "bool"})


def to_csv(findings: Iterable[Finding], path: str | os.PathLike[str] | None, lang: Language) -> str:
    """The findings as CSV (RFC 4180), also written to `path` where one is given."""
    text = csv_text(COLUMNS, (row(finding, lang).values() for finding in findings))
    if path is not None:
        Path(path).write_bytes(text.encode("utf-8"))
    return text


def csv_text(header: Iterable[str] | None, rows: Iterable[Iterable[Any]], *, sep: str = ",", decimal: str = ".") -> str:
    """A table, or a part of one without its header, as CSV (RFC 4180)."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=sep)
    if header is not None:
        writer.writerow(header)
    writer.writerows([_cell(content, decimal) for content in cells] for cells in rows)
    return file.getvalue()


def _cell(content: Any, decimal: str) -> str:
    """A cell as text. Documents are quoted in it, and no spreadsheet shall take what they say for a formula."""
    if content is None:
        return ""
    if isinstance(content, Decimal):
        return format(content, "f").replace(".", decimal)
    text = str(content)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
