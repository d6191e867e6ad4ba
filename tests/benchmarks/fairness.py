"""Measures how one hostile key affects the others: `python -m tests.benchmarks.fairness [WAY…]`.

Eight keys use a server with two workers. Seven validate a document of 6 kB each, again and again. The eighth sends
requests that take much time or memory, over nine connections. Prints for each way the latency of the seven, their
answers other than 200, and the ratio to the latency without the eighth.
"""

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event as Stopped
from pathlib import Path

import httpx

import einvoice
from tests.helpers.served import BATCH, CII, DRAFT, GENERATE, UBL, VALIDATE, Server, serving

HOSTILE_CONNECTIONS = 9
PAUSE = 0.05
"""Seconds between two requests of a key that is not hostile."""

_LINE = UBL[UBL.index(b"<cac:InvoiceLine>") : UBL.index(b"</cac:InvoiceLine>") + len(b"</cac:InvoiceLine>")]


def _with(content: bytes) -> bytes:
    return UBL.replace(b"</Invoice>", content + b"</Invoice>")


def _lines(number: int) -> bytes:
    return UBL.replace(_LINE, _LINE * number)


def _file(document: bytes, **fields: str) -> dict[str, object]:
    return {"url": VALIDATE, "files": {"file": document}, "data": fields}


def _files(document: bytes) -> dict[str, object]:
    return {"url": BATCH, "files": [("files", document)] * 10}


def _draft(**changes: object) -> dict[str, object]:
    return _json(json.dumps({**DRAFT, **changes}).encode())  # once: the load takes time from the server otherwise


def _json(content: bytes) -> dict[str, object]:
    return {"url": GENERATE, "content": content, "headers": {"content-type": "application/json"}}


def _hybrid() -> bytes:
    """Return a small PDF with an invoice of 200,000 empty lines."""
    start = CII.index(b"<ram:IncludedSupplyChainTradeLineItem>")
    end = CII.index(b"<ram:ApplicableHeaderTradeAgreement>")
    document = CII[:start] + b"<ram:IncludedSupplyChainTradeLineItem/>" * 200_000 + CII[end:]
    return einvoice.embed(einvoice.invoice_pdf(einvoice.read(CII)), document).pdf


WAYS: dict[str, Callable[[], dict[str, object]]] = {
    "6 kB": lambda: _file(UBL),
    "reference engine, 4,500 lines": lambda: _file(_lines(4_500), engine="reference"),
    "12,000 lines": lambda: _file(_lines(12_000)),
    "480,000 empty elements": lambda: _file(_with(b"<a/>" * 480_000)),
    "400,000 empty lines": lambda: _file(_with(b"<cac:InvoiceLine/>" * 400_000)),
    "128 kB of empty lines": lambda: _file(_with(b"<cac:InvoiceLine/>" * 6_500)),
    "PDF with 200,000 empty lines": lambda: _file(_hybrid()),
    "batches of 100 MB": lambda: _files(UBL + b" " * 10_000_000),
    "ZUGFERD name of 5 MB": lambda: _draft(format="ZUGFERD", seller={**DRAFT["seller"], "name": "x y" * 1_700_000}),
    "draft of zeros, 2 MB": lambda: _draft(lines=[0] * 1_000_000),
    "draft of zeros, 10 MB": lambda: _draft(lines=[0] * 3_400_000),
    "nested draft": lambda: _json(b"[" * 10_000_000),
    "causes": lambda: {**_file(_lines(2_000).replace(b">693.00<", b">693.01<")), "params": {"causes": "true"}},
}


class Measured:
    """Durations in seconds, and the number of other answers than 200 by status."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.others = Counter[int]()

    def at(self, part: float) -> float:
        """Return a quantile."""
        return sorted(self.seconds)[int(len(self.seconds) * part)]

    def add(self, other: "Measured") -> None:
        """Add what was measured elsewhere."""
        self.seconds += other.seconds
        self.others += other.others


def _repeat(base: httpx.URL, key: dict[str, str], request: dict[str, object], stopped: Stopped) -> Measured:
    done = Measured()
    with httpx.Client(base_url=base, headers=key, timeout=300) as client:
        while not stopped.is_set():
            started = time.perf_counter()
            response = client.request("POST", **request)
            done.seconds.append(time.perf_counter() - started)
            if response.status_code != 200:
                done.others[response.status_code] += 1
            stopped.wait(PAUSE)
    return done


def _send(base: httpx.URL, keys: Sequence[dict[str, str]], name: str, stopped: Stopped, queue: Queue) -> None:
    """Repeat a request with each key until stopped, in a process of its own, and report what was measured."""
    request, total = WAYS[name](), Measured()
    with ThreadPoolExecutor(len(keys)) as threads:
        for done in threads.map(lambda key: _repeat(base, key, request, stopped), keys):
            total.add(done)
    queue.put(total)


def measure(server: Server, name: str, seconds: float) -> tuple[Measured, Measured]:
    """Return what the seven keys and the hostile one measured."""
    context = multiprocessing.get_context("spawn")
    stopped, own, others = context.Event(), context.Queue(), context.Queue()
    hostile = [server.add_key("hostile", "hostile")] * HOSTILE_CONNECTIONS
    keys = [server.add_key(f"key-{number}") for number in range(7)]
    groups = [(keys, "6 kB", own), *([(hostile, name, others)] if name != "6 kB" else [])]
    senders = [context.Process(target=_send, args=(server.base, who, what, stopped, to)) for who, what, to in groups]
    for sender in senders:
        sender.start()
    time.sleep(seconds)
    stopped.set()
    found = own.get(), others.get() if len(senders) > 1 else Measured()
    for sender in senders:
        sender.join()
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ways", nargs="*", help=f"ways to attack, of: {', '.join(WAYS)}; default: all")
    parser.add_argument("--seconds", type=float, default=30, help="seconds for each way")
    options = parser.parse_args()
    print("| way | requests | p50, ms | p99, ms | longest, ms | p99, ratio | refused | hostile |")
    print("|---|---:|---:|---:|---:|---:|---|---|")
    base = 0.0
    for name in ["6 kB", *(options.ways or list(WAYS)[1:])]:
        with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "data", workers=2, metrics=1) as server:
            server.add_plan("EINVOICE_PLAN_HOSTILE=can_use_api,can_batch,can_generate_invoice,can_use_reference")
            server.client.get("/api/external/errors/catalog", timeout=300)
            own, hostile = measure(server, name, options.seconds)
        base = base or own.at(0.99)
        figures = [f"{own.at(part) * 1000:.0f}" for part in (0.5, 0.99, 0.9999)]
        row = [name, len(own.seconds), *figures, f"{own.at(0.99) / base:.1f}", dict(own.others) or "none"]
        print(*("", *row, f"{len(hostile.seconds)} {dict(hostile.others)}", ""), sep=" | ", flush=True)


if __name__ == "__main__":
    sys.exit(main())
