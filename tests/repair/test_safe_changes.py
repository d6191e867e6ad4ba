"""Safe changes: amounts that follow from the rest of the invoice, with nothing else at fault."""

import re

import pytest

import einvoice
from einvoice.causes.applicability import QUESTION
from einvoice.editing.edits import Remove, apply
from einvoice.model.values import Amount, Quantity
from einvoice.repair.proposals.form import forms
from einvoice.syntax.reader import read
from einvoice.syntax.xml import parse
from tests.helpers.mutants import AMOUNTS, mutants
from tests.helpers.paths import SAMPLES

UBL, CII = ((SAMPLES / name).read_text("utf-8") for name in ("ubl-invoice.xml", "cii-invoice.xml"))
EXTENDED = re.sub(
    "urn:cen.eu:en16931:2017[^<]*", "urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended", CII, count=1
).replace("<ram:TypeCode>380<", "<ram:Name>Rechnung</ram:Name><ram:TypeCode>380<")
"""An invoice of the Factur-X profile EXTENDED with an element that EN 16931 has no term for."""
ROW = {
    "UBL": r"\s*<cac:TaxSubtotal>.*?</cac:TaxSubtotal>",
    "CII": r"\s*<ram:ApplicableTradeTax>\s*<ram:CalculatedAmount>.*?</ram:ApplicableTradeTax>",
}


def changed(document, pattern, text, count=1):
    found = re.sub(pattern, text, document, count=count, flags=re.DOTALL)
    assert found != document
    return found


def causes_of(document):
    return einvoice.validate(document.encode(), lang="en").causes()


def totals(document):
    data = document if isinstance(document, bytes) else document.encode()
    found = read(parse(data).getroot()).totals
    return found.gross.number, found.due.number


def fixed(document):
    return einvoice.validate(document.encode()).fixed().xml.decode()


# ---------------------------------------------------------------- all documents


@pytest.mark.slow
@pytest.mark.parametrize("count", [100, pytest.param(500, marks=pytest.mark.live)])
def test_safe_changes_keep_the_total_with_vat_and_the_amount_due(count):
    """Unless the edit changed them, only the values of the valid invoice are right."""
    are_changed = 0
    for mutant in mutants(count, kinds=AMOUNTS):
        repaired = einvoice.validate(mutant.data).fixed()
        are_changed += repaired.is_changed
        for stated, edited, original in zip(*map(totals, (repaired.xml, mutant.data, mutant.original)), strict=True):
            assert stated in (edited, original), (mutant.edits, [it.text("en") for it in repaired.changes])
    assert are_changed > count / 5


# ---------------------------------------------------------------- groups that are repeated or missing


@pytest.mark.parametrize(("document", "pattern"), [(UBL, ROW["UBL"]), (CII, ROW["CII"])])
def test_copy_of_a_vat_breakdown_does_not_raise_the_total(document, pattern):
    (cause,) = causes_of(changed(document, f"({pattern})", r"\1\1"))
    (change,) = cause.changes
    assert "BR-CO-14" in {finding.code for finding in cause.findings}
    assert [type(edit) for edit in change.edits] == [Remove]
    assert not change.safe
    assert cause.text() == "VAT breakdown (BG-23) in row 2 (S, 19 %) is given more than once."
    assert apply(changed(document, f"({pattern})", r"\1\1").encode(), change.edits).decode() == document
    assert fixed(changed(document, f"({pattern})", r"\1\1")) == changed(document, f"({pattern})", r"\1\1")


def test_copy_of_a_line_is_proposed_to_be_removed():
    document = changed(UBL, r"(\s*<cac:InvoiceLine>.*?</cac:InvoiceLine>)", r"\1\1")
    (change,) = causes_of(document)[0].changes
    assert apply(document.encode(), change.edits).decode() == UBL
    assert fixed(document) == document


