"""Violations of rules: their values, places and texts."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from einvoice.code_catalog import CatalogEntry, entry
from einvoice.code_catalog.formatting import show
from einvoice.model.invoice import Invoice
from einvoice.resources import shipped
from einvoice.rulebook.files.example import Example
from einvoice.rulebook.files.examples import invoice_of
from einvoice.rulebook.program.engine import rulebook
from einvoice.rulebook.program.program import Program, Violation
from tests.helpers.rule_sets import newest_stack


def invoice(**changes: object) -> Invoice:
    return invoice_of(Example("", {path.replace("__", "."): content for path, content in changes.items()}), shipped())


def program_of(syntax: str) -> Program:
    return rulebook().program(syntax, newest_stack())


def violations(code: str, invoice: Invoice, syntax: str = "UBL") -> list[Violation]:
    return [violation for violation in program_of(syntax).run(invoice) if violation.rule.code == code]


def test_violation_has_values_and_location_of_first_term() -> None:
    document = invoice(totals__line_net="99.9")
    (violation,) = violations("BR-CO-10", document)
    assert violation.place is document.totals.line_net
    assert violation.item is document.totals
    assert violation.values == {"expected": Decimal(100), "actual": Decimal("99.9"), "difference": Decimal("-0.1")}


def test_missing_term_is_located_at_its_group() -> None:
    document = invoice()
    del document.totals.__dict__["line_net"]
    (violation,) = violations("BR-CO-10", document)
    assert violation.place is document.totals
    assert "actual" not in violation.values


def test_location_of_terms_in_single_groups() -> None:
    document = invoice(seller__name=" ", lines=[{"identifier": "1", "price": {"net": "-2"}}])
    (missing_name,) = violations("BR-06", document)
    assert missing_name.place is document.seller.name
    (negative_price,) = violations("BR-27", document)
    assert negative_price.place is document.lines[0].price.net
    assert negative_price.values["actual"] == Decimal(-2)


def test_missing_group_is_located_at_the_invoice() -> None:
    document = invoice()
    document.lines = []
    (violation,) = violations("BR-16", document)
    assert violation.place is document


def test_texts_quote_values_of_the_violation() -> None:
    (violation,) = violations("BR-DE-17", invoice(type_code="325"))
    assert entry("BR-DE-17").title("en", violation.values) == "XRechnung does not provide for invoice type 325"
    assert entry("BR-DE-17").title("de") == "Die Rechnungsart BT-3 ist in der XRechnung nicht vorgesehen"
    (violation,) = violations("BR-CO-21", invoice(allowances_and_charges=[{"indicator": "false", "amount": "10.00"}]))
    assert "(10.00)" in entry("BR-CO-21").explanation("en", violation.values)


def test_texts_quote_counts() -> None:
    (violation,) = violations("BR-E-01", invoice(lines=[{"taxes": [{"category": "E", "scheme": "VAT"}]}]))
    assert violation.values["entry_count"] == 0
    assert "Number of entries found: 0." in entry("BR-E-01").explanation("en", violation.values)


@pytest.mark.parametrize(
    ("value", "actual", "german", "english"),
    [
        (Decimal("119"), Decimal("119.01"), "119,00", "119.00"),
        (Decimal("119.000"), Decimal("119.01"), "119,00", "119.00"),
        (Decimal("0.125"), Decimal("1.1"), "0,125", "0.125"),
        (Decimal("493.15"), Decimal("493.154"), "493,15", "493.15"),
        (Decimal("8.5"), Decimal("8.5000"), "8,50", "8.50"),
        (Decimal("1E+3"), None, "1.000", "1,000"),
        (Decimal("-1234567.891"), Decimal("99.9"), "−1.234.567,891", "−1,234,567.891"),
        (Decimal("-0.10"), Decimal("99.9"), "−0,1", "−0.1"),
        (Decimal("NaN"), Decimal(1), "NaN", "NaN"),
        ("1234.50", Decimal(1), "1234.50", "1234.50"),
        (date(2026, 12, 31), None, "31.12.2026", "2026-12-31"),
        (date(326, 1, 2), None, "02.01.0326", "0326-01-02"),
    ],
)
def test_numbers_and_dates_are_formatted_by_language(value: object, actual: object, german: str, english: str) -> None:
    assert show(value, {"actual": actual}, "de") == german
    assert show(value, {"actual": actual}, "en") == english


def test_placeholder_without_a_value_is_replaced() -> None:
    (violation,) = violations("BR-CO-10", invoice(totals={}))
    assert "Angegeben: nichts, errechnet: 100,00." in entry("BR-CO-10").explanation("de", violation.values)
    assert entry("BR-CO-10").explanation("en").endswith("rounded to two decimals.")


@pytest.mark.parametrize(
    ("values", "title"), [({}, "(nicht angegeben)"), ({"line.x": " "}, "(leer)"), ({"line.x": "A"}, "„A“")]
)
def test_substitute_for_a_missing_value_is_not_quoted(values: dict[str, str], title: str) -> None:
    texts = {"title": "Das Land „{line.x}“ fehlt"}
    catalog_entry = CatalogEntry("X", "fatal", "", "", (), {"de": texts}, "")
    assert catalog_entry.title("de", values) == f"Das Land {title} fehlt"


@pytest.mark.parametrize(
    ("values", "title"),
    [
        ({}, "Le pays (non renseigné) est absent, trouvé : rien"),
        ({"line.x": " "}, "Le pays (vide) est absent, trouvé : vide"),
        ({"line.x": "A"}, "Le pays « A » est absent, trouvé : « A »"),
    ],
)
def test_substitute_in_french_is_not_quoted(values: dict[str, str], title: str) -> None:
    texts = {"title": "Le pays « {line.x} » est absent, trouvé : « {line.x} »"}
    assert CatalogEntry("X", "fatal", "", "", (), {"fr": texts}, "").title("fr", values) == title


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Given: {actual}.", "Given: nothing."),
        ("Given: {line.x}, calculated: {expected}.", "Given: nothing, calculated: cannot be determined."),
        ("{line.empty} % of it is {expected}", "(empty) % of it is (cannot be determined)"),
        ("The charge of {line.amount} {invoice.currency} says", "The charge of (not given) says"),
        ("The charge of 100 {invoice.currency} says", "The charge of 100 (currency BT-5 not given) says"),
        ("An allowance ({line.amount})", "An allowance (not given)"),
        (
            "It is a code; “{line.empty}” is none. “{line.empty}”",
            "It is a code; an empty value is none. An empty value",
        ),
        ("Line {line.identifier} is {line.empty}, {line.empty}", "Line (without a number) is (empty), (empty)"),
        ("The price of line {price.priced_line.identifier}", "The price of line (without a number)"),
    ],
)
def test_substitute_for_a_missing_value_fits_the_sentence(text: str, expected: str) -> None:
    catalog_entry = CatalogEntry("X", "fatal", "", "", (), {"en": {"explanation": text}}, "")
    assert catalog_entry.explanation("en", {"line.empty": ""}) == expected


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("expected", Decimal(119), "119.00"),
        ("difference", Decimal("0.1"), "0.10"),
        ("percent", Decimal(7), "7"),
        ("entries", Decimal(2), "2"),
        ("sum_of_nothing", Decimal(0), "0.00"),
        ("sum", Decimal("12.50"), "12.50"),
        ("vat.rate", Decimal("19.0"), "19.0"),
    ],
)
def test_only_amounts_that_are_compared_have_the_decimals_of_the_document(
    name: str, value: Decimal, expected: str
) -> None:
    catalog_entry = CatalogEntry("X", "fatal", "", "", (), {"en": {"explanation": f"It is {{{name}}}."}}, "")
    assert catalog_entry.explanation("en", {"actual": Decimal("119.01"), name: value}) == f"It is {expected}."


@pytest.mark.parametrize("actual", [{}, {"actual": ""}, {"actual": "438,90"}])
def test_an_amount_without_a_number_to_compare_has_two_decimals(actual: dict[str, str]) -> None:
    catalog_entry = CatalogEntry("X", "fatal", "", "", (), {"en": {"explanation": "It is {expected}."}}, "")
    for expected in (Decimal("438.9"), Decimal("438.90")):
        assert catalog_entry.explanation("en", {**actual, "expected": expected}) == "It is 438.90."


def test_the_sum_of_nothing_has_the_decimals_of_the_expected_amount_if_none_is_given() -> None:
    texts = {"en": {"explanation": "{lines} + {charges} = {expected}"}}
    values = {"lines": Decimal("4.50"), "charges": Decimal(0), "expected": Decimal("4.50")}
    assert CatalogEntry("X", "fatal", "", "", (), texts, "").explanation("en", values) == "4.50 + 0.00 = 4.50"


def test_fix_does_not_suggest_an_undefined_amount() -> None:
    texts = {language: {"explanation": "{actual}/{expected}", "fix": "= {expected}"} for language in ("de", "en")}
    rule = CatalogEntry("X", "fatal", "", "", ("BT-116", "BT-119"), texts, "")
    values = {"actual": Decimal(19)}
    assert rule.explanation("de", values) == "19/(nicht bestimmbar)"
    for language, expected in {
        "de": "Erst dann lässt sich der Betrag errechnen",
        "en": "Only then can the amount",
    }.items():
        fix = rule.fix(language, values)
        assert expected in fix
        assert "BT-116, BT-119" in fix


def test_code_with_different_conditions_by_syntax() -> None:
    document = invoice(payee={"name": "Muster Handel"})
    assert violations("BR-17", document, "UBL")
    assert not violations("BR-17", document, "CII")
    assert violations("BR-17", document, "UBL")[0].rule.terms != program_of("CII").rules[0].terms
