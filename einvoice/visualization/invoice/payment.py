"""The payment section: terms, accounts, cards and mandates."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from typing import Any, Final

from einvoice.model.calculation import round2
from einvoice.model.values import absent
from einvoice.model.worded.payment_terms import Discount, Retention, read_discount, read_retention
from einvoice.visualization import formatting
from einvoice.visualization.formatting import format_number
from einvoice.visualization.invoice import meaning
from einvoice.visualization.invoice.context import PageContext, Row, key_value_table, paragraph, section
from einvoice.visualization.invoice.further_content import leaf_text, leaves, local_name
from einvoice.visualization.invoice.header import SEPA
from einvoice.visualization.markup import Markup

# XRechnung's structured notation of cash discounts and interest (BR-DE-18).
_CONDITION: Final = re.compile(
    r"#(SKONTO|VERZUG)#TAGE=([0-9]+)#PROZENT=([0-9]+\.[0-9]{2})#(?:BASISBETRAG=(-?[0-9]+\.[0-9]{2})#)?"
)
_BIC: Final = re.compile("[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?")
_NAMES: Final = {"SKONTO": "skonto", "VERZUG": "interest"}
_MAX_CARD_DIGITS: Final = 6
#: Days up to which the date of a discount is computed.
_MAX_DAYS: Final = 3650
#: Elements of CII with a discount or interest, and what the elements in them state.
_STRUCTURED: Final = {
    "ApplicableTradePaymentDiscountTerms": "skonto",
    "ApplicableTradePaymentPenaltyTerms": "interest",
}
_PARTS: Final = {
    "BasisDateTime": "date",
    "BasisPeriodMeasure": "period",
    "BasisAmount": "base",
    "CalculationPercent": "percent",
    "ActualDiscountAmount": "amount",
    "ActualPenaltyAmount": "amount",
}


def payment(context: PageContext) -> Markup:
    """Return the payment section; '' if there is no payment data."""
    invoice = context.invoice
    terms = [_terms(context, it) for it in invoice.payment_terms]
    payee = _payee(context)
    *others, rows = [_means(context, it) for it in invoice.payment_means] or [[]]
    (others[0] if others else rows)[:0] = payee
    rows += context.rows(invoice, "remittance_information")
    for it in invoice.payment_terms:
        rows += context.rows(it, "mandate_reference")
    rows += _creditor(context)
    notes = [meaning.of_payment(context), *(paragraph(text) for text in terms if text)]
    tables = [key_value_table(it, "facts wide") for it in (*others, rows)]
    return section(context.label("payment"), *notes, *tables, class_="payment")


def _terms(context: PageContext, terms: Any) -> str:
    """Return payment terms with their due date, if there are several, and their discounts and interest in words."""
    texts = [conditions(context, context.text(terms.note))]
    for element in context.further.of(terms, *_STRUCTURED):
        if text := _structured(context, element):
            texts.append(text)
            context.further.mark_shown(element)
    text = "\n".join(filter(None, texts))
    date = context.text(terms.due_date)
    if date and terms in meaning.discount_terms(context):
        return f"{text} ({context.label('until')} {date})"
    if len(context.invoice.payment_terms) > 1 and date:
        due = context.label("instalment").format(date=date)
        return f"{text} ({due})" if text else due[:1].upper() + due[1:]
    return text


def _structured(context: PageContext, element: Any) -> str:
    """Put a discount or interest of Factur-X EXTENDED (BG-X-38, BG-X-39) into words; '' if it has other content."""
    kind, parts = _STRUCTURED[local_name(element)], {}
    for leaf in leaves(element):
        names = [local_name(it) for it in leaf.path[1:]]
        if not names or names[0] not in _PARTS or _PARTS[names[0]] in parts:
            return ""
        parts[_PARTS[names[0]]] = leaf
    texts = {name: leaf_text(leaf, context.lang, context.currency) for name, leaf in parts.items()}
    period = parts["period"].element.get("unitCode", "DAY") if "period" in parts else ""
    if "percent" not in parts or period not in ("", "DAY"):
        return ""
    key = kind if period else f"{kind}_always"
    days = texts.get("period", "").partition("\u00a0")[0]
    base = texts.get("base", "")
    text = context.label(f"{key}_base" if base else key).format(days=days, percent=texts["percent"], base=base)
    if "date" in texts:
        text += f" ({context.label('from')} {texts['date']})"
    return f"{text}, {context.label('skonto_amount').format(amount=texts['amount'])}" if "amount" in texts else text


def conditions(context: PageContext, note: str) -> str:
    """Return payment terms as text; XRechnung's structured notation is put into words, discounts with their amounts."""
    return "\n".join(_condition(context, line) for line in note.splitlines()).strip()


