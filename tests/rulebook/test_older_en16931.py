"""Older releases of the EN 16931 rules, compared with the official stylesheet of each release."""

from __future__ import annotations

from typing import Any

import pytest
from lxml import etree

import einvoice
from einvoice.resources import shipped
from einvoice.rulebook.files.example import Example
from einvoice.rulebook.files.examples import invoice_of
from einvoice.syntax.writer import write
from einvoice.syntax.xml import parse
from tests.helpers.documents import insert

UBL, CII = "Invoice", "CrossIndustryInvoice"


def vat(category: str, rate: str) -> dict[str, Any]:
    """Return an invoice line of 100.00 and its VAT breakdown, both with this category and rate."""
    tax = {"category": category, "rate": rate, "scheme": "VAT"}
    return {
        "lines[0].taxes": [tax],
        "vat_breakdown[0]": tax | {"taxable_amount": "100.00", "tax_amount": "0", "exemption_reason": "none"},
    }


def inside(element: str, xml: str) -> dict[str, str]:
    """Return the XML to insert into the element with this name."""
    return {f"//{element}": xml}


CLASSIFIED = {
    "lines[0].item.classifications": [{"identifier": {"raw": "94", "listID": "HS"}}, {"identifier": {"raw": "95"}}]
}
UNCLASSIFIED = {"lines[0].item.classifications[0].identifier": {"raw": "94", "listID": " "}}
RATED_CLOSELY = {"lines[0].taxes[0]": {"category": "S", "rate": "19.02", "scheme": "VAT"}}
IGIC_CLOSELY = vat("L", "7") | {"lines[0].taxes[0]": {"category": "L", "rate": "7.02", "scheme": "VAT"}}
NOTHING_TAXED = vat("L", "0") | {"vat_breakdown[0].taxable_amount": "0"}
MINUS_NOTHING = vat("E", "-0.00")
PAID_BACK_NOTHING = vat("E", "0") | {"vat_breakdown[0].tax_amount": "-0.00"}
ALLOWED = {
    "allowances_and_charges[0]": {
        "indicator": "false",
        "amount": "1.00",
        "taxes": [{"category": "Z", "rate": "-0.00", "scheme": "VAT"}],
    }
}
FROM_KOSOVO = {"lines[0].item.origin_country": "1A"}
BELOW_THE_LINE = inside(
    "cac:InvoiceLine",
    "<cac:TaxTotal><cbc:TaxAmount currencyID='EUR'>19.00</cbc:TaxAmount>"
    "<cac:TaxSubtotal><cbc:TaxableAmount currencyID='EUR'>100.00</cbc:TaxableAmount>"
    "<cbc:TaxAmount currencyID='EUR'>19.00</cbc:TaxAmount>"
    "<cac:TaxCategory><cbc:ID>{}</cbc:ID><cbc:Percent>19</cbc:Percent><cac:TaxScheme><cbc:ID>VAT</cbc:ID>"
    "</cac:TaxScheme></cac:TaxCategory></cac:TaxSubtotal></cac:TaxTotal>",
)
S_BELOW, E_BELOW, L_BELOW, K_BELOW = (
    {element: xml.format(category) for element, xml in BELOW_THE_LINE.items()} for category in "SELK"
)
SUMMED_TWICE = inside(
    "ram:SpecifiedLineTradeSettlement",
    "<ram:SpecifiedTradeSettlementLineMonetarySummation><ram:LineTotalAmount>100.00</ram:LineTotalAmount>"
    "</ram:SpecifiedTradeSettlementLineMonetarySummation>",
)
DOUBLED = {"vat_breakdown[0].taxable_amount": "200.00"}
EXEMPT_TWICE = inside(
    "cac:ClassifiedTaxCategory", 2 * "<cbc:TaxExemptionReason>no one pays it</cbc:TaxExemptionReason>"
)
EMPTY_CARD = inside("cac:PaymentMeans", "<cac:CardAccount/>")
AGENT_OF_BUYER, AGENT_OF_SELLER = (
    inside("ram:ApplicableHeaderTradeAgreement", f"<ram:{agent}><ram:ID>1</ram:ID></ram:{agent}>")
    for agent in ("BuyerTaxRepresentativeTradeParty", "SellerTaxRepresentativeTradeParty")
)

