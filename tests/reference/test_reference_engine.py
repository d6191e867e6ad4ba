"""Reference engine: official Schematron findings beside or instead of the native ones, and their agreement."""

import json
import pickle

import pytest

import einvoice
from einvoice.cli import main
from einvoice.code_catalog import catalog
from einvoice.reference import ReferenceFinding, ReferenceResult, ReferenceRun
from tests.helpers.paths import SAMPLES

UBL = (SAMPLES / "ubl-invoice.xml").read_bytes()
CII = (SAMPLES / "cii-invoice.xml").read_bytes()
WRONG_SUM = UBL.replace(b'"EUR">99.00', b'"EUR">98.99')
CBC = "urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"
INVOICE = "urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
REASONS = [code[10:].lower() for code in catalog() if code.startswith("REFERENCE-") and code != "REFERENCE-RULE"]


def set_reference_runs(monkeypatch, *runs, scenario="", configuration="reference-rules"):
    """Make the reference engine return these runs."""
    monkeypatch.setattr(
        "einvoice.reference.validate", lambda data, identity: ReferenceResult(configuration, scenario, runs)
    )


def reference_finding(code, severity="fatal", location="/*", text="Reference text."):
    return ReferenceFinding(code, severity, severity, location, text)


CORE = ReferenceRun("en16931", "EN 16931", "1.3.16", rules=7)
CIUS = ReferenceRun("cius", "XRechnung", "2.6.0")


def test_unknown_engine_is_rejected():
    with pytest.raises(ValueError, match="'native' or 'reference' or 'both', not 'java'"):
        einvoice.validate(UBL, engine="java")


def test_native_verdict_applies_and_reference_findings_are_compared(monkeypatch):
    set_reference_runs(monkeypatch, CORE, ReferenceRun("cius", reports=(reference_finding("BR-DE-15"),)))
    result = einvoice.validate(UBL, engine="both")
    assert result.is_valid
    assert result.stack.engine == "both"
    assert result.agreement.agreed is False
    assert [finding.code for finding in result.agreement.only_reference] == ["BR-DE-15"]
    assert result.agreement.compared == ("en16931", "xrechnung")


def test_equal_findings_agree(monkeypatch):
    set_reference_runs(monkeypatch, ReferenceRun("en16931", reports=(reference_finding("BR-CO-10"),)), CIUS)
    agreement = einvoice.validate(WRONG_SUM, engine="both").agreement
    assert agreement.agreed
    assert not agreement.only_native


def test_native_only_findings_are_listed(monkeypatch):
    set_reference_runs(monkeypatch, CORE, CIUS)
    agreement = einvoice.validate(WRONG_SUM, engine="both").agreement
    assert agreement.agreed is False
    assert [finding.code for finding in agreement.only_native] == ["BR-CO-10"]


def test_stopped_layer_is_not_compared(monkeypatch):
    stopped = ReferenceRun("en16931", "EN 16931", executed=False, reason="stopped", detail="no number")
    set_reference_runs(monkeypatch, stopped, CIUS)
    agreement = einvoice.validate(WRONG_SUM, engine="both").agreement
    assert agreement.compared == ("xrechnung",)
    assert agreement.agreed


def test_extension_schematron_includes_the_national_rules(monkeypatch):
    set_reference_runs(monkeypatch, CORE, ReferenceRun("extension", reports=(reference_finding("BR-DE-15"),)))
    extension = b"urn:xeinkauf.de:kosit:xrechnung_3.0#conformant#urn:xeinkauf.de:kosit:extension:xrechnung_3.0"
    document = UBL.replace(b"urn:xeinkauf.de:kosit:xrechnung_3.0", extension)
    no_buyer_reference = document.replace(b"<cbc:BuyerReference>", b"<!--").replace(b"</cbc:BuyerReference>", b"-->")
    agreement = einvoice.validate(no_buyer_reference, engine="both").agreement
    assert agreement.compared == ("en16931", "xrechnung", "xrechnung-extension")
    assert agreement.agreed
    assert einvoice.validate(document, engine="reference").stack.complete


def test_agreement_is_unknown_if_nothing_was_compared(monkeypatch):
    set_reference_runs(monkeypatch, ReferenceRun("en16931", executed=False, reason="missing"))
    agreement = einvoice.validate(UBL, engine="both").agreement
    assert agreement.agreed is None
    assert "es wurde nichts verglichen" in str(einvoice.validate(UBL, engine="both"))


def test_different_severities_disagree(monkeypatch):
    set_reference_runs(monkeypatch, ReferenceRun("en16931", reports=(reference_finding("BR-CO-10", "warning"),)), CIUS)
    agreement = einvoice.validate(WRONG_SUM, engine="both").agreement
    assert [finding.code for finding in agreement.only_native] == ["BR-CO-10"]
    assert [finding.severity for finding in agreement.only_reference] == ["warning"]


def test_reference_engine_replaces_native_findings(monkeypatch):
    set_reference_runs(
        monkeypatch,
        ReferenceRun("en16931", "EN 16931", "1.3.16", rules=7),
        ReferenceRun("cius", reports=(reference_finding("BR-DE-15"),)),
    )
    result = einvoice.validate(WRONG_SUM, engine="reference")
    assert [finding.code for finding in result.findings] == ["BR-DE-15"]
    assert result.stack.layer("en16931").rules == 7
    assert result.agreement is None
    assert not result.is_valid


