"""A rate or a category that all amounts contradict is at fault before the amounts that agree with each other."""

import re
from decimal import Decimal

import pytest

import einvoice
from einvoice.editing.edits import Insert, Remove, apply
from tests.helpers.paths import SAMPLES

UBL, CII = ((SAMPLES / name).read_text("utf-8") for name in ("ubl-invoice.xml", "cii-invoice.xml"))
ROW = '<cac:TaxSubtotal><cbc:TaxableAmount currencyID="EUR">{}</cbc:TaxableAmount><cbc:TaxAmount currencyID="EUR">{}\
</cbc:TaxAmount><cac:TaxCategory><cbc:ID>S</cbc:ID><cbc:Percent>{}</cbc:Percent><cac:TaxScheme><cbc:ID>VAT</cbc:ID>\
</cac:TaxScheme></cac:TaxCategory></cac:TaxSubtotal>'


def causes_of(document):
    return einvoice.validate(document.encode(), lang="en").causes()


def undone(document, change):
    return apply(document.encode(), change.edits).decode()


def two_rates():
    """A valid invoice with lines of 200.00, -100.00 (21 %) and 100.00 (6 %)."""
    document = re.sub(r"\s*<cac:AllowanceCharge>.*?</cac:AllowanceCharge>", "", UBL, flags=re.DOTALL)
    head, *lines = document.split("  <cac:InvoiceLine>")
    assert len(lines) == 3
    rows = ROW.format("100.00", "21.00", "21") + ROW.format("100.00", "6.00", "6")
    total = f'<cac:TaxTotal><cbc:TaxAmount currencyID="EUR">27.00</cbc:TaxAmount>{rows}</cac:TaxTotal>'
    head = re.sub(r"<cac:TaxTotal>.*?</cac:TaxTotal>", total, head, count=1, flags=re.DOTALL)
    head = re.sub(r"\s*<cbc:(PrepaidAmount|AllowanceTotalAmount|ChargeTotalAmount).*?</cbc:\1>", "", head)
    for name, text in (("LineExtension", 200), ("TaxExclusive", 200), ("TaxInclusive", 227), ("Payable", 227)):
        head = re.sub(rf"(<cbc:{name}Amount[^>]*>)[^<]*", rf"\g<1>{text}.00", head)
    for number, (quantity, rate) in enumerate(((2, 21), (1, 6), (-1, 21))):
        lines[number] = re.sub(r"(<cbc:InvoicedQuantity[^>]*>)[^<]*", rf"\g<1>{quantity}", lines[number])
        lines[number] = re.sub(r"(<cbc:LineExtensionAmount[^>]*>)[^<]*", rf"\g<1>{quantity * 100}.00", lines[number])
        lines[number] = re.sub(r"(<cbc:PriceAmount[^>]*>)[^<]*", r"\g<1>100.00", lines[number])
        lines[number] = re.sub(r"<cbc:Percent>[^<]*", f"<cbc:Percent>{rate}", lines[number])
    document = "  <cac:InvoiceLine>".join((head, *lines))
    assert not einvoice.validate(document.encode()).findings
    return document


def test_rate_in_breakdown_and_line_comes_before_four_amounts():
    right = two_rates()
    (cause,) = causes_of(right.replace(">6</cbc:Percent>", ">19.123</cbc:Percent>"))
    rate, amounts = cause.changes
    assert undone(right.replace(">6</cbc:Percent>", ">19.123</cbc:Percent>"), rate) == right
    assert set(rate.terms) == {"BT-119", "BT-152"}
    assert set(amounts.terms) == {"BT-117", "BT-110", "BT-112", "BT-115"}
    assert not rate.safe
    assert not amounts.safe
    assert "(BT-119) in row 2 (S, 19.123 %) of the VAT breakdown" in cause.text()


