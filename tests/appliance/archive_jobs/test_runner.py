"""The work on jobs: whatever ends or fails in between, every file has exactly one result."""

import asyncio
import contextlib
import itertools
import json
import zlib

import pytest

from appliance.archive_jobs import runner as runners
from appliance.archive_jobs.job_store import JobStore
from appliance.archive_jobs.records import Progress
from appliance.archive_jobs.runner import JobRunner
from appliance.artifacts.sqlite_store import SQLiteStore
from appliance.artifacts.store import StoreError
from appliance.observability.metrics import Metrics
from appliance.settings import Settings
from appliance.workers.jobs import run_job
from appliance.workers.pool import JobCrashed, JobFailed, JobLimitExceeded, busy_problem
from appliance.workers.protocol import Message
from tests.appliance.archive_jobs.test_job_store import job
from tests.helpers.archives import archive
from tests.helpers.served import UBL, WRONG

FILES = 150
"""More than two blocks."""
ARCHIVE = archive((f"{number}.xml", WRONG if number % 50 == 7 else UBL) for number in range(FILES))


@pytest.fixture(autouse=True)
def _hastened(monkeypatch):
    monkeypatch.setattr(runners, "RETRY_SECONDS", 0)


class Pool:
    """Runs tasks in this process.

    Attributes:
        ran: names of the files that were validated.
        errors: what is raised instead, by name of the file; each once.
        reserved: memory that is reserved, and its maximum.
        most: maximum number of tasks that ran at the same time.
    """

    causes_seconds = 5

    def __init__(self, errors=None):
        self.ran = []
        self.errors = dict(errors or {})
        self.busy = 0
        self.running = self.most = 0
        self.reserved = [0, 0]

    @contextlib.contextmanager
    def reserve(self, holder, is_long=False):
        assert holder == "acme"
        if self.busy:
            self.busy -= 1
            raise busy_problem()
        pool, taken = self, []

        class Reserved:
            def add_bytes(self, size):
                taken.append(size)
                pool.reserved[0] += size
                pool.reserved[1] = max(pool.reserved)

        yield Reserved()
        self.reserved[0] -= sum(taken)

    async def run(self, task, holder):
        assert holder == "acme"
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        name = task.head.get("name")
        if task.parts and task.head["job"] == "archive_file":
            self.ran.append(name)
        if task.parts and name in self.errors:
            raise self.errors.pop(name)
        outcome = run_job(Message.unpack(task.pack()))
        assert "failed" not in outcome.head
        return outcome


class Store(SQLiteStore):
    """A store that fails now and then.

    Attributes:
        fails: what is raised, by the number of the call of `put`.
    """

    def __init__(self, *args):
        super().__init__(*args)
        self.fails = {}
        self.calls = itertools.count()

    def put(self, *args, **options):
        if error := self.fails.get(next(self.calls)):
            raise error
        super().put(*args, **options)


@pytest.fixture
def store(tmp_path, clock):
    store = Store(tmp_path / "jobs", 1 << 30, clock)
    yield store
    store.close()


@pytest.fixture
def jobs(store, clock):
    return JobStore(store, clock)


async def work(jobs, clock, pool, until=lambda runner: False):
    """Work on the jobs until all are done, or the condition is true; return the runner."""
    runner = JobRunner(jobs, pool, Settings(workers=2), Metrics(), clock)
    runner.start("acme")
    while "acme" in runner._holders and not until(runner):
        await asyncio.sleep(0.001)
    tasks = list(runner._holders.values())
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return runner


def answered(jobs, added):
    """Return name and verdict of each result, in their order."""
    progress = jobs.progress(added)
    parts = [jobs.block(added, "results", number) for number in range(len(progress.blocks))]
    for number, (records, *others) in enumerate(parts):
        assert progress.blocks[number][2:] == [len(zlib.decompress(records)), *map(len, others)]
    lines = b"".join(it[1] for it in parts).splitlines()
    rows = b"".join(it[2] for it in parts).splitlines()
    records = b"".join(zlib.decompress(it[0]) for it in parts).splitlines()
    assert len(lines) == len(rows) - 1 == len(records)
    return [((item := json.loads(line))["filename"], item["is_valid"]) for line in lines]


EXPECTED = [(f"{number}.xml", number % 50 != 7) for number in range(FILES)]


@pytest.mark.anyio
async def test_every_file_has_a_result(jobs, clock):
    added, pool = job(jobs, clock, content=ARCHIVE), Pool()
    runner = await work(jobs, clock, pool)
    assert answered(jobs, added) == EXPECTED
    assert sorted(pool.ran) == sorted(name for name, _ in EXPECTED)
    progress = jobs.progress(added)
    assert (progress.phase, progress.verdicts) == ("done", {"valid": 147, "invalid": 3, "unreadable": 0})
    assert [block[:2] for block in progress.blocks] == [[0, 64], [64, 64], [128, 22]]
    (summary,) = jobs.block(added, "summary", 0)
    assert json.loads(summary)["causes"]["examined"] == 3
    assert pool.reserved == [0, 8 * len(UBL)], "eight files are in memory at the same time"
    assert runner.files == FILES
    assert pool.most == 2, "as many as there are workers"


