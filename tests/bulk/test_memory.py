"""Memory of results and of their files, in bytes of Python objects per file: the same on every machine."""

import gc
import tracemalloc
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from einvoice.bulk import jsonl
from einvoice.bulk.execution.worker import Options
from einvoice.bulk.files.items import Items
from einvoice.bulk.files.sources import corpus
from einvoice.bulk.record import encode
from einvoice.cli.batch.sources import files_of
from tests.helpers.corpora import validate_serially, write_files
from tests.helpers.extras import POSIX

COUNT = 2048
FILES = {f"{number // 1000:03}/{number:06}.xml": b"" for number in range(COUNT)}
"""Empty files: their records are small and take little time."""
_TABLE = 100_000
"""Larger objects are not counted: the interpreter's table of interned strings, which pathlib uses, grows any time."""


class Memory:
    """Memory that a block of code leaves behind, per file."""

    bytes = 0.0


@contextmanager
def measured():
    memory = Memory()
    gc.freeze()  # the collection below looks at new objects only; those of other tests take it a second
    tracemalloc.start()
    try:
        yield memory
        gc.collect()
        # Abstract classes remember the classes that were tested, of all packages that happen to be loaded.
        kept = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(False, "<frozen abc>")])
        sizes = [trace.size for trace in kept.traces]
    finally:
        tracemalloc.stop()
        gc.unfreeze()
    memory.bytes = sum(size for size in sizes if size < _TABLE) / COUNT


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("in"), FILES)


@pytest.mark.slow
def test_results_of_small_records(folder):
    validate_serially(folder / "000" / "000000.xml")  # loads rules and catalog
    with measured() as memory:
        results = validate_serially(folder)
    assert [file.file for file in results] == list(FILES)
    assert memory.bytes < 50


SOURCES = {
    "folder": lambda folder: folder,
    "pattern": lambda folder: f"{folder}/*/*.xml",
    "list": lambda folder: [str(folder / name) for name in FILES],
    "iterator": lambda folder: (folder / name for name in FILES),
    "pairs": lambda folder: [(name, str(folder / name)) for name in FILES],
}


@pytest.mark.parametrize("way", SOURCES)
def test_paths_are_not_kept_as_objects(folder, way):
    source = SOURCES[way](folder)
    with measured() as memory:
        files = corpus(source)
        first = next(iter(files.items))
    assert first == (next(iter(FILES)), str(folder / next(iter(FILES))))
    assert list(files.items) == [(name, str(folder / name)) for name in FILES]
    assert memory.bytes < 20


def test_records_of_an_earlier_run(tmp_path):
    settings = jsonl.run_settings(Options())
    record = {"seller": "Muster GmbH" * 40, "verdict": "valid"}
    lines = [encode({"file": name, "sha256": jsonl.sha256(name.encode())} | record) for name in FILES]
    jsonl.write(tmp_path / "a.jsonl", settings, lines)
    log = jsonl.ResultLog(tmp_path / "a.jsonl", Options())
    with measured() as memory:
        log.open()
    log.close()
    assert [log.find(name.encode()) for name in FILES] == lines
    assert log.find(b"unknown") is None
    assert memory.bytes < 250  # the records alone: 570


@POSIX
def test_a_path_is_a_path_whatever_its_characters():
    paths = [Path(f"{number}\udcff\n ü\u2028\0.xml") for number in range(300)]
    items = corpus(paths).items
    assert [item.content for item in items] == [str(path) for path in paths]
    assert items[299] == items[-1] == list(items)[-1] == items.find(items[299].name)
    assert items[:2] == list(items)[:2]
    assert items[1].name == "1\\xff\n ü\u2028\0.xml"


def test_contents_that_are_no_paths_are_kept():
    items = Items(corpus([("a.xml", b"1"), "b.xml", ("c.xml", None)]).items)
    assert [item.name for item in items] == list(items.names()) == ["a.xml", "b.xml", "c.xml"]
    assert items[0].content == b"1"
    assert items[1].content == "b.xml"
    assert items[2].content is items[-1].content
    assert items.find("d.xml") is None


def test_archives_of_the_command_line_are_unpacked_file_by_file(tmp_path):
    size = 1_000_000
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(8):
            archive.writestr(f"{number}.xml", bytes(size))
    for arguments in ([f"{tmp_path}/a.zip"], [f"{tmp_path}/a.zip", f"{tmp_path}/./a.zip"]):
        tracemalloc.start()
        try:
            sizes = [len(item.content) for item in files_of(arguments).items]
            assert tracemalloc.get_traced_memory()[1] < 6 * size
        finally:
            tracemalloc.stop()
        assert sizes == 8 * [size]