@pytest.mark.parametrize("document", [UBL, CII])
def test_rate_everywhere(document):
    wrong = re.sub(r"(Percent>)19(\.00)?(?=<)", r"\g<1>7", document)
    assert wrong != document
    (cause,) = causes_of(wrong)
    assert {"BT-119", "BT-152"} <= set(cause.changes[0].terms)
    assert not einvoice.validate(undone(wrong, cause.changes[0]).encode()).findings
    assert "BT-117" in cause.changes[1].terms


def test_category_without_tax_everywhere_is_a_question():
    right = two_rates()
    wrong = re.sub("<cbc:ID>S</cbc:ID>", "<cbc:ID>Z</cbc:ID>", right)
    wrong = re.sub(r"<cbc:Percent>[^<]*", "<cbc:Percent>0", wrong)
    (cause,) = causes_of(wrong)
    assert cause.is_question
    category, amounts = cause.changes
    assert undone(wrong, category) == right
    assert {"BT-118", "BT-119", "BT-151", "BT-152"} == set(category.terms)
    assert amounts.terms[0] == "BT-116"
    assert "row 1 (Z, 0 %)" in amounts.text()
    assert "row 2 (Z, 0 %)" in amounts.text()
    assert all(not einvoice.validate(undone(wrong, it).encode()).findings for it in cause.changes)


def test_amounts_that_contradict_each_other_are_not_explained_by_a_rate():
    wrong = re.sub(r'(<cbc:TaxAmount currencyID="EUR">)6.00', r"\g<1>19.00", two_rates())
    terms = {term for cause in causes_of(wrong) for change in cause.changes for term in change.terms}
    assert "BT-119" not in terms
    assert "BT-117" in terms


def test_missing_rate_of_a_breakdown_is_all_that_is_added():
    """A line of the type GROUP sums up others: it has no VAT category."""
    specification = "urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended"
    document = re.sub("urn:cen.eu:en16931:2017[^<]*", specification, CII, count=1)
    head, mark, tail = document.partition("<ram:IncludedSupplyChainTradeLineItem>")
    line, end, rest = tail.partition("</ram:IncludedSupplyChainTradeLineItem>")
    group = re.sub(r"(?s)<ram:ApplicableTradeTax>.*?</ram:ApplicableTradeTax>", "", line)
    kind = "<ram:LineStatusCode>DETAIL</ram:LineStatusCode><ram:LineStatusReasonCode>GROUP</ram:LineStatusReasonCode>"
    group = re.sub(r"<ram:LineID>[^<]*</ram:LineID>", f"<ram:LineID>01</ram:LineID>{kind}", group)
    number = r"(<ram:LineID>[^<]*</ram:LineID>)"
    own = kind.replace("GROUP", "DETAIL")
    line = re.sub(number, rf"\1<ram:ParentLineID>01</ram:ParentLineID>{own}", line)
    document = f"{head}{mark}{group}{end}{mark}{line}{end}{rest}"
    first, settlement, last = document.partition("<ram:ApplicableHeaderTradeSettlement>")
    wrong = first + settlement + re.sub(r"\s*<ram:RateApplicablePercent>[^<]*</ram:RateApplicablePercent>", "", last)
    cause = next(it for it in causes_of(wrong) if "BR-48" in {finding.code for finding in it.findings})
    (change,) = cause.changes
    assert change.terms == ("BT-119",)
    assert [edit.path[-1] for edit in change.edits if isinstance(edit, Insert)] == ["ram:RateApplicablePercent"]
    assert undone(wrong, change).count(">19</ram:RateApplicablePercent>") == document.count(">19</ram:RateApplicable")


