"""Calculating with the values of an invoice, and its amounts again after an edit."""

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import einvoice
from einvoice.model.invoice import Invoice
from einvoice.model.money import TaxCategory
from einvoice.model.values import Amount, Date, Quantity, absent
from tests.helpers.paths import SAMPLES

NUMBERS = st.decimals(-(10**9), 10**9, places=4)


@pytest.fixture(params=["ubl-invoice.xml", "ubl-credit-note.xml", "cii-invoice.xml"])
def invoice(request):
    return einvoice.read(SAMPLES / request.param)


@given(NUMBERS, NUMBERS)
def test_values_calculate_as_their_numbers(one, other):
    first, second = Amount(f"{one:f}"), Quantity(f"{other:f}")
    assert (first + second, first - second, first * second) == (one + other, one - other, one * other)
    assert (first + other, one - second, 2 * first, -first, abs(second)) == (
        one + other, one - other, 2 * one, -one, abs(other)
    )  # fmt: skip
    assert (first < second, first <= other, first > other, first >= second) == (
        one < other, one <= other, one > other, one >= other
    )  # fmt: skip
    assert (first == one, hash(first)) == (True, hash(one))
    assert sum([first, second]) == one + other


def test_a_missing_number_makes_the_result_absent():
    assert Amount("12,50") + 1 is absent
    assert 1 + absent * Amount("2") is absent
    assert not Amount("12,50") < 1


@pytest.mark.parametrize(
    "calculate", [lambda it: it * 0.5, lambda it: it + 0.5, lambda it: 0.5 - it, lambda it: it < 0.5]
)
def test_a_float_is_refused(calculate):
    with pytest.raises(TypeError, match="Decimal or int, not float"):
        calculate(Amount("2.00"))


def test_dates_are_compared_and_subtracted():
    one, other = Date("2026-12-31"), Date("20261201")
    assert one > other
    assert other < datetime.date(2026, 12, 2)
    assert one - other == datetime.timedelta(30)
    assert other + datetime.timedelta(30) == one.date == one


def test_recalculating_a_right_invoice_changes_nothing(invoice):
    before = invoice.write()
    invoice.recalculate()
    assert invoice.write() == before


def test_an_edited_invoice_is_valid_again(invoice):
    due = invoice.totals.due.number
    line = invoice.lines[0]
    line.quantity = line.quantity + 1
    assert einvoice.validate(invoice).findings
    invoice.recalculate()
    assert not einvoice.validate(invoice).findings
    assert invoice.totals.due > due


def test_the_breakdown_follows_the_categories_of_the_lines():
    invoice = einvoice.read(SAMPLES / "ubl-invoice.xml")
    (tax,) = invoice.lines[0].taxes
    tax.rate = "7"
    invoice.recalculate()
    assert {it.rate.number for it in invoice.vat_breakdown} >= {7}
    assert not [it.code for it in einvoice.validate(invoice).findings if it.code.startswith(("BR-CO", "BR-S"))]
    for item in (*invoice.lines, *invoice.allowances_and_charges):
        item.taxes[0].rate = 7
    invoice.recalculate()
    (entry,) = invoice.vat_breakdown
    assert entry.tax_amount == invoice.vat_total.number


def test_totals_are_added():
    invoice = einvoice.read(SAMPLES / "ubl-invoice.xml")
    stated = [it.number for it in (invoice.totals.net, invoice.totals.gross, invoice.vat_total)]
    paid = invoice.totals.paid.number
    del invoice.totals
    invoice.tax_totals = []
    invoice.recalculate()
    assert [it.number for it in (invoice.totals.net, invoice.totals.gross, invoice.vat_total)] == stated
    assert invoice.totals.due == stated[1]
    assert paid is absent or paid > 0
    assert isinstance(invoice.vat_breakdown[0], TaxCategory)


def test_a_term_is_set_by_its_number(invoice):
    invoice["BT-9"], invoice["BT-1"] = "2026-12-24", "A-2"
    assert (invoice.due_date.date, invoice.number.text) == (datetime.date(2026, 12, 24), "A-2")
    invoice["BT-113"] = Decimal("1.50")
    assert invoice.totals.paid == Decimal("1.50")


def test_groups_around_a_term_are_added():
    invoice = Invoice()
    invoice["BT-27"], invoice["BT-20"] = "Amsel GmbH", "30 Tage"
    assert (invoice.seller.name.text, invoice.payment_terms[0].note.text) == ("Amsel GmbH", "30 Tage")


@pytest.mark.parametrize(
    ("number", "given", "error", "message"),
    [
        ("BT-9", "24.12.2026", ValueError, "BT-9 .* must be a date such as 2026-12-31, not '24.12.2026'"),
        ("BT-113", "1,5", ValueError, "BT-113 .* must be a number such as 12.50, not '1,5'"),
        ("BT-113", 1.5, TypeError, "not float"),
        ("BT-131", 1, TypeError, r"several times: assign it in invoice.lines\[…\]"),
        ("BT-130", "C62", TypeError, "BT-130 is an attribute of BT-129"),
        ("BT-999", "", KeyError, "BT-999"),
    ],
)
def test_a_wrong_assignment_says_what_to_do(invoice, number, given, error, message):
    with pytest.raises(error, match=message):
        invoice[number] = given
