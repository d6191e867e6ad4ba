"""What the interface's description and its decisions say beside the fields: statuses, limits, modes, links."""

import base64
import io
import json
import re

import httpx
import pikepdf
import pytest
from served import API, BATCH, CII, DRAFT, GENERATE, UBL, VALIDATE, WRONG, assert_problem, declaring

from appliance.access.keys import KeyFile
from appliance.transport.uploads import MAX_FILE_BYTES

NO_LINK = {"available": False, "url": None, "expires_in_seconds": None}
DOCUMENTED = [
    ("POST", VALIDATE),
    ("POST", BATCH),
    ("POST", GENERATE),
    ("GET", f"{API}/schemas/invoice-draft.json"),
    ("GET", f"{API}/capabilities"),
    ("GET", f"{API}/errors/catalog"),
    ("GET", f"{API}/artifacts/x/report.pdf"),
    ("GET", f"{API}/artifacts/x/invoice.pdf"),
    ("GET", f"{API}/artifacts/x/zugferd.pdf"),
]
endpoints = pytest.mark.parametrize(("method", "path"), DOCUMENTED)


@pytest.fixture(scope="module")
def hybrid(server):
    """A hybrid PDF that the appliance made itself, and the answer that told of it."""
    answer = server.generate(format="ZUGFERD").json()
    return server.client.get(answer["artifacts"]["zugferd_pdf"]["url"]).content


@pytest.fixture(scope="module")
def plain_pdf(tmp_path_factory):
    """A PDF without an invoice."""
    path = tmp_path_factory.mktemp("pdf") / "plain.pdf"
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        pdf.save(path)
    return path.read_bytes()


# ---------------------------------------------------------------- 5. authentication


@endpoints
@pytest.mark.parametrize(("headers", "code"), [({}, "key_missing"), ({"X-API-Key": "ei_x"}, "key_invalid")])
def test_without_a_valid_key(server, method, path, headers, code):
    assert_problem(httpx.request(method, server.base.join(path), headers=headers), 401, code)


@pytest.fixture(scope="module")
def personal(server):
    return server.add_key("personal", "personal")


@endpoints
def test_with_a_key_of_another_plan(server, personal, method, path):
    assert_problem(httpx.request(method, server.base.join(path), headers=personal), 403, "plan_required")


@pytest.mark.parametrize(("left_out", "path"), [("can_batch", BATCH), ("can_generate_invoice", GENERATE)])
def test_rights_of_a_plan(server, left_out, path):
    rights = {"can_use_api", "can_batch", "can_generate_invoice"} - {left_out}
    plan = left_out.replace("_", "-")
    server.add_plan(f"EINVOICE_PLAN_{left_out.upper()}={','.join(sorted(rights))}")
    key = server.add_key(plan, plan)
    assert left_out in assert_problem(httpx.post(server.base.join(path), headers=key), 403, "right_required").detail
    answer = httpx.get(server.base.join(f"{API}/capabilities"), headers=key).json()
    assert (answer["plan_type"], answer["entitlements"][left_out]) == (plan, False)


def test_a_plan_that_sees_neither_summary_nor_readable_invoice(server):
    server.add_plan("EINVOICE_PLAN_BLIND=can_use_api,can_generate_invoice")
    key = server.add_key("blind", "blind")
    answer = httpx.post(server.base.join(VALIDATE), headers=key, files={"file": UBL}).json()
    made = httpx.post(server.base.join(GENERATE), headers=key, json=DRAFT, timeout=30).json()
    for found in (answer, made):
        assert found["invoice_summary"] is None
        assert found["artifacts"]["readable_invoice_pdf"] == NO_LINK


def test_daily_limits(server):
    server.add_plan("EINVOICE_PLAN_SMALL=can_use_api,can_batch,daily_usage_limit=3,daily_validation_limit=2")
    key = server.add_key("small-plan", "small")
    ten = [("files", ("a.xml", UBL))] * 3
    over = httpx.post(server.base.join(BATCH), headers=key, files=ten)
    assert_problem(over, 429, "daily_validation_limit")
    assert 0 < int(over.headers["Retry-After"]) <= 86_401
    assert httpx.post(server.base.join(BATCH), headers=key, files=ten[:2]).status_code == 200
    assert_problem(
        httpx.post(server.base.join(VALIDATE), headers=key, files={"file": UBL}), 429, "daily_validation_limit"
    )
    assert_problem(httpx.get(server.base.join(f"{API}/capabilities"), headers=key), 429, "daily_usage_limit")


# ---------------------------------------------------------------- 4.1 validate


def test_hybrid_pdf(server, hybrid):
    answer = server.validate(hybrid).json()
    assert (answer["validation_format"], answer["is_valid"]) == ("CII", True)
    assert answer["validation_details"]["container"]["is_valid"] is True


def test_pdf_without_an_invoice(server, plain_pdf):
    assert_problem(server.validate(plain_pdf), 422, "no_embedded_xml")


