"""Allowances and charges on the invoice, its totals, and the VAT breakdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from einvoice.visualization.formatting import format_date, format_number
from einvoice.visualization.invoice.context import PageContext, Row, distinct, section
from einvoice.visualization.invoice.lines import amount_heading, negated, reasons, signed_amount, vat_text
from einvoice.visualization.invoice.payment import due_now, retentions
from einvoice.visualization.invoice.tables import Column, table
from einvoice.visualization.markup import EMPTY, Markup, solid, tag

_OF_LINES: Final = ("line_net", "allowances", "charges")
_AFTER_VAT: Final = ("gross", "paid", "rounding")
_MAX_KEPT: Final = 10
_NOT_EXEMPT: Final = ("S", "AE", "O")
"""Categories that are no exemptions: taxable, reverse charge, not subject to VAT."""
#: Amounts that are deducted; the invoice has them without a minus sign.
_DEDUCTED: Final = ("allowances", "paid")
_STATED_RATE: Final = "TaxApplicableTradeCurrencyExchange"
_HALF_CENT: Final = Decimal("0.005")
#: Digits of an exchange rate: the fewest that are of use, and the most decimals.
_MIN_RATE_DIGITS: Final = 3
_MAX_RATE_DECIMALS: Final = 6


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
        Column(context.label("BT-94"), is_number=True),
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
        context.named(kind, reason) if reason else kind,
        context.text(extra.base_amount),
        context.text(extra.percentage),
        "; ".join(vat_text(context, it) for it in extra.taxes),
        signed_amount(context, extra),
    ]


def _logistics_charge(context: PageContext, charge: Any) -> list[str]:
    description = context.text(charge.description) or context.label("logistics")
    vat = "; ".join(vat_text(context, it) for it in charge.taxes)
    return [context.named(context.label("charge"), description), "", "", vat, context.text(charge.amount)]


def totals(context: PageContext) -> Markup:
    """Return the totals with their currency, and the amount due at the end."""
    invoice = context.invoice
    rows = _total_rows(context, invoice.totals, _OF_LINES)
    net = _total_rows(context, invoice.totals, ("net",))
    rows = net if [text for _, text in rows] == [text for _, text in net] else rows + net
    for total in invoice.tax_totals:
        rows += _tax_total(context, total)
    rows += _total_rows(context, invoice.totals, _AFTER_VAT)
    rows += _of_third_parties(context)
    body = [_total_row(*it) for it in rows]
    if due := context.text(invoice.totals.due, currency=True):
        body.append(_total_row(context.label("BT-115"), due, class_="due"))
    body += [_total_row(*it) for it in _retained(context)]
    return tag("table", tag("tbody", *body), class_="totals") if body else EMPTY


def _total_row(key: str, text: str, **attributes: str) -> Markup:
    return tag("tr", tag("th", key, scope="row"), tag("td", text, class_="n"), **attributes)


def _tax_total(context: PageContext, total: Any) -> list[Row]:
    """Return the VAT total; one in the accounting currency (BT-111) names its currency."""
    rows = context.rows(total, "amount", currency=True)
    currency = (total.amount.currency or "").strip()
    if not rows or currency in ("", context.currency):
        return rows
    rows = [(context.label("tax_in").format(currency=currency), rows[0][1])]
    if rate := _exchange_rate(context, total.amount):
        rows.append((context.label("exchange_rate"), f"1\u00a0{context.currency} = {rate}\u00a0{currency}"))
    return rows


def _exchange_rate(context: PageContext, amount: Any) -> str:
    """Return the rate that both VAT totals imply, to the decimals that amounts in cents prove; '' if they prove none.

    EN 16931 has no term for the exchange rate; Factur-X EXTENDED states it (BG-X-26), and then it is not computed.
    """
    if context.further.of(context.invoice, _STATED_RATE):
        return ""
    totals = [it.amount for it in context.invoice.tax_totals]
    own = next((it.number for it in totals if (it.currency or "").strip() == context.currency), None)
    other = amount.number
    if not isinstance(own, Decimal) or not isinstance(other, Decimal) or own * other <= 0:
        return ""
    rate = other / own
    uncertain = rate * _HALF_CENT * (1 / abs(own) + 1 / abs(other))
    decimals = min(-uncertain.adjusted() - 1, _MAX_RATE_DECIMALS)
    rounded = round(rate, max(decimals, 0))
    is_proven = decimals >= 0 and rounded.adjusted() + decimals >= _MIN_RATE_DIGITS - 1
    return format_number(rounded, context.lang) if is_proven else ""


def _retained(context: PageContext) -> Iterator[Row]:
    """Yield the retentions that the payment terms agree, and what is to be paid now."""
    found = retentions(context)
    for it in found:
        key = "retained_until" if it.until else "retained"
        date = format_date(it.until, context.lang) if it.until else ""
        yield context.label(key).format(date=date), context.money(-it.amount)
    if found:
        yield context.label("due_now"), context.money(due_now(context))


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
        key = distinct(context.text(payment.type), context.text(payment.description))
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
    texts = [[name, *numbers] for name, numbers in found]
    return section(context.label("vat"), table(columns, rows, texts), class_=_kept(rows))


def _kept(rows: Sequence[Markup]) -> str:
    """Return the CSS class of a section: a short one stays on one page."""
    return "kept" if len(rows) <= _MAX_KEPT else ""


def _vat_subtotal(context: PageContext, subtotal: Any) -> tuple[Markup, list[str]]:
    if subtotal.is_vat:
        context.mark_shown(subtotal.scheme)
    kind = "" if subtotal.is_vat else context.text(subtotal.scheme)
    category = context.text(subtotal.category, "vat_categories")
    reason, code = _exemption_reason(context, subtotal)
    key = "vat_note" if subtotal.category.text in _NOT_EXEMPT else "BT-120"
    small = [context.named(context.label(key), reason)] if reason else []
    if reason and _says(reason, category):
        category, small = small[0], []
    name = ", ".join(filter(None, (category, kind)))
    numbers = [context.text(it) for it in (subtotal.rate, subtotal.taxable_amount, subtotal.tax_amount)]
    details = solid(" ".join(filter(None, (*small, f"({code})" if code else ""))))
    return tag("td", name[:1].upper() + name[1:], tag("p", details, class_="small") if details else EMPTY), numbers


def _says(reason: str, category: str) -> bool:
    """Whether a reason has all words of a category's name; what follows a comma there, the label of the reason tells.

    >>> _says("Steuerfreie Ausfuhrlieferung.", "Ausfuhr, steuerfrei"), _says("§ 19 UStG", "steuerbefreit")
    (True, False)
    """
    return all(word in reason.casefold() for word in category.casefold().partition(",")[0].split())


def _exemption_reason(context: PageContext, subtotal: Any) -> tuple[str, str]:
    """Return the reason as text, and its code if that is not the text; without a text, the name of the code."""
    text, code = context.text(subtotal.exemption_reason), context.text(subtotal.exemption_reason_code)
    if text or not code:
        return text, code
    return context.text(subtotal.exemption_reason_code, "exemption_reasons"), ""


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
