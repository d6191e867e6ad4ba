"""Links to PDFs on a real server: rendering, expiry, restart, replicas, outages."""

import io
import os
import shutil
import signal
import stat
import subprocess
import sys
import time

import httpx
import pikepdf
import pytest

import einvoice
from appliance.__main__ import main
from appliance.access.keys import KeyFile
from tests.helpers.served import UBL, VALIDATE, WRONG, assert_problem, http, serving
from tests.helpers.waiting import wait_until

REDIS_SECONDS = 3
"""An answer takes at most this time while Redis does not respond, in seconds."""
KINDS = ("validation_report_pdf", "readable_invoice_pdf")


def links(response):
    assert response.status_code == 200
    return {kind: link["url"] for kind, link in response.json()["artifacts"].items() if "url" in link}


def text(pdf, tmp_path):
    (tmp_path / "page.pdf").write_bytes(pdf)
    command = ["pdftotext", "-layout", tmp_path / "page.pdf", "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.skipif(not shutil.which("pdftotext"), reason="pdftotext is not installed")
@pytest.mark.parametrize(("lang", "verdict"), [("de", "Nicht gültig"), ("en", "Not valid")])
def test_report_contains_the_findings(server, tmp_path, lang, verdict):
    response = server.validate(WRONG, lang=lang)
    pdf = server.client.get(links(response)["validation_report_pdf"])
    assert (pdf.status_code, pdf.headers["cache-control"]) == (200, "private, no-store")
    content = " ".join(text(pdf.content, tmp_path).split())  # a long title is on two lines
    assert verdict in content
    assert "invoice.xml" in content, "the file name"
    for finding in response.json()["errors"]:
        assert finding["code"] in content
        assert finding["title"] in content


@pytest.mark.skipif(not shutil.which("pdftotext"), reason="pdftotext is not installed")
def test_readable_invoice_is_rendered_from_the_upload(server, tmp_path):
    response = server.validate(UBL, lang="en")
    pdf = server.client.get(links(response)["readable_invoice_pdf"])
    assert pdf.headers["content-type"] == "application/pdf"
    assert response.json()["invoice_summary"]["invoice_number"] in text(pdf.content, tmp_path)


def test_all_pdfs_of_a_generated_hybrid(server):
    urls = links(server.generate(format="ZUGFERD"))
    assert len({url.rsplit("/", 2)[1] for url in urls.values()}) == 1, "one token per response"
    pdfs = {kind: server.client.get(url) for kind, url in urls.items()}
    assert {kind: pdf.status_code for kind, pdf in pdfs.items()} == dict.fromkeys((*KINDS, "zugferd_pdf"), 200)
    assert einvoice.validate(pdfs["zugferd_pdf"].content).is_valid
    for kind in KINDS:
        with pikepdf.open(io.BytesIO(pdfs[kind].content)) as opened:
            assert len(opened.pages) >= 1


def test_report_is_stable_and_head_has_its_length(server):
    url = links(server.validate(WRONG))["validation_report_pdf"]
    head, first, second = server.client.head(url), server.client.get(url), server.client.get(url)
    assert first.content == second.content
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(first.content))


def test_stored_files_are_private_and_contain_no_token(server):
    url = links(server.validate(WRONG))["validation_report_pdf"]
    folder = server.data / "artifacts"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    assert url.rsplit("/", 2)[1].encode() not in content
    assert b"<cbc:" not in content


@pytest.mark.slow
def test_links_survive_a_restart_and_expire(tmp_path):
    key = {"X-API-Key": KeyFile(tmp_path / "data" / "keys.env").add("acme", "business")}
    with serving(tmp_path / "data", workers=1) as server:
        server.client.headers.update(key)
        earlier = httpx.URL(links(server.validate(WRONG))["validation_report_pdf"]).path
    with serving(tmp_path / "data", workers=1, artifact_seconds=5) as server:  # for new links
        response = server.client.get(earlier, headers=key)  # the first rendering takes longest
        assert response.content.startswith(b"%PDF-")
        assert_problem(server.client.get(earlier), 404, "artifact_not_found")  # with the temporary key
        url = links(server.validate(WRONG, lang="en"))["validation_report_pdf"]
        assert_expires(server, url, response.content)
        assert server.client.get(earlier, headers=key).status_code == 200


