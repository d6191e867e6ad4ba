"""The tables of the interface's description, sections 2.2 to 2.10: each field in its type, asked of a real server."""

import json
import re

import pytest
from contract import (
    CAPABILITIES,
    CATALOG,
    DETAILS,
    ENDPOINTS,
    FINDING,
    GENERATED,
    ITEM,
    LINK,
    SUMMARY,
    VERDICT,
    at,
)
from served import API, CII, DRAFT, UBL, WRONG


def rows(table):
    return pytest.mark.parametrize(("field", "accepts"), table.items(), ids=table)


@pytest.fixture(scope="module")
def singles(server):
    """Answers about single files: valid and not, in both syntaxes and both modes."""
    asked = [(UBL, "current"), (WRONG, "current"), (CII, "current"), (UBL, "compatibility")]
    answers = [server.validate(content, lang="en", validation_mode=mode) for content, mode in asked]
    assert {answer.status_code for answer in answers} == {200}
    return [answer.json() for answer in answers]


@pytest.fixture(scope="module")
def batch(server):
    return server.batch(("a.xml", UBL), ("b.xml", WRONG), ("c.xml", CII)).json()


@pytest.fixture(scope="module")
def generated(server):
    made = {made["format"]: made for name in ("UBL", "CII", "ZUGFERD") if (made := server.generate(format=name).json())}
    assert len(made) == 3
    return made


@pytest.fixture(scope="module")
def capabilities(server):
    return server.client.get(f"{API}/capabilities").json()


@pytest.fixture(scope="module")
def catalogs(server):
    return [server.client.get(f"{API}/errors/catalog", params={"lang": lang}).json() for lang in ("de", "en")]


@rows(VERDICT)
def test_validation_result(singles, batch, field, accepts):
    for answer in (*singles, *batch["items"]):
        assert accepts(at(answer, field))


@rows(FINDING)
def test_error_item(singles, batch, generated, field, accepts):
    found = [
        finding
        for answer in (*singles, *batch["items"], *(made["validation"] for made in generated.values()))
        for finding in (*answer["errors"], *answer["warnings"])
    ]
    assert found
    for finding in found:
        assert accepts(at(finding, field)), finding


@rows(DETAILS)
def test_validation_details(singles, batch, field, accepts):
    for answer in (*singles, *batch["items"]):
        assert accepts(at(answer["validation_details"], field))


@rows(SUMMARY)
def test_invoice_summary(singles, generated, field, accepts):
    for answer in (*singles, *generated.values()):
        assert accepts(at(answer["invoice_summary"], field))


@pytest.mark.parametrize("kind", ["validation_report_pdf", "readable_invoice_pdf"])
@rows(LINK)
def test_links(singles, batch, generated, kind, field, accepts):
    for answer in (*singles, *batch["items"], *generated.values()):
        link = answer["artifacts"][kind]
        assert accepts(link[field])
        assert link["available"] == (link["url"] is not None) == (link["expires_in_seconds"] is not None)


@rows(LINK)
def test_link_of_the_generated_pdf(generated, field, accepts):
    assert accepts(generated["ZUGFERD"]["artifacts"]["zugferd_pdf"][field])
    for name in ("UBL", "CII"):
        assert "zugferd_pdf" not in generated[name]["artifacts"]


@rows(GENERATED)
def test_generate_response(generated, field, accepts):
    for made in generated.values():
        assert accepts(at(made, field))


@pytest.mark.parametrize(
    ("format", "primary", "embedded"),
    [
        ("UBL", "xml", {"available": False, "syntax": None, "filename": None}),
        ("CII", "xml", {"available": False, "syntax": None, "filename": None}),
        ("ZUGFERD", "pdf", {"available": True, "syntax": "CII", "filename": "factur-x.xml"}),
    ],
)
def test_generate_response_by_format(generated, format, primary, embedded):
    made = generated[format]
    assert (made["format"], made["primary_artifact_type"], made["embedded_xml"]) == (format, primary, embedded)
    assert (made["xml"] is None) == (format == "ZUGFERD")
    assert made["is_valid"] == made["validation"]["is_valid"] == (not made["validation"]["errors"])
    assert made["validation"]["validation_format"] == ("UBL" if format == "UBL" else "CII")
    assert made["invoice_summary"]["format"] == ("UBL" if format == "UBL" else "CII")
    if format == "ZUGFERD":
        assert made["artifacts"]["embedded_xml"] == embedded
    else:
        assert "embedded_xml" not in made["artifacts"]


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
    wanted = {name.partition(".")[2] for name in CAPABILITIES if name.startswith("entitlements.")}
    assert capabilities["entitlements"].keys() == wanted


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
    found = {error["code"] for answer in (*singles, *batch["items"]) for error in answer["errors"]}
    assert found
    assert found <= known


def test_draft_schema(server):
    answer = server.client.get(f"{API}/schemas/invoice-draft.json")
    schema = answer.json()
    assert answer.headers["content-type"] == "application/json"
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["x-schema-version"] == "1.1.0"
    assert schema["$id"]
    assert {"invoice_number", "issue_date", "format", "seller", "buyer", "lines"} == set(schema["required"])
    assert set(DRAFT) <= set(schema["properties"])
    assert schema["properties"]["format"]["enum"] == ["UBL", "CII", "ZUGFERD"]


def test_answers_are_json_without_surprises(server):
    answer = server.validate(WRONG)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert json.loads(answer.content) == answer.json()
