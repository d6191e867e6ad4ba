"""Findings of syntax rules whose texts depend on the elements of the document."""

from __future__ import annotations

import re

import pytest

import einvoice
from einvoice.result import Finding
from tests.helpers.paths import SAMPLES
from tests.helpers.profile_documents import profile_document

CII = (SAMPLES / "cii-invoice.xml").read_text("utf-8")
UBL = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")
NLCIUS = "urn:cen.eu:en16931:2017#compliant#urn:fdc:nen.nl:nlcius:v1.0"
XRECHNUNG = "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
EXTENSION = "#conformant#urn:xeinkauf.de:kosit:extension:xrechnung_3.0"
NAME = "<ram:Name>Report</ram:Name>"
FILE = '<ram:AttachmentBinaryObject mimeCode="text/csv" filename="{}.csv">QUJD</ram:AttachmentBinaryObject>'
ACCOUNT = "<ram:{0}><ram:ID>1</ram:ID></ram:{0}>".format("BuyerDeductibleTaxSpecifiedTradeAccountingAccount")
CODE = "<ram:DescriptionCode>A</ram:DescriptionCode>"
MEANS = """<cac:PaymentMeans><cbc:PaymentMeansCode name="Transfer">58</cbc:PaymentMeansCode></cac:PaymentMeans>
<cac:PaymentMeans><cbc:PaymentMeansCode name="SEPA">58"""
SUPPORTING = """<ram:AdditionalReferencedDocument><ram:IssuerAssignedID>1</ram:IssuerAssignedID>
<ram:TypeCode>916</ram:TypeCode>{}</ram:AdditionalReferencedDocument>"""


def findings_of(document: str, code: str) -> list[Finding]:
    return [it for it in einvoice.validate(document.encode()).findings if it.code == code]


@pytest.mark.parametrize(
    ("code", "one", "other"),
    [("CII-SR-475", NAME, NAME), ("CII-SR-476", FILE.format("a"), FILE.format("b"))],
)
def test_several_supporting_documents_are_distinguished_from_several_entries_of_one(
    code: str, one: str, other: str
) -> None:
    end = "</ram:ApplicableHeaderTradeAgreement>"
    several = SUPPORTING.format(one) + SUPPORTING.format(other)
    (finding,) = findings_of(CII.replace(end, several + end, 1), code)
    assert finding.title("en").startswith("The invoice has several supporting documents with")
    assert finding.fix("en") == "Nothing needs to be changed."
    (finding,) = findings_of(CII.replace(end, SUPPORTING.format(one + other) + end, 1), code)
    assert finding.situation == ""


@pytest.mark.parametrize(
    ("document", "pattern", "added", "code", "terms"),
    [
        (CII, "(?=</ram:ApplicableTradeTax>)", ACCOUNT, "CII-DT-065", ("BG-30",)),
        (CII, r"(?<=</ram:CalculatedAmount>)", ACCOUNT, "CII-DT-065", ("BG-23",)),
        (CII, "(?<=<ram:IncludedSupplyChainTradeLineItem>)", CODE, "CII-SR-035", ("BG-25",)),
        (UBL, r"<cac:PaymentMeans>\s*<cbc:PaymentMeansCode>58", MEANS, "UBL-SR-46", ("BT-82",)),
    ],
)
def test_finding_leads_with_the_term_or_group_of_its_element(
    document: str, pattern: str, added: str, code: str, terms: tuple[str, ...]
) -> None:
    (finding,) = findings_of(re.sub(pattern, added, document, count=1), code)
    assert finding.terms == terms


