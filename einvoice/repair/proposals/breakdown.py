"""Adds the VAT breakdown of a category and rate that lines, allowances or charges have, and the total VAT amount."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from einvoice.causes.applicability import QUESTION, SAFE, UNSAFE
from einvoice.editing.edits import Edit, Insert
from einvoice.model.calculation import taxed_items
from einvoice.model.values import absent
from einvoice.reconciliation.amounts import key_of, round2, signed_amount, total
from einvoice.repair.case import Case, decimal_text
from einvoice.repair.proposal import AddGroup, Proposal

_REASONS: Final[Mapping[str, str]] = {"AE": "VATEX-EU-AE", "K": "VATEX-EU-IC", "G": "VATEX-EU-G", "O": "VATEX-EU-O"}
"""The only exemption reason code of a category (code list VATEX)."""
_EXEMPT: Final = (*_REASONS, "E")
"""Categories whose breakdown says why there is no VAT."""


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal with all missing breakdowns."""
    invoice = case.invoice
    stated = {key_of(vat) for vat in invoice.vat_breakdown}
    amounts: dict[tuple[str, Any], list[Any]] = {}
    for item in taxed_items(invoice):
        for tax in item.taxes:
            amounts.setdefault(key_of(tax), []).append(signed_amount(item))
    edits: list[Edit] = []
    missing = [key for key in amounts if key not in stated and key[0]]
    sums: list[Decimal] = []
    for number, key in enumerate(missing, 1):
        taxable = total(amounts[key])
        tax = round2(taxable * key[1] / 100)
        if tax is absent:
            return
        edits += _added(case, number, key, taxable, tax)
        sums.append(tax)
    if edits and case.syntax == "UBL" and case.root.find("{*}TaxTotal") is None:
        text = decimal_text(total(sums), 2)
        edits.insert(
            0, Insert(case.xpath(case.root), ("cac:TaxTotal", "cbc:TaxAmount"), text, case.currency_attributes)
        )
    if edits:
        # Only the issuer knows why there is no VAT.
        ceiling = QUESTION if any(category in _EXEMPT for category, _ in missing) else UNSAFE
        yield Proposal(tuple(edits), ceiling, ("BG-23",), AddGroup("BG-23"))


def tax_total(case: Case) -> Iterator[Proposal]:
    """Yield the proposal for the total VAT amount in CII; UBL has it in the element around the breakdowns."""
    invoice = case.invoice
    settlement = "{*}SupplyChainTradeTransaction/{*}ApplicableHeaderTradeSettlement"
    sums = case.root.find(f"{settlement}/{{*}}SpecifiedTradeSettlementHeaderMonetarySummation")
    tax = total(vat.tax_amount.number for vat in invoice.vat_breakdown)
    if sums is None or invoice.tax_totals or not invoice.vat_breakdown or tax is absent:
        return
    attributes = {} if invoice.currency is absent else {"currencyID": invoice.currency.text}
    edit = Insert(case.xpath(sums), ("ram:TaxTotalAmount",), decimal_text(tax, 2), attributes)
    yield Proposal((edit,), SAFE, ("BT-110",), is_total=True)


def _added(case: Case, number: int, key: tuple[str, Any], taxable: Decimal, tax: Decimal) -> Iterator[Edit]:
    """Yield the edits that add a breakdown; `number` counts those that are added."""
    category, rate = key
    amount = case.currency_attributes
    parent, path = _place(case, number)
    contents = {
        "taxable": (decimal_text(taxable, 2), amount),
        "tax": (decimal_text(tax, 2), amount),
        "category": (category, {}),
        "rate": (decimal_text(rate), {}),
        "reason": (_REASONS.get(category, ""), {}),
        "scheme": ("VAT", {}),
    }
    for name, steps in _ELEMENTS[case.syntax].items():
        text, attributes = contents[name]
        if text:
            yield Insert(parent, (*path, *steps), text, attributes)


def _place(case: Case, number: int) -> tuple[str, tuple[str, ...]]:
    """Return the XPath of an existing element, and the path from there to a new breakdown."""
    if case.syntax == "CII":
        transaction = case.root.find("{*}SupplyChainTradeTransaction")
        parent = case.root if transaction is None else transaction
        settlement = parent.find("{*}ApplicableHeaderTradeSettlement")
        known = 0 if settlement is None else len(settlement.findall("{*}ApplicableTradeTax"))
        steps = ("ram:ApplicableHeaderTradeSettlement", f"ram:ApplicableTradeTax[{known + number}]")
        return case.xpath(parent), steps
    tax_total = case.root.find("{*}TaxTotal")
    if tax_total is None:
        return case.xpath(case.root), ("cac:TaxTotal", f"cac:TaxSubtotal[{number}]")
    known = len(tax_total.findall("{*}TaxSubtotal"))
    return case.xpath(tax_total), (f"cac:TaxSubtotal[{known + number}]",)


_ELEMENTS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "UBL": {
        "taxable": ("cbc:TaxableAmount",),
        "tax": ("cbc:TaxAmount",),
        "category": ("cac:TaxCategory", "cbc:ID"),
        "rate": ("cac:TaxCategory", "cbc:Percent"),
        "reason": ("cac:TaxCategory", "cbc:TaxExemptionReasonCode"),
        "scheme": ("cac:TaxCategory", "cac:TaxScheme", "cbc:ID"),
    },
    "CII": {
        "tax": ("ram:CalculatedAmount",),
        "scheme": ("ram:TypeCode",),
        "taxable": ("ram:BasisAmount",),
        "category": ("ram:CategoryCode",),
        "reason": ("ram:ExemptionReasonCode",),
        "rate": ("ram:RateApplicablePercent",),
    },
}