@pytest.mark.anyio
@pytest.mark.parametrize("stop", range(0, 14, 2))
async def test_server_that_ends_in_between(jobs, store, clock, stop):
    """It ends before any of its writes: the next one goes on, and answers no stored file again."""
    added, first, second = job(jobs, clock, content=ARCHIVE), Pool(), Pool()
    store.calls = itertools.count()
    store.fails = dict.fromkeys(range(stop, 1000), StoreError("the end"))
    await work(jobs, clock, first, until=lambda runner: runner.waiting)
    store.fails = {}
    stored = [name for name, _ in answered(jobs, added)] if jobs.progress(added).blocks else []
    await work(jobs, clock, second)
    assert answered(jobs, added) == EXPECTED
    assert sorted(second.ran) == sorted({name for name, _ in EXPECTED} - {*stored})
    assert jobs.progress(added).phase == "done"


@pytest.mark.anyio
async def test_full_store(jobs, store, clock):
    added, pool = job(jobs, clock, content=ARCHIVE), Pool()
    store.calls = itertools.count()
    store.fails = {number: StoreError("full") for number in range(40) if number % 3}
    waited = set()
    runner = await work(jobs, clock, pool, until=lambda runner: waited.update(runner.waiting))
    assert waited == {added.id}
    assert runner.waiting == set()
    assert answered(jobs, added) == EXPECTED
    assert len(pool.ran) == FILES, "no file was validated again"


@pytest.mark.anyio
async def test_state_of_a_job(jobs, store, clock):
    first, second = job(jobs, clock, content=ARCHIVE), job(jobs, clock, content=ARCHIVE)
    store.calls = itertools.count()
    store.fails = dict.fromkeys(range(1000), StoreError("full"))
    runner = await work(jobs, clock, Pool(), until=lambda runner: runner.waiting)
    runner.waiting, runner.running = {first.id}, {first.id}
    assert runner.status(first, Progress(started=1.0)) == "waiting"
    assert runner.status(second, Progress()) == "queued"
    runner.waiting = set()
    assert runner.status(first, Progress()) == "running"
    assert runner.status(second, Progress(started=1.0)) == "running", "by another server"
    assert runner.status(second, Progress(phase="done")) == "done"


@pytest.mark.anyio
async def test_files_that_cannot_be_validated(jobs, clock):
    errors = {"1.xml": JobCrashed(), "2.xml": JobLimitExceeded(), "3.xml": JobFailed(), "4.xml": busy_problem()}
    added = job(jobs, clock, content=ARCHIVE)
    pool = Pool(errors)
    pool.busy = 2
    await work(jobs, clock, pool)
    found = answered(jobs, added)
    assert [name for name, _ in found] == [name for name, _ in EXPECTED]
    assert [number for number, (_, is_valid) in enumerate(found) if not is_valid] == [1, 2, 3, 7, 57, 107]
    lines = jobs.block(added, "results", 0)[1].splitlines()
    codes = [[it["code"] for it in json.loads(line)["errors"]] for line in lines[1:4]]
    assert codes == [["FILE-WORKER"], ["FILE-WORK"], ["FILE-WORKER"]]
    assert jobs.progress(added).verdicts == {"valid": 144, "invalid": 3, "unreadable": 3}


@pytest.mark.anyio
async def test_files_that_cannot_be_unpacked(jobs, clock):
    content = bytearray(archive([("encrypted.xml", UBL), ("large.xml", bytes(10_485_761)), ("nested.zip", ARCHIVE)]))
    content[content.index(b"PK\1\2") + 8] |= 1
    added, pool = job(jobs, clock, content=bytes(content)), Pool()
    await work(jobs, clock, pool)
    lines = jobs.block(added, "results", 0)[1].splitlines()
    assert [json.loads(line)["errors"][0]["code"] for line in lines] == ["FILE-MEMBER", "FILE-SIZE", "FILE-FORMAT"]
    assert jobs.progress(added).verdicts["unreadable"] == 3


@pytest.mark.anyio
async def test_deleted_job_ends(jobs, store, clock):
    first, second = job(jobs, clock, content=ARCHIVE), job(jobs, clock, content=ARCHIVE)

    def erased(runner):
        if runner.running == {first.id} and len(pool.ran) > 70:
            jobs.erase(first)

    pool = Pool()
    await work(jobs, clock, pool, until=erased)
    assert [name for name in store.names("") if first.id in name] == []
    assert answered(jobs, second) == EXPECTED


@pytest.mark.anyio
async def test_stopped_job_goes_on(jobs, clock):
    added, pool = job(jobs, clock, content=ARCHIVE), Pool()
    runner = JobRunner(jobs, pool, Settings(workers=2), Metrics(), clock)
    runner.start("acme")
    while len(pool.ran) < 70:
        await asyncio.sleep(0)
    await runner.stop(added)
    while "acme" in runner._holders:
        await asyncio.sleep(0.001)
    assert answered(jobs, added) == EXPECTED


@pytest.mark.anyio
async def test_records_beyond_the_limit_have_no_summary(jobs, clock, monkeypatch):
    monkeypatch.setattr(runners, "MAX_SUMMARY_BYTES", 1000)
    added = job(jobs, clock, content=ARCHIVE)
    await work(jobs, clock, Pool())
    (summary,) = jobs.block(added, "summary", 0)
    assert json.loads(summary) == {
        "status": "done",
        "files": FILES,
        "verdicts": {"valid": 147, "invalid": 3, "unreadable": 0},
        **dict.fromkeys(("findings", "rule_sets", "codes", "causes")),
    }


@pytest.mark.anyio
async def test_large_files_are_in_memory_one_by_one(jobs, clock):
    large = b"<!--" + bytes(9_000_000).replace(b"\0", b"x") + b"-->"
    added, pool = job(jobs, clock, content=archive((f"{number}.xml", large) for number in range(3))), Pool()
    await work(jobs, clock, pool)
    assert jobs.progress(added).verdicts["unreadable"] == 3
    assert pool.reserved == [0, len(large)]
