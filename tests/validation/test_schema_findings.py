"""Findings of the XML schema: their business terms, and texts for what is missing, repeated or not true or false."""

from __future__ import annotations

import re

import pytest

import einvoice
from einvoice.result import Finding
from tests.helpers.paths import SAMPLES
from tests.helpers.profile_documents import profile_document

UBL = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")
EXTENDED = profile_document("extended").decode()
ALLOWANCE = (
    '<cac:AllowanceCharge><cbc:ChargeIndicator>no</cbc:ChargeIndicator><cbc:Amount currencyID="EUR">0.00</cbc:Amount>'
)
ATTACHED = """<cac:AdditionalDocumentReference><cbc:ID>1</cbc:ID><cac:Attachment><cbc:EmbeddedDocumentBinaryObject
filename="a.pdf">QUJD</cbc:EmbeddedDocumentBinaryObject></cac:Attachment></cac:AdditionalDocumentReference>"""
WEIGHT = """<cac:Delivery><cac:Shipment><cbc:ID>1</cbc:ID><cbc:GrossWeightMeasure>1</cbc:GrossWeightMeasure>
</cac:Shipment></cac:Delivery>"""
PRICE_MEANS = """<cac:AllowanceCharge><cbc:ChargeIndicator>false</cbc:ChargeIndicator>
<cbc:Amount currencyID="EUR">0.00</cbc:Amount><cac:PaymentMeans><cbc:PaymentMeansCode>ABC</cbc:PaymentMeansCode>
</cac:PaymentMeans></cac:AllowanceCharge>"""
LINE_AMOUNT = r"<cbc:LineExtensionAmount[^>]*>[^<]*</cbc:LineExtensionAmount>"
BUYER_REFERENCE = "(<cbc:BuyerReference>.*?</cbc:BuyerReference>)(.*<cac:LegalMonetaryTotal>)"
SUPPLIER = "<cac:AccountingSupplierParty>"


def finding_of(code: str, document: str, old: str, new: str) -> Finding:
    """Return the first finding with the code, after the first match of a regular expression was replaced."""
    changed, count = re.subn(old, new, document, count=1, flags=re.DOTALL)
    assert count == 1
    return next(it for it in einvoice.validate(changed.encode()).findings if it.code == code)


MISSING = [
    (UBL, r"<cac:LegalMonetaryTotal>.*</cac:LegalMonetaryTotal>", ("BG-22",), "BT-106, BT-109, BT-112, BT-115"),
    (UBL, r"(?<=<cac:InvoiceLine>)(.*?)" + LINE_AMOUNT, ("BT-131",), "cbc:LineExtensionAmount"),
    (UBL, r"<cbc:ID>[^<]*</cbc:ID>\s*<cbc:IssueDate>[^<]*</cbc:IssueDate>", ("BT-1", "BT-2"), "cbc:ID (BT-1), cbc:Is"),
    (EXTENDED, r"<ram:GrandTotalAmount>[^<]*</ram:GrandTotalAmount>", ("BT-112",), "ram:GrandTotalAmount"),
]


@pytest.mark.parametrize(("document", "pattern", "terms", "fix"), MISSING)
def test_missing_element_has_its_own_term(document: str, pattern: str, terms: tuple[str, ...], fix: str) -> None:
    kept = r"\1" if "(.*?)" in pattern else ""
    finding = finding_of("SCHEMA-MISSING-ELEMENT", document, pattern, kept)
    assert finding.terms == terms
    assert fix in finding.fix("en")
    assert terms[0] in finding.fix("de")


def test_missing_element_of_an_allowance_has_the_term_of_an_allowance() -> None:
    document = UBL.replace("<cac:TaxTotal>", f"{ALLOWANCE}</cac:AllowanceCharge><cac:TaxTotal>", 1)
    for indicator, term in (("false", "BT-92"), ("true", "BT-99")):
        changed = document.replace(">no<", f">{indicator}<")
        finding = finding_of(
            "SCHEMA-MISSING-ELEMENT", changed, r"(/cbc:ChargeIndicator>)<cbc:Amount.*?/cbc:Amount>", r"\1"
        )
        assert finding.terms == (term,)


def test_text_names_the_missing_group() -> None:
    finding = finding_of("SCHEMA-MISSING-ELEMENT", UBL, MISSING[0][1], "")
    assert finding.title("en") == "Document totals (BG-22): missing"
    assert "Gesamtbeträge der Rechnung (BG-22, cac:LegalMonetaryTotal)" in finding.fix("de")


