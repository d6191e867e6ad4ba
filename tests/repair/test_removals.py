"""Removals lose nothing that only the issuer could give back, and none is proposed for what may stay."""

import base64
import re

import pytest

import einvoice
from einvoice.editing.edits import Remove, RemoveAttribute, apply
from einvoice.syntax.writer import write
from tests.helpers.paths import SAMPLES

UBL, CII = ((SAMPLES / name).read_text("utf-8") for name in ("ubl-invoice.xml", "cii-invoice.xml"))
SETTLEMENT = "<ram:ApplicableHeaderTradeSettlement>"
PDF = base64.b64encode(b"%PDF-1.7\n" + 40 * b"x").decode()
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + 40 * b"x").decode()
CSV = base64.b64encode(b"a;b\n1;2\n").decode()


def changed(document, pattern, text, count=1):
    found = re.sub(pattern, text, document, count=count, flags=re.DOTALL)
    assert found != document
    return found


def causes_of(document):
    return einvoice.validate(document.encode(), lang="en").causes()


def removals(causes):
    edits = [edit for cause in causes for change in cause.changes for edit in change.edits]
    return [edit for edit in edits if isinstance(edit, Remove | RemoveAttribute)]


def cause_of(causes, code):
    return next(cause for cause in causes if code in {finding.code for finding in cause.findings})


# ---------------------------------------------------------------- attached files


def with_files(*files):
    """The CII sample with attached files: type, name and content of each."""
    documents = "".join(
        "<ram:AdditionalReferencedDocument>"
        f"<ram:IssuerAssignedID>{number}</ram:IssuerAssignedID><ram:TypeCode>916</ram:TypeCode>"
        f'<ram:AttachmentBinaryObject mimeCode="{kind}" filename="{name}">{content}</ram:AttachmentBinaryObject>'
        "</ram:AdditionalReferencedDocument>"
        for number, (kind, name, content) in enumerate(files, 1)
    )
    return changed(CII, "(?=</ram:ApplicableHeaderTradeAgreement>)", documents)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.pdf", PDF, "application/pdf"),
        ("a", PDF, "application/pdf"),
        ("A.PDF", CSV, "application/pdf"),
        ("a.png", PNG, "image/png"),
        ("a.csv", CSV, "text/csv"),
        ("a.pdf", PNG, None),
        ("a.zip", CSV, None),
    ],
)
def test_type_of_an_attached_file_follows_from_content_or_name(name, content, expected):
    document = with_files(("application/octet-stream", name, content))
    cause = cause_of(causes_of(document), "BR-CL-24")
    if expected is None:
        assert cause.changes == ()
        return
    (change,) = cause.changes
    assert not change.safe
    assert change.terms == ("BT-125-1",)
    assert apply(document.encode(), change.edits).decode() == document.replace("application/octet-stream", expected)


def test_attached_file_is_not_removed_as_its_type_is_wrong():
    document = with_files(("application/pdf", "a.pdf", PDF), ("application/octet-stream", "b.pdf", PDF))
    causes = causes_of(document)
    assert {"BR-CL-24", "CII-SR-476"} <= {finding.code for cause in causes for finding in cause.findings}
    assert removals(causes) == []
    assert [it.code for it in cause_of(causes, "BR-CL-24").findings] == ["BR-CL-24"]


def test_second_file_of_a_supporting_document_is_not_removed_unless_it_is_a_copy():
    start, end = "<ram:AttachmentBinaryObject", "</ram:AttachmentBinaryObject>"
    document = with_files(("text/csv", "a.csv", CSV))
    file = re.search(f"{start}.*?{end}", document)[0]
    other = file.replace("a.csv", "b.csv")
    assert removals([cause_of(causes_of(document.replace(file, file + other)), "CII-SR-476")]) == []
    copied = document.replace(file, file + file)
    (change,) = cause_of(causes_of(copied), "CII-SR-476").changes
    assert apply(copied.encode(), change.edits).decode() == document


@pytest.mark.parametrize(
    ("place", "content"),
    [
        ("(?=<cbc:LineExtensionAmount)", "<cbc:Discount>5</cbc:Discount>"),
        ("(?=<cbc:LineExtensionAmount)", "<cbc:Note>first</cbc:Note><cbc:Note>second</cbc:Note>"),
        ("(?<=</cbc:PaymentMeansCode>)", "<cbc:PaymentDueDate>2026-04-01</cbc:PaymentDueDate>"),
        ("(?<=</cbc:PaymentMeansCode>)", "<cbc:InstructionNote>today</cbc:InstructionNote>"),
        ("(?=<cac:AccountingSupplierParty>)", "<cac:OrderReference><cbc:ID>1</cbc:ID>"
         "<cbc:CustomerReference>A-17</cbc:CustomerReference></cac:OrderReference>"),
    ],
)  # fmt: skip
def test_no_change_removes_what_the_invoice_states_nowhere_else(place, content):
    document = changed(UBL, place, content)
    causes = causes_of(document)
    assert causes
    assert removals(causes) == []


