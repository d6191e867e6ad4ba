"""Alternatives of a question: none that says the same as another one, and none that cannot be right."""

import einvoice
from einvoice.repair.edits import apply
from tests.helpers.paths import SAMPLES

UBL = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")
PAID = '<cbc:PrepaidAmount currencyID="EUR">15.33</cbc:PrepaidAmount>'


def cause_of(document):
    (cause,) = einvoice.validate(document.encode(), lang="en").causes()
    return cause


# ---------------------------------------------------------------- the same number


def test_price_with_a_decimal_comma_is_no_question():
    wrong = UBL.replace('<cbc:PriceAmount currencyID="EUR">8.50<', '<cbc:PriceAmount currencyID="EUR">8,50<')
    assert wrong != UBL
    cause = cause_of(wrong)
    (change,) = cause.changes
    assert change.safe
    assert einvoice.validate(wrong.encode()).fixed().xml == UBL.encode()


# ---------------------------------------------------------------- paid amounts


def test_paid_amount_is_not_negative():
    """The amount due can only be above the total if the invoice has a paid amount below zero."""
    without = UBL.replace(PAID, "").replace(">400.00<", ">415.33<")
    assert not einvoice.validate(without.encode()).findings
    (change,) = cause_of(without.replace('"EUR">415.33</cbc:Payable', '"EUR">420.00</cbc:Payable')).changes
    assert change.terms == ("BT-115",)
    lower = cause_of(without.replace('"EUR">415.33</cbc:Payable', '"EUR">410.00</cbc:Payable'))
    assert {"BT-113", "BT-115"} <= set(lower.terms)


def test_negative_paid_amount_is_corrected_to_a_negative_one():
    negative = UBL.replace(">15.33<", ">-15.33<").replace(">400.00<", ">430.66<")
    assert not einvoice.validate(negative.encode()).findings
    wrong = negative.replace(">430.66<", ">431.66<")
    cause = cause_of(wrong)
    assert {edit.text for change in cause.changes for edit in change.edits} == {"430.66", "-16.33"}
    assert any(apply(wrong.encode(), change.edits) == negative.encode() for change in cause.changes)
