"""The letter that asks the issuer of an invoice to correct it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import einvoice
from einvoice.cli import main
from einvoice.letter.wording import names_element, without_codes
from tests.assessment.cases import DRAFT, INVALID, LARGE, VALID, Case, put
from tests.helpers.corpora import CII, UBL

SOFTWARE = re.compile(r"^   (Für Ihre Software|For your software|Pour votre logiciel) ?: .*$", re.MULTILINE)
WRONG = UBL.replace(b">99.00</cbc:LineExt", b">98.99</cbc:LineExt")
NUMBER = re.compile(r"\bB[TG]-\d")


def case(name: str) -> Case:
    return next(it for it in (*INVALID, *VALID) if it.name == name)


def letter(name: str) -> str:
    return einvoice.validate(case(name).xml()).letter("de")


def item(text: str) -> str:
    return next(it for it in text.split("\n\n") if it.startswith("1. "))


def test_it_names_the_invoice_and_closes_like_a_letter(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(WRONG)
    text = einvoice.validate(tmp_path / "a.xml").letter("en")
    assert text.startswith("Subject: Request to correct invoice LG-2026-0417\n\nDear Sir or Madam,\n")
    facts = [
        "Invoice number: LG-2026-0417",
        "Seller name: Lindenhof Gartenbau GmbH",
        "EUR",
        "File: a.xml",
        "\nKind regards\n",
    ]
    assert [it for it in facts if it not in text] == []


@pytest.mark.parametrize("lang", ["de", "en", "fr"])
@pytest.mark.parametrize("one", INVALID, ids=lambda one: one.name)
def test_the_running_text_has_no_codes(one: Case, lang: str) -> None:
    text = einvoice.validate(one.xml()).letter(lang)
    running = SOFTWARE.sub("", text)
    assert not NUMBER.search(running)
    assert not names_element(running)
    assert all(code not in running and code in text for code in one.errors)


def test_findings_of_one_cause_are_one_item() -> None:
    text = letter("a wrong amount of tax")
    assert "„195,00“ statt „190,00“" in item(text)
    assert "BR-CO-14, BR-S-09, BR-CO-17" in item(text)
    assert "\n2. " not in text


def test_what_the_invoice_does_not_prove_is_asked() -> None:
    text = item(letter("a wrong amount due"))
    assert "Bitte prüfen Sie, was zutrifft:" in text
    assert text.index("Erwartet 1.190,00; gefunden 1.190,50.") < text.index("- Rundungsbetrag")


def test_place_and_value_are_in_words() -> None:
    text = item(letter("a due date that is none, 2026"))
    assert text.startswith("1. „morgen“ ist kein gültiges Datum.\n   Stelle: Fälligkeitsdatum der Zahlung\n   Unsere ")


def test_an_element_that_is_no_term_is_for_the_software() -> None:
    head, *others = item(letter("an unknown element")).split("\n")
    assert "cbc:" not in head
    assert "cbc:Unknown" in others[-1]


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
    text = letter(name)
    assert says in text
    assert ("keine Steuerberatung" in text) == bool(says)


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
    assert "BT-72, USTG14-SUPPLY-DATE\n" in text
    assert "nicht bestanden" not in text
    assert "§ 14 Abs. 4 Nr. 6 UStG" in text
    assert "keine Steuerberatung" in text


@pytest.mark.parametrize(
    ("name", "corrects"),
    [("no number", True), ("no date of supply", True), ("no buyer reference", False)],
)
def test_the_letter_says_how_to_correct(name: str, corrects: bool) -> None:
    text = einvoice.validate(case(name).xml()).letter("de", items=True)
    assert text.count("§ 14 Abs. 6 UStG, § 31 Abs. 5 UStDV") == corrects
    assert text.count("eindeutig auf sie verweist") == corrects


def test_the_letter_asks_about_a_picture_that_differs() -> None:
    pdf = einvoice.generate({**DRAFT, "format": "ZUGFERD"}).pdf
    xml = einvoice.generate({**DRAFT, "profile": "EN16931"}, "CII").xml
    assert ">264.04<" in xml
    hybrid = einvoice.embed(pdf, xml.replace(">264.04<", ">284.04<").encode()).pdf
    result = einvoice.validate(hybrid, lang="de")
    assert any(it.code == "PDF-PICTURE-AMOUNT" for it in result.findings)
    text = result.letter("de", items=True)
    assert "Das Bild zeigt einen anderen Betrag als das XML" in text
    assert "Bild und Daten übereinstimmen" in text
    found = result.assessment()
    assert found is not None
    assert any(it.startswith("Bild und Daten:") for it in found.steps("de"))


def test_the_letter_asks_for_an_e_invoice_where_nothing_but_the_profile_is_wrong() -> None:
    draft = {**DRAFT, "profile": "BASIC_WL", "format": "ZUGFERD", "service_date": "2028-02-01"}
    result = einvoice.validate(einvoice.generate(draft).pdf, lang="de")
    assert not result.errors
    found = result.assessment()
    assert found is not None
    assert (found.kind, found.further_items, found.asks_issuer) == ("other_invoice", (), True)
    text = result.letter("de", items=True)
    assert "Für Leistungen ab dem 01.01.2028 brauchen wir eine E-Rechnung" in text
    assert "Das ist uns aufgefallen" not in text


def test_the_letter_asks_about_a_line_that_does_not_add_up() -> None:
    edit = put("//cac:InvoiceLine/cac:Price/cbc:PriceAmount", "101.00")
    text = einvoice.validate(Case("", LARGE, (edit,)).xml()).letter("de", items=True)
    assert "Nettobetrag der Position: erwartet 1.010,00, gefunden 1.000,00." in text
    assert "Bitte prüfen Sie Menge, Preis und Betrag" in text


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
    with pytest.raises(SystemExit):
        main(["letter", str(tmp_path / "in.xml"), "--law", "xx"])
    assert main(["letter", str(tmp_path / "none.xml")]) == 2
    assert "none.xml" in capsys.readouterr().err