def test_tax_point_date_that_another_vat_entry_states_is_removed():
    date = '<ram:TaxPointDate><udt:DateString format="102">20260504</udt:DateString></ram:TaxPointDate>'
    head, tail = write(einvoice.read(UBL.encode()), "CrossIndustryInvoice").decode().split(SETTLEMENT)
    document = SETTLEMENT.join((head, changed(tail, r"(?=<ram:RateApplicablePercent>)", date, count=2)))
    assert [type(edit) for edit in cause_of(causes_of(document), "CII-SR-461").changes[0].edits] == [Remove]
    first, second = document.rsplit("20260504", 1)
    assert not removals([cause_of(causes_of(f"{first}20260505{second}"), "CII-SR-461")])


def test_removal_that_a_warning_demands_does_not_take_up_the_error_of_a_value():
    country = "<cac:Country><cbc:IdentificationCode>Deutschland</cbc:IdentificationCode></cac:Country>"
    location = f"<cac:PhysicalLocation><cac:Address>{country}</cac:Address></cac:PhysicalLocation>"
    document = changed(UBL, "(?<=</cac:PostalAddress>)", location)
    causes = causes_of(document)
    error, warning = cause_of(causes, "BR-CL-14"), cause_of(causes, "UBL-CR-168")
    assert error is not warning
    assert apply(document.encode(), error.changes[0].edits).decode() == document.replace("Deutschland", "DE")
    assert apply(document.encode(), warning.changes[0].edits).decode() == UBL


# ---------------------------------------------------------------- content outside of the standard


OUTSIDE = "<cbc:UBLVersionID>2.1</cbc:UBLVersionID>"


def test_content_outside_of_the_standard_may_stay():
    (cause,) = causes_of(changed(UBL, "(?=<cbc:CustomizationID>)", OUTSIDE))
    assert [finding.code for finding in cause.findings] == ["CONTENT-UNCOVERED"]
    assert cause.changes == ()


def test_other_changes_do_not_remove_content_outside_of_the_standard():
    document = changed(UBL, "(?=<cbc:CustomizationID>)", OUTSIDE).replace(">56.33<", ">57.33<")
    causes = causes_of(document.replace(">369.00<", ">368.00<"))
    assert len([cause for cause in causes if cause.changes]) == 2
    assert removals(causes) == []


# ---------------------------------------------------------------- amounts


def test_amount_that_stands_nowhere_else_is_not_removed():
    """Factur-X uses a second VAT total only in the accounting currency."""
    document = changed(CII, "urn:cen.eu:en16931:2017#compliant[^<]*", "urn:cen.eu:en16931:2017")
    document = changed(document, "(?=<ram:InvoiceCurrencyCode>)", "<ram:TaxCurrencyCode>XXX</ram:TaxCurrencyCode>")
    document = changed(
        document, "(?=<ram:GrandTotalAmount>)", '<ram:TaxTotalAmount currencyID="SEK">600.00</ram:TaxTotalAmount>'
    )
    result = einvoice.validate(document.encode(), lang="en", profile="facturx")
    assert not any("TaxTotalAmount" in edit.xpath for edit in removals(result.causes()))
    totals = [it for it in result.findings if it.xpath.endswith("TaxTotalAmount[2]")]
    assert all(it.terms[:1] == ("BT-111",) for it in totals)


def test_tax_point_date_of_another_vat_breakdown_is_named_by_its_row():
    """CII repeats the tax point date (BT-7) in each VAT breakdown; EN 16931 has it once."""
    date = '<ram:TaxPointDate><udt:DateString format="102">20260301</udt:DateString></ram:TaxPointDate>'
    head, _, tail = CII.partition("<ram:ApplicableHeaderTradeSettlement>")
    tail = tail.replace("<ram:RateApplicablePercent>", f"{date}<ram:RateApplicablePercent>")
    exempt = (
        "<ram:ApplicableTradeTax><ram:CalculatedAmount>0.00</ram:CalculatedAmount><ram:TypeCode>VAT</ram:TypeCode>\
<ram:ExemptionReason>x</ram:ExemptionReason><ram:BasisAmount>0.00</ram:BasisAmount><ram:CategoryCode>E\
</ram:CategoryCode>"
        + date
        + "<ram:RateApplicablePercent>0</ram:RateApplicablePercent></ram:ApplicableTradeTax>"
    )
    tail = tail.replace("</ram:ApplicableTradeTax>", f"</ram:ApplicableTradeTax>{exempt}", 1)
    document = f"{head}<ram:ApplicableHeaderTradeSettlement>{tail}"
    causes = einvoice.validate(document.encode(), lang="en").causes()
    (cause,) = [it for it in causes if "CII-SR-461" in {finding.code for finding in it.findings}]
    (change,) = cause.changes
    assert "(BT-7) in row 2 (E, 0 %) of the VAT breakdown" in change.text()
    rows = "(BT-7) is in rows 1 (S, 19 %) and 2 (E, 0 %) of the VAT breakdown"
    assert f"{rows}, with the same value: “2026-03-01”" in cause.text()


