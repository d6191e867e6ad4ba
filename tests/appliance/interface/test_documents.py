"""Endpoints for whole documents: convert, extract, fix, read, diff."""

import base64
import json
import subprocess

import pytest

import einvoice
from appliance.api.documents import DOCUMENT_RIGHTS
from appliance.workers import document_jobs
from appliance.workers.jobs import run_job
from appliance.workers.protocol import Message
from tests.helpers.served import API, CII, UBL, WRONG, assert_problem, http

LIMIT = 10_485_760
DELIVERY = b"<cac:Delivery><cbc:ActualDeliveryDate>2026-10-29</cbc:ActualDeliveryDate></cac:Delivery>"
TWO_DELIVERIES = UBL.replace(b"</cac:Delivery>", b"</cac:Delivery>" + DELIVERY, 1)
"""CII has one delivery only."""
SIGNED = UBL.replace(b"</Invoice>", b'<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/></Invoice>')
LATIN = WRONG.decode().replace('encoding="UTF-8"', 'encoding="ISO-8859-1"').encode("latin-1")
names = pytest.mark.parametrize("name", DOCUMENT_RIGHTS)


@pytest.fixture(scope="module")
def pdf(server):
    return server.client.get(server.generate(format="ZUGFERD").json()["artifacts"]["zugferd_pdf"]["url"]).content


def send(server, name, *contents, query=(), lang="en", **fields):
    """Send documents, each by the file name a.xml, b.xml …"""
    field = "files" if name == "diff" else "file"
    files = [(field, (f"{chr(ord('a') + at)}.xml", content)) for at, content in enumerate(contents)]
    return server.client.post(f"{API}/{name}", params={"lang": lang, **dict(query)}, files=files, data=fields)


def documents(name, content=UBL):
    return [content, content] if name == "diff" else [content]


def done(response):
    """Return the body without the status."""
    assert response.status_code == 200, response.text
    assert response.headers["cache-control"] == "no-store"
    body = response.json()
    assert body.pop("status") == "done"
    return body


@pytest.mark.parametrize(("source", "syntax"), [(UBL, "CII"), (CII, "UBL")])
def test_convert(server, source, syntax):
    body, expected = done(send(server, "convert", source)), einvoice.convert(source, lang="en")
    assert body.pop("xml").encode() == expected.xml
    assert (body.pop("xml_base64"), body.pop("changes_left_out")) == (None, 0)
    assert body == expected.to_dict("en")
    assert (body["syntax"], body["valid_before"], body["valid_after"]) == (syntax, True, True)


def test_convert_a_pdf(server, pdf):
    body = done(send(server, "convert", pdf, to="UBL"))
    assert einvoice.read(body["xml"].encode()).number.raw == "R-1"


def test_convert_to_another_specification(server):
    body = done(send(server, "convert", UBL, to="UBL", specification="EN16931", lang="de"))
    assert einvoice.read(body["xml"].encode()).specification.raw == "urn:cen.eu:en16931:2017"
    assert body["changes"] == einvoice.convert(UBL, "UBL", specification="EN16931").to_dict("de")["changes"]
    assert [(it["kind"], it["term"]) for it in body["changes"]] == [("changed", "BT-24")]


@pytest.mark.parametrize("flag", [{"query": {"strict": "true"}}, {"strict": "true"}])
def test_strict_conversion_returns_no_document_that_lost_a_term(server, flag):
    body = done(send(server, "convert", TWO_DELIVERIES, **flag))
    assert (body["xml"], body["xml_base64"], body["is_faithful"]) == (None, None, False)
    assert [(it["kind"], it["term"]) for it in body["changes"]] == [("lost", "BT-72")]
    assert done(send(server, "convert", TWO_DELIVERIES))["xml"]
    assert done(send(server, "convert", UBL, **flag))["xml"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"to": "PDF"}, "invalid_to"),
        ({"specification": "CIUS"}, "invalid_specification"),
        ({"specification": "urn:x\0"}, "invalid_specification"),
        ({"strict": "yes"}, "invalid_strict"),
        ({"query": {"strict": ""}}, "invalid_strict"),
    ],
)
def test_invalid_options_of_convert(server, options, code):
    assert_problem(send(server, "convert", UBL, **options), 422, code)


@pytest.mark.parametrize(("lang", "text"), [("en", "is no date"), ("de", "kein Datum")])
def test_conversion_refused(server, lang, text):
    wrong = UBL.replace(b"<cbc:IssueDate>2026-11-02<", b"<cbc:IssueDate>soon<")
    problem = assert_problem(send(server, "convert", wrong, lang=lang), 422, "conversion_refused")
    with pytest.raises(einvoice.ConversionRefused) as refused:
        einvoice.convert(wrong)
    assert problem.detail == refused.value.text(lang)
    assert send(server, "convert", wrong).json()["line"] == 1 + wrong[: wrong.index(b">soon<")].count(b"\n")


