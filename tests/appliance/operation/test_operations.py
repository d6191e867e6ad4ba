"""Operation: logs, probes, metrics, pages, switches; none of them contains invoice content."""

import datetime
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from importlib.metadata import version

import pytest

from appliance.access.keys import KeyFile, today
from appliance.pages import docs
from tests.helpers.served import API, UBL, WRONG, assert_problem, declaring, http, serving
from tests.helpers.waiting import SECONDS, wait_until


def log_line(server, request_id, logger="appliance.transport.access_log"):
    def matches():
        lines = [json.loads(line) for line in server.log().splitlines(keepends=True) if line.endswith("\n")]
        return [line for line in lines if (line.get("request_id"), line["logger"]) == (request_id, logger)]

    return wait_until(matches, server.log)[0]


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


def test_audit_log_has_a_line_for_each_document(server):
    files = ("a.xml", WRONG), ("b.xml", UBL)
    request_id = server.batch(*files).headers["X-Request-ID"]
    line = log_line(server, request_id)
    assert (line["documents"], line["valid_documents"]) == (2, 1)
    assert not {"valid", "syntax"} & set(line), "which would be those of one document"
    lines = [json.loads(line) for line in server.log().splitlines()]
    lines = [line for line in lines if line["logger"] == "appliance.audit" and line["request_id"] == request_id]
    verdicts = {line["sha256"]: (line["valid"], line["key"], line["name"]) for line in lines}
    hashes = [hashlib.sha256(content).hexdigest() for _, content in files]
    assert verdicts == {hashes[0]: (False, "FIRST_1", "first"), hashes[1]: (True, "FIRST_1", "first")}


def test_start_is_logged_with_version_and_rule_sets(server):
    start = json.loads(server.log().splitlines()[0])
    assert start["version"] == version("einvoice-toolkit")
    assert start["ruleset"] in start["rule_sets"]


def test_death_of_a_worker_is_logged_and_counted(server):
    def deaths():
        text = server.client.get("/metrics").text
        return {cause: float(count) for cause, count in re.findall(r'_worker_deaths_total{cause="(\w+)"} (\S+)', text)}

    before = deaths()
    worker, _ = server.workers()
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: deaths() == {**before, "signal": before["signal"] + 1})

    def logged():
        lines = [line for line in map(json.loads, server.log().splitlines()) if "A worker ended" in line["message"]]
        return [line for line in lines if line["pid"] == worker]

    (line,) = wait_until(logged)
    assert (line["cause"], line["exit_status"]) == ("signal", -9)
    server.wait_for_metric("einvoice_workers_ready 2.0")


def test_metrics_of_memory_store_and_build(server):
    server.validate(WRONG)
    text = http.get(server.base.join("/metrics")).text
    values = {
        name: float(value) for name, value in re.findall(r"^(einvoice_\w+(?:{[^}]*})?) (\S+)$", text, re.MULTILINE)
    }
    assert values['einvoice_memory_bytes{process="server"}'] > 1 << 20
    assert values['einvoice_memory_bytes{process="workers"}'] > 1 << 20
    stored = sum(path.stat().st_size for path in (server.data / "artifacts").iterdir())
    assert 0 < values["einvoice_artifacts_bytes"] <= stored
    (build,) = [name for name in values if name.startswith("einvoice_build_info")]
    assert f'version="{version("einvoice-toolkit")}"' in build


def test_probes(server):
    assert http.get(server.base.join("/healthz")).json() == {"status": "ok"}
    assert http.get(server.base.join("/readyz")).json() == {
        "status": "ready",
        "checks": {"workers": True, "artifacts": True},
    }


