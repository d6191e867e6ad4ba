"""Stores of artifacts: SQLite and Redis."""

import contextlib
import secrets
import sqlite3
import stat
import subprocess
import sys
import time

import pytest

from appliance.artifacts import sqlite_store
from appliance.artifacts.factory import open_store
from appliance.artifacts.redis_store import RedisStore
from appliance.artifacts.sqlite_store import FILE_NAME, SQLiteStore
from appliance.artifacts.store import ShareExceeded, StoreError
from tests.helpers.artifacts import MEGABYTE, STORE_BYTES, on_disk
from tests.helpers.waiting import wait_until


@pytest.fixture
def store(folder, clock):
    store = SQLiteStore(folder, STORE_BYTES, clock)
    yield store
    store.close()


# ---------------------------------------------------------------- SQLite


def test_file_is_private_even_in_an_open_folder(folder, clock):
    folder.mkdir(mode=0o755)
    store = SQLiteStore(folder, STORE_BYTES, clock)
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
    first = SQLiteStore(folder, STORE_BYTES, clock)
    first.put("long", b"stays", 600)
    first.put("short", b"goes-away", 60, tombstone_seconds=1000)
    first.close()
    clock.now += 61
    second = SQLiteStore(folder, STORE_BYTES, clock)
    assert second.get("long") == b"stays"
    assert second.has_expired("short")
    assert b"goes-away" not in on_disk(folder)
    second.close()


def test_file_size_is_limited_and_freed_after_expiry(store, folder, clock):
    for number in range(6):
        store.put(str(number), bytes(1_600_000), 60, tombstone_seconds=1000, holder=str(number))
        assert store.size() <= STORE_BYTES
    with pytest.raises(StoreError, match="maximum size"):
        store.put("one too many", bytes(3_200_000), 60)
    assert store.get("one too many") is None
    assert store.get("0") == bytes(1_600_000), "existing content is not evicted"
    clock.now += 60
    store.purge()
    assert store.size() < MEGABYTE
    store.put("now", bytes(1_600_000), 60)
    assert store.get("now") == bytes(1_600_000)


def test_tombstones_make_room_for_content(store, clock):
    for number in range(20_000):
        put_either_way(store, f"{number:064}", b"x", tombstone_seconds=1000 + number, holder=str(number % 20))
    clock.now += 60
    store.purge()
    assert store.has_expired(f"{0:064}")
    for number in range(6):
        store.put(str(number), bytes(1_600_000), 60, holder=str(number))
    assert not store.has_expired(f"{0:064}"), "the oldest"
    assert store.has_expired(f"{19_999:064}")


def put_either_way(store, name, content, **options):
    """Store content for a minute as the service does, and require that the store keeps to its maximum size."""
    if not store.try_put(name, content, 60, **options):
        store.put(name, content, 60, **options)
    assert store.size() <= STORE_BYTES


@pytest.mark.parametrize(
    "content", [b"no database at all, but something else entirely" * 100, b"SQLite format 3\0" + b"\7" * 9000]
)
def test_damaged_file_is_replaced(folder, clock, content):
    folder.mkdir()
    (folder / FILE_NAME).write_bytes(content)
    store = SQLiteStore(folder, STORE_BYTES, clock)
    store.put("a", b"x", 60)
    assert store.get("a") == b"x"
    store.close()


def test_file_of_another_version_is_replaced(folder, clock):
    folder.mkdir()
    with sqlite3.connect(folder / FILE_NAME) as database:
        database.execute("CREATE TABLE content (something INTEGER)")
        database.execute("PRAGMA user_version = 99")
    database.close()
    store = SQLiteStore(folder, STORE_BYTES, clock)
    store.put("a", b"x", 60)
    assert store.get("a") == b"x"
    store.close()