@pytest.mark.parametrize(
    ("old", "new", "may_go"),
    [
        (
            "<cac:AccountingSupplierParty>",
            r"<cac:ContractDocumentReference> </cac:ContractDocumentReference>\g<0>",
            True,
        ),
        ("(<cac:InvoiceLine>.*?)" + LINE_AMOUNT, r"\1", False),
    ],
)
def test_optional_term_of_an_empty_element_need_not_be_added(old: str, new: str, may_go: bool) -> None:
    fix = finding_of("SCHEMA-MISSING-ELEMENT", UBL, old, new).fix("en")
    assert ("or leave the empty element" in fix) == may_go


def test_contents_of_a_missing_group_are_those_that_it_cannot_lack() -> None:
    """The scheme of an electronic address (BT-34-1) is only required together with the address."""
    finding = finding_of(
        "SCHEMA-MISSING-ELEMENT", UBL, "<cac:AccountingSupplierParty>.*</cac:AccountingSupplierParty>", ""
    )
    assert finding.values["contents"] == "BT-27, BG-5"


SELLER = "<ram:SellerTradeParty>.*</ram:SellerTradeParty>"


def test_missing_group_of_a_profile_has_its_contents_in_the_fix() -> None:
    finding = finding_of("PROFILE-MISSING-ELEMENT", profile_document("basic").decode(), SELLER, "")
    assert finding.fix("en") == (
        "Add: Seller (BG-4, ram:SellerTradeParty), at least with BT-27, BG-5. Keep to the prescribed order."
    )
    assert finding.fix("de").endswith(" mindestens mit BT-27, BG-5. Auf die Reihenfolge achten.")


def test_missing_term_of_a_profile_has_no_contents() -> None:
    document = profile_document("basic").decode()
    finding = finding_of("PROFILE-MISSING-ELEMENT", document, r"<ram:TypeCode>380</ram:TypeCode>", "")
    assert finding.terms == ("BT-3",)
    assert finding.fix("en").endswith("(BT-3, ram:TypeCode). Keep to the prescribed order.")


@pytest.mark.parametrize(("profile", "contents"), [("minimum", "BT-44"), ("basicwl", "BT-44, BG-8")])
def test_contents_of_a_missing_group_are_those_of_the_profile(profile: str, contents: str) -> None:
    document = profile_document(profile).decode()
    finding = finding_of("PROFILE-MISSING-ELEMENT", document, "<ram:BuyerTradeParty>.*</ram:BuyerTradeParty>", "")
    assert finding.values["contents"] == contents


@pytest.mark.parametrize(
    ("code", "old", "new", "situation"),
    [
        ("SCHEMA-MISSING-ELEMENT", MISSING[0][1], "", "contents"),
        ("SCHEMA-MISSING-ELEMENT", MISSING[1][1], r"\1", "term"),
        ("SCHEMA-MISSING-ELEMENT", MISSING[2][1], "", "labelled"),
        ("SCHEMA-REPEATED-ELEMENT", r"(<cbc:IssueDate>.*?</cbc:IssueDate>)", r"\1\1", "equal"),
        ("SCHEMA-UNKNOWN-ELEMENT", BUYER_REFERENCE, r"\1\2\1", "stated_in_line"),
        ("SCHEMA-UNKNOWN-ELEMENT", BUYER_REFERENCE, r"\2\1", "belongs_in"),
        (
            "SCHEMA-UNKNOWN-ELEMENT",
            "cbc:IssueDate>(.*?)</cbc:IssueDate>",
            r"cbc:IssueDates>\1</cbc:IssueDates>",
            "similar",
        ),
        ("SCHEMA-VALUE-BOOLEAN", "<cac:TaxTotal>", f"{ALLOWANCE}</cac:AllowanceCharge><cac:TaxTotal>", "charge"),
        ("SCHEMA-ATTRIBUTE-MISSING", r' currencyID="EUR"', "", "invoice_currency"),
        ("SCHEMA-ATTRIBUTE-MISSING", r">EUR<(.*?) currencyID=\"EUR\"", r">Euro<\1", "currency"),
        (
            "SCHEMA-ATTRIBUTE-MISSING",
            r'(<cbc:BuyerReference>.*?<cac:TaxTotal>\s*<cbc:TaxAmount) currencyID="EUR"',
            r"<cbc:TaxCurrencyCode>SEK</cbc:TaxCurrencyCode>\1",
            "tax_currency",
        ),
        ("SCHEMA-ATTRIBUTE-MISSING", SUPPLIER, ATTACHED + SUPPLIER, "media_type"),
        ("SCHEMA-ATTRIBUTE-MISSING", "<cac:PaymentMeans>", WEIGHT + "<cac:PaymentMeans>", "unit"),
    ],
)
def test_situation_is_selected(code: str, old: str, new: str, situation: str) -> None:
    finding = finding_of(code, UBL, old, new)
    assert {it["key"]: it["value"] for it in finding.entry.situations}[finding.situation] == situation


