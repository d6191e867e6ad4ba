"""Business terms of elements: where several are possible, the element decides."""

from __future__ import annotations

import re

import pytest

import einvoice
from tests.helpers.paths import SAMPLES

ALLOWANCE = """<cac:AllowanceCharge><cbc:ChargeIndicator>{indicator}</cbc:ChargeIndicator>
<cbc:AllowanceChargeReason>x</cbc:AllowanceChargeReason><cbc:Amount currencyID="Euro">0.00</cbc:Amount>
<cac:TaxCategory><cbc:ID>S</cbc:ID><cbc:Percent>19</cbc:Percent><cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme>
</cac:TaxCategory></cac:AllowanceCharge>"""


def terms_of(code: str, document: str) -> list[str]:
    return [it.terms[0] for it in einvoice.validate(document.encode()).findings if it.code == code]


@pytest.mark.parametrize(("indicator", "term"), [("false", "BT-92"), ("true", "BT-99")])
def test_amount_of_an_allowance_or_charge(indicator: str, term: str) -> None:
    document = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")
    added = document.replace("<cac:TaxTotal>", ALLOWANCE.format(indicator=indicator) + "<cac:TaxTotal>", 1)
    assert added != document
    assert terms_of("BR-CL-03", added) == [term]


@pytest.mark.parametrize(("name", "term"), [("LineExtensionAmount", "BT-106"), ("PayableAmount", "BT-115")])
def test_amount_of_the_totals(name: str, term: str) -> None:
    document = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")
    head, totals = document.split("<cac:LegalMonetaryTotal>")
    totals = re.sub(rf'(<cbc:{name} currencyID=)"EUR"', r'\1"Euro"', totals, count=1)
    assert terms_of("BR-CL-03", head + "<cac:LegalMonetaryTotal>" + totals) == [term]


@pytest.mark.parametrize(("tax_currency", "term"), [("", "BT-110"), ("Euro", "BT-111")])
def test_vat_total_by_its_currency(tax_currency: str, term: str) -> None:
    document = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")
    document = re.sub(r'(<cac:TaxTotal>\s*<cbc:TaxAmount currencyID=)"EUR"', r'\1"Euro"', document, count=1)
    if tax_currency:
        currency = f"</cbc:DocumentCurrencyCode><cbc:TaxCurrencyCode>{tax_currency}</cbc:TaxCurrencyCode>"
        document = document.replace("</cbc:DocumentCurrencyCode>", currency)
    assert terms_of("BR-CL-03", document) == [term]
