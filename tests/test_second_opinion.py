"""The official artefacts beside our rules, or instead of them: what becomes of their verdict in the result."""

import json
import pickle
from pathlib import Path

import pytest

import einvoice
from einvoice.cli import main
from einvoice.reference import ReferenceFinding, ReferenceResult, ReferenceRun
from einvoice.rulebook.catalog import catalog

UBL = (Path(__file__).parent / "samples" / "ubl-invoice.xml").read_bytes()
CII = (Path(__file__).parent / "samples" / "cii-invoice.xml").read_bytes()
WRONG_SUM = UBL.replace(b'"EUR">99.00', b'"EUR">98.99')
CBC = "urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"
INVOICE = "urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
REASONS = [code[10:].lower() for code in catalog() if code.startswith("REFERENCE-") and code != "REFERENCE-RULE"]


def said(monkeypatch, *runs, scenario="", configuration="theirs"):
    """Let the artefacts say this."""
    monkeypatch.setattr(
        "einvoice.reference.validate", lambda data, identity: ReferenceResult(configuration, scenario, runs)
    )


def report(code, severity="fatal", location="/*", text="In their words."):
    return ReferenceFinding(code, severity, severity, location, text)


CORE = ReferenceRun("en16931", "EN 16931", "1.3.16", rules=7)
CIUS = ReferenceRun("cius", "XRechnung", "2.6.0")


def test_an_engine_that_is_unknown_is_an_error():
    with pytest.raises(ValueError, match="'native' or 'reference' or 'both', not 'java'"):
        einvoice.validate(UBL, engine="java")


def test_our_verdict_counts_and_theirs_stands_beside_it(monkeypatch):
    said(monkeypatch, CORE, ReferenceRun("cius", reports=(report("BR-DE-15"),)))
    result = einvoice.validate(UBL, engine="both")
    assert result.is_valid
    assert result.stack.engine == "both"
    assert result.agreement.agreed is False
    assert [finding.code for finding in result.agreement.only_reference] == ["BR-DE-15"]
    assert result.agreement.compared == ("en16931", "cius")


def test_who_finds_the_same_agrees(monkeypatch):
    said(monkeypatch, ReferenceRun("en16931", reports=(report("BR-CO-10"),)), CIUS)
    agreement = einvoice.validate(WRONG_SUM, engine="both").agreement
    assert agreement.agreed
    assert not agreement.only_native


def test_what_only_we_find_is_told(monkeypatch):
    said(monkeypatch, CORE, CIUS)
    agreement = einvoice.validate(WRONG_SUM, engine="both").agreement
    assert agreement.agreed is False
    assert [finding.code for finding in agreement.only_native] == ["BR-CO-10"]


def test_a_layer_that_stopped_is_not_compared(monkeypatch):
    stopped = ReferenceRun("en16931", "EN 16931", executed=False, reason="stopped", detail="no number")
    said(monkeypatch, stopped, CIUS)
    agreement = einvoice.validate(WRONG_SUM, engine="both").agreement
    assert agreement.compared == ("cius",)
    assert agreement.agreed


def test_an_extension_s_artefact_has_the_national_rules_in_it(monkeypatch):
    said(monkeypatch, CORE, ReferenceRun("extension", reports=(report("BR-DE-15"),)))
    extension = b"urn:xeinkauf.de:kosit:xrechnung_3.0#conformant#urn:xeinkauf.de:kosit:extension:xrechnung_3.0"
    document = UBL.replace(b"urn:xeinkauf.de:kosit:xrechnung_3.0", extension)
    without = document.replace(b"<cbc:BuyerReference>", b"<!--").replace(b"</cbc:BuyerReference>", b"-->")
    agreement = einvoice.validate(without, engine="both").agreement
    assert agreement.compared == ("en16931", "cius", "extension")
    assert agreement.agreed
    assert einvoice.validate(document, engine="reference").stack.complete


def test_nothing_compared_is_no_agreement(monkeypatch):
    said(monkeypatch, ReferenceRun("en16931", executed=False, reason="missing"))
    agreement = einvoice.validate(UBL, engine="both").agreement
    assert agreement.agreed is None
    assert "es wurde nichts verglichen" in str(einvoice.validate(UBL, engine="both"))


def test_a_severity_that_differs_is_a_difference(monkeypatch):
    said(monkeypatch, ReferenceRun("en16931", reports=(report("BR-CO-10", "warning"),)), CIUS)
    agreement = einvoice.validate(WRONG_SUM, engine="both").agreement
    assert [finding.code for finding in agreement.only_native] == ["BR-CO-10"]
    assert [finding.severity for finding in agreement.only_reference] == ["warning"]


def test_instead_of_our_rules(monkeypatch):
    said(
        monkeypatch,
        ReferenceRun("en16931", "EN 16931", "1.3.16", rules=7),
        ReferenceRun("cius", reports=(report("BR-DE-15"),)),
    )
    result = einvoice.validate(WRONG_SUM, engine="reference")
    assert [finding.code for finding in result.findings] == ["BR-DE-15"]
    assert result.stack.layer("en16931").rules == 7
    assert result.agreement is None
    assert not result.is_valid