def test_rows_of_the_same_category_and_rate_do_not_get_the_whole_base_each():
    amounts = ("TaxableAmount", "TaxAmount")
    row = "\n      ".join(f'<cbc:{name} currencyID="EUR">{{}}</cbc:{name}>' for name in amounts)
    parts = [row.format("200.00", "38.00"), row.format("60.00", "11.40")]
    first = re.search(ROW["UBL"], UBL, re.DOTALL)[0]
    rows = "".join(changed(first, r"<cbc:TaxableAmount.*</cbc:TaxAmount>", part) for part in parts)
    document = UBL.replace(first, rows)
    assert "BR-S-08" in {finding.code for finding in einvoice.validate(document.encode()).findings}
    assert fixed(document) == document
    (cause,) = causes_of(document)
    (change,) = cause.changes
    assert cause.text() == "The VAT breakdown (BG-23) has 2 entries instead of one for category S at 19 %."
    assert not change.safe
    assert apply(document.encode(), change.edits).decode() == UBL


def test_row_that_is_combined_with_another_keeps_the_reason_of_the_exemption():
    tail = "</ram:ApplicableTradeTax>"
    row = (
        "<ram:ApplicableTradeTax><ram:CalculatedAmount>0.00</ram:CalculatedAmount><ram:TypeCode>VAT</ram:TypeCode>"
        "{}<ram:BasisAmount>{}</ram:BasisAmount><ram:CategoryCode>E</ram:CategoryCode>"
        "<ram:RateApplicablePercent>0</ram:RateApplicablePercent>" + tail
    )
    reason = "<ram:ExemptionReason>{}</ram:ExemptionReason>"
    document = re.sub(r"(<ram:CategoryCode>)S(.*?Percent>)19", r"\g<1>E\g<2>0", CII, flags=re.DOTALL)

    def combined(first, second):
        rows = row.format(first, "100.00") + row.format(second, "150.00")
        wrong = changed(document, ROW["CII"], rows)
        changes = [change for cause in causes_of(wrong) for change in cause.changes if "BG-23" in change.terms]
        return [apply(wrong.encode(), change.edits).decode() for change in changes]

    (text,) = combined("", reason.format("Small business"))
    assert "Small business" in text
    assert text.count("<ram:BasisAmount>250.00<") == 1
    assert combined(reason.format("Small business"), reason.format("Education")) == []


@pytest.mark.parametrize(
    ("document", "pattern"),
    [(UBL, r"\s*<cac:InvoiceLine>.*?</cac:InvoiceLine>"), (UBL, r"\s*<cac:AllowanceCharge>.*?</cac:AllowanceCharge>")],
)
def test_totals_do_not_follow_from_the_lines_if_one_was_lost(document, pattern):
    without = changed(document, pattern, "")
    assert totals(fixed(without)) == totals(document)


# ---------------------------------------------------------------- missing and unreadable amounts

GROSS = {
    "UBL": r'<cbc:TaxInclusiveAmount currencyID="EUR">[^<]*</cbc:TaxInclusiveAmount>',
    "CII": r"<ram:GrandTotalAmount>[^<]*</ram:GrandTotalAmount>",
}


@pytest.mark.parametrize("text", ["", "4.15,33", "viel"])
@pytest.mark.parametrize(("document", "pattern"), [(UBL, GROSS["UBL"]), (CII, GROSS["CII"]), (EXTENDED, GROSS["CII"])])
def test_total_that_cannot_be_read_is_calculated_and_nothing_from_it(document, pattern, text):
    element = re.search(pattern, document)[0]
    wrong = document.replace(element, re.sub(">[^<]*<", f">{text}<", element, count=1) if text else "")
    repaired = fixed(wrong)
    assert totals(repaired) == totals(document)
    assert read(parse(wrong.encode()).getroot()).totals.due.raw in repaired
    cause = next(it for it in causes_of(wrong) if "BT-112" in it.terms)
    assert [change.terms[0] for change in cause.changes] == ["BT-112"]
    assert cause.changes[0].safe


