"""Requests to a real server: authentication, routing, forms, sizes."""

import shutil
import socket
import subprocess
from collections.abc import Iterator

import httpx
import pytest

from appliance.__main__ import main
from appliance.contract.schemas import ValidationResponse
from appliance.transport.uploads import MAX_FILE_BYTES
from tests.helpers.served import CII, UBL, VALIDATE, assert_problem, http


def test_health_requires_no_key(server):
    response = http.get(server.base.join("/healthz"))
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_head_of_probes(server, path):
    response, expected = http.head(server.base.join(path)), http.get(server.base.join(path))
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["Content-Length"] == str(len(expected.content))


@pytest.mark.parametrize("mode", ["current", "compatibility"])
@pytest.mark.parametrize(("content", "syntax"), [(UBL, "UBL"), (CII, "CII")], ids=["UBL", "CII"])
def test_the_samples_are_valid(server, content, syntax, mode):
    response = server.validate(content, validation_mode=mode, unknown_field="ignored")
    assert response.status_code == 200, response.text
    result = ValidationResponse.model_validate_json(response.text, strict=True)
    assert result.is_valid, result.errors
    assert (result.validation_format, result.validation_mode) == (syntax, mode)
    assert result.validation_profile == "XRechnung"


def test_findings_are_localized(server):
    wrong = UBL.replace(b">693.00</cbc:LineExtensionAmount>", b">692.99</cbc:LineExtensionAmount>")
    results = {lang: server.validate(wrong, lang=lang) for lang in ("de", "en")}
    default = server.validate(wrong)
    assert {result.status_code for result in [*results.values(), default]} == {200}
    findings = {
        lang: [item for item in result.json()["errors"] if item["code"] == "BR-CO-10"]
        for lang, result in results.items()
    }
    assert len(findings["de"]) == len(findings["en"]) == 1
    assert findings["de"][0]["title"] != findings["en"][0]["title"]
    assert default.json()["errors"] == results["de"].json()["errors"]
    assert not default.json()["is_valid"]


@pytest.mark.slow
def test_printed_request_works(server):
    if not shutil.which("curl"):
        pytest.skip("curl is not installed")
    done = subprocess.run(["curl", "-sS", *server.call[1:]], capture_output=True, text=True, check=True, timeout=30)
    assert ValidationResponse.model_validate_json(done.stdout).is_valid


# ---------------------------------------------------------------- authentication


def test_missing_and_unknown_keys(server):
    without = http.post(server.url, files={"file": UBL})
    german = http.post(server.base.join(VALIDATE), files={"file": UBL})
    wrong = http.post(server.url, files={"file": UBL}, headers={"X-API-Key": "ei_wrong"})
    assert assert_problem(without, 401, "key_missing").title == "No API key"
    assert assert_problem(german, 401, "key_missing").title == "Kein API-Schlüssel"
    assert_problem(wrong, 401, "key_invalid")
    assert "WWW-Authenticate" in without.headers
    assert "ei_wrong" not in wrong.text


def test_two_keys_in_one_request(server):
    key = server.client.headers["X-API-Key"]
    assert_problem(http.get(server.url, headers=[("X-API-Key", key), ("X-API-Key", key)]), 401, "key_invalid")


@pytest.mark.parametrize("value", ["{} ", "  {}", "\t{}\t "])
def test_blanks_around_the_key(server, value):
    """RFC 9110, 5.5: they are no part of the value."""
    request = f"GET /api/external/capabilities HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Key:{value}\r\n\r\n"
    with socket.create_connection((server.url.host, server.url.port), timeout=4) as connection:
        connection.sendall(request.format(server.client.headers["X-API-Key"]).encode())
        assert connection.recv(64).startswith(b"HTTP/1.1 200 ")


