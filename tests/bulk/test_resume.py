"""Interrupted and resumed bulk validation."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import einvoice
from einvoice.bulk import ResultSet, jsonl
from einvoice.bulk.record import decode
from tests.helpers.corpora import REPLACEMENTS, UBL, make_corpus, numbered, validate_serially, with_error, write_files
from tests.helpers.extras import POSIX
from tests.helpers.properties import examples

FILES = make_corpus(12)[0]


@pytest.fixture
def validated(monkeypatch):
    """Collect the contents validated in this process."""
    contents = []

    def validate(data, **options):
        contents.append(data)
        return einvoice.validate(data, **options)

    monkeypatch.setattr("einvoice.bulk.execution.worker.validate", validate)
    return contents


def interrupt_after(pairs, after):
    for number, pair in enumerate(pairs):
        if number == after:
            raise KeyboardInterrupt
        yield pair


def test_interrupt_keeps_finished_results():
    complete = validate_serially(FILES)
    unfinished = validate_serially(interrupt_after(FILES.items(), 5))
    assert not unfinished.complete
    assert not unfinished.is_valid
    assert list(unfinished) == list(complete[:5])
    assert "interrupted" in repr(unfinished)
    assert "unterbrochen" in str(unfinished)
    assert "unterbrochen" in unfinished._repr_html_()
    assert validate_serially(interrupt_after(FILES.items(), 0)).verdicts == {"valid": 0, "invalid": 0, "unreadable": 0}


def test_interrupt_waits_for_running_batches():
    files = make_corpus(400)[0]
    with ThreadPoolExecutor(1) as threads:
        unfinished = einvoice.validate_many(interrupt_after(files.items(), 200), executor=threads, progress=False)
    assert not unfinished.complete
    assert 64 <= len(unfinished) <= 192
    assert [file.file for file in unfinished] == list(files)[: len(unfinished)]


@pytest.mark.parametrize("threads", [0, 1])
def test_interrupt_during_storing_is_deferred(threads, monkeypatch):
    monkeypatch.setattr("einvoice.bulk.execution.executors.BATCH_FILES", 1)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    stored = []

    def store_and_interrupt(self, rows):
        if not stored:
            signal.raise_signal(signal.SIGINT)
        stored.extend(rows)

    monkeypatch.setattr("einvoice.bulk.run._Run._store", store_and_interrupt)
    try:
        with ThreadPoolExecutor(1) as pool:
            options = {"executor": pool} if threads else {"workers": 0}
            unfinished = einvoice.validate_many(FILES, progress=False, **options)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert not unfinished.complete
    monkeypatch.undo()
    assert stored
    assert [decode(row.line) for row in stored] == list(validate_serially(FILES))[: len(stored)]


def test_finished_files_are_not_validated_again(tmp_path, validated):
    journal = tmp_path / "journal.jsonl"
    unfinished = validate_serially(interrupt_after(FILES.items(), 5), resume=journal)
    assert len(unfinished) == len(validated) == 5
    complete = validate_serially(FILES, resume=journal)
    assert validated == list(FILES.values())
    assert complete == validate_serially(FILES)
    assert ResultSet.load(journal) == complete
    assert ResultSet.load(journal).complete
    validated.clear()
    assert validate_serially(FILES, resume=journal) == complete
    assert validated == []


def test_files_are_identified_by_content(tmp_path, validated):
    validate_serially([("a.xml", UBL), ("b.xml", numbered(2))], resume=tmp_path)
    assert (tmp_path / jsonl.FILENAME).is_file()
    validated.clear()
    results = validate_serially([("b.xml", UBL), ("c.xml", numbered(3))], resume=tmp_path)
    assert validated == [numbered(3)]
    assert [(file.file, file.number) for file in results] == [("b.xml", "LG-2026-0417"), ("c.xml", "LG-2026-000003")]
    assert list(ResultSet.load(tmp_path / jsonl.FILENAME)) == list(results)


def test_files_that_could_not_be_opened_are_retried(tmp_path):
    path = tmp_path / "late.xml"
    pairs = [("a.xml", path), ("b.xml", path)]
    assert validate_serially(pairs, resume=tmp_path).verdicts["unreadable"] == 2
    path.write_bytes(UBL)
    assert validate_serially(pairs, resume=tmp_path).verdicts["valid"] == 2


@pytest.mark.slow
def test_process_pool_resumes_a_run(tmp_path):
    folder = write_files(tmp_path / "files", make_corpus(200)[0])
    journal = tmp_path / "journal.jsonl"
    validate_serially(
        interrupt_after([(it.file, folder / it.file) for it in validate_serially(folder)], 77), resume=journal
    )
    assert einvoice.validate_many(folder, workers=2, progress=False, resume=journal) == validate_serially(folder)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the results of a complete run, and its journal."""
    journal = tmp_path_factory.mktemp("finished") / "journal.jsonl"
    return validate_serially(FILES, resume=journal), journal.read_bytes()


