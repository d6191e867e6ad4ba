"""Executors of bulk validation: processes, threads, Dask, and their progress."""

import logging
import os
import sys
import types
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

import einvoice
from einvoice.bulk.execution import executors
from einvoice.bulk.execution.worker import Options
from einvoice.bulk.record import decode
from tests.helpers.corpora import UBL, make_corpus, validate_serially, with_error

FILES = make_corpus(150)[0]


class KillsProcess(bytes):
    """Content that kills the process that reads it."""

    def __bytes__(self):
        os._exit(9)


@pytest.mark.slow
def test_crashed_process_affects_one_file_only():
    items = [executors.Item(name, data) for name, data in FILES.items()]
    items[70] = executors.Item("deadly.xml", KillsProcess(UBL))
    executor = executors.ProcessPool(2, Options())
    try:
        lines = [row for rows in executor.rows(items) for row in rows]
    finally:
        executor.shutdown()
    expected = [row for rows in executors.Serial(Options()).rows(items[:70] + items[71:]) for row in rows]
    assert lines[:70] + lines[71:] == expected
    assert lines[70].verdict == "unreadable"
    assert b"FILE-WORKER" in lines[70].line
    assert not lines[70].reusable


@pytest.mark.slow
def test_supplied_process_pool_is_used():
    items = [executors.Item("a.xml", UBL)]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        rows = [row for rows in executors.Pooled(pool, 1, Options()).rows(items) for row in rows]
        assert [row.verdict for row in rows] == ["valid"]


@pytest.mark.slow
def test_broken_supplied_pool_reports_remaining_files_as_unreadable():
    items = [executors.Item(str(number), UBL) for number in range(400)]
    items[100] = executors.Item("100", KillsProcess(UBL))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        rows = [row for rows in executors.Pooled(pool, 1, Options()).rows(items) for row in rows]
    results = [decode(row.line) for row in rows]
    assert [file.file for file in results] == [item.name for item in items]
    assert {file.verdict for file in results[:64]} == {"valid"}
    assert {file.verdict for file in results[64:]} == {"unreadable"}  # a broken pool cannot be restarted
    assert {file.findings[0].code for file in results[64:]} == {"FILE-WORKER"}
    assert not any(row.reusable for row in rows[64:])  # validated again when the run is resumed


@pytest.mark.slow
def test_crashed_dask_worker_affects_one_file_only():
    distributed = pytest.importorskip("distributed")
    import dask

    items = [executors.Item(str(number), UBL) for number in range(200)]
    items[100] = executors.Item("100", KillsProcess(UBL))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = executors.create_executor(None, client, None, Options())
        results = [decode(row.line) for rows in executor.rows(items) for row in rows]
    assert [file.file for file in results] == [item.name for item in items]
    assert [file.file for file in results if not file.is_valid] == ["100"]
    assert results[100].findings[0].code == "FILE-WORKER"


def test_shut_down_executor_is_rejected():
    with ThreadPoolExecutor(1) as threads:
        pass
    with pytest.raises(RuntimeError, match="after shutdown"):
        einvoice.validate_many(FILES, executor=threads, progress=False)


def test_number_of_pending_batches_is_bounded():
    submitted = 0

    def source():
        nonlocal submitted
        for number in range(2000):
            submitted += 1
            yield executors.Item(f"{number}.xml", b"")

    with ThreadPoolExecutor(1) as threads:
        done = 0
        for rows in executors.Pooled(threads, 1, Options()).rows(source()):
            assert submitted - done <= (executors.PENDING_BATCHES + 1) * executors.BATCH_FILES
            done += len(rows)
    assert done == 2000


def test_batches_are_limited_by_size_and_count():
    large = [executors.Item(str(number), bytes(executors.BATCH_BYTES // 2)) for number in range(5)]
    assert [len(batch) for batch in executors.batches(large)] == [2, 2, 1]
    assert [len(batch) for batch in executors.batches([executors.Item("", ".")] * 130)] == [64, 64, 2]


@pytest.mark.slow
def test_dask_gives_equal_results():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert einvoice.validate_many(FILES, client=client, progress=False) == validate_serially(FILES)


def test_progress_bar_is_optional(monkeypatch):
    calls = {"total": [], "invalid": [], "number": [], "closed": []}

    class Bar:
        def __init__(self, total, **_):
            calls["total"].append(total)

        def set_postfix(self, invalid, refresh):
            calls["invalid"].append(invalid)

        def update(self, number):
            calls["number"].append(number)

        def close(self):
            calls["closed"].append(True)

    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace())
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    pairs = [("a", UBL), ("b", with_error("BR-CO-10", UBL))]
    einvoice.validate_many(pairs, workers=0)
    assert calls["total"] == [2]
    assert sum(calls["number"]) == 2  # files validated in a short time are counted together
    assert calls["invalid"][-1] == 1
    assert calls["closed"] == [True]
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert len(einvoice.validate_many(pairs, workers=0)) == 2