def test_content_without_a_term_does_not_keep_a_change_from_being_proposed():
    """It is only reported of documents that satisfy the XML schema, as the repaired one does."""
    assert {it.code for it in einvoice.validate(EXTENDED.encode()).findings} == {"CONTENT-UNCOVERED"}
    wrong = changed(EXTENDED, r"<ram:LineTotalAmount>(?=250.00</ram:LineTotalAmount>\s*<ram:TaxBasis).*?</[^>]*>", "")
    (cause,) = causes_of(wrong)
    assert cause.text() == "Sum of Invoice line net amount (BT-106) is missing (add “250.00”)."


def test_element_is_not_renamed_to_one_without_a_term():
    wrong = changed(UBL, "(<cbc:IssueDate>)", r"<cbc:UUId>1</cbc:UUId>\1")
    names = [getattr(edit, "name", "") for it in causes_of(wrong) for change in it.changes for edit in change.edits]
    assert "cbc:UUID" not in names


# ---------------------------------------------------------------- indicators


def test_allowance_that_is_marked_as_a_charge():
    wrong = changed(UBL, "(?<=<cbc:ChargeIndicator>)false", "true")
    (cause,) = causes_of(wrong)
    (change,) = cause.changes
    assert not change.safe
    assert re.search(r"^The allowance of [\d.]+ \(.+\) is marked as a charge\.$", cause.text())
    assert re.search(
        r"^Mark the charge of [\d.]+ \(.+\) as an allowance \(charge indicator “false”\)\.$", change.text()
    )
    assert apply(wrong.encode(), change.edits).decode() == UBL
    assert fixed(wrong) == wrong


def test_allowance_of_a_line_that_is_marked_as_a_charge():
    allowance = '<cac:AllowanceCharge><cbc:ChargeIndicator>false</cbc:ChargeIndicator><cbc:AllowanceChargeReason>Rabatt\
</cbc:AllowanceChargeReason><cbc:Amount currencyID="EUR">6.00</cbc:Amount></cac:AllowanceCharge>'
    right = changed(UBL, "(<cac:Item>)", rf"{allowance}\1").replace(">8.50<", ">9.00<")
    assert not einvoice.validate(right.encode()).findings
    wrong = right.replace(
        "<cbc:ChargeIndicator>false</cbc:ChargeIndicator><cbc:AllowanceChargeReason>Rabatt",
        "<cbc:ChargeIndicator>true</cbc:ChargeIndicator><cbc:AllowanceChargeReason>Rabatt",
    )
    changes = [change for cause in causes_of(wrong) for change in cause.changes]
    (change,) = [change for change in changes if apply(wrong.encode(), change.edits).decode() == right]
    assert "the charge of 6.00 (Rabatt) of line 1 as an allowance" in change.text("en")
    assert "Den Zuschlag von 6,00 (Rabatt) in Position 1 als Nachlass" in change.text("de")
    assert fixed(wrong) == wrong


@pytest.mark.parametrize("text", ["", "5.00"])
def test_allowance_that_does_not_say_what_it_is(text):
    wrong = changed(UBL, "(?<=<cbc:ChargeIndicator>)false", text)
    cause = causes_of(wrong)[0]
    (change,) = cause.changes
    assert re.search(r"^The amount of [\d.]+ \(.+\) is marked neither as an .*; the totals deduct it\.$", cause.text())
    assert re.search(r"^Mark the amount of [\d.]+ \(.+\) as an allowance", change.text())
    assert apply(wrong.encode(), change.edits).decode() == UBL


