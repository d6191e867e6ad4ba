"""The letter that asks the issuer of an invoice to correct it."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pytest

import einvoice
from einvoice.cli import main
from einvoice.letter.wording import names_element, without_codes
from tests.assessment.cases import DRAFT, DROP, INVALID, LARGE, NO_DATE, VALID, Case, put
from tests.helpers.corpora import CII, UBL

SOFTWARE = re.compile(r"\n\n(Für Ihre Software|For your software|Pour votre logiciel) .*:\n")
WRONG = UBL.replace(b">99.00</cbc:LineExt", b">98.99</cbc:LineExt")
NUMBER = re.compile(r"\bB[TG]-\d")


def case(name: str) -> Case:
    return next(it for it in (*INVALID, *VALID) if it.name == name)


def letter(name: str) -> str:
    return einvoice.validate(case(name).xml()).letter("de")


def buyer(xml: bytes) -> str:
    return str(einvoice.read(xml).buyer.name)


def item(text: str) -> str:
    return next(it for it in text.split("\n\n") if it.startswith("1. "))


def test_it_names_the_invoice_and_closes_like_a_letter(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(WRONG)
    text = einvoice.validate(tmp_path / "a.xml").letter("en")
    assert text.startswith(
        "Subject: invoice LG-2026-0417 of 2026-05-04 – request to correct it\n\nDear Sir or Madam,\n"
    )
    assert "\nThis is what we found in your invoice LG-2026-0417 of 2026-05-04 for 400.00 EUR (file a.xml):\n" in text
    assert f"\nKind regards\n{buyer(WRONG)}\n" in text


def test_a_number_in_french_has_a_narrow_blank() -> None:
    text = einvoice.validate(case("a wrong amount due").xml()).letter("fr")
    assert "« 1\u202f190,00 EUR » au lieu de « 1\u202f190,50 EUR »" in text
    assert "␣" not in text


def test_points_about_the_law_are_named() -> None:
    text = einvoice.validate(case("no town of the buyer").xml()).letter("de", items=True)
    assert "\nZu Punkt 1: Nach deutschem Umsatzsteuerrecht " in text
    assert "stehen: unser Name und unsere Anschrift (§ 14 Abs. 4 Nr. 1 UStG)." in text
    number = put("/ubl:Invoice/cbc:ID", "")
    both = Case("", {**LARGE, **NO_DATE, "buyer_reference": DROP}, (number, put("//cbc:PayableAmount", "1190.50")))
    text = einvoice.validate(both.xml()).letter("de", items=True)
    named = re.search(r"\nZu den Punkten ([\d, und]+): .*Rechnungsnummer .*; Zeitpunkt der Leistung ", text)
    assert named
    points = {it[0]: it for it in text.split("\n\n") if re.match(r"\d\. ", it)}
    about = [any(word in points[it] for word in ("Rechnungsnummer", "Zeitpunkt")) for it in sorted(points)]
    assert sorted(re.findall(r"\d", named[1])) == [
        it for it, is_about in zip(sorted(points), about, strict=True) if is_about
    ]
    assert 0 < sum(about) < len(points)


def test_the_correction_has_the_answers() -> None:
    assert "eine berichtigte Rechnung als E-Rechnung, die die oben genannte ersetzt" in letter("no number")
    assert "Die richtigen Angaben gehören in diese Rechnung; eine Antwort allein ersetzt sie nicht." in letter(
        "no number"
    )


def test_our_address_is_given() -> None:
    result = einvoice.validate(case("no town of the buyer").xml())
    plain, full = (result.letter("de", address=it) for it in ("", "Rathausplatz 1\n20095 Hamburg"))
    assert "fehlt der Ort.\n   In der Rechnung steht: Rathausplatz 1, 20095\n   Unsere Bitte" in plain
    assert "\nBezirksamt Musterstadt\n\n" in plain
    assert "fehlt der Ort.\n   Unsere Anschrift: Rathausplatz 1, 20095 Hamburg\n   Unsere Bitte" in full
    assert "\nBezirksamt Musterstadt\nRathausplatz 1\n20095 Hamburg\n" in full
    assert "\nBezirksamt Musterstadt\nRathausplatz 1, 20095 Hamburg\n" in letter("no number")


def test_an_account_is_confirmed_by_telephone() -> None:
    result = einvoice.validate(Case("", {**LARGE, "payment.iban": "DE02120300000000202052"}).xml())
    text = result.letter("de", items=True)
    assert "lassen wir sie uns telefonisch unter einer uns bekannten Nummer bestätigen; aus einer" in text
    assert "aus einer E-Mail übernehmen wir keine Kontonummer" in text


@pytest.mark.parametrize("lang", ["de", "en", "fr"])
@pytest.mark.parametrize("one", INVALID, ids=lambda one: one.name)
def test_the_running_text_has_no_codes(one: Case, lang: str) -> None:
    text = einvoice.validate(one.xml()).letter(lang)
    running, _, software = SOFTWARE.split(text)
    assert not NUMBER.search(running)
    assert not names_element(running)
    assert all(code not in running and code in software for code in one.errors)


def test_findings_of_one_cause_are_one_item() -> None:
    text = letter("a wrong amount of tax")
    assert "„195,00 EUR“, stimmig wäre „190,00 EUR“" in item(text)
    assert text.endswith("\nZu 1: Zeilen 57, 58, 60 der XML-Datei; BT-110, BT-117, BR-CO-14, BR-S-09, BR-CO-17\n")
    assert "\n2. " not in text


def test_what_the_invoice_does_not_prove_is_asked() -> None:
    text = item(letter("a wrong amount due"))
    assert "Bitte prüfen Sie, was zutrifft:" in text
    assert text.index("Errechnet 1.190,00 EUR, angegeben 1.190,50 EUR.") < text.index("- Oder: Rundungsbetrag")
    assert "- Entweder: Fälliger Zahlungsbetrag von „1.190,50 EUR“ in „1.190,00 EUR“ ändern." in text


def test_place_and_value_are_in_words() -> None:
    text = item(letter("a due date that is none, 2026"))
    assert text.startswith("1. „morgen“ ist kein gültiges Datum.\n   Stelle: Fälligkeitsdatum der Zahlung\n   Unsere ")


def test_an_element_that_is_no_term_is_for_the_software() -> None:
    running, _, software = SOFTWARE.split(letter("an unknown element"))
    assert "cbc:" not in running
    assert "cbc:Unknown" in software


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("no number", "Vorsteuerabzug"),  # content error
        ("no buyer reference", ""),  # business rule error
        ("a due date that is none, 2026", ""),  # format error, transition
        ("a due date that is none, 2028", "Leistungen ab dem 01.01.2028"),
        ("a due date that is none, small amount of 2028", ""),
    ],
)
def test_the_law_is_mentioned_if_a_class_requires_a_correction(name: str, says: str) -> None:
    text = einvoice.validate(case(name).xml()).letter("de", items=True)
    assert says in text
    assert ("§ 14" in text or "Leistungen ab" in text) == bool(says)


def test_without_a_law_nothing_is_said_about_it() -> None:
    xml = case("no number").xml().replace(b"<ram:CountryID>DE<", b"<ram:CountryID>AT<", 1)
    result = einvoice.validate(xml)
    assert result.assessment() is None
    assert "Vorsteuer" not in result.letter("de")
    assert "Vorsteuer" in result.letter("de", law="de")


@pytest.mark.parametrize("xml", [UBL, CII])
def test_there_is_nothing_to_ask_of_a_valid_invoice(xml: bytes) -> None:
    assert re.fullmatch(r"There is nothing to correct in invoice [\w-]+: .*\.\n", einvoice.validate(xml).letter("en"))


def test_an_edition_that_is_not_validated_is_no_fault_of_the_issuer() -> None:
    xml = re.sub(rb"urn:cen.eu:en16931:2017[^<]*", b"urn:cen.eu:en16931:2026", UBL)
    assert "not validated against all rules" in einvoice.validate(xml).letter("en")


def test_items_of_the_law_on_request() -> None:
    gaps = next(it for it in VALID if "USTG14-SUPPLY-DATE" in it.items)
    result = einvoice.validate(gaps.xml())
    assert "nichts zu berichtigen" in result.letter("de")
    text = result.letter("de", items=True)
    assert text.endswith("BT-72, USTG14-SUPPLY-DATE\n")
    assert "§ 14 Abs. 4 Nr. 6 UStG" in text


@pytest.mark.parametrize(
    ("name", "corrects"),
    [("no number", True), ("no date of supply", True), ("no buyer reference", False)],
)
def test_the_letter_says_how_to_correct(name: str, corrects: bool) -> None:
    text = einvoice.validate(case(name).xml()).letter("de", items=True)
    assert text.count("§ 14 Abs. 6 UStG, § 31 Abs. 5 UStDV") == corrects
    assert text.count("eindeutig auf sie verweist") == 1


def test_the_letter_asks_about_a_picture_that_differs() -> None:
    pdf = einvoice.generate({**DRAFT, "format": "ZUGFERD"}).pdf
    xml = einvoice.generate({**DRAFT, "profile": "EN16931"}, "CII").xml
    assert ">264.04<" in xml
    hybrid = einvoice.embed(pdf, xml.replace(">264.04<", ">284.04<").encode()).pdf
    result = einvoice.validate(hybrid, lang="de")
    assert not result.is_valid
    assert any(it.code == "PDF-PICTURE-AMOUNT" for it in result.findings)
    text = result.letter("de", items=True)
    assert "Das Bild zeigt einen anderen Betrag als das XML" in text
    assert "Bitte teilen Sie uns mit, ob die Daten oder das Bild gelten." in text
    assert "Bitte um Berichtigung" in text
    assert "Fälliger Zahlungsbetrag: Daten (XML) 284,04 EUR, Bild 264,04 EUR." in text
    assert "der XML-Daten im PDF" in text
    assert "der XML-Datei" not in text
    found = result.assessment()
    assert found is not None
    assert "Bezahlen: noch nicht. Die Daten (XML) verlangen 284,04 EUR, das Bild 264,04 EUR;" in found.to_text("de")
    assert found.case("head", "de") == "Bild und Daten widersprechen sich"
    assert "auch die Daten allein gehen nicht auf" in found.to_text("de")


def test_where_only_picture_and_data_differ_an_answer_is_asked_for() -> None:
    pdf = einvoice.generate({**DRAFT, "format": "ZUGFERD"}).pdf
    result = einvoice.validate(einvoice.embed(pdf, Case("", LARGE, (), "CII").xml()).pdf, lang="de")
    assert result.is_valid
    text = result.letter("de", items=True)
    assert "– Bitte um Klärung\n" in text
    assert "Bitte antworten Sie uns innerhalb von 14 Tagen." in text
    assert "Berichtigung" not in text
    found = result.assessment()
    assert found is not None
    assert "Bestätigt der Aussteller sie, sind 190,00 EUR abziehbar." in found.to_text("de")


def test_the_letter_asks_for_an_e_invoice_where_nothing_but_the_profile_is_wrong() -> None:
    draft = {**DRAFT, "profile": "BASIC_WL", "format": "ZUGFERD", "service_date": "2028-02-01"}
    result = einvoice.validate(einvoice.generate(draft).pdf, lang="de")
    assert not result.errors
    found = result.assessment()
    assert found is not None
    assert (found.kind, found.further_items, found.asks_issuer) == ("other_invoice", (), True)
    text = result.letter("de", items=True)
    assert "Für Leistungen ab dem 01.01.2028 brauchen wir eine E-Rechnung" in text
    assert "aufgefallen" not in text
    assert "Bitte um eine E-Rechnung" in text


def test_the_letter_asks_about_a_line_that_does_not_add_up() -> None:
    edit = put("//cac:InvoiceLine/cac:Price/cbc:PriceAmount", "101.00")
    text = einvoice.validate(Case("", LARGE, (edit,)).xml()).letter("de", items=True)
    assert "Nettobetrag der Position: errechnet 1.010,00 EUR, angegeben 1.000,00 EUR." in text
    assert "   Position 1: „Beratung“\n" in text
    assert "Bitte prüfen Sie Menge, Preis und Betrag" in text


def test_what_a_cause_explains_is_not_asked_again() -> None:
    edit = put("//cac:InvoiceLine/cbc:LineExtensionAmount", "1010.00")
    text = einvoice.validate(Case("", LARGE, (edit,)).xml()).letter("de", items=True)
    assert "„1.010,00 EUR“, stimmig wäre „1.000,00 EUR“" in item(text)
    assert "PLAUS-LINE-AMOUNT" in text
    assert "\n2. " not in text


def test_the_letter_is_from_us_to_you() -> None:
    text = letter("no name of the buyer")
    assert item(text) == "1. Unser Name fehlt.\n   Unsere Bitte: Unseren Namen angeben."
    assert item(letter("no name of the seller")) == "1. Ihr Name fehlt.\n   Unsere Bitte: Ihren Namen angeben."
    for one in (it for it in (*INVALID, *VALID) if not it.name.startswith("self-billing")):
        running = SOFTWARE.split(einvoice.validate(one.xml()).letter("de", items=True))[0]
        assert not re.search(r"\bKäufers?\b(?! \(wir\))", running), one.name


def test_nothing_has_to_be_filled_in() -> None:
    for one in (*INVALID, *VALID):
        running = SOFTWARE.split(einvoice.validate(one.xml()).letter("de", items=True))[0]
        assert not re.search(r"[\[\]{}_]", running), one.name
        assert "Steuerberatung" not in running


def test_the_day_of_the_answer() -> None:
    result = einvoice.validate(WRONG)
    assert "Bitte senden Sie uns innerhalb von 14 Tagen eine" in result.letter("de")
    assert "Bitte senden Sie uns bis zum 11.12.2026 eine" in result.letter("de", by=datetime.date(2026, 12, 11))


def test_a_date_of_issue_in_the_future_is_asked_about() -> None:
    result = einvoice.validate(Case("", LARGE).xml(), lang="de")
    day = result.invoice.issue_date.date
    assert day is not None
    for days, is_asked in ((0, False), (1, False), (2, True)):
        when = day - datetime.timedelta(days=days)
        assert (
            "1. Das Rechnungsdatum 20.11.2026 liegt in der Zukunft." in result.letter("de", items=True, when=when)
        ) == is_asked
        found = result.assessment(when=when)
        assert found is not None
        assert any(it.startswith("Rechnungsdatum: 20.11.2026 liegt nach") for it in found.steps("de")) == is_asked
        assert found.asks_issuer == is_asked
    assert result.is_valid


def test_quotations_from_the_document_stay() -> None:
    assert without_codes("Artikel „Kabel (BT-1)“ in BT-131 (BT-131)", "de") == (
        "Artikel „Kabel (BT-1)“ in „Nettobetrag der Position“"
    )


def test_a_document_cannot_add_lines() -> None:
    xml = WRONG.replace(b">LG-2026-0417<", b">LG&#10;&#10;Zahlen Sie an<")
    assert "\nZahlen" not in einvoice.validate(xml).letter("de")


def test_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match="'xx'"):
        einvoice.validate(UBL).letter("xx")
    with pytest.raises(ValueError, match="argument 'law' must be 'de'"):
        einvoice.validate(UBL).letter(law="xx")


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.xml").write_bytes(case("no number").xml())
    assert main(["letter", str(tmp_path / "in.xml"), "--lang", "de"]) == 1
    printed = capsys.readouterr().out
    assert "Rechnung ohne Nummer" in printed
    assert main(["letter", str(tmp_path / "in.xml"), "--lang", "de", "-o", str(tmp_path / "out.txt")]) == 1
    assert (tmp_path / "out.txt").read_text("utf-8") == printed
    assert main(["letter", str(tmp_path / "in.xml"), "--lang", "de", "--by", "2026-12-11"]) == 1
    assert "bis zum 11.12.2026" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["letter", str(tmp_path / "in.xml"), "--law", "xx"])
    assert main(["letter", str(tmp_path / "none.xml")]) == 2
    assert "none.xml" in capsys.readouterr().err
