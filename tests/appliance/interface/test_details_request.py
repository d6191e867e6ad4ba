"""Further details on request: `?assess=true` and `?letter=true`."""

import subprocess

import pytest

import einvoice
from tests.appliance.interface.test_causes_request import validate, without_time
from tests.assessment.cases import VALID
from tests.helpers.served import API, BATCH, UBL, VALIDATE, WRONG, assert_problem

NAMES = {"assess": "assessment", "letter": "letter"}
"""Members of `validation_details` by query parameter."""


@pytest.mark.parametrize(("parameter", "member"), NAMES.items())
def test_response_is_unchanged_without_the_request(server, parameter, member):
    plain = validate(server, WRONG).json()
    assert member not in plain["validation_details"]
    assert without_time(validate(server, WRONG, **{parameter: "false"}).json()) == without_time(plain)
    requested = validate(server, WRONG, **{parameter: "true"}).json()
    assert requested["validation_details"].pop(member)
    assert without_time(requested) == without_time(plain)


def test_letter_on_request(server):
    letter = validate(server, WRONG, letter="true").json()["validation_details"]["letter"]
    assert letter == einvoice.validate(WRONG, lang="en").letter("en")
    assert letter.startswith("Subject: invoice ")
    assert "nothing to correct" in validate(server, UBL, letter="true").json()["validation_details"]["letter"]


def test_letter_asks_for_items_of_the_law_with_the_assessment(server):
    gaps = next(it for it in VALID if it.name == "no date of supply").xml()
    plain, assessed = (
        validate(server, gaps, letter="true", **more).json()["validation_details"] for more in ({}, {"assess": "true"})
    )
    assert "nothing to correct" in plain["letter"]
    assert "The date of supply is missing" in assessed["letter"]
    assert assessed["assessment"]["asks_issuer"]


def test_assessment_on_request(server):
    found = validate(server, WRONG, assess="true").json()["validation_details"]["assessment"]
    assert found == einvoice.validate(WRONG, lang="en").assessment().to_dict("en")
    assert "not tax advice" in found["note"]
    abroad = WRONG.replace(b"<cbc:IdentificationCode>DE<", b"<cbc:IdentificationCode>AT<", 1)
    assert validate(server, abroad, assess="true").json()["validation_details"]["assessment"] is None


def test_the_report_states_the_assessment_on_request(server):
    assert "Umsatzsteuerrecht" not in report(server, {})
    assert "Umsatzsteuerrecht" in report(server, {"assess": "true"})


def report(server, query):
    answer = validate(server, WRONG, **{**query, "lang": "de"}).json()
    pdf = server.client.get(answer["artifacts"]["validation_report_pdf"]["url"]).content
    return subprocess.run(["pdftotext", "-", "-"], input=pdf, capture_output=True, check=True).stdout.decode()


def test_capabilities_name_them(server):
    found = server.client.get(f"{API}/capabilities").json()
    assert (found["assessment"], found["letter"]) == ({"available": True}, {"available": True})


def test_items_of_a_batch(server):
    files = [("files", ("a.xml", content)) for content in (WRONG, UBL, b"x")]
    query = dict.fromkeys(NAMES, "true")
    items = server.client.post(BATCH, params=query, files=files).json()["items"]
    assert [[name in item["validation_details"] for name in NAMES.values()] for item in items] == [
        [True] * len(NAMES),
        [True] * len(NAMES),
        [False] * len(NAMES),
    ]


@pytest.mark.parametrize("parameter", NAMES)
@pytest.mark.parametrize("value", ["yes", "", "1"])
def test_other_values_are_refused(server, parameter, value):
    assert_problem(validate(server, WRONG, **{parameter: value}), 422, f"invalid_{parameter}")


def test_the_interface_documents_the_parameters(server):
    paths = server.client.get("/openapi.json").json()["paths"]
    for path in (VALIDATE, BATCH):
        names = {parameter["name"]: parameter for parameter in paths[path]["post"]["parameters"]}
        assert all(names[it]["schema"] == {"type": "boolean", "default": False} for it in NAMES)