def test_different_values_of_a_repeated_element_are_not_equal() -> None:
    finding = finding_of(
        "SCHEMA-REPEATED-ELEMENT", UBL, r"(<cbc:IssueDate>)(.*?)(</cbc:IssueDate>)", r"\1\2\3\g<1>2026-01-01\3"
    )
    assert (finding.situation, finding.terms) == ("", ("BT-2",))


def test_missing_currency_is_that_of_the_invoice() -> None:
    document = UBL.replace(">EUR<", ">SEK<").replace('"EUR"', '"SEK"')
    finding = finding_of("SCHEMA-ATTRIBUTE-MISSING", document, r'(<cbc:PayableAmount) currencyID="SEK"', r"\1")
    assert finding.title("en") == "cbc:PayableAmount lacks the currency (currencyID)"
    assert finding.fix("de").endswith("an cbc:PayableAmount ergänzen, mit der Währung der Rechnung: SEK.")


WITH_TAX_CURRENCY = UBL.replace(
    "<cbc:BuyerReference>", "<cbc:TaxCurrencyCode>SEK</cbc:TaxCurrencyCode><cbc:BuyerReference>"
)


def test_missing_currency_of_a_vat_total_is_not_guessed_from_two() -> None:
    finding = finding_of(
        "SCHEMA-ATTRIBUTE-MISSING", WITH_TAX_CURRENCY, r'(<cac:TaxTotal>\s*<cbc:TaxAmount) currencyID="EUR"', r"\1"
    )
    assert finding.fix("en").endswith("(BT-5) or, for the VAT total in the accounting currency, that of BT-6.")
    assert finding.fix("de").endswith("(BT-5) oder, beim Umsatzsteuerbetrag in der Umsatzsteuerwährung, die von BT-6.")
    assert "BT-6: SEK" in finding.explanation("en")


@pytest.mark.parametrize("element", ["TaxAmount", "TaxableAmount"])
def test_missing_currency_in_the_vat_breakdown_is_that_of_the_invoice(element: str) -> None:
    pattern = rf'(<cac:TaxSubtotal>(?:(?!</cac:TaxSubtotal>).)*?<cbc:{element}) currencyID="EUR"'
    finding = finding_of("SCHEMA-ATTRIBUTE-MISSING", WITH_TAX_CURRENCY, pattern, r"\1")
    assert finding.values["invoice_currency"] == "EUR"
    assert "EUR." in finding.fix("de")


@pytest.mark.parametrize(
    ("element", "held"),
    [("rsm:ExchangedDocument", "BT-1, BT-2, BT-3"), ("ram:ApplicableHeaderTradeAgreement", "BG-4, BG-7")],
)
def test_missing_element_without_a_term_names_what_it_must_contain(element: str, held: str) -> None:
    finding = finding_of("SCHEMA-MISSING-ELEMENT", CII, f"<{element}>.*?</{element}>", "")
    assert f"Ergänzen: {element}, mindestens mit {held}." in finding.fix("de")


def test_all_missing_elements_are_listed() -> None:
    document = re.sub(MISSING[0][1], "", UBL, flags=re.DOTALL)
    finding = finding_of("SCHEMA-MISSING-ELEMENT", document, r"<cbc:IssueDate>[^<]*</cbc:IssueDate>", "")
    assert finding.terms == ("BT-2", "BG-22")
    assert finding.title("en") == "Required elements are missing in Invoice: BT-2, BG-22"
    assert "cbc:IssueDate (BT-2), cac:LegalMonetaryTotal (BG-22)" in finding.fix("de")


