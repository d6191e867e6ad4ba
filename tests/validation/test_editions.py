"""Documents of another edition of EN 16931 are not judged, in any way of validation; those of other countries are."""

import re

import pytest

import einvoice
from tests.helpers.hybrids import XML as EMBEDDED
from tests.helpers.hybrids import hybrid
from tests.helpers.paths import SAMPLES

UBL = (SAMPLES / "ubl-invoice.xml").read_bytes()
CII = (SAMPLES / "cii-invoice.xml").read_bytes()
XRECHNUNG = b"urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
EDITION = b"urn:cen.eu:en16931:2026"
SINGAPORE = b"urn:peppol:pint:billing-1@sg-1"
# An element of UBL 2.5 that UBL 2.1 has not, and a total that the rules of 2017 do not accept.
NEWER = UBL.replace(XRECHNUNG, EDITION).replace(b"<cbc:DocumentCurrencyCode>", b"<cbc:New/><cbc:DocumentCurrencyCode>")
WRONG_SUM = NEWER.replace(b'"EUR">99.00', b'"EUR">98.99')


def codes(result):
    return [finding.code for finding in result.findings]


def assert_not_judged(result):
    assert codes(result) == ["DECL-EDITION"]
    (finding,) = result.findings
    assert (finding.severity, finding.layer, finding.bt_field) == ("fatal", "file", "BT-24")
    assert not result.is_valid
    assert not result.stack.complete
    assert result.stack.layers
    assert not any(layer.executed for layer in result.stack.layers)
    assert result.stack.status == "unknown"


@pytest.mark.parametrize("data", [NEWER, WRONG_SUM, UBL.replace(XRECHNUNG, EDITION + b"#compliant#urn:x"),
                                  CII.replace(XRECHNUNG, EDITION), CII.replace(b":2017#", b":2031#")])  # fmt: skip
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mode": "compatibility"},
        {"profile": "xrechnung"},
        {"ruleset": "xrechnung-2.3.1"},
        {"ruleset": "en16931-1.3.12", "mode": "compatibility"},
        {"profile": "facturx"},
    ],
)
def test_another_edition_is_never_judged(data, options):
    if options.get("profile") == "facturx" and b"CrossIndustryInvoice" not in data:
        options = {"profile": "peppol"}
    assert_not_judged(einvoice.validate(data, **options))


@pytest.mark.parametrize("engine", ["reference", "both"])
def test_the_official_artefacts_do_not_judge_it_either(engine):
    pytest.importorskip("saxonche")
    result = einvoice.validate(NEWER, engine=engine)
    assert_not_judged(result)
    assert result.agreement is None


def test_the_layers_are_those_that_the_document_would_have():
    layers = {layer.name: layer.executed for layer in einvoice.validate(NEWER).stack.layers}
    assert layers == {"schema": False, "en16931": False}


@pytest.mark.parametrize(("lang", "words"), [("de", "Ausgabe 2026"), ("en", "edition 2026")])
def test_the_texts_name_the_edition_and_its_syntaxes(lang, words):
    (finding,) = einvoice.validate(NEWER).findings
    assert words in finding.title(lang)
    assert "UBL 2.5" in finding.explanation(lang)
    assert "CII D25A" in finding.explanation(lang)
    text = f"{finding.title(lang)} {finding.explanation(lang)} {finding.fix(lang)}"
    assert not re.search("Schreibweise|spell|character", text)


def test_an_unpublished_edition_names_no_syntax():
    (finding,) = einvoice.validate(UBL.replace(b":2017#", b":2031#")).findings
    assert "2031" in finding.title("en")
    assert "UBL" not in finding.explanation("en")


def test_the_answer_of_the_service_has_only_text():
    data = einvoice.validate(NEWER).to_dict("en")
    assert data["is_valid"] is False
    assert (data["validation_profile"], data["xrechnung_version"]) == ("EN 16931", "3.0.2")
    details = data["validation_details"]
    stack = details["validation_stack"]
    texts = [stack["en16931"], stack["xrechnung"], stack["scenario_id"], details["compatibility"]["message"]]
    assert all(isinstance(text, str) and text for text in texts)
    assert "nothing was validated" in details["compatibility"]["message"]
    assert "1.3.16" not in stack["en16931"]
    assert [layer["executed"] for layer in stack["layers"]] == [False, False]


