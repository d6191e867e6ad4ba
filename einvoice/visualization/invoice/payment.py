"""The payment section: terms, accounts, cards and mandates."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

from einvoice.visualization import formatting
from einvoice.visualization.formatting import format_number
from einvoice.visualization.invoice.context import PageContext, Row, key_value_table, paragraph, section
from einvoice.visualization.invoice.header import SEPA
from einvoice.visualization.markup import Markup

# XRechnung's structured notation of cash discounts and interest (BR-DE-18).
_CONDITION: Final = re.compile(
    r"#(SKONTO|VERZUG)#TAGE=([0-9]+)#PROZENT=([0-9]+\.[0-9]{2})#(?:BASISBETRAG=(-?[0-9]+\.[0-9]{2})#)?"
)
_NAMES: Final = {"SKONTO": "skonto", "VERZUG": "interest"}


def payment(context: PageContext) -> Markup:
    """Return the payment section; '' if there is no payment data."""
    invoice = context.invoice
    terms = [conditions(context, context.text(it.note)) for it in invoice.payment_terms]
    rows: list[Row] = []
    for means in invoice.payment_means:
        rows += _means(context, means)
    rows += context.rows(invoice, "remittance_information")
    for it in invoice.payment_terms:
        rows += context.rows(it, "mandate_reference")
    rows += _creditor(context)
    notes = [paragraph(text) for text in terms if text]
    return section(context.label("payment"), *notes, key_value_table(rows, "facts wide"), class_="payment")


def conditions(context: PageContext, note: str) -> str:
    """Return payment terms as text; XRechnung's structured notation is put into words."""
    return "\n".join(_condition(context, line) for line in note.splitlines()).strip()


def _condition(context: PageContext, line: str) -> str:
    match = _CONDITION.fullmatch(line.strip())
    if match is None:
        return line
    kind, days, percent, base = match.groups()
    values = {"days": days, "percent": f"{format_number(Decimal(percent), context.lang)}\u00a0%"}
    if base is None:
        return context.label(_NAMES[kind]).format(**values)
    amount = f"{format_number(Decimal(base), context.lang, decimals=2)}\u00a0{context.currency}".strip()
    return context.label(f"{_NAMES[kind]}_base").format(**values, base=amount)


def _means(context: PageContext, means: Any) -> list[Row]:
    rows = context.coded(means, "code", "payment_means")
    rows += context.rows(means, "description")
    transfers = (means.credit_transfer, *means.credit_transfer.more) if means.credit_transfer else ()
    for transfer in transfers:
        rows += _account(context, transfer.identifier)
        rows += _account(context, transfer.proprietary_identifier)
        rows += context.rows(transfer, "name")
    rows += context.rows(means, "service_provider")
    if means.card:
        rows += context.rows(means.card, "number", "holder")
    if means.direct_debit:
        rows += context.rows(means.direct_debit, "mandate_reference")
        rows += _account(context, means.direct_debit.debited_account, context.label("BT-91"))
    return rows + context.rows(means, "remittance_information")


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
