"""Who judges many files: batch by batch, in order, never more of them under way than a bound.

Under way are four batches for each worker, of 64 files or 4 MiB of content each (a batch may end with one file more,
of 10 MiB at most). Where a process dies, its batches are judged once more apart, and then file by file, so that the
file that did it is known, and costs nobody else the verdict. An executor of the caller is theirs to mend: where it
takes nothing any more, each file that is left is a row that says so.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import suppress
from typing import Any, Final, TypeAlias

from einvoice.bulk.execution import worker
from einvoice.bulk.execution.interrupts import held
from einvoice.bulk.execution.worker import Options
from einvoice.bulk.files.sources import Item
from einvoice.bulk.record import Row
from einvoice.rulebook.releases import PINNED

BATCH_FILES: Final = 64
BATCH_BYTES: Final = 4 * 1024**2
UNDER_WAY: Final = 4
"""Batches for each worker."""

_DIED: Final = "the process died"
_NO_START: Final = (
    "The worker processes cannot start. In a script, call validate_many below `if __name__ == '__main__':`, since "
    "each worker imports the script; or judge in this process, with workers=0."
)

Batch: TypeAlias = Sequence[Item]


def batches(items: Iterable[Item]) -> Iterator[Batch]:
    """The files in batches."""
    batch: list[Item] = []
    size = 0
    for item in items:
        batch.append(item)
        size += len(item.content) if isinstance(item.content, bytes) else 0
        if len(batch) == BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class Here:
    """This process, a file at a time."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def rows(self, items: Iterable[Item]) -> Iterator[list[Row]]:
        """What became of the files, in their order; no interrupt comes before the next ones are asked for."""
        for item in items:
            rows = worker.judge([item], self._options, _pinned())
            with held():
                yield rows

    def finish(self) -> list[Row]:
        """After an interrupt: what is done and not yet told."""
        return []

    def dismiss(self) -> None:
        """It is over."""


class Hired:
    """An executor of the caller; it is theirs to end."""

    def __init__(self, executor: Executor, workers: int, options: Options) -> None:
        self._executor = executor
        self._workers = workers
        self._options = options
        self._pinned = _pinned()
        self._under_way: deque[tuple[Batch, Future[list[Row]]]] = deque()

    def rows(self, items: Iterable[Item]) -> Iterator[list[Row]]:
        """What became of the files, in their order; no interrupt comes before the next ones are asked for."""
        for batch in batches(items):
            with held():
                self._under_way.append((batch, self._submit(batch)))
            if len(self._under_way) >= UNDER_WAY * self._workers:
                yield from self._oldest()
        while self._under_way:
            yield from self._oldest()

    def finish(self) -> list[Row]:
        """After an interrupt: what is done and not yet told. What has begun is waited for."""
        rows: list[Row] = []
        for future in self._begun():
            with suppress(Exception):
                rows += future.result()
        self._under_way.clear()
        return rows

    def dismiss(self) -> None:
        """It is over."""
        for _, future in self._under_way:
            future.cancel()

    def _begun(self) -> list[Future[list[Row]]]:
        """What has begun or is done; nothing else will begin any more."""
        return [future for _, future in self._under_way if not future.cancel()]

    def _oldest(self) -> Iterator[list[Row]]:
        batch, future = self._under_way[0]
        try:
            rows = future.result()
        except Exception:  # whatever befell the worker: nothing about a file is raised
            rows = self._again(batch)
        with held():  # what is under way no more is kept by whoever asked
            self._under_way.popleft()
            yield rows

    def _submit(self, batch: Batch) -> Future[list[Row]]:
        try:
            return self._hand_over(self._executor, batch)
        except BrokenExecutor as error:  # it takes nothing any more
            failed: Future[list[Row]] = Future()
            failed.set_exception(error)
            return failed

    def _hand_over(self, executor: Executor, batch: Batch) -> Future[list[Row]]:
        return executor.submit(worker.judge, batch, self._options, self._pinned)

    def _again(self, batch: Batch) -> list[Row]:
        rows: list[Row] = []
        for item in batch:
            try:
                rows += self._submit([item]).result()
            except Exception as error:
                rows.append(worker.not_judged(item, type(error).__name__))
        return rows


class Cluster(Hired):
    """The workers of a Dask client."""

    def _begun(self) -> list[Future[list[Row]]]:
        """All of it: Dask lets go of what has begun, too, and a client learns late what has."""
        return [future for _, future in self._under_way]


class Own(Hired):
    """Processes of this machine; where one dies, there are others."""

    def __init__(self, workers: int, options: Options) -> None:
        super().__init__(_pool(workers), workers, options)
        self._apart: ProcessPoolExecutor | None = None  # one process, for what may kill it

    def dismiss(self) -> None:
        """It is over: no process stays."""
        for pool in filter(None, (self._executor, self._apart)):
            pool.shutdown(wait=True, cancel_futures=True)

    def _submit(self, batch: Batch) -> Future[list[Row]]:
        try:
            return self._hand_over(self._executor, batch)
        except BrokenExecutor:
            self._executor.shutdown(wait=False)
            self._executor = _pool(self._workers)
            return self._hand_over(self._executor, batch)

    def _again(self, batch: Batch) -> list[Row]:
        with suppress(BrokenExecutor):
            return self._judge_apart(batch)
        rows: list[Row] = []
        for item in batch:
            try:
                rows += self._judge_apart([item])
            except BrokenExecutor:
                rows.append(worker.not_judged(item, _DIED))
        return rows

    def _judge_apart(self, batch: Batch) -> list[Row]:
        if self._apart is None:
            self._apart = _pool(1)
            try:
                self._apart.submit(worker.ready).result()
            except BrokenExecutor as error:
                raise RuntimeError(_NO_START) from error
        try:
            return self._hand_over(self._apart, batch).result()
        except BrokenExecutor:
            self._apart = None
            raise


def crew(workers: int | None, client: Any, executor: Executor | None, options: Options) -> Here | Hired:
    """Who judges: see `einvoice.validate_many`.

    Raises:
        ValueError: more than one of them is given, or a number of workers below 0.
    """
    if sum(given is not None for given in (workers, client, executor)) > 1:
        raise ValueError("Give one of workers, client and executor.")
    if client is not None:
        return Cluster(client.get_executor(pure=False), sum(client.nthreads().values()) or 1, options)
    if executor is not None:
        return Hired(executor, getattr(executor, "_max_workers", None) or _processors(), options)
    if workers is not None and workers < 0:
        raise ValueError(f"workers is 0 (in this process) or more, not {workers}")
    return Own(workers or _processors(), options) if workers != 0 else Here(options)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _pool(workers: int) -> ProcessPoolExecutor:
    """Processes that start clean: a copy of this one could hold locks of threads that it does not have."""
    method = "spawn" if sys.platform == "win32" else "forkserver"
    return ProcessPoolExecutor(workers, multiprocessing.get_context(method), worker.begin)


def _pinned() -> str:
    return os.environ.get(PINNED, "")
