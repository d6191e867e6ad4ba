"""The OpenAPI document is valid, and responses conform to it (checked by schemathesis, if installed)."""

import os
import re
import subprocess
import sys

import pytest

from tests.helpers.archives import archive
from tests.helpers.served import API, BATCH, DRAFT, GENERATE, UBL, VALIDATE, WRONG

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "ignored_auth",
)


@pytest.fixture(scope="module")
def document(server):
    return server.client.get("/openapi.json").json()


def test_every_operation_names_its_problems(document):
    for path, operations in document["paths"].items():
        for operation in operations.values():
            statuses = set(operation["responses"])
            if path.startswith(API):
                assert {"401", "403", "429", "500"} <= statuses
                assert statuses & {"200", "202", "204"}
                assert operation["security"] == [{"ApiKey": []}]
            assert operation["description"]


@pytest.mark.parametrize(
    ("path", "statuses"),
    [
        (VALIDATE, {"408", "413", "422", "503"}),
        (BATCH, {"408", "413", "422", "503"}),
        (GENERATE, {"408", "413", "415", "422", "501", "503"}),
        (f"{API}/artifacts/{{token}}/{{file}}", {"404", "410", "503"}),  # both to fetch and to delete
        (f"{API}/errors/catalog", {"304", "422"}),
        (f"{API}/jobs/{{id}}", {"404", "410", "501", "503"}),
        (f"{API}/jobs/{{id}}/summary", {"404", "409", "410", "501", "503"}),
        (f"{API}/jobs/{{id}}/{{file}}", {"206", "404", "409", "410", "416", "501", "503"}),
    ],
)
def test_statuses_of_an_operation(document, path, statuses):
    for operation in document["paths"][path].values():
        assert statuses <= set(operation["responses"])


def test_references_resolve(document):
    def references(part):
        if isinstance(part, dict):
            if "$ref" in part:
                yield part["$ref"]
            for inner in part.values():
                yield from references(inner)
        elif isinstance(part, list):
            for inner in part:
                yield from references(inner)

    all_references = set(references(document))
    assert len(all_references) > 20
    for reference in all_references:
        assert reference.rpartition("/")[2] in document["components"]["schemas"], reference


def test_no_external_resources(server):
    text = server.client.get("/openapi.json").text
    assert "jsdelivr" not in text
    assert "unpkg" not in server.client.get("/docs").text


def test_real_responses_conform_to_the_schema(server):
    schemathesis = pytest.importorskip("schemathesis")
    schema = schemathesis.openapi.from_url(str(server.base.join("/openapi.json")))
    requests = [
        (VALIDATE, server.validate()),
        (VALIDATE, server.validate(WRONG, validation_mode="compatibility")),
        (VALIDATE, server.validate(b"<a/>")),
        (BATCH, server.batch(("a.xml", UBL), ("b.xml", b"x"), ("c.xml", WRONG))),
        (BATCH, server.batch(*[("a.xml", UBL)] * 11)),
        *((GENERATE, server.generate(format=name)) for name in ("UBL", "CII", "ZUGFERD")),
        (GENERATE, server.generate(lines=[])),
        (f"{API}/jobs", server.client.post(f"{API}/jobs", files={"file": archive([("a.xml", UBL)])})),
        (f"{API}/jobs", server.client.post(f"{API}/jobs", files={"file": UBL})),
    ]
    for path, response in requests:
        response.request.read()
        schema[path]["POST"].validate_response(response)


@pytest.mark.slow
def test_generated_requests_conform_to_the_schema(server, tmp_path):
    pytest.importorskip("schemathesis")
    server.client.get("/openapi.json").raise_for_status()  # built when it is first asked for, which takes a while
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", str(server.base.join("/openapi.json"))),
            *("--header", f"X-API-Key: {server.client.headers['X-API-Key']}"),
            *("--checks", ",".join(CHECKS), "--exclude-path", "/metrics"),
            *("--max-examples", "4", "--seed", "1", "--generation-deterministic"),
        ],
        cwd=tmp_path,  # it writes files into the current folder
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


def test_the_example_of_a_draft_works(server, document):
    body = document["paths"][GENERATE]["post"]["requestBody"]["content"]["application/json"]
    assert body["example"].keys() == DRAFT.keys()
    assert server.generate(body["example"]).status_code == 200


def examples(document):
    """Yield each example of a response: operation, status, media type, name, value."""
    for operations in document["paths"].values():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                for media_type, content in response.get("content", {}).items():
                    for name, example in content.get("examples", {}).items():
                        yield operation["operationId"], status, media_type, name, example["value"]


def test_every_response_with_content_has_an_example(document):
    with_examples = {(operation, status) for operation, status, *_ in examples(document)}
    for operations in document["paths"].values():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                if set(response.get("content", {})) - {"application/pdf"}:
                    assert (operation["operationId"], status) in with_examples


def test_examples_conform_to_their_schemas(document):
    jsonschema = pytest.importorskip("jsonschema_rs")
    for operations in document["paths"].values():
        for operation in operations.values():
            for response in operation["responses"].values():
                for content in response.get("content", {}).values():
                    schema = {**content.get("schema", {}), "components": document["components"]}
                    for example in content.get("examples", {}).values():
                        jsonschema.validator_for(schema).validate(example["value"])


def test_every_listed_problem_has_an_example(document):
    for operations in document["paths"].values():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                content = response.get("content", {}).get("application/problem+json")
                if content:
                    listed = set(re.findall(r"`(\w+)`", response["description"]))
                    assert listed <= content["examples"].keys()
                    for name, example in content["examples"].items():
                        assert (example["value"]["code"], example["value"]["status"]) == (name, int(status))
                        assert "{" not in example["value"]["detail"]


def test_examples_match_their_names(document):
    values = {(operation, name): value for operation, status, _, name, value in examples(document)}
    valid, wrong = values["validate", "valid"], values["validate", "not valid"]
    assert (valid["is_valid"], valid["errors"]) == (True, [])
    assert [error["code"] for error in wrong["errors"]] == ["BR-DE-15"]
    older = values["validate", "an older XRechnung in compatibility mode"]
    assert older["xrechnung_version"].startswith("2.3")
    assert older["validation_details"]["compatibility"]["differences"]
    for name in ("UBL", "CII", "ZUGFERD"):
        assert values["generate", name]["format"] == name


def test_the_page_shows_the_examples(server, document):
    docs = server.client.get("/docs").text
    for _, status, _, name, _ in examples(document):
        assert f"<summary>Example: {status}, {name}</summary>" in docs