def _condition(context: PageContext, line: str) -> str:
    match = _CONDITION.fullmatch(line.strip())
    if match is None:
        return _worded(context, line)
    kind, days, percent, base = match.groups()
    values = {"days": days, "percent": f"{format_number(Decimal(percent), context.lang)}\u00a0%"}
    amount = "" if base is None else context.money(Decimal(base))
    text = context.label(f"{_NAMES[kind]}_base" if base else _NAMES[kind]).format(**values, base=amount)
    if kind != "SKONTO":
        return text
    return text + _reduction(context, Discount(int(days), Decimal(percent), Decimal(base) if base else None))


def _worded(context: PageContext, line: str) -> str:
    """Return a line that a draft wrote for a discount or a retention in the language of the page; others unchanged."""
    if discount := read_discount(line.strip(), context.currency):
        return discount.write(context.currency, context.lang) + _reduction(context, discount)
    retention = read_retention(line.strip(), context.currency)
    return retention.write(context.currency, context.lang, formatting.format_date) if retention else line


def _reduction(context: PageContext, discount: Discount) -> str:
    """Return until when a discount is valid, its amount and what is left to pay; '' if the invoice does not tell it."""
    issued, due = context.invoice.issue_date.date, context.due
    if not isinstance(issued, datetime.date) or due is None or due <= 0 or discount.days > _MAX_DAYS:
        return ""
    if context.invoice.is_credit_note or len(context.invoice.payment_terms) > 1:
        return ""
    amount = round2((due if discount.base is None else discount.base) * discount.percent / 100)
    is_told = discount.base is not None or due_now(context) == due
    return context.label("skonto_until" if is_told else "skonto_until_of").format(
        base=context.money(due),
        date=formatting.format_date(issued + datetime.timedelta(days=discount.days), context.lang),
        amount=context.money(amount),
        rest=context.money(due_now(context) - amount),
    )


def retentions(context: PageContext) -> list[Retention]:
    """Return the retentions in the payment terms of an invoice that asks for payment."""
    if context.due is None or context.due <= 0 or context.invoice.is_credit_note:
        return []
    lines = [line for it in context.invoice.payment_terms for line in (it.note.text or "").splitlines()]
    found = [read_retention(line.strip(), context.currency) for line in lines]
    return [it for it in found if it]


def due_now(context: PageContext) -> Decimal:
    """Return the amount due without retentions; 0 if it is no number."""
    return (context.due or Decimal(0)) - sum(it.amount for it in retentions(context))


def _means(context: PageContext, means: Any) -> list[Row]:
    rows = context.coded(means, "code", "payment_means")
    description = context.rows(means, "description")
    rows += [row for row in description if row[1] not in (text for _, text in rows)]
    for transfer in (means.credit_transfer, *means.credit_transfer.more) if means.credit_transfer else ():
        rows += _account(context, transfer.identifier)
        rows += _account(context, transfer.proprietary_identifier)
        rows += context.rows(transfer, "name")
    rows += _bank(context, means)
    if means.card:
        rows += _card(context, means.card)
    if means.direct_debit:
        rows += context.rows(means.direct_debit, "mandate_reference")
        rows += _account(context, means.direct_debit.debited_account, context.label("BT-91"))
    return rows + context.rows(means, "remittance_information")


def _bank(context: PageContext, means: Any) -> list[Row]:
    """Return the bank (BT-86), which some identify by something else than a BIC."""
    text = context.text(means.service_provider)
    return context.row("BT-86" if _BIC.fullmatch(text) else "bank", text)


def _card(context: PageContext, card: Any) -> list[Row]:
    """Return the card; EN 16931 asks for no more than the last four to six digits of its number (BT-87)."""
    number = context.text(card.number)
    is_end = number.isdecimal() and len(number) <= _MAX_CARD_DIGITS
    return context.row("card_ending" if is_end else "BT-87", number) + context.rows(card, "holder")


def _payee(context: PageContext) -> list[Row]:
    """Return who is paid, where the letterhead does not tell it."""
    seller = context.invoice.seller.name if context.is_self_billed else absent
    return context.row("payee", context.text(context.invoice.payee.name or seller))


def _account(context: PageContext, value: Any, label: str = "") -> list[Row]:
    text = context.text(value)
    if not text:
        return []
    return [(label or context.label("iban" if formatting.is_iban(text) else "account"), formatting.account(text))]


def _creditor(context: PageContext) -> list[Row]:
    """Return the creditor identifier (BT-90); in UBL, it is one of the identifiers of the seller or payee."""
    invoice = context.invoice
    rows = context.rows(invoice, "creditor_identifier")
    identifiers = [it for party in (invoice.seller, invoice.payee) for it in party.identifiers if it.scheme == SEPA]
    text = "; ".join(filter(None, (context.text(it).removesuffix(f" ({SEPA})") for it in identifiers)))
    return rows + context.row("BT-90", text)