def test_other_plan_and_revoked_key(server, monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_DATA", str(server.data))
    server.add_plan("EINVOICE_PLAN_PERSONAL=can_batch")
    assert main(["keys", "add", "small", "--plan", "personal"]) == 0
    small = {"X-API-Key": capsys.readouterr().out.strip()}
    assert_problem(http.post(server.url, files={"file": UBL}, headers=small), 403, "plan_required")
    assert main(["keys", "revoke", "SMALL_1"]) == 0
    assert_problem(http.post(server.url, files={"file": UBL}, headers=small), 401, "key_invalid")
    assert server.validate().status_code == 200


def test_key_is_checked_before_the_body(server):
    """The response arrives although no byte of the announced body has been sent."""
    with socket.create_connection((server.url.host, server.url.port), timeout=4) as connection:
        connection.sendall(f"POST {VALIDATE} HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n".encode())
        assert connection.recv(64).startswith(b"HTTP/1.1 401 ")


def test_the_key_is_checked_before_path_and_method(server):
    assert_problem(http.get(server.base.join("/api/external/nothing")), 401, "key_missing")
    assert_problem(httpx.delete(server.base.join(VALIDATE)), 401, "key_missing")


def test_unknown_paths_and_methods(server):
    assert_problem(server.client.get("/api/external/nothing"), 404, "not_found")
    assert_problem(http.get(server.base.join("/nothing")), 404, "not_found")
    response = server.client.get(VALIDATE)
    assert "GET" in assert_problem(response, 405, "method_not_allowed").detail
    assert response.headers["Allow"] == "POST"


# ---------------------------------------------------------------- form and size


def test_file_over_the_size_limit(server):
    problem = assert_problem(server.validate(b"<" * 11_000_000, lang="en"), 413, "file_too_large")
    assert problem.title == "File too large"
    assert "invoice.xml" in problem.detail


def test_file_at_the_size_limit(server):
    comment = b"<!--" + b"x" * 999_993 + b"-->"
    sample = UBL + comment * ((MAX_FILE_BYTES - len(UBL)) // len(comment))
    sample += b" " * (MAX_FILE_BYTES - len(sample))
    assert server.validate(sample).status_code == 200
    assert_problem(server.validate(sample + b" "), 413, "file_too_large")


def test_huge_body_is_not_read(server):
    chunks = 0

    def body() -> Iterator[bytes]:
        nonlocal chunks
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.xml"\r\n\r\n'
        for _ in range(400):
            chunks += 1
            yield b" " * 1_000_000

    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    assert_problem(server.client.post(VALIDATE, content=body(), headers=headers), 413, "file_too_large")
    assert chunks < 200, "as much as the largest request is read after the answer"


def test_forms_without_exactly_one_file(server):
    post = server.client.post
    two = [("file", ("a.xml", UBL)), ("file", ("b.xml", CII))]
    assert_problem(post(VALIDATE, files=two), 422, "one_file_expected")
    assert_problem(post(VALIDATE, files={"other": ("a.xml", UBL)}), 422, "no_file")
    assert_problem(post(VALIDATE, files={"file": ("a.xml", b"")}), 422, "empty_file")
    assert_problem(post(VALIDATE, data={"file": ""}, files={"other": b"x"}), 422, "empty_file")


def test_invalid_forms(server):
    post = server.client.post
    multipart = {"headers": {"Content-Type": "multipart/form-data; boundary=b"}}
    cut_off = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.xml"\r\n\r\n' + UBL
    nameless = b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n"
    refused = [
        ({}, "content type is “”"),
        ({"json": {"file": "x"}}, "content type is “application/json”"),
        ({"data": {"file": "x"}}, "content type is “application/x-www-form-urlencoded”"),
        ({"content": b"--b--\r\n", "headers": {"Content-Type": "multipart/form-data"}}, "lacks its boundary"),
        ({"content": b"no boundary here", **multipart}, "missing after 16 bytes"),
        ({"content": b"--b, with more behind it", **multipart}, "cannot be read. The file"),
        ({"content": cut_off, **multipart}, f"missing after {len(cut_off)} bytes"),
        ({"content": nameless, **multipart}, "has no name"),
    ]
    for request, told in refused:
        detail = assert_problem(post(VALIDATE, params={"lang": "en"}, **request), 422, "invalid_form").detail
        assert told in detail
        assert "in the field file" in detail


@pytest.mark.parametrize("lang", ["fr", "DE", "", "<script>" * 30 + "\x07"])
def test_unknown_languages(server, lang):
    response = server.client.post(VALIDATE, params={"lang": lang}, files={"file": UBL})
    problem = assert_problem(response, 422, "invalid_lang")
    assert len(problem.detail) < 200
    assert "\x07" not in problem.detail


def test_unknown_modes(server):
    assert "future" in assert_problem(server.validate(validation_mode="future"), 422, "invalid_validation_mode").detail


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"just words", "unsupported_file"),
        (b"<a><b></a>", "not_well_formed"),
        (UBL[:-30], "not_well_formed"),
        (b"<order/>", "unknown_root_element"),
        (b"  \n", "empty_file"),
    ],
)
def test_unreadable_files(server, content, code):
    problems = [assert_problem(server.validate(content, lang=lang), 422, code) for lang in ("de", "en")]
    assert problems[0].detail != problems[1].detail


def test_malformed_xml_is_reported_with_its_position(server):
    response = server.validate(b"<a>\n  <b></a>")
    assert_problem(response, 422, "not_well_formed")
    assert response.json()["line"] == 2
    assert response.json()["column"] >= 6
