"""How causes name the place at fault: by its business term, or by the parties and groups around it."""

import re

import pytest

import einvoice
from tests.helpers.paths import SAMPLES

UBL, CII = ((SAMPLES / name).read_text("utf-8") for name in ("ubl-invoice.xml", "cii-invoice.xml"))


def changed(document, pattern, text, count=1):
    found = re.sub(pattern, text, document, count=count, flags=re.DOTALL)
    assert found != document
    return found


def cause_with(document, code, lang="de"):
    causes = einvoice.validate(document.encode(), lang=lang).causes()
    return next(cause for cause in causes if code in {finding.code for finding in cause.findings})


# ---------------------------------------------------------------- terms of allowances and charges


def with_zero_rated(indicator):
    """The CII sample with an allowance or charge of zero, whose VAT rate is missing."""
    row = (
        "<ram:ApplicableTradeTax><ram:CalculatedAmount>0.00</ram:CalculatedAmount><ram:TypeCode>VAT</ram:TypeCode>"
        "<ram:BasisAmount>0.00</ram:BasisAmount><ram:CategoryCode>Z</ram:CategoryCode>"
        "<ram:RateApplicablePercent>0</ram:RateApplicablePercent></ram:ApplicableTradeTax>"
    )
    item = (
        "<ram:SpecifiedTradeAllowanceCharge><ram:ChargeIndicator>"
        f"<udt:Indicator>{indicator}</udt:Indicator></ram:ChargeIndicator><ram:ActualAmount>0.00</ram:ActualAmount>"
        "<ram:Reason>Fracht</ram:Reason><ram:CategoryTradeTax><ram:TypeCode>VAT</ram:TypeCode>"
        "<ram:CategoryCode>Z</ram:CategoryCode></ram:CategoryTradeTax></ram:SpecifiedTradeAllowanceCharge>"
    )
    return changed(CII, "(?=<ram:SpecifiedTradePaymentTerms>)", row + item)


@pytest.mark.parametrize(
    ("indicator", "code", "term"),
    [("true", "BR-Z-07", "Umsatzsteuersatz des Zuschlags (BT-103)"),
     ("1", "BR-Z-07", "Umsatzsteuersatz des Zuschlags (BT-103)"),
     ("false", "BR-Z-06", "Umsatzsteuersatz des Nachlasses (BT-96)")],
)  # fmt: skip
def test_missing_rate_is_that_of_the_allowance_or_charge(indicator, code, term):
    cause = cause_with(with_zero_rated(indicator), code)
    assert cause.text() == f"{term} fehlt (zu ergänzen: „0“)."
    assert cause.changes[0].text() == f"{term} ergänzen: „0“."


# ---------------------------------------------------------------- rows of the VAT breakdown

DATE = '<ram:TaxPointDate><udt:DateString format="102">20260507</udt:DateString></ram:TaxPointDate>'


@pytest.mark.parametrize(
    ("lang", "text", "change"),
    [
        ("de", "Datum der Steuerfälligkeit (BT-7) steht in den Zeilen 1 (S, 19 %) und 2 (Z, 0 %) der Aufschlüsselung, "
               "mit demselben Wert: „07.05.2026“.", "in Zeile 2 (Z, 0 %) der Aufschlüsselung."),
        ("en", "Value added tax point date (BT-7) is in rows 1 (S, 19 %) and 2 (Z, 0 %) of the VAT breakdown, "
               "with the same value: “2026-05-07”.", "in row 2 (Z, 0 %) of the VAT breakdown."),
    ],
)  # fmt: skip
def test_term_in_several_rows_names_all_and_is_removed_from_the_further_ones(lang, text, change):
    end = "</ram:CategoryCode></ram:CategoryTradeTax>"
    rate = "<ram:RateApplicablePercent>0</ram:RateApplicablePercent>"
    document = with_zero_rated("true").replace(end, end.replace("><", f">{rate}<"))
    head, mark, tail = document.partition("<ram:ApplicableHeaderTradeSettlement>")
    tail = tail.replace("<ram:RateApplicablePercent>", f"{DATE}<ram:RateApplicablePercent>", 2)
    cause = cause_with(head + mark + tail, "CII-SR-461", lang)
    assert cause.text() == text
    assert cause.changes[0].text().endswith(change)


@pytest.mark.parametrize(("lang", "rate"), [("de", "19,123 %"), ("en", "19.123 %"), ("fr", "19,123 %")])
def test_numbers_in_prose_have_the_marks_of_the_language(lang, rate):
    row = (
        '<cac:TaxSubtotal><cbc:TaxableAmount currencyID="EUR">100.00</cbc:TaxableAmount>'
        '<cbc:TaxAmount currencyID="EUR">{}</cbc:TaxAmount><cac:TaxCategory><cbc:ID>S</cbc:ID>'
        "<cbc:Percent>{}</cbc:Percent><cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:TaxCategory>"
        "</cac:TaxSubtotal>"
    )
    document = changed(UBL, "(?=</cac:TaxTotal>)", row.format("25.00", "19.123"))
    causes = einvoice.validate(document.encode(), lang=lang).causes()
    texts = [text for cause in causes for text in (cause.text(), *(change.text() for change in cause.changes))]
    assert any(f"(S, {rate})" in text for text in texts)