def assert_expires(server, url, stored):
    """The link is answered with 410, and its content is erased, except for what is stored in another PDF, too."""
    pdf = server.client.get(url).content
    own = next(part for start in range(1000, len(pdf), 64) if (part := pdf[start : start + 64]) not in stored)
    assert own in stored_bytes(server)
    other = server.add_key("other")
    wait_until(lambda: server.client.get(url).status_code != 200)
    assert_problem(server.client.get(url), 410, "artifact_expired")
    assert_problem(http.get(url, headers=other), 404, "artifact_not_found")
    wait_until(lambda: own not in stored_bytes(server))
    assert_problem(server.client.get(url), 410, "artifact_expired")


def stored_bytes(server):
    return b"".join(path.read_bytes() for path in (server.data / "artifacts").iterdir())


@pytest.fixture(scope="module")
def replicas(tmp_path_factory, module_redis):
    """Two servers with the same Redis and the same keys."""
    folder = tmp_path_factory.mktemp("replicas")
    shared = {"workers": 1, "metrics": 1, "keys": folder / "keys.env", "artifacts": module_redis.url}
    with serving(folder / "one", **shared) as one, serving(folder / "two", **shared) as two:
        yield one, two


@pytest.mark.slow
def test_replicas_share_links_in_redis(replicas):
    one, two = replicas
    keys = KeyFile(one.data.parent / "keys.env")
    key, other = ({"X-API-Key": keys.add(name, "business")} for name in ("acme", "other"))
    for server, other_server in ((one, two), (two, one)):
        urls = links(server.client.post(VALIDATE, files={"file": WRONG}, headers=key))
        paths = [httpx.URL(urls[kind]).path for kind in KINDS]
        from_other = [other_server.client.get(path, headers=key) for path in paths]
        from_own = [server.client.get(path, headers=key) for path in paths]
        assert [response.status_code for response in from_other] == [200, 200]
        assert [response.content for response in from_other] == [response.content for response in from_own]
        assert_problem(other_server.client.get(paths[0], headers=other), 404, "artifact_not_found")
    assert not (one.data / "artifacts").exists()


@pytest.mark.slow
def test_unavailable_redis_affects_links_only(without_redis):
    body = without_redis.validate(WRONG).json()
    assert body["errors"]
    assert not body["artifacts"]["validation_report_pdf"]["available"]
    ready = without_redis.client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json() == {"status": "degraded", "checks": {"workers": True, "artifacts": False}}
    path = "/api/external/artifacts/" + "x" * 32 + "/report.pdf"
    assert_problem(without_redis.client.get(path), 503, "artifacts_unavailable")
    assert "pass-word" not in without_redis.log()


@pytest.mark.slow
def test_redis_outage_and_recovery(replicas, module_redis):
    """Requests are not delayed, and recovery is detected."""
    server, _ = replicas
    url = links(server.validate(WRONG))["validation_report_pdf"]
    os.kill(module_redis.process.pid, signal.SIGSTOP)  # accepts connections but does not respond
    wait_until(lambda: server.client.get("/readyz").json()["status"] == "degraded")
    assert server.client.get("/readyz").status_code == 200
    for request in (lambda: server.validate(WRONG), lambda: server.client.get(url)):
        assert min(seconds_of(request) for _ in range(5)) < REDIS_SECONDS
    response = server.validate(WRONG).json()
    assert response["errors"]
    assert not response["artifacts"]["validation_report_pdf"]["available"]
    assert_problem(server.client.get(url), 503, "artifacts_unavailable")
    assert "\neinvoice_artifacts_available 0.0\n" in server.client.get("/metrics").text
    os.kill(module_redis.process.pid, signal.SIGCONT)
    wait_until(lambda: server.client.get("/readyz").json()["status"] == "ready")
    assert server.client.get(url).status_code == 200
    assert links(server.validate(WRONG))
    assert server.log().count("responses are sent without links") == 1


def seconds_of(call):
    started = time.monotonic()
    call()
    return time.monotonic() - started


@pytest.mark.slow
def test_unknown_store_is_reported(tmp_path):
    settings = {"EINVOICE_DATA": str(tmp_path), "EINVOICE_ARTIFACTS": "memcached://user:pass-word@host"}
    command = [sys.executable, "-m", "appliance", "serve", "--port", "0"]
    process = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, timeout=60)
    assert process.returncode == 1
    assert process.stderr.count("\n") == 1
    assert "EINVOICE_ARTIFACTS" in process.stderr
    assert "pass-word" not in process.stderr


def test_listed_settings_hide_the_password(monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_ARTIFACTS", "redis://user:pass-word@host:6379/0")
    assert main(["settings"]) == 0
    printed = capsys.readouterr().out
    assert "EINVOICE_ARTIFACTS=redis://***@host:6379/0" in printed
    assert "pass-word" not in printed
