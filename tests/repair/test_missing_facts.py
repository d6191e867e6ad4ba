"""Causes of invoices that lack something: what is missing, once, instead of totals calculated without it."""

import re

import pytest

import einvoice
from einvoice.editing.edits import Insert, SetText, apply
from einvoice.repair.api import Diagnosis
from einvoice.repair.missing import MissingFacts
from einvoice.repair.proposals import proposals
from einvoice.syntax.reader import read
from einvoice.syntax.xml import parse
from tests.benchmarks.invoices import long
from tests.helpers.profile_documents import profile_document

CATEGORY = r"\s*<cac:ClassifiedTaxCategory>.*?</cac:ClassifiedTaxCategory>"
LINE = r"\s*<cac:InvoiceLine>.*?</cac:InvoiceLine>"
TOTALS = ("LegalMonetaryTotal", "TaxTotal", "MonetarySummation")


@pytest.fixture
def ubl(sample):
    return sample("ubl-invoice.xml").read_text(encoding="utf-8")


@pytest.fixture
def cii(sample):
    return sample("cii-invoice.xml").read_text(encoding="utf-8")


def without(text, pattern, count=0):
    changed = re.sub(pattern, "", text, count=count, flags=re.DOTALL)
    assert changed != text
    return changed


def causes_of(text):
    result = einvoice.validate(text.encode(), lang="en")
    causes = result.causes()
    assert sorted(id(it) for cause in causes for it in cause.findings) == sorted(map(id, result.findings))
    return causes


def places(causes):
    edits = [edit for cause in causes for change in cause.changes for edit in change.edits]
    return [edit.parent if isinstance(edit, Insert) else edit.xpath for edit in edits]


def repaired(text, cause):
    (change,) = cause.changes
    return einvoice.validate(apply(text.encode(), change.edits))


# ---------------------------------------------------------------- lines without VAT category


@pytest.mark.parametrize("count", [1, 2, 0], ids=["one line", "two lines", "all lines"])
def test_missing_vat_category_follows_from_the_breakdown(ubl, count):
    text = without(ubl, CATEGORY, count)
    (cause,) = causes_of(text)
    assert set(cause.terms) == {"BT-151", "BT-152"}
    assert not any(total in place for place in places([cause]) for total in TOTALS)
    after = repaired(text, cause)
    assert not after.findings
    taxes = [line.taxes[0] for line in after.invoice.lines]
    assert [(it.category.text, it.rate.number) for it in taxes] == [("S", 19), ("S", 19), ("S", 7)]


def test_missing_vat_category_in_cii(cii):
    line = cii.index("<ram:SpecifiedLineTradeSettlement>")
    tax = r"\s*<ram:ApplicableTradeTax>.*?</ram:ApplicableTradeTax>"
    text = cii[:line] + without(cii[line:], tax, 1)
    (cause,) = causes_of(text)
    assert cause.text("en").startswith("Invoiced item VAT category code (BT-151) of line 1")
    assert not repaired(text, cause).findings


def test_missing_rates_follow_from_the_amounts(ubl):
    text = without(ubl, r"\s*<cbc:Percent>[^<]*</cbc:Percent>")
    (cause,) = causes_of(text)
    assert {"BT-96", "BT-119", "BT-152"} == set(cause.terms)
    assert not repaired(text, cause).findings


def test_categories_that_several_lines_could_have_are_a_question(ubl):
    """Lines of 102.00 at both rates: only the issuer knows which of them has which rate."""
    text = ubl.replace(">99.00<", ">102.00<").replace(">9.90<", ">10.20<").replace(">6.93<", ">7.14<")
    for before, after in (("56.33", "56.54"), ("369.00", "372.00"), ("359.00", "362.00"), ("415.33", "418.54"),
                          ("400.00", "403.21")):  # fmt: skip
        text = text.replace(f">{before}<", f">{after}<")
    assert not einvoice.validate(text.encode()).findings
    causes = causes_of(without(text, CATEGORY))
    assert not any(total in place for place in places(causes) for total in TOTALS)
    assert any(cause.missing == "BG-30" for cause in causes)


# ---------------------------------------------------------------- totals are not calculated from faulty lines


def test_totals_of_missing_lines_are_not_calculated(ubl):
    (cause,) = causes_of(without(ubl, LINE))
    assert (cause.missing, cause.changes) == ("BG-25", ())


