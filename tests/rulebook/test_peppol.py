"""Peppol BIS Billing and Self-Billing: where findings point, and what a user of self-billing meets."""

from __future__ import annotations

import re

import pytest
from lxml import etree

import einvoice
from einvoice.rulebook.files.example import Example
from tests.helpers.documents import document_of

RULES = "peppol/PEPPOL-EN16931-R001.toml"  # the examples of its folder start from a Belgian invoice
BILLING, SELF_BILLING = b"poacc:billing", b"poacc:selfbilling"


def document(insert=None, changes=None):
    """Return the bytes of the Belgian invoice, with XML inserted by the XPath of its parent."""
    example = Example("", changes or {}, insert={"UBL": insert or {}})
    return etree.tostring(document_of(example, RULES, "UBL"))


def codes(result):
    return [finding.code for finding in result.findings]


def test_the_invoice_of_the_examples_is_valid():
    result = einvoice.validate(document())
    assert (result.is_valid, codes(result), result.identity.profile) == (True, [], "Peppol BIS Billing")


@pytest.mark.parametrize(
    ("indicator", "wrong", "found"),
    [("false", "AA", ["BR-CL-19", "PEPPOL-EN16931-CL002"]), ("true", "95", ["BR-CL-20", "PEPPOL-EN16931-CL003"])],
)
def test_each_wrong_reason_code_is_reported_at_its_element(indicator, wrong, found):
    code = f"<cbc:AllowanceChargeReasonCode>{wrong}</cbc:AllowanceChargeReasonCode>"
    allowance = f"<cac:AllowanceCharge><cbc:ChargeIndicator>{indicator}</cbc:ChargeIndicator>{code * 3}"
    result = einvoice.validate(document({".": f"{allowance}</cac:AllowanceCharge>"}))
    for expected in found:
        paths = [finding.xpath for finding in result.findings if finding.code == expected]
        assert [re.findall(r"\d+", path.rpartition("/")[2]) for path in paths] == [["1"], ["2"], ["3"]]


def test_a_self_billed_invoice_is_validated_by_its_own_rules():
    self_billed = document(changes={"type_code": "389"}).replace(BILLING, SELF_BILLING)
    result = einvoice.validate(self_billed)
    assert (result.is_valid, codes(result)) == (True, [])
    assert [layer.name for layer in result.stack.layers] == ["schema", "en16931", "peppol-selfbilling", "plausibility"]
    ordinary = einvoice.validate(document().replace(BILLING, SELF_BILLING), lang="en")
    assert codes(ordinary) == ["PEPPOL-EN16931-P0100"]
    assert "389" in ordinary.findings[0].fix()
    assert codes(einvoice.validate(document(changes={"type_code": "389"}))) == ["PEPPOL-EN16931-P0100"]


def test_self_billing_does_not_check_the_currency_of_the_vat_in_a_breakdown():
    billing = document(changes={"vat_breakdown[0].tax_amount": {"raw": "21.00", "currencyID": "SEK"}})
    code = "PEPPOL-EN16931-R051"
    assert code in codes(einvoice.validate(billing))
    assert code not in codes(einvoice.validate(billing.replace(BILLING, SELF_BILLING)))


def test_releases_of_self_billing_differ_in_the_processes():
    numbered = document(changes={"type_code": "389"}).replace(BILLING, SELF_BILLING).replace(b":01:1.0", b":02:1.0")
    older, newer = (einvoice.validate(numbered, ruleset=f"peppol-selfbilling-2026.{month}") for month in (3, 5))
    assert (codes(older), codes(newer)) == ([], ["PEPPOL-EN16931-R007"])


WRONG_GLN = {"raw": "7300010000002", "schemeID": "0088"}


@pytest.mark.parametrize(
    ("path", "term", "section"),
    [
        ("seller.electronic_address", "BT-34", "seller"),
        ("seller.legal_identifier", "BT-30", "seller"),
        ("buyer.electronic_address", "BT-49", "buyer"),
        ("buyer.legal_identifier", "BT-47", "buyer"),
    ],
)
def test_a_number_of_a_party_is_reported_with_its_term(path, term, section):
    result = einvoice.validate(document(changes={path: WRONG_GLN}))
    found = [(it.code, it.terms, it.section) for it in result.findings]
    assert found == [("PEPPOL-COMMON-R040", (term,), section)]


def test_a_number_without_a_business_term_has_none():
    agent = '<cac:AgentParty><cbc:EndpointID schemeID="0088">7300010000002</cbc:EndpointID></cac:AgentParty>'
    result = einvoice.validate(document({"cac:AccountingCustomerParty/cac:Party": agent}))
    terms = {it.code: it.terms for it in result.findings}
    assert terms["PEPPOL-COMMON-R040"] == ()


@pytest.mark.parametrize(
    ("country", "numbers", "expected"),
    [
        ("NO", [("Foretaksregisteret", "TAX"), ("NO974760674MVA", "VAT")], {"NO-R-001": "[2]"}),
        ("SE", [("Godkänd för F-skatt", "TAX"), ("SE556036-07930", "VAT")], {"SE-R-002": "[2]"}),
        ("SE", [("SE556036079301", "VAT"), ("4711", "TAX")], {"SE-R-005": "[2]"}),
    ],
)
def test_a_wrong_registration_number_is_pointed_at(country, numbers, expected):
    registrations = [{"identifier": number, "scheme": scheme} for number, scheme in numbers]
    changes = {"seller.address.country_code": country, "seller.tax_registrations": registrations}
    result = einvoice.validate(document(changes=changes))
    found = {it.code: it.xpath for it in result.findings if it.code in ("NO-R-001", "SE-R-001", "SE-R-002", "SE-R-005")}
    party = "/ubl:Invoice/cac:AccountingSupplierParty/cac:Party"
    assert found == {code: f"{party}/cac:PartyTaxScheme{number}/cbc:CompanyID" for code, number in expected.items()}


