"""Works on jobs in the background: one of each key holder at a time, with the share of the workers that it has."""

import asyncio
import contextlib
import functools
import logging
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Literal, ParamSpec, TypeAlias, TypeVar

import anyio.to_thread

from appliance.archive_jobs.job_store import LEASE_SECONDS, LISTED_FILES, JobGone, JobStore
from appliance.archive_jobs.records import CAUSE_FILES, NO_FINDINGS, VERDICTS, Job, Progress
from appliance.archive_jobs.zip_directory import Entry, MemberError, MemberTooLarge, ReadAt, content
from appliance.artifacts.store import StoreError
from appliance.contract.problems import Problem
from appliance.contract.serialization import to_json
from appliance.observability.metrics import Metrics
from appliance.settings import Settings
from appliance.transport.uploads import MAX_FILE_BYTES
from appliance.workers.pool import JobCrashed, JobFailed, JobLimitExceeded, WorkerPool
from appliance.workers.protocol import Message

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)
audit = logging.getLogger("appliance.audit")

RETRY_SECONDS: Final = 5.0
"""Time after which a store that is full, or a service that is busy, is tried again."""

BLOCK_FILES: Final = 64
BLOCK_BYTES: Final = 1 << 20
"""A block of results is stored when it has as many files, or as many bytes."""

_GROUP_FILES: Final = 8
_GROUP_BYTES: Final = 16 << 20
"""As many files are in memory at the same time."""

_POLL_SECONDS: Final = 30.0
"""Time after which jobs of servers that have ended are looked for, and expired ones are erased."""

MAX_SUMMARY_BYTES: Final = 256 << 20
"""Size of the records beyond which a job has no summary of findings; those of 25,000 files usually have 40 MB."""

_ZLIB_LEVEL: Final = 1

Unreadable: TypeAlias = tuple[str, dict[str, Any]]
"""Why a file cannot be validated: the name of the class of the error, and its values."""