@pytest.mark.parametrize("reason", REASONS)
def test_an_artefact_that_did_not_run_is_an_error(monkeypatch, reason):
    said(monkeypatch, CORE, ReferenceRun("cius", "XRechnung", executed=False, reason=reason, detail="Because."))
    result = einvoice.validate(UBL, engine="reference")
    assert not result.is_valid
    (finding,) = result.findings
    assert finding.code == f"REFERENCE-{reason.upper()}"
    for lang in ("de", "en"):
        assert "cius" in finding.explanation(lang)
        assert "{" not in finding.title(lang) + finding.explanation(lang) + finding.fix(lang)


def test_a_layer_without_an_artefact_is_an_error(monkeypatch):
    said(monkeypatch, CORE)
    result = einvoice.validate(UBL, engine="reference")
    assert [(finding.code, finding.layer) for finding in result.findings] == [("REFERENCE-MISSING", "cius")]


@pytest.mark.parametrize(
    "location",
    [
        f"/*:Invoice[namespace-uri()='{INVOICE}'][1]/*:BuyerReference[namespace-uri()='{CBC}'][1]",
        f"/Q{{{INVOICE}}}Invoice[1]/Q{{{CBC}}}BuyerReference[1]",
        f"/*[local-name()='Invoice'][1]/*[local-name()='BuyerReference' and namespace-uri()='{CBC}'][1]/@x",
        "/ubl:Invoice/cbc:BuyerReference",
    ],
)
def test_the_place_is_found_however_it_is_written(monkeypatch, location):
    said(monkeypatch, CORE, ReferenceRun("cius", reports=(report("BR-DE-15", location=location),)))
    (finding,) = einvoice.validate(UBL, engine="reference").findings
    assert finding.line == UBL[: UBL.index(b"<cbc:BuyerReference>")].count(b"\n") + 1


@pytest.mark.parametrize("location", ["", "/*[", "/nowhere", "count(/*)", "'text'"])
def test_a_place_that_nobody_finds_is_the_invoice(monkeypatch, location):
    said(monkeypatch, CORE, ReferenceRun("cius", reports=(report("BR-DE-15", location=location),)))
    (finding,) = einvoice.validate(UBL, engine="reference").findings
    assert finding.xpath == "/ubl:Invoice"


def test_a_known_code_is_told_in_our_words(monkeypatch):
    said(monkeypatch, CORE, ReferenceRun("cius", reports=(report("BR-DE-15", text="[BR-DE-15] Theirs."),)))
    (finding,) = einvoice.validate(UBL, engine="reference").findings
    assert finding.title("en") == catalog()["BR-DE-15"].title("en")
    assert finding.bt_field == "BT-10"
    assert finding.to_dict("en")["reported"] == "[BR-DE-15] Theirs."


def test_an_unknown_code_is_told_in_theirs(monkeypatch):
    said(monkeypatch, CORE, ReferenceRun("cius", reports=(report("SHOP-7", "warning", text="Name the {shelf}."),)))
    result = einvoice.validate(UBL, engine="reference")
    assert result.is_valid
    (finding,) = result.findings
    assert "SHOP-7" in finding.title("de")
    assert "Name the {shelf}." in finding.explanation("en")
    assert finding.entry.code == "REFERENCE-RULE"


def test_the_answer_has_it_all(monkeypatch):
    said(monkeypatch, CORE, ReferenceRun("cius", "XRechnung", reports=(report("SHOP-7"),)), scenario="UBL")
    result = einvoice.validate(WRONG_SUM, engine="both")
    told = json.loads(json.dumps(result.to_dict("en")))["validation_details"]
    assert told["validation_stack"]["engine"] == "both"
    assert told["reference"]["agreed"] is False
    assert told["reference"]["configuration"] == "theirs"
    assert told["reference"]["scenario"] == "UBL"
    assert [layer["name"] for layer in told["reference"]["layers"]] == ["en16931", "cius"]
    assert [finding["code"] for finding in told["reference"]["only_native"]] == ["BR-CO-10"]
    assert [finding["code"] for finding in told["reference"]["only_reference"]] == ["SHOP-7"]
    assert pickle.loads(pickle.dumps(result)).agreement == result.agreement


def test_the_command_tells_it(monkeypatch, tmp_path, capsys):
    said(monkeypatch, CORE, ReferenceRun("cius", reports=(report("SHOP-7"),)))
    file = tmp_path / "invoice.xml"
    file.write_bytes(UBL)
    assert main(["validate", "--engine", "both", "--lang", "en", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "different findings (compared: EN 16931, XRechnung)" in shown
    assert "SHOP-7" in shown
    assert main(["validate", "--engine", "reference", "--lang", "en", str(file)]) == 1


def test_the_report_tells_it(monkeypatch):
    from einvoice.visualization.report import page as page

    said(monkeypatch, CORE, CIUS)
    told = page._second_opinion(einvoice.validate(WRONG_SUM, engine="both", lang="en"), "en")
    assert "BR-CO-10" in str(told)
    assert not page._second_opinion(einvoice.validate(UBL), "en")


@pytest.mark.slow
def test_the_artefacts_that_come_along():
    pytest.importorskip("saxonche")
    found = einvoice.validate(WRONG_SUM, engine="reference").findings
    assert [(finding.code, finding.layer) for finding in found] == [
        ("BR-CO-10", "en16931"),
        ("REFERENCE-MISSING", "cius"),
    ]
    agreement = einvoice.validate(WRONG_SUM, engine="both").agreement
    assert agreement.agreed
    assert agreement.compared == ("en16931",)
    assert einvoice.validate(CII, engine="both").agreement.agreed is None