def test_totals_of_a_missing_line_are_no_safe_change(ubl):
    """All totals agree with each other: the line is as likely to be missing as they are to be wrong."""
    result = einvoice.validate(without(ubl, LINE, 1).encode())
    assert not result.fixed().is_changed


def test_totals_of_another_rate_are_no_safe_change(ubl):
    """All totals agree with the tax amount: the rate is as likely to be wrong as they are."""
    assert not einvoice.validate(ubl.replace("Percent>19<", "Percent>7<").encode()).fixed().is_changed


def test_line_without_quantity_and_amount_is_only_calculated_if_it_is_alone_in_its_row(ubl):
    line = ubl.index("<cac:InvoiceLine>")
    text = without(ubl[line:], r"\s*<cbc:(?:InvoicedQuantity|LineExtensionAmount)[^>]*>[^<]*</[^>]*>")
    causes = causes_of(ubl[:line] + text)
    assert {cause.missing for cause in causes} - {""} == {"BT-129", "BT-131"}
    assert all(cause.is_question for cause in causes if cause.changes)
    assert {edit.text for cause in causes for change in cause.changes for edit in change.edits} == {"99.00"}


def test_amounts_that_all_lines_lack_are_one_change(ubl):
    line = ubl.index("<cac:InvoiceLine>")
    text = ubl[:line] + without(ubl[line:], r"\s*<cbc:LineExtensionAmount[^>]*>[^<]*</[^>]*>")
    (cause,) = causes_of(text)
    assert cause.terms == ("BT-131",)
    assert not repaired(text, cause).findings


def test_total_tax_is_added_rather_than_taken_from_the_totals(cii):
    text = without(cii, r"\s*<ram:TaxTotalAmount[^>]*>[^<]*</ram:TaxTotalAmount>")
    (cause,) = causes_of(text)
    assert cause.terms == ("BT-110",)
    assert not repaired(text, cause).findings


# ---------------------------------------------------------------- one cause for one fact


TOTALS_OF = {"ubl": r"\s*<cac:LegalMonetaryTotal>.*?</cac:LegalMonetaryTotal>",
             "cii": r"\s*<ram:SpecifiedTradeSettlementHeaderMonetarySummation>.*?"
                    r"</ram:SpecifiedTradeSettlementHeaderMonetarySummation>"}  # fmt: skip


@pytest.mark.parametrize("file", ["ubl", "cii"])
def test_missing_totals_follow_from_lines_and_vat_breakdown(sample, file):
    document = sample(f"{file}-invoice.xml").read_text(encoding="utf-8")
    text = without(document, TOTALS_OF[file])
    cause = next(it for it in causes_of(text) if "BG-22" in it.terms)
    assert cause.text("en") == "Document totals (BG-22) are missing."
    (change,) = cause.changes
    assert not change.safe
    totals, stated = repaired(text, cause).invoice.totals, read(parse(document.encode()).getroot()).totals
    assert (totals.line_net.number, totals.net.number, totals.gross.number) == (
        stated.line_net.number, stated.net.number, stated.gross.number
    )  # fmt: skip
    assert totals.due.number == totals.gross.number
    assert f"Amount due for payment {totals.due.raw}" in change.text("en")


def test_missing_totals_of_an_incomplete_invoice_are_one_cause(ubl):
    text = without(ubl, r"(?<=</cbc:InvoicedQuantity>)\s*<cbc:LineExtensionAmount[^>]*>[^<]*</[^>]*>", 1)
    causes = causes_of(without(without(text, r"\s*<cac:Price>.*?</cac:Price>", 1), TOTALS_OF["ubl"]))
    cause = next(it for it in causes if it.missing == "BG-22")
    assert cause.text("en") == "Document totals (BG-22) are missing. What should be entered?"
    assert "SCHEMA-MISSING-ELEMENT" in {it.code for it in cause.findings}


def test_missing_tax_total_is_one_change(ubl):
    text = without(ubl, r"\s*<cac:TaxTotal>.*?</cac:TaxTotal>")
    (cause,) = causes_of(text)
    assert cause.terms == ("BG-23",)
    assert not repaired(text, cause).findings


def test_missing_tax_total_that_nothing_determines_is_one_cause(ubl):
    text = without(without(ubl, r"\s*<cac:TaxTotal>.*?</cac:TaxTotal>"), r"\s*<cbc:Percent>[^<]*</cbc:Percent>")
    cause = next(it for it in causes_of(text) if it.missing == "BG-23")
    assert {"BR-CO-15", "BR-CO-18"} <= {it.code for it in cause.findings}


