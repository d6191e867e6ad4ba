"""Compares two invoices term by term: `einvoice.diff`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from einvoice.comparison.alignment import pairs_of_entries, pairs_of_parts
from einvoice.comparison.compared import STATUSES, ComparedTerm, Status
from einvoice.comparison.content import Entry, Part, content_of
from einvoice.comparison.text import term_dict, text
from einvoice.localization import Language
from einvoice.localization.options import language
from einvoice.model.invoice import Invoice
from einvoice.syntax import xml
from einvoice.validation import read

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, repr=False)
class InvoiceDiff:
    """The terms of two invoices side by side; true if a term differs.

    Attributes:
        terms: all values of both invoices, in the order of the standard's model.
        lang: default language of the texts.
    """

    terms: tuple[ComparedTerm, ...]
    lang: Language = "de"

    @property
    def differences(self) -> tuple[ComparedTerm, ...]:
        """The values that are not the same in both invoices."""
        return tuple(it for it in self.terms if it.status != "equal")

    @property
    def equal(self) -> tuple[ComparedTerm, ...]:
        """The values that are the same."""
        return self._with("equal")

    @property
    def changed(self) -> tuple[ComparedTerm, ...]:
        """The values of one term that are not the same."""
        return self._with("changed")

    @property
    def only_in_a(self) -> tuple[ComparedTerm, ...]:
        """The values that only the first invoice has."""
        return self._with("only_in_a")

    @property
    def only_in_b(self) -> tuple[ComparedTerm, ...]:
        """The values that only the second invoice has."""
        return self._with("only_in_b")

    def _with(self, status: Status) -> tuple[ComparedTerm, ...]:
        return tuple(it for it in self.terms if it.status == status)

    def __bool__(self) -> bool:
        return any(it.status != "equal" for it in self.terms)

    def __repr__(self) -> str:
        return f"<InvoiceDiff: {', '.join(f'{len(self._with(it))} {it}' for it in STATUSES)}>"

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, lang: Language | None = None) -> str:
        """Return the differences as text, one per line, with both values and their lines.

        Raises:
            ValueError: the language is not supported.
        """
        return text(self.terms, self.lang if lang is None else language(lang))

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return the numbers by status, and the differences as plain data, ready for JSON.

        Raises:
            ValueError: the language is not supported.
        """
        counts: dict[str, Any] = {status: len(self._with(status)) for status in STATUSES}
        selected = self.lang if lang is None else language(lang)
        return {"same": not self, **counts, "differences": [term_dict(it, selected) for it in self.differences]}

    def to_frame(self, *, equal: bool = False, lang: Language | None = None) -> pd.DataFrame:
        """Return the differences as a pandas table, one row per value.

        Columns: `status`, `term`, `name`, `group`, `invoice_line`; `a` and `b`, the values (text, `Decimal`, `date`;
        None if missing); `scheme_a`, `scheme_b`; `line_a`, `line_b`, `xpath_a`, `xpath_b`, the places.

        Args:
            equal: whether to include the values that are the same.
            lang: language of `name`; default: that of the comparison.

        Raises:
            ImportError: pandas is not installed (extra "notebook").
            ValueError: the language is not supported.
        """
        from einvoice.comparison.table import frame

        return frame(self.terms if equal else self.differences, self.lang if lang is None else language(lang))

    def _repr_html_(self) -> str:
        from einvoice.comparison.table import html

        return html(self.terms, self.lang)


def diff(a: xml.Source | Invoice, b: xml.Source | Invoice, *, lang: Language | None = None) -> InvoiceDiff:
    """Compare two invoices by their business terms, in any syntax, without validating them.

    Terms that UBL and CII have in different forms are the same if they mean the same. Groups that repeat are compared
    with the one of the same content, lines with the one of the same number (BT-126), others with the most similar one.
    Zeros behind a number make no difference, nor does white space around a text, in a code or an identifier, or between
    two words of a line. Line breaks do: terms such as BT-20 are read line by line. `only_white_space` tells where
    nothing else differs. Content without a business term is compared
    by its element; two syntaxes never have the same one.

    Args:
        a, b: a path, bytes, a binary file (UBL, CII or a hybrid PDF), or an `Invoice`.
        lang: default language of the texts; default: `einvoice.options.lang`.

    Raises:
        UnreadableDocument: a file is not an invoice; one of its subclasses (see `einvoice.errors`).
        ValueError: the language is not supported.
        OSError: a file cannot be opened.
    """
    selected = language(lang)
    first, second = (it if isinstance(it, Invoice) else read(it) for it in (a, b))
    return InvoiceDiff(tuple(_compared(content_of(first), content_of(second), "")), selected)


def _compared(a: Part | None, b: Part | None, invoice_line: str) -> Iterator[ComparedTerm]:
    known = [part for part in (a, b) if part is not None]
    group = known[0].group
    if group == "BG-25":
        invoice_line = str(known[0].first("BT-126") or "")
    for first, second in pairs_of_entries(a.entries if a else (), b.entries if b else ()):
        yield _term(first, second, group, invoice_line)
    for inner in pairs_of_parts(a.parts if a else (), b.parts if b else ()):
        yield from _compared(*inner, invoice_line)


def _term(a: Entry | None, b: Entry | None, group: str, invoice_line: str) -> ComparedTerm:
    if a is not None and b is not None:
        status: Status = "equal" if a.key == b.key else "changed"
        return ComparedTerm(status, a.term, group, invoice_line, a, b)
    entry = a or b
    assert entry is not None
    return ComparedTerm("only_in_b" if a is None else "only_in_a", entry.term, group, invoice_line, a, b)