def partly_exempt(tax):
    """An invoice with lines of 200.00 and 300.00 (21 %) and 100.00 (exempt)."""
    document = two_rates().replace(">-1<", ">3<").replace(">-100.00<", ">300.00<")
    reason = "<cbc:TaxExemptionReason>Training</cbc:TaxExemptionReason><cac:TaxScheme>"
    exempt = ROW.format("100.00", "0.00", "0").replace(">S<", ">E<").replace("<cac:TaxScheme>", reason)
    total = (
        f'<cac:TaxTotal><cbc:TaxAmount currencyID="EUR">{tax}</cbc:TaxAmount>{ROW.format("500.00", tax, 21)}{exempt}\
</cac:TaxTotal>'
    )
    document = re.sub(r"<cac:TaxTotal>.*?</cac:TaxTotal>", total, document, count=1, flags=re.DOTALL)
    document = document.replace(">227.00<", f">{Decimal(600) + Decimal(tax)}<")
    for name in ("LineExtension", "TaxExclusive"):
        document = re.sub(
            rf"(<cac:LegalMonetaryTotal>.*?<cbc:{name}Amount[^>]*>)200", r"\g<1>600", document, flags=re.S
        )
    category = r"<cbc:ID>S</cbc:ID>(\s*)<cbc:Percent>6<"
    document = re.sub(category, r"<cbc:ID>E</cbc:ID>\1<cbc:Percent>0<", document)
    assert not einvoice.validate(document.encode()).findings
    return document


@pytest.mark.parametrize("tax", ["105.00", "105.02"], ids=["exact", "sum of rounded amounts"])
def test_one_of_two_exempt_entries_has_vat(tax):
    """Combined, the entry would be exempt and have VAT."""
    right = partly_exempt(tax)
    wrong = right.replace("<cbc:ID>S</cbc:ID>", "<cbc:ID>E</cbc:ID>")
    wrong = re.sub(r"<cbc:Percent>21<", "<cbc:Percent>0<", wrong)
    cause, *others = causes_of(wrong)
    assert others == []
    assert undone(wrong, cause.changes[0]) == right
    assert not any(isinstance(edit, Remove) for edit in cause.changes[0].edits)
    assert {"BT-118", "BT-119", "BT-151", "BT-152"} == set(cause.changes[0].terms)


@pytest.mark.parametrize(("first", "second", "gross"), [("77.77", "0.00", "677.77"), ("5.00", "-5.00", "600.00")])
def test_exempt_entries_with_vat_are_not_combined(first, second, gross):
    """The VAT is that of no rate in whole percent, so nothing says which category is right."""
    right = partly_exempt("105.00").replace("<cbc:TaxExemptionReason>Training</cbc:TaxExemptionReason>", "")
    wrong = right.replace("<cbc:ID>S</cbc:ID>", "<cbc:ID>E</cbc:ID>").replace(">705.00<", f">{gross}<")
    wrong = re.sub(r"<cbc:Percent>21<", "<cbc:Percent>0<", wrong)
    head, total, rows = wrong.partition("<cac:TaxTotal>")
    amounts = [str(Decimal(first) + Decimal(second)), first, second]
    rows = re.sub(r"(<cbc:TaxAmount[^>]*>)[^<]*", lambda it: it[1] + amounts.pop(0), rows, count=3)
    wrong = head + total + rows
    causes = causes_of(wrong)
    assert "BR-E-01" in {finding.code for cause in causes for finding in cause.findings}
    steps = [step for cause in causes for change in cause.changes for step in (*change.prior, *change.steps)]
    combined = [content for step in steps if step.kind == "combine" for content in step.contents]
    assert all(Decimal(dict(content)["BT-117"]) == 0 for content in combined)
    assert not (combined and second.startswith("-")), "their VAT only adds up to zero"
    assert all(step.before != step.after for step in steps if step.kind == "set")


@pytest.mark.parametrize("amount", [">100.00</cbc:TaxableAmount>", ">0.00</cbc:TaxAmount>"])
def test_entry_with_an_unreadable_amount_beside_one_with_another_rate(amount):
    """Sums of both cannot be calculated."""
    wrong = partly_exempt("105.00").replace("<cbc:ID>S</cbc:ID>", "<cbc:ID>E</cbc:ID>")
    wrong = wrong.replace("Percent>21<", "Percent>0<").replace(amount, re.sub(r"[\d.]+", "abc", amount, count=1))
    assert "SCHEMA-VALUE-NUMBER" in {finding.code for cause in causes_of(wrong) for finding in cause.findings}


