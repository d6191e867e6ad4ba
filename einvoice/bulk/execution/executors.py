"""Executors of bulk validation: serial, process pool, Dask, or an executor supplied by the caller.

They validate files, or do another task with them, such as finding causes. Files are validated in batches, and results
are returned in order. Up to four batches per worker are pending; a batch of files to validate has 64 files or 4 MiB of
content (its last file may exceed that by up to 10 MiB).

If a worker process dies, its batches are validated again in a separate process, then file by file, so that a crash does
not affect other files. A caller-supplied executor is never restarted: if it breaks, all remaining files are reported as
not validated.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import forkserver
from typing import Any, Final, TypeAlias

from einvoice.bulk.execution import worker
from einvoice.bulk.execution.interrupts import deferred_interrupt
from einvoice.bulk.execution.worker import Options
from einvoice.bulk.files.items import Item
from einvoice.bulk.record import Row
from einvoice.rulebook.releases import PINNED

BATCH_FILES: Final = 64
BATCH_BYTES: Final = 4 * 1024**2
PENDING_BATCHES: Final = 4
"""Maximum number of pending batches per worker."""

_SECONDS: Final = 0.05
"""Time between rows that are yielded by one process."""

_WARM: Final = "einvoice.bulk.execution.warm"
_DIED: Final = "the process died"
_NO_START: Final = (
    "the worker processes cannot start. In a script, call validate_many under `if __name__ == '__main__':`, because "
    "each worker imports the script; or validate in this process with workers=0"
)

Batch: TypeAlias = Sequence[Item]
Task: TypeAlias = Callable[[Batch, Options, str], list[Row]]
"""Returns the row of each file of a batch; see `worker.validate_batch`."""


def batches(items: Iterable[Item], size_limit: int = BATCH_FILES) -> Iterator[Batch]:
    """Yield the files in batches of at most `size_limit` files."""
    batch: list[Item] = []
    size = 0
    for item in items:
        batch.append(item)
        size += len(item.content) if isinstance(item.content, bytes) else 0
        if len(batch) == size_limit or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class Serial:
    """Validates in this process, one file at a time."""

    def __init__(self, options: Options, task: Task = worker.validate_batch) -> None:
        self._options = options
        self._task = task
        self._pinned = _pinned()
        self._completed: list[Row] = []

    def rows(self, items: Iterable[Item]) -> Iterator[list[Row]]:
        """Yield the rows in the order of the files. Interrupts are deferred until the next rows are requested.

        Deferring takes time, so that several files have it in common if they are validated within `_SECONDS`.
        """
        started = time.monotonic()
        for item in items:
            self._completed += self._task([item], self._options, self._pinned)
            if time.monotonic() - started >= _SECONDS:
                with deferred_interrupt():
                    yield self.drain()
                started = time.monotonic()
        with deferred_interrupt():
            yield self.drain()

    def drain(self) -> list[Row]:
        """Return completed rows that were not yielded, such as before an interrupt."""
        rows, self._completed = self._completed, []
        return rows

    def shutdown(self) -> None:
        """Release all resources."""


class Pooled:
    """Validates with an executor supplied by the caller; never shuts it down."""

    def __init__(
        self,
        executor: Executor,
        workers: int,
        options: Options,
        task: Task = worker.validate_batch,
        batch_files: int = BATCH_FILES,
    ) -> None:
        self._executor = executor
        self._workers = workers
        self._options = options
        self._task = task
        self._batch_files = batch_files
        self._pinned = _pinned()
        self._pending: deque[tuple[Batch, Future[list[Row]]]] = deque()

    def rows(self, items: Iterable[Item]) -> Iterator[list[Row]]:
        """Yield the rows in the order of the files. Interrupts are deferred until the next rows are requested."""
        for batch in batches(items, self._batch_files):
            with deferred_interrupt():
                self._pending.append((batch, self._submit(batch)))
            if len(self._pending) >= PENDING_BATCHES * self._workers:
                yield from self._oldest()
        while self._pending:
            yield from self._oldest()

    def drain(self) -> list[Row]:
        """Return completed rows that were not yielded before an interrupt; wait for running batches."""
        rows: list[Row] = []
        for future in self._running():
            with suppress(Exception):
                rows += future.result()
        self._pending.clear()
        return rows

    def shutdown(self) -> None:
        """Cancel pending batches."""
        for _, future in self._pending:
            future.cancel()

    def _running(self) -> list[Future[list[Row]]]:
        """Cancel batches that have not started; return the others."""
        return [future for _, future in self._pending if not future.cancel()]

    def _oldest(self) -> Iterator[list[Row]]:
        batch, future = self._pending[0]
        try:
            rows = future.result()
        except Exception:  # a failure of the worker: errors in files are rows
            rows = self._retry(batch)
        with deferred_interrupt():  # removed here only after the caller has the rows
            self._pending.popleft()
            yield rows

    def _submit(self, batch: Batch) -> Future[list[Row]]:
        try:
            return self._submit_to(self._executor, batch)
        except BrokenExecutor as error:
            failed: Future[list[Row]] = Future()
            failed.set_exception(error)
            return failed

    def _submit_to(self, executor: Executor, batch: Batch) -> Future[list[Row]]:
        return executor.submit(self._task, batch, self._options, self._pinned)

    def _retry(self, batch: Batch) -> list[Row]:
        rows: list[Row] = []
        for item in batch:
            try:
                rows += self._submit([item]).result()
            except Exception as error:
                rows.append(worker.crashed_row(item, type(error).__name__))
        return rows


class Dask(Pooled):
    """Validates on the workers of a Dask client."""

    def __init__(
        self, client: Any, options: Options, task: Task = worker.validate_batch, batch_files: int = BATCH_FILES
    ) -> None:
        workers = sum(client.nthreads().values()) or 1
        super().__init__(client.get_executor(pure=False), workers, options, task, batch_files)
        self._client = client

    def _submit_to(self, executor: Executor, batch: Batch) -> Future[list[Row]]:
        # Scattered, not sent as an argument: client and scheduler keep their last 1,000 messages with all arguments.
        (content,) = self._client.scatter([batch], hash=False)
        return super()._submit_to(executor, content)

    def _running(self) -> list[Future[list[Row]]]:
        """Return all batches: Dask also cancels running ones, and a client learns their state late."""
        return [future for _, future in self._pending]


class ProcessPool(Pooled):
    """Validates in processes on this machine; replaces those that die."""

    def __init__(
        self, workers: int, options: Options, task: Task = worker.validate_batch, batch_files: int = BATCH_FILES
    ) -> None:
        super().__init__(_pool(workers), workers, options, task, batch_files)
        self._isolated: ProcessPoolExecutor | None = None  # a single process, for batches that may crash it

    def shutdown(self) -> None:
        """Stop all processes."""
        for pool in filter(None, (self._executor, self._isolated)):
            pool.shutdown(wait=True, cancel_futures=True)

    def _submit(self, batch: Batch) -> Future[list[Row]]:
        try:
            return self._submit_to(self._executor, batch)
        except BrokenExecutor:
            self._executor.shutdown(wait=False)
            self._executor = _pool(self._workers)
            return self._submit_to(self._executor, batch)

    def _retry(self, batch: Batch) -> list[Row]:
        with suppress(BrokenExecutor):
            return self._validate_isolated(batch)
        rows: list[Row] = []
        for item in batch:
            try:
                rows += self._validate_isolated([item])
            except BrokenExecutor:
                rows.append(worker.crashed_row(item, _DIED))
        return rows

    def _validate_isolated(self, batch: Batch) -> list[Row]:
        if self._isolated is None:
            self._isolated = _pool(1)
            try:
                self._isolated.submit(worker.ping).result()
            except BrokenExecutor as error:
                raise RuntimeError(_NO_START) from error
        try:
            return self._submit_to(self._isolated, batch).result()
        except BrokenExecutor:
            self._isolated = None
            raise


def create_executor(
    workers: int | None,
    client: Any,
    executor: Executor | None,
    options: Options,
    task: Task = worker.validate_batch,
    batch_files: int = BATCH_FILES,
) -> Serial | Pooled:
    """Return the executor of a task for the arguments of `einvoice.validate_many`.

    Raises:
        ValueError: more than one of the arguments is given, or `workers` is negative.
    """
    if sum(argument is not None for argument in (workers, client, executor)) > 1:
        raise ValueError("arguments 'workers', 'client' and 'executor' are mutually exclusive")
    if client is not None:
        return Dask(client, options, task, batch_files)
    if executor is not None:
        count = getattr(executor, "_max_workers", None) or _cpu_count()
        return Pooled(executor, count, options, task, batch_files)
    if workers is not None and workers < 0:
        raise ValueError(f"argument 'workers' must be 0 (validate in this process) or more, not {workers}")
    if workers == 0:
        return Serial(options, task)
    return ProcessPool(workers or _cpu_count(), options, task, batch_files)


def _cpu_count() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _pool(workers: int) -> ProcessPoolExecutor:
    """Return a pool without fork: a forked process could inherit locks held by threads that it does not have.

    A fork server has no threads; it loads what workers need once (`warm`), unless the program has preloaded modules of
    its own. On macOS, system libraries are not made for forks of any kind.
    """
    if sys.platform != "linux":
        return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), worker.initialize)
    context = multiprocessing.get_context("forkserver")
    if forkserver._forkserver._preload_modules == ["__main__"]:  # type: ignore[attr-defined]  # the default
        context.set_forkserver_preload(["__main__", _WARM])
    return ProcessPoolExecutor(workers, context, worker.initialize)


def _pinned() -> str:
    return os.environ.get(PINNED, "")