class JobRunner:
    """Works on the jobs in a store.

    Args:
        store: the jobs.
        pool: the workers.
        settings: settings of the service.
        metrics: counts the files.
        clock: time in seconds since 1970.

    Attributes:
        waiting: identifiers of the jobs that wait for space in the store.
        running: identifiers of the jobs that are worked on.
        files: number of files that have a result since the start.
    """

    def __init__(
        self, store: JobStore, pool: WorkerPool, settings: Settings, metrics: Metrics, clock: Callable[[], float]
    ) -> None:
        self.waiting: set[str] = set()
        self.running: set[str] = set()
        self.files = 0
        self.store = store
        self.pool = pool
        self.settings = settings
        self.metrics = metrics
        self.clock = clock
        self._holders: dict[str, asyncio.Task[None]] = {}
        self._current: dict[str, asyncio.Task[None]] = {}

    @contextlib.asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Work on the jobs in the background; close the store on exit."""
        poll = asyncio.create_task(self._poll())
        try:
            yield
        finally:
            tasks = [poll, *self._holders.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await in_thread(self.store.close)

    def start(self, holder: str) -> None:
        """Work on the jobs of a holder, unless this is done already."""
        if holder not in self._holders:
            self._holders[holder] = asyncio.create_task(self._work(holder))

    def status(self, job: Job, progress: Progress) -> Literal["queued", "running", "waiting", "done"]:
        """Return the state of a job; another server may work on it."""
        if progress.phase == "done":
            return "done"
        if job.id in self.waiting:
            return "waiting"
        return "running" if job.id in self.running or progress.started is not None else "queued"

    async def stop(self, job: Job) -> None:
        """Stop the work on a job; it goes on when `start` is called, unless the job was erased."""
        task = self._current.get(job.id)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _poll(self) -> None:
        first = True
        while True:
            try:
                if first:
                    await in_thread(self.store.erase_remains)
                    first = False
                await in_thread(self.store.purge)
                for job in await in_thread(self.store.open_jobs):
                    self.start(job.holder)
            except StoreError as error:
                log.error("The store of jobs is unavailable: %s", error)
            await asyncio.sleep(_POLL_SECONDS)

    async def _work(self, holder: str) -> None:
        try:
            while job := await self._next(holder):
                task = self._current[job.id] = asyncio.create_task(self._run(job))
                self.running.add(job.id)
                try:
                    await asyncio.wait([task])
                finally:
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
                    self.running.discard(job.id)
                    self.waiting.discard(job.id)
                    del self._current[job.id]
                if not task.cancelled() and (error := task.exception()):
                    log.error("A job failed", exc_info=error)
                    await asyncio.sleep(RETRY_SECONDS)
        except StoreError as error:
            log.error("The store of jobs is unavailable: %s", error)
        finally:
            del self._holders[holder]

    async def _next(self, holder: str) -> Job | None:
        """Return the earliest job of a holder that is not done, and that no other server works on."""
        for job in await in_thread(self.store.open_jobs):
            if job.holder == holder and await in_thread(self.store.lease, job):
                return job
        return None

    async def _run(self, job: Job) -> None:
        with contextlib.suppress(JobGone):
            async with self._leased(job):
                await _JobRun(self, job).run()

    @contextlib.asynccontextmanager
    async def _leased(self, job: Job) -> AsyncIterator[None]:
        """Keep a job reserved for this server."""

        async def renew() -> None:
            while True:
                await asyncio.sleep(LEASE_SECONDS / 3)
                with contextlib.suppress(StoreError):
                    await in_thread(self.store.lease, job)

        task = asyncio.create_task(renew())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(StoreError):
                await in_thread(self.store.release, job)


class _JobRun:
    """The work on one job."""

    def __init__(self, runner: JobRunner, job: Job) -> None:
        self._runner = runner
        self._job = job
        self._store = runner.store
        self._pool = runner.pool
        self._settings = runner.settings
        self._clock = runner.clock
        self._read_at: ReadAt = self._store.reader(job.name)
        self._listed: tuple[int, list[Entry]] = (-1, [])

    async def run(self) -> None:
        progress = await self._kept(self._store.progress, self._job)
        if progress.started is None:
            progress.started = self._clock()
        while progress.phase == "files":
            await self._validate_block(progress)
        while progress.phase == "causes":
            await self._search_block(progress)
        if progress.phase == "summary":
            summary = await self._summary(progress)
            await self._kept(self._store.put_block, self._job, "summary", 0, [summary])
            progress.phase, progress.finished = "done", self._clock()
        await self._kept(self._store.finish, self._job, progress)
        log.info("A job is done", extra={"fields": {"job": self._job.id, "key": self._job.key, **progress.verdicts}})

    async def _validate_block(self, progress: Progress) -> None:
        """Validate some files, store their results, then the progress: if the server ends in between, once more."""
        first, outcomes, size = progress.done, list[Message](), 0
        async for group in self._groups(range(first, min(self._job.files, first + BLOCK_FILES))):
            validated = await self._validated(first + len(outcomes), group)
            outcomes += validated
            size += sum(len(part) for outcome in validated for part in outcome.parts)
            if size >= BLOCK_BYTES:
                break
        records, *parts = [b"".join(pieces) for pieces in zip(*(it.parts for it in outcomes), strict=True)]
        stored = [zlib.compress(records, _ZLIB_LEVEL), *parts]
        await self._kept(self._store.put_block, self._job, "results", len(progress.blocks), stored)
        progress.blocks.append([first, len(outcomes), *map(len, (records, *parts))])
        verdicts = [it.head["verdict"] for it in outcomes]
        counts = Counter(it["name"] for it in verdicts)
        progress.verdicts = {name: progress.verdicts[name] + counts[name] for name in VERDICTS}
        if progress.done == self._job.files:
            progress.phase = "causes" if self._pool.causes_seconds else "summary"
        await self._kept(self._store.put_progress, self._job, progress)
        self._record(verdicts)

    async def _validated(self, first: int, group: Sequence[Entry]) -> list[Message]:
        """Return the outcomes of a group of files; `first` is the number of the first one."""
        job = self._job
        common = {name: getattr(job, name) for name in ("lang", "base", "engine", "has_facts")}
        limits = {"seconds": self._settings.document_seconds, "megabytes": self._settings.worker_megabytes}

        async def validated(number: int, entry: Entry, document: bytes | Unreadable) -> Message:
            head = {"job": "archive_file", **common, "name": entry.name, "has_header": number == 0}
            if isinstance(document, bytes):
                try:
                    return await self._outcome(Message(head, (document,)))
                except JobLimitExceeded:
                    document = "ResourceLimitExceeded", limits
                except JobCrashed:
                    document = "WorkerCrashed", {"reason": "exited twice"}
                except JobFailed:
                    document = "WorkerCrashed", {"reason": "internal error"}
            return await self._outcome(Message({**head, "unreadable": document}))

        async with self._reserved(sum(it.size for it in group), is_long=False):
            documents = await self._kept(self._read, group)
            numbered = enumerate(zip(group, documents, strict=True), start=first)
            return await self._gathered([functools.partial(validated, number, *it) for number, it in numbered])

    def _record(self, verdicts: Sequence[Mapping[str, Any]]) -> None:
        """Record verdicts in the metrics and in the audit log."""
        job = self._job
        self._runner.files += len(verdicts)
        for it in verdicts:
            self._runner.metrics.record_document(it["syntax"], it["valid"], job.holder)
            fields = {"request_id": job.id, "key": job.key, "name": job.holder}
            found = {name: it[name] for name in ("valid", "syntax", "sha256")}
            audit.info("verdict", extra={"fields": {**fields, **found}})

    async def _search_block(self, progress: Progress) -> None:
        """Search for the causes in some of the invalid files."""
        if progress.sample is None:
            progress.sample = await self._sample(progress)
        numbers = progress.sample[progress.sampled : progress.sampled + BLOCK_FILES]
        if numbers:
            groups = [await self._searched(group) async for group in self._groups(numbers)]
            block = b"".join(line for group in groups for line in group)
            await self._kept(self._store.put_block, self._job, "causes", progress.cause_blocks, [block])
            progress.cause_blocks += 1
            progress.sampled += len(numbers)
        if progress.sampled == len(progress.sample):
            progress.phase = "summary"
        await self._kept(self._store.put_progress, self._job, progress)

    async def _searched(self, group: Sequence[Entry]) -> list[bytes]:
        """Return the records of the causes of a group of files; empty ones where a limit was exceeded."""

        async def searched(entry: Entry, document: bytes | Unreadable) -> bytes:
            head = {"job": "archive_causes", "name": entry.name, "engine": self._job.engine}
            with contextlib.suppress(JobLimitExceeded, JobCrashed, JobFailed):
                if isinstance(document, bytes):
                    return (await self._outcome(Message(head, (document,)))).parts[0]
            return b""

        async with self._reserved(sum(it.size for it in group), is_long=True):
            documents = await self._kept(self._read, group)
            found = zip(group, documents, strict=True)
            return await self._gathered([functools.partial(searched, *it) for it in found])

    async def _sample(self, progress: Progress) -> list[int]:
        if not progress.verdicts["invalid"]:
            return []
        outcome = await self._on_records(progress, {"job": "archive_sample", "limit": CAUSE_FILES})
        return [] if outcome is None else list(outcome.head["numbers"])

    async def _summary(self, progress: Progress) -> bytes:
        blocks = range(progress.cause_blocks)
        causes = [(await self._kept(self._store.block, self._job, "causes", number))[0] for number in blocks]
        has_causes = self._pool.causes_seconds > 0
        head = {"job": "archive_summary", "lang": self._job.lang, "engine": self._job.engine, "has_causes": has_causes}
        outcome = await self._on_records(progress, head, causes)
        if outcome is not None:
            return outcome.parts[0]
        log.warning("A job is too large for a summary of its findings", extra={"fields": {"job": self._job.id}})
        return to_json({"status": "done", "files": progress.done, "verdicts": progress.verdicts, **NO_FINDINGS})

    async def _on_records(self, progress: Progress, head: dict[str, Any], more: Sequence[bytes] = ()) -> Message | None:
        """Run a task on the compressed records of all files; return None if they exceed a limit."""
        if sum(block[2] for block in progress.blocks) > MAX_SUMMARY_BYTES:
            return None
        records = []
        for number in range(len(progress.blocks)):
            records.append((await self._kept(self._store.block, self._job, "results", number))[0])
        task = Message({**head, "records": len(records)}, (*records, *more))
        async with self._reserved(sum(map(len, task.parts)), is_long=True):
            with contextlib.suppress(JobLimitExceeded, JobCrashed, JobFailed):
                return await self._outcome(task)
        return None

    async def _groups(self, numbers: Sequence[int]) -> AsyncIterator[list[Entry]]:
        """Yield the files with these numbers in groups that fit into memory."""
        group: list[Entry] = []
        for number in numbers:
            entry = await self._entry(number)
            if group and (len(group) == _GROUP_FILES or sum(it.size for it in (*group, entry)) > _GROUP_BYTES):
                yield group
                group = []
            group.append(entry)
        yield group

    async def _entry(self, number: int) -> Entry:
        block, position = divmod(number, LISTED_FILES)
        if self._listed[0] != block:
            self._listed = block, await self._kept(self._store.listed, self._job, block)
        return self._listed[1][position]

    def _read(self, group: Sequence[Entry]) -> list[bytes | Unreadable]:
        return [self._document(entry) for entry in group]

    def _document(self, entry: Entry) -> bytes | Unreadable:
        """Return the content of a file, or why it cannot be read."""
        try:
            return content(self._read_at, entry, MAX_FILE_BYTES)
        except MemberTooLarge:
            return "TooLarge", {"limit": MAX_FILE_BYTES}
        except MemberError as error:
            return "ArchiveMemberUnreadable", {"reason": str(error)}

    async def _gathered(self, calls: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
        """Return the results of calls, as many at the same time as there are workers."""
        semaphore = asyncio.Semaphore(self._settings.workers)

        async def limited(call: Callable[[], Awaitable[T]]) -> T:
            async with semaphore:
                return await call()

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(limited(call)) for call in calls]
        return [task.result() for task in tasks]

    async def _outcome(self, task: Message) -> Message:
        """Run a task on a worker; wait while the service is busy, or the key has used its time."""
        while True:
            try:
                return await self._pool.run(task, self._job.holder)
            except Problem as problem:
                await _pause(problem)

    @contextlib.asynccontextmanager
    async def _reserved(self, size: int, *, is_long: bool) -> AsyncIterator[None]:
        """Take part in the queue, and reserve memory, as a request does; wait while the service is busy."""
        with contextlib.ExitStack() as stack:
            while True:
                try:
                    with contextlib.ExitStack() as attempt:
                        attempt.enter_context(self._pool.reserve(self._job.holder, is_long=is_long)).add_bytes(
                            min(size, _GROUP_BYTES)
                        )
                        stack.push(attempt.pop_all())
                    break
                except Problem as problem:
                    await _pause(problem)
            yield

    async def _kept(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function of the store; wait while the store is full or unavailable."""
        waiting, id = self._runner.waiting, self._job.id
        while True:
            try:
                result = await in_thread(function, *args, **kwargs)
            except StoreError as error:
                if id not in waiting:
                    waiting.add(id)
                    log.warning("A job waits for its store: %s", error, extra={"fields": {"job": id}})
                await asyncio.sleep(RETRY_SECONDS)
            else:
                waiting.discard(id)
                return result


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a thread: the store blocks."""
    return await anyio.to_thread.run_sync(functools.partial(function, *args, **kwargs))


async def _pause(problem: Problem) -> None:
    await asyncio.sleep(float((problem.headers or {}).get("Retry-After", RETRY_SECONDS)))
