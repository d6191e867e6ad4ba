"""Payment terms, down payments and fields of the XRechnung Extension."""

from __future__ import annotations

import pytest

import einvoice
from einvoice.draft import read
from einvoice.syntax.writer import write
from tests.helpers.plain import draft, errors, line

SKONTO = [{"days": 14, "percent": "2"}, {"days": "7", "percent": 3, "base": "357.93"}]


def note(content, lang="de"):
    data = einvoice.generate(content, lang=lang).data
    return einvoice.read(data)["BT-20"].raw


@pytest.mark.parametrize("format", ["UBL", "CII"])
def test_cash_discounts_have_the_form_of_xrechnung(format):
    content = draft(format=format, payment_terms="30 Tage netto", discounts=SKONTO)
    coded = "#SKONTO#TAGE=14#PROZENT=2.00#\n#SKONTO#TAGE=7#PROZENT=3.00#BASISBETRAG=357.93#\n"
    assert note(content) == "30 Tage netto\n" + coded
    assert "BR-DE-18" not in {it.code for it in einvoice.generate(content).validation.findings}


def test_cash_discounts_are_words_in_other_profiles():
    content = draft(profile="EN16931", discounts=SKONTO)
    assert note(content) == (
        "2 % Skonto bei Zahlung innerhalb von 14 Tagen\n3 % Skonto auf 357,93 EUR bei Zahlung innerhalb von 7 Tagen"
    )
    assert note(content, "en").startswith("2 % cash discount if paid within 14 days\n")


def test_coded_payment_terms_keep_their_last_line_break():
    content = draft(payment_terms="#SKONTO#TAGE=14#PROZENT=2.00#\n")
    assert note(content) == "#SKONTO#TAGE=14#PROZENT=2.00#\n"


@pytest.mark.parametrize(
    ("discount", "pointer", "key"),
    [
        ({"days": "1.5", "percent": 2}, "/discounts/0/days", "whole_number"),
        ({"days": -1, "percent": 2}, "/discounts/0/days", "whole_number"),
        ({"days": 1, "percent": "2.125"}, "/discounts/0/percent", "percent_decimals"),
        ({"days": 1}, "/discounts/0/percent", "missing"),
    ],
)
def test_invalid_discounts(discount, pointer, key):
    [problem] = errors(draft(discounts=[discount])).errors
    assert (problem.pointer, problem.key) == (pointer, key)


def test_retention_is_told_and_the_amount_due_stays():
    content = draft(retentions=[{"amount": "5", "until": "2031-11-20", "reason": "Gewährleistung"}])
    assert note(content) == "Einbehalt 5,00 EUR bis 20.11.2031 (Gewährleistung)"
    assert einvoice.generate(content).invoice.totals.due.raw == "11.90"


PAID = [
    {"amount": "5.95", "tax_rate": 19, "tax_amount": "0.95", "date": "2026-09-01", "invoice_number": "A-1"},
    {"amount": "1.19", "invoice_number": "A-2", "invoice_date": "2026-10-01"},
]


@pytest.mark.parametrize(("format", "preceding"), [("UBL", ["A-1", "A-2"]), ("CII", ["A-1"])])
def test_down_payments_reduce_the_amount_due(format, preceding):
    invoice = einvoice.read(einvoice.generate(draft(prepayments=PAID), format).data)
    assert (invoice.totals.paid.raw, invoice.totals.due.raw) == ("7.14", "4.76")
    assert [it.text for it in invoice["BT-25"]] == preceding
    [note] = invoice["BT-22"]
    assert note.text.split("\n") == [
        "Anzahlung 5,95 EUR am 01.09.2026: netto 5,00 EUR, Umsatzsteuer 0,95 EUR (19 %); Rechnung A-1",
        "Anzahlung 1,19 EUR; Rechnung A-2 vom 01.10.2026",
        "Restbetrag 4,76 EUR",  # the VAT of one down payment is not known
    ]


def test_the_remainder_has_its_vat():
    paid = [{**PAID[1], "tax_amount": "0.19"}]
    [note] = einvoice.generate(draft(prepayments=paid), lang="en").invoice["BT-22"]
    assert note.text.endswith("\nRemaining amount 10.71 EUR: net 9.00 EUR, VAT 1.71 EUR")


def test_a_paid_amount_other_than_the_down_payments_is_an_error():
    [problem] = errors(draft(prepayments=PAID, totals={"paid_amount": "7.00"})).errors
    assert (problem.pointer, problem.values["expected"]) == ("/totals/paid_amount", "7.14")


def test_sub_lines_add_up_to_their_line():
    below = [line(unit_price="4.00"), line(unit_price="5.00")]
    [problem] = errors(draft(profile="XRECHNUNG-EXTENSION", lines=[line(lines=below)])).errors
    assert problem.pointer == "/lines/0/unit_price"
    below[1]["unit_price"] = "6.00"
    result = einvoice.generate(draft(profile="XRECHNUNG-EXTENSION", lines=[line(lines=below)]))
    assert [it.identifier.text for it in result.invoice.lines[0].lines] == ["1.1", "1.2"]
    assert not {it.code for it in result.validation.findings if it.code.startswith("BR-DEX")}


def test_amounts_for_third_parties_are_part_of_the_amount_due():
    toll = [{"type": "Maut", "amount": "2.50", "description": "Maut vom 18. November"}]
    result = einvoice.generate(draft(profile="XRECHNUNG-EXTENSION", third_party_payments=toll))
    assert (result.invoice.totals.gross.raw, result.invoice.totals.due.raw) == ("11.90", "14.40")
    assert not {it.code for it in result.validation.findings if it.code.startswith("BR-DEX")}


def test_factur_x_extended_holds_several_preceding_invoices():
    content = draft(format="ZUGFERD", profile="EXTENDED", preceding_invoices=[{"number": "1"}, {"number": "2"}])
    checked = read(content)
    invoice = einvoice.read(write(checked.invoice(), checked.root))
    assert [it.text for it in invoice["BT-25"]] == ["1", "2"]
