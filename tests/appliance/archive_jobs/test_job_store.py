"""Jobs in an artifact store: who finds them, and what is left of them."""

import zipfile

import pytest

from appliance.archive_jobs.job_store import CHUNK_BYTES, JobGone, JobStore, Overlapping
from appliance.archive_jobs.records import Job, Progress, job_name, new_id
from appliance.artifacts.sqlite_store import SQLiteStore
from tests.helpers.archives import archive

ARCHIVE = archive(
    [("a.xml", b"a" * 3_000_000), *((f"{number}.xml", b"b") for number in range(300))], zipfile.ZIP_STORED
)
"""Several chunks, and several blocks of the list."""


def job(jobs, clock, holder="acme", content=ARCHIVE, **changes):
    """Return a job that has been added to the store."""
    id = new_id(clock.now)
    name = job_name(holder, id)
    for number, start in enumerate(range(0, len(content), CHUNK_BYTES)):
        jobs.put_chunk(name, number, content[start : start + CHUNK_BYTES], 1000, holder)
    files = jobs.add_list(name, len(content), 1000, 1000, holder)
    facts = {"filename": "a.zip", "lang": "de", "engine": "native", "base": None, "has_facts": True, **changes}
    added = Job(id, holder, "KEY", files=files, created=clock.now, expires=clock.now + 1000, **facts)
    jobs.add(added)
    clock.now += 1
    return added


def test_archive_and_list(jobs, clock):
    added = job(jobs, clock)
    assert added.files == 301
    read_at = jobs.reader(added.name)
    assert read_at(0, len(ARCHIVE) + 9) == ARCHIVE
    assert read_at(CHUNK_BYTES - 2, 4) == ARCHIVE[CHUNK_BYTES - 2 : CHUNK_BYTES + 2]
    names = [entry.name for block in range(2) for entry in jobs.listed(added, block)]
    assert names == ["a.xml", *(f"{number}.xml" for number in range(300))]


def test_only_its_holder_finds_a_job(jobs, clock):
    first, second, other = job(jobs, clock), job(jobs, clock), job(jobs, clock, "other")
    assert jobs.find("acme", first.id) == first
    assert jobs.find("other", first.id) is None
    assert not jobs.has_expired("other", first.id)
    assert jobs.jobs("acme") == [second, first]
    assert jobs.jobs("acm") == []
    assert jobs.open_jobs() == [first, second, other]


def test_a_block_takes_the_place_of_the_same_one(jobs, clock):
    added = job(jobs, clock)
    for content in (b"first", b"second"):
        jobs.put_block(added, "results", 0, [content, b""])
    assert jobs.block(added, "results", 0) == (b"second", b"")
    with pytest.raises(JobGone):
        jobs.block(added, "results", 1)


def test_done_job_has_no_archive(jobs, artifacts, clock):
    added = job(jobs, clock)
    jobs.put_block(added, "results", 0, [b"result"])
    jobs.finish(added, Progress(phase="done"))
    assert jobs.open_jobs() == []
    assert jobs.progress(added).phase == "done"
    assert jobs.reader(added.name)(0, 10) == b""
    assert len(artifacts.names(f"job-data/{added.name}/")) == 2, "the progress, and a block"


def test_erased_job_leaves_nothing(jobs, artifacts, clock):
    kept, erased = job(jobs, clock), job(jobs, clock)
    jobs.erase(erased)
    assert jobs.find("acme", erased.id) is None
    assert [name for name in artifacts.names("") if erased.id in name] == []
    with pytest.raises(JobGone):
        jobs.put_block(erased, "results", 0, [b"late"])
    assert [name for name in artifacts.names("") if erased.id in name] == []
    assert jobs.open_jobs() == [kept]


def test_expired_job_leaves_a_tombstone(tmp_path, clock):
    store = SQLiteStore(tmp_path, 1 << 30, clock)
    jobs = JobStore(store, clock)
    added = job(jobs, clock)
    clock.now += 1000
    jobs.purge()
    assert jobs.find("acme", added.id) is None
    assert jobs.has_expired("acme", added.id)
    assert store.names("") == []
    with pytest.raises(JobGone):
        jobs.put_progress(added, Progress())
    store.close()


def test_archive_without_a_job_is_erased(tmp_path, clock):
    store = SQLiteStore(tmp_path, 1 << 30, clock)
    jobs = JobStore(store, clock)
    added = job(jobs, clock)
    jobs.put_chunk(job_name("acme", new_id(clock.now)), 0, b"PK", 1000, "acme")
    before = len(store.names(""))
    clock.now += 1
    later = JobStore(store, clock)
    jobs.put_chunk(job_name("acme", new_id(clock.now + 1)), 0, b"PK", 1000, "acme")
    later.erase_remains()
    assert len(store.names("")) == before, "one was erased, and one has been added"
    assert jobs.reader(added.name)(0, len(ARCHIVE)) == ARCHIVE
    store.close()


def test_one_server_works_on_a_job_of_a_shared_store(artifacts, clock):
    servers = [JobStore(artifacts, clock, is_shared=True) for _ in range(2)]
    added = job(servers[0], clock)
    assert [it.lease(added) for it in (*servers, servers[0])] == [True, False, True]
    servers[0].release(added)
    assert [it.lease(added) for it in reversed(servers)] == [True, False]


def test_names_are_distinct(jobs, clock):
    repeated = ["a.xml", "b.xml", "a.xml", "a.xml (2)", "a.xml", "b.xml"]
    added = job(jobs, clock, content=archive((name, b"") for name in repeated))
    names = [it.name for it in jobs.listed(added, 0)]
    assert names == ["a.xml", "b.xml", "a.xml (2)", "a.xml (2) (2)", "a.xml (3)", "b.xml (2)"]


def test_replaced_content_counts_once(tmp_path):
    """A holder may have half of the store; the same name many times is one piece of content."""
    store = SQLiteStore(tmp_path, 16 << 20)
    for _ in range(100):
        store.put("name", bytes(1 << 20), 100, holder="acme")
    store.close()


BOMB = archive([("a.xml", bytes(9_000_000)), *((f"{number}.xml", bytes(9_000_000)) for number in range(12))])


def test_bomb_is_refused(jobs, clock):
    assert len(BOMB) < 1 << 20
    with pytest.raises(Overlapping):
        job(jobs, clock, content=BOMB)


def test_overlapping_files_are_refused(jobs, clock):
    content = bytearray(archive([("a.xml", b"a"), ("b.xml", b"b")]))
    last = content.rindex(b"PK\1\2")
    content[last + 42 : last + 46] = bytes(4)  # the second file begins where the first one does
    with pytest.raises(Overlapping):
        job(jobs, clock, content=bytes(content))