@pytest.mark.parametrize(
    ("code", "old", "new", "named"),
    [
        ("BR-02", r"<cbc:ID>([^<]*)</cbc:ID>", r"<cbc:Title>\1</cbc:Title>", "cbc:ID"),
        ("BR-13", r"(<)(cbc:TaxExclusiveAmoun)t(.*?</\2)t", r"\1\2\3", "cbc:TaxExclusiveAmount"),
    ],
    ids=["the required one", "misspelt"],
)
def test_missing_term_names_the_element_that_seems_to_have_it(code: str, old: str, new: str, named: str) -> None:
    finding = finding_of(code, UBL, old, new)
    wrong = finding.values["misnamed"]
    assert finding.fix("en").startswith(f"If {wrong} in line {finding.values['misnamed_line']} contains this ")
    assert f", das Element {named} nennen. Sonst: " in finding.fix("de")
    document = re.sub(old, new, UBL, count=1, flags=re.DOTALL)
    causes = einvoice.validate(document.encode(), lang="en").causes()
    assert f"“{wrong}” should be named “{named}”." in causes[0].text()


def test_misspelt_element_of_another_line_is_not_named() -> None:
    lines = UBL.split("<cac:InvoiceLine>")
    lines[1] = re.sub("cbc:InvoicedQuantity", "cbc:InvoicedQuantit", lines[1])
    lines[2] = re.sub("<cbc:InvoicedQuantity.*?</cbc:InvoicedQuantity>", "", lines[2])
    findings = einvoice.validate("<cac:InvoiceLine>".join(lines).encode()).findings
    own, other = (it.values.get("misnamed") for it in findings if it.code == "BR-22")
    assert (own, other) == ("cbc:InvoicedQuantit", None)


# ---------------------------------------------------------------- elements at a place that the schema does not allow

SUMMATION = (
    "(<ram:SpecifiedTradeSettlementLineMonetarySummation>.*?</ram:SpecifiedTradeSettlementLineMonetarySummation>)"
)
HEADER = "(?=</ram:ApplicableHeaderTradeAgreement>)"
CII = (SAMPLES / "cii-invoice.xml").read_text("utf-8")


@pytest.mark.parametrize(
    ("code", "before", "added"),
    [
        ("SCHEMA-ATTRIBUTE-MISSING", "<cac:PaymentMeans>", WEIGHT),
        ("BR-CL-16", "</cac:Price>", PRICE_MEANS),
        ("CII-DT-031", "<ram:CategoryCode>", '<ram:BasisAmount currencyID="EUR">250.00</ram:BasisAmount>'),
        (
            "CII-DT-027",
            "</ram:NetPriceProductTradePrice>",
            "<ram:AssociatedReferencedDocument><ram:FormattedIssueDateTime/></ram:AssociatedReferencedDocument>",
        ),
    ],
)
def test_finding_in_an_element_outside_of_en_16931_says_that_it_may_go(code: str, before: str, added: str) -> None:
    document = UBL if before in UBL else CII
    finding = finding_of(code, document, before, added + before)
    surplus = finding.values["surplus"]
    assert f"<{surplus}" in added
    assert finding.fix("en").startswith(
        f"EN 16931 does not use {surplus} here: leave the whole element out. The following "
    )


def test_copy_of_an_element_names_the_line_where_it_belongs() -> None:
    finding = finding_of("SCHEMA-UNKNOWN-ELEMENT", CII, f"{SUMMATION}(.*){HEADER}", r"\1\2\1")
    line = next(number for number, text in enumerate(CII.splitlines(), 1) if "LineMonetarySummation>" in text)
    assert f"on line {line} of the file, where it belongs (ram:SpecifiedLineTradeSettlement)" in finding.explanation(
        "en"
    )
    assert f"in Zeile {line} der Datei, wo sie hingehört" in finding.explanation("de")
    assert finding.fix("de") == "Die Angabe hier entfernen; dadurch geht nichts verloren."


def test_other_content_is_no_copy_and_has_no_place_if_all_are_taken() -> None:
    changed = r"\1\2<ram:SpecifiedTradeSettlementLineMonetarySummation><ram:LineTotalAmount>7.77</ram:LineTotalAmount>\
</ram:SpecifiedTradeSettlementLineMonetarySummation>"
    finding = finding_of("SCHEMA-UNKNOWN-ELEMENT", CII, f"{SUMMATION}(.*){HEADER}", changed)
    assert finding.situation == ""


def test_element_of_a_line_is_no_copy_of_that_of_another_line() -> None:
    """The second line lacks its net amount; that of the first one is equal, but not the same."""
    line = "(<ram:IncludedSupplyChainTradeLineItem>.*?)" + SUMMATION + "(.*?</ram:IncludedSupplyChainTradeLineItem>)"
    finding = finding_of("SCHEMA-UNKNOWN-ELEMENT", CII, line, r"\1\2\3\2\1\3")
    assert "stated_in_line" not in finding.values
    assert finding.fix("en").startswith(
        "State the content of ram:SpecifiedTradeSettlementLineMonetarySummation in ram:SpecifiedLineTradeSettlement, "
    )