def test_a_category_of_another_territory_is_not_proposed():
    wrong = two_rates().replace("<cbc:ID>S</cbc:ID>", "<cbc:ID>L</cbc:ID>", 1)  # the first entry of the breakdown
    texts = [cause.text() for cause in causes_of(wrong)]
    assert any("is “L” instead of “S”" in it for it in texts)
    assert not any("instead of “L”" in it for it in texts)


def test_rates_of_several_lines_are_only_proposed_if_the_sums_are_right_with_them():
    right = two_rates()
    without = re.sub(
        r"(<cbc:Percent>)(21|6)(</cbc:Percent>\s*<cac:TaxScheme>\s*<cbc:ID>VAT</cbc:ID>\s*</cac:TaxScheme>"
        r"\s*</cac:ClassifiedTaxCategory>)",
        r"\g<1>0\3",
        right,
    )
    assert without.count("<cbc:Percent>0<") == 3
    changes = [change for cause in causes_of(without) for change in cause.changes]
    assert not [it for it in changes if len(it.edits) == 3]  # as both entries of the breakdown have an amount


def test_taxable_amounts_that_add_up_to_the_total_are_not_changed_alone():
    right = two_rates()
    moved = right.replace(">6</cbc:Percent>", ">21</cbc:Percent>").replace(">21</cbc:Percent>", ">6</cbc:Percent>", 1)
    assert moved != right
    for cause in causes_of(moved):
        assert all(set(change.terms) != {"BT-116"} for change in cause.changes)


def test_a_line_that_stands_twice_with_another_note_is_named():
    head, first, *others = two_rates().split("  <cac:InvoiceLine>")
    again = first.replace("<cbc:InvoicedQuantity", "<cbc:Note>again</cbc:Note><cbc:InvoicedQuantity", 1)
    document = "  <cac:InvoiceLine>".join((head, first, again, *others))
    cause = causes_of(document)[0]
    assert cause.text().startswith("Invoice line (BG-25) of line 1 is given more than once")
    assert cause.is_question or not cause.changes[0].safe


def test_a_misspelt_currency_is_that_of_the_amounts():
    wrong = two_rates().replace('currencyID="EUR"', 'currencyID="SGD"').replace(">EUR<", ">eur<")
    assert any("is “eur” instead of “SGD”" in cause.text() for cause in causes_of(wrong))


def test_nothing_is_calculated_with_a_rate_above_100(sample):
    """1900 looks like 19.00 without its point: neither texts nor changes take it for a rate."""
    document = re.sub(
        "<cbc:Percent>19</cbc:Percent>", "<cbc:Percent>1900</cbc:Percent>", sample("ubl-invoice.xml").read_text()
    )
    result = einvoice.validate(document.encode(), lang="en")
    changes = [change for cause in result.causes() for change in cause.changes]
    assert changes
    assert {step.term for change in changes for step in change.steps} <= {"BT-119", "BT-152", "BT-96", "BT-103"}
    assert all("looks like" in it.explanation() for it in result.findings if it.code in ("BR-S-09", "BR-CO-17"))


def test_nothing_is_calculated_with_an_allowance_above_100_percent(sample):
    allowance = (
        "<cbc:MultiplierFactorNumeric>1000</cbc:MultiplierFactorNumeric>"
        '<cbc:Amount currencyID="EUR">10.00</cbc:Amount><cbc:BaseAmount currencyID="EUR">100.00</cbc:BaseAmount>'
    )
    document = re.sub(
        '<cbc:Amount currencyID="EUR">10.00</cbc:Amount>', allowance, sample("ubl-invoice.xml").read_text()
    )
    result = einvoice.validate(document.encode(), lang="en")
    (cause,) = (it for it in result.causes() if any(finding.code.endswith("R040") for finding in it.findings))
    assert [step.term for change in cause.changes for step in change.steps] == ["BT-94"]
