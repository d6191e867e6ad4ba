"""Sentences with values: what is written in one language is read in all, and nothing else is."""

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from einvoice.localization import languages
from einvoice.model.worded.down_payments import DownPayment, Sum, read_note, remainder, write_note
from einvoice.model.worded.payment_terms import Discount, Retention, read_discount, read_retention

LANGUAGES = st.sampled_from(languages())
AMOUNTS = st.decimals(0, 10**9, places=2, allow_nan=False)
DAYS = st.none() | st.dates(datetime.date(1900, 1, 1))
NAMES = st.none() | st.text("ABC 0123-/.;()", min_size=1, max_size=12).map(str.strip).filter(bool)


@st.composite
def down_payments(draw):
    tax = draw(st.none() | AMOUNTS)
    number = draw(NAMES)
    return DownPayment(
        amount=draw(AMOUNTS),
        tax=tax,
        rate=None if tax is None else draw(st.none() | st.decimals(0, 30, places=1).map(Decimal.normalize)),
        received=draw(DAYS),
        number=number,
        issued=draw(DAYS) if number else None,
    )


@given(st.lists(down_payments(), min_size=1, max_size=3), AMOUNTS, LANGUAGES)
def test_down_payments_are_read_as_written(written, amount, lang):
    total = Sum(amount, amount / 2 if amount % 2 == 0 else None)
    note = write_note(total, written, "EUR", lang)
    assert len(note.split("\n")) == len(written) + 1
    found = read_note(note, total, "EUR")
    assert write_note(total, found, "EUR", lang) == note
    assert [(it.amount, it.tax, it.received) for it in found] == [(it.amount, it.tax, it.received) for it in written]


@given(AMOUNTS, DAYS, NAMES, LANGUAGES)
def test_retentions_are_read_as_written(amount, until, reason, lang):
    written = Retention(amount, until, reason)
    assert read_retention(written.write("EUR", lang), "EUR") == written


@given(st.integers(0, 999), st.integers(0, 10000), st.none() | AMOUNTS, LANGUAGES)
def test_discounts_are_read_as_written(days, percent, base, lang):
    written = Discount(days, Decimal(percent) / 100, base)
    assert read_discount(written.write("EUR", lang), "EUR") == written


PAID = [DownPayment(Decimal("119.00"), Decimal("19.00"), Decimal(19), datetime.date(2026, 9, 1), "A-1")]
TOTAL = Sum(Decimal("238.00"), Decimal("38.00"))
NOTE = "Anzahlung 119,00 EUR am 01.09.2026: netto 100,00 EUR, Umsatzsteuer 19,00 EUR (19 %); Rechnung A-1"
REST = "Restbetrag 119,00 EUR: netto 100,00 EUR, Umsatzsteuer 19,00 EUR"


def test_remainder():
    assert write_note(TOTAL, PAID, "EUR", "de") == f"{NOTE}\n{REST}"
    assert remainder(TOTAL, PAID) == Sum(Decimal("119.00"), Decimal("19.00"))
    assert remainder(TOTAL, [DownPayment(Decimal("119.00"))]) == Sum(Decimal("119.00"))


@pytest.mark.parametrize(
    "text",
    [
        "", "Bitte beachten", NOTE, REST, f"{NOTE}\n{REST}\nDanke", f"Danke\n{NOTE}\n{REST}",
        f"{NOTE}\n{REST.replace('119', '118')}",  # another remainder
        f"{NOTE.replace('netto 100', 'netto 90')}\n{REST}",  # does not add up
        f"{NOTE.replace('01.09.2026', '31.09.2026')}\n{REST}",
        f"{NOTE.replace('119,00', '119,0')}\n{REST}",
        f"{NOTE}\n{REST}".replace("EUR", "USD"),
    ],
)  # fmt: skip
def test_other_notes_are_no_down_payments(text):
    assert read_note(f"{NOTE}\n{REST}", TOTAL, "EUR") == PAID
    assert read_note(text, TOTAL, "EUR") == []


@pytest.mark.parametrize("line", ["", "Zahlbar sofort", "Einbehalt", "2 % Skonto bei Zahlung", "Einbehalt 5 EUR"])
def test_other_terms_are_no_agreements(line):
    assert read_discount(line, "EUR") is None
    assert read_retention(line, "EUR") is None
