"""Explanations of numbers that contradict each other: the invoices are valid but for one fault."""

import re
from decimal import Decimal

import pytest

import einvoice
from einvoice.causes.applicability import QUESTION
from einvoice.reconciliation.equations import Equations
from einvoice.reconciliation.hypotheses import Hypotheses
from einvoice.syntax.reader import read
from einvoice.syntax.xml import parse
from tests.helpers.paths import SAMPLES

UBL = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")
LINE = r"\s*<cac:InvoiceLine>.*?</cac:InvoiceLine>"
ALLOWANCE = r"\s*<cac:AllowanceCharge>.*?</cac:AllowanceCharge>"


def changed(pattern, text, count=1):
    found = re.sub(pattern, text, UBL, count=count, flags=re.DOTALL)
    assert found != UBL
    return found


def first(document):
    """Return what the best explanation says: terms with numbers, and the group that is missing."""
    best = Hypotheses(read(parse(document.encode()).getroot())).explanations[0][0]
    return {operand.term: f"{number:f}" for operand, number in best.values}, best.missing


def amounts(document, pattern, factor):
    return re.sub(pattern, lambda found: f"{found[1]}{Decimal(found[2]) * factor:.2f}<", document, flags=re.DOTALL)


def test_valid_invoice_has_none():
    assert Hypotheses(read(parse(UBL.encode()).getroot())).explanations == ()


@pytest.mark.parametrize(
    ("document", "values", "missing"),
    [
        (UBL.replace(">415.33<", ">451.33<"), {"BT-112": "415.33"}, ""),
        (UBL.replace(">168.00<", ">186.00<"), {"BT-131": "168.00"}, ""),
        (changed(LINE, ""), {}, "BG-25"),
        (changed(ALLOWANCE, ""), {}, "BG-20"),
    ],
    ids=["total", "line amount", "line", "allowance"],
)
def test_best_explanation_contradicts_no_number_that_agrees(document, values, missing):
    assert first(document) == (values, missing)


@pytest.mark.parametrize("lang", ["de", "en", "fr"])
def test_missing_line_is_a_cause_without_recalculated_totals(lang):
    (cause,) = einvoice.validate(changed(LINE, "").encode(), lang=lang).causes()
    assert (cause.missing, cause.changes) == ("BG-25", ())
    assert {"de": "102,00", "en": "102.00", "fr": "102,00"}[lang] in cause.text()


def test_sign_of_all_line_amounts_is_one_cause():
    document = amounts(UBL, r"(<cbc:LineExtensionAmount currencyID=\"EUR\">)((?!369)[\d.]+)<", -1)
    (cause, *_) = einvoice.validate(document.encode(), lang="en").causes()
    (change,) = cause.changes
    assert set(cause.terms) == {"BT-131"}
    assert len(change.edits) == UBL.count("<cac:InvoiceLine>")
    assert change.applicability is not QUESTION or cause.is_question


def test_sum_of_line_amounts_that_are_all_wrong_agrees_with_them():
    document = amounts(UBL, r"(<cbc:LineExtensionAmount currencyID=\"EUR\">)([\d.]+)<", 100)
    (cause,) = einvoice.validate(document.encode(), lang="en").causes()
    assert set(cause.terms) == {"BT-131", "BT-106"}
    assert {edit.text for edit in cause.changes[0].edits} == {"102.00", "168.00", "99.00", "369.00"}


def test_missing_total_is_what_its_own_equation_gives():
    document = changed(r"\s*<cbc:TaxInclusiveAmount.*?</cbc:TaxInclusiveAmount>", "")
    document = re.sub(r"(<cbc:PayableAmount[^>]*>)[^<]*", r"\g<1>415.34", document)
    assert first(document) == ({"BT-112": "415.33"}, "")


def test_line_that_is_there_twice_is_a_question():
    line = re.search(LINE, UBL, re.DOTALL)[0]
    document = UBL.replace(line, line + line.replace("<cbc:ID>1<", "<cbc:ID>4<"), 1)
    cause = einvoice.validate(document.encode(), lang="en").causes()[0]
    assert cause.terms == ("BG-25",)
    assert {change.applicability for change in cause.changes} == {QUESTION}


def test_base_quantity_that_is_the_quantity():
    pattern = r"(<cbc:InvoicedQuantity unitCode=\"(\w+)\">([\d.]+)<.*?</cbc:PriceAmount>)"
    document = changed(pattern, r'\1<cbc:BaseQuantity unitCode="\2">\3</cbc:BaseQuantity>', count=0)
    cause = einvoice.validate(document.encode(), lang="en").causes()[0]
    assert "BT-149" in cause.terms