def test_missing_price_of_one_line_is_one_cause(ubl):
    (cause,) = causes_of(without(ubl, r"\s*<cac:Price>.*?</cac:Price>", 1))
    assert cause.missing == "BG-29"


def test_missing_amount_of_one_line_explains_the_sums(ubl):
    text = without(ubl, r"\s*<cac:Price>.*?</cac:Price>", 1)
    text = without(text, r"(?<=</cbc:InvoicedQuantity>)\s*<cbc:LineExtensionAmount[^>]*>[^<]*</[^>]*>", 1)
    causes = {cause.missing: cause for cause in causes_of(text)}
    assert set(causes) == {"BG-29", "BT-131"}
    assert {"BR-CO-10", "BR-S-08"} <= {it.code for it in causes["BT-131"].findings}


# ---------------------------------------------------------------- groups without content


@pytest.mark.parametrize(
    ("pattern", "text", "said"),
    [
        (r"(?<=<cac:AccountingCustomerParty>).*?(?=</cac:AccountingCustomerParty>)", "<cac:Party/>",
         "Buyer (BG-7) lacks its content. What"),
        (r"<cac:AccountingSupplierParty>.*?</cac:AccountingSupplierParty>", "<cac:AccountingSupplierParty/>",
         "Seller (BG-4) lacks its content. What"),
        (r"<cac:Price>.*?</cac:Price>", "", "Price details (BG-29) of line 1 are missing. What"),
    ],
)  # fmt: skip
def test_group_without_content_is_not_called_missing(ubl, pattern, text, said):
    document = re.sub(pattern, text, ubl, count=1, flags=re.DOTALL)
    cause = next(it for it in causes_of(document) if it.missing.startswith("BG-"))
    derived = " The other entries give 8.50." if cause.missing == "BG-29" else ""
    assert cause.text("en") == f"{said} should be entered?{derived}"
    assert cause.is_empty == ("content" in said)


def test_optional_group_without_content_can_be_removed(ubl):
    allowance = "<cac:AllowanceCharge><cbc:ChargeIndicator>false</cbc:ChargeIndicator></cac:AllowanceCharge>"
    document = ubl.replace("<cac:Item>", f"{allowance}<cac:Item>", 1)
    (cause,) = (it for it in causes_of(document) if it.missing == "BG-27")
    question = "What should be entered, or should they be removed?"
    assert cause.text("en") == f"Invoice line allowances (BG-27) of line 1 lack their content. {question}"
    assert cause.text("de").endswith(" ist ohne Inhalt. Was ist anzugeben, oder kann es entfallen?")


def test_element_that_the_schema_demands_is_not_to_be_removed(cii):
    """Delivery information is optional, but not its element in CII."""
    (delivery,) = (it for it in einvoice.validate(cii.encode()).invoice.walk() if "BG-13" in type(it).groups)
    case = Diagnosis(
        einvoice.validate(re.sub(r"\s*<ram:BuyerReference>[^<]*</ram:BuyerReference>", "", cii).encode())
    ).case
    assert delivery.node.tag.endswith("ApplicableHeaderTradeDelivery")
    assert not MissingFacts(case, case.findings).lacks_content("BG-13", case.findings)


# ---------------------------------------------------------------- payment means and their account

ACCOUNT = {
    "UBL": (r"<cbc:ID>DE02120300000000202051</cbc:ID>", "<cbc:ID/>"),
    "CII": (r"<ram:IBANID>DE02120300000000202051</ram:IBANID>", "<ram:IBANID/>"),
}


@pytest.mark.parametrize("code", ["30", "58"])
@pytest.mark.parametrize(
    ("syntax", "text", "term", "codes"),
    [
        ("UBL", "", "BT-84", {"BR-50", "BR-61"}),
        ("UBL", "empty", "BT-84", {"BR-50", "PEPPOL-EN16931-R008"}),
        ("CII", "<ram:AccountName>Account</ram:AccountName>", "BT-84", {"BR-50", "BR-61", "CII-SR-470"}),
        ("CII", "empty", "BT-84", {"BR-50", "PEPPOL-EN16931-R008"}),
        ("CII", "no account", "BG-17", {"BR-DE-23-a", "CII-SR-470"}),
    ],
)
def test_code_of_a_credit_transfer_and_its_missing_account_are_one_cause(ubl, cii, code, syntax, text, term, codes):
    """The name of an account does not say that it is none of SEPA, so the code 58 is not at fault."""
    number, empty = ACCOUNT[syntax]
    document = {"UBL": ubl, "CII": cii}[syntax].replace(">58<", f">{code}<")
    if text == "no account":
        element = "ram:PayeePartyCreditorFinancialAccount"
        wrong = re.sub(rf"<{element}>.*?</{element}>", "", document, flags=re.DOTALL)
    else:
        wrong = document.replace(number, empty if text == "empty" else text)
    assert wrong != document
    (cause,) = causes_of(wrong)
    assert cause.missing == term
    assert cause.changes == ()
    assert {finding.code for finding in cause.findings} == codes | ({"BR-DE-19"} if code == "58" else set())