def test_element_in_a_line_with_its_own_is_no_copy_of_that_of_another_line() -> None:
    line = "<ram:IncludedSupplyChainTradeLineItem>.*?</ram:IncludedSupplyChainTradeLineItem>"
    first = re.search(line, CII, re.DOTALL)
    summation = re.search(SUMMATION, CII, re.DOTALL)
    assert first
    assert summation
    own = re.sub(">[0-9.]+<", ">7.77<", summation[1])
    second = (
        first[0]
        .replace(summation[1], own)
        .replace("</ram:SpecifiedTradeProduct>", f"{summation[1]}</ram:SpecifiedTradeProduct>")
    )
    finding = finding_of("SCHEMA-UNKNOWN-ELEMENT", CII, line, first[0] + second)
    assert "stated_in_line" not in finding.values


def test_name_that_several_elements_contain_has_no_place() -> None:
    """A cbc:ID means something else in each of them."""
    finding = finding_of(
        "SCHEMA-UNKNOWN-ELEMENT", UBL, r"(<cbc:ID>[^<]*</cbc:ID>)(.*<cac:LegalMonetaryTotal>)", r"\1\2\1"
    )
    assert finding.situation == ""


@pytest.mark.parametrize(
    ("document", "element", "term"),
    [(CII, "ram:ActualDeliverySupplyChainEvent", "BT-72"), (CII, "ram:OccurrenceDateTime", "BT-72"),
     (CII, "ram:IssueDateTime", "BT-2"), (UBL, "cac:OrderReference", "BT-13"), (UBL, "cac:Country", "BT-40"),
     (UBL, "cac:Item", "")],
)  # fmt: skip
def test_repeated_element_with_a_single_value_has_its_term(document: str, element: str, term: str) -> None:
    finding = finding_of("SCHEMA-REPEATED-ELEMENT", document, f"(<{element}>.*?</{element}>)", r"\1\1")
    assert finding.terms == ((term,) if term else ())


def test_several_elements_in_the_wrong_place_have_the_whole_order() -> None:
    document = UBL.replace("<cbc:ID>", "<cbc:Note>Danke.</cbc:Note><cbc:UUID>1</cbc:UUID><cbc:ID>", 1)
    found = [it for it in einvoice.validate(document.encode(), lang="en").findings if it.code == "SCHEMA-ELEMENT-ORDER"]
    assert any("cbc:ID, cbc:UUID, cbc:IssueDate" in it.fix() for it in found)


@pytest.mark.parametrize(
    ("mandate", "emptied"),
    [
        ("<cbc:MandateTypeCode>CORE</cbc:MandateTypeCode>", True),
        ("<cbc:ID>M-1</cbc:ID><cbc:MandateTypeCode>CORE</cbc:MandateTypeCode>", False),
    ],
)
def test_removal_names_the_element_that_would_be_empty(mandate: str, emptied: bool) -> None:
    added = f"<cac:PaymentMandate>{mandate}</cac:PaymentMandate></cac:PaymentMeans>"
    finding = finding_of("UBL-CR-435", UBL, "</cac:PaymentMeans>", added)
    assert ("Without it, cac:PaymentMandate would be empty" in finding.fix("en")) is emptied


@pytest.mark.parametrize(("extension", "is_known"), [("", True), ("#conformant#urn:fdc:nen.nl:gaccount:v1.0", False)])
def test_element_of_an_extension_that_is_not_here_is_not_to_be_left_out(extension: str, is_known: bool) -> None:
    nlcius = "urn:cen.eu:en16931:2017#compliant#urn:fdc:nen.nl:nlcius:v1.0"
    document = re.sub("urn:cen.eu:en16931:2017[^<]*", nlcius + extension, UBL)
    amount = "<cac:PaymentTerms><cbc:Amount currencyID='EUR'>x</cbc:Amount>"
    finding = finding_of("SCHEMA-VALUE-NUMBER", document, "<cac:PaymentTerms>.*?(?=</cac:PaymentTerms>)", amount)
    assert ("leave the whole element out" in finding.fix("en")) == is_known
    assert finding.title("en") == "cbc:Amount: “x” is not a valid number"