@pytest.mark.parametrize("is_readable", [True, False])
def test_base_quantity_that_repeats_the_price(is_readable):
    """A line with a net amount that is no number does not hide that the others agree with a price for 1."""
    pattern = r'(unitCode="(\w+)">[\d.]+</cbc:InvoicedQuantity>.*?<cbc:PriceAmount[^>]*>([\d.]+)</cbc:PriceAmount>)'
    document = changed(pattern, r'\1<cbc:BaseQuantity unitCode="\2">\3</cbc:BaseQuantity>', count=0)
    document = document if is_readable else document.replace(">168.00<", ">abc<")
    best = Hypotheses(einvoice.read(document.encode())).explanations[0][0]
    assert {(operand.term, number) for operand, number in best.values} == {("BT-149", Decimal(1))}


def test_lines_with_vat_lack_no_line_whatever_their_base_quantities():
    """Net amounts of other prices would not make the sums right, and a line would seem to be missing."""
    pattern = r'(unitCode="(\w+)">)([\d.]+)(</cbc:InvoicedQuantity>.*?<cbc:PriceAmount[^>]*>[\d.]+</cbc:PriceAmount>)'
    document = changed(pattern, r'\1\3\4<cbc:BaseQuantity unitCode="\2">\3</cbc:BaseQuantity>', count=0)
    for net, gross in (("102.00", "121.38"), ("168.00", "199.92"), ("99.00", "105.93")):
        stated = f'<cbc:LineExtensionAmount currencyID="EUR">{net}<'
        assert document.count(stated) == 1
        document = document.replace(stated, stated.replace(net, gross))
    (explanation,) = Hypotheses(einvoice.read(document.encode())).explanations
    assert [it.includes_vat for it in explanation] == [True]


def test_prices_with_vat_need_no_base_quantity():
    document = UBL
    for net, gross in (("8.50", "10.115"), ("48.00", "57.12"), ("9.90", "10.593")):
        assert document.count(f">{net}</cbc:PriceAmount>") == 1
        document = document.replace(f">{net}</cbc:PriceAmount>", f">{gross}</cbc:PriceAmount>")
    (explanation,) = Hypotheses(einvoice.read(document.encode())).explanations
    assert [{operand.term for operand, _ in it.values} for it in explanation] == [{"BT-146"}]


@pytest.mark.parametrize(
    ("price", "charge"), [("7.25", "15.00"), ("5.80", "32.40")], ids=["another price", "a price with exchanged digits"]
)
def test_missing_charge_is_asked_for_beside_a_price(price, charge):
    """Even if the price seems a slip: nothing else says what the line has."""
    (cause,) = einvoice.validate(UBL.replace(">8.50<", f">{price}<").encode(), lang="en").causes()
    assert cause.is_question
    assert [change.terms for change in cause.changes] == [("BT-146",)]
    assert cause.missing == "BG-28"
    assert f"; or: invoice line charges (BG-28) of {charge} are missing in line 1?" in cause.text("en")


def test_the_work_for_many_wrong_equations_is_bounded(monkeypatch):
    """Each of 150 rows adds up all lines, since category Z has one sum: to try each number would take cubic time."""
    text = UBL.replace("<cbc:ID>S</cbc:ID>", "<cbc:ID>Z</cbc:ID>")
    for tag in ("cac:TaxSubtotal", "cac:InvoiceLine"):
        start, end = text.index(f"<{tag}>"), text.index(f"</{tag}>") + len(f"</{tag}>")
        text = text[:end] + text[start:end] * 150 + text[end:]
    calls = []
    state = Equations.state
    monkeypatch.setattr(Equations, "state", lambda self, *args: calls.append(1) or state(self, *args))
    assert Hypotheses(einvoice.read(text.encode())).explanations
    assert len(calls) < 1_000_000


def test_too_many_equations_are_not_searched(monkeypatch):
    monkeypatch.setattr("einvoice.reconciliation.equations._MAX_OPERANDS", 3)
    amount = "<cbc:LineExtensionAmount[^>]*>"
    invoice = einvoice.read(changed(f"({amount})[^<]*(</cbc:LineExtensionAmount>)", r"\g<1>1.00\2").encode())
    assert Hypotheses(invoice).explanations == ()
