"""Allowances and charges on the invoice, its totals, and the VAT breakdown."""

from __future__ import annotations

from typing import Any, Final

from einvoice.visualization.invoice.context import PageContext, Row, section
from einvoice.visualization.invoice.lines import cell, negated, reasons, signed_amount
from einvoice.visualization.markup import EMPTY, Markup, tag

_BEFORE_VAT: Final = ("line_net", "allowances", "charges", "net")
_AFTER_VAT: Final = ("gross", "paid", "rounding")
#: Amounts that are deducted; the invoice has them without a minus sign.
_DEDUCTED: Final = ("allowances", "paid")


def table(heads: list[tuple[str, str]], rows: list[Markup], class_: str = "plain") -> Markup:
    """Return a table; ``heads`` are the column headings with the CSS class of the column."""
    cells = [cell("th", text, kind, scope="col") for text, kind in heads]
    return tag("table", tag("thead", tag("tr", *cells)), tag("tbody", *rows), class_=class_)


def allowances_and_charges(context: PageContext) -> Markup:
    """Return the allowances and charges on the whole invoice."""
    rows = [_allowance_or_charge(context, it) for it in context.invoice.allowances_and_charges]
    if not rows:
        return EMPTY
    heads = [
        (context.label("reason"), ""),
        (context.label("base"), "n"),
        (context.label("BT-119"), "n"),
        (context.label("BT-151"), "n"),
        (_amount_heading(context, "BT-131"), "n"),
    ]
    return section(context.label("extras"), table(heads, rows, "plain extras"))


def _allowance_or_charge(context: PageContext, extra: Any) -> Markup:
    context.mark_shown(extra.indicator, *(tax.scheme for tax in extra.taxes if tax.is_vat))
    kind = context.label("charge" if extra.is_charge else "allowance")
    reason = reasons(context, extra)
    vat = ["\u00a0".join(filter(None, (context.text(it.rate), context.text(it.category)))) for it in extra.taxes]
    return tag(
        "tr",
        tag("td", f"{kind}: {reason}" if reason else kind),
        tag("td", context.text(extra.base_amount), class_="n"),
        tag("td", context.text(extra.percentage), class_="n"),
        tag("td", "; ".join(vat), class_="n"),
        tag("td", signed_amount(context, extra), class_="n"),
    )


def totals(context: PageContext) -> Markup:
    """Return the totals, with the amount due at the end."""
    invoice = context.invoice
    rows = _total_rows(context, invoice.totals, _BEFORE_VAT)
    for total in invoice.tax_totals:
        rows += context.rows(total, "amount")
    rows += _total_rows(context, invoice.totals, _AFTER_VAT)
    rows += _third_parties(context)
    body = [tag("tr", tag("th", key, scope="row"), tag("td", text, class_="n")) for key, text in rows]
    if due := context.text(invoice.totals.due, currency=True):
        name = tag("th", context.label("BT-115"), scope="row")
        body.append(tag("tr", name, tag("td", due, class_="n"), class_="due"))
    return tag("table", tag("tbody", *body), class_="totals") if body else EMPTY


def _total_rows(context: PageContext, group: Any, names: tuple[str, ...]) -> list[Row]:
    rows = []
    for name in names:
        rows += [(key, negated(text) if name in _DEDUCTED else text) for key, text in context.rows(group, name)]
    return rows


def _third_parties(context: PageContext) -> list[Row]:
    rows = []
    for payment in context.invoice.third_party_payments:
        key = ", ".join(filter(None, (context.text(payment.type), context.text(payment.description))))
        rows.append((key or context.label("third_party"), context.text(payment.amount)))
    return rows


def vat(context: PageContext) -> Markup:
    """Return the VAT by category and rate, with exemption reasons."""
    rows = [_vat_subtotal(context, it) for it in context.invoice.vat_breakdown]
    if not rows:
        return EMPTY
    heads = [
        (context.label("BT-118"), ""),
        (context.label("BT-119"), "n"),
        (_amount_heading(context, "BT-116"), "n"),
        (_amount_heading(context, "BT-117"), "n"),
    ]
    return section(context.label("vat"), table(heads, rows, "plain vat"))


def _vat_subtotal(context: PageContext, subtotal: Any) -> Markup:
    if subtotal.is_vat:
        context.mark_shown(subtotal.scheme)
    code = context.text(subtotal.category)
    name = context.code("vat_categories", code).removesuffix(f" ({code})") if code else ""
    reasons = (subtotal.exemption_reason, ""), (subtotal.exemption_reason_code, "exemption_reasons")
    reason = ", ".join(filter(None, (context.text(value, codes) for value, codes in reasons)))
    return tag(
        "tr",
        tag("td", code if name == code else f"{code} – {name}", tag("p", reason, class_="small") if reason else EMPTY),
        tag("td", context.text(subtotal.rate), class_="n"),
        tag("td", context.text(subtotal.taxable_amount), class_="n"),
        tag("td", context.text(subtotal.tax_amount), class_="n"),
    )


def _amount_heading(context: PageContext, number: str) -> str:
    return f"{context.label(number)} {context.currency}".strip()