@pytest.mark.parametrize(
    ("pattern", "by", "place", "fix"),
    [
        ("(<cbc:PayableAmount[^>]*>)[^<]*", r"\1", "cac:LegalMonetaryTotal", "the element cannot be left out"),
        ("(<cbc:TaxPointDate>)[^<]*", r"\1", None, "leave the element out completely"),
    ],
)
def test_value_that_the_schema_requires_is_not_to_be_left_out(
    pattern: str, by: str, place: str | None, fix: str
) -> None:
    date = "<cbc:TaxPointDate>2026-04-01</cbc:TaxPointDate><cbc:DocumentCurrencyCode>"
    document = UBL.replace("<cbc:DocumentCurrencyCode>", date, 1)
    (finding,) = findings_of(re.sub(pattern, by, document, count=1), "SCHEMA-VALUE-EMPTY")
    assert finding.values.get("required_in") == place
    assert fix in finding.fix("en")


def with_blank(document: str, name: str) -> str:
    """Return the document with the first element of that name blank."""
    return re.sub(rf"<{name}>.*?</{name}>", f"<{name}/>", document, count=1, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (re.sub("urn:cen.eu:en16931:2017[^<]*", NLCIUS, CII), "empty-element-check"),
        (profile_document("extended").decode(), "PEPPOL-EN16931-R008"),
    ],
)
def test_blank_delivery_that_the_schema_requires_is_not_to_be_removed(document: str, code: str) -> None:
    (finding,) = findings_of(with_blank(document, "ram:ApplicableHeaderTradeDelivery"), code)
    assert finding.terms == ("BT-72", "BG-15")
    assert "do not remove the element" in finding.fix("en")


@pytest.mark.parametrize(("name", "is_required"), [("cac:TaxScheme", True), ("cac:OrderReference", False)])
def test_blank_element_is_to_be_removed_only_if_the_schema_does_not_require_it(name: str, is_required: bool) -> None:
    (finding,) = findings_of(with_blank(UBL, name), "PEPPOL-EN16931-R008")
    assert ("leave the element out" in finding.fix("en")) is not is_required
    assert ("supprimer l'élément" in finding.fix("fr")) is not is_required
    assert finding.values.get("required_in") == ("cac:PartyTaxScheme" if is_required else None)


@pytest.mark.parametrize("indented", [True, False])
def test_content_of_a_group_is_quoted_with_white_space_between_its_values(indented: bool) -> None:
    category = (
        "<cac:ClassifiedTaxCategory>\n<cbc:ID>S</cbc:ID>\n<cac:TaxScheme>\n<cbc:ID>VAT</cbc:ID>\n</cac:TaxScheme>"
    )
    text = UBL.replace("</cac:Item>", f"{category}\n</cac:ClassifiedTaxCategory></cac:Item>", 1)
    (finding,) = findings_of(text if indented else re.sub(r">\s+<", "><", text), "UBL-SR-48")
    assert finding.values["found"] == "S VAT"


@pytest.mark.parametrize(("name", "number"), [("cbc:DocumentCurrencyCode", "BT-5"), ("cac:Country", "BT-40")])
def test_blank_element_that_the_standard_requires_is_not_to_be_left_out(name: str, number: str) -> None:
    (finding,) = findings_of(with_blank(UBL, name), "PEPPOL-EN16931-R008")
    assert finding.fix("en").endswith(f"{name}: EN 16931 requires this information ({number}).")


def test_blank_group_is_filled_in_if_the_standard_requires_it() -> None:
    (address,) = findings_of(with_blank(UBL, "cac:PostalAddress"), "PEPPOL-EN16931-R008")
    assert (
        address.fix("en")
        == "Fill in cac:AccountingSupplierParty/…/cac:PostalAddress: EN 16931 requires this information (BG-5)."
    )


def test_element_without_a_term_is_not_asked_for_the_contents_of_the_group_around_it() -> None:
    data = UBL.replace("</cac:InvoiceLine>", "<cac:PricingReference/></cac:InvoiceLine>", 1)
    (finding,) = findings_of(data, "PEPPOL-EN16931-R008")
    assert {"contents", "mandatory"}.isdisjoint(finding.values)


