"""The assessment of a result under German VAT law: classes of errors, what the document is, and missing items."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys

import pytest

import einvoice
from einvoice.assessment import law
from tests.assessment.cases import INVALID, LARGE, NO_DATE, VALID, Case
from tests.helpers.corpora import CII, UBL

LAYER = "ustg-14"


def assessed(case: Case, **options: bool) -> einvoice.assessment.Assessment:
    found = einvoice.validate(case.xml(), lang="en").assessment(**options)
    assert found is not None
    return found


def test_the_table_has_twenty_of_each() -> None:
    assert (len(VALID), len(INVALID)) == (20, 20)
    assert {name for case in INVALID for name in case.errors.values()} == set(law("de").classes)
    assert len({code for case in VALID for code in case.items}) == len(list(law("de").rulesets[LAYER].glob("USTG*")))


@pytest.mark.parametrize("case", [*VALID, *INVALID], ids=lambda case: case.name)
def test_case(case: Case) -> None:
    result = einvoice.validate(case.xml(), lang="en")
    found = result.assessment()
    assert found is not None
    assert result.is_valid == (not case.errors)
    assert {it.finding.code: it.error_class for it in found.errors} == case.errors
    assert {it.finding.code for it in found.errors if it.is_contested} == case.contested
    assert {it.code for it in found.items} == case.items
    assert (found.kind, found.follows.get("key", "")) == (case.kind, case.follows)


@pytest.mark.parametrize("lang", ["de", "en", "fr"])
def test_every_output_says_that_it_is_no_advice(lang: str) -> None:
    note = {"de": "keine Steuerberatung", "en": "not tax advice", "fr": "pas un conseil fiscal"}[lang]
    for case in (VALID[0], INVALID[0]):
        found = assessed(case)
        assert note in found.to_text(lang)
        assert note in found.to_dict(lang)["note"]


def test_a_class_comes_with_its_basis_and_what_is_contested() -> None:
    (error,) = assessed(INVALID[0]).to_dict("de")["errors"]
    assert (error["code"], error["class_name"], error["item"]) == ("BR-02", "Inhaltsfehler", "Rechnungsnummer")
    assert "35a" in error["basis"]
    assert error["item_source"] == "§ 14 Abs. 4 Nr. 4 UStG"
    assert "umstritten" in error["contested"]
    text = assessed(INVALID[0]).to_text("de")
    assert "BR-02 (Rechnungsnummer; umstritten)" in text
    assert "Nach einer anderen Meinung" in text


def test_every_code_of_the_catalog_has_a_class_or_a_reason() -> None:
    known = law("de")
    for entry in einvoice.catalog().values():
        for layer in entry.layers:
            found = known.classify(entry.code, layer, entry.severity, entry.terms)
            assert bool(found.error_class) != bool(found.reason), entry.code
            is_error = entry.severity == "fatal" and layer not in ("file", "pdf")
            assert bool(found.error_class) >= is_error, entry.code


def test_items_are_information_of_a_layer_of_their_own() -> None:
    case = next(it for it in VALID if it.name == "several gaps")
    result = einvoice.validate(case.xml())
    before = result.to_dict()
    found = result.assessment()
    assert found is not None
    assert {(it.layer, it.severity) for it in found.items} == {(LAYER, "information")}
    assert all(it.entry.source.startswith("§ 14") for it in found.items)
    assert result.to_dict() == before
    assert LAYER not in json.dumps(before)
    assert found.items[0].title("de") != found.items[0].title("en")


def test_one_setting_switches_the_items_off() -> None:
    case = next(it for it in VALID if it.name == "several gaps")
    assert assessed(case).items
    assert assessed(case, items=False).items == ()


def test_the_law_is_that_of_both_parties_or_the_one_that_is_given() -> None:
    case = Case("a buyer in Austria", {**LARGE, "buyer.country_code": "AT"})
    result = einvoice.validate(case.xml())
    assert result.assessment() is None
    assert result.assessment("de") is not None
    with pytest.raises(ValueError, match="argument 'law' must be 'de', not 'xx'"):
        result.assessment("xx")


@pytest.mark.parametrize(
    ("changes", "day"),
    [
        (LARGE, datetime.date(2026, 11, 18)),
        ({**LARGE, **NO_DATE}, None),
        ({**LARGE, "invoicing_period": {"start": "2026-11-01", "end": "2026-11-30"}}, datetime.date(2026, 11, 30)),
    ],
)
@pytest.mark.parametrize("syntax", ["UBL", "CII"])
def test_date_of_supply(changes: dict[str, object], day: datetime.date | None, syntax: str) -> None:
    assert assessed(Case("", changes, syntax=syntax)).supply_date == day


def test_minimum_is_no_e_invoice() -> None:
    minimum = CII.replace(b"urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0",
                          b"urn:factur-x.eu:1p0:minimum")  # fmt: skip
    assert minimum != CII
    found = einvoice.validate(minimum).assessment("de")
    assert found is not None
    assert found.kind == "other_invoice"
    assert found.profile in found.statement("de")


def test_another_edition_is_open() -> None:
    other = UBL.replace(b"urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0",
                        b"urn:cen.eu:en16931:2026")  # fmt: skip
    found = einvoice.validate(other).assessment("de")
    assert found is not None
    assert found.kind == "open"
    assert [(it.error_class, bool(it.classification.reason)) for it in found.errors] == [("", True)]


def test_a_validation_does_not_import_it() -> None:
    code = "import sys, einvoice; einvoice.validate(sys.stdin.buffer.read()).to_dict(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], input=UBL, capture_output=True, check=True, timeout=60)
    assert "einvoice.validation" in done.stdout.decode().split()
    assert "einvoice.assessment" not in done.stdout.decode()


def test_the_rules_of_the_items_hold_for_their_examples() -> None:
    folder = law("de").folder
    command = [sys.executable, "-m", "einvoice.cli", "rules", "check", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, "No problems found" in done.stdout + done.stderr) == (0, True), done.stdout + done.stderr


def test_the_catalog_has_the_class_of_each_code() -> None:
    catalog = einvoice.catalog(lang="de")
    frame = catalog.to_frame().set_index("code")["error_class"]
    assert frame[["SCHEMA-VALUE-DATE", "BR-02", "BR-DE-15", "PDF-CHECKSUM"]].tolist() == [
        "format",
        "content",
        "business_rule",
        "",
    ]
    assert set(frame) == {*law("de").classes, ""}
    (described,) = catalog.error_classes("BR-02", "de").values()
    basis = "BMF-Schreiben vom 15.10.2025, Rn. 35, 35a"
    assert described == f"Inhaltsfehler ({basis}); Rechnungsnummer; umstritten; auch möglich: Formatfehler"
    (reason,) = catalog.error_classes("PDF-CHECKSUM", "de").values()
    assert reason == "Betrifft die PDF-Datei um die Rechnung; es gilt das XML."
    for text in (catalog.to_html(), catalog.to_markdown()):
        assert text.count("Fehlerklasse nach deutschem Umsatzsteuerrecht") == len(catalog)
