"""Many files: whatever they come in, the same verdicts, in order, and nothing raised about a file."""

import io
import logging
import os
import sys
import tarfile
import types
import zipfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pandas as pd
import pytest
from corpora import CII, FAULTS, UBL, in_folder, numbered, planted, with_fault

import einvoice
from einvoice.bulk.execution import executors
from einvoice.bulk.execution.worker import Options
from einvoice.bulk.record import MAX_FINDINGS, VERDICTS, decode

FILES, CODES = planted(150)


def here(source, **options):
    return einvoice.validate_many(source, workers=0, progress=False, **options)


def names(results):
    return [file.file for file in results]


@pytest.fixture(scope="module")
def single():
    """What each file is by itself."""

    def verdict(data):
        try:
            return "valid" if einvoice.validate(data).is_valid else "invalid"
        except einvoice.UnreadableDocument:
            return "unreadable"

    return {name: verdict(data) for name, data in FILES.items()}


@pytest.fixture(scope="module")
def results():
    return einvoice.validate_many(FILES, workers=2, progress=False)


def test_planted_faults_are_found_where_they_are_and_nowhere_else(results):
    assert set(CODES.values()) == set(FAULTS)
    found = {file.file: {finding.code for finding in file.findings} for file in results if file.errors}
    assert found == {name: {code} for name, code in CODES.items()}


def test_verdicts_are_those_of_each_file_by_itself_in_order(results, single):
    assert [(file.file, file.verdict) for file in results] == list(single.items())
    assert {verdict: list(single.values()).count(verdict) for verdict in VERDICTS} == results.verdicts


def test_one_process_several_and_threads_say_the_same(results):
    assert here(FILES) == results
    with ThreadPoolExecutor(3) as threads:
        assert einvoice.validate_many(FILES, executor=threads, progress=False) == results
        assert threads.submit(int).result() == 0  # it is not shut down


def test_findings_are_those_of_the_file_by_itself(results):
    for name in CODES:
        if results[name].verdict == "invalid":
            alone = einvoice.validate(FILES[name])
            assert results[name].findings == alone.findings
            for kept, own in zip(results[name].findings, alone.findings, strict=True):
                assert kept.to_dict("en") == own.to_dict("en")


@pytest.mark.parametrize("data", [UBL, CII])
def test_facts_are_those_of_the_invoice(data):
    (file,) = here([("a.xml", data)])
    invoice = einvoice.read(data)
    assert (file.seller, file.seller_vat) == (invoice.seller.name.text, invoice.seller.vat_identifier.text)
    assert (file.buyer, file.number, file.currency) == (invoice.buyer.name.text, invoice.number.text, "EUR")
    assert file.date == invoice.issue_date.date.isoformat()
    assert (file.net, file.vat, file.gross) == (
        invoice.totals.net.number,
        invoice.vat_total.number,
        invoice.totals.gross.number,
    )
    assert (file.profile, file.version) == ("XRechnung", "3.0")


# ---------------------------------------------------------------- where files come from


def test_a_folder_is_searched_for_invoices(tmp_path):
    in_folder(tmp_path, FILES | {"0/readme.txt": b"x", ".git/a.xml": b"x", "0/.b.xml": b"x", "Z.XML": UBL})
    results = here(tmp_path)
    assert names(results) == ["Z.XML", *sorted(FILES)]
    assert names(here(str(tmp_path / "1"))) == [name[2:] for name in sorted(FILES) if name.startswith("1/")]


def test_a_pattern_finds_what_it_matches(tmp_path, monkeypatch):
    in_folder(tmp_path, FILES)
    assert names(here(f"{tmp_path}/[01]/*.xml")) == [name for name in sorted(FILES) if name[0] in "01"]
    assert names(here(f"{tmp_path}/**/*.xml")) == sorted(FILES)
    monkeypatch.chdir(tmp_path)
    assert names(here("2/0*.xml")) == [name[2:] for name in sorted(FILES) if name[0] == "2"]
    assert len(here("2/*.pdf")) == 0


def test_a_list_of_paths_keeps_its_order_and_no_folders_of_the_machine(tmp_path):
    in_folder(tmp_path, FILES)
    chosen = list(FILES)[7:0:-1]
    paths = [tmp_path / name for name in chosen]
    assert names(here(paths)) == chosen
    assert names(here(pd.Series(map(str, paths), index=range(5, 12)))) == chosen
    assert names(here(paths[0])) == [Path(chosen[0]).name]


