"""Calculated totals of drafts; the expected amounts were calculated by hand."""

from decimal import Decimal

import pytest

from einvoice.draft import read
from tests.helpers.plain import draft, errors, line


def amounts(content):
    invoice = read(content).invoice()
    totals = invoice.totals
    named = {
        "line_net": totals.line_net, "allowances": totals.allowances, "charges": totals.charges, "net": totals.net,
        "vat": invoice.vat_total, "gross": totals.gross, "paid": totals.paid, "rounding": totals.rounding,
        "due": totals.due,
    }  # fmt: skip
    return {name: amount.raw for name, amount in named.items() if amount}


def breakdown(content):
    parts = read(content).invoice().vat_breakdown
    return [(p.category.raw, str(p.rate), p.taxable_amount.raw, p.tax_amount.raw) for p in parts]


LINES = [
    # price, quantity, base quantity, allowances and charges: the net amount
    ({"unit_price": "100.00", "quantity": "2"}, "200.00"),
    ({"unit_price": "0.3333", "quantity": "3"}, "1.00"),
    ({"unit_price": "0.005", "quantity": "1"}, "0.01"),
    ({"unit_price": "0.00499999999999999999", "quantity": "1"}, "0.00"),
    ({"unit_price": "0.005", "quantity": "-1"}, "-0.01"),
    ({"unit_price": "10.00", "quantity": "1", "price_base_quantity": "3"}, "3.33"),
    ({"unit_price": "20.00", "quantity": "1", "price_base_quantity": "3"}, "6.67"),
    ({"unit_price": "10.00", "quantity": "-7", "price_base_quantity": "100"}, "-0.70"),
    ({"unit_price": "9999999999", "quantity": "9999999999"}, "99999999980000000001.00"),
    ({"allowances": [{"amount": "1.50"}, {"percentage": "10", "base_amount": "10.00"}]}, "7.50"),
    ({"charges": [{"percentage": "2.5", "base_amount": "10.20"}], "allowances": [{"amount": "0.01"}]}, "10.25"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "expected"), LINES)
def test_net_amount_of_a_line(content, expected):
    content = line(**content)
    assert read(draft(lines=[content])).invoice().lines[0].net_amount.raw == expected
    read(draft(lines=[{**content, "net_amount": expected}]))
    [problem] = errors(draft(lines=[{**content, "net_amount": "0.77"}])).errors
    assert problem.pointer == "/lines/0/net_amount"
    assert (expected in problem.message("en"), "0.77" in problem.message("de")) == (True, True)


def test_totals_of_one_line():
    assert amounts(draft(lines=[line(quantity="2", unit_price="100.00")])) == {
        "line_net": "200.00", "net": "200.00", "vat": "38.00", "gross": "238.00", "due": "238.00",
    }  # fmt: skip


def test_vat_breakdown_by_category_and_rate():
    content = draft(
        lines=[
            line(unit_price="10.13", tax_rate="19"),
            line(unit_price="20.24", tax_rate="7.00"),
            line(unit_price="30.35", tax_rate="19.00"),
            line(unit_price="5.00", tax_category="E", tax_rate="0"),
        ],
        allowances=[{"amount": "1.00", "tax_category": "S", "tax_rate": "7"}],
        charges=[{"percentage": "10", "base_amount": "40.48", "tax_category": "S", "tax_rate": 19}],
        totals={"paid_amount": "10.00", "rounding_amount": "-0.02"},
    )
    # 19 %: 10.13 + 30.35 + 4.05 = 44.53, of which 8.4607; 7 %: 20.24 - 1.00 = 19.24, of which 1.3468
    assert breakdown(content) == [
        ("S", "19", "44.53", "8.46"), ("S", "7.00", "19.24", "1.35"), ("E", "0", "5.00", "0.00"),
    ]  # fmt: skip
    assert amounts(content) == {
        "line_net": "65.72", "allowances": "1.00", "charges": "4.05", "net": "68.77", "vat": "9.81", "gross": "78.58",
        "paid": "10.00", "rounding": "-0.02", "due": "68.56",
    }  # fmt: skip


def test_vat_is_rounded_once_per_rate():
    # 3 * 0.19 of 0.03 would be 0.01 each; of 0.09 it is 0.0171
    assert breakdown(draft(lines=[line(unit_price="0.03")] * 3)) == [("S", "19", "0.09", "0.02")]
    # half a cent: 0.50 * 7 % = 0.035, and mirrored in a credit
    for sign, tax in (("", "0.04"), ("-", "-0.04")):
        assert breakdown(draft(lines=[line(unit_price="0.50", quantity=f"{sign}1", tax_rate="7")]))[0][3] == tax


