"""Links to artifacts: access, rendering, expiry, and unavailable stores."""

import asyncio
import logging
import secrets
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from appliance.artifacts import links as module
from appliance.artifacts.links import ArtifactLinks, ArtifactSource
from appliance.artifacts.sqlite_store import SQLiteStore
from appliance.contract.paths import ARTIFACT_FILES
from appliance.contract.problems import Problem
from tests.helpers.artifacts import KINDS, SOURCE, STORE_BYTES, Renderer, on_disk, token_of
from tests.helpers.waiting import SECONDS


@pytest.fixture(params=["file", "redis"])
def setup(request, folder):
    """Links with each kind of store."""
    store = SQLiteStore(folder, STORE_BYTES) if request.param == "file" else request.getfixturevalue("redis_store")
    render = Renderer()
    yield SimpleNamespace(links=ArtifactLinks(store, 3600, render), render=render, store=store)
    if request.param == "file":
        store.close()


def run(coroutine):
    return asyncio.run(coroutine)


def problem_status(links, token, file, holder):
    with pytest.raises(Problem) as caught:
        run(links.fetch(token, file, holder))
    return caught.value.type.status


def test_holder_fetches_a_link_rendered_once(setup):
    links = run(setup.links.create("acme", KINDS, SOURCE))
    assert {kind: link.path.rpartition("/")[2] for kind, link in links.items()} == {
        "validation_report_pdf": "report.pdf",
        "readable_invoice_pdf": "invoice.pdf",
    }
    assert {link.seconds for link in links.values()} == {3600}
    (token,) = {token_of(link) for link in links.values()}
    assert setup.render.calls == [], "PDFs are not rendered before they are fetched"

    expected = b"%PDF validation_report_pdf Rechnung \xc3\xbc.xml en compatibility 1800000000.5 " + SOURCE.document
    assert run(setup.links.fetch(token, "report.pdf", "acme")) == expected
    assert run(setup.links.fetch(token, "report.pdf", "acme")) == expected
    assert setup.render.calls == ["validation_report_pdf"]


def test_link_does_not_exist_for_others(setup):
    links = run(setup.links.create("acme", KINDS, SOURCE))
    token = token_of(links["validation_report_pdf"])
    assert problem_status(setup.links, token, "report.pdf", "other") == 404
    assert problem_status(setup.links, token, "zugferd.pdf", "acme") == 404
    assert problem_status(setup.links, token, "../report.pdf", "acme") == 404
    assert problem_status(setup.links, secrets.token_urlsafe(24), "report.pdf", "acme") == 404
    assert problem_status(setup.links, "%00", "report.pdf", "acme") == 404
    assert setup.render.calls == []


def test_tokens_are_random(setup):
    tokens = {token_of(run(setup.links.create("a", KINDS, SOURCE))["readable_invoice_pdf"]) for _ in range(20)}
    assert len(tokens) == 20
    assert {len(token) for token in tokens} == {32}, "192 bits in base64"


def test_concurrent_fetches_share_one_rendering(setup):
    async def fetch_concurrently():
        links = await setup.links.create("acme", KINDS, SOURCE)
        token = token_of(links["validation_report_pdf"])
        return await asyncio.gather(*(setup.links.fetch(token, "report.pdf", "acme") for _ in range(8)))

    assert len(set(run(fetch_concurrently()))) == 1
    assert setup.render.calls == ["validation_report_pdf"]


def test_zugferd_pdf_is_the_document_itself(setup):
    links = run(setup.links.create("acme", tuple(ARTIFACT_FILES), SOURCE))
    assert run(setup.links.fetch(token_of(links["zugferd_pdf"]), "zugferd.pdf", "acme")) == SOURCE.document
    assert setup.render.calls == []


