"""The report with an assessment: counts and labels for a recipient."""

from __future__ import annotations

import datetime

import einvoice
from einvoice.visualization import report_html
from tests.assessment.cases import DRAFT, DROP, INVALID, LARGE, NO_DATE, VALID, XRECHNUNG, Case

GAPS = next(it for it in VALID if it.name == "several gaps")
TAX = next(it for it in INVALID if it.name == "a wrong amount of tax")


def test_the_head_says_what_the_verdict_does_not() -> None:
    result = einvoice.validate(GAPS.xml(), lang="de")
    plain, html = (report_html(result, assessment=it) for it in (None, result.assessment()))
    assert "✓ Gültig" in plain
    assert "! Format gültig, aber Pflichtangaben (§ 14 UStG) fehlen oder sind unvollständig" in html
    assert "hält alle Regeln ein" in plain
    assert "hält alle Regeln ein" not in html
    assert 'class="verdict attention"' in html
    assert "✓ Gültig" not in html


def test_the_head_of_a_valid_invoice_without_gaps_is_that_of_the_plain_report() -> None:
    result = einvoice.validate(VALID[0].xml(), lang="de")
    html = report_html(result, assessment=result.assessment(when=datetime.date(2026, 11, 21)))
    assert '<div class="verdict valid"><p class="word">✓ Gültig</p>' in html


def test_the_answers_are_above_the_data_of_the_file() -> None:
    result = einvoice.validate(TAX.xml(), lang="de")
    html = report_html(result, assessment=result.assessment())
    assert html.index("Aussteller (Verkäufer)") < html.index("Was zu tun ist") < html.index("SHA-256 der Datei")
    assert "1.195,00 EUR, noch zu klären" in html or "1.190,00 EUR, noch zu klären" in html


def test_a_change_is_shown_once() -> None:
    result = einvoice.validate(TAX.xml(), lang="de")
    html = report_html(result, assessment=result.assessment())
    assert html.count("siehe oben, Ursache 1") == len(result.findings) == 3
    assert "siehe oben" not in report_html(result)


def test_findings_about_the_picture_are_one_table() -> None:
    pdf = einvoice.generate({**DRAFT, "format": "ZUGFERD"}).pdf
    xml = einvoice.generate({**DRAFT, "profile": "EN16931"}, "CII").xml
    assert ">264.04<" in xml
    result = einvoice.validate(einvoice.embed(pdf, xml.replace(">264.04<", ">284.04<").encode()).pdf, lang="de")
    plain, html = (report_html(result, assessment=it) for it in (None, result.assessment()))
    found = [it for it in result.findings if it.code == "PDF-PICTURE-AMOUNT"]
    title = found[0].title("de")
    assert len(found) > 1
    assert (plain.count(title), html.count(title)) == (len(found), 1)
    assert html.count("<td>284,04</td><td>264,04</td>") == len(found)
    assert "284,04 EUR in den Daten (XML), 264,04 EUR im Bild" in html
    assert "sie ändern das Ergebnis der Rechnung nicht" in plain
    assert "sie ändern das Ergebnis der Rechnung nicht" not in html


def test_information_that_matters_for_vat_is_not_called_for_the_record() -> None:
    xml = Case("", {**LARGE, **NO_DATE, **XRECHNUNG}).xml()
    result = einvoice.validate(xml, lang="de")
    plain, html = (report_html(result, assessment=it) for it in (None, result.assessment()))
    assert [it.code for it in result.findings] == ["BR-DE-TMP-32"]
    assert "Zur Kenntnis" in plain
    assert "Zur Kenntnis" not in html


def test_changes_are_those_of_the_issuer() -> None:
    result = einvoice.validate(TAX.xml(), lang="de")
    plain, html = (report_html(result, assessment=it) for it in (None, result.assessment()))
    assert "Was zu tun ist:" in plain
    assert "Was zu tun ist:" not in html
    changed = html.count("Was der Aussteller ändert:") + html.count("Vorschlag für den Aussteller:")
    assert changed == plain.count("Was zu tun ist:")


def test_no_line_breaks_within_a_code() -> None:
    result = einvoice.validate(TAX.xml(), lang="de")
    assert '<span class="unbroken">BR-CO-17</span>' in report_html(result, assessment=result.assessment())


def test_the_amount_of_a_credit_note_is_not_one_to_pay() -> None:
    result = einvoice.validate(Case("", {**LARGE, "type_code": "381"}).xml(), lang="de")
    html = report_html(result, assessment=result.assessment())
    assert "Gutgeschrieben" in html
    assert "Zahlbetrag" not in html


def test_the_check_by_the_law_is_among_the_rule_sets() -> None:
    result = einvoice.validate(GAPS.xml(), lang="de")
    plain, html, without = (
        report_html(result, assessment=it) for it in (None, result.assessment(), result.assessment(items=False))
    )
    assert '§ 14 UStG</th><td>Pflichtangaben nach §§ 14, 14a UStG, die EN 16931 nicht verlangt, 1.0<div class="' in html
    assert html.count("3 Hinweise</td>") == 1
    assert "§ 14 UStG</th>" not in plain + without


def test_amounts_and_due_date_are_always_shown() -> None:
    result = einvoice.validate(Case("", {**LARGE, "due_date": DROP}).xml(), lang="de")
    html = report_html(result, assessment=result.assessment())
    for label, text in (
        ("Gesamt netto", "1.000,00 EUR"),
        ("Umsatzsteuer", "190,00 EUR"),
        ("Fällig am", "nicht angegeben"),
    ):
        assert f"{label}</th><td>{text}</td>" in html


def test_the_amount_of_data_that_are_no_invoice_is_compared_with_the_pdf() -> None:
    pdf = einvoice.generate({**DRAFT, "profile": "MINIMUM", "format": "ZUGFERD"}).pdf
    result = einvoice.validate(pdf, lang="de")
    html = report_html(result, assessment=result.assessment())
    assert "264,04 EUR nach den Daten (XML); mit dem PDF vergleichen" in html
    assert "224,90 EUR in den Daten (XML)</td>" in html
    assert "Was der Aussteller ändern kann:" in html


def test_the_zone_of_the_time_is_named() -> None:
    result = einvoice.validate(GAPS.xml(), lang="de")
    when = datetime.datetime(2026, 11, 27, 23, 5, tzinfo=datetime.UTC)
    plain, html = (report_html(result, assessment=it, when=when) for it in (None, result.assessment()))
    assert "27.11.2026, 23:05 UTC</td>" in plain
    assert "27.11.2026, 23:05 Uhr Weltzeit (UTC); in Deutschland eine Stunde später, zur Sommerzeit zwei</td>" in html