def test_two_account_numbers_are_no_missing_account(cii):
    """Only the Schematron of the Factur-X profiles reports them."""
    specification = re.sub("urn:cen.eu:en16931:2017[^<]*", "urn:factur-x.eu:1p0:basicwl", cii, count=1)
    number = "<ram:ProprietaryID>0202051</ram:ProprietaryID>"
    wrong = specification.replace("</ram:IBANID>", f"</ram:IBANID>{number}")
    cause = next(it for it in causes_of(wrong) if "CII-SR-470" in {finding.code for finding in it.findings})
    assert cause.missing == ""


# ---------------------------------------------------------------- empty elements


@pytest.mark.parametrize(
    ("element", "term"),
    [("cbc:CityName", "BT-37"), ("cbc:BuyerReference", "BT-10"), ("cbc:Name", "BT-153")],
)
def test_empty_term_that_must_be_given_is_a_question(ubl, element, term):
    start = ubl.index("<cac:Item>") if term == "BT-153" else 0
    text = ubl[:start] + re.sub(f"(?<=<{element}>)[^<]+", "", ubl[start:], count=1)
    (cause,) = causes_of(text)
    assert cause.missing == term
    assert cause.changes == ()
    assert len(cause.findings) == 2
    assert cause.text("en").endswith("What should be entered?")


def test_empty_term_that_may_be_left_out_is_removed(ubl):
    text = ubl.replace("<cbc:BuyerReference>", "<cbc:AccountingCost></cbc:AccountingCost><cbc:BuyerReference>", 1)
    (cause,) = causes_of(text)
    assert not repaired(text, cause).findings


def test_empty_price_is_not_removed(ubl):
    text = without(ubl, r"\s*<cbc:PriceAmount[^>]*>[^<]*</cbc:PriceAmount>")
    (cause,) = causes_of(text)
    assert cause.terms == ("BT-146",)
    assert not repaired(text, cause).findings


# ---------------------------------------------------------------- bounds


def test_texts_shorten_identifiers_of_lines_and_names_of_elements(ubl):
    text = ubl.replace("<cbc:ID>2</cbc:ID>", f"<cbc:ID>{'9' * 100_000}</cbc:ID>").replace(">168.00<", ">169.00<")
    result = einvoice.validate(text.encode())
    for cause in result.causes():
        assert len(cause.text()) < 1000
        assert all(len(step.place("en")) < 200 for change in cause.changes for step in change.steps)
    name = "n" * 40_000
    (cause,) = causes_of(ubl.replace("<cbc:ID>", f"<{name}/><cbc:ID>", 1))
    assert all(len(it.element) < 200 for change in cause.changes for it in change.steps)
    assert len(cause.text()) < 1000


def test_no_candidates_are_generated_after_the_time_limit(ubl):
    case = Diagnosis(einvoice.validate(ubl.replace(">56.33<", ">57.33<").encode())).case
    assert any(isinstance(edit, SetText) for it in proposals(case) for edit in it.edits)
    assert proposals(case, end=0) == []


def test_many_lines_without_category_are_not_assigned():
    text = long(1200).decode()
    causes = causes_of(without(text, CATEGORY))
    assert not any(total in place for place in places(causes) for total in TOTALS)


@pytest.mark.parametrize("element", ["LineExtensionAmount", "TaxAmount", "TaxableAmount", "Percent"])
@pytest.mark.parametrize("digits", ["9" * 60 + ".99", "0." + "0" * 50 + "1"])
def test_numbers_with_many_digits(ubl, element, digits):
    causes_of(re.sub(f"(<cbc:{element}[^>]*>)[^<]*", rf"\g<1>{digits}", ubl, count=1))