def test_an_indicator_that_is_missing_is_no_wrong_amount():
    second = UBL[UBL.index("<cac:AllowanceCharge>") : UBL.index("</cac:AllowanceCharge>")] + "</cac:AllowanceCharge>"
    invoice = einvoice.read(UBL.replace("<cac:AllowanceCharge>", f"{second}<cac:AllowanceCharge>", 1).encode())
    invoice.recalculate()
    right = invoice.write().decode()
    wrong = changed(right, "<cbc:ChargeIndicator>false</cbc:ChargeIndicator>", "", count=1)
    cause = causes_of(wrong)[0]
    (change,) = cause.changes
    assert "neither as an allowance nor as a charge" in cause.text("en")
    assert einvoice.validate(apply(wrong.encode(), change.edits)).is_valid
    assert "ChargeIndicator" in change.edits[0].path[0]


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize("text", ["1.10,000", "1.23800,00", "12,34,56", "1.2.3", "1.234,567.8", "12 34", "1'2"])
def test_number_with_malformed_groups_has_no_other_form(text):
    assert list(forms(Amount(text), "UBL")) == []


@pytest.mark.parametrize(
    ("text", "form"),
    [("1.234,50", "1234.50"), ("1,234.50", "1234.50"), ("1.234.567,89", "1234567.89"), ("1'234.50", "1234.50"),
     ("1 234,5", "1234.5"), ("-1.234,00", "-1234.00"), ("415.33 EUR", "415.33"), ("8,50", "8.50")],
)  # fmt: skip
def test_number_with_groups_of_three_digits(text, form):
    assert next(forms(Amount(text), "UBL")) == form


def test_comma_before_three_digits_is_ambiguous():
    assert list(forms(Quantity("1,234"), "UBL")) == ["1.234", "1234"]
    assert list(forms(Quantity("0,234"), "UBL")) == ["0.234"]


def test_amount_due_may_be_rounded_by_a_lost_rounding_amount():
    lost = changed(UBL, r"\s*<cbc:PrepaidAmount.*?</cbc:PrepaidAmount>", "").replace(">400.00<", ">415.35<")
    changes = [change for cause in causes_of(lost) for change in cause.changes]
    assert {change.terms for change in changes} == {("BT-115",), ("BT-114",)}
    assert {change.applicability for change in changes} == {QUESTION}


# ---------------------------------------------------------------- repeated elements

REFERENCE = "<cbc:BuyerReference>04011000-12345-34</cbc:BuyerReference>"


def test_exact_copy_of_an_element_is_removed():
    wrong = UBL.replace(REFERENCE, f"{REFERENCE}{REFERENCE}")
    assert fixed(wrong) == UBL


def test_other_value_of_a_repeated_element_is_not_removed():
    wrong = UBL.replace(REFERENCE, f"{REFERENCE}{REFERENCE.replace('34<', '35<')}")
    assert fixed(wrong) == wrong


# ---------------------------------------------------------------- amounts with too many decimals

MINIMUM = re.sub(r"urn:cen.eu:en16931:2017[^<]*", "urn:factur-x.eu:1p0:minimum", CII, count=1)
"""A profile without rules that calculate amounts: only that about the decimals finds the fault."""


@pytest.mark.parametrize(
    ("stated", "right"),
    [("297.505", "297.50"), ("297.495", "297.50"), ("297.5049", "297.50"), ("297.515", "297.52")],
)
def test_amount_with_too_many_decimals_is_what_the_others_make_it(stated, right):
    document = changed(MINIMUM, r"(?<=<ram:DuePayableAmount>)[\d.]+", stated)
    cause = next(it for it in causes_of(document) if "BR-DEC-18" in {finding.code for finding in it.findings})
    (change,) = cause.changes
    assert change.text() == f"Change amount due for payment (BT-115) from “{stated}” to “{right}”."


def test_total_follows_from_amounts_of_which_another_has_too_many_decimals_too():
    document = changed(MINIMUM, r"(?<=<ram:GrandTotalAmount>)[\d.]+", "297.505")
    document = changed(document, r"(?<=<ram:DuePayableAmount>)[\d.]+", "297.505")
    causes = causes_of(document)
    edits = {edit.text for cause in causes for change in cause.changes for edit in change.edits}
    assert edits == {"297.50"}
