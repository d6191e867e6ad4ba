"""A server process for tests, requests, and assertions about responses."""

import os
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import httpx

from appliance.access.keys import KeyFile
from appliance.contract.schemas import ProblemDetails
from tests.helpers.paths import ROOT
from tests.helpers.waiting import SECONDS, wait_until

SAMPLES = ROOT / "einvoice" / "sample_invoices"
UBL = (SAMPLES / "xrechnung-ubl.xml").read_bytes()
CII = (SAMPLES / "xrechnung-cii.xml").read_bytes()
WRONG = UBL.replace(b">693.00</cbc:LineExtensionAmount>", b">692.99</cbc:LineExtensionAmount>")
"""Breaks BR-CO-10."""

API = "/api/external"
VALIDATE, BATCH, GENERATE = f"{API}/validate", f"{API}/validate/batch", f"{API}/generate"
DRAFT = {
    "invoice_number": "R-1",
    "issue_date": "2026-11-20",
    "due_date": "2026-12-20",
    "service_date": "2026-11-18",
    "format": "UBL",
    "buyer_reference": "04011000-12345-34",
    "seller": {
        "name": "Muster GmbH",
        "street": "Weg 1",
        "postal_code": "10115",
        "city": "Berlin",
        "country_code": "DE",
    },
    "buyer": {"name": "Amt", "street": "Markt 2", "postal_code": "20095", "city": "Hamburg", "country_code": "DE"},
    "payment": {"iban": "DE02120300000000202051", "payment_means_code": "58", "payment_reference": "R-1"},
    "lines": [
        {
            "line_id": "1",
            "name": "Beratung",
            "quantity": "2",
            "unit_code": "HUR",
            "unit_price": "100.00",
            "tax_category": "S",
            "tax_rate": "19.00",
        }
    ],
}
DRAFT["seller"]["tax_id"] = "DE123456789"  # type: ignore[index]


http = SimpleNamespace(
    **{name: partial(getattr(httpx, name), timeout=SECONDS) for name in ("get", "head", "options", "post", "request")}
)
"""The functions of httpx that open a connection for each request; their limit of 5 s is too short on a busy machine."""


def declaring(declared: str | None, document: bytes = UBL) -> bytes:
    """Return an invoice that declares a version of XRechnung ("2.3"), any other identifier, or none (None)."""
    kosit = "urn:xeinkauf.de:kosit:" if declared == "3.0" else "urn:xoev-de:kosit:standard:"
    known = re.fullmatch(r"\d\.\d", declared or "")
    identifier = f"urn:cen.eu:en16931:2017#compliant#{kosit}xrechnung_{declared}" if known else declared
    place = rb"<cbc:CustomizationID>.*?</cbc:CustomizationID>"
    if b"CrossIndustryInvoice" in document:
        name = rb"ram:GuidelineSpecifiedDocumentContextParameter"
        place = rb"<%b>.*?</%b>" % (name, name)
    (element,) = re.findall(place, document, re.DOTALL)
    changed = b"" if identifier is None else re.sub(rb"urn:cen.eu:[^<]*", identifier.encode(), element)
    return document.replace(element, changed)


@contextmanager
def running(data: Path, *command: str | Path, **settings: object) -> Iterator[list[str]]:
    """Start the appliance as `appliance/run` does, and yield the arguments of the printed request."""
    with _started(data, command, settings) as (call, _):
        yield call


@contextmanager
def _started(
    data: Path, command: tuple[str | Path, ...] = (), settings: dict[str, object] | None = None
) -> Iterator[tuple[list[str], subprocess.Popen[str]]]:
    command = (*(command or (sys.executable, "-m", "appliance", "serve", "--try-out")), "--port", "0")
    given = {f"EINVOICE_{name.upper()}": str(value) for name, value in (settings or {}).items()}
    # Tests count and stop workers, however long they take; an idle one is replaced after a while otherwise.
    environ = {**os.environ, "EINVOICE_WORKER_IDLE_SECONDS": "3600", "EINVOICE_DATA": str(data), **given}
    log = data.with_suffix(".log")
    with log.open("w") as stderr:
        process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=stderr, text=True)
    try:
        assert process.stdout is not None
        printed = next((line for line in process.stdout if line.strip().startswith("curl ")), None)
        assert printed, f"no request was printed: {log.read_text()}"
        yield shlex.split(printed), process
    finally:
        process.terminate()
        try:
            process.communicate(timeout=SECONDS)
        finally:
            process.kill()
            process.communicate()


def key_in(call: list[str]) -> str:
    return call[call.index("-H") + 1].removeprefix("X-API-Key: ")