def test_extract(server, pdf, tmp_path):
    body = done(send(server, "extract", pdf))
    (tmp_path / "invoice.pdf").write_bytes(pdf)
    subprocess.run(["pdfdetach", "-saveall", "-o", tmp_path, tmp_path / "invoice.pdf"], check=True)
    assert body["xml"].encode() == (tmp_path / "factur-x.xml").read_bytes()
    assert (body["name"], body["relationship"], body["profile"]) == ("factur-x.xml", "Alternative", "EN 16931")
    assert (body["problem"], body["candidates"]) == (None, ["factur-x.xml"])
    assert [(it["name"], it["mime"], it["size"]) for it in body["attachments"]] == [
        ("factur-x.xml", "text/xml", len(body["xml"].encode()))
    ]


def test_extract_needs_a_pdf(server):
    assert_problem(send(server, "extract", UBL), 422, "no_pdf")


def test_fix(server, tmp_path):
    body = done(send(server, "fix", WRONG))
    assert body["xml"].encode() == UBL
    assert (body["is_changed"], body["valid_before"], body["valid_after"]) == (True, False, True)
    assert [(it["terms"], it["applicability"]) for it in body["changes"]] == [(["BT-106"], "safe")]
    assert body["stated_before"] == body["stated_after"] == {"amount_due": "824.67", "total_vat": "131.67", "lines": 2}
    assert (body["remaining"], body["remaining_left_out"]) == ([], 0)
    assert body["text"] == str(einvoice.validate(WRONG, lang="en").fixed())
    assert [it[:28] for it in body["remarks"]] == ["An invoice already sent must"]
    (tmp_path / "a.xml").write_bytes(WRONG)
    subprocess.run(["patch", "-s", "a.xml"], input=body["diff"].encode(), cwd=tmp_path, check=True)
    assert (tmp_path / "a.xml").read_bytes() == UBL


def test_nothing_to_fix(server):
    body = done(send(server, "fix", UBL))
    assert (body["xml"].encode(), body["is_changed"], body["diff"], body["remarks"]) == (UBL, False, "", [])


def test_fixed_document_keeps_its_encoding(server):
    body = done(send(server, "fix", LATIN))
    assert body["xml"] is None
    assert base64.b64decode(body["xml_base64"]) == LATIN.replace(b">692.99<", b">693.00<")


@pytest.mark.parametrize("flag", [{"query": {"unsafe": "true"}}, {"unsafe": "true"}])
def test_unsafe_changes_on_request(server, flag):
    wrong = UBL.replace(b">EUR</cbc:Doc", b">EUT</cbc:Doc")
    expected = {unsafe: einvoice.validate(wrong).fixed(unsafe=unsafe) for unsafe in (False, True)}
    assert (expected[False].is_changed, expected[True].is_changed) == (False, True), "the example has an unsafe change"
    body = done(send(server, "fix", wrong))
    assert [it["applicability"] for it in body["remaining"]] == ["unsafe"]
    assert body["xml"].encode() == wrong
    body = done(send(server, "fix", wrong, **flag))
    assert [it["applicability"] for it in body["changes"]] == ["unsafe"]
    assert body["xml"].encode() == expected[True].xml


def test_signed_document_is_not_changed(server):
    assert_problem(send(server, "fix", SIGNED), 422, "signed_document")


def test_invalid_value_of_unsafe(server):
    assert_problem(send(server, "fix", UBL, unsafe="1"), 422, "invalid_unsafe")


def test_read(server, pdf):
    body = done(send(server, "read", UBL))
    assert body == {"syntax": "UBL", "invoice": einvoice.read(UBL).to_dict()}
    assert (body["invoice"]["number"], body["invoice"]["totals"]["due"]) == ("KB-2026-1108", "824.67")
    body = done(send(server, "read", pdf))
    assert (body["syntax"], body["invoice"]["number"]) == ("CII", "R-1")


def test_diff(server):
    body = done(send(server, "diff", UBL, WRONG))
    assert (body["same"], body["changed"], body["only_in_a"], body["differences_left_out"]) == (False, 1, 0, 0)
    (row,) = body["differences"]
    assert (row["term"], row["a"]["value"], row["b"]["value"]) == ("BT-106", "693.00", "692.99")
    converted = einvoice.convert(UBL).xml
    body = done(send(server, "diff", UBL, converted))
    assert (body["same"], body["differences"]) == (True, [])


@pytest.mark.parametrize("count", [1, 3])
def test_diff_takes_two_files(server, count):
    assert_problem(send(server, "diff", *[UBL] * count), 422, "two_files_expected")