@pytest.mark.parametrize(("specification", "contents"), [(f"{XRECHNUNG}{EXTENSION}", True), (XRECHNUNG, False)])
def test_terms_of_an_extension_are_asked_for_only_where_it_is_declared(specification: str, contents: bool) -> None:
    data = re.sub("urn:cen.eu:en16931:2017[^<]*", specification, UBL)
    data = data.replace("<cac:TaxTotal>", "<cac:PrepaidPayment></cac:PrepaidPayment><cac:TaxTotal>", 1)
    (finding,) = findings_of(data, "PEPPOL-EN16931-R008")
    assert ("BT-DEX-001, BT-DEX-002, BT-DEX-003" in finding.fix("en")) is contents


def test_blank_note_can_be_left_out() -> None:
    """BT-22 is required in a note (BG-1), which is the element itself."""
    (finding,) = findings_of(with_blank(UBL, "cbc:Note"), "PEPPOL-EN16931-R008")
    assert "leave the element out" in finding.fix("en")


def test_blank_element_outside_the_standard_may_be_left_out() -> None:
    """The line that contains it is mandatory; the element is not."""
    data = UBL.replace(
        "<cac:ClassifiedTaxCategory>",
        "<cac:Certificate><cac:IssuerParty><cac:FinancialAccount><cac:Country/></cac:FinancialAccount>"
        "</cac:IssuerParty></cac:Certificate><cac:ClassifiedTaxCategory>",
        1,
    )
    found = [it for it in findings_of(data, "PEPPOL-EN16931-R008") if it.xpath.endswith("Country")]
    assert found
    leading = "EN 16931 does not use cac:Certificate here: leave the whole element out."
    assert all(it.fix("en").startswith(leading) for it in found)


# ---------------------------------------------------------------- empty elements

_EMPTY_ROOT = '<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"/>'


@pytest.mark.parametrize(
    ("document", "fix"),
    [
        (_EMPTY_ROOT, "Have the invoice created again, and validate the complete file."),
        (
            re.sub(r"<cbc:ID>[^<]*", "<cbc:ID>", UBL, count=1),
            "Fill in ubl:Invoice/cbc:ID (BT-1); no invoice may leave the element out.",
        ),
        (
            re.sub(r"(<cac:TaxScheme>\s*<cbc:ID>)VAT", r"\1", UBL, count=1),
            "Fill in cac:AccountingSupplierParty/…/cac:TaxScheme/cbc:ID; if there is no content",
        ),
    ],
    ids=["the document", "what each document has", "in a party, without a term"],
)
def test_an_empty_element_is_named_by_its_place(document: str, fix: str) -> None:
    """The tax type of a party is not the party, which EN 16931 requires."""
    result = einvoice.validate(document.encode(), ruleset="xrechnung-3.0.2", lang="en")
    (finding,) = (it for it in result.findings if it.code == "PEPPOL-EN16931-R008")
    assert finding.fix().startswith(fix)


def test_the_registration_without_a_tax_type_is_named_beside_the_vat_identifier() -> None:
    untyped = "<cac:PartyTaxScheme><cbc:CompanyID>231/123/45678</cbc:CompanyID><cac:TaxScheme/></cac:PartyTaxScheme>"
    seller, buyer = (
        findings_of(UBL.replace("<cac:PartyLegalEntity>", f"{untyped}<cac:PartyLegalEntity>", 1), "UBL-SR-53"),
        findings_of(f"{untyped}<cac:PartyLegalEntity>".join(UBL.rsplit("<cac:PartyLegalEntity>", 1)), "UBL-SR-53"),
    )
    assert [it.title("en") for it in seller] == ["The tax registration “231/123/45678” has no tax type"]
    assert "“FC”" in seller[0].fix("en")
    assert "“VAT”" not in seller[0].fix("en")
    assert [it.title("en") for it in buyer] == ["A tax registration has no tax type"]