def test_subtotals_that_the_sum_leaves_out_are_no_wrong_amount(cii):
    line = re.search(r"(?s)<ram:IncludedSupplyChainTradeLineItem>.*?</ram:IncludedSupplyChainTradeLineItem>", cii)[0]
    total = re.search(r"<ram:LineTotalAmount>([^<]*)</ram:LineTotalAmount>\s*<ram:(?!Actual)", cii)[1]
    subtotal = f"""<ram:IncludedSupplyChainTradeLineItem>
      <ram:AssociatedDocumentLineDocument>
        <ram:LineID>G</ram:LineID><ram:LineStatusReasonCode>GROUP</ram:LineStatusReasonCode>
      </ram:AssociatedDocumentLineDocument>
      <ram:SpecifiedTradeProduct><ram:Name>Summe</ram:Name></ram:SpecifiedTradeProduct>
      <ram:SpecifiedLineTradeAgreement/>
      <ram:SpecifiedLineTradeDelivery/>
      <ram:SpecifiedLineTradeSettlement>
        <ram:SpecifiedTradeSettlementLineMonetarySummation>
          <ram:LineTotalAmount>{total}</ram:LineTotalAmount>
        </ram:SpecifiedTradeSettlementLineMonetarySummation>
      </ram:SpecifiedLineTradeSettlement>
    </ram:IncludedSupplyChainTradeLineItem>"""
    causes = causes_of(cii.replace(line, subtotal + line))
    (cause,) = (it for it in causes if "BR-CO-10" in {finding.code for finding in it.findings})
    assert cause.changes == ()


# ---------------------------------------------------------------- fragments


def test_what_a_missing_element_holds_is_missing_with_it(cii):
    (cause,) = causes_of(without(cii, r"<rsm:ExchangedDocument>.*?</rsm:ExchangedDocument>"))
    assert cause.findings[0].code == "SCHEMA-MISSING-ELEMENT"
    assert {"BR-02", "BR-03", "BR-04"} <= {it.code for it in cause.findings}


def test_surplus_elements_of_an_unmarked_allowance_are_not_what_it_lacks(cii):
    added = "<ram:SpecifiedTradeAllowanceCharge><ram:ID>A</ram:ID></ram:SpecifiedTradeAllowanceCharge>"
    summation = "<ram:SpecifiedTradeSettlementLineMonetarySummation>"
    causes = causes_of(cii.replace(summation, added + summation, 1))
    (lacking,) = (it for it in causes if "CII-SR-463" in {finding.code for finding in it.findings})
    assert not {"CII-SR-184", "CII-SR-193"} & {finding.code for finding in lacking.findings}
    assert lacking.missing == "", "without an indicator nobody knows whether an allowance or a charge"


def test_names_of_missing_elements_are_no_value(sample):
    """SCHEMA-MISSING-ELEMENT expects elements, of which none is the invoice number."""
    start = re.match(r"(?s).*?<Invoice[^>]*>", sample("ubl-invoice.xml").read_text("utf-8"))[0]
    result = einvoice.validate(f"{start}<cbc:Note>x</cbc:Note></Invoice>".encode(), lang="en")
    assert {"SCHEMA-MISSING-ELEMENT", "BR-02"} <= {finding.code for finding in result.findings}
    causes = result.causes()
    assert not [change.text() for cause in causes for change in cause.changes]
    assert ["BR-02"] in [[finding.code for finding in cause.findings] for cause in causes]


@pytest.mark.parametrize(
    ("kind", "root", "term"),
    [("130", "Invoice", "BT-18"), ("130", "CreditNote", "BT-18"), ("50", "CreditNote", "BT-11")],
)
def test_reference_without_identifier_is_named_after_its_type(sample, kind, root, term):
    name = "ubl-invoice.xml" if root == "Invoice" else "ubl-credit-note.xml"
    reference = f"<cac:AdditionalDocumentReference><cbc:DocumentTypeCode>{kind}</cbc:DocumentTypeCode>\
</cac:AdditionalDocumentReference>"
    text = sample(name).read_text("utf-8").replace("<cac:AccountingS", f"{reference}<cac:AccountingS", 1)
    causes = einvoice.validate(text.encode(), lang="en").causes()
    (cause,) = [it for it in causes if "BR-52" in {finding.code for finding in it.findings}]
    assert cause.terms[0] == term
    assert "supporting document" not in cause.text()


def test_missing_lines_are_no_group_of_an_extension():
    """Sub-lines of the extension have the element of lines."""
    line = "ram:IncludedSupplyChainTradeLineItem"
    causes = causes_of(without(profile_document("extended").decode(), f"<{line}>.*</{line}>"))
    assert "BG-25" in {it.missing for it in causes}
