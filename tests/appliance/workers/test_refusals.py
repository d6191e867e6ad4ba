"""A refused request leaves nothing: neither its upload nor an exception. The garbage collector does not run."""

import asyncio
import contextlib
import gc

import pytest

from appliance.access.keys import KeyFile, KeyRing
from appliance.app import create_app
from appliance.settings import Settings
from appliance.transport import uploads
from appliance.workers import pool
from appliance.workers.process import WorkerProcess
from appliance.workers.protocol import Message
from appliance.workers.slots import WorkerSlot
from tests.helpers.served import BATCH, GENERATE, VALIDATE

FORM = "multipart/form-data; boundary=b"
PART = b'--b\r\nContent-Disposition: form-data; name="%b"; filename="a.xml"\r\n\r\n<a/>\r\n'
ONE, SEVERAL, END = PART % b"file", PART % b"files" * 3, b"--b--\r\n"


class Connection:
    """The transport of a worker that never answers, or exits when it gets a job."""

    def __init__(self, process, exits):
        self._process, self._exits = process, exits

    def write(self, data):
        if self._exits:
            asyncio.get_running_loop().call_soon(self._process.connection_lost, None)

    def is_closing(self):
        return False

    def close(self):
        pass


def use_worker(monkeypatch, **behaviour):
    """Replace the workers: one that exits, never answers, is not there, or answers with this head."""

    async def run(slot, job, timeout):
        if "head" in behaviour:
            return Message(behaviour["head"])
        process = WorkerProcess(slot._settings)
        process.connection_made(Connection(process, behaviour.get("exits")))
        return await process.run(job)

    if not behaviour.get("missing"):
        monkeypatch.setattr(WorkerSlot, "run", run)


async def send(app, path, body, key, content_type=FORM, disconnects=False, stalls=False, query=b"", whole=False):
    """Send a request without a server, and return the status; if `whole`, all messages of the response."""
    headers = [(b"x-api-key", key.encode()), (b"content-type", content_type.encode())]
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": query}
    scope |= {"headers": headers, "scheme": "http", "server": ("x", 80), "client": ("127.0.0.1", 1), "root_path": ""}
    messages = [{"type": "http.request", "body": body, "more_body": disconnects}, {"type": "http.disconnect"}]
    sent = []

    async def receive():
        if stalls:
            await asyncio.sleep(60)
        return messages.pop(0)

    async def keep(message):
        sent.append(message)

    await app({**scope, "state": {}, "asgi": {"version": "3.0"}, "http_version": "1.1"}, receive, keep)
    if whole:
        return sent
    return sent[0]["status"] if sent else None


def kept():
    """Return the uploads, jobs and exceptions that are in memory."""
    kinds = (uploads.UploadedFile, uploads.Form, uploads._FormReader, Message, BaseException)
    return [each for each in gc.get_objects() if isinstance(each, kinds)]


WAITS = {"worker": {}, "settings": {"queue_seconds": 0.001}, "holds_worker": True}
CASES = {
    "queue full": {"path": VALIDATE, "status": 503, "settings": {"queue": 0}, "holds_queue": True},
    "wait": {"path": VALIDATE, "status": 503, **WAITS},
    "wait of a batch": {"path": BATCH, "body": SEVERAL + END, "status": 503, **WAITS},
    "wait of a draft": {"path": GENERATE, "body": b"{}", "content_type": "application/json", "status": 503, **WAITS},
    "no worker": {"worker": {"missing": True}, "status": 503, "settings": {"queue_seconds": 0.001}},
    "time limit": {"worker": {}, "status": 422, "settings": {"document_seconds": 0.001}},
    "worker exits": {"worker": {"exits": True}, "status": 503},
    "memory limit": {"worker": {"head": {"limit_exceeded": True, "retire": False}}, "status": 422},
    "internal error": {"worker": {"head": {"failed": True, "retire": False}}, "status": 500},
    "unreadable": {"worker": {"head": {"problem": {"status": 422}, "retire": False}}, "status": 422},
    "no form": {"content_type": "text/plain", "status": 422},
    "cut off": {"body": ONE, "status": 422},
    "two files": {"body": ONE + ONE + END, "status": 422},
    "no file": {"body": PART % b"other" + END, "status": 422},
    "mode": {"body": ONE + PART.replace(b'; filename="a.xml"', b"") % b"validation_mode" + END, "status": 422},
    "language": {"query": b"lang=xx", "status": 422},
    "size": {"body": ONE.replace(b"<a/>", b"<" * 70) + END, "status": 413},
    "slow": {"stalls": True, "settings": {"upload_seconds": 0.001}, "status": 408},
    "upload memory": {"no_memory": True, "status": 503},
    "disconnected": {"body": ONE, "disconnects": True, "status": None},
    "right": {"path": BATCH, "plan": "small", "status": 403},
    "daily limit": {"plan": "small", "status": 429},
}


@contextlib.asynccontextmanager
async def running(monkeypatch, tmp_path, case, plan="EINVOICE_PLAN_SMALL=can_use_api,daily_validation_limit=0"):
    """Yield a function that sends the request of a case once."""
    use_worker(monkeypatch, **case.get("worker", {}))
    keys = KeyFile(tmp_path / "keys.env")
    keys.path.write_text(f"{plan}\n")
    key = keys.add("acme", case.get("plan", "business"))
    settings = Settings(data=tmp_path, workers=1, artifacts="off", **case.get("settings", {}))
    pools = []
    monkeypatch.setattr("appliance.app.WorkerPool", lambda known: pools.append(pool.WorkerPool(known)) or pools[0])
    app = create_app(settings, KeyRing(keys.path, {}))
    async with contextlib.AsyncExitStack() as stack:
        if case.get("no_memory"):
            reservation = stack.enter_context(pools[0].reserve("acme"))
            reservation.add_bytes(pools[0].free_upload_bytes * 3 // 4)
        if case.get("holds_queue"):
            stack.enter_context(pools[0].reserve("acme", is_long=case.get("is_long", False)))
        if case.get("holds_worker"):
            await stack.enter_async_context(pools[0]._schedule.turn("acme", "validation", 1))
        names = ("content_type", "disconnects", "stalls", "query", "whole")
        further = {name: case[name] for name in names if name in case}
        yield lambda: send(app, case.get("path", VALIDATE), case.get("body", ONE + END), key, **further)


@pytest.mark.anyio
@pytest.mark.parametrize("times", [20, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CASES)
async def test_refused_upload_leaves_nothing(monkeypatch, tmp_path, name, times):
    monkeypatch.setattr(uploads, "MAX_FILE_BYTES", 64)
    monkeypatch.setattr("logging.Logger.isEnabledFor", lambda logger, level: False)  # pytest keeps the records
    case = CASES[name]
    async with running(monkeypatch, tmp_path, case) as request:
        assert await request() == case["status"]
        gc.collect()
        gc.disable()
        try:
            before = len(kept())
            for _ in range(times):
                await request()
            await asyncio.sleep(0.01)  # the last callbacks run
            assert len(kept()) <= before + 2
        finally:
            gc.enable()
