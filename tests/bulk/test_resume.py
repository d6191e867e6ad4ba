"""An interrupt keeps what is done, and what is done is not done again."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from corpora import FAULTS, UBL, in_folder, numbered, planted, with_fault
from hypothesis import given, settings
from hypothesis import strategies as st

import einvoice
from einvoice.bulk import ResultSet, jsonl
from einvoice.bulk.record import decode

FILES = planted(12)[0]


@pytest.fixture
def judged(monkeypatch):
    """The contents that are judged from now on, in this process."""
    seen = []

    def validate(data, **options):
        seen.append(data)
        return einvoice.validate(data, **options)

    monkeypatch.setattr("einvoice.bulk.execution.worker.validate", validate)
    return seen


def here(source, **options):
    return einvoice.validate_many(source, workers=0, progress=False, **options)


def interrupted(pairs, after):
    for number, pair in enumerate(pairs):
        if number == after:
            raise KeyboardInterrupt
        yield pair


def test_an_interrupt_keeps_what_is_done():
    whole = here(FILES)
    part = here(interrupted(FILES.items(), 5))
    assert not part.complete
    assert not part.is_valid
    assert list(part) == list(whole[:5])
    assert "interrupted" in repr(part)
    assert "unterbrochen" in str(part)
    assert "unterbrochen" in part._repr_html_()
    assert here(interrupted(FILES.items(), 0)).verdicts == {"valid": 0, "invalid": 0, "unreadable": 0}


def test_an_interrupt_waits_for_what_others_have_begun():
    files = planted(400)[0]
    with ThreadPoolExecutor(1) as threads:
        part = einvoice.validate_many(interrupted(files.items(), 200), executor=threads, progress=False)
    assert not part.complete
    assert 64 <= len(part) <= 192
    assert [file.file for file in part] == list(files)[: len(part)]


@pytest.mark.parametrize("threads", [0, 1])
def test_an_interrupt_while_results_are_kept_comes_after_that(threads, monkeypatch):
    monkeypatch.setattr("einvoice.bulk.execution.executors.BATCH_FILES", 1)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    kept = []

    def keep(self, rows):
        if not kept:
            signal.raise_signal(signal.SIGINT)
        kept.extend(rows)

    monkeypatch.setattr("einvoice.bulk.execution.run._Run._store", keep)
    try:
        with ThreadPoolExecutor(1) as pool:
            hands = {"executor": pool} if threads else {"workers": 0}
            part = einvoice.validate_many(FILES, progress=False, **hands)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert not part.complete
    monkeypatch.undo()
    assert kept
    assert [decode(row.line) for row in kept] == list(here(FILES))[: len(kept)]


def test_what_is_done_is_not_judged_again(tmp_path, judged):
    notes = tmp_path / "notes.jsonl"
    part = here(interrupted(FILES.items(), 5), resume=notes)
    assert len(part) == len(judged) == 5
    whole = here(FILES, resume=notes)
    assert judged == list(FILES.values())
    assert whole == here(FILES)
    assert ResultSet.load(notes) == whole
    assert ResultSet.load(notes).complete
    judged.clear()
    assert here(FILES, resume=notes) == whole
    assert judged == []


def test_the_content_counts_and_not_the_name(tmp_path, judged):
    here([("a.xml", UBL), ("b.xml", numbered(2))], resume=tmp_path)
    assert (tmp_path / jsonl.FILENAME).is_file()
    judged.clear()
    results = here([("b.xml", UBL), ("c.xml", numbered(3))], resume=tmp_path)
    assert judged == [numbered(3)]
    assert [(file.file, file.number) for file in results] == [("b.xml", "LG-2026-0417"), ("c.xml", "LG-2026-000003")]
    assert list(ResultSet.load(tmp_path / jsonl.FILENAME)) == list(results)


def test_what_the_content_did_not_decide_is_tried_again(tmp_path):
    path = tmp_path / "late.xml"
    assert here([path, path], resume=tmp_path).verdicts["unreadable"] == 2
    path.write_bytes(UBL)
    assert here([path, path], resume=tmp_path).verdicts["valid"] == 2


def test_processes_resume_too(tmp_path):
    folder = in_folder(tmp_path / "files", planted(200)[0])
    notes = tmp_path / "notes.jsonl"
    here(interrupted([(it.file, folder / it.file) for it in here(folder)], 77), resume=notes)
    assert einvoice.validate_many(folder, workers=2, progress=False, resume=notes) == here(folder)


@settings(max_examples=40)
@given(data=st.data())
def test_wherever_a_run_breaks_off_nothing_is_lost(tmp_path_factory, data):
    notes = tmp_path_factory.mktemp("run") / "notes.jsonl"
    whole = here(FILES, resume=notes)
    written = notes.read_bytes()
    head = written.index(b"\n") + 1
    cut = written[: data.draw(st.integers(head, len(written)))]
    notes.write_bytes(cut)
    lines = [line for line in cut.splitlines(keepends=True)[1:] if line.endswith(b"}\n")]
    kept = {json.loads(line).get("sha256") for line in lines}
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "einvoice.bulk.execution.worker.validate", lambda it, **options: seen.append(it) or einvoice.validate(it)
        )
        assert here(FILES, resume=notes) == whole
    assert seen == [it for it in FILES.values() if jsonl.sha256(it) not in kept]


def test_results_by_other_rules_or_of_something_else_are_left_alone(tmp_path):
    here(FILES, resume=tmp_path / "a.jsonl")
    before = (tmp_path / "a.jsonl").read_bytes()
    with pytest.raises(ValueError, match="other rules or options"):
        here(FILES, resume=tmp_path / "a.jsonl", profile="xrechnung")
    assert (tmp_path / "a.jsonl").read_bytes() == before
    (tmp_path / "b.txt").write_text("a letter to my aunt\n")
    with pytest.raises(ValueError, match="does not contain results"):
        here(FILES, resume=tmp_path / "b.txt")
    assert (tmp_path / "b.txt").read_text() == "a letter to my aunt\n"
    (tmp_path / "c.jsonl").write_text('{"einvoice_results": 2}\n')
    with pytest.raises(ValueError, match="version 2"):
        ResultSet.load(tmp_path / "c.jsonl")


SCRIPT = """
import hashlib, sys
import einvoice
from einvoice.bulk.execution import worker

