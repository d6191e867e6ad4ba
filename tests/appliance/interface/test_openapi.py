"""The description of the interface: it is valid, and every answer keeps to it (schemathesis, where it is installed)."""

import os
import re
import subprocess
import sys

import pytest
from served import API, BATCH, DRAFT, GENERATE, UBL, VALIDATE, WRONG

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
def described(server):
    return server.client.get("/openapi.json").json()


def test_every_operation_names_its_problems(described):
    for path, operations in described["paths"].items():
        for operation in operations.values():
            statuses = set(operation["responses"])
            if path.startswith(API):
                assert {"200", "401", "403", "429", "500"} <= statuses
                assert operation["security"] == [{"ApiKey": []}]
            assert operation["description"]


@pytest.mark.parametrize(
    ("path", "statuses"),
    [
        (VALIDATE, {"408", "413", "422", "503"}),
        (BATCH, {"408", "413", "422", "503"}),
        (GENERATE, {"408", "413", "415", "422", "503"}),
        (f"{API}/artifacts/{{token}}/{{file}}", {"404", "410", "503"}),
        (f"{API}/errors/catalog", {"304", "422"}),
    ],
)
def test_statuses_of_an_operation(described, path, statuses):
    (operation,) = described["paths"][path].values()
    assert statuses <= set(operation["responses"])


def test_references_lead_somewhere(described):
    def references(part):
        if isinstance(part, dict):
            if "$ref" in part:
                yield part["$ref"]
            for inner in part.values():
                yield from references(inner)
        elif isinstance(part, list):
            for inner in part:
                yield from references(inner)

    found = set(references(described))
    assert len(found) > 20
    for reference in found:
        assert reference.rpartition("/")[2] in described["components"]["schemas"], reference


def test_nothing_of_another_address(server):
    text = server.client.get("/openapi.json").text
    assert "jsdelivr" not in text
    assert "unpkg" not in server.client.get("/docs").text


def test_real_answers_keep_to_it(server):
    schemathesis = pytest.importorskip("schemathesis")
    schema = schemathesis.openapi.from_url(str(server.base.join("/openapi.json")))
    asked = [
        (VALIDATE, server.validate()),
        (VALIDATE, server.validate(WRONG, validation_mode="compatibility")),
        (VALIDATE, server.validate(b"<a/>")),
        (BATCH, server.batch(("a.xml", UBL), ("b.xml", b"x"), ("c.xml", WRONG))),
        (BATCH, server.batch(*[("a.xml", UBL)] * 11)),
        *((GENERATE, server.generate(format=name)) for name in ("UBL", "CII", "ZUGFERD")),
        (GENERATE, server.generate(lines=[])),
    ]
    for path, answer in asked:
        answer.request.read()
        schema[path]["POST"].validate_response(answer)


@pytest.mark.slow
def test_any_request_is_answered_as_described(server, tmp_path):
    pytest.importorskip("schemathesis")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", str(server.base.join("/openapi.json"))),
            *("--header", f"X-API-Key: {server.client.headers['X-API-Key']}"),
            *("--checks", ",".join(CHECKS), "--exclude-path", "/metrics"),
            *("--max-examples", "10", "--seed", "1", "--generation-deterministic"),
        ],
        cwd=tmp_path,  # it leaves notes where it runs
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


def test_the_example_of_a_draft_works(server, described):
    body = described["paths"][GENERATE]["post"]["requestBody"]["content"]["application/json"]
    assert body["example"].keys() == DRAFT.keys()
    assert server.generate(body["example"]).status_code == 200


def shown(described):
    """Each example of an answer: operation, status, media type, name, value."""
    for operations in described["paths"].values():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                for media_type, content in answer.get("content", {}).items():
                    for name, example in content.get("examples", {}).items():
                        yield operation["operationId"], status, media_type, name, example["value"]


def test_every_answer_with_content_has_an_example(described):
    there = {(operation, status) for operation, status, *_ in shown(described)}
    for operations in described["paths"].values():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                if set(answer.get("content", {})) - {"application/pdf"}:
                    assert (operation["operationId"], status) in there


def test_examples_keep_to_their_schemas(described):
    jsonschema = pytest.importorskip("jsonschema_rs")
    for operations in described["paths"].values():
        for operation in operations.values():
            for answer in operation["responses"].values():
                for content in answer.get("content", {}).values():
                    schema = {**content.get("schema", {}), "components": described["components"]}
                    for example in content.get("examples", {}).values():
                        jsonschema.validator_for(schema).validate(example["value"])


def test_each_problem_that_is_named_has_an_example(described):
    for operations in described["paths"].values():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                content = answer.get("content", {}).get("application/problem+json")
                if content:
                    named = set(re.findall(r"`(\w+)`", answer["description"]))
                    assert named <= content["examples"].keys()
                    for name, example in content["examples"].items():
                        assert (example["value"]["code"], example["value"]["status"]) == (name, int(status))
                        assert "{" not in example["value"]["detail"]


def test_examples_are_what_their_names_say(described):
    told = {(operation, name): value for operation, status, _, name, value in shown(described)}
    valid, wrong = told["validate", "valid"], told["validate", "not valid"]
    assert (valid["is_valid"], valid["errors"]) == (True, [])
    assert [error["code"] for error in wrong["errors"]] == ["BR-DE-15"]
    older = told["validate", "an older XRechnung in compatibility mode"]
    assert older["xrechnung_version"].startswith("2.3")
    assert older["validation_details"]["compatibility"]["differences"]
    for name in ("UBL", "CII", "ZUGFERD"):
        assert told["generate", name]["format"] == name


def test_the_page_shows_the_examples(server, described):
    docs = server.client.get("/docs").text
    for _, status, _, name, _ in shown(described):
        assert f"<summary>Example: {status}, {name}</summary>" in docs