def test_items_not_subject_to_vat_have_a_rate_in_the_breakdown_only():
    content = draft(lines=[{**line(tax_category="O"), "tax_rate": None}])
    invoice = read(content).invoice()
    assert breakdown(content) == [("O", "0", "10.00", "0.00")]
    assert not invoice.lines[0].vat.rate


def test_given_breakdown_entries_keep_order_and_reasons():
    content = draft(
        lines=[line(), line(tax_category="E", tax_rate="0.00"), line(tax_category="AE", tax_rate=0)],
        vat_breakdown=[{"tax_category": "AE", "exemption_reason_code": "VATEX-EU-AE"},
                       {"tax_category": "E", "exemption_reason": "Unterricht", "taxable_amount": 10}],
    )  # fmt: skip
    invoice = read(content).invoice()
    assert [part[0] for part in breakdown(content)] == ["AE", "E", "S"]
    assert invoice.vat_breakdown[0].exemption_reason_code.text == "VATEX-EU-AE"
    assert invoice.vat_breakdown[1].exemption_reason.text == "Unterricht"


def test_unused_or_duplicate_breakdown_entries_are_rejected():
    unused = {"tax_category": "E", "exemption_reason": "x"}
    assert [it.pointer for it in errors(draft(vat_breakdown=[unused])).errors] == ["/vat_breakdown/0/tax_category"]
    twice = draft(lines=[line(tax_category="E", tax_rate=0)], vat_breakdown=[unused, unused])
    assert [it.pointer for it in errors(twice).errors] == ["/vat_breakdown/1/tax_category"]


CORRECT = {
    "line_net_amount": "10.00", "allowance_amount": "1.00", "charge_amount": "3", "net_amount": "12.00",
    "vat_amount": "2.28", "gross_amount": "14.28", "due_amount": "9.30",
}  # fmt: skip
KNOWN = {"paid_amount": "5.00", "rounding_amount": "0.02"}
CONTENT = {
    "allowances": [{"amount": "1.00", "tax_category": "S", "tax_rate": "19"}],
    "charges": [{"amount": "3.00", "tax_category": "S", "tax_rate": "19"}],
}


def test_correct_totals_are_accepted():
    read(draft(**CONTENT, totals=CORRECT | KNOWN))
    read(draft(totals={"allowance_amount": 0, "charge_amount": "0.00"}))


@pytest.mark.parametrize("field", CORRECT)
def test_wrong_totals_are_rejected(field):
    [problem] = errors(draft(**CONTENT, totals=CORRECT | KNOWN | {field: "11.11"})).errors
    assert problem.pointer == f"/totals/{field}"
    assert f"{Decimal(CORRECT[field]):.2f}" in problem.message("en")
    assert "11.11" in problem.message("en")


@pytest.mark.parametrize("field", ["taxable_amount", "tax_amount"])
def test_wrong_vat_amounts_are_rejected(field):
    content = draft(vat_breakdown=[{"tax_category": "S", "tax_rate": "19", field: "1.91"}])
    assert [it.pointer for it in errors(content).errors] == [f"/vat_breakdown/0/{field}"]


def test_every_wrong_amount_is_listed():
    content = draft(lines=[line(net_amount="1.00"), line(net_amount="2.00")], totals={"net_amount": 1, "due_amount": 2})
    assert [it.pointer for it in errors(content).errors] == [
        "/totals/net_amount", "/totals/due_amount", "/lines/0/net_amount", "/lines/1/net_amount",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "discount", "gross"),
    [
        ({"gross_price": "12"}, "2.00", "12.00"),
        ({"price_discount": "0.125"}, "0.125", "10.125"),
        ({"gross_price": "12", "price_discount": "1"}, "1.00", "12.00"),
    ],
)
def test_discount_and_gross_price(changes, discount, gross):
    [allowance] = read(draft(lines=[line(**changes)])).invoice().lines[0].price.allowances
    assert (allowance.amount.raw, allowance.base_amount.raw) == (discount, gross)


def test_vat_in_tax_currency():
    content = draft(tax_currency="SEK", totals={"vat_amount_in_tax_currency": "21.5"})
    totals = read(content).invoice().tax_totals
    assert [(it.amount.raw, it.amount.currency) for it in totals] == [("1.90", "EUR"), ("21.50", "SEK")]