validate_one = worker.validate

def logged(data, **options):
    with open(sys.argv[3], "ab", 0) as log:
        log.write(hashlib.sha256(data).hexdigest().encode() + b"\\n")
    return validate_one(data, **options)

worker.validate = logged  # in each worker, too: it imports this script

def run(**hands):
    print("begin", flush=True)
    results = einvoice.validate_many(sys.argv[1], resume=sys.argv[2], progress=False, **hands)
    print(results.complete, len(results), flush=True)

if __name__ == "__main__":
    if sys.argv[4] == "processes":
        run(workers=2)
    else:
        from distributed import Client, LocalCluster
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
            run(client=Client(cluster))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("how", "interrupt"), [("processes", os.killpg), ("dask", os.kill)])
def test_interrupted_at_half_no_file_is_judged_twice_and_none_is_lost(tmp_path, how, interrupt):
    """A terminal interrupts all processes, a notebook's button likewise; those of a cluster are elsewhere."""
    if how == "dask":
        pytest.importorskip("distributed")
    files = planted(2000)[0]
    folder = in_folder(tmp_path / "files", files)
    (tmp_path / "run.py").write_text(SCRIPT)
    notes, log = tmp_path / "notes.jsonl", tmp_path / "log"
    command = [sys.executable, *map(str, (tmp_path / "run.py", folder, notes, log)), how]
    # Whoever runs the tests in the background has this signal ignored, and passes that on.
    listening = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    options = {"stdout": subprocess.PIPE, "text": True, "start_new_session": True, "preexec_fn": listening}
    with subprocess.Popen(command, **options) as run:
        deadline = time.monotonic() + 120
        while not notes.exists() or notes.read_bytes().count(b"\n") < 1000:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        interrupt(run.pid, signal.SIGINT)
        said = run.communicate(timeout=60)[0].split()
    assert run.returncode == 0
    assert said[:2] == ["begin", "False"]
    assert 999 <= len(ResultSet.load(notes)) == int(said[2]) < 2000
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["begin", "True", "2000"]
    contents = [jsonl.sha256(data) for data in files.values()]
    assert len(set(contents)) == 2000
    assert sorted(log.read_text().split()) == sorted(contents)
    whole = ResultSet.load(notes)
    assert whole.complete
    assert list(whole) == list(here(folder))


def test_faults_are_all_in_the_files():
    assert {with_fault(code, UBL) for code in FAULTS} & {UBL} == set()
