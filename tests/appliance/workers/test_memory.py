"""Documents leave memory with the response."""

import asyncio
import contextlib
import gc
import json
import re
import secrets
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from multipart import PushMultipartParser

from appliance.contract.problems import Problem
from appliance.transport.uploads import SINGLE_FILE, read_form
from appliance.workers.erasure import overwrite_receive_buffer
from tests.helpers.served import UBL, serving
from tests.helpers.waiting import wait_until


def _mapped(pid):
    """Yield the writable memory of a process."""
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            addresses, permissions, *_ = line.split()
            start, end = (int(address, 16) for address in addresses.split("-"))
            if permissions.startswith("rw"):
                with contextlib.suppress(OSError, OverflowError):
                    memory.seek(start)
                    yield memory.read(end - start)


def _copies(pid, mark):
    try:
        return sum(part.count(mark) for part in _mapped(pid))
    except PermissionError:
        pytest.skip("the memory of other processes cannot be read")


def _peak(pid):
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) / 1024


@pytest.fixture(scope="module")
def roomy(tmp_path_factory):
    settings = {"upload_megabytes": 2000, "worker_idle_seconds": 5}
    with serving(tmp_path_factory.mktemp("roomy") / "data", workers=1, **settings) as server:
        server.client.get("/api/external/errors/catalog")
        yield server


@pytest.mark.slow
def test_batches_in_a_row_take_no_more_memory_than_one(roomy):
    batch = [(f"{number}.xml", UBL + b" " * 9_000_000) for number in range(10)]
    assert roomy.batch(*batch).status_code == 200
    one = _peak(roomy.process.pid)
    for _ in range(2):
        assert roomy.batch(*batch).status_code == 200
    assert _peak(roomy.process.pid) - one < 30


@pytest.mark.slow
@pytest.mark.parametrize("readable", [True, False])
def test_content_is_gone_after_the_response(roomy, readable):
    """A document is full of marks; fragments of 2 KB may be left in the server a moment later, none in workers."""
    mark = secrets.token_hex(16).encode()
    document = UBL if readable else UBL[:-20]
    marked = (b"<!--" + mark + b" " * 16_000 + b"-->") * 250
    assert roomy.batch(("a.xml", document + marked)).status_code == 200
    used = roomy.workers()
    wait_until(lambda: roomy.workers() and not set(used) & set(roomy.workers()))
    assert sum(_copies(pid, mark) for pid in roomy.workers()) == 0
    wait_until(lambda: _copies(roomy.process.pid, mark) * len(mark) <= 2048)


@pytest.mark.anyio
async def test_receive_buffer_is_overwritten():
    """Two documents arrive at the same time; the connection that overwrites the buffer leaves them alone."""
    received = []

    class Receiver(asyncio.Protocol):
        def data_received(self, data):
            received.append(data)

    ours, theirs = socket.socketpair()
    with theirs:
        await asyncio.get_running_loop().create_connection(Receiver, sock=ours)
        theirs.sendall(b"a")
        await overwrite_receive_buffer()
        theirs.sendall(b"b")
        while b"".join(received) != b"ab":
            await asyncio.sleep(0)


NEEDS_MUCH_MEMORY = """
import json, subprocess, sys
from appliance.workers.worker import _has_used_much_memory
if sys.argv[1:]:
    print(json.dumps(_has_used_much_memory(800)))
else:
    content = b"x" * 300_000_000
    child = subprocess.run([sys.executable, "-c", sys.stdin.read(), "child"], capture_output=True, check=True)
    print(json.dumps([_has_used_much_memory(800), json.loads(child.stdout)]))
"""


@pytest.mark.slow
def test_worker_knows_its_own_peak_memory():
    """More than a quarter of the limit is much; what the parent process used does not count."""
    command = [sys.executable, "-c", NEEDS_MUCH_MEMORY]
    done = subprocess.run(command, input=NEEDS_MUCH_MEMORY.encode(), capture_output=True, check=True, timeout=60)
    assert json.loads(done.stdout) == [True, False]


COMPLETE = b"\r\n--b--\r\n"
CUT_OFF = b""
SECOND_FILE = b'\r\n--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n'


@pytest.mark.anyio
@pytest.mark.parametrize("end", [COMPLETE, CUT_OFF, SECOND_FILE])
async def test_form_leaves_nothing_for_the_garbage_collector(end):
    """A parser that is left holds the content of its form."""

    async def stream():
        yield b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx' + end

    gc.collect()
    gc.disable()
    try:
        with contextlib.suppress(Problem):
            await read_form(stream(), "multipart/form-data; boundary=b", SINGLE_FILE, seconds=5)
        assert not any(isinstance(each, PushMultipartParser) for each in gc.get_objects())
    finally:
        gc.enable()
