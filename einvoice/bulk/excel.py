"""Excel workbooks of bulk results, for German and other Excel: numbers are numbers, dates are dates."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from importlib import import_module
from typing import Any, Final, NamedTuple

from einvoice.bulk.labels import COLUMN_LABELS, VERDICT_LABELS
from einvoice.bulk.tables import Table
from einvoice.localization import Language
from einvoice.render.tables import Kind, is_iso_date
from einvoice.render.text import LABELS as RESULT_LABELS

_MAX_ROWS: Final = 1_048_575
"""Rows of a sheet below its header."""
_MAX_TEXT: Final = 32_767
_WIDTHS: Final = {"amount": 14, "quantity": 14, "date": 12, "integer": 10, "bool": 10, "category": 16, "text": 26}
_WIDE: Final = {"title": 50, "explanation": 60, "fix": 60, "file": 36, "xpath": 40, "name": 36}
_FORMATS: Final = {"amount": "#,##0.00##", "quantity": "#,##0.00######", "integer": "#,##0"}
_ILLEGAL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_SEVERITIES: Final = ("fatal", "warning", "information")


class Sheet(NamedTuple):
    """A sheet: its name, its table, and the sheet whose rows the cells of the column `file` lead to; "" for none."""

    name: str
    table: Table
    links_to: str = ""


def write_workbook(path: str | os.PathLike[str], sheets: Sequence[Sheet], lang: Language) -> None:
    """Write a workbook with a sheet per table; see `Exports.to_excel`.

    Raises:
        ImportError: openpyxl is not installed (extra "notebook").
        ValueError: a table has more rows than a sheet can have.
    """
    try:
        openpyxl = import_module("openpyxl")
    except ImportError as error:
        raise ImportError("Excel files need openpyxl: pip install 'einvoice-toolkit[notebook]'") from error
    book = openpyxl.Workbook(write_only=True)
    rows: dict[str, dict[str, int]] = {}  # by sheet and file, the number of its first row
    for sheet in sheets:
        rows[sheet.name] = _write(book, sheet, rows.get(sheet.links_to, {}), lang)
    book.save(path)


def _write(book: Any, sheet: Sheet, targets: Mapping[str, int], lang: Language) -> dict[str, int]:
    """Write a sheet; return the number of the first row of each file."""
    letter = import_module("openpyxl.utils").get_column_letter
    page = book.create_sheet(sheet.name)
    columns, kinds = sheet.table.columns, [sheet.table.kinds.get(it, "text") for it in sheet.table.columns]
    page.freeze_panes = "B2"
    for number, (name, kind) in enumerate(zip(columns, kinds, strict=True), 1):
        width = _WIDTHS[kind if isinstance(kind, str) else "category"]
        page.column_dimensions[letter(number)].width = _WIDE.get(name, width)
    make = _Cells(page, columns, kinds, lang)
    page.append(make.header())
    place = columns.index("file") if "file" in columns else -1
    first: dict[str, int] = {}
    number = 1
    for number, row in enumerate(sheet.table.rows, 2):
        if number > _MAX_ROWS + 1:
            page.close()  # the file of an unfinished sheet would be closed with an error at any time
            raise ValueError(f"the sheet {sheet.name!r} has more than {_MAX_ROWS} rows; select fewer files or findings")
        cells = make.row(row)
        if place >= 0:
            first.setdefault(row[place], number)
            if target := targets.get(row[place]):
                cells[place] = make.link(row[place], f"'{sheet.links_to}'!A{target}")
        page.append(cells)
    page.auto_filter.ref = f"A1:{letter(len(columns))}{number}"
    return first


class _Cells:
    """Makes the cells of a sheet."""

    def __init__(self, page: Any, columns: Sequence[str], kinds: Sequence[Kind], lang: Language) -> None:
        self._new = import_module("openpyxl.cell").WriteOnlyCell
        styles = import_module("openpyxl.styles")
        self._bold, self._blue = styles.Font(bold=True), styles.Font(color="0563C1", underline="single")
        self._hyperlink = import_module("openpyxl.worksheet.hyperlink").Hyperlink
        self._date = "dd.mm.yyyy" if lang == "de" else "yyyy-mm-dd"
        self._page, self._columns, self._kinds = page, columns, kinds
        self._labels = COLUMN_LABELS[lang]
        severities = {name: RESULT_LABELS[lang][name] for name in _SEVERITIES}
        self._names = {"verdict": VERDICT_LABELS[lang], "severity": severities, "flag": severities}

    def header(self) -> list[Any]:
        """Return the headings, in the language of the workbook; a term keeps its number."""
        names = zip(self._columns, self._kinds, strict=True)
        keys = ["line_id" if (name, kind) == ("line", "text") else name for name, kind in names]
        cells = [self._new(self._page, value=self._labels.get(key, key)) for key in keys]
        for cell in cells:
            cell.font = self._bold
        return cells

    def row(self, row: Sequence[Any]) -> list[Any]:
        """Return the cells of a row."""
        return [
            self._cell(name, kind, content) for name, kind, content in zip(self._columns, self._kinds, row, strict=True)
        ]

    def link(self, text: str, target: str) -> Any:
        """Return a cell with a link to a place in the workbook."""
        cell = self._new(self._page, value=_text(text))
        cell.hyperlink = self._hyperlink(ref="", location=target)
        cell.font = self._blue
        return cell

    def _cell(self, name: str, kind: Kind, content: Any) -> Any:
        if content is None or content == "":
            return None
        if name in self._names:
            return self._names[name].get(content, content)
        if kind == "date" and is_iso_date(content):
            return self._formatted(datetime.date.fromisoformat(content), self._date)
        if isinstance(content, Decimal | int) and not isinstance(content, bool) and isinstance(kind, str):
            return self._formatted(content, _FORMATS.get(kind, "General"))
        return content if isinstance(content, bool) else self._of_text(str(content))

    def _formatted(self, value: Any, number_format: str) -> Any:
        cell = self._new(self._page, value=value)
        cell.number_format = number_format
        return cell

    def _of_text(self, text: str) -> Any:
        if not text.startswith("="):
            return _text(text)
        cell = self._new(self._page, value=_text(text))
        cell.data_type = "s"  # a text of a document is no formula
        return cell


def _text(text: str) -> str:
    return _ILLEGAL.sub("�", text)[:_MAX_TEXT]
