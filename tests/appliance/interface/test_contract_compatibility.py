"""What the interface says of invoices that declare an older XRechnung, today's, nothing, or nonsense; in each way."""

import re

import pytest
from contract import DETAILS, FINDING, VERDICT, at, one_of
from served import CII, UBL, declaring, serving

NEWEST = "3.0.2"
NONSENSE = "urn:example:nonsense_7"
DECLARED = {
    "2.0": ("outdated", "2.0.1"),
    "2.3": ("outdated", "2.3.1"),
    "3.0": ("current", NEWEST),
    None: ("unknown", NEWEST),
    NONSENSE: ("unknown", NEWEST),
}
"""What a document declares, its standing, and the rules that judge it in compatibility mode."""
WAYS = ("current", "compatibility", "batch")


@pytest.fixture(scope="module")
def answers(server):
    """The answers by declaration, syntax and way."""
    found = {}
    for syntax, document in {"UBL": UBL, "CII": CII}.items():
        documents = [declaring(what, document) for what in DECLARED]
        items = server.batch(*[("a.xml", document) for document in documents]).json()["items"]
        for what, document, item in zip(DECLARED, documents, items, strict=True):
            found[what, syntax, "batch"] = item
            for mode in ("current", "compatibility"):
                found[what, syntax, mode] = server.validate(document, lang="en", validation_mode=mode).json()
    return found


@pytest.fixture(params=WAYS)
def way(request):
    return request.param


@pytest.fixture(params=["UBL", "CII"])
def syntax(request):
    return request.param


@pytest.fixture(params=DECLARED, ids=str)
def what(request):
    return request.param


def test_documented_fields(answers, what, syntax, way):
    answer = answers[what, syntax, way]
    versions = one_of(*{version for _, version in DECLARED.values()})
    for field, accepts in {**VERDICT, "xrechnung_version": versions}.items():
        assert accepts(at(answer, field)), field
    optional = {"invoice_identity.customization_id"} if what is None else set()
    for field, accepts in DETAILS.items():
        assert field in optional or accepts(at(answer["validation_details"], field)), field
    told = [*answer["errors"], *answer["warnings"], *answer["validation_details"]["compatibility"]["differences"]]
    for finding in told:
        for field, accepts in FINDING.items():
            assert accepts(finding[field]), (field, finding)


def test_the_rules_that_judged(answers, what, syntax, way):
    answer = answers[what, syntax, way]
    mode = "compatibility" if way == "compatibility" else "current"
    stack = answer["validation_details"]["validation_stack"]
    version = DECLARED[what][1] if mode == "compatibility" else NEWEST
    assert answer["validation_mode"] == stack["mode"] == mode
    assert answer["xrechnung_version"] == version
    if DECLARED[what][0] == "unknown":
        assert "not applied" in stack["xrechnung"]
        assert [layer["name"] for layer in stack["layers"]] == ["schema", "en16931"]
    else:
        assert version in stack["xrechnung"]
        assert [layer["name"] for layer in stack["layers"]] == ["schema", "en16931", "cius"]
    assert ("1.3.16" in stack["en16931"]) == (version == NEWEST)


def test_the_standing(answers, what, syntax, way):
    details = answers[what, syntax, way]["validation_details"]
    status = DECLARED[what][0]
    compatibility = details["compatibility"]
    assert details["validation_stack"]["status"] == compatibility["status"] == status
    assert (compatibility["message"] is None) == (status == "current")
    if status == "outdated":
        assert f"XRechnung {what}" in compatibility["message"]


def test_what_the_document_declares(answers, what, syntax, way):
    answer = answers[what, syntax, way]
    identity = answer["validation_details"]["invoice_identity"]
    known = DECLARED[what][0] != "unknown"
    profile = "XRechnung" if known else "unknown"
    assert answer["validation_profile"] == identity["declared_profile"] == profile
    assert identity["declared_version"] == (what if known else "")
    assert identity["syntax"] == answer["validation_format"] == syntax
    if what is None:
        assert "customization_id" not in identity
    else:
        assert identity["customization_id"].endswith(f"xrechnung_{what}" if known else NONSENSE)


