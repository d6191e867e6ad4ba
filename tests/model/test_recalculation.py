"""Calculating with the values of an invoice, and its amounts again after an edit."""

import copy
import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import einvoice
from einvoice.model.invoice import Invoice
from einvoice.model.money import LogisticsCharge, LogisticsTax, TaxCategory, ThirdPartyPayment
from einvoice.model.values import Amount, Code, Date, Quantity, absent
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


# ---------------------------------------------------------------- extensions of EN 16931

EXTENDED = "urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended"
XRECHNUNG_EXTENSION = (
    "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0#conformant#"
    "urn:xeinkauf.de:kosit:extension:xrechnung_3.0"
)


def amounts_at_fault(invoice):
    """Return the findings about amounts, of the rules of EN 16931 and of the extensions."""
    amounts = ("BR-CO-1", "BR-S-", "BR-FXEXT-", "BR-DEX-")
    return [it.code for it in einvoice.validate(invoice).findings if it.code.startswith(amounts)]


@pytest.fixture
def with_subtotals():
    """An invoice in EXTENDED whose first line belongs to a subtotal, which belongs to another one."""
    invoice = einvoice.read(SAMPLES / "cii-invoice.xml")
    invoice.specification = EXTENDED
    first = invoice.lines[0]
    for line in invoice.lines:
        line.status_reason = "DETAIL"
    subtotals = []
    for number, parent in (("G1", None), ("G2", "G1")):
        line = copy.deepcopy(first)
        line.identifier, line.status_reason, line.net_amount = number, "GROUP", first.net_amount.number
        if parent:
            line.parent_line = parent
        subtotals.append(line)
    first.parent_line = "G2"
    invoice.lines = [*subtotals, *invoice.lines]
    return invoice


def test_subtotals_are_calculated_and_not_added(with_subtotals):
    outer, inner, line = with_subtotals.lines[:3]
    assert not amounts_at_fault(with_subtotals)
    before = with_subtotals.totals.net.number
    line.quantity = line.quantity + 1
    with_subtotals.recalculate()
    assert not amounts_at_fault(with_subtotals)
    assert outer.net_amount == inner.net_amount == line.net_amount.number
    assert with_subtotals.totals.net > before


def test_a_wrong_line_below_a_subtotal_is_the_cause(with_subtotals):
    right = with_subtotals.lines[2].net_amount.number
    with_subtotals.lines[2].net_amount = right + 100
    cause, *_ = einvoice.validate(with_subtotals).causes()
    assert {"BR-FXEXT-08", "BR-FXEXT-CO-10"} <= {it.code for it in cause.findings}
    (edit,) = cause.changes[0].edits
    assert Decimal(edit.text) == right


def test_logistics_charges_are_added():
    invoice = einvoice.read(SAMPLES / "cii-invoice.xml")
    invoice.specification = EXTENDED
    (tax, *_) = invoice.lines[0].taxes
    net = invoice.totals.net.number
    vat = LogisticsTax(category=tax.category.text, rate=tax.rate.number, scheme=Code("VAT"))
    invoice.logistics_charges = [LogisticsCharge(description="Fracht", amount="15.00", taxes=[vat])]
    invoice.recalculate()
    assert invoice.totals.net == net + 15
    assert not amounts_at_fault(invoice)


def test_amounts_for_third_parties_are_part_of_the_amount_due():
    invoice = einvoice.read(SAMPLES / "ubl-invoice.xml")
    invoice.specification = XRECHNUNG_EXTENSION
    due = invoice.totals.due.number
    payment = ThirdPartyPayment(amount="29.96", type="Strom", description="Abschlag")
    invoice.third_party_payments = [payment]
    invoice.recalculate()
    assert invoice.totals.due == due + Decimal("29.96")
    assert "BR-DEX-09" not in amounts_at_fault(invoice)
    invoice.specification = "urn:cen.eu:en16931:2017"
    invoice.recalculate()
    assert invoice.totals.due == due
