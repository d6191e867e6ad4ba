"""Adds the document totals (BG-22) that an invoice lacks, calculated from its lines and its VAT breakdown."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from einvoice.editing.edits import Insert
from einvoice.model.invoice import Invoice
from einvoice.model.values import absent
from einvoice.reconciliation.amounts import is_taxed, round2, total
from einvoice.repair.case import Case, decimal_text, plain_path
from einvoice.repair.proposal import AddGroup, Proposal
from einvoice.syntax.paths import path_of

_GROUP = "BG-22"


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal with all totals, if all follow from the invoice.

    The amount due is the total with VAT: what was paid before, only the issuer knows.
    """
    if case.invoice.totals is not absent or not case.invoice.lines:
        return
    amounts = _totals(case.invoice)
    if absent not in map(round2, amounts.values()):
        edits = tuple(_added(case, number, amount) for number, amount in amounts.items())
        yield Proposal(edits, terms=(_GROUP,), action=AddGroup(_GROUP), is_total=True)


def _totals(invoice: Invoice) -> dict[str, Any]:
    """Return the totals by term (EN 16931-1, 6.4.3); absent where an amount is missing."""
    lines = total(line.net_amount.number for line in invoice.lines)
    allowances = total(it.amount.number for it in invoice.allowances)
    charges = total(it.amount.number for it in invoice.charges)
    net, tax = lines - allowances + charges, _tax(invoice)
    amounts = {"BT-106": lines, "BT-109": net, "BT-112": net + tax, "BT-115": net + tax}
    if invoice.allowances:
        amounts["BT-107"] = allowances
    if invoice.charges:
        amounts["BT-108"] = charges
    if not invoice.tax_totals and invoice.vat_breakdown:
        amounts["BT-110"] = tax
    return dict(sorted(amounts.items()))


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