@pytest.mark.parametrize(("content", "is_without"), [("<ram:ActualAmount>1.00</ram:ActualAmount>", True), ("", False)])
def test_a_discount_without_its_indicator_asks_only_for_it(content: str, is_without: bool) -> None:
    indicator = "" if is_without else "<ram:ChargeIndicator><udt:Indicator>false</udt:Indicator></ram:ChargeIndicator>"
    price = (
        "<ram:GrossPriceProductTradePrice><ram:ChargeAmount>99.00</ram:ChargeAmount><ram:AppliedTradeAllowanceCharge>"
        f"{indicator}{content}</ram:AppliedTradeAllowanceCharge></ram:GrossPriceProductTradePrice>"
    )
    document = CII.replace("<ram:NetPriceProductTradePrice>", f"{price}<ram:NetPriceProductTradePrice>", 1)
    (finding,) = findings_of(document, "CII-SR-119")
    assert (finding.situation == "without_indicator") is is_without


def test_a_reason_for_an_exemption_in_what_is_removed_is_pointed_to_its_place() -> None:
    withheld = (
        '<cac:WithholdingTaxTotal><cbc:TaxAmount currencyID="EUR">0</cbc:TaxAmount>{}</cac:WithholdingTaxTotal>'
        "<cac:LegalMonetaryTotal>"
    )
    reason = """<cac:TaxSubtotal><cbc:TaxAmount currencyID="EUR">0</cbc:TaxAmount><cac:TaxCategory>
        <cbc:TaxExemptionReason>Kleinunternehmer</cbc:TaxExemptionReason><cac:TaxScheme><cbc:ID>VAT</cbc:ID>
        </cac:TaxScheme></cac:TaxCategory></cac:TaxSubtotal>"""
    for content, is_pointed in ((reason, True), ("", False)):
        document = UBL.replace("<cac:LegalMonetaryTotal>", withheld.format(content))
        (finding,) = findings_of(document, "UBL-CR-513")
        assert ("“Kleinunternehmer”, which belongs in the VAT breakdown (BT-120" in finding.fix("en")) is is_pointed


@pytest.mark.parametrize(
    ("element", "number"), [("ram:AssociatedDocumentLineDocument", "BT-127"), ("rsm:ExchangedDocument", "BT-22")]
)
def test_content_of_a_line_is_asked_for_in_its_note(element: str, number: str) -> None:
    note = "<ram:IncludedNote><ram:ContentCode>A</ram:ContentCode><ram:Content>a</ram:Content></ram:IncludedNote>"
    document = profile_document("extended").decode().replace(f"</{element}>", f"{note}</{element}>", 1)
    fixes = [it.fix("en") for it in findings_of(document, "CONTENT-UNCOVERED") if it.values["element"] == "ContentCode"]
    assert fixes
    assert all(f"note ({number})" in it for it in fixes)


@pytest.mark.parametrize("in_same", [True, False])
def test_second_element_is_left_out_if_it_becomes_empty(in_same: bool) -> None:
    second = "<cbc:RegistrationName>Two</cbc:RegistrationName>"
    legal = UBL.rindex("</cac:PartyLegalEntity>")  # that of the buyer
    between = "" if in_same else "</cac:PartyLegalEntity><cac:PartyLegalEntity>"
    (finding,) = findings_of(UBL[:legal] + between + second + UBL[legal:], "UBL-SR-15")
    added = " If this leaves cac:PartyLegalEntity empty, leave that out as well."
    assert finding.fix("en").endswith(added) != in_same


@pytest.mark.parametrize("rate", ["19", "10"])
def test_arithmetic_holds_in_another_standard_too(rate: str) -> None:
    """Where only the tax type differs, that standard may permit it."""
    text = re.sub("urn:cen.eu:en16931:2017[^<]*", "urn:peppol:pint:billing-1@aunz-1", UBL)
    breakdown = re.search("<cac:TaxSubtotal>.*?</cac:TaxSubtotal>", text, re.DOTALL)
    assert breakdown
    changed = re.sub("(<cbc:Percent>)[^<]*", rf"\g<1>{rate}", breakdown[0].replace("<cbc:ID>VAT", "<cbc:ID>GST"))
    finding = findings_of(text.replace(breakdown[0], changed), "BR-CO-17")[0]
    assert ("change nothing" in finding.fix("en")) == (rate == "19")
    assert ("(BT-119) is 10 %" in finding.explanation("en")) == (rate == "10")
