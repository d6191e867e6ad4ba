"""The table of the down payments that a final invoice deducts, with their VAT."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from einvoice.model.invoice import Note, PrecedingInvoice
from einvoice.model.values import absent
from einvoice.model.worded.down_payments import DownPayment, Sum, read_note, remainder
from einvoice.visualization.formatting import format_date, format_number
from einvoice.visualization.invoice.context import PageContext, section
from einvoice.visualization.invoice.lines import amount_heading, negated
from einvoice.visualization.invoice.tables import Column, table
from einvoice.visualization.markup import EMPTY, Markup, tag


def _deducted(context: PageContext, note: Note) -> Sequence[DownPayment]:
    """Return the down payments of a note; none if it is about anything else."""
    total = _total(context)
    return [] if total is None or note.text is absent else read_note(note.text.raw, total, context.currency)


def down_payment_note(context: PageContext) -> Note | None:
    """Return the note with the down payments that the invoice deducts; None if there is none."""
    return next((it for it in context.invoice.notes if _deducted(context, it)), None)


def is_deducted(context: PageContext, earlier: PrecedingInvoice) -> bool:
    """Whether a preceding invoice (BG-3) is that of a down payment, with the same number and date."""
    note = down_payment_note(context)
    found = _deducted(context, note) if note else ()
    return any((it.number, it.issued) == (earlier.number.text, earlier.issue_date.date) for it in found)


def down_payments(context: PageContext) -> Markup:
    """Return the invoice total, the down payments and the remainder, each with its VAT; '' without down payments."""
    total = _total(context)
    note = down_payment_note(context)
    if total is None or note is None:
        return EMPTY
    context.mark_shown(note.text)
    found = _deducted(context, note)
    cells = [[context.label("invoice_total"), "", "", *_amounts(context, total)]]
    cells += [_deduction(context, it) for it in found]
    cells.append([context.label("remainder"), "", "", *_amounts(context, remainder(total, found))])
    rows = [_row(it) for it in cells[:-1]]
    rows.append(_row(cells[-1], class_="sum"))
    columns = [
        Column(context.label("down_payment")),
        Column(context.label("received"), is_number=True),
        Column(context.label("BT-151"), is_number=True),
        *(Column(amount_heading(context, key), is_number=True) for key in ("net", "BT-110", "gross")),
    ]
    return section(context.label("down_payments"), table(columns, rows, cells), class_="kept")


def _total(context: PageContext) -> Sum | None:
    """Return the total of the invoice with its VAT; None if they are no numbers."""
    gross = context.invoice.totals.gross.number
    if not isinstance(gross, Decimal):
        return None
    own = [it.amount for it in context.invoice.tax_totals if (it.amount.currency or "") in ("", context.currency)]
    return Sum(gross, next((it.number for it in own if isinstance(it.number, Decimal)), None))


def _row(cells: Sequence[str], **attributes: str) -> Markup:
    name, *numbers = cells
    return tag("tr", tag("td", name), *(tag("td", it, class_="n") for it in numbers), **attributes)


def _deduction(context: PageContext, it: DownPayment) -> list[str]:
    """Return the cells of a down payment, whose amounts are negative."""
    name = context.label("down_payment")
    if it.number:
        issued = f" {context.label('dated')} {format_date(it.issued, context.lang)}" if it.issued else ""
        name = context.label("of_invoice").format(number=it.number) + issued
    received = format_date(it.received, context.lang) if it.received else ""
    rate = f"{format_number(it.rate, context.lang)}\u00a0%" if it.rate is not None else ""
    return [name, received, rate, *map(negated, _amounts(context, it))]


def _amounts(context: PageContext, total: Sum) -> list[str]:
    """Return net amount, VAT and gross amount; '' for those that are not known."""
    numbers = (total.net, total.tax, total.amount)
    return ["" if it is None else format_number(it, context.lang, decimals=2) for it in numbers]
