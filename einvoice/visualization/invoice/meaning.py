"""What a document means for its reader: statements that its terms prove."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from einvoice.visualization.invoice.context import PageContext
from einvoice.visualization.invoice.further_content import local_name
from einvoice.visualization.markup import EMPTY, Markup, tag

_CORRECTION: Final = "384"
_DIRECT_DEBIT: Final = ("49", "59")
_CARD: Final = ("48", "54", "55")
_DISCOUNT: Final = "ApplicableTradePaymentDiscountTerms"
_LAST_DIGITS: Final = 4
#: Elements that mark a document, and the labels of its mark in the title and in a sentence.
_MARKS: Final = {"TestIndicator": "test", "CopyIndicator": "copy"}


def marks(context: PageContext) -> list[str]:
    """Return what the document is marked as, of "test" and "copy"."""
    elements = context.further.of(context.invoice, *_MARKS)
    return [_MARKS[local_name(it)] for it in elements if "".join(it.itertext()).strip() in ("true", "1")]


def of_document(context: PageContext) -> Markup:
    """Return what the kind of document means: a test, a copy, a correction, or an invoice by the buyer."""
    for element in context.further.of(context.invoice, *_MARKS):
        if "".join(element.itertext()).strip() in ("true", "1"):
            context.further.mark_shown(element)
    texts = [tag("p", context.label(f"{mark}_document"), class_="mark") for mark in marks(context)]
    return _block([*texts, *(tag("p", it) for it in _kind(context))])


def _kind(context: PageContext) -> Iterator[str]:
    code = (context.invoice.type_code.text or "").strip()
    numbers = [it.number.text.strip() for it in context.invoice.preceding_invoices if it.number.text]
    if code == _CORRECTION and numbers:
        yield context.label("correction").format(numbers=", ".join(numbers))
    if context.is_self_billed:
        yield context.label("self_billed")


def discount_terms(context: PageContext) -> list[Any]:
    """Return the payment terms whose date is that of a discount (BG-X-38), if others have the due date."""
    terms = context.invoice.payment_terms
    found = [it for it in terms if context.further.of(it, _DISCOUNT)]
    return found if any(it.due_date for it in terms if it not in found) else []


def of_payment(context: PageContext) -> Markup:
    """Return whether there is anything to pay, and how it is paid."""
    if context.due is None:
        return EMPTY
    return _block([tag("p", it) for it in _payment(context, context.due)])


def _payment(context: PageContext, amount: Decimal) -> Iterator[str]:
    if amount == 0:
        yield _settled(context)
    elif amount < 0 and not context.invoice.is_credit_note:
        yield context.label("negative_due").format(amount=context.money(-amount))
        if any(means.credit_transfer for means in context.invoice.payment_means):
            yield context.label("issuer_account")
    elif amount > 0 and context.invoice.is_credit_note:
        yield context.label("credit_note").format(amount=context.money(amount))
        if any(means.credit_transfer for means in context.invoice.payment_means):
            yield context.label("issuer_account")
    elif amount > 0 and _codes(context) & set(_DIRECT_DEBIT):
        date = context.text(context.invoice.due_date)
        key = "direct_debit_on" if date else "direct_debit"
        yield context.label(key).format(amount=context.money(amount), date=date)


def _settled(context: PageContext) -> str:
    """Return why nothing is left to pay: paid by card, paid, or no amount at all."""
    paid = context.invoice.totals.paid.number
    if not isinstance(paid, Decimal) or paid <= 0:
        return context.label("nothing_due")
    numbers = [it.card.number.text for it in context.invoice.payment_means if it.card and it.card.number.text]
    digits = numbers[0].strip()[-_LAST_DIGITS:] if numbers else ""
    if _codes(context) & set(_CARD) and digits.isdecimal():
        return context.label("paid_by_card").format(amount=context.money(paid), digits=digits)
    return context.label("paid")


def _codes(context: PageContext) -> set[Any]:
    return {(means.code.text or "").strip() for means in context.invoice.payment_means}


def _block(paragraphs: list[Markup]) -> Markup:
    return tag("div", *paragraphs, class_="meaning") if paragraphs else EMPTY
