"""Contract of all validation requests for older, current, missing and unknown declarations (BT-24)."""

import re

import pytest

from tests.helpers.contract import DETAILS, FINDING, VALIDATION_RESULT, at, one_of
from tests.helpers.served import CII, UBL, declaring, serving

NEWEST = "3.0.2"
NONSENSE = "urn:example:nonsense_7"
DECLARATIONS = {
    "2.0": ("outdated", "2.0.1"),
    "2.3": ("outdated", "2.3.1"),
    "3.0": ("current", NEWEST),
    None: ("unknown", NEWEST),
    NONSENSE: ("unknown", NEWEST),
}
"""Declared version: its status, and the XRechnung version applied in compatibility mode."""
REQUEST_KINDS = ("current", "compatibility", "batch")


@pytest.fixture(scope="module")
def responses(server):
    """Responses by declaration, syntax and kind of request."""
    by_request = {}
    for syntax, document in {"UBL": UBL, "CII": CII}.items():
        documents = [declaring(declared, document) for declared in DECLARATIONS]
        items = server.batch(*[("a.xml", document) for document in documents]).json()["items"]
        for declared, document, item in zip(DECLARATIONS, documents, items, strict=True):
            by_request[declared, syntax, "batch"] = item
            for mode in ("current", "compatibility"):
                by_request[declared, syntax, mode] = server.validate(document, lang="en", validation_mode=mode).json()
    return by_request


@pytest.fixture(params=REQUEST_KINDS)
def request_kind(request):
    return request.param


@pytest.fixture(params=["UBL", "CII"])
def syntax(request):
    return request.param


@pytest.fixture(params=DECLARATIONS, ids=str)
def declared(request):
    return request.param


def test_documented_fields(responses, declared, syntax, request_kind):
    response = responses[declared, syntax, request_kind]
    versions = one_of(*{version for _, version in DECLARATIONS.values()})
    for field, accepts in {**VALIDATION_RESULT, "xrechnung_version": versions}.items():
        assert accepts(at(response, field)), field
    optional = {"invoice_identity.customization_id"} if declared is None else set()
    for field, accepts in DETAILS.items():
        assert field in optional or accepts(at(response["validation_details"], field)), field
    findings = [
        *response["errors"],
        *response["warnings"],
        *response["validation_details"]["compatibility"]["differences"],
    ]
    for finding in findings:
        for field, accepts in FINDING.items():
            assert accepts(finding[field]), (field, finding)


@pytest.mark.parametrize("kind", REQUEST_KINDS)
def test_another_edition_of_the_standard_is_answered_in_full_shape(server, syntax, kind):
    document = declaring("urn:cen.eu:en16931:2026#compliant#urn:x", {"UBL": UBL, "CII": CII}[syntax])
    if kind == "batch":
        (response,) = server.batch(("a.xml", document)).json()["items"]
    else:
        response = server.validate(document, lang="en", validation_mode=kind).json()
    for field, accepts in VALIDATION_RESULT.items():
        assert accepts(at(response, field)), field
    for field, accepts in DETAILS.items():
        assert accepts(at(response["validation_details"], field)), field
    (error,) = response["errors"]
    assert all(accepts(error[field]) for field, accepts in FINDING.items())
    assert (error["code"], error["validation_layer"], response["warnings"]) == ("DECL-EDITION", "file", [])
    assert response["is_valid"] is False
    assert not any(it["executed"] for it in response["validation_details"]["validation_stack"]["layers"])


def test_applied_rule_sets(responses, declared, syntax, request_kind):
    response = responses[declared, syntax, request_kind]
    mode = "compatibility" if request_kind == "compatibility" else "current"
    stack = response["validation_details"]["validation_stack"]
    version = DECLARATIONS[declared][1] if mode == "compatibility" else NEWEST
    assert response["validation_mode"] == stack["mode"] == mode
    assert response["xrechnung_version"] == version
    if DECLARATIONS[declared][0] == "unknown":
        assert "not applied" in stack["xrechnung"]
        assert [layer["name"] for layer in stack["layers"]] == ["schema", "en16931", "plausibility"]
    else:
        assert version in stack["xrechnung"]
        assert [layer["name"] for layer in stack["layers"]] == ["schema", "en16931", "xrechnung", "plausibility"]
    assert ("1.3.16" in stack["en16931"]) == (version == NEWEST)


def test_status_of_the_declaration(responses, declared, syntax, request_kind):
    details = responses[declared, syntax, request_kind]["validation_details"]
    status = DECLARATIONS[declared][0]
    compatibility = details["compatibility"]
    assert details["validation_stack"]["status"] == compatibility["status"] == status
    assert (compatibility["message"] is None) == (status == "current")
    if status == "outdated":
        assert f"XRechnung {declared}" in compatibility["message"]


