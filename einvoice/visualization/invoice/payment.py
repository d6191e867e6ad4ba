"""How to pay: terms, accounts, cards and mandates."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

from einvoice.visualization import formatting
from einvoice.visualization.invoice.head import SEPA
from einvoice.visualization.invoice.sheet import Row, Sheet, facts, paragraph, section
from einvoice.visualization.markup import Markup

# XRechnung's way to write cash discounts and interest so that programs can read them (BR-DE-18).
_CONDITION: Final = re.compile(
    r"#(SKONTO|VERZUG)#TAGE=([0-9]+)#PROZENT=([0-9]+\.[0-9]{2})#(?:BASISBETRAG=(-?[0-9]+\.[0-9]{2})#)?"
)
_NAMES: Final = {"SKONTO": "skonto", "VERZUG": "interest"}


def payment(sheet: Sheet) -> Markup:
    """Everything about paying; '' where nothing is said."""
    invoice = sheet.invoice
    terms = [conditions(sheet, sheet.text(it.note)) for it in invoice.payment_terms]
    rows: list[Row] = []
    for means in invoice.payment_means:
        rows += _means(sheet, means)
    rows += sheet.rows(invoice, "remittance_information")
    for it in invoice.payment_terms:
        rows += sheet.rows(it, "mandate_reference")
    rows += _creditor(sheet)
    notes = [paragraph(text) for text in terms if text]
    return section(sheet.word("payment"), *notes, facts(rows, "facts wide"), class_="payment")


def conditions(sheet: Sheet, note: str) -> str:
    """Payment terms in words, also those that are written for programs."""
    return "\n".join(_condition(sheet, line) for line in note.splitlines()).strip()


def _condition(sheet: Sheet, line: str) -> str:
    written = _CONDITION.fullmatch(line.strip())
    if written is None:
        return line
    kind, days, percent, base = written.groups()
    values = {"days": days, "percent": f"{formatting.number(Decimal(percent), sheet.lang)}\u00a0%"}
    if base is None:
        return sheet.word(_NAMES[kind]).format(**values)
    amount = f"{formatting.number(Decimal(base), sheet.lang, places=2)}\u00a0{sheet.currency}".strip()
    return sheet.word(f"{_NAMES[kind]}_base").format(**values, base=amount)


def _means(sheet: Sheet, means: Any) -> list[Row]:
    rows = sheet.coded(means, "code", "payment_means")
    rows += sheet.rows(means, "description")
    transfers = (means.credit_transfer, *means.credit_transfer.more) if means.credit_transfer else ()
    for transfer in transfers:
        rows += _account(sheet, transfer.identifier)
        rows += _account(sheet, transfer.proprietary_identifier)
        rows += sheet.rows(transfer, "name")
    rows += sheet.rows(means, "service_provider")
    if means.card:
        rows += sheet.rows(means.card, "number", "holder")
    if means.direct_debit:
        rows += sheet.rows(means.direct_debit, "mandate_reference")
        rows += _account(sheet, means.direct_debit.debited_account, sheet.word("BT-91"))
    return rows + sheet.rows(means, "remittance_information")


def _account(sheet: Sheet, value: Any, label: str = "") -> list[Row]:
    text = sheet.text(value)
    if not text:
        return []
    return [(label or sheet.word("iban" if formatting.is_iban(text) else "account"), formatting.account(text))]


def _creditor(sheet: Sheet) -> list[Row]:
    """The creditor identifier (BT-90): UBL has it among the identifiers of the seller or of the payee."""
    invoice = sheet.invoice
    rows = sheet.rows(invoice, "creditor_identifier")
    marked = [it for party in (invoice.seller, invoice.payee) for it in party.identifiers if it.scheme == SEPA]
    found = "; ".join(filter(None, (sheet.text(it).removesuffix(f" ({SEPA})") for it in marked)))
    return rows + sheet.row("BT-90", found)
