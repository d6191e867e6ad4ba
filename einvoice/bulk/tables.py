"""Tables of bulk results: pandas, CSV, Parquet."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from einvoice.assessment.law import FORMAT
from einvoice.bulk.patterns import check
from einvoice.bulk.record import MAX_FINDINGS, FileResult, decode
from einvoice.bulk.stored_findings import FindingTexts, restored_value
from einvoice.model.terms import bt_field
from einvoice.render import tables
from einvoice.render.text import NUMBERS
from einvoice.result.languages import Language
from einvoice.syntax.specifications import specifications

if TYPE_CHECKING:
    import pandas as pd

    from einvoice.assessment import Law

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
    "seller_country",
    "buyer_vat",
    "buyer_country",
    "order",
    "payment_terms",
    "iban",
    "line_count",
    "software",
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
    """A table: its columns, its rows, and the kinds of columns by name."""

    columns: tuple[str, ...]
    rows: Rows
    kinds: Mapping[str, tables.Kind] = tables.KINDS

    def extended(self, kinds: Mapping[str, tables.Kind]) -> Table:
        """Return the table with further columns of these kinds, which the rows have already."""
        return Table((*self.columns, *kinds), self.rows, {**self.kinds, **kinds})

    def selected(self, columns: Sequence[str] | None) -> Table:
        """Return the table with some of its columns, in their order.

        Raises:
            ValueError: there is no such column.
        """
        if columns is None or tuple(columns) == self.columns:
            return self
        for name in columns:
            check("column", name, self.columns)
        positions = [self.columns.index(name) for name in columns]
        return Table(tuple(columns), (tuple([row[it] for it in positions]) for row in self.rows), self.kinds)


def finding_table(
    lines: Iterable[bytes],
    which: str,
    lang: Language,
    *,
    columns: Sequence[str] | None = None,
    texts: bool = True,
    law: Law | None = None,
) -> Table:
    """Return the table of the findings or differences of encoded records; see `ResultSet.to_frame`."""
    known = FINDINGS if which == "findings" else DIFFERENCES
    wanted = columns or [name for name in known if texts or name not in TEXTS]
    rows = _finding_rows(map(json.loads, lines), lang, which, [name for name in TEXTS if name in wanted])
    if law is None:
        return Table(known, rows).selected(wanted)
    classify = functools.lru_cache(law.classify)
    place, severity, layer, terms = [known.index(name) for name in ("code", "severity", "layer", "terms")]
    classes = (
        (*row, classify(row[place], row[layer], row[severity], tuple(row[terms].split())).error_class) for row in rows
    )
    return Table((*known, "error_class"), classes).selected(columns or [*wanted, "error_class"])


def file_table(
    lines: Iterable[bytes],
    lang: Language,
    *,
    law: Law | None = None,
    terms: Mapping[str, tuple[Any, ...]] | None = None,
    kinds: Mapping[str, tables.Kind] | None = None,
) -> Table:
    """Return the table of the files of encoded records; see `ResultSet.to_frame`.

    Args:
        lines: the records.
        lang: language of the texts.
        law: the law of the column `assessment`, if it is wanted.
        terms: content of further columns by filename.
        kinds: their kinds by name.
    """
    none = (None,) * len(kinds or ())

    def rows() -> Rows:
        for line in lines:
            file = decode(line, lang)
            cells = [getattr(file, name) for name in FILES]
            assessed = (assessment(file, law),) if law else ()
            yield (*cells, *assessed, *(terms or {}).get(file.file, none))

    of_law: Mapping[str, tables.Kind] = {"assessment": "category"} if law else {}
    return Table(FILES, rows()).extended({**of_law, **(kinds or {})})


def assessment(file: FileResult, law: Law) -> str:
    """Return what a file is by a law, as `Assessment.kind`; "" if it is unreadable.

    It is "open" if findings that could decide it are not stored.
    """
    if file.verdict == "unreadable":
        return ""
    specification = specifications().get(file.specification)
    is_no_invoice = specification is not None and specification.facturx_profile in law.not_invoice
    classes = {law.classify(it["code"], it["layer"], it["severity"], it.get("terms", ())).error_class
               for it in file.stored if it["severity"] == "fatal"}  # fmt: skip
    if is_no_invoice or FORMAT in classes:
        return "other_invoice"
    is_stored = len(file.stored) < MAX_FINDINGS
    return "e_invoice" if file.layers and all(it.executed for it in file.layers) and is_stored else "open"


def to_frame(table: Table, amounts: tables.Amounts) -> pd.DataFrame:
    """Return a table as a pandas table; see `ResultSet.to_frame`."""
    return tables.frame(table.columns, table.rows, amounts, table.kinds)


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
