"""What a change may do: be made, be made on request, or only be asked. The invoices are valid but for one fault."""

import re

import pytest

import einvoice
from einvoice.causes.applicability import QUESTION, SAFE, UNSAFE
from einvoice.model.values import Date, Value
from einvoice.reconciliation.readings import dates, readings
from tests.helpers.paths import SAMPLES

UBL = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")


def changed(pattern, text, document=UBL):
    found = re.sub(pattern, text, document, count=1, flags=re.DOTALL)
    assert found != document
    return found


def applicability(document):
    """Return what the changes of the first cause may do."""
    cause = einvoice.validate(document.encode(), lang="en").causes()[0]
    assert cause.is_question == (len(cause.changes) > 1 or cause.changes[0].applicability is QUESTION)
    return {it.applicability for it in cause.changes}


@pytest.mark.parametrize(
    ("pattern", "wrong", "expected"),
    [
        (">415.33<", ">451.33<", SAFE),  # BT-112: the sum of BT-109 and BT-110, and what BT-115 says
        (">56.33<", ">56,33<", SAFE),
        (">2026-0(.)-(..)</cbc:IssueDate>", r">\g<2>.0\g<1>.2026</cbc:IssueDate>", SAFE),
        ("<cbc:PayableAmount(.*?)>400.00<", r"<cbc:PayableAmount\1>500.00<", QUESTION),
        ("<cbc:PayableAmount(.*?)>400.00<", r"<cbc:PayableAmount\1>4E2<", SAFE),
        (r"<cbc:IssueDate>[\d-]+<", "<cbc:IssueDate>03/04/2026<", QUESTION),
        (">EUR</cbc:Doc", ">EUT</cbc:Doc", UNSAFE),  # no currency; all amounts say which one is meant
        (">EUR</cbc:Doc", ">USD</cbc:Doc", QUESTION),
        (r'unitCode="C62"', 'unitCode="C62X"', QUESTION),
        (r"<cbc:ID>S</cbc:ID>", "<cbc:ID>Z</cbc:ID>", QUESTION),
        ("<cbc:PaymentMeansCode>58<", "<cbc:PaymentMeansCode>48<", QUESTION),
    ],
)
def test_change_may_do_what_the_rest_of_the_invoice_proves(pattern, wrong, expected):
    assert applicability(changed(pattern, wrong)) == {expected}


@pytest.mark.parametrize(
    "pattern", [r"\s*<cac:InvoiceLine>.*?</cac:InvoiceLine>", r"\s*<cac:AllowanceCharge>.*?</cac:AllowanceCharge>"]
)
def test_nothing_is_calculated_again_where_a_line_or_an_allowance_got_lost(pattern):
    wrong = changed(pattern, "").encode()
    assert einvoice.validate(wrong).fixed(unsafe=True).xml == wrong


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1.234,50", ["1234.50"]),
        ("1,234.50 EUR", ["1234.50"]),
        ("12,345", ["12.345", "12345"]),
        ("12,-", ["12"]),
        ("12.50-", ["-12.50"]),
        ("€ 12,5", ["12.5"]),
        ("1e3", ["1000"]),
        ("12 or 13", []),
        ("1.2.3", []),
    ],
)
def test_readings_of_a_number(text, numbers):
    assert [f"{it:f}" for it in readings(Value(text))] == numbers


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("11.02.2026", ["2026-02-11"]),
        ("11/02/2026", ["2026-02-11", "2026-11-02"]),
        ("11-02-2026", ["2026-02-11", "2026-11-02"]),
        ("11/18/2026", ["2026-11-18"]),
        ("05/05/2026", ["2026-05-05"]),
        ("31.02.2026", []),
        ("20260211", ["2026-02-11"]),
        ("2026-02-11T00:00:00", ["2026-02-11"]),
    ],
)
def test_readings_of_a_date(text, days):
    assert [str(it) for it in dates(Date(text))] == days


@pytest.mark.parametrize(
    ("terms", "right"),
    [
        ("#SKONTO#TAGE=14#PROZENT=2.00#", "#SKONTO#TAGE=14#PROZENT=2.00#\n"),
        ("#SKONTO#TAGE=14#PROZENT=2,00#\n", "#SKONTO#TAGE=14#PROZENT=2.00#\n"),
        ("Danke.\n#SKONTO#TAGE=7#PROZENT=3,5#", "Danke.\n#SKONTO#TAGE=7#PROZENT=3.50#\n"),
    ],
)
def test_form_of_a_cash_discount_is_mended(terms, right):
    pattern = r"<cac:PaymentTerms>\s*<cbc:Note>[^<]*</cbc:Note>"
    wrong = changed(pattern, f"<cac:PaymentTerms><cbc:Note>{terms}</cbc:Note>").encode()
    assert einvoice.validate(wrong).errors
    fixed = einvoice.validate(wrong).fixed()
    if "3,5" in terms:  # two decimals are prescribed, and a program does not add one
        assert not fixed.is_changed
    else:
        assert fixed.xml.decode() == wrong.decode().replace(terms, right)
        assert not fixed.after.errors


def test_empty_optional_element_is_removed():
    wrong = changed("(?=<cac:PostalAddress>)", "<cac:PartyName><cbc:Name></cbc:Name></cac:PartyName>")
    assert "cac:PartyName" not in einvoice.validate(wrong.encode()).fixed().xml.decode()