def test_a_column_of_bytes_is_named_by_its_index():
    column = pd.Series([UBL, None, CII], index=["a", "b", "c"])
    assert [(file.file, file.verdict) for file in here(column)] == [("a", "valid"), ("b", "unreadable"), ("c", "valid")]


def test_pairs_may_come_from_an_iterator_of_any_length():
    pairs = iter([("a.xml", UBL), ("b.xml", memoryview(CII)), ("c.xml", "nowhere.xml")])
    assert [file.verdict for file in here(pairs)] == ["valid", "valid", "unreadable"]


def zipped(path, files, **options):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def tarred(path, files, mode):
    with tarfile.open(path, mode) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


OTHERS = {"readme.txt": b"x", "__MACOSX/a.xml": b"x", ".hidden/a.xml": b"x"}


def test_archives_give_what_the_files_alone_give(tmp_path, results):
    assert here(zipped(tmp_path / "a.zip", FILES | OTHERS)) == results
    for mode in ("w:", "w:gz", "w:bz2", "w:xz"):
        archive = here(tarred(tmp_path / "a.bin", FILES | OTHERS, mode))
        assert archive == results
    dotted = {f"./{name}": data for name, data in FILES.items()}
    assert here(tarred(tmp_path / "dotted.tgz", dotted, "w:gz")) == results


def test_a_full_result_can_be_had_from_every_source(tmp_path):
    name = next(name for name, code in CODES.items() if code == "BR-CO-10")
    sources = [FILES, zipped(tmp_path / "a.zip", FILES), in_folder(tmp_path / "files", FILES)]
    for results in [*map(here, sources), here(tarred(tmp_path / "a.tgz", FILES, "w:gz"))]:
        assert [finding.code for finding in results.result(name).findings] == ["BR-CO-10"]
    loose = here(iter(FILES.items()))
    with pytest.raises(LookupError, match="no longer available"):
        loose.result(name)
    assert loose.result(name, FILES[name]).invoice == einvoice.read(FILES[name])
    with pytest.raises(ValueError, match="has changed"):
        loose.result(name, UBL)


@pytest.mark.parametrize("source", [b"<xml/>", 7, None, pd.DataFrame({"path": []}), [7], [("a",)]])
def test_what_is_no_source_is_refused(source):
    with pytest.raises(TypeError):
        here(source)


@pytest.mark.parametrize("options", [{"lang": "fr"}, {"mode": "x"}, {"profile": "x"}, {"ruleset": "x"}])
def test_wrong_options_are_refused_before_anything_begins(options):
    with pytest.raises(ValueError, match="not"):
        here(FILES, **options)
    with pytest.raises(ValueError, match="'workers' must be 0"):
        einvoice.validate_many(FILES, workers=-1)
    with pytest.raises(ValueError, match="mutually exclusive"):
        einvoice.validate_many(FILES, workers=1, client=object())
    with pytest.raises(FileNotFoundError):
        here("no/such/folder")


# ---------------------------------------------------------------- what cannot be read


def test_whatever_is_wrong_with_a_file_is_a_row(tmp_path):
    in_folder(tmp_path, {"empty.xml": b"", "text.xml": b"hello", "cut.xml": UBL[:2000], "large.xml": b" " * 10_485_761})
    (tmp_path / "folder.xml").mkdir()
    (tmp_path / "gone.xml").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.xml")
    paths = [tmp_path / name for name in ("folder.xml", "gone.xml", "pipe.xml", "a\0b.xml", "x" * 300)]
    found = {file.file: file.findings[0].code for file in here([*paths, *tmp_path.glob("[ectl]*.xml")])}
    assert found == {
        "folder.xml": "FILE-OPEN",
        "gone.xml": "FILE-OPEN",
        "pipe.xml": "FILE-OPEN",
        "a\0b.xml": "FILE-OPEN",
        "x" * 300: "FILE-OPEN",
        "empty.xml": "FILE-EMPTY",
        "text.xml": "FILE-FORMAT",
        "cut.xml": "FILE-XML-END",
        "large.xml": "FILE-SIZE",
    }


