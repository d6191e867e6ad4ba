"""A change never makes a finding vanish by making content unread, or by altering a code that is right."""

import re

import pytest

import einvoice
from einvoice.causes.applicability import SAFE
from einvoice.editing.edits import Remove, SetAttribute, SetText, apply
from einvoice.repair import search
from einvoice.repair.loss import loses_terms
from einvoice.repair.proposal import Proposal
from einvoice.repair.proposals.form import proposals as forms
from tests.helpers.cases import case_of
from tests.helpers.paths import ROOT, SAMPLES

UBL, CII = ((SAMPLES / name).read_text("utf-8") for name in ("ubl-invoice.xml", "cii-invoice.xml"))
REGISTERED = (ROOT / "einvoice" / "sample_invoices" / "xrechnung-cii.xml").read_text("utf-8")
TAX_NUMBER = '<ram:SpecifiedTaxRegistration><ram:ID schemeID="FC">123/456</ram:ID></ram:SpecifiedTaxRegistration>'
AGREEMENT = "/rsm:CrossIndustryInvoice/rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeAgreement"
REGISTRATION = f"{AGREEMENT}/ram:SellerTradeParty/ram:SpecifiedTaxRegistration"
QUANTITY = "/ubl:Invoice/cac:InvoiceLine[1]/cbc:InvoicedQuantity"


def changed(document, pattern, text, count=1):
    found = re.sub(pattern, text, document, count=count)
    assert found != document
    return found


def is_lost(document, *edits, turned=()):
    data = document.encode()
    return loses_terms(case_of(data), case_of(apply(data, edits)), edits, turned)


def with_two_registrations():
    """An invoice whose seller has a VAT number, a tax number and a registration number (BT-30)."""
    end = r"(</ram:SpecifiedTaxRegistration>)(\s*</ram:SellerTradeParty>)"
    document = changed(REGISTERED, end, rf"\1{TAX_NUMBER}\2")
    assert not einvoice.validate(document.encode()).findings
    return document


@pytest.mark.parametrize("number", ["123456789", "12 345 67"])
def test_scheme_of_a_vat_number_without_country_is_kept(number):
    wrong = changed(with_two_registrations(), r'(schemeID="VA">)DE\d+', rf"\g<1>{number}")
    result = einvoice.validate(wrong.encode())
    assert "BR-CO-09" in {finding.code for finding in result.findings}
    edits = [edit for cause in result.causes() for change in cause.changes for edit in change.edits]
    assert not [edit for edit in edits if isinstance(edit, SetAttribute) and edit.name == "schemeID"]
    assert result.fixed(unsafe=True).xml.decode().count('schemeID="VA"') == wrong.count('schemeID="VA"')


def test_search_rejects_a_change_that_loses_a_term(monkeypatch):
    wrong = changed(with_two_registrations(), r'(schemeID="VA">)DE\d+', r"\g<1>123456789")
    edit = SetAttribute(f"{REGISTRATION}[1]/ram:ID", "schemeID", "va")
    assert einvoice.validate(apply(wrong.encode(), [edit])).is_valid
    monkeypatch.setattr(search, "proposals", lambda *_: [Proposal((edit,), SAFE)])
    assert not [change for cause in einvoice.validate(wrong.encode()).causes() for change in cause.changes]


@pytest.mark.parametrize("scheme", ["va", "FC", "0088"])
def test_vat_number_of_another_scheme_is_lost(scheme):
    assert is_lost(with_two_registrations(), SetAttribute(f"{REGISTRATION}[1]/ram:ID", "schemeID", scheme))


def test_vat_number_of_the_buyer_is_lost_with_its_tax_scheme():
    scheme = "<cac:PartyTaxScheme><cbc:CompanyID>DE987654321</cbc:CompanyID><cac:TaxScheme><cbc:ID>VAT</cbc:ID>\
</cac:TaxScheme></cac:PartyTaxScheme>"
    head, mark, tail = UBL.partition("<cac:AccountingCustomerParty>")
    document = head + mark + tail.replace("<cac:PartyLegalEntity>", f"{scheme}<cac:PartyLegalEntity>", 1)
    path = "/ubl:Invoice/cac:AccountingCustomerParty/cac:Party/cac:PartyTaxScheme/cac:TaxScheme/cbc:ID"
    assert is_lost(document, SetText(path, "GST"))
    assert not is_lost(document, SetText(path.replace("cac:TaxScheme/cbc:ID", "cbc:CompanyID"), "AT1"))


def test_removed_terms_are_named_by_the_removal():
    reference = "/ubl:Invoice/cbc:BuyerReference"
    assert not is_lost(UBL, Remove(reference))
    assert is_lost(UBL, SetText(reference, " "))
    assert not is_lost(UBL, SetText(reference, "other"))


def test_value_that_can_no_longer_be_read_is_lost():
    assert is_lost(UBL, SetText("/ubl:Invoice/cbc:IssueDate", "1.2.2026"))
    assert is_lost(UBL, SetText(QUANTITY, "twelve"))


def test_reference_of_another_type_is_lost():
    reference = "<cac:AdditionalDocumentReference><cbc:ID>Z-1</cbc:ID><cbc:DocumentTypeCode>130</cbc:DocumentTypeCode>\
</cac:AdditionalDocumentReference>"
    document = UBL.replace("<cac:AccountingSupplierParty>", f"{reference}<cac:AccountingSupplierParty>")
    edit = SetText("/ubl:Invoice/cac:AdditionalDocumentReference/cbc:DocumentTypeCode", "916")
    assert is_lost(document, edit)
    assert not is_lost(document, edit, turned=("BT-18",))


@pytest.mark.parametrize(
    ("document", "pattern", "text"),
    [
        (CII, r'(schemeID="VA">)DE', r"\1"),
        (UBL, r'(<cbc:LineExtensionAmount currencyID="EUR">\d+)\.', r"\1,"),
        (UBL, r'(<cbc:InvoicedQuantity unitCode="C62">)(\d+)', r"\1\2 x"),
        (UBL, r'(<cbc:EndpointID schemeID="EM">)[^<]*', r"\1 "),
        (CII, r'(<udt:DateTimeString format="102">)(\d+)', r"\1x\2"),
    ],
)
def test_attribute_is_not_written_otherwise_for_a_finding_about_its_element(document, pattern, text):
    wrong = changed(document, pattern, text)
    case = case_of(wrong.encode())
    assert case.findings
    assert not [it for it in forms(case) if any(isinstance(edit, SetAttribute) for edit in it.edits)]