@dataclass
class Server:
    """A running server, and a client with a key of the plan `business`."""

    client: httpx.Client
    url: httpx.URL
    base: httpx.URL
    data: Path
    call: list[str]
    process: "subprocess.Popen[str]"

    def add_key(self, name: str, plan: str = "business") -> dict[str, str]:
        """Return the header with a new key."""
        return {"X-API-Key": KeyFile(self.data / "keys.env").add(name, plan)}

    def add_plan(self, line: str) -> None:
        """Append a plan to the key file."""
        with (self.data / "keys.env").open("a") as file:
            file.write(f"{line}\n")

    def with_plan(self, line: str) -> "Server":
        """Return this server with a client whose key has a plan of its own, defined by its entitlements and limits."""
        name = f"own{(self.data / 'keys.env').read_text().count('EINVOICE_PLAN_OWN')}"
        self.add_plan(f"EINVOICE_PLAN_{name.upper()}={line}")
        client = httpx.Client(base_url=self.base, headers=self.add_key(name, name), timeout=SECONDS)
        return replace(self, client=client)

    def validate(self, content: bytes = UBL, *, lang: str | None = None, **fields: str) -> httpx.Response:
        query = {"lang": lang} if lang else {}
        return self.client.post(VALIDATE, params=query, files={"file": ("invoice.xml", content)}, data=fields)

    def batch(self, *files: tuple[str, bytes], lang: str = "en", **fields: str) -> httpx.Response:
        sent = [("files", file) for file in files]
        return self.client.post(BATCH, params={"lang": lang}, files=sent, data=fields)

    def generate(self, draft: object = DRAFT, lang: str = "en", **changes: object) -> httpx.Response:
        return self.client.post(GENERATE, params={"lang": lang}, json={**draft, **changes})  # type: ignore[dict-item]

    def workers(self) -> list[int]:
        """Return the process identifiers of the workers."""
        pids = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                command = (folder / "cmdline").read_bytes().split(b"\0")
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == self.process.pid and b"appliance.workers.worker" in command:
                pids.append(int(folder.name))
        return pids

    def log(self) -> str:
        return self.data.with_suffix(".log").read_text()

    def wait_until_ready(self) -> None:
        wait_until(lambda: self.client.get("/readyz").status_code == 200, self.log)

    def wait_for_metric(self, metric: str) -> None:
        """Wait for a line of the metrics; requires ``metrics=1``."""
        wait_until(lambda: f"\n{metric}\n" in self.client.get("/metrics").text, self.log)

    def wait_until_running(self, kind: str = "validation") -> None:
        """Wait until a worker processes a document; requires ``metrics=1``."""
        self.wait_for_metric(f'einvoice_documents_running{{kind="{kind}"}} 1.0')


@contextmanager
def serving(data: Path, **settings: object) -> Iterator[Server]:
    """Start a server with these settings."""
    with _started(data, settings=settings) as (call, process):
        url = httpx.URL(call[-1])
        base = url.copy_with(path="/", query=None)
        with httpx.Client(base_url=base, headers={"X-API-Key": key_in(call)}, timeout=SECONDS) as client:
            server = Server(client, url, base, data, call, process)
            server.wait_until_ready()
            yield server


class RedisServer:
    """A Redis server that keeps nothing on the disk: empty after each start.

    Attributes:
        url: address of its socket.
        process: the process of the last start.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._socket = folder / "redis.sock"
        self.url = f"unix://{self._socket}"

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        settings = ["--port", "0", "--unixsocket", self._socket, "--dir", self._folder, "--save", "", "--appendonly"]
        settings += ["no", "--maxmemory", "16mb", "--maxmemory-policy", "noeviction"]
        self.process = subprocess.Popen(["redis-server", *map(str, settings)], stdout=subprocess.DEVNULL)
        while not self._accepts():
            assert self.process.poll() is None, "redis-server exited"
            time.sleep(0.01)

    def _accepts(self) -> bool:
        """Whether somebody listens: the file of the socket appears a moment before."""
        with socket.socket(socket.AF_UNIX) as client:
            return client.connect_ex(str(self._socket)) == 0

    def stop(self) -> None:
        """End the process, which removes its socket."""
        self.process.terminate()
        self.process.wait(timeout=20)


def assert_problem(response: httpx.Response, status: int, code: str) -> ProblemDetails:
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    problem = ProblemDetails.model_validate(response.json())
    assert (problem.status, problem.code) == (status, code)
    assert problem.type.endswith(code)
    assert problem.title
    assert problem.detail
    return problem
