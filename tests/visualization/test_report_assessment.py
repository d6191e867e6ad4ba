"""The report with an assessment: counts and labels for a recipient."""

from __future__ import annotations

import einvoice
from einvoice.visualization import report_html
from tests.assessment.cases import INVALID, LARGE, NO_DATE, VALID, XRECHNUNG, Case

GAPS = next(it for it in VALID if it.name == "several gaps")
TAX = next(it for it in INVALID if it.name == "a wrong amount of tax")


def test_the_report_counts_what_the_law_requires() -> None:
    result = einvoice.validate(GAPS.xml(), lang="de")
    plain, html = (report_html(result, assessment=it) for it in (None, result.assessment()))
    head = html[: html.index("Geprüftes Dokument")]
    assert "Nach deutschem Umsatzsteuerrecht fehlen 3 Angaben" in head
    assert "Umsatzsteuerrecht" not in plain


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
    assert html.count("Was der Aussteller ändert:") == plain.count("Was zu tun ist:")


def test_no_line_breaks_within_a_code() -> None:
    result = einvoice.validate(TAX.xml(), lang="de")
    assert '<span class="unbroken">BR-CO-17</span>' in report_html(result, assessment=result.assessment())


def test_the_amount_of_a_credit_note_is_not_one_to_pay() -> None:
    result = einvoice.validate(Case("", {**LARGE, "type_code": "381"}).xml(), lang="de")
    html = report_html(result, assessment=result.assessment())
    assert "Gutgeschrieben" in html
    assert "Zahlbetrag" not in html