def test_unusable_folder_is_reported_at_startup(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot open the artifact store"):
        SQLiteStore(tmp_path / "file" / "artifacts", STORE_BYTES)


@pytest.mark.slow
def test_two_processes_share_the_file(folder):
    store = SQLiteStore(folder, STORE_BYTES)
    script = "import sys; from pathlib import Path; from appliance.artifacts.sqlite_store import SQLiteStore; "
    other = [
        sys.executable,
        "-c",
        script + "SQLiteStore(Path(sys.argv[1]), 1 << 24).put('other', b'x', 10**10)",
        str(folder),
    ]
    store.put("own", b"y", 60)
    subprocess.run(other, check=True, timeout=60)
    assert store.get("other") == b"x"
    assert store.get("own") == b"y"
    store.close()


# ---------------------------------------------------------------- Redis


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

    store = RedisStore(own_redis.url, STORE_BYTES)
    with pytest.raises(StoreError):
        fill()
    store.close()


def test_unavailable_redis_error_has_no_password(tmp_path):
    pytest.importorskip("redis", reason="the extra redis is not installed")
    store = RedisStore(f"unix://:pass-word@{tmp_path}/none.sock", STORE_BYTES)
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
    stored = 0
    with contextlib.suppress(StoreError):
        for stored in range(300):
            put_either_way(store, str(stored), secrets.token_bytes(60_000), holder=str(stored))
    assert STORE_BYTES / 2 < stored * 60_000 < STORE_BYTES


def test_full_file_refuses_at_once_until_something_is_removed(store, folder):
    """Finding out that pages are missing takes ten times as long as to refuse content, and needs the file."""
    content = secrets.token_bytes(60_000)
    with contextlib.suppress(StoreError):
        for stored in range(300):
            store.put(str(stored), content, 60, holder=str(stored))
    with contextlib.closing(sqlite3.connect(folder / FILE_NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for size in (60_000, 70_000):
            with pytest.raises(StoreError, match="reached"):
                store.try_put("name", bytes(size), 60, holder="other")
        other.execute("ROLLBACK")
    store.put("small", b"content", 60, holder="other")
    store.delete("0", "1", "2")
    store.put("name", content, 60, holder="other")
    assert store.get("name") == content


def test_try_put_respects_a_lowered_maximum_size(folder, clock):
    content = secrets.token_bytes(900_000)
    store = SQLiteStore(folder, STORE_BYTES, clock)
    for number in range(10):
        store.put(str(number), content, 60, holder=str(number))
    store.put("last", content, 600)
    store.close()

    store = SQLiteStore(folder, STORE_BYTES // 4, clock)
    assert not store.try_put("name", b"content", 60), "`put` decides"
    with pytest.raises(StoreError, match="reached"):
        store.put("name", b"content", 60)
    assert store.get("0") == content
    clock.now += 60
    store.purge()
    store.put("name", b"content", 60)
    assert store.size() < STORE_BYTES // 4
    store.close()


def test_log_is_reused_after_a_check(store, folder):

    def fill(names):
        for name in names:
            assert store.try_put(name, secrets.token_bytes(5000), 60)
        store.check()
        return (folder / f"{FILE_NAME}-wal").stat().st_size

    first = fill("abcdefgh")
    assert max(fill("abcdefgh") for _ in range(10)) < 2 * first


def test_log_is_limited_between_checks(store, folder, clock):
    """Writing, erasing and freeing pages keep to the limit, also if much expires at once."""
    for round in range(3):
        for number in range(2_000):
            options = {"tombstone_seconds": 1000, "holder": str(number % 10)}
            put_either_way(store, f"{round}-{number}", secrets.token_bytes(3_000), **options)
        assert (folder / f"{FILE_NAME}-wal").stat().st_size < STORE_BYTES // 4
        clock.now += 60
        store.purge()
        assert store.has_expired(f"{round}-0")
    assert store.size() < STORE_BYTES // 4


def test_reader_of_the_file_does_not_make_all_wait(folder, monkeypatch):
    monkeypatch.setattr(sqlite_store, "_LOCK_TIMEOUT_SECONDS", 0.1)
    monkeypatch.setattr(sqlite_store, "_HELD_SECONDS", 3600)
    emptied, empty_log = [], SQLiteStore._empty_log
    monkeypatch.setattr(
        SQLiteStore, "_empty_log", lambda store, database: emptied.append(empty_log(database)) or emptied[-1]
    )
    store = SQLiteStore(folder, STORE_BYTES)
    with contextlib.closing(sqlite3.connect(folder / FILE_NAME, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM content").fetchone()
        refused = 0
        for number in range(60):
            try:
                store.put(str(number), secrets.token_bytes(100_000), 60, holder=str(number))
            except StoreError:
                refused += 1
            assert store.size() <= STORE_BYTES, "also while the log cannot be emptied"
    assert 0 < refused < 60
    assert emptied == [False]
    monkeypatch.setattr(store, "_log_held_until", 0)
    store.put("again", b"content", 60)
    assert store.get("again") == b"content"
    store.close()


def test_large_content_is_erased_within_the_limit(store, clock):
    for number in range(2):
        store.put(str(number), secrets.token_bytes(4_000_000), 60, holder=str(number))
        assert store.size() <= STORE_BYTES
    clock.now += 60
    store.purge()
    assert store.size() < MEGABYTE


# ---------------------------------------------------------------- shares


@pytest.fixture
def own_store(own_redis):
    """A store in a Redis server of its own, which has 16 MB."""
    store = RedisStore(own_redis.url, 1 << 40)
    yield store
    store.close()


def fill(store, holder, seconds=60):
    """Store content until it is refused; return the number of bytes stored."""
    for number in range(1_000):
        try:
            store.put(f"{holder}-{number}", bytes(100_000), seconds, holder=holder)
        except ShareExceeded:
            return number * 100_000
    pytest.fail("nothing was refused")


@pytest.mark.parametrize("kind", ["store", "own_store"])
def test_a_holder_cannot_fill_the_store_for_others(request, kind):
    store = request.getfixturevalue(kind)
    for holder in ("one", "two", "three"):
        fill(store, holder)
        store.put("other", bytes(100_000), 60, holder="other")
        assert store.get(f"{holder}-0") == bytes(100_000), "nothing is evicted"
        assert store.delete("other")


def test_shares_in_redis_are_those_of_all_replicas(own_redis, own_store):
    other = RedisStore(own_redis.url, 1 << 40)
    stored = fill(own_store, "one")
    assert stored == pytest.approx(6 * MEGABYTE, rel=0.03), "half of three quarters of 16 MB"
    with pytest.raises(ShareExceeded):
        other.put("more", bytes(100_000), 60, holder="one")
    assert other.delete("one-0", "one-0/report.pdf")
    assert not other.delete("one-0")
    other.put("more", bytes(100_000), 60, holder="one")
    other.put("more", bytes(100_000), 60, holder="one")  # replaced, and so not counted twice
    with pytest.raises(ShareExceeded):
        own_store.put("even more", bytes(100_000), 60, holder="one")
    assert fill(other, "two") == pytest.approx(3 * MEGABYTE, rel=0.06), "half of the rest"
    other.close()


def test_shares_in_redis_are_free_after_expiry(own_store):
    assert fill(own_store, "one", 2) > 6_000_000
    wait_until(lambda: own_store.get("one-0") is None)
    time.sleep(2)
    assert fill(own_store, "one") > 6_000_000


def test_redis_without_a_limit_has_the_configured_size(own_redis):
    import redis

    with redis.Redis.from_url(own_redis.url) as client:
        client.config_set("maxmemory", 0)
    store = RedisStore(own_redis.url, 4 * MEGABYTE)
    assert fill(store, "one") == pytest.approx(2 * MEGABYTE, rel=0.1)
    store.close()


def test_content_can_be_deleted_from_a_full_redis(own_redis, own_store):
    """Redis needs more than its limit, which was lowered: it refuses what needs memory."""
    import redis

    own_store.put("name", b"content", 60)
    with redis.Redis.from_url(own_redis.url) as client:
        client.config_set("maxmemory", 500_000)
    with pytest.raises(StoreError):
        own_store.put("more", b"content", 60)
    assert own_store.delete("name")


def test_shares_are_counted_anew(folder, clock):
    store = SQLiteStore(folder, STORE_BYTES, clock)
    fill(store, "one")
    store.close()
    store = SQLiteStore(folder, STORE_BYTES, clock)
    with pytest.raises(ShareExceeded):
        store.put("more", bytes(100_000), 60, holder="one")
    clock.now += 60
    store.purge()
    store.put("more", bytes(100_000), 60, holder="one")
    store.close()


def test_deleted_content_is_erased(store, folder):
    secret = secrets.token_bytes(20_000)
    store.put("name", secret, 60, tombstone_seconds=100)
    store.put("name/report.pdf", secret, 60)
    store.put("other", b"stays", 60)
    assert store.delete("name", "name/report.pdf", "name/invoice.pdf")
    assert store.get("name") is None
    assert store.get("name/report.pdf") is None
    assert not store.has_expired("name")
    assert store.get("other") == b"stays"
    remaining = on_disk(folder)
    assert not any(secret[at : at + 32] in remaining for at in range(0, len(secret), 32))
    assert not store.delete("name")


# ---------------------------------------------------------------- the clock


def test_time_set_back_before_a_restart_prolongs_nothing(folder, clock):
    store = SQLiteStore(folder, STORE_BYTES, clock)
    store.put("name", b"content", 60)
    store.close()
    clock.now -= 86_400
    store = SQLiteStore(folder, STORE_BYTES, clock)
    clock.now += 60
    assert store.get("name") is None
    store.close()


@pytest.mark.parametrize("jump", [-86_400, 86_400])
def test_content_expires_in_time_whatever_the_system_time(folder, monkeypatch, jump):
    store = SQLiteStore(folder, STORE_BYTES)
    store.put("name", b"content", 0.2, tombstone_seconds=60)
    store.put("long", b"content", 60)
    system_time = time.time
    monkeypatch.setattr(time, "time", lambda: system_time() + jump)
    wait_until(lambda: store.get("name") is None)
    store.purge()
    assert store.has_expired("name")
    assert store.get("long") == b"content"
    store.close()


# ---------------------------------------------------------------- the setting


def test_setting_selects_the_store(tmp_path):
    assert open_store("off", tmp_path, 1) is None
    store = open_store("file", tmp_path / "data" / "artifacts", 1)
    assert (tmp_path / "data" / "artifacts" / FILE_NAME).exists()
    store.close()
    with pytest.raises(ValueError, match="redis"):
        open_store("memcached://host", tmp_path, 1)


@pytest.mark.parametrize("location", ["off", "redis://localhost:1"])
def test_file_of_an_earlier_setting_is_erased(folder, location):
    pytest.importorskip("redis", reason="the extra redis is not installed")
    store = open_store("file", folder, 1)
    store.put("name", b"content of an invoice", 3600)
    store.close()
    same_file = folder.parent / "link"
    same_file.hardlink_to(folder / FILE_NAME)
    assert b"content of an invoice" in same_file.read_bytes()
    open_store(location, folder, 1)
    assert not any(folder.iterdir())
    assert not any(same_file.read_bytes()), "overwritten, not only deleted"