def test_encrypted_pdf(server, tmp_path, hybrid):
    path = tmp_path / "locked.pdf"
    with pikepdf.open(io.BytesIO(hybrid)) as pdf:
        pdf.save(path, encryption=pikepdf.Encryption(owner="x", user="y"))
    problem = server.validate(path.read_bytes())
    assert problem.status_code == 422
    assert problem.json()["code"] == "encrypted_pdf"


def test_modes(server):
    for mode in ("current", "compatibility"):
        answer = server.validate(validation_mode=mode).json()
        assert answer["validation_mode"] == answer["validation_details"]["validation_stack"]["mode"] == mode
        compatibility = answer["validation_details"]["compatibility"]
        assert compatibility == {"status": "current", "message": None, "differences": []}


def test_findings_are_no_http_errors(server):
    answer = server.validate(WRONG, lang="en")
    assert answer.status_code == 200
    assert answer.json()["status"] == "done"
    assert answer.json()["is_valid"] is False
    for mode in ("current", "compatibility"):
        answer = server.validate(declaring("2.3", WRONG), validation_mode=mode).json()
        compatibility = answer["validation_details"]["compatibility"]
        for told in (*answer["errors"], *answer["warnings"], *compatibility["differences"]):
            assert httpx.get(told["doc_url"]).status_code == 200


# ---------------------------------------------------------------- 4.2 batch


def test_ten_files_one_broken_one_pdf_without_xml(server, plain_pdf, hybrid):
    sent = [("same.xml", UBL)] * 6 + [
        ("cii.xml", CII),
        ("h.pdf", hybrid),
        ("b.xml", b"<a><b></a>"),
        ("p.pdf", plain_pdf),
    ]
    answer = server.batch(*sent)
    assert answer.status_code == 200
    items = answer.json()["items"]
    assert [item["filename"] for item in items] == [name for name, _ in sent]
    assert [item["is_valid"] for item in items] == [True] * 8 + [False] * 2
    for item, code in zip(items[8:], ["FILE-XML-TAG", "FILE-PDF-NO-XML"], strict=True):
        assert (item["validation_format"], item["validation_profile"]) == ("", "")
        assert item["validation_details"]["validation_stack"]["layers"] == []
        assert item["artifacts"] == {"validation_report_pdf": NO_LINK, "readable_invoice_pdf": NO_LINK}
        assert [error["code"] for error in item["errors"]] == [code]
        assert item["errors"][0]["severity"] == "fatal"
        assert item["errors"][0]["validation_layer"] == "file"
    assert items[8]["errors"][0]["line"] == 1


def test_batch_with_an_empty_file(server):
    items = server.batch(("a.xml", b""), ("b.xml", UBL)).json()["items"]
    assert [item["is_valid"] for item in items] == [False, True]
    assert items[0]["errors"][0]["code"] == "FILE-EMPTY"


def test_batch_with_an_oversized_file(server):
    answer = server.batch(("a.xml", UBL), ("big.xml", b"<" * (MAX_FILE_BYTES + 1)), ("c.xml", UBL))
    assert "big.xml" in assert_problem(answer, 413, "file_too_large").detail


def test_eleven_files(server):
    assert_problem(server.batch(*[("a.xml", UBL)] * 11), 422, "too_many_files")


def test_batch_without_files(server):
    assert_problem(server.client.post(BATCH, files={"file": UBL}), 422, "no_file")
    assert_problem(server.client.post(BATCH, json={}), 422, "invalid_form")


def test_batch_knows_one_mode(server):
    assert server.batch(("a.xml", UBL), validation_mode="current").status_code == 200
    assert_problem(server.batch(("a.xml", UBL), validation_mode="compatibility"), 422, "invalid_validation_mode")


# ---------------------------------------------------------------- 4.3 generate


def test_the_generated_invoice_is_the_one_that_was_judged(server):
    made = server.generate().json()
    assert not made["is_valid"]
    again = server.validate(made["xml"].encode(), lang="en").json()
    assert [error["code"] for error in again["errors"]] == [error["code"] for error in made["validation"]["errors"]]
    assert all("draft_pointer" in error for error in made["validation"]["errors"])


def test_wrong_drafts(server):
    answer = server.generate(lines=[{"name": "x", "quantity": "many"}], sellr={}, format="PDF")
    assert_problem(answer, 422, "invalid_draft")
    pointers = {place["pointer"] for place in answer.json()["errors"]}
    assert {"/format", "/sellr", "/lines/0/quantity", "/lines/0/unit_price", "/lines/0/tax_category"} <= pointers
    assert all(place["message"] for place in answer.json()["errors"])


@pytest.mark.parametrize("body", [b"{", b"", b"[]", b"null", b'"x"', b"\xff", b"[" * 100_000])
def test_bodies_that_are_no_draft(server, body):
    headers = {"Content-Type": "application/json"}
    answer = server.client.post(GENERATE, content=body, headers=headers)
    assert_problem(answer, 422, "invalid_draft")
    assert answer.json()["errors"]