def test_names_that_are_no_utf_8_can_be_written_down(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.xml"
    with open(path, "wb") as file:  # noqa: PTH123 (a name as bytes)
        file.write(UBL)
    results = here(tmp_path)
    assert names(results) == ["\\xff.xml"]
    assert results.is_valid
    assert results.result("\\xff.xml").is_valid


def test_a_mistake_of_ours_costs_one_file_its_verdict(monkeypatch):
    def broken(data, **options):
        if data == CII:
            raise RecursionError
        return einvoice.validate(data, **options)

    monkeypatch.setattr("einvoice.bulk.execution.worker.validate", broken)
    results = here([("a", UBL), ("b", CII), ("c", UBL)])
    assert [file.verdict for file in results] == ["valid", "unreadable", "valid"]
    assert results["b"].findings[0].code == "FILE-WORKER"
    assert "RecursionError" in results["b"].findings[0].explanation("en")


def test_so_many_findings_are_kept_and_all_are_counted():
    line = UBL[UBL.index(b"<cac:InvoiceLine>") : UBL.index(b"</cac:InvoiceLine>") + 18]
    bare = line.replace(b"<cbc:Name>", b"<!--").replace(b"</cbc:Name>", b"-->")
    (file,) = here([("a", UBL.replace(line, bare * (MAX_FINDINGS + 50), 1))])
    assert len(file.findings) == MAX_FINDINGS
    assert file.errors > MAX_FINDINGS + 49


# ---------------------------------------------------------------- archives that want too much


def test_a_file_of_zeros_without_end_costs_no_more_than_the_limit(tmp_path):
    huge = b"\0" * 60_000_000
    packed = zipped(tmp_path / "a.zip", {"a.xml": huge, "b.xml": UBL})
    assert packed.stat().st_size < 100_000
    for path in (packed, tarred(tmp_path / "a.tgz", {"a.xml": huge, "b.xml": UBL}, "w:gz")):
        results = here(path)
        assert results["a.xml"].findings[0].code == "FILE-SIZE"
        assert results["b.xml"].is_valid


def test_a_header_that_wants_the_memory_is_refused(tmp_path):
    long_name = tarfile.TarInfo("././@LongLink")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 2_000_000_000
    tail = b"\0" * 1024
    (tmp_path / "a.tar").write_bytes(long_name.tobuf(tarfile.GNU_FORMAT) + tail)
    (only,) = here(tmp_path / "a.tar")
    assert only.findings[0].code == "FILE-ARCHIVE"
    assert "header" in only.findings[0].explanation("en")


@pytest.mark.parametrize("packing", ["zip", "tar"])
def test_an_archive_is_left_where_its_budget_is_through(tmp_path, monkeypatch, packing):
    monkeypatch.setattr("einvoice.bulk.files.archive.MAX_FILES", 3)
    files = {f"{number}.xml": numbered(number) for number in range(6)}
    path = zipped(tmp_path / "a", files) if packing == "zip" else tarred(tmp_path / "a", files, "w:gz")
    results = here(path)
    assert [file.verdict for file in results] == ["valid"] * 3 + ["unreadable"]
    assert "more than 3 files" in results[3].findings[0].explanation("en")
    monkeypatch.setattr("einvoice.bulk.files.archive.MAX_FILES", 100)
    monkeypatch.setattr("einvoice.bulk.files.archive.MAX_BYTES", 4 * len(UBL))
    shorter = here(path)
    assert 2 <= shorter.verdicts["valid"] <= 4
    assert shorter[-1].findings[0].code == "FILE-ARCHIVE"


def test_what_is_damaged_in_an_archive_is_a_row(tmp_path):
    data = bytearray(zipped(tmp_path / "a.zip", {"a.xml": UBL, "b.xml": CII}).read_bytes())
    data[60] ^= 0xFF
    (tmp_path / "a.zip").write_bytes(data)
    assert [file.verdict for file in here(tmp_path / "a.zip")] == ["unreadable", "valid"]
    cut = tarred(tmp_path / "a.tgz", {"a.xml": UBL, "b.xml": CII}, "w:gz").read_bytes()
    (tmp_path / "a.tgz").write_bytes(cut[: len(cut) * 2 // 3])
    assert here(tmp_path / "a.tgz")[-1].findings[0].code == "FILE-ARCHIVE"
    (tmp_path / "b.zip").write_bytes(b"PK\x03\x04" + bytes(100))
    assert [file.findings[0].code for file in here(tmp_path / "b.zip")] == ["FILE-ARCHIVE"]


def test_links_and_devices_in_an_archive_are_passed_over(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        link = tarfile.TarInfo("a.xml")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        info = tarfile.TarInfo("../../b.xml")
        info.size = len(UBL)
        archive.addfile(info, io.BytesIO(UBL))
    assert names(here(tmp_path / "a.tar")) == ["../../b.xml"]  # a name, and no place to write to
    assert not (tmp_path.parent.parent / "b.xml").exists()


# ---------------------------------------------------------------- processes


class Deadly(type(Path())):
    """A file that ends the process that looks for it."""

    def exists(self):
        os._exit(9)


@pytest.mark.slow
def test_a_file_that_kills_its_process_is_a_row_and_costs_the_others_nothing():
    items = [executors.Item(name, data) for name, data in FILES.items()]
    items[70] = executors.Item("deadly.xml", Deadly("deadly.xml"))
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
def test_an_executor_of_processes_that_the_caller_has_judges():
    items = [executors.Item("a.xml", UBL)]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        rows = [row for rows in executors.Pooled(pool, 1, Options()).rows(items) for row in rows]
        assert [row.verdict for row in rows] == ["valid"]


@pytest.mark.slow
def test_a_worker_of_somebody_else_that_dies_costs_files_their_verdict_and_nothing_is_lost():
    items = [executors.Item(str(number), UBL) for number in range(400)]
    items[100] = executors.Item("100", Deadly("deadly.xml"))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        rows = [row for rows in executors.Pooled(pool, 1, Options()).rows(items) for row in rows]
    told = [decode(row.line) for row in rows]
    assert [file.file for file in told] == [item.name for item in items]
    assert {file.verdict for file in told[:64]} == {"valid"}
    assert {file.verdict for file in told[64:]} == {"unreadable"}  # such an executor is broken for good
    assert {file.findings[0].code for file in told[64:]} == {"FILE-WORKER"}
    assert not any(row.reusable for row in rows[64:])  # to be judged when the run is resumed


@pytest.mark.slow
def test_where_a_worker_of_dask_dies_only_its_file_has_no_verdict():
    distributed = pytest.importorskip("distributed")
    import dask

    items = [executors.Item(str(number), UBL) for number in range(200)]
    items[100] = executors.Item("100", Deadly("deadly.xml"))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = executors.create_executor(None, client, None, Options())
        told = [decode(row.line) for rows in executor.rows(items) for row in rows]
    assert [file.file for file in told] == [item.name for item in items]
    assert [file.file for file in told if not file.is_valid] == ["100"]
    assert told[100].findings[0].code == "FILE-WORKER"


def test_an_executor_that_is_shut_down_is_refused():
    with ThreadPoolExecutor(1) as threads:
        pass
    with pytest.raises(RuntimeError, match="after shutdown"):
        einvoice.validate_many(FILES, executor=threads, progress=False)


def test_no_more_is_under_way_than_the_bound():
    taken = 0

    def source():
        nonlocal taken
        for number in range(2000):
            taken += 1
            yield executors.Item(f"{number}.xml", b"")

    with ThreadPoolExecutor(1) as threads:
        done = 0
        for rows in executors.Pooled(threads, 1, Options()).rows(source()):
            assert taken - done <= (executors.PENDING_BATCHES + 1) * executors.BATCH_FILES
            done += len(rows)
    assert done == 2000


def test_a_batch_ends_where_its_content_is_large():
    large = [executors.Item(str(number), bytes(executors.BATCH_BYTES // 2)) for number in range(5)]
    assert [len(batch) for batch in executors.batches(large)] == [2, 2, 1]
    assert [len(batch) for batch in executors.batches([executors.Item("", Path())] * 130)] == [64, 64, 2]


@pytest.mark.slow
def test_dask_gives_the_same_results(results):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert einvoice.validate_many(FILES, client=client, progress=False) == results


def test_the_bar_counts_files_and_is_no_must(monkeypatch):
    shown = []

    class Bar:
        def __init__(self, total, **_):
            shown.append(total)

        def set_postfix(self, invalid, refresh):
            shown.append(invalid)

        def update(self, number):
            shown.append(number)

        def close(self):
            shown.append("closed")

    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace())
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    pairs = [("a", UBL), ("b", with_fault("BR-CO-10", UBL))]
    einvoice.validate_many(pairs, workers=0)
    assert shown == [2, 0, 1, 1, 1, "closed"]
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert len(einvoice.validate_many(pairs, workers=0)) == 2


def test_workers_judge_by_the_release_that_the_environment_asks_for(monkeypatch):
    monkeypatch.setenv("EINVOICE_RULESET", "xrechnung-2.0.1")
    pinned = einvoice.validate_many(FILES, workers=1, progress=False)
    assert pinned == here(FILES)
    monkeypatch.delenv("EINVOICE_RULESET")
    assert pinned != here(FILES)
    monkeypatch.setenv("EINVOICE_RULESET", "x")
    with pytest.raises(ValueError, match="EINVOICE_RULESET"):
        here(FILES)
