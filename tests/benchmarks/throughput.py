"""Compare the HTTP service of this checkout with that of another one: processor time a request, requests a second.

    .venv/bin/python -m tests.benchmarks.throughput OTHER-CHECKOUT
    .venv/bin/python -m tests.benchmarks.throughput OTHER-CHECKOUT --rounds 30 --file invoice.xml

Both servers run at the same time and are measured in turns; the one that is not measured is idle. A ratio is the median
of the ratios of the turns. The other checkout needs its own `.venv` (see `tests/run` there).
"""

from __future__ import annotations

import argparse
import os
import re
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psutil

from tests.helpers.paths import ROOT

SAMPLE = ROOT / "einvoice" / "sample_invoices" / "xrechnung-ubl.xml"
CONNECTIONS = 4
START_SECONDS = 60
BOUNDARY = "boundary"


class Measured(NamedTuple):
    """Processor time a request in ms, of the server and of its workers, and requests a second."""

    server: float
    workers: float
    per_second: float


class Service:
    """A running service, and the request that it is asked to answer."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, request: bytes) -> None:
        self._process = psutil.Process(process.pid)
        self._port = port
        self._request = request

    def measure(self, count: int) -> Measured:
        """Send requests on several connections."""
        each = count // CONNECTIONS
        before, started = self._times(), time.perf_counter()
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(self._send, [each] * CONNECTIONS))
        seconds = time.perf_counter() - started
        server, workers = (1000 * (b - a) / each / CONNECTIONS for a, b in zip(before, self._times(), strict=True))
        return Measured(server, workers, each * CONNECTIONS / seconds)

    def _times(self) -> tuple[float, float]:
        """Return the processor time of the server and of its workers, in seconds."""
        own, *others = (it.cpu_times() for it in (self._process, *self._process.children(recursive=True)))
        return own.user + own.system, sum(it.user + it.system for it in others)

    def _send(self, count: int) -> None:
        with socket.create_connection(("127.0.0.1", self._port)) as connection:
            answers = connection.makefile("rb")
            for _ in range(count):
                connection.sendall(self._request)
                status = answers.readline()
                head = b"".join(iter(answers.readline, b"\r\n"))
                body = answers.read(int(re.search(rb"(?i)content-length: (\d+)", head)[1]))
                assert b" 200 " in status and b'"is_valid":true' in body, status + body  # noqa: PT018


@contextmanager
def serving(root: Path, document: bytes, workers: int) -> Iterator[Service]:
    """Run the service of a checkout with a new key."""
    command = root / ".venv" / "bin" / "einvoice-appliance"
    with tempfile.TemporaryDirectory() as data, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        own = {"EINVOICE_DATA": data, "EINVOICE_PORT": str(port), "EINVOICE_WORKERS": str(workers)}
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "EINVOICE"))}
        options = {"cwd": root, "env": environ | own}
        added = subprocess.run([command, "keys", "add", "bench"], check=True, stdout=subprocess.PIPE, **options)
        key = re.search(rb"ei_\S+", added.stdout)[0]
        with subprocess.Popen([command, "serve"], stderr=subprocess.DEVNULL, **options) as process:
            try:
                wait_for(port)
                yield Service(process, port, request(document, key))
            finally:
                process.terminate()


def wait_for(port: int) -> None:
    """Wait until a server listens on a port."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise TimeoutError(f"no server on port {port}")


def request(document: bytes, key: bytes) -> bytes:
    """Return a request as curl sends it."""
    head = 'Content-Disposition: form-data; name="file"; filename="invoice.xml"\r\nContent-Type: application/xml'
    form = f"--{BOUNDARY}\r\n{head}\r\n\r\n".encode() + document + f"\r\n--{BOUNDARY}--\r\n".encode()
    lines = [
        b"POST /api/external/validate?lang=en HTTP/1.1",
        b"Host: 127.0.0.1",
        b"X-API-Key: " + key,
        b"User-Agent: curl/8.0",
        b"Accept: */*",
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}".encode(),
        f"Content-Length: {len(form)}".encode(),
    ]
    return b"\r\n".join((*lines, b"", form))


def compare(other: Service, own: Service, rounds: int, count: int) -> list[tuple[Measured, Measured]]:
    """Measure both in turns, and exchange their order each time."""
    turns = []
    for number in range(rounds):
        if number % 2:
            turns.append((other.measure(count), own.measure(count)))
        else:
            turns.append(tuple(it.measure(count) for it in (own, other))[::-1])
    return turns


def table(turns: Sequence[tuple[Measured, Measured]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield "| | other | own | ratio | minima |\n|---|---:|---:|---:|---:|"
    rows = {
        "server, ms": lambda it: it.server,
        "workers, ms": lambda it: it.workers,
        "both, ms": lambda it: it.server + it.workers,
        "s per 1000 requests": lambda it: 1000 / it.per_second,
    }
    for name, figure in rows.items():
        pairs = [(figure(other), figure(own)) for other, own in turns]
        other, own = (median(it) for it in zip(*pairs, strict=True))
        least_other, least_own = (min(it) for it in zip(*pairs, strict=True))
        ratio = median(other / own for other, own in pairs)
        yield f"| {name} | {other:.3f} | {own:.3f} | {ratio:.2f} | {least_other / least_own:.2f} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("other", type=Path, help="folder of the other checkout")
    parser.add_argument("--file", type=Path, default=SAMPLE, help="valid invoice to send")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="worker processes of each server")
    parser.add_argument("--rounds", type=int, default=20, help="number of turns")
    parser.add_argument("--requests", type=int, default=600, help="requests a turn")
    options = parser.parse_args()
    document = options.file.read_bytes()
    with ExitStack() as stack:
        roots = (options.other.resolve(), ROOT)
        services = [stack.enter_context(serving(root, document, options.workers)) for root in roots]
        for service in services:
            service.measure(options.requests)  # warm up
        print(*table(compare(*services, options.rounds, options.requests)), sep="\n")


if __name__ == "__main__":
    main()