def test_expired_link_is_410_for_its_holder_only(folder, clock):
    store = SQLiteStore(folder, STORE_BYTES, clock)
    links = ArtifactLinks(store, 3600, Renderer(), clock)
    token = token_of(run(links.create("acme", KINDS, SOURCE))["validation_report_pdf"])
    run(links.fetch(token, "report.pdf", "acme"))
    clock.now += 3600
    assert problem_status(links, token, "report.pdf", "acme") == 410
    store.purge()
    assert problem_status(links, token, "report.pdf", "acme") == 410
    assert problem_status(links, token, "report.pdf", "other") == 404
    assert b"%PDF" not in on_disk(folder)
    clock.now += 86_400
    assert problem_status(links, token, "report.pdf", "acme") == 404
    store.close()


def test_store_contains_neither_token_nor_holder(folder):
    store = SQLiteStore(folder, STORE_BYTES)
    token = token_of(
        run(ArtifactLinks(store, 60, Renderer()).create("acme-holder", KINDS, SOURCE))["validation_report_pdf"]
    )
    content = on_disk(folder)
    assert token.encode() not in content
    assert b"acme-holder" not in content
    store.close()


def test_links_and_pdfs_survive_a_restart(folder):
    first = SQLiteStore(folder, STORE_BYTES)
    token = token_of(run(ArtifactLinks(first, 60, Renderer()).create("acme", KINDS, SOURCE))["validation_report_pdf"])
    pdf = run(ArtifactLinks(first, 60, Renderer()).fetch(token, "report.pdf", "acme"))
    first.close()
    second, render = SQLiteStore(folder, STORE_BYTES), Renderer()
    assert run(ArtifactLinks(second, 60, render).fetch(token, "report.pdf", "acme")) == pdf
    assert render.calls == []
    second.close()


def test_no_links_without_a_store_or_with_a_full_one(folder, caplog):
    disabled = ArtifactLinks(None, 3600, Renderer())
    assert run(disabled.create("acme", KINDS, SOURCE)) == {}
    run(disabled.check())
    assert disabled.available
    assert problem_status(disabled, "a" * 32, "report.pdf", "acme") == 404
    store = SQLiteStore(folder, STORE_BYTES)
    full = ArtifactLinks(store, 3600, Renderer())
    big = ArtifactSource(secrets.token_bytes(5_000_000), "", "de", "current", 0)
    assert run(full.create("acme", KINDS, big)) == {}
    assert "too large" in caplog.text
    assert run(full.create("acme", (), SOURCE)) == {}
    store.close()


def test_store_that_refuses_content_is_unavailable_for_a_while(folder, caplog, monkeypatch):
    caplog.set_level(logging.INFO)
    store = SQLiteStore(folder, STORE_BYTES)
    links = ArtifactLinks(store, 3600, Renderer())
    big = ArtifactSource(secrets.token_bytes(5_000_000), "", "de", "current", 0)
    assert [run(links.create("acme", KINDS, big)) for _ in range(3)] == [{}] * 3
    run(links.check())
    assert not links.available
    assert links.dropped == 3
    assert run(links.create("acme", KINDS, SOURCE)), "smaller content is stored"
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    monkeypatch.setattr(module, "REFUSED_SECONDS", 0)
    run(links.check())
    assert links.available
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    store.close()


def test_unavailable_store_is_logged_once(folder, caplog):
    store = SQLiteStore(folder, STORE_BYTES)
    links = ArtifactLinks(store, 3600, Renderer())
    token = token_of(run(links.create("acme", KINDS, SOURCE))["validation_report_pdf"])
    store.close()
    for _ in range(2):
        run(links.check())
        assert run(links.create("acme", KINDS, SOURCE)) == {}
        assert problem_status(links, token, "report.pdf", "acme") == 503
    assert len(caplog.records) == 1
    assert links.dropped == 2


def test_unavailable_store_is_detected(folder, caplog):
    store = SQLiteStore(folder, STORE_BYTES)
    links = ArtifactLinks(store, 3600, Renderer())
    token = token_of(run(links.create("acme", KINDS, SOURCE))["validation_report_pdf"])
    run(links.check())
    assert links.available
    store.close()
    run(links.check())
    assert not links.available
    assert problem_status(links, token, "report.pdf", "acme") == 503
    assert run(links.create("acme", KINDS, SOURCE)) == {}