def test_many_files(tmp_path):
    (tmp_path / "new.xml").write_bytes(NEWER)
    (tmp_path / "old.xml").write_bytes(UBL)
    results = {it.file.rpartition("/")[2]: it for it in einvoice.validate_many(tmp_path, workers=1)}
    assert results["new.xml"].verdict == "invalid"
    assert codes(results["new.xml"]) == ["DECL-EDITION"]
    assert "edition 2026" in results["new.xml"].findings[0].title("en")
    assert results["old.xml"].verdict == "valid"


@pytest.mark.parametrize("data", [NEWER, UBL.replace(XRECHNUNG, SINGAPORE).replace(b">VAT<", b">GST<")])
def test_no_change_is_proposed(data):
    result = einvoice.validate(data)
    assert not result.is_valid
    assert not [change for cause in result.causes() for change in cause.changes]
    assert result.fixed(unsafe=True).xml == data


def test_in_a_pdf():
    result = einvoice.validate(hybrid(xml=EMBEDDED.replace(b"urn:cen.eu:en16931:2017", EDITION)))
    assert [it.code for it in result.findings if it.layer != "pdf"] == ["DECL-EDITION"]
    assert not result.is_valid
    assert {layer.name: layer.executed for layer in result.stack.layers} == {
        "schema": False,
        "en16931": False,
        "pdf": True,
    }


@pytest.mark.parametrize(
    ("identifier", "code"),
    [
        (b"urn:cen.eu:en16931:2017#compliant#urn:efactura.mfinante.ro:CIUS-RO:1.0.1", "DECL-CORE-ONLY"),
        (SINGAPORE, "DECL-OTHER-STANDARD"),
    ],
)
def test_a_specification_without_rules_here_is_named_first(identifier, code):
    data = UBL.replace(b"<cbc:CustomizationID>", b"<cbc:UBLVersionID>2.1</cbc:UBLVersionID><cbc:CustomizationID>")
    data = data.replace(XRECHNUNG, identifier).replace(b'"EUR">99.00', b'"EUR">98.99')
    result = einvoice.validate(data)
    assert codes(result)[0] == code
    assert "BR-CO-10" in codes(result)
    assert str(result).splitlines()[1].strip().startswith(code)
    assert result.stack.status == "unknown"
    assert "EN 16931" in result.to_dict("en")["validation_details"]["compatibility"]["message"]
    finding = result.findings[0]
    for lang in ("de", "en", "fr"):
        assert result.identity.profile in finding.title(lang)
        assert "{" not in finding.title(lang) + finding.explanation(lang) + finding.fix(lang)


def test_a_foreign_declaration_is_not_replaced():
    romanian = b"urn:cen.eu:en16931:2017#compliant#urn:efactura.mfinante.ro:CIUS-RO:1.0.1"
    data = UBL.replace(XRECHNUNG, romanian)
    for options in ({}, {"profile": "xrechnung"}):
        result = einvoice.validate(data, **options)
        assert romanian in result.fixed(unsafe=True).xml
        changes = [step for cause in result.causes() for change in cause.changes for step in change.steps]
        assert not [step for step in changes if step.term == "BT-24"]


def test_a_misspelt_declaration_is_replaced_by_the_one_that_it_resembles():
    result = einvoice.validate(UBL.replace(XRECHNUNG, XRECHNUNG + b".2"))
    assert result.is_valid
    assert codes(result)[:2] == ["DECL-UNKNOWN", "DECL-NO-SCENARIO"]
    changes = [step for cause in result.causes() for change in cause.changes for step in change.steps]
    assert [(step.term, step.after) for step in changes] == [("BT-24", XRECHNUNG.decode())]


def test_a_warning_about_scenarios_keeps_verdict_and_rules():
    for data in (UBL.replace(XRECHNUNG, XRECHNUNG + b" "), CII.replace(XRECHNUNG, b"\n" + XRECHNUNG + b"\n")):
        result = einvoice.validate(data)
        assert result.is_valid
        assert codes(result)[0] == "DECL-NO-SCENARIO"
        assert [layer.name for layer in result.stack.layers] == ["schema", "en16931", "xrechnung", "plausibility"]


def test_a_pinned_older_release_has_its_own_scenarios(monkeypatch):
    older = UBL.replace(b"xeinkauf.de:kosit:xrechnung_3.0", b"xoev-de:kosit:standard:xrechnung_2.3")
    assert "DECL-NO-SCENARIO" in codes(einvoice.validate(older))
    monkeypatch.setenv("EINVOICE_RULESET", "xrechnung-2.3.1")
    assert "DECL-NO-SCENARIO" not in codes(einvoice.validate(older))
