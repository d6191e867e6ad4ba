"""Record of the content of one invoice, for the tables of many: its facts, lines, VAT breakdown and wanted terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from einvoice.bulk.record import FileResult, Row, encode, identity_facts, invoice_facts
from einvoice.model.invoice import Invoice
from einvoice.model.iteration import repeats
from einvoice.model.terms import similar, term, terms
from einvoice.model.values import Date, Number, Value
from einvoice.render.invoice_table import LINES, NUMBERS, VAT, date_text, line_rows, vat_rows
from einvoice.render.tables import KINDS, Kind
from einvoice.syntax import reader
from einvoice.validation.pipeline import Document

CONTEXT: Final = ("file", "number", "date", "type", "seller", "buyer", "currency")
"""Columns that tell which invoice a line or VAT breakdown belongs to."""
SIGNED: Final = {"lines": {"net": "signed_net"}, "vat": {"taxable": "signed_taxable", "tax": "signed_tax"}}
"""By table, the amounts of which another column has the sign: negative for a credit note."""
COLUMNS: Final = {
    "lines": (*CONTEXT, *LINES, *SIGNED["lines"].values()),
    "vat": (*CONTEXT, *VAT, *SIGNED["vat"].values()),
}
PARTS_KINDS: Final[Mapping[str, Kind]] = {
    **KINDS,
    "line": "text",
    **dict.fromkeys((*NUMBERS, *(name for names in SIGNED.values() for name in names.values())), "amount"),
    **dict.fromkeys(("quantity", "price", "base_quantity"), "quantity"),
    **dict.fromkeys(("period_start", "period_end"), "date"),
}
_PARTS: Final = {"lines": LINES, "vat": VAT}
_TERM_KINDS: Final = {
    "Amount": "amount",
    "Percentage": "amount",
    "Unit price amount": "quantity",
    "Quantity": "quantity",
    "Date": "date",
}
_SEPARATOR: Final = "; "


def content_row(file: str, sha256: str, document: Document, numbers: Sequence[str]) -> Row:
    """Return the record of an invoice with the terms of these numbers."""
    invoice = reader.read(document.root)
    facts = {
        "file": file,
        "sha256": sha256,
        "verdict": "",
        **identity_facts(document.identity),
        **invoice_facts(invoice),
        "software": document.software,
        "lines": [_plain(it) for it in line_rows(invoice)],
        "vat_breakdown": [_plain(it) for it in vat_rows(invoice)],
        "terms": {number: _content(invoice, number) for number in numbers},
    }
    return Row("valid", encode(facts))


def _plain(row: Iterable[Any]) -> list[Any]:
    return [format(cell, "f") if isinstance(cell, Decimal) else cell for cell in row]


def _content(invoice: Invoice, number: str) -> str:
    """Return a term as text; several values are joined."""
    content = invoice[number]
    if isinstance(content, list):
        return _SEPARATOR.join(filter(None, map(_text, content)))
    return _text(content)


def _text(content: Any) -> str:
    if isinstance(content, Date):
        return date_text(content)
    if isinstance(content, Number) and isinstance(content.number, Decimal):
        return format(content.number, "f")
    return content.text if isinstance(content, Value) else str(content)


def check_terms(numbers: Iterable[str]) -> None:
    """Raise ValueError if one is not the number of a business term that has a value."""
    for number in numbers:
        known = terms().get(number)
        if known is None:
            near = similar(number)
            hint = f"; did you mean {near!r}?" if near else "; terms have numbers such as 'BT-13'"
            raise ValueError(f"unknown term {number!r}{hint}")
        if known.datatype in ("Group", "Binary object"):
            raise ValueError(f"{number} has no value for a table, it is a {known.datatype.lower()}")


def term_kind(number: str) -> Kind:
    """Return the kind of the column of a term: text if an invoice can have it several times."""
    known = term(number)
    return "text" if repeats(known) else _TERM_KINDS.get(known.datatype, "text")


def term_cell(record: Mapping[str, Any], number: str) -> Any:
    """Return the content of a term in a record, for a column of `term_kind`; None if there is none."""
    text = record.get("terms", {}).get(number)
    return _decimal(text) if text and term_kind(number) in ("amount", "quantity") else text


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except ArithmeticError:
        return None  # the document has another text there


def part_rows(records: Iterable[tuple[FileResult, Mapping[str, Any]]], which: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the table "lines" or "vat"."""
    names, signed = _PARTS[which], SIGNED[which]
    numbers = [position for position, name in enumerate(names) if name in NUMBERS]
    amounts = [names.index(name) for name in signed]
    key = "lines" if which == "lines" else "vat_breakdown"
    for file, record in records:
        known = tuple([getattr(file, name) for name in CONTEXT])
        for stored in record.get(key, ()):
            cells = list(stored)
            for position in numbers:
                if cells[position] is not None:
                    cells[position] = Decimal(cells[position])
            yield (*known, *cells, *[_signed(cells[position], file) for position in amounts])


def _signed(amount: Decimal | None, file: FileResult) -> Decimal | None:
    return -amount if amount and file.is_credit_note else amount
