"""Measure the tables of many results: processor time, and peak memory beyond that of the loaded results.

Each file has eight findings and three lines. Each step runs in a process of its own, on results that were stored.

    .venv/bin/python -m tests.benchmarks.result_tables FOLDER --make 50000     # 0.3 GB
    .venv/bin/python -m tests.benchmarks.result_tables FOLDER                  # all steps
    .venv/bin/python -m tests.benchmarks.result_tables FOLDER to_csv:lines     # some of them
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

import einvoice
from tests.benchmarks.many import ResourceMonitor
from tests.helpers.corpora import UBL, numbered, with_error

FAULTS = {
    b'unitCode="C62"': b'unitCode="Stueck"',
    b"<cbc:IdentificationCode>DE<": b"<cbc:IdentificationCode>GER<",
    b">58</cbc:PaymentMeansCode>": b">999</cbc:PaymentMeansCode>",
    b"<cbc:ElectronicMail>": b"<cbc:ElectronicMail>at ",
}
TABLES = ("findings", "files", "lines", "vat")
STEPS = ("compare", *(f"{how}:{which}" for which in TABLES for how in ("to_frame", "to_csv", "to_excel")))
STORED = "results.jsonl"


def generate(folder: Path, count: int) -> None:
    """Write ``count`` invoices, a thousand per folder."""
    faulty = with_error("BR-DE-15", with_error("BR-CO-10", UBL))
    for right, wrong in FAULTS.items():
        assert right in faulty, right
        faulty = faulty.replace(right, wrong)
    for number in range(count):
        path = folder / f"{number // 1000:03}" / f"{number:06}.xml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(numbered(number, faulty))


def measure(folder: Path, step: str) -> str:
    """Run a step on the stored results; return a row of the table."""
    results = einvoice.ResultSet.load(folder / STORED, files=folder)
    results._reading = results._reading._replace(workers=0, progress=False)
    monitor = ResourceMonitor()
    monitor.sample()
    before = monitor.own
    monitor.start()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        size = run(results, step, Path(place, "table"))
    seconds = time.perf_counter() - started
    monitor.stop()
    peak = (max(monitor.own, psutil.Process().memory_full_info().uss) - before) / 2**20
    return f"| `{step}` | {seconds:.1f} | {monitor.seconds_here:.1f} | {peak:.0f} | {size} |"


def run(results: einvoice.ResultSet, step: str, path: Path) -> str:
    """Run a step; return the size of what it makes."""
    how, _, which = step.partition(":")
    if how == "compare":
        return f"{len(results.compare(results.select_findings(ignore=['BR-CL-14'])).new)} new"
    if how == "to_frame":
        return f"{len(results.to_frame(which))} rows"
    if how == "to_csv":
        results.to_csv(path, which)
    else:
        results.to_excel(path, [which])
    return f"{path.stat().st_size / 2**20:.0f} MB"


def main() -> None:
    """Generate files or measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("steps", nargs="*", help=f"of {', '.join(STEPS)} (default: all)")
    parser.add_argument("--make", type=int, help="only generate and validate this number of files")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        generate(options.folder, options.make)
        results = einvoice.validate_many(options.folder, progress=False)
        results.save(options.folder / STORED)
        print(f"{len(results)} files, {sum(it['errors'] + it.get('warnings', 0) for it in results.records())} findings")
        return
    if options.step:
        print(measure(options.folder, options.step), flush=True)
        return
    print("| step | s | s of processor time | MB | result |\n|---|---:|---:|---:|---:|", flush=True)
    for step in options.steps or STEPS:
        command = [sys.executable, "-m", "tests.benchmarks.result_tables", str(options.folder), "--step", step]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
