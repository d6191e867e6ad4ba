"""Operation: logs, probes, metrics, pages, switches; none of them contains invoice content."""

import json
import re
import subprocess
import sys
import time

import httpx
import pytest
from served import API, UBL, WRONG, assert_problem, declaring, serving


def log_line(server, request_id):
    for _ in range(100):
        lines = [json.loads(line) for line in server.log().splitlines()]
        matches = [line for line in lines if line.get("request_id") == request_id]
        if matches:
            return matches[0]
        time.sleep(0.02)
    raise AssertionError(server.log())


def test_request_ids(server):
    given = server.client.get("/healthz", headers={"X-Request-ID": "abc-1.2_3"})
    assert given.headers["X-Request-ID"] == "abc-1.2_3"
    for malformed in ("a b", "x" * 65, '"', "ü".encode()):
        made = server.client.get("/healthz", headers={"X-Request-ID": malformed}).headers["X-Request-ID"]
        assert re.fullmatch(r"[0-9a-f]{16}", made)


def test_access_log(server):
    response = server.client.get(f"{API}/artifacts/secret-token/report.pdf", params={"lang": "en", "q": "secret"})
    line = log_line(server, response.headers["X-Request-ID"])
    assert (line["status"], line["method"], line["route"]) == (404, "GET", f"{API}/artifacts/{{token}}/{{file}}")
    assert line["level"] == "info"
    assert line["key"] == "FIRST_1"
    assert line["ms"] >= 0


def test_logs_contain_no_invoice_content_or_keys(server):
    key = server.client.headers["X-API-Key"]
    response = server.validate(
        WRONG.replace(b"<cbc:ID>", b"<cbc:ID>SECRET-NUMBER", 1), lang="en", validation_mode="current"
    )
    server.validate(b"<SECRET-ROOT/>")
    server.client.get("/SECRET-PATH")
    assert log_line(server, response.headers["X-Request-ID"])["valid"] is False
    assert "SECRET" not in server.log()
    assert key not in server.log()
    assert "invoice.xml" not in server.log()
    assert all(json.loads(line) for line in server.log().splitlines())


def test_probes(server):
    assert httpx.get(server.base.join("/healthz")).json() == {"status": "ok"}
    assert httpx.get(server.base.join("/readyz")).json() == {
        "status": "ready",
        "checks": {"workers": True, "artifacts": True},
    }


def test_metrics(server):
    def value(metric):
        text = httpx.get(server.base.join("/metrics")).text
        return float(re.search(rf"^{re.escape(metric)} (\S+)$", text, re.MULTILINE)[1])

    server.validate()
    label = f'route="{API}/validate"'
    name = f'einvoice_requests_total{{method="POST",{label},status="200"}}'
    before = value(name), value(f"einvoice_request_seconds_count{{{label}}}")
    server.validate()
    assert (value(name), value(f"einvoice_request_seconds_count{{{label}}}")) == (before[0] + 1, before[1] + 1)
    assert value(f'einvoice_request_seconds_bucket{{le="+Inf",{label}}}') == before[1] + 1
    assert value("einvoice_workers_ready") == 2


def test_metrics_use_route_templates(server):
    for path in ("/a", "/b", f"{API}/x", "/catalog/NONE"):
        server.client.get(path)
    text = httpx.get(server.base.join("/metrics")).text
    routes = set(re.findall(r'route="([^"]*)"', text))
    assert routes.isdisjoint({"/a", "/b", f"{API}/x", "/catalog/NONE"})
    assert "none" in routes


@pytest.mark.parametrize("path", ["/docs", "/catalog/BR-CO-10", "/catalog/BR-CO-10?lang=en"])
def test_pages_are_self_contained(server, path):
    response = httpx.get(server.base.join(path), timeout=60)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert not re.search(r"<script|<link|<img|@import|url\(", response.text)
    assert "</html>" in response.text


def test_docs_list_every_route(server):
    docs = server.client.get("/docs").text
    described = server.client.get("/openapi.json").json()
    assert len(described["paths"]) == 10
    for path in described["paths"]:
        assert path in docs


def test_rule_pages(server):
    de, en = (httpx.get(server.base.join(f"/catalog/BR-CO-10?lang={lang}")).text for lang in ("de", "en"))
    assert de != en
    assert "BT-106" in de
    assert_problem(httpx.get(server.base.join("/catalog/NONE")), 404, "not_found")


@pytest.fixture(scope="module")
def minimal(tmp_path_factory):
    """A server with all optional features disabled, and with CORS enabled."""
    data = tmp_path_factory.mktemp("minimal") / "data"
    switches = {"docs": 0, "openapi": 0, "catalog_pages": 0, "metrics": 0, "cors_origins": "https://a.example"}
    with serving(data, workers=1, **switches) as server:
        yield server


@pytest.mark.parametrize("path", ["/docs", "/openapi.json", "/catalog/BR-CO-10", "/metrics"])
def test_switches(minimal, path):
    assert_problem(minimal.client.get(path), 404, "not_found")


def test_no_doc_url_without_catalog_pages(minimal):
    older = declaring("2.3", WRONG)
    single = minimal.validate(older, validation_mode="compatibility").json()
    items = minimal.batch(("a.xml", WRONG), ("b.xml", b"")).json()["items"]
    made = minimal.generate(buyer_reference="").json()["validation"]
    items = [finding for response in (single, made, *items) for finding in (*response["errors"], *response["warnings"])]
    items += single["validation_details"]["compatibility"]["differences"]
    items += minimal.client.get(f"{API}/errors/catalog").json()["items"]
    assert {item["doc_url"] for item in items} == {""}


def test_cors_if_configured(minimal, server):
    ask = {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}
    asked = httpx.options(minimal.base.join(f"{API}/validate"), headers=ask)
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (200, "https://a.example")
    response = minimal.client.post(f"{API}/validate", files={"file": UBL}, headers={"Origin": "https://a.example"})
    assert response.headers["access-control-allow-origin"] == "https://a.example"
    other = server.client.post(f"{API}/validate", files={"file": UBL}, headers={"Origin": "https://a.example"})
    assert "access-control-allow-origin" not in other.headers


def test_only_known_loggers_are_enabled():
    script = (
        "import logging; from appliance.observability import logs; logs.configure('debug');"
        "[logging.getLogger(name).error('x%s', name) for name in ('fontTools.subset', 'weasyprint', 'appliance.a', '')]"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert [json.loads(line)["message"] for line in done.stderr.splitlines()] == ["xappliance.a"]