def test_metrics(server):
    def value(metric):
        text = http.get(server.base.join("/metrics")).text
        return float(re.search(rf"^{re.escape(metric)} (\S+)$", text, re.MULTILINE)[1])

    server.validate()
    label = f'route="{API}/validate"'
    name = f'einvoice_requests_total{{method="POST",{label},status="200"}}'
    before = value(name), value(f"einvoice_request_seconds_count{{{label}}}")
    server.validate()
    assert (value(name), value(f"einvoice_request_seconds_count{{{label}}}")) == (before[0] + 1, before[1] + 1)
    assert value(f'einvoice_request_seconds_bucket{{le="+Inf",{label}}}') == before[1] + 1
    assert value("einvoice_workers_ready") == 2
    for kind in ("validation", "pdf", "generation"):
        assert value(f'einvoice_documents_waiting{{kind="{kind}"}}') == 0
        assert value(f'einvoice_documents_running{{kind="{kind}"}}') == 0


@pytest.mark.slow
def test_metrics_of_clients_connections_and_keys(tmp_path):
    with serving(tmp_path / "data", workers=1, metrics=1) as server:
        other = server.add_key("other")
        assert server.client.get(f"{API}/capabilities", headers=other).status_code == 200
        server.validate()
        server.client.get("/healthz", headers={"X": "x" * 70_000})
        KeyFile(server.data / "keys.env").add("other", "business", today() + datetime.timedelta(days=3))
        text = server.client.get("/metrics").text
    values = dict(re.findall(r"^einvoice_(\w+(?:{[^}]*})?) (\S+)$", text, re.MULTILINE))
    requests = [values[f'client_requests_total{{client="{client}"}}'] for client in ("first", "other")]
    assert requests == ["1.0", "1.0"]
    assert values['client_documents_total{client="first"}'] == "1.0"
    assert 'client_documents_total{client="other"}' not in values
    assert float(values['client_worker_seconds_total{client="first"}']) > 0
    assert values['refusals_total{code="headers_too_large"}'] == "1.0"
    assert values['refusals_total{code="too_many_connections"}'] == "0.0"
    assert (values["keys"], values['key_expiry_days{key="OTHER_2"}']) == ("3.0", "3.0")
    assert (float(values["connections"]), values["connections_limit"]) == (1, "500.0")


def test_metrics_use_route_templates(server):
    for path in ("/a", "/b", f"{API}/x", "/catalog/NONE"):
        server.client.get(path)
    text = http.get(server.base.join("/metrics")).text
    routes = set(re.findall(r'route="([^"]*)"', text))
    assert routes.isdisjoint({"/a", "/b", f"{API}/x", "/catalog/NONE"})
    assert "none" in routes


@pytest.mark.parametrize("path", ["/docs", "/catalog/BR-CO-10", "/catalog/BR-CO-10?lang=en"])
def test_pages_are_self_contained(server, path):
    response = http.get(server.base.join(path), timeout=60)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert not re.search(r"<script|<link|<img|@import|url\(", response.text)
    assert "</html>" in response.text


