"""The table of the down payments that a final invoice deducts, with their VAT."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from einvoice.model.invoice import Note
from einvoice.model.values import Amount, Date, absent
from einvoice.model.worded.down_payments import DownPayment, Sum, read_note, remainder
from einvoice.visualization.formatting import format_date, format_number
from einvoice.visualization.invoice.context import PageContext, section
from einvoice.visualization.invoice.further_content import leaves, local_name
from einvoice.visualization.invoice.lines import amount_heading, negated
from einvoice.visualization.invoice.tables import Column, table
from einvoice.visualization.markup import EMPTY, Markup, tag

_ADVANCE_PAYMENT: Final = "SpecifiedAdvancePayment"
#: The elements of an advance payment of Factur-X EXTENDED, and what they state.
_PARTS: Final = {
    "PaidAmount": "amount",
    "FormattedReceivedDateTime": "received",
    "IncludedTradeTax/CalculatedAmount": "tax",
    "IncludedTradeTax/TypeCode": "tax_type",
    "IncludedTradeTax/CategoryCode": "category",
    "IncludedTradeTax/RateApplicablePercent": "rate",
    "InvoiceSpecifiedReferencedDocument/IssuerAssignedID": "number",
    "InvoiceSpecifiedReferencedDocument/FormattedIssueDateTime": "issued",
}
_CENT: Final = Decimal("0.01")


def down_payment_note(context: PageContext) -> Note | None:
    """Return the note (BT-22) in which a draft wrote the down payments; None if there is none."""
    return next((it for it in context.invoice.notes if _of_note(context, it)), None)


def deducted(context: PageContext) -> Sequence[DownPayment]:
    """Return the down payments that the invoice deducts: those of a note, or of Factur-X EXTENDED (BG-X-45)."""
    if note := down_payment_note(context):
        return _of_note(context, note)
    found = [_advance_payment(it) for it in context.further.of(context.invoice, _ADVANCE_PAYMENT)]
    return [] if None in found else [it for it in found if it]


def is_final(context: PageContext) -> bool:
    """Whether the invoice (380) states the down payments that its paid amount consists of."""
    total = sum(it.amount for it in deducted(context))
    return (context.invoice.type_code.text or "380") == "380" and 0 < total == context.invoice.totals.paid.number


def _of_note(context: PageContext, note: Note) -> Sequence[DownPayment]:
    total = _total(context)
    return [] if total is None or note.text is absent else read_note(note.text.raw, total, context.currency)


def _advance_payment(element: Any) -> DownPayment | None:
    """Return an advance payment of Factur-X EXTENDED with one VAT rate; None if it says anything else."""
    parts: dict[str, str] = {}
    for leaf in leaves(element):
        path = "/".join(local_name(it) for it in leaf.path[1:]).removesuffix("/DateTimeString")
        if path not in _PARTS or _PARTS[path] in parts:
            return None
        parts[_PARTS[path]] = (leaf.element.text or "").strip()
    if (parts.pop("tax_type", "VAT"), parts.pop("category", "S")) != ("VAT", "S"):
        return None
    values = {name: _value(name, text) for name, text in parts.items()}
    return None if None in values.values() or "amount" not in values else DownPayment(**values)


def _value(name: str, text: str) -> Any:
    """Return an amount, a rate, a date or a number of an invoice; None if the text is none."""
    if name == "number":
        return text or None
    value = Date(text).date if name in ("received", "issued") else Amount(text).number
    return value if isinstance(value, Decimal | datetime.date) else None


def down_payments(context: PageContext) -> Markup:
    """Return the invoice total, the down payments and the remainder, each with its VAT; '' without down payments.

    Down payments that are no part of the paid amount, or whose VAT does not fit their rate, stand alone.
    """
    found, total = deducted(context), _total(context)
    if total is None or not found:
        return EMPTY
    if note := down_payment_note(context):
        context.mark_shown(note.text)
    for element in context.further.of(context.invoice, _ADVANCE_PAYMENT):
        context.further.mark_shown(element)
    is_consistent = sum(it.amount for it in found) == context.invoice.totals.paid.number and all(map(_fits, found))
    cells = [_deduction(context, it, with_net=is_consistent) for it in found]
    if is_consistent:
        cells.insert(0, [context.label("invoice_total"), "", "", *_amounts(context, total)])
        cells.append([context.label("remainder"), "", "", *_amounts(context, remainder(total, found))])
    used = [number for number in range(len(cells[0])) if any(it[number] for it in cells)]
    cells = [[it[number] for number in used] for it in cells]
    rows = [_row(it) for it in cells]
    if is_consistent:
        rows[-1] = _row(cells[-1], class_="sum")
    names = (context.label("down_payment"), context.label("received"), context.label("BT-151"))
    amounts = (amount_heading(context, key) for key in ("net", "BT-110", "gross"))
    heads = [it for number, it in enumerate((*names, *amounts)) if number in used]
    columns = [Column(it, is_number=number > 0) for number, it in enumerate(heads)]
    return section(context.label("down_payments"), table(columns, rows, cells), class_="kept")


def _fits(it: DownPayment) -> bool:
    """Whether the VAT of a down payment is that of its rate, up to a cent."""
    if it.tax is None or it.rate is None or it.rate < 0:
        return True
    return abs(it.amount * it.rate / (100 + it.rate) - it.tax) <= _CENT


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


def _deduction(context: PageContext, it: DownPayment, *, with_net: bool) -> list[str]:
    """Return the cells of a down payment, whose amounts are negative; its net amount is computed."""
    name = context.label("down_payment")
    if it.number:
        issued = f" {context.label('dated')} {format_date(it.issued, context.lang)}" if it.issued else ""
        name = context.label("of_invoice").format(number=it.number) + issued
    received = format_date(it.received, context.lang) if it.received else ""
    rate = f"{format_number(it.rate, context.lang)}\u00a0%" if it.rate is not None else ""
    net, tax, gross = map(negated, _amounts(context, it))
    return [name, received, rate, net if with_net else "", tax, gross]


def _amounts(context: PageContext, total: Sum) -> list[str]:
    """Return net amount, VAT and gross amount; '' for those that are not known."""
    numbers = (total.net, total.tax, total.amount)
    return ["" if it is None else format_number(it, context.lang, decimals=2) for it in numbers]