@pytest.mark.parametrize(("contents", "name"), [((b"x", UBL), "a.xml"), ((UBL, b"x"), "b.xml")])
def test_diff_names_the_file_that_cannot_be_read(server, contents, name):
    response = send(server, "diff", *contents)
    assert_problem(response, 422, "unsupported_file")
    assert response.json()["filename"] == name


@names
@pytest.mark.parametrize(
    ("content", "code"), [(b"x", "unsupported_file"), (b"<a/>", "unknown_root_element"), (b"<a>", "not_well_formed")]
)
def test_unreadable_files(server, name, content, code):
    code = "no_pdf" if name == "extract" else code
    assert_problem(send(server, name, *documents(name, content)), 422, code)


@names
def test_errors_of_the_request(server, name):
    path, content = f"{API}/{name}", documents(name)
    assert_problem(http.post(server.base.join(path)), 401, "key_missing")
    assert_problem(server.client.post(path, json={}), 422, "invalid_form")
    assert_problem(server.client.post(path, files={"other": b"x"}), 422, "no_file")
    assert_problem(send(server, name, b"", *content[1:]), 422, "empty_file")
    assert_problem(send(server, name, *content, lang="xx"), 422, "invalid_lang")
    assert_problem(server.client.get(path), 405, "method_not_allowed")
    if name != "diff":
        assert_problem(server.client.post(path, files=[("file", ("a.xml", UBL))] * 2), 422, "one_file_expected")


@names
def test_size_of_a_file(server, name):
    def padded(size):
        return UBL + b" " * (size - len(UBL))

    assert_problem(send(server, name, *documents(name, padded(LIMIT + 1))), 413, "file_too_large")
    response = send(server, name, padded(LIMIT), *documents(name)[1:])
    if name == "extract":
        assert_problem(response, 422, "no_pdf")
    else:
        done(response)


@names
def test_the_right_of_the_plan(server, name):
    right = DOCUMENT_RIGHTS[name]
    plans = {f"all-but-{name}": ["can_use_api", *({*DOCUMENT_RIGHTS.values()} - {right})], name: ["can_use_api", right]}
    for plan, rights in plans.items():
        server.add_plan(f"EINVOICE_PLAN_{plan.upper().replace('-', '_')}={','.join(rights)}")
    without, only = (server.add_key(plan, plan) for plan in plans)
    path = server.base.join(f"{API}/{name}")
    assert right in assert_problem(http.post(path, headers=without), 403, "right_required").detail
    assert_problem(http.post(path, headers=only), 422, "invalid_form")
    for key, expected in ((without, False), (only, True)):
        found = http.get(server.base.join(f"{API}/capabilities"), headers=key).json()
        assert found[name] == {"available": expected, "url": str(path)}
        assert right not in found["entitlements"]


def test_files_count_for_the_daily_limit(server):
    limited = server.with_plan(f"can_use_api,daily_validation_limit=3,{','.join(DOCUMENT_RIGHTS.values())}")
    with limited.client:
        done(send(limited, "diff", UBL, UBL))
        done(send(limited, "read", UBL))
        for name in DOCUMENT_RIGHTS:
            assert_problem(send(limited, name, *documents(name)), 429, "daily_validation_limit")


def test_documents_that_are_validated_are_counted(server):
    key = server.add_key("counted")
    for name in DOCUMENT_RIGHTS:
        field = "files" if name == "diff" else "file"
        files = [(field, ("a.xml", content)) for content in documents(name)]
        http.post(server.base.join(f"{API}/{name}"), headers=key, files=files)
    counted = 'einvoice_client_documents_total{client="counted"} 2.0'
    assert counted in server.client.get("/metrics").text, "those of convert and fix"


def test_long_lists_are_shortened(monkeypatch):
    other = UBL.replace(b"Kranich", b"Reiher").replace(b"Lindental", b"Birkental")
    job = Message({"job": "diff", "lang": "en", "names": ["a", "b"]}, (UBL, other))
    whole = einvoice.diff(UBL, other).to_dict("en")["differences"]
    assert len(whole) > 3
    monkeypatch.setattr(document_jobs, "MAX_LIST_BYTES", 1000)
    (body,) = (json.loads(it) for it in run_job(job).parts)
    assert body["differences"] == whole[: len(body["differences"])]
    assert 0 < len(body["differences"]) == len(whole) - body["differences_left_out"] < len(whole)


def test_examples_in_the_interface(server):
    paths = server.client.get("/openapi.json").json()["paths"]
    for name in DOCUMENT_RIGHTS:
        operation = paths[f"{API}/{name}"]["post"]
        (example,) = operation["responses"]["200"]["content"]["application/json"]["examples"].values()
        assert example["value"]["status"] == "done"
        assert {"401", "403", "408", "413", "422", "429", "503"} <= operation["responses"].keys()