@pytest.mark.parametrize("path", ["/docs", "/catalog/BR-CO-10", "/", "/openapi.json"])
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_pages_are_not_sent_twice(server, path, encoding):
    def get(**headers):
        return http.get(server.base.join(path), headers={"Accept-Encoding": encoding, **headers})

    first = get()
    same = get(**{"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, first.headers.get("content-encoding", "identity")) == (200, encoding)
    assert (same.status_code, same.content) == (304, b"")
    assert same.headers.get("content-security-policy") == first.headers.get("content-security-policy")


def test_docs_name_the_address_that_the_client_used(server):
    """Not of everyone who sends another one: each address takes memory."""
    page = http.get(server.base.join("/docs")).text
    assert f"{server.base}api/external/validate" in page
    others = [
        http.get(server.base.join("/docs"), headers={"Host": f"host-{number}"}).text for number in range(docs.MAX_PAGES)
    ]
    assert f"host-{docs.MAX_PAGES - 1}" not in others[-1]
    assert "&#x27;/api/external/validate&#x27;" in others[-1]
    assert http.get(server.base.join("/docs")).text == page


def test_docs_list_every_route(server):
    docs = server.client.get("/docs").text
    described = server.client.get("/openapi.json").json()
    assert len(described["paths"]) == 19
    for path in described["paths"]:
        assert path in docs


def test_rule_pages(server):
    de, en = (http.get(server.base.join(f"/catalog/BR-CO-10?lang={lang}")).text for lang in ("de", "en"))
    assert de != en
    assert "BT-106" in de
    assert_problem(http.get(server.base.join("/catalog/NONE")), 404, "not_found")


@pytest.fixture(scope="module")
def minimal(tmp_path_factory):
    """A server with all optional features disabled, and with CORS enabled."""
    data = tmp_path_factory.mktemp("minimal") / "data"
    switches = {"page": "off", "docs": 0, "openapi": 0, "catalog_pages": 0, "metrics": 0, "artifacts": "off"}
    with serving(data, workers=1, cors_origins="https://a.example", **switches) as server:
        yield server


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/", "/page/js/app.js", "/docs", "/openapi.json", "/catalog/BR-CO-10", "/metrics"])
def test_switches(minimal, path):
    assert_problem(minimal.client.get(path), 404, "not_found")


@pytest.mark.slow
def test_links_can_be_disabled(minimal):
    artifacts = minimal.validate(WRONG).json()["artifacts"]
    nothing = {"available": False, "url": None, "expires_in_seconds": None}
    assert artifacts == dict.fromkeys(("validation_report_pdf", "readable_invoice_pdf"), nothing)
    assert not (minimal.data / "artifacts").exists()
    assert minimal.client.get("/readyz").status_code == 200


@pytest.mark.slow
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
    asked = http.options(minimal.base.join(f"{API}/validate"), headers=ask)
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (200, "https://a.example")
    response = minimal.client.post(f"{API}/validate", files={"file": UBL}, headers={"Origin": "https://a.example"})
    assert response.headers["access-control-allow-origin"] == "https://a.example"
    other = server.client.post(f"{API}/validate", files={"file": UBL}, headers={"Origin": "https://a.example"})
    assert "access-control-allow-origin" not in other.headers


@pytest.mark.slow
def test_only_known_loggers_are_enabled():
    script = (
        "import logging; from appliance.observability import logs; logs.configure('debug');"
        "[logging.getLogger(name).error('x%s', name) for name in ('fontTools.subset', 'weasyprint', 'appliance.a', '')]"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert [json.loads(line)["message"] for line in done.stderr.splitlines()] == ["xappliance.a"]


@pytest.mark.slow
def test_draining_server_is_not_ready_but_answers(tmp_path):
    with serving(tmp_path / "data", workers=1, drain_seconds=600) as server:
        server.process.terminate()
        wait_until(lambda: server.client.get("/readyz").status_code == 503)
        assert server.client.get("/readyz").json()["status"] == "not_ready"
        assert server.validate().status_code == 200
        server.process.terminate()  # a second signal ends the delay
        assert server.process.wait(SECONDS) == 0


STOPPED = """
import sys, threading, time
from pathlib import Path
from starlette.testclient import TestClient
from appliance import app
from appliance.access.keys import KeyRing
from appliance.settings import Settings

begun = threading.Event()
app.catalog.warm_up = lambda: (begun.set(), time.sleep(3600))

data = Path(sys.argv[1])
with TestClient(app.create_app(Settings(data=data, artifacts="off", workers=1), KeyRing(data / "keys.env", {}))):
    begun.wait()
"""


@pytest.mark.slow
def test_catalogs_under_construction_do_not_delay_the_end(tmp_path):
    subprocess.run([sys.executable, "-c", STOPPED, tmp_path], check=True, timeout=300)


IMPORTED = """
import sys
from pathlib import Path
from appliance.__main__ import create_app
from appliance.access.keys import KeyRing
from appliance.settings import Settings

create_app(Settings(data=Path(sys.argv[1])), KeyRing(Path(sys.argv[1]) / "keys.env", {}))
print(*sys.modules)
"""


@pytest.mark.slow
def test_server_starts_without_what_only_workers_need(tmp_path):
    done = subprocess.run([sys.executable, "-c", IMPORTED, tmp_path], check=True, timeout=300, capture_output=True)
    imported = set(done.stdout.decode().split())
    assert "appliance.api.generate" in imported
    assert imported.isdisjoint({"einvoice.draft", "einvoice.pdf", "einvoice.repair", "pandas", "redis", "weasyprint"})