# ---------------------------------------------------------------- dates in elements that the schema does not allow


@pytest.mark.parametrize("elsewhere", [False, True])
def test_date_in_a_child_of_an_unknown_element_is_not_removed(elsewhere):
    """An equal date elsewhere, such as that of a preceding invoice, means something else."""
    date = '<ram:FormattedIssueDateTime><qdt:DateTimeString format="102">20260714</qdt:DateTimeString>\
</ram:FormattedIssueDateTime>'
    document = CII
    if "xmlns:qdt" not in document:
        kinds = "urn:un:unece:uncefact:data:standard:QualifiedDataType:100"
        document = changed(document, "(?<=<rsm:CrossIndustryInvoice)", f' xmlns:qdt="{kinds}"')
    if elsewhere:
        preceding = f"<ram:InvoiceReferencedDocument><ram:IssuerAssignedID>R-1</ram:IssuerAssignedID>{date}\
</ram:InvoiceReferencedDocument>"
        document = changed(document, "(?<=</ram:SpecifiedTradeSettlementHeaderMonetarySummation>)", preceding)
        assert not einvoice.validate(document.encode()).findings
    wrong = changed(document, "(?=</ram:SpecifiedTradeSettlementLineMonetarySummation>)", date)
    cause = cause_of(causes_of(wrong), "SCHEMA-UNKNOWN-ELEMENT")
    assert cause.changes == ()
    empty = wrong.replace(
        date + "</ram:SpecifiedTradeSettlementLine", "<ram:FormattedIssueDateTime/></ram:SpecifiedTradeSettlementLine"
    )
    assert removals([cause_of(causes_of(empty), "SCHEMA-UNKNOWN-ELEMENT")])


def test_copy_of_an_element_is_removed_where_the_schema_does_not_allow_it():
    summation = changed(CII, ".*(<ram:SpecifiedTradeSettlementLineMonetarySummation>.*?Summation>).*", r"\1")
    wrong = changed(CII, "(?=</ram:ApplicableHeaderTradeAgreement>)", summation)
    cause = cause_of(causes_of(wrong), "SCHEMA-UNKNOWN-ELEMENT")
    (change,) = cause.changes
    assert not change.remaining
    assert "ram:SpecifiedTradeSettlementLineMonetarySummation" in change.text()
    other = changed(CII, "(?=</ram:ApplicableHeaderTradeAgreement>)", changed(summation, ">[0-9.]+<", ">7.77<"))
    assert cause_of(causes_of(other), "SCHEMA-UNKNOWN-ELEMENT").changes == ()


# ---------------------------------------------------------------- severities lowered to information


NLCIUS = "urn:cen.eu:en16931:2017#compliant#urn:fdc:nen.nl:nlcius:v1.0"
BLOCKED = "#conformant#urn:fdc:nen.nl:gaccount:v1.0"


@pytest.mark.parametrize("extension", ["", BLOCKED])
def test_no_change_for_what_an_extension_allows(extension):
    document = changed(UBL, "urn:cen.eu:en16931:2017#compliant[^<]*", NLCIUS + extension)
    terms = '<cac:PaymentTerms><cbc:PaymentMeansID>A</cbc:PaymentMeansID><cbc:Amount currencyID="EUR">1</cbc:Amount>\
</cac:PaymentTerms>'
    document = re.sub(r"\s*<cac:PaymentTerms>.*?</cac:PaymentTerms>", "", document, flags=re.DOTALL)
    document = changed(document, "(?<=</cac:PaymentMeans>)", terms)
    causes = causes_of(document)
    reference, amount = (cause_of(causes, code) for code in ("UBL-CR-453", "UBL-CR-459"))
    assert all(not it.missing for it in (reference, amount) if extension)
    assert reference.findings[0].severity == ("information" if extension else "warning")
    assert bool(reference.changes) is not bool(extension)
    assert not (extension and removals(causes))
