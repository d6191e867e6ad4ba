"""Allowances and charges on the invoice, its totals, and the VAT breakdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import compress
from typing import Any, Final

from einvoice.model.calculation import round2
from einvoice.visualization.formatting import format_date, format_number
from einvoice.visualization.invoice.context import PageContext, Row, distinct, key_value_table, section
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
_MAX_RATE_DECIMALS: Final = 10


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
    used = [any(texts) for texts in zip(*found, strict=True)]
    found = [list(compress(it, used)) for it in found]
    rows = [tag("tr", tag("td", it[0]), *(tag("td", text, class_="n") for text in it[1:])) for it in found]
    return section(context.label("extras"), table([*compress(columns, used)], rows, found), class_=_kept(rows))


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
    """Return the totals with their currency, and at the end the amount due or what is to be paid of it now."""
    invoice = context.invoice
    rows = _total_rows(context, invoice.totals, _OF_LINES)
    net = _total_rows(context, invoice.totals, ("net",))
    rows = net if [text for _, text in rows] == [text for _, text in net] else rows + net
    for total in invoice.tax_totals:
        if not _is_in_other_currency(context, total):
            rows += context.rows(total, "amount", currency=True)
    rows += _total_rows(context, invoice.totals, _AFTER_VAT)
    rows += _of_third_parties(context)
    body = [_total_row(*it) for it in rows]
    due = [*_amount_due(context)]
    body += [_total_row(*it) for it in due[:-1]]
    body += [_total_row(*it, class_="due") for it in due[-1:]]
    return tag("table", tag("tbody", *body), class_="totals") if body else EMPTY


def _total_row(key: str, text: str, **attributes: str) -> Markup:
    return tag("tr", tag("th", key, scope="row"), tag("td", text, class_="n"), **attributes)


def _is_in_other_currency(context: PageContext, total: Any) -> bool:
    return (total.amount.currency or "").strip() not in ("", context.currency)


def _in_other_currencies(context: PageContext) -> Iterator[Row]:
    """Yield the VAT totals in the accounting currency (BT-111), each with its currency and exchange rate."""
    for total in context.invoice.tax_totals:
        if not _is_in_other_currency(context, total) or not (text := context.text(total.amount)):
            continue
        currency = (total.amount.currency or "").strip()
        yield context.label("tax_in").format(currency=currency), text
        if rate := _exchange_rate(context, total.amount):
            yield context.label("exchange_rate"), f"1\u00a0{context.currency} = {rate}\u00a0{currency}"


def _exchange_rate(context: PageContext, amount: Any) -> str:
    """Return the shortest rate between both VAT totals; '' if they prove less than three of its digits.

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
    proven_digits = rate.adjusted() - uncertain.adjusted()
    rounded = (round(rate, decimals) for decimals in range(_MAX_RATE_DECIMALS + 1))
    exact = next((it for it in rounded if it and round2(own * it) == other), None)
    return format_number(exact, context.lang) if exact and proven_digits >= _MIN_RATE_DIGITS else ""


def _amount_due(context: PageContext) -> Iterator[Row]:
    """Yield the amount due, the retentions that the payment terms agree, and what is to be paid now."""
    yield from context.rows(context.invoice.totals, "due", currency=True)
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
        yield context.named(third_party, key) if key else third_party, context.text(payment.amount, currency=True)
    for adjustment in context.invoice.financial_adjustments:
        yield context.text(adjustment.reason) or third_party, context.text(adjustment.amount, currency=True)


def vat(context: PageContext) -> Markup:
    """Return the VAT by category and rate, with exemption reasons."""
    found = [_vat_subtotal(context, it) for it in context.invoice.vat_breakdown]
    _mark_repeated_reasons(context)
    others = key_value_table(_in_other_currencies(context), "facts wide")
    if not found:
        return section(context.label("vat"), others)
    columns = [
        Column(context.label("BT-118")),
        Column(context.label("BT-119"), is_number=True),
        Column(amount_heading(context, "BT-116"), is_number=True),
        Column(amount_heading(context, "BT-117"), is_number=True),
    ]
    rows = [tag("tr", name, *(tag("td", it, class_="n") for it in numbers)) for name, numbers in found]
    texts = [[name, *numbers] for name, numbers in found]
    return section(context.label("vat"), table(columns, rows, texts), others, class_=_kept(rows))


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
    is_told = reason.strip(" .").casefold() in category.casefold()
    named = "" if is_told else context.named(context.label(key), reason)
    in_list = f"({context.label('listed').format(code=code)})" if code else ""
    small = [it for it in (" ".join(filter(None, (named, in_list))),) if it]
    name = ", ".join(filter(None, (category, kind)))
    numbers = [context.text(it) for it in (subtotal.rate, subtotal.taxable_amount, subtotal.tax_amount)]
    small += [context.named(*it) for it in context.further_rows(subtotal)]
    details = solid("\u00a0· ".join(small))
    return tag("td", name[:1].upper() + name[1:], tag("p", details, class_="small") if details else EMPTY), numbers


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