def test_the_scenario_of_a_batch_item(answers, what, syntax):
    scenario = answers[what, syntax, "batch"]["validation_details"]["validation_stack"]["scenario_id"]
    name = f"xrechnung-{what}" if DECLARED[what][0] != "unknown" else "unknown"
    assert scenario == f"{name}-{syntax.lower()}"


def test_a_declaration_that_is_not_of_today_is_told_and_turns_no_verdict(answers, what, syntax, way):
    codes = {None: "DECL-MISSING", NONSENSE: "DECL-UNKNOWN", "3.0": None}
    told = {it["code"]: it["severity"] for it in answers[what, syntax, way]["warnings"] if it["code"][:5] == "DECL-"}
    severity = {"outdated": "information", "unknown": "warning"}.get(DECLARED[what][0])
    code = codes.get(what, "DECL-OUTDATED")
    assert told == ({code: severity} if code else {})
    if what is not None:  # BR-01 asks for a specification identifier
        assert answers[what, syntax, way]["is_valid"]


def test_differences_are_told_in_compatibility_mode_alone(answers, what, syntax, way):
    differences = answers[what, syntax, way]["validation_details"]["compatibility"]["differences"]
    assert bool(differences) == (way == "compatibility" and DECLARED[what][0] == "outdated")
    for difference in differences:
        assert difference["only_in"] in ("declared", "current")
        assert difference["changed_in"].keys() == {"ruleset", "version", "specification", "date"}


def test_a_pinned_rule_set(tmp_path):
    """In both modes: what is current is what the operator has pinned."""
    with serving(tmp_path / "data", workers=1, ruleset="xrechnung-2.3.1") as pinned:
        for document in (UBL, CII):
            answer = pinned.validate(document).json()
            assert answer["xrechnung_version"] == "2.3.1"
            assert "1.3.9" in answer["validation_details"]["validation_stack"]["en16931"]
        (item,) = pinned.batch(("a.xml", UBL)).json()["items"]
        assert item["xrechnung_version"] == "2.3.1"
        older = pinned.validate(declaring("2.0"), validation_mode="compatibility").json()
        assert older["xrechnung_version"] == "2.0.1"


# ---------------------------------------------------------------- an electronic address, asked for since 3.0

WITHOUT_BT_34 = {
    "UBL": re.sub(rb"<cbc:EndpointID.*?</cbc:EndpointID>", b"", declaring("2.3"), count=1),
    "CII": re.sub(
        rb"<ram:URIUniversalCommunication>.*?</ram:URIUniversalCommunication>",
        b"",
        declaring("2.3", CII),
        count=1,
        flags=re.DOTALL,
    ),
}
MISSING = "PEPPOL-EN16931-R020"


def test_valid_by_the_rules_that_it_declares(server, syntax):
    answer = server.validate(WITHOUT_BT_34[syntax], lang="en", validation_mode="compatibility").json()
    assert (answer["is_valid"], answer["errors"], answer["xrechnung_version"]) == (True, [], "2.3.1")
    compatibility = answer["validation_details"]["compatibility"]
    (told,) = [it for it in compatibility["differences"] if it["code"] == MISSING]
    assert (told["bt_field"], told["severity"], told["only_in"]) == ("BT-34", "fatal", "current")
    assert told["changed_in"]["specification"].startswith("3.0")
    assert MISSING not in {it["code"] for it in answer["warnings"]}


def test_not_valid_by_those_of_today(server, syntax):
    single = server.validate(WITHOUT_BT_34[syntax], lang="en").json()
    (item,) = server.batch(("a.xml", WITHOUT_BT_34[syntax])).json()["items"]
    for answer in (single, item):
        assert not answer["is_valid"]
        assert [error["code"] for error in answer["errors"]] == [MISSING]
        (declared,) = [it for it in answer["warnings"] if it["code"] == "DECL-OUTDATED"]
        assert "XRechnung 2.3" in declared["explanation"]
        assert declared["values"]["version"] == "2.3"
