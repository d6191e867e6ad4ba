"""Load for the soak tests: documents with known verdicts, hostile documents, and faults."""

import contextlib
import os
import random
import signal
import statistics
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

import httpx

from tests.helpers.served import BATCH, CII, UBL, VALIDATE, WRONG

HOSTILE_SHARE = 0.01
CONNECTIONS = 8
KILL_SECONDS = 60
SAMPLE_SECONDS = 2

GOOD = {"UBL": (UBL, True), "CII": (CII, True), "BR-CO-10": (WRONG, False)}
"""Documents and whether they are valid."""


def _in_invoice(content):
    return UBL.replace(b"</Invoice>", content + b"</Invoice>")


HOSTILE = {
    "entities": b'<!DOCTYPE a [<!ENTITY b "b"><!ENTITY c "&b;&b;">]><a>&c;</a>',
    "200,000 attributes": _in_invoice(b"<x " + b" ".join(b'a%d=""' % n for n in range(200_000)) + b"/>"),
    "namespace of a megabyte": _in_invoice(b"<x xmlns='" + b"n" * 1_000_000 + b"'/>"),
    "depth": _in_invoice(b"<x>" * 1_000 + b"</x>" * 1_000),
    "20,000 lines": _in_invoice(b"<cac:InvoiceLine/>" * 20_000),
    "20,000 names": _in_invoice(b"".join(b"<n%d/>" % n for n in range(20_000))),
    "no XML": b"\0" * 1_000_000,
    "10 MB": b"<a>" + b" " * 10_000_000,
    "damaged PDF": b"%PDF-1.7\n" + b"1 0 obj << /Length 9999999999 >> stream\n" * 1_000,
}


class Load:
    """Sends requests until stopped, and compares the answers.

    Attributes:
        wrong: answers with another verdict than expected.
        lost: requests without an answer.
        statuses: number of answers by status and kind of document.
    """

    def __init__(self, server):
        self.wrong, self.lost = [], []
        self.statuses = Counter()
        self._server = server
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._send, args=(number,)) for number in range(CONNECTIONS)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error):
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _send(self, number):
        draw = random.Random(number)
        with httpx.Client(base_url=self._server.base, headers=self._server.client.headers, timeout=120) as client:
            while not self._stopped.is_set():
                name = ""
                try:
                    if draw.random() < HOSTILE_SHARE:
                        name = draw.choice(list(HOSTILE))
                        self._count("hostile", client.post(VALIDATE, files={"file": HOSTILE[name]}).status_code)
                    elif draw.random() < 0.1:
                        name = "batch"
                        self._check_batch(client.post(BATCH, files=[("files", it) for it, _ in GOOD.values()]))
                    else:
                        name = draw.choice(list(GOOD))
                        self._check(name, client.post(VALIDATE, files={"file": GOOD[name][0]}))
                except httpx.HTTPError as error:
                    self.lost.append((name, repr(error)))

    def _count(self, kind, status):
        self.statuses[kind, status] += 1

    def _check(self, name, response):
        self._count("good", response.status_code)
        if response.status_code == 200:
            self._compare(name, response.json())

    def _check_batch(self, response):
        self._count("batch", response.status_code)
        if response.status_code == 200:
            for name, item in zip(GOOD, response.json()["items"], strict=True):
                if [error["code"] for error in item["errors"]] != ["FILE-WORKER"]:
                    self._compare(name, item)

    def _compare(self, name, result):
        if result["is_valid"] is not GOOD[name][1]:
            self.wrong.append((name, result))


class MemoryLog:
    """Records the resident memory of a server and its workers, in megabytes, until stopped.

    Attributes:
        samples: (seconds since the start, server, workers).
    """

    def __init__(self, server):
        self.samples = []
        self._server = server
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._record)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._stopped.set()
        self._thread.join()

    def _record(self):
        started = time.monotonic()
        while not self._stopped.wait(SAMPLE_SECONDS):
            workers = sum(map(_resident_megabytes, self._server.workers()))
            server = _resident_megabytes(self._server.process.pid)
            self.samples.append((time.monotonic() - started, server, workers))

    def median(self, start, end):
        """Return the median of all memory between two moments; a hostile document needs much for a few seconds."""
        return statistics.median(server + workers for moment, server, workers in self.samples if start <= moment < end)


def _resident_megabytes(pid):
    """Return the resident memory of a process; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        return 0


def kill_worker(server):
    """Kill a worker, if there is one."""
    for worker in server.workers()[:1]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


@contextlib.contextmanager
def small_volume(folder, megabytes=64):
    """Mount a small file system at a folder; yield whether that is permitted on this machine."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    mounted = subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def keep_full(folder, seconds):
    """Fill the file system of a folder, and all space that becomes free in it, for some seconds."""
    end = time.monotonic() + seconds
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                while file.write(b"\0" * 4_096):
                    pass
            time.sleep(0.1)
    filler.unlink()


def at(seconds, started):
    """Wait until `seconds` after the start."""
    time.sleep(max(0, started + seconds - time.monotonic()))
