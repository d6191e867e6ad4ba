"""Allowances and charges on the invoice, its totals, and the VAT breakdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from einvoice.visualization.invoice.context import PageContext, Row, section
from einvoice.visualization.invoice.lines import amount_heading, negated, reasons, signed_amount, vat_text
from einvoice.visualization.invoice.tables import Column, table
from einvoice.visualization.markup import EMPTY, Markup, tag

_BEFORE_VAT: Final = ("line_net", "allowances", "charges", "net")
_AFTER_VAT: Final = ("gross", "paid", "rounding")
_MAX_KEPT: Final = 10
_NOT_EXEMPT: Final = ("AE", "O")
"""Categories without VAT that are no exemptions: reverse charge, not subject to VAT."""
#: Amounts that are deducted; the invoice has them without a minus sign.
_DEDUCTED: Final = ("allowances", "paid")


def allowances_and_charges(context: PageContext) -> Markup:
    """Return the allowances and charges on the whole invoice, and the logistics charges of Factur-X EXTENDED."""
    invoice = context.invoice
    found = [_allowance_or_charge(context, it) for it in invoice.allowances_and_charges]
    found += [_logistics_charge(context, it) for it in invoice.logistics_charges]
    if not found:
        return EMPTY
    columns = [
        Column(context.label("reason")),
        Column(amount_heading(context, "base"), is_number=True),
        Column(context.label("BT-119"), is_number=True),
        Column(context.label("BT-151"), is_number=True),
        Column(amount_heading(context, "BT-131"), is_number=True),
    ]
    rows = [tag("tr", tag("td", it[0]), *(tag("td", text, class_="n") for text in it[1:])) for it in found]
    return section(context.label("extras"), table(columns, rows, found), class_=_kept(rows))


def _allowance_or_charge(context: PageContext, extra: Any) -> list[str]:
    context.mark_shown(extra.indicator)
    kind = context.label("charge" if extra.is_charge else "allowance")
    reason = reasons(context, extra)
    return [
        f"{kind}: {reason}" if reason else kind,
        context.text(extra.base_amount),
        context.text(extra.percentage),
        "; ".join(vat_text(context, it) for it in extra.taxes),
        signed_amount(context, extra),
    ]


def _logistics_charge(context: PageContext, charge: Any) -> list[str]:
    description = context.text(charge.description) or context.label("logistics")
    vat = "; ".join(vat_text(context, it) for it in charge.taxes)
    return [f"{context.label('charge')}: {description}", "", "", vat, context.text(charge.amount)]


def totals(context: PageContext) -> Markup:
    """Return the totals with their currency, and the amount due at the end."""
    invoice = context.invoice
    rows = _total_rows(context, invoice.totals, _BEFORE_VAT)
    for total in invoice.tax_totals:
        rows += context.rows(total, "amount", currency=True)
    rows += _total_rows(context, invoice.totals, _AFTER_VAT)
    rows += _of_third_parties(context)
    body = [tag("tr", tag("th", key, scope="row"), tag("td", text, class_="n")) for key, text in rows]
    if due := context.text(invoice.totals.due, currency=True):
        key = "credit_due" if context.invoice.is_credit_note else "BT-115"
        name = tag("th", context.label(key), scope="row")
        body.append(tag("tr", name, tag("td", due, class_="n"), class_="due"))
    return tag("table", tag("tbody", *body), class_="totals") if body else EMPTY


def _total_rows(context: PageContext, group: Any, names: tuple[str, ...]) -> list[Row]:
    rows = []
    for name in names:
        found = context.rows(group, name, currency=True)
        rows += [(key, negated(text) if name in _DEDUCTED else text) for key, text in found]
    return rows


def _of_third_parties(context: PageContext) -> Iterator[Row]:
    """Yield the amounts collected for third parties: of the XRechnung extension, and of Factur-X EXTENDED."""
    third_party = context.label("third_party")
    for payment in context.invoice.third_party_payments:
        key = ", ".join(filter(None, (context.text(payment.type), context.text(payment.description))))
        yield key or third_party, context.text(payment.amount, currency=True)
    for adjustment in context.invoice.financial_adjustments:
        yield context.text(adjustment.reason) or third_party, context.text(adjustment.amount, currency=True)


def vat(context: PageContext) -> Markup:
    """Return the VAT by category and rate, with exemption reasons."""
    found = [_vat_subtotal(context, it) for it in context.invoice.vat_breakdown]
    _mark_repeated_reasons(context)
    if not found:
        return EMPTY
    columns = [
        Column(context.label("BT-118")),
        Column(context.label("BT-119"), is_number=True),
        Column(amount_heading(context, "BT-116"), is_number=True),
        Column(amount_heading(context, "BT-117"), is_number=True),
    ]
    rows = [tag("tr", name, *(tag("td", it, class_="n") for it in numbers)) for name, numbers in found]
    numbers = [["", *numbers] for _, numbers in found]
    return section(context.label("vat"), table(columns, rows, numbers), class_=_kept(rows))


def _kept(rows: Sequence[Markup]) -> str:
    """Return the CSS class of a section: a short one stays on one page."""
    return "kept" if len(rows) <= _MAX_KEPT else ""


def _vat_subtotal(context: PageContext, subtotal: Any) -> tuple[Markup, list[str]]:
    if subtotal.is_vat:
        context.mark_shown(subtotal.scheme)
    kind = "" if subtotal.is_vat else context.text(subtotal.scheme)
    name = ", ".join(filter(None, (context.text(subtotal.category, "vat_categories"), kind)))
    reason = _exemption_reason(context, subtotal)
    numbers = [context.text(it) for it in (subtotal.rate, subtotal.taxable_amount, subtotal.tax_amount)]
    return tag("td", name[:1].upper() + name[1:], tag("p", reason, class_="small") if reason else EMPTY), numbers


def _exemption_reason(context: PageContext, subtotal: Any) -> str:
    """Return the reason once: its text with the code, or else the name of the code."""
    text, code = context.text(subtotal.exemption_reason), context.text(subtotal.exemption_reason_code)
    if not text and code:
        text, code = context.text(subtotal.exemption_reason_code, "exemption_reasons"), ""
    reason = f"{text} ({code})" if code else text
    label = context.label("vat_note" if subtotal.category.text in _NOT_EXEMPT else "BT-120")
    return f"{label}: {reason}" if reason else ""


def _mark_repeated_reasons(context: PageContext) -> None:
    """Mark the exemption reasons of lines, allowances and charges that repeat those of the breakdown as shown."""
    invoice = context.invoice
    texts = {it.exemption_reason.text for it in invoice.vat_breakdown}
    codes = {it.exemption_reason_code.text for it in invoice.vat_breakdown}
    groups: tuple[Any, ...] = (*invoice.lines, *invoice.allowances_and_charges, *invoice.logistics_charges)
    for tax in (tax for group in groups for tax in group.taxes):
        if tax.exemption_reason and tax.exemption_reason.text in texts:
            context.mark_shown(tax.exemption_reason)
        if tax.exemption_reason_code and tax.exemption_reason_code.text in codes:
            context.mark_shown(tax.exemption_reason_code)