@pytest.mark.parametrize("reason", REASONS)
def test_schematron_that_did_not_run_is_an_error(monkeypatch, reason):
    set_reference_runs(
        monkeypatch, CORE, ReferenceRun("cius", "XRechnung", executed=False, reason=reason, detail="Because.")
    )
    result = einvoice.validate(UBL, engine="reference")
    assert not result.is_valid
    (finding,) = result.findings
    assert finding.code == f"REFERENCE-{reason.upper()}"
    for lang in ("de", "en"):
        assert "xrechnung" in finding.explanation(lang)
        assert "{" not in finding.title(lang) + finding.explanation(lang) + finding.fix(lang)


def test_layer_without_schematron_is_an_error(monkeypatch):
    set_reference_runs(monkeypatch, CORE)
    result = einvoice.validate(UBL, engine="reference")
    assert [(finding.code, finding.layer) for finding in result.findings] == [("REFERENCE-MISSING", "xrechnung")]


@pytest.mark.parametrize(
    "location",
    [
        f"/*:Invoice[namespace-uri()='{INVOICE}'][1]/*:BuyerReference[namespace-uri()='{CBC}'][1]",
        f"/Q{{{INVOICE}}}Invoice[1]/Q{{{CBC}}}BuyerReference[1]",
        f"/*[local-name()='Invoice'][1]/*[local-name()='BuyerReference' and namespace-uri()='{CBC}'][1]/@x",
        "/ubl:Invoice/cbc:BuyerReference",
    ],
)
def test_supported_location_notations(monkeypatch, location):
    set_reference_runs(
        monkeypatch, CORE, ReferenceRun("cius", reports=(reference_finding("BR-DE-15", location=location),))
    )
    (finding,) = einvoice.validate(UBL, engine="reference").findings
    assert finding.line == UBL[: UBL.index(b"<cbc:BuyerReference>")].count(b"\n") + 1


@pytest.mark.parametrize("location", ["", "/*[", "/nowhere", "count(/*)", "'text'"])
def test_unresolvable_location_falls_back_to_the_root(monkeypatch, location):
    set_reference_runs(
        monkeypatch, CORE, ReferenceRun("cius", reports=(reference_finding("BR-DE-15", location=location),))
    )
    (finding,) = einvoice.validate(UBL, engine="reference").findings
    assert finding.xpath == "/ubl:Invoice"


def test_known_code_uses_catalog_texts(monkeypatch):
    set_reference_runs(
        monkeypatch,
        CORE,
        ReferenceRun("cius", reports=(reference_finding("BR-DE-15", text="[BR-DE-15] Reference text."),)),
    )
    (finding,) = einvoice.validate(UBL, engine="reference").findings
    assert finding.title("en") == catalog()["BR-DE-15"].title("en")
    assert finding.bt_field == "BT-10"
    assert finding.to_dict("en")["reported"] == "[BR-DE-15] Reference text."


def test_unknown_code_uses_the_reported_text(monkeypatch):
    set_reference_runs(
        monkeypatch,
        CORE,
        ReferenceRun("cius", reports=(reference_finding("SHOP-7", "warning", text="Name the {shelf}."),)),
    )
    result = einvoice.validate(UBL, engine="reference")
    assert result.is_valid
    (finding,) = result.findings
    assert finding.title("de") == "Name the {shelf}."
    assert "Name the {shelf}." in finding.explanation("en")
    assert finding.entry.code == "REFERENCE-RULE"


def test_json_contains_the_reference_comparison(monkeypatch):
    set_reference_runs(
        monkeypatch, CORE, ReferenceRun("cius", "XRechnung", reports=(reference_finding("SHOP-7"),)), scenario="UBL"
    )
    result = einvoice.validate(WRONG_SUM, engine="both")
    details = json.loads(json.dumps(result.to_dict("en")))["validation_details"]
    assert details["validation_stack"]["engine"] == "both"
    assert details["reference"]["agreed"] is False
    assert details["reference"]["configuration"] == "reference-rules"
    assert details["reference"]["scenario"] == "UBL"
    assert [layer["name"] for layer in details["reference"]["layers"]] == ["en16931", "xrechnung"]
    assert [finding["code"] for finding in details["reference"]["only_native"]] == ["BR-CO-10"]
    assert [finding["code"] for finding in details["reference"]["only_reference"]] == ["SHOP-7"]
    assert pickle.loads(pickle.dumps(result)).agreement == result.agreement


def test_command_prints_the_reference_comparison(monkeypatch, tmp_path, capsys):
    set_reference_runs(monkeypatch, CORE, ReferenceRun("cius", reports=(reference_finding("SHOP-7"),)))
    file = tmp_path / "invoice.xml"
    file.write_bytes(UBL)
    assert main(["validate", "--engine", "both", "--lang", "en", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "different findings (compared: EN 16931, XRechnung)" in printed
    assert "SHOP-7" in printed
    assert main(["validate", "--engine", "reference", "--lang", "en", str(file)]) == 1


def test_report_shows_the_reference_comparison(monkeypatch):
    from einvoice.visualization.report import page

    set_reference_runs(monkeypatch, CORE, CIUS)
    section = page._agreement(einvoice.validate(WRONG_SUM, engine="both", lang="en"), "en")
    assert "BR-CO-10" in str(section)
    assert not page._agreement(einvoice.validate(UBL), "en")


@pytest.mark.slow
def test_bundled_schematron():
    pytest.importorskip("saxonche")
    found = einvoice.validate(WRONG_SUM, engine="reference").findings
    assert [(finding.code, finding.layer) for finding in found] == [
        ("BR-CO-10", "en16931"),
        ("REFERENCE-MISSING", "xrechnung"),
    ]
    agreement = einvoice.validate(WRONG_SUM, engine="both").agreement
    assert agreement.agreed
    assert agreement.compared == ("en16931",)
    assert einvoice.validate(CII, engine="both").agreement.agreed is None