@pytest.mark.parametrize("content_type", ["text/plain", "multipart/form-data; boundary=b", None])
def test_another_content_type_than_json(server, content_type):
    headers = {"Content-Type": content_type} if content_type else {}
    assert_problem(server.client.post(GENERATE, content=b"{}", headers=headers), 415, "json_expected")


def test_a_draft_over_the_limit(server):
    headers = {"Content-Type": "application/json"}
    big = json.dumps({**DRAFT, "x": base64.b64encode(bytes(8_000_000)).decode()}).encode()
    assert len(big) > MAX_FILE_BYTES
    assert_problem(server.client.post(GENERATE, content=big, headers=headers), 413, "body_too_large")


# ---------------------------------------------------------------- 4.6 catalog, 4.4 schema


@pytest.mark.parametrize("path", [f"{API}/errors/catalog", f"{API}/schemas/invoice-draft.json"])
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_etags(server, path, encoding):
    headers = {"Accept-Encoding": encoding}
    first = server.client.get(path, headers=headers)
    etag = first.headers["ETag"]
    same = server.client.get(path, headers={**headers, "If-None-Match": f'W/{etag}, "other"'})
    other = server.client.get(path, headers={**headers, "If-None-Match": '"other"'})
    assert (first.status_code, same.status_code, other.status_code) == (200, 304, 200)
    assert same.content == b""
    assert same.headers["ETag"] == etag
    assert first.json() == other.json()
    assert first.headers.get("content-encoding", "identity") == encoding


def test_etags_differ_by_language(server):
    tags = {server.client.get(f"{API}/errors/catalog", params={"lang": lang}).headers["ETag"] for lang in ("de", "en")}
    assert len(tags) == 2


@pytest.mark.parametrize(
    ("method", "path"), [("POST", VALIDATE), ("POST", BATCH), ("POST", GENERATE), ("GET", f"{API}/errors/catalog")]
)
def test_unknown_languages(server, method, path):
    assert_problem(server.client.request(method, path, params={"lang": "fr"}), 422, "invalid_lang")


# ---------------------------------------------------------------- 4.7 artifacts


def test_a_link_is_bound_to_its_key(server):
    link = server.generate(format="ZUGFERD").json()["artifacts"]["zugferd_pdf"]
    assert re.fullmatch(rf"{server.base}{API[1:]}/artifacts/[A-Za-z0-9_-]{{22,}}/zugferd\.pdf", link["url"])
    assert link["expires_in_seconds"] == 3600
    answer = server.client.get(link["url"])
    assert answer.content.startswith(b"%PDF-")
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["cache-control"] == "private, no-store"
    head = server.client.head(link["url"])
    assert (head.status_code, head.content) == (200, b"")
    other = server.add_key("other-holder")
    assert_problem(httpx.get(link["url"], headers=other), 404, "artifact_not_found")
    assert_problem(httpx.get(link["url"]), 401, "key_missing")
    assert_problem(server.client.get(link["url"].replace("zugferd.pdf", "other.pdf")), 404, "artifact_not_found")


def test_two_keys_of_a_name_are_one_holder(server):
    """As they are while a key is exchanged: the new one opens what the old one was given."""
    old, new = server.add_key("exchanged"), server.add_key("exchanged")
    answer = httpx.post(server.base.join(GENERATE), headers=old, json={**DRAFT, "format": "ZUGFERD"}, timeout=30)
    url = answer.json()["artifacts"]["zugferd_pdf"]["url"]
    KeyFile(server.data / "keys.env").revoke("EXCHANGED_1")
    assert httpx.get(url, headers=new).status_code == 200
    assert_problem(httpx.get(url, headers=old), 401, "key_invalid")


def test_unknown_tokens(server):
    assert_problem(server.client.get(f"{API}/artifacts/{'x' * 32}/report.pdf"), 404, "artifact_not_found")


# ---------------------------------------------------------------- order of checks


def test_order_of_checks(server):
    """Key, plan, path, method, then what the request says."""
    post, personal = server.client.post, server.add_key("order", "personal")
    assert_problem(httpx.post(server.base.join(f"{API}/nothing")), 401, "key_missing")
    assert_problem(httpx.post(server.base.join(f"{API}/nothing"), headers=personal), 403, "plan_required")
    assert_problem(post(f"{API}/nothing", params={"lang": "fr"}), 404, "not_found")
    assert_problem(server.client.get(VALIDATE, params={"lang": "fr"}), 405, "method_not_allowed")
    assert_problem(post(VALIDATE, params={"lang": "fr"}), 422, "invalid_lang")
    big = b"<" * (MAX_FILE_BYTES + 1)
    assert_problem(post(VALIDATE, files=[("file", UBL), ("file", big)]), 422, "one_file_expected")
    assert_problem(post(VALIDATE, files={"file": big}, data={"validation_mode": "x"}), 413, "file_too_large")


def test_values_are_quoted_briefly(server):
    problem = assert_problem(server.validate(validation_mode="x" * 500 + "\n"), 422, "invalid_validation_mode")
    assert "x" * 41 not in problem.detail