@pytest.mark.slow
@examples(40)
@given(data=st.data())
def test_run_resumes_from_a_truncated_journal(tmp_path_factory, finished, data):
    journal = tmp_path_factory.mktemp("run") / "journal.jsonl"
    complete, full_journal = finished
    header_end = full_journal.index(b"\n") + 1
    truncated = full_journal[: data.draw(st.integers(header_end, len(full_journal)))]
    journal.write_bytes(truncated)
    lines = [line for line in truncated.splitlines(keepends=True)[1:] if line.endswith(b"}\n")]
    stored = {json.loads(line).get("sha256") for line in lines}
    contents = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "einvoice.bulk.execution.worker.validate",
            lambda it, **options: contents.append(it) or einvoice.validate(it),
        )
        assert validate_serially(FILES, resume=journal) == complete
    assert contents == [it for it in FILES.values() if jsonl.sha256(it) not in stored]


def test_incompatible_journals_are_rejected_unchanged(tmp_path):
    validate_serially(FILES, resume=tmp_path / "a.jsonl")
    before = (tmp_path / "a.jsonl").read_bytes()
    with pytest.raises(ValueError, match="other rules or options"):
        validate_serially(FILES, resume=tmp_path / "a.jsonl", profile="xrechnung")
    assert (tmp_path / "a.jsonl").read_bytes() == before
    (tmp_path / "b.txt").write_text("not a result set\n")
    with pytest.raises(ValueError, match="does not contain results"):
        validate_serially(FILES, resume=tmp_path / "b.txt")
    assert (tmp_path / "b.txt").read_text() == "not a result set\n"
    (tmp_path / "c.jsonl").write_text('{"einvoice_results": 2}\n')
    with pytest.raises(ValueError, match="version 2"):
        ResultSet.load(tmp_path / "c.jsonl")


SCRIPT = """
import hashlib, os, signal, sys, threading, time
import einvoice
from einvoice.bulk.execution import worker

validate_one = worker.validate

def log_and_validate(data, **options):
    with open(sys.argv[3], "ab", 0) as log:
        log.write(hashlib.sha256(data).hexdigest().encode() + b"\\n")
    # Until the interrupt has arrived, no more: up to 512 further files of 2,000 are pending, and finished.
    while os.path.getsize(sys.argv[3]) > 700 * 65 and not os.path.exists(sys.argv[5]):
        time.sleep(0.01)
    return validate_one(data, **options)

worker.validate = log_and_validate  # also in each worker, which imports this script

def interrupted(number, frame):
    outer = frame
    while outer is not None:
        if outer.f_code.co_name == "__del__":  # Python ignores exceptions there, so the signal comes again
            threading.Timer(0.01, signal.raise_signal, [number]).start()
            return
        outer = outer.f_back
    open(sys.argv[5], "w").close()
    signal.default_int_handler(number, frame)

def run(**options):
    signal.signal(signal.SIGINT, interrupted)
    print("begin", flush=True)
    results = einvoice.validate_many(sys.argv[1], resume=sys.argv[2], progress=False, **options)
    print(results.complete, len(results), flush=True)

if __name__ == "__main__":
    if sys.argv[4] == "processes":
        run(workers=2)
    else:
        from distributed import Client, LocalCluster
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
            run(client=Client(cluster))
"""


COUNT, INTERRUPTED = 2000, 200
"""Files of an interrupted run, and lines in its journal when it is interrupted."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Return the files, a folder with them, and their results."""
    files = make_corpus(COUNT)[0]
    folder = write_files(tmp_path_factory.mktemp("corpus"), files)
    return files, folder, list(validate_serially(folder))


@pytest.mark.slow
@POSIX
@pytest.mark.parametrize(("executor", "interrupt"), [("processes", "killpg"), ("dask", "kill")])
def test_interrupted_run_validates_each_file_once(tmp_path, corpus, executor, interrupt):
    """A terminal or notebook interrupts all processes; cluster workers do not receive the signal."""
    if executor == "dask":
        pytest.importorskip("distributed")
    files, folder, expected = corpus
    (tmp_path / "run.py").write_text(SCRIPT)
    journal, log = tmp_path / "journal.jsonl", tmp_path / "log"
    command = [sys.executable, *map(str, (tmp_path / "run.py", folder, journal, log)), executor]
    command.append(str(tmp_path / "interrupted"))
    # Background shells ignore SIGINT and child processes inherit that.
    reset_sigint = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    options = {"stdout": subprocess.PIPE, "text": True, "start_new_session": True, "preexec_fn": reset_sigint}
    with subprocess.Popen(command, **options) as run:
        deadline = time.monotonic() + 120
        while not journal.exists() or journal.read_bytes().count(b"\n") < INTERRUPTED:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        getattr(os, interrupt)(run.pid, signal.SIGINT)
        output = run.communicate(timeout=60)[0].split()
    assert run.returncode == 0
    assert output[:2] == ["begin", "False"]
    assert INTERRUPTED - 1 <= len(ResultSet.load(journal)) == int(output[2]) < COUNT
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["begin", "True", str(COUNT)]
    contents = [jsonl.sha256(data) for data in files.values()]
    assert len(set(contents)) == COUNT
    assert sorted(log.read_text().split()) == sorted(contents)
    resumed = ResultSet.load(journal)
    assert resumed.complete
    assert list(resumed) == expected


def test_each_replacement_changes_the_sample():
    assert {with_error(code, UBL) for code in REPLACEMENTS} & {UBL} == set()