def test_deleted_link_is_404_with_all_links_of_its_result(setup):
    links = run(setup.links.create("acme", KINDS, SOURCE))
    other = token_of(run(setup.links.create("acme", KINDS, SOURCE))["validation_report_pdf"])
    token = token_of(links["validation_report_pdf"])
    run(setup.links.fetch(token, "report.pdf", "acme"))
    for wrong in ((token, "report.pdf", "other"), (token, "zugferd.pdf", "acme"), ("x" * 32, "report.pdf", "acme")):
        with pytest.raises(Problem, match="artifact_not_found"):
            run(setup.links.delete(*wrong))
    run(setup.links.delete(token, "invoice.pdf", "acme"))
    for file in ("report.pdf", "invoice.pdf"):
        assert problem_status(setup.links, token, file, "acme") == 404
        with pytest.raises(Problem, match="artifact_not_found"):
            run(setup.links.delete(token, file, "acme"))
    assert run(setup.links.fetch(other, "report.pdf", "acme"))


def test_pdf_rendered_while_its_link_is_deleted_is_not_kept(folder):
    """The one who asked for it still gets it."""

    async def render(kind, source, holder):
        await links.delete(token, "report.pdf", "acme")
        return b"%PDF secret"

    store = SQLiteStore(folder, STORE_BYTES)
    links = ArtifactLinks(store, 3600, render)
    token = token_of(run(links.create("acme", KINDS, SOURCE))["validation_report_pdf"])
    assert run(links.fetch(token, "report.pdf", "acme")) == b"%PDF secret"
    assert b"%PDF secret" not in on_disk(folder)
    store.close()


def test_only_the_key_that_reached_its_share_is_refused(folder, caplog):
    store = SQLiteStore(folder, STORE_BYTES)
    links = ArtifactLinks(store, 3600, Renderer())
    part = ArtifactSource(secrets.token_bytes(1_000_000), "", "de", "current", 0)
    stored = [bool(run(links.create("greedy", KINDS, part))) for _ in range(12)]
    assert stored == sorted(stored, reverse=True)
    assert not stored[-1]
    assert not links.is_offered("greedy")
    assert not links.available
    assert run(links.create("other", KINDS, part))
    assert links.is_offered("other")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    store.close()


@pytest.mark.slow
def test_expired_content_is_purged_in_the_background(folder):
    async def scenario():
        store = SQLiteStore(folder, STORE_BYTES)
        links = ArtifactLinks(store, 1, Renderer())
        async with links.running():
            await asyncio.sleep(0.2)  # the store is empty at first
            token = token_of((await links.create("acme", KINDS, SOURCE))["validation_report_pdf"])
            await links.fetch(token, "report.pdf", "acme")
            async with asyncio.timeout(SECONDS):
                while b"validation_report_pdf" in on_disk(folder):  # part of the fake PDF
                    await asyncio.sleep(0.05)

    started = time.monotonic()
    run(scenario())
    assert time.monotonic() - started > 0.9


@pytest.mark.slow
def test_links_survive_a_crash(folder):
    script = """if 1:
        import asyncio, os, sys
        from pathlib import Path
        sys.path[:0] = sys.argv[2:]
        from tests.helpers.artifacts import KINDS, SOURCE, Renderer, token_of
        from appliance.artifacts.links import ArtifactLinks
        from appliance.artifacts.sqlite_store import SQLiteStore
        links = ArtifactLinks(SQLiteStore(Path(sys.argv[1]), 1 << 24), 3600, Renderer())
        print(token_of(asyncio.run(links.create("acme", KINDS, SOURCE))["validation_report_pdf"]), flush=True)
        os.kill(os.getpid(), 9)
    """
    command = [sys.executable, "-c", script, str(folder), *sys.path]
    token = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60).stdout.strip()
    store = SQLiteStore(folder, STORE_BYTES)
    assert run(ArtifactLinks(store, 3600, Renderer()).fetch(token, "report.pdf", "acme")).startswith(b"%PDF")
    store.close()