def test_invoice_identity(responses, declared, syntax, request_kind):
    response = responses[declared, syntax, request_kind]
    identity = response["validation_details"]["invoice_identity"]
    known = DECLARATIONS[declared][0] != "unknown"
    profile = "XRechnung" if known else "unknown"
    assert response["validation_profile"] == identity["declared_profile"] == profile
    assert identity["declared_version"] == (declared if known else "")
    assert identity["syntax"] == response["validation_format"] == syntax
    if declared is None:
        assert "customization_id" not in identity
    else:
        assert identity["customization_id"].endswith(f"xrechnung_{declared}" if known else NONSENSE)


def test_scenario_id_of_a_batch_item(responses, declared, syntax):
    scenario = responses[declared, syntax, "batch"]["validation_details"]["validation_stack"]["scenario_id"]
    name = f"xrechnung-{declared}" if DECLARATIONS[declared][0] != "unknown" else "unknown"
    assert scenario == f"{name}-{syntax.lower()}"


def test_outdated_and_unknown_declarations_are_reported_but_not_errors(responses, declared, syntax, request_kind):
    codes = {None: "DECL-MISSING", NONSENSE: "DECL-UNKNOWN", "3.0": None}
    declarations = {
        item["code"]: item["severity"]
        for item in responses[declared, syntax, request_kind]["warnings"]
        if item["code"][:5] == "DECL-"
    }
    severity = {"outdated": "information", "unknown": "warning"}.get(DECLARATIONS[declared][0])
    code = codes.get(declared, "DECL-OUTDATED")
    no_scenario = {"DECL-NO-SCENARIO": "warning"} if code == "DECL-OUTDATED" else {}
    assert declarations == ({code: severity, **no_scenario} if code else {})
    if declared is not None:  # BR-01 asks for a specification identifier
        assert responses[declared, syntax, request_kind]["is_valid"]


def test_differences_only_in_compatibility_mode(responses, declared, syntax, request_kind):
    differences = responses[declared, syntax, request_kind]["validation_details"]["compatibility"]["differences"]
    assert bool(differences) == (request_kind == "compatibility" and DECLARATIONS[declared][0] == "outdated")
    for difference in differences:
        assert difference["only_in"] in ("declared", "current")
        assert difference["changed_in"].keys() == {"ruleset", "version", "specification", "date", "release"}


@pytest.mark.slow
def test_a_pinned_rule_set(tmp_path):
    """The pinned release is the current one in both modes."""
    with serving(tmp_path / "data", workers=1, ruleset="xrechnung-2.3.1") as pinned:
        for document in (UBL, CII):
            response = pinned.validate(document).json()
            assert response["xrechnung_version"] == "2.3.1"
            assert "1.3.9" in response["validation_details"]["validation_stack"]["en16931"]
        (item,) = pinned.batch(("a.xml", UBL)).json()["items"]
        assert item["xrechnung_version"] == "2.3.1"
        older = pinned.validate(declaring("2.0"), validation_mode="compatibility").json()
        assert older["xrechnung_version"] == "2.0.1"


# ---------------------------------------------------------------- electronic address, required since 3.0

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


def test_valid_by_the_declared_rule_set(server, syntax):
    response = server.validate(WITHOUT_BT_34[syntax], lang="en", validation_mode="compatibility").json()
    assert (response["is_valid"], response["errors"], response["xrechnung_version"]) == (True, [], "2.3.1")
    compatibility = response["validation_details"]["compatibility"]
    (difference,) = [item for item in compatibility["differences"] if item["code"] == MISSING]
    assert (difference["bt_field"], difference["severity"], difference["only_in"]) == ("BT-34", "fatal", "current")
    assert difference["changed_in"]["specification"].startswith("3.0")
    assert MISSING not in {item["code"] for item in response["warnings"]}


def test_invalid_by_the_current_rule_set(server, syntax):
    single = server.validate(WITHOUT_BT_34[syntax], lang="en").json()
    (item,) = server.batch(("a.xml", WITHOUT_BT_34[syntax])).json()["items"]
    for response in (single, item):
        assert not response["is_valid"]
        assert [error["code"] for error in response["errors"]] == [MISSING]
        (outdated,) = [item for item in response["warnings"] if item["code"] == "DECL-OUTDATED"]
        assert "XRechnung 2.3" in outdated["explanation"]
        assert outdated["values"]["version"] == "2.3"
