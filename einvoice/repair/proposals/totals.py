"""Adds the document totals (BG-22) that an invoice lacks, calculated from its lines and its VAT breakdown."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from einvoice.editing.edits import Insert
from einvoice.model.calculation import calculate, solve
from einvoice.model.invoice import Invoice
from einvoice.model.values import absent
from einvoice.reconciliation.amounts import is_taxed, round2, total
from einvoice.repair.case import Case, decimal_text, plain_path
from einvoice.repair.proposal import AddGroup, Proposal
from einvoice.syntax.paths import path_of

_GROUP = "BG-22"
_OPTIONAL = ("BT-107", "BT-108")
_SUMS = ("BT-106", *_OPTIONAL)


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal with all totals, if all follow from the invoice.

    The amount due is the total with VAT: what was paid before, only the issuer knows.
    """
    if case.invoice.totals is not absent or not case.invoice.lines:
        return
    amounts = _totals(case.invoice)
    if amounts:
        edits = tuple(_added(case, number, amount) for number, amount in sorted(amounts.items()))
        yield Proposal(edits, terms=(_GROUP,), action=AddGroup(_GROUP), is_total=True)


def _totals(invoice: Invoice) -> dict[str, Decimal]:
    """Return the totals by term; none if an amount is missing from which one of them is calculated."""
    sums, tax = {number: solve(invoice, number).number for number in _SUMS}, _tax(invoice)
    if tax is absent or any(it is None or round2(it) is absent for it in sums.values()):
        return {}
    numbers = {number: [amount] for number, amount in {**sums, "BT-110": tax}.items() if amount is not None}
    for number in ("BT-109", "BT-112", "BT-115"):
        numbers[number] = [calculate(number, numbers)]
    if invoice.tax_totals or not invoice.vat_breakdown:
        del numbers["BT-110"]
    return {number: amount for number, (amount,) in numbers.items() if amount or number not in _OPTIONAL}


def _tax(invoice: Invoice) -> Any:
    """Return the total VAT amount: that of the breakdown, otherwise zero if nothing is taxed."""
    if invoice.vat_breakdown:
        return total(vat.tax_amount.number for vat in invoice.vat_breakdown)
    return absent if is_taxed(invoice) else Decimal(0)


def _added(case: Case, number: str, amount: Any) -> Insert:
    _, *steps = plain_path(path_of(number, case.syntax)).strip("/").split("/")
    attributes = case.currency_attributes
    if case.syntax == "CII" and number == "BT-110" and case.invoice.currency is not absent:
        attributes = {"currencyID": case.invoice.currency.text}
    return Insert(case.xpath(case.root), tuple(steps), decimal_text(amount, 2), attributes)
