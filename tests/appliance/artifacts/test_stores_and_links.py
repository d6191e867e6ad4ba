"""Artifact stores and links."""

import asyncio
import contextlib
import logging
import secrets
import sqlite3
import stat
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from appliance.artifacts import links as module
from appliance.artifacts.factory import open_store
from appliance.artifacts.links import ArtifactLinks, ArtifactSource
from appliance.artifacts.redis_store import RedisStore
from appliance.artifacts.sqlite_store import FILE_NAME, SQLiteStore
from appliance.artifacts.store import StoreError
from appliance.contract.paths import ARTIFACT_FILES, ARTIFACTS
from appliance.contract.problems import Problem
from tests.helpers.waiting import SECONDS, wait_until

KINDS = ("validation_report_pdf", "readable_invoice_pdf")
MEGABYTE = 1 << 20


class Clock:
    def __init__(self):
        self.now = 1_800_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "artifacts"


@pytest.fixture
def store(folder, clock):
    store = SQLiteStore(folder, MEGABYTE, clock)
    yield store
    store.close()


def on_disk(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


# ---------------------------------------------------------------- SQLite


def test_file_is_private_even_in_an_open_folder(folder, clock):
    folder.mkdir(mode=0o755)
    store = SQLiteStore(folder, MEGABYTE, clock)
    store.put("a", b"secret", 60)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name for path in folder.iterdir()} >= {FILE_NAME, f"{FILE_NAME}-wal"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    store.close()


def test_content_is_erased_at_expiry_and_tombstone_later(store, folder, clock):
    secret = secrets.token_bytes(200_000)
    store.put("some-name", secret, 60, tombstone_seconds=100)
    assert store.purge() == 60
    assert store.get("some-name") == secret
    assert len(on_disk(folder)) > 200_000

    clock.now += 60
    assert store.get("some-name") is None
    assert store.has_expired("some-name"), "before it is purged"
    assert store.purge() is None
    assert store.has_expired("some-name")
    remaining = on_disk(folder)
    assert not any(secret[at : at + 32] in remaining for at in range(0, len(secret), 512))
    assert len(remaining) < 100_000

    clock.now += 100
    assert not store.has_expired("some-name")
    store.purge()
    assert b"some-name" not in on_disk(folder)


def test_tombstone_is_optional(store, clock):
    store.put("a", b"x", 60)
    clock.now += 60
    store.purge()
    assert not store.has_expired("a")
    assert not store.has_expired("never")


def test_restart_keeps_and_purges_the_file(folder, clock):
    first = SQLiteStore(folder, MEGABYTE, clock)
    first.put("long", b"stays", 600)
    first.put("short", b"goes-away", 60, tombstone_seconds=1000)
    first.close()
    clock.now += 61
    second = SQLiteStore(folder, MEGABYTE, clock)
    assert second.get("long") == b"stays"
    assert second.has_expired("short")
    assert b"goes-away" not in on_disk(folder)
    second.close()


def test_file_size_is_limited_and_freed_after_expiry(store, folder, clock):
    for number in range(8):
        store.put(str(number), bytes(100_000), 60, tombstone_seconds=1000)
    with pytest.raises(StoreError, match="1 MB"):
        store.put("one too many", bytes(400_000), 60)
    assert store.get("one too many") is None
    assert store.get("0") == bytes(100_000), "existing content is not evicted"
    clock.now += 60
    store.purge()
    store.put("now", bytes(400_000), 60)
    assert store.get("now") == bytes(400_000)
    assert (folder / FILE_NAME).stat().st_size < MEGABYTE + 100_000


def test_tombstones_make_room_for_content(store, clock):
    for number in range(4000):
        store.put(f"{number:064}", b"x", 1, tombstone_seconds=1000 + number)
    clock.now += 1
    store.purge()
    assert store.has_expired(f"{3999:064}")
    store.put("content", bytes(900_000), 60)
    assert store.get("content") == bytes(900_000)
    assert not store.has_expired(f"{0:064}")


@pytest.mark.parametrize(
    "content", [b"no database at all, but something else entirely" * 100, b"SQLite format 3\0" + b"\7" * 9000]
)
def test_damaged_file_is_replaced(folder, clock, content):
    folder.mkdir()
    (folder / FILE_NAME).write_bytes(content)
    store = SQLiteStore(folder, MEGABYTE, clock)
    store.put("a", b"x", 60)
    assert store.get("a") == b"x"
    store.close()


def test_file_of_another_version_is_replaced(folder, clock):
    folder.mkdir()
    with sqlite3.connect(folder / FILE_NAME) as database:
        database.execute("CREATE TABLE content (something INTEGER)")
        database.execute("PRAGMA user_version = 99")
    database.close()
    store = SQLiteStore(folder, MEGABYTE, clock)
    store.put("a", b"x", 60)
    assert store.get("a") == b"x"
    store.close()


def test_unusable_folder_is_reported_at_startup(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot open the artifact store"):
        SQLiteStore(tmp_path / "file" / "artifacts", MEGABYTE)


@pytest.mark.slow
def test_two_processes_share_the_file(folder, store):
    script = "import sys; from pathlib import Path; from appliance.artifacts.sqlite_store import SQLiteStore; "
    other = [
        sys.executable,
        "-c",
        script + "SQLiteStore(Path(sys.argv[1]), 1 << 20).put('other', b'x', 10**10)",
        str(folder),
    ]
    store.put("own", b"y", 60)
    subprocess.run(other, check=True, timeout=60)
    assert store.get("other") == b"x"
    assert store.get("own") == b"y"


# ---------------------------------------------------------------- Redis


@pytest.fixture
def redis_store(redis_url):
    store = RedisStore(redis_url)
    yield store
    store.close()


def test_redis_expiry_and_tombstones(redis_store):
    redis_store.check()
    redis_store.put("plain", b"x", 1)
    redis_store.put("r", b"\0content", 3, tombstone_seconds=3)
    assert redis_store.get("r") == b"\0content"
    assert not redis_store.has_expired("r")
    assert not redis_store.has_expired("never")
    wait_until(lambda: redis_store.get("r") is None)
    assert redis_store.has_expired("r")
    assert redis_store.get("plain") is None
    assert not redis_store.has_expired("plain")
    wait_until(lambda: not redis_store.has_expired("r"))


def test_full_redis(own_redis):
    def fill():
        for number in range(20):
            store.put(str(number), secrets.token_bytes(MEGABYTE), 60, tombstone_seconds=60)

    store = RedisStore(own_redis.url)
    with pytest.raises(StoreError):
        fill()
    store.close()


def test_unavailable_redis_error_has_no_password(tmp_path):
    pytest.importorskip("redis", reason="the extra redis is not installed")
    store = RedisStore(f"unix://:pass-word@{tmp_path}/none.sock")
    with pytest.raises(StoreError) as caught:
        store.check()
    assert "pass-word" not in str(caught.value)
    store.close()


# ---------------------------------------------------------------- try_put


def test_try_put_stores_content(store, folder, clock):
    secret = secrets.token_bytes(20_000)
    assert store.try_put("name", secret, 60, tombstone_seconds=100)
    store.check()
    assert store.get("name") == secret
    clock.now += 60
    store.purge()
    assert store.get("name") is None
    assert store.has_expired("name")
    remaining = on_disk(folder)
    assert not any(secret[at : at + 32] in remaining for at in range(0, len(secret), 32))


def test_try_put_does_not_block(store, folder):
    with contextlib.closing(sqlite3.connect(folder / FILE_NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        assert not store.try_put("name", b"content", 60)
        assert time.monotonic() - started < 4  # it would wait five seconds for the lock
        other.execute("ROLLBACK")
    assert store.get("name") is None
    assert store.try_put("name", b"content", 60)


def test_try_put_respects_the_maximum_size(store):
    with pytest.raises(StoreError, match="reached"):
        [store.try_put(str(number), secrets.token_bytes(60_000), 60) for number in range(100)]


def test_wal_does_not_grow(store, folder):
    """`check`, called every two seconds, runs the checkpoints."""

    def fill(names):
        for name in names:
            assert store.try_put(name, secrets.token_bytes(5000), 60)
        store.check()
        return (folder / f"{FILE_NAME}-wal").stat().st_size

    first = fill("abcdefgh")
    assert max(fill("abcdefgh") for _ in range(10)) < 2 * first


# ---------------------------------------------------------------- the setting


def test_setting_selects_the_store(tmp_path):
    assert open_store("off", tmp_path, 1) is None
    store = open_store("file", tmp_path / "data" / "artifacts", 1)
    assert (tmp_path / "data" / "artifacts" / FILE_NAME).exists()
    store.close()
    with pytest.raises(ValueError, match="redis"):
        open_store("memcached://host", tmp_path, 1)


# ---------------------------------------------------------------- links


SOURCE = ArtifactSource(b"<Invoice>\nwith\nlines</Invoice>", "Rechnung ü.xml", "en", "compatibility", 1_800_000_000.5)


class Renderer:
    """Returns a fake PDF that lists its source."""

    def __init__(self):
        self.calls = []

    async def __call__(self, kind, source, holder):
        self.calls.append(kind)
        await asyncio.sleep(0.01)
        return (
            f"%PDF {kind} {source.filename} {source.lang} {source.mode} {source.validated_at} ".encode()
            + source.document
        )


@pytest.fixture(params=["file", "redis"])
def setup(request, folder):
    """Links with each kind of store."""
    store = SQLiteStore(folder, 8 * MEGABYTE) if request.param == "file" else request.getfixturevalue("redis_store")
    render = Renderer()
    yield SimpleNamespace(links=ArtifactLinks(store, 3600, render), render=render, store=store)
    if request.param == "file":
        store.close()


def run(coroutine):
    return asyncio.run(coroutine)


def token_of(link):
    return link.path.removeprefix(f"{ARTIFACTS}/").partition("/")[0]


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


def test_expired_link_is_410_for_its_holder_only(folder, clock, monkeypatch):
    monkeypatch.setattr(module.time, "time", clock)
    store = SQLiteStore(folder, MEGABYTE, clock)
    links = ArtifactLinks(store, 3600, Renderer())
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
    store = SQLiteStore(folder, MEGABYTE)
    token = token_of(
        run(ArtifactLinks(store, 60, Renderer()).create("acme-holder", KINDS, SOURCE))["validation_report_pdf"]
    )
    content = on_disk(folder)
    assert token.encode() not in content
    assert b"acme-holder" not in content
    store.close()


def test_links_and_pdfs_survive_a_restart(folder):
    first = SQLiteStore(folder, MEGABYTE)
    token = token_of(run(ArtifactLinks(first, 60, Renderer()).create("acme", KINDS, SOURCE))["validation_report_pdf"])
    pdf = run(ArtifactLinks(first, 60, Renderer()).fetch(token, "report.pdf", "acme"))
    first.close()
    second, render = SQLiteStore(folder, MEGABYTE), Renderer()
    assert run(ArtifactLinks(second, 60, render).fetch(token, "report.pdf", "acme")) == pdf
    assert render.calls == []
    second.close()


def test_no_links_without_a_store_or_with_a_full_one(folder, caplog):
    disabled = ArtifactLinks(None, 3600, Renderer())
    assert run(disabled.create("acme", KINDS, SOURCE)) == {}
    run(disabled.check())
    assert disabled.available
    assert problem_status(disabled, "a" * 32, "report.pdf", "acme") == 404
    store = SQLiteStore(folder, 100_000)
    full = ArtifactLinks(store, 3600, Renderer())
    big = ArtifactSource(secrets.token_bytes(100_000), "", "de", "current", 0)
    assert run(full.create("acme", KINDS, big)) == {}
    assert "maximum size" in caplog.text
    assert run(full.create("acme", (), SOURCE)) == {}
    store.close()


def test_store_that_refuses_content_is_unavailable_for_a_while(folder, caplog, monkeypatch):
    caplog.set_level(logging.INFO)
    store = SQLiteStore(folder, 100_000)
    links = ArtifactLinks(store, 3600, Renderer())
    big = ArtifactSource(secrets.token_bytes(100_000), "", "de", "current", 0)
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
    store = SQLiteStore(folder, MEGABYTE)
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
    store = SQLiteStore(folder, MEGABYTE)
    links = ArtifactLinks(store, 3600, Renderer())
    token = token_of(run(links.create("acme", KINDS, SOURCE))["validation_report_pdf"])
    run(links.check())
    assert links.available
    store.close()
    run(links.check())
    assert not links.available
    assert problem_status(links, token, "report.pdf", "acme") == 503
    assert run(links.create("acme", KINDS, SOURCE)) == {}


@pytest.mark.slow
def test_expired_content_is_purged_in_the_background(folder):
    async def scenario():
        store = SQLiteStore(folder, MEGABYTE)
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
        from tests.appliance.artifacts.test_stores_and_links import KINDS, SOURCE, Renderer, token_of
        from appliance.artifacts.links import ArtifactLinks
        from appliance.artifacts.sqlite_store import SQLiteStore
        links = ArtifactLinks(SQLiteStore(Path(sys.argv[1]), 1 << 20), 3600, Renderer())
        print(token_of(asyncio.run(links.create("acme", KINDS, SOURCE))["validation_report_pdf"]), flush=True)
        os.kill(os.getpid(), 9)
    """
    command = [sys.executable, "-c", script, str(folder), *sys.path]
    token = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60).stdout.strip()
    store = SQLiteStore(folder, MEGABYTE)
    assert run(ArtifactLinks(store, 3600, Renderer()).fetch(token, "report.pdf", "acme")).startswith(b"%PDF")
    store.close()
