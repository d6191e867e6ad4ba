"""Field tables of the service description, sections 2.2 to 2.10, checked against a real server."""

import json
import re

import pytest

from tests.helpers.contract import (
    CAPABILITIES,
    CATALOG,
    DETAILS,
    ENDPOINTS,
    FINDING,
    GENERATE_RESPONSE,
    ITEM,
    LINK,
    SUMMARY,
    VALIDATION_RESULT,
    at,
)
from tests.helpers.served import API, CII, DRAFT, UBL, WRONG


def rows(table):
    return pytest.mark.parametrize(("field", "accepts"), table.items(), ids=table)


@pytest.fixture(scope="module")
def singles(server):
    """Responses for single files: valid and invalid, both syntaxes, both modes."""
    requests = [(UBL, "current"), (WRONG, "current"), (CII, "current"), (UBL, "compatibility")]
    responses = [server.validate(content, lang="en", validation_mode=mode) for content, mode in requests]
    assert {response.status_code for response in responses} == {200}
    return [response.json() for response in responses]


@pytest.fixture(scope="module")
def batch(server):
    return server.batch(("a.xml", UBL), ("b.xml", WRONG), ("c.xml", CII)).json()


@pytest.fixture(scope="module")
def generated(server):
    return {name: server.generate(format=name).json() for name in ("UBL", "CII", "ZUGFERD")}


@pytest.fixture(scope="module")
def capabilities(server):
    return server.client.get(f"{API}/capabilities").json()


@pytest.fixture(scope="module")
def catalogs(server):
    return [server.client.get(f"{API}/errors/catalog", params={"lang": lang}).json() for lang in ("de", "en")]


@rows(VALIDATION_RESULT)
def test_validation_result(singles, batch, field, accepts):
    for response in (*singles, *batch["items"]):
        assert accepts(at(response, field))


@rows(FINDING)
def test_error_item(singles, batch, generated, field, accepts):
    findings = [
        finding
        for response in (*singles, *batch["items"], *(body["validation"] for body in generated.values()))
        for finding in (*response["errors"], *response["warnings"])
    ]
    assert findings
    for finding in findings:
        assert accepts(at(finding, field)), finding


@rows(DETAILS)
def test_validation_details(singles, batch, field, accepts):
    for response in (*singles, *batch["items"]):
        assert accepts(at(response["validation_details"], field))


@rows(SUMMARY)
def test_invoice_summary(singles, generated, field, accepts):
    for response in (*singles, *generated.values()):
        assert accepts(at(response["invoice_summary"], field))


@pytest.mark.parametrize("kind", ["validation_report_pdf", "readable_invoice_pdf"])
@rows(LINK)
def test_links(singles, batch, generated, kind, field, accepts):
    for response in (*singles, *batch["items"], *generated.values()):
        link = response["artifacts"][kind]
        assert accepts(link[field])
        assert link["available"] == (link["url"] is not None) == (link["expires_in_seconds"] is not None)


@rows(LINK)
def test_link_of_the_generated_pdf(generated, field, accepts):
    assert accepts(generated["ZUGFERD"]["artifacts"]["zugferd_pdf"][field])
    for name in ("UBL", "CII"):
        assert "zugferd_pdf" not in generated[name]["artifacts"]


@rows(GENERATE_RESPONSE)
def test_generate_response(generated, field, accepts):
    for body in generated.values():
        assert accepts(at(body, field))


@pytest.mark.parametrize(
    ("format", "primary", "embedded"),
    [
        ("UBL", "xml", {"available": False, "syntax": None, "filename": None}),
        ("CII", "xml", {"available": False, "syntax": None, "filename": None}),
        ("ZUGFERD", "pdf", {"available": True, "syntax": "CII", "filename": "factur-x.xml"}),
    ],
)
def test_generate_response_by_format(generated, format, primary, embedded):
    body = generated[format]
    assert (body["format"], body["primary_artifact_type"], body["embedded_xml"]) == (format, primary, embedded)
    assert (body["xml"] is None) == (format == "ZUGFERD")
    assert body["is_valid"] == body["validation"]["is_valid"] == (not body["validation"]["errors"])
    assert body["validation"]["validation_format"] == ("UBL" if format == "UBL" else "CII")
    assert body["invoice_summary"]["format"] == ("UBL" if format == "UBL" else "CII")
    if format == "ZUGFERD":
        assert body["artifacts"]["embedded_xml"] == embedded
    else:
        assert "embedded_xml" not in body["artifacts"]


def test_batch_response(batch):
    assert batch["status"] == "done"
    assert batch["count"] == len(batch["items"]) == 3
    assert [item["filename"] for item in batch["items"]] == ["a.xml", "b.xml", "c.xml"]


def test_batch_items(batch):
    for item in batch["items"]:
        assert item["invoice_summary"] is None
        assert item["artifacts"]["readable_invoice_pdf"] == {
            "available": False,
            "url": None,
            "expires_in_seconds": None,
        }
        details = item["validation_details"]
        assert re.fullmatch(r"xrechnung-3\.0-(ubl|cii)", details["validation_stack"]["scenario_id"])
        assert details["compatibility"] == {"status": "current", "message": None, "differences": []}


@rows(CAPABILITIES)
def test_capabilities(capabilities, field, accepts):
    assert accepts(at(capabilities, field))


def test_capabilities_have_no_other_entitlements(capabilities):
    expected = {name.partition(".")[2] for name in CAPABILITIES if name.startswith("entitlements.")}
    assert capabilities["entitlements"].keys() == expected | {"can_use_reference"}, "the only addition"


@pytest.mark.parametrize(("name", "path"), ENDPOINTS.items())
def test_endpoints(server, capabilities, name, path):
    assert capabilities["endpoints"][name] == f"{str(server.base).rstrip('/')}{API}{path}"
    assert capabilities["endpoints"].keys() == ENDPOINTS.keys()


@rows(CATALOG)
def test_error_catalog(catalogs, field, accepts):
    for catalog in catalogs:
        assert accepts(at(catalog, field))


@rows(ITEM)
def test_catalog_item(catalogs, field, accepts):
    for catalog in catalogs:
        assert catalog["rule_count"] == len(catalog["items"]) > 1000
        for item in catalog["items"]:
            assert accepts(item[field]), item


def test_codes_of_findings_are_in_the_catalog(singles, batch, catalogs):
    known = {item["code"] for item in catalogs[0]["items"]}
    assert known == {item["code"] for item in catalogs[1]["items"]}
    reported = {error["code"] for response in (*singles, *batch["items"]) for error in response["errors"]}
    assert reported
    assert reported <= known


def test_draft_schema(server):
    response = server.client.get(f"{API}/schemas/invoice-draft.json")
    schema = response.json()
    assert response.headers["content-type"] == "application/json"
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["x-schema-version"] == "1.1.0"
    assert schema["$id"]
    assert {"invoice_number", "issue_date", "format", "seller", "buyer", "lines"} == set(schema["required"])
    assert set(DRAFT) <= set(schema["properties"])
    assert schema["properties"]["format"]["enum"] == ["UBL", "CII", "ZUGFERD"]


def test_response_headers_and_encoding(server):
    response = server.validate(WRONG)
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "no-store"
    assert json.loads(response.content) == response.json()