#: Changes, inserted XML, root element, rule code, and by release whether the rule fires.
CASES: list[tuple[dict[str, Any], dict[str, str], str, str, dict[str, bool]]] = [
    (MINUS_NOTHING, {}, UBL, "BR-E-05", {"1.3.2": True, "1.3.3": False, "1.3.16": False}),
    (PAID_BACK_NOTHING, {}, UBL, "BR-E-09", {"1.3.2": True, "1.3.3": False}),
    (ALLOWED, {}, UBL, "BR-Z-06", {"1.3.2": True, "1.3.3": False}),
    ({}, S_BELOW, UBL, "BR-S-08", {"1.3.0": True, "1.3.2": True, "1.3.3": False}),
    ({}, E_BELOW, UBL, "BR-E-08", {"1.3.2": True, "1.3.3": False}),
    ({}, E_BELOW, UBL, "BR-E-09", {"1.3.2": True, "1.3.3": False}),
    ({}, E_BELOW, UBL, "BR-E-10", {"1.3.2": True, "1.3.3": False}),
    ({}, L_BELOW, UBL, "BR-IG-08", {"1.3.0": True, "1.3.2": True, "1.3.3": False}),
    ({}, K_BELOW, UBL, "BR-IC-11", {"1.3.2": False, "1.3.3": False}),
    (RATED_CLOSELY, {}, UBL, "BR-S-08", {"1.3.0": False, "1.3.1": True, "1.3.16": True}),
    (IGIC_CLOSELY, {}, UBL, "BR-IG-08", {"1.3.0": False, "1.3.1": True, "1.3.13": True}),
    (NOTHING_TAXED, {}, UBL, "BR-IG-09", {"1.3.0": True, "1.3.2": True, "1.3.3": False}),
    (vat("L", "7"), {}, CII, "BR-AF-08", {"1.3.0": True, "1.3.6": True, "1.3.7": False, "1.3.16": False}),
    ({}, SUMMED_TWICE, CII, "BR-S-08", {"1.3.0": True, "1.3.7": True, "1.3.12": True}),
    (DOUBLED, SUMMED_TWICE, CII, "BR-S-08", {"1.3.0": False, "1.3.7": False, "1.3.12": False}),
    (vat("O", "0") | DOUBLED, SUMMED_TWICE, CII, "BR-O-08", {"1.3.0": False, "1.3.6": False, "1.3.12": False}),
    (vat("Z", "0") | DOUBLED, SUMMED_TWICE, CII, "BR-Z-08", {"1.3.6": False, "1.3.12": False}),
    (vat("E", "0"), SUMMED_TWICE, CII, "BR-E-08", {"1.3.6": True, "1.3.12": True}),
    (CLASSIFIED, {}, CII, "BR-65", {"1.3.8": False, "1.3.10": False, "1.3.11": True, "1.3.16": True}),
    (UNCLASSIFIED, {}, CII, "BR-65", {"1.3.8": False, "1.3.9": True, "1.3.11": True}),
    ({}, EMPTY_CARD, UBL, "BR-51", {"1.3.0": True, "1.3.7": True, "1.3.8": False, "1.3.16": False}),
    ({}, EXEMPT_TWICE, UBL, "UBL-SR-38", {"1.3.0": True, "1.3.6": True, "1.3.7": False, "1.3.16": False}),
    (FROM_KOSOVO, {}, UBL, "BR-CL-15", {"1.3.1": True, "1.3.4": True, "1.3.5": False}),
    (FROM_KOSOVO, {}, CII, "BR-CL-15", {"1.3.1": True, "1.3.4": True, "1.3.5": False}),
    ({"seller.address.country_code": "1A"}, {}, UBL, "BR-CL-14", {"1.3.0": True, "1.3.1": False}),
    ({}, AGENT_OF_BUYER, CII, "CII-SR-282", {"1.3.0": True, "1.3.12": True, "1.3.13": False}),
    ({}, AGENT_OF_SELLER, CII, "CII-SR-282", {"1.3.12": False, "1.3.13": True, "1.3.16": True}),
]
ROWS = [
    pytest.param(changed, inserted, root, code, release, fires, id=f"{code}-{root}-{release}-{number}")
    for number, (changed, inserted, root, code, releases) in enumerate(CASES)
    for release, fires in releases.items()
]


def document(changed: dict[str, Any], inserted: dict[str, str], root: str) -> bytes:
    """Return the invoice of ``base.toml`` with changes and inserted XML."""
    tree = parse(write(invoice_of(Example("", changed), shipped()), root)).getroot()
    insert(tree, inserted)
    return bytes(etree.tostring(tree))


@pytest.mark.parametrize(("changed", "inserted", "root", "code", "release", "fires"), ROWS)
def test_rule_fires_as_in_the_official_stylesheet(
    changed: dict[str, Any], inserted: dict[str, str], root: str, code: str, release: str, fires: bool
) -> None:
    result = einvoice.validate(document(changed, inserted, root), ruleset=f"en16931-{release}")
    assert (code in {finding.code for finding in result.findings}) == fires
