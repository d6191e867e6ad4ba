"""Causes of findings on request: `?causes=true`."""

import pytest

import einvoice
from appliance.contract.results import MAX_CAUSES_BYTES, validation_body
from appliance.contract.schemas import CauseItem
from appliance.contract.serialization import to_json
from appliance.workers.jobs import run_job
from appliance.workers.protocol import Message
from tests.helpers.served import API, BATCH, UBL, VALIDATE, WRONG, assert_problem


def validate(server, content, **query):
    return server.client.post(VALIDATE, params={"lang": "en", **query}, files={"file": ("invoice.xml", content)})


def without_time(body):
    """The response without what differs between equal requests."""
    return {**body, "processing_time_ms": 0, "artifacts": {}}


def test_response_is_unchanged_without_the_request(server):
    plain = validate(server, WRONG).json()
    assert "causes" not in plain["validation_details"]
    assert without_time(validate(server, WRONG, causes="false").json()) == without_time(plain)
    requested = validate(server, WRONG, causes="true").json()
    assert requested["validation_details"].pop("causes")
    assert requested["validation_details"].pop("causes_ended_by") == ""
    assert without_time(requested) == without_time(plain)


def test_causes_on_request(server):
    body = validate(server, WRONG, causes="true").json()
    (cause,) = body["validation_details"]["causes"]
    CauseItem.model_validate(cause)
    listed = [*body["errors"], *body["warnings"]]
    assert [listed[position]["code"] for position in cause["findings"]] == cause["codes"] == ["BR-CO-10", "BR-CO-13"]
    (change,) = cause["changes"]
    assert change["proof"] == "With this change, both findings disappear."
    assert change["edits"][0]["text"] == "693.00"
    place, xpath = change["copy_text"].split("\n")
    assert place.startswith("BT-106: ")
    assert place.endswith(" -> 693.00")
    assert xpath == change["edits"][0]["xpath"]
    assert (cause["terms"], cause["remaining"], cause["is_question"]) == (["BT-106"], 0, False)


def test_valid_invoice_has_no_causes(server):
    assert validate(server, UBL, causes="true").json()["validation_details"]["causes"] == []


def test_items_of_a_batch(server):
    files = [("files", ("a.xml", content)) for content in (WRONG, UBL, b"x")]
    items = server.client.post(BATCH, params={"causes": "true"}, files=files).json()["items"]
    counts = [len(item["validation_details"].get("causes", ())) for item in items]
    assert counts == [1, 0, 0]
    assert "causes" not in server.batch(("a.xml", WRONG)).json()["items"][0]["validation_details"]


@pytest.mark.parametrize("value", ["yes", "", "1", "TRUE"])
def test_other_values_are_refused(server, value):
    assert_problem(validate(server, WRONG, causes=value), 422, "invalid_causes")


def test_capabilities_state_the_limit(server):
    causes = server.client.get(f"{API}/capabilities").json()["causes"]
    assert causes == {"available": True, "max_seconds": 5}


def test_the_interface_documents_the_parameter(server):
    paths = server.client.get("/openapi.json").json()["paths"]
    for path in (VALIDATE, BATCH):
        names = {parameter["name"]: parameter for parameter in paths[path]["post"]["parameters"]}
        assert names["causes"]["schema"] == {"type": "boolean", "default": False}


@pytest.mark.parametrize("seconds", [0, 1e-9])
def test_no_time_for_the_search(seconds):
    """The verdict does not depend on the search."""
    head = {"job": "validate", "lang": "en", "mode": "current", "engine": "native", "causes_seconds": seconds}
    head["details"] = ["causes", "letter"]
    outcome = run_job(Message(head, (WRONG,)))
    body = outcome.parts[0].replace(b" ", b"")
    assert b'"causes":null' in body
    assert b'"letter":null' in body
    assert not outcome.head["verdict"]["valid"]


def test_causes_of_a_response_are_limited_in_bytes():
    result = einvoice.validate(WRONG)
    body = validation_body(result, "en", None, causes=result.causes() * 2000)
    causes = body["validation_details"]["causes"]
    assert 100 < len(causes) < 2000
    assert sum(len(to_json(cause)) for cause in causes) <= MAX_CAUSES_BYTES
