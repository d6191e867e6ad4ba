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