def test_the_swedish_rate_of_a_line_leads_the_terms():
    changes = {
        "seller.address.country_code": "SE",
        "seller.tax_registrations": [{"identifier": "SE556036079301", "scheme": "VAT"}],
    }
    result = einvoice.validate(document(changes=changes))
    assert [it.terms[0] for it in result.findings if it.code == "SE-R-006"] == ["BT-119", "BT-152"]


def parties(second):
    """Return the Belgian invoice with a second party of the seller."""
    return document({"cac:AccountingSupplierParty": f"<cac:Party>{second}</cac:Party>"})


def test_each_party_of_a_seller_needs_an_electronic_address():
    address = '<cbc:EndpointID schemeID="0208">0202239951</cbc:EndpointID>'
    code = "PEPPOL-EN16931-R020"
    assert code not in codes(einvoice.validate(parties(address)))
    (finding,) = [it for it in einvoice.validate(parties("")).findings if it.code == code]
    assert finding.xpath.endswith("cac:AccountingSupplierParty/cac:Party[2]")


def test_each_category_of_a_breakdown_is_checked():
    reason = "<cbc:TaxExemptionReasonCode>VATEX-EU-O</cbc:TaxExemptionReasonCode>"
    code = "PEPPOL-EN16931-P0105"

    def found(*categories):
        inserted = "".join(f"<cac:TaxCategory><cbc:ID>{it}</cbc:ID>{reason}</cac:TaxCategory>" for it in categories)
        return codes(einvoice.validate(document({"cac:TaxTotal/cac:TaxSubtotal": inserted}))).count(code)

    assert (found("O", "S"), found("Z", "S"), found("O", "O")) == (1, 2, 0)
    # Two codes in one category match none of the official rules.
    assert code not in codes(einvoice.validate(document({"cac:TaxTotal/cac:TaxSubtotal/cac:TaxCategory": reason * 2})))


@pytest.mark.parametrize(("release", "assertions"), [("2025.11", 159), ("2026.5", 165)])
def test_the_number_of_rules_is_that_of_the_assertions_of_the_official_schematron(release, assertions):
    result = einvoice.validate(document(), ruleset=f"peppol-{release}")
    assert {layer.name: layer.rules for layer in result.stack.layers}["peppol"] == assertions


def test_a_second_seller_in_greece_counts():
    second = """
<cac:AccountingSupplierParty>
  <cac:Party>
    <cac:PostalAddress><cac:Country><cbc:IdentificationCode>GR</cbc:IdentificationCode></cac:Country></cac:PostalAddress>
    <cac:PartyTaxScheme>
      <cbc:CompanyID>EL094259216</cbc:CompanyID>
      <cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme>
    </cac:PartyTaxScheme>
  </cac:Party>
</cac:AccountingSupplierParty>"""
    without = document({".": second}, {"seller.tax_registrations": []})
    assert "GR-R-004-1" in codes(einvoice.validate(without))


EXEMPT = "<cac:TaxCategory><cbc:ID>S</cbc:ID><cbc:TaxExemptionReasonCode>VATEX-EU-G</cbc:TaxExemptionReasonCode>"


@pytest.mark.parametrize(
    ("changes", "insert", "noted"),
    [
        ({"vat_breakdown[0].exemption_reason_code": "VATEX-EU-G"}, {}, False),
        ({}, {".": f"<cac:AllowanceCharge>{EXEMPT}</cac:TaxCategory></cac:AllowanceCharge>"}, True),
    ],
)
def test_only_an_exemption_reason_of_an_allowance_has_a_note_about_its_place(changes, insert, noted):
    result = einvoice.validate(document(insert, changes))
    (finding,) = [finding for finding in result.findings if finding.code == "PEPPOL-EN16931-P0104"]
    assert ["an allowance or a charge" in note.text for note in finding.notes("en")] == [True] * noted


def with_allowance(path, percentage):
    return {f"{path}allowances_and_charges[0]": {"indicator": "false", "amount": "1.00", **percentage}}


@pytest.mark.parametrize(
    ("percentage", "code", "terms"),
    [
        ({"percentage": "10", "base_amount": "20.00"}, "PEPPOL-EN16931-R040", ("BT-136", "BT-92")),
        ({"percentage": "10"}, "PEPPOL-EN16931-R041", ("BT-137", "BT-93")),
        ({"base_amount": "20.00"}, "PEPPOL-EN16931-R042", ("BT-138", "BT-94")),
    ],
)
def test_an_allowance_of_a_line_is_described_with_the_line_and_its_terms(percentage, code, terms):
    for path, term, named in (("lines[0].", terms[0], True), ("", terms[1], False)):
        result = einvoice.validate(document(changes=with_allowance(path, percentage)))
        (finding,) = [finding for finding in result.findings if finding.code == code]
        assert finding.terms[0] == term
        assert finding.title("en").startswith("Line 1: ") is named
        assert term in finding.explanation("en")


def test_the_amount_of_a_line_is_shown_with_its_cents_rounded_half_up():
    """A thirtieth of 158.125 has no end: rounded first and multiplied by 30, it stays below half a cent."""
    price = {"lines[0].price.net": "158.125", "lines[0].price.base_quantity": {"raw": "30", "unitCode": "C62"}}
    changes = {"lines[0].quantity": {"raw": "30", "unitCode": "C62"}, "lines[0].net_amount": "4743.75"}
    found = [it for it in einvoice.validate(document(changes=changes | price)).findings if it.code.endswith("R120")]
    assert ["158.13" in it.fix("en") for it in found] == [True]
