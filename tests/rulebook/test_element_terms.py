"""Business terms of elements: where several are possible, the element decides."""

from __future__ import annotations

import re

import pytest
from lxml import etree

import einvoice
from einvoice.syntax import reader
from einvoice.validation.element_terms import terms_of_elements
from tests.helpers.paths import SAMPLES
from tests.helpers.profile_documents import profile_document

ALLOWANCE = """<cac:AllowanceCharge><cbc:ChargeIndicator>{indicator}</cbc:ChargeIndicator>
<cbc:AllowanceChargeReason>x</cbc:AllowanceChargeReason><cbc:Amount currencyID="Euro">0.00</cbc:Amount>
<cac:TaxCategory><cbc:ID>S</cbc:ID><cbc:Percent>19</cbc:Percent><cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme>
</cac:TaxCategory></cac:AllowanceCharge>"""
OBJECT = """<cac:{name}><cbc:ID schemeID="none">Z-4711</cbc:ID><cbc:DocumentTypeCode>130</cbc:DocumentTypeCode>
</cac:{name}>"""


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


@pytest.mark.parametrize(
    ("name", "after", "term"),
    [
        ("AdditionalDocumentReference", "<cac:AccountingSupplierParty>", "BT-18-1"),
        ("DocumentReference", "<cac:Item>", "BT-128-1"),
    ],
)
def test_attribute_of_an_invoiced_object(name: str, after: str, term: str) -> None:
    document = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")
    assert terms_of("BR-CL-07", document.replace(after, OBJECT.format(name=name) + after, 1)) == [term]


@pytest.mark.parametrize(
    ("head", "term"),
    [("<ram:ApplicableHeaderTradeSettlement>", "BG-23"), ("<ram:IncludedSupplyChainTradeLineItem>", "BG-25")],
)
def test_tax_type_of_the_breakdown_or_a_line(head: str, term: str) -> None:
    before, found, after = (SAMPLES / "cii-invoice.xml").read_text("utf-8").partition(head)
    assert terms_of("CII-DT-037", before + found + after.replace("Code>VAT<", "Code>GST<", 1)) == [term]


@pytest.mark.parametrize(("party", "terms"), [("Seller", ("BG-5", "seller")), ("Buyer", ("BG-8", "buyer"))])
def test_element_of_an_address_is_placed_by_its_party(party: str, terms: tuple[str, str]) -> None:
    document = (SAMPLES / "cii-invoice.xml").read_text("utf-8")
    number = "<ram:BuildingNumber>12</ram:BuildingNumber></ram:PostalTradeAddress>"
    head, found, rest = document.partition(f"<ram:{party}TradeParty>")
    changed = head + found + rest.replace("</ram:PostalTradeAddress>", number, 1)
    finding = next(it for it in einvoice.validate(changed.encode()).findings if it.code == "CII-DT-094")
    assert (finding.terms[0], finding.section) == terms


@pytest.mark.parametrize(
    ("old", "new", "code", "terms", "section"),
    [
        ("<ram:Name>Kunde AG</ram:Name>", "", "FX-SCH-A-000030", ("BT-44",), "buyer"),
        (' unitCode="HUR">1<', ' unitCode="Hours">1<', "FX-SCH-A-001059", ("BT-150",), "lines"),
        (
            "<ram:TypeCode>130</ram:TypeCode>",
            "<ram:TypeCode>131</ram:TypeCode>",
            "FX-SCH-A-001127",
            ("BG-25",),
            "lines",
        ),
    ],
)
def test_element_of_a_profile_is_placed_by_its_group(
    old: str, new: str, code: str, terms: tuple[str, ...], section: str
) -> None:
    changed = profile_document("extended").decode().replace(old, new)
    finding = next(it for it in einvoice.validate(changed.encode(), profile="facturx").findings if it.code == code)
    assert (finding.terms, finding.section) == (terms, section)


@pytest.mark.parametrize(("code", "term"), [("130", "BT-18"), ("50", "BT-17"), ("916", "BG-24")])
def test_document_is_a_supporting_document_by_its_type(code: str, term: str) -> None:
    path = ".//{*}ApplicableHeaderTradeAgreement/{*}AdditionalReferencedDocument"
    document = profile_document("extended").replace(b">916<", f">{code}<".encode())
    root = etree.fromstring(document)
    assert terms_of_elements(reader.read(root))[root.find(path)] == (term,)


def test_exemption_reason_of_a_line_is_not_that_of_the_breakdown() -> None:
    document = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")
    head, found, rest = document.partition("<cac:ClassifiedTaxCategory>")
    code = "<cbc:TaxExemptionReasonCode>none</cbc:TaxExemptionReasonCode><cac:TaxScheme>"
    assert terms_of("BR-CL-22", head + found + rest.replace("<cac:TaxScheme>", code, 1)) == ["BG-25"]


@pytest.mark.parametrize("sample", ["ubl-invoice.xml", "cii-invoice.xml"])
def test_tender_of_an_xrechnung_cvd(sample: str) -> None:
    document = (SAMPLES / sample).read_text("utf-8")
    cvd = "xrechnung_3.0#compliant#urn:xeinkauf.de:kosit:xrechnung:cvd_0.9"
    assert terms_of("BR-DE-CVD-02", document.replace("xrechnung_3.0", cvd)) == ["BT-17"]
