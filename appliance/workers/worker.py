"""A process that judges documents, one after the other, for the server that started it (`appliance.workers`).

It is given its limits as arguments and one end of a socket pair as standard input, and ends when that is closed.
"""

import gc
import itertools
import json
import random
import re
import resource
import signal
import socket
import sys
from importlib.resources import files
from pathlib import Path

import einvoice
from appliance import jobs, logs
from appliance.wire import HEAD_BYTES, Message

ORPHAN_SECONDS = 5
"""The server ends a process that takes too long; so much later, one whose server has gone ends itself."""

COLLECT_EVERY = 50
"""Rubbish that refers to itself is collected after so many documents, between two of them."""


def main(seconds: float, megabytes: int, documents: int, log_level: str) -> None:
    """Do the jobs that come; after about so many `documents` say that a successor is wanted."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logs.set_up(log_level)
    _limit(megabytes)
    _warm_up()
    connection = socket.socket(fileno=0)
    connection.sendall(Message({"ready": True}).pack())
    share = round(documents * random.uniform(0.8, 1))  # processes that started together do not end together
    for number in itertools.count(1):
        job = _receive(connection)
        if job is None:
            return
        signal.setitimer(signal.ITIMER_REAL, seconds + ORPHAN_SECONDS)
        outcome = jobs.do(job)
        signal.setitimer(signal.ITIMER_REAL, 0)
        spent = number >= share or _is_bloated(megabytes)
        connection.sendall(Message({**outcome.head, "spent": spent}, outcome.parts).pack())
        if not number % COLLECT_EVERY:
            gc.collect()


def _limit(megabytes: int) -> None:
    # Not address space: Saxon, which runs in a process below this one, reserves 32 GB of that.
    for limit, most in ((resource.RLIMIT_DATA, megabytes << 20), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(limit, (most, most))


def _warm_up() -> None:
    """Judge a document of each kind, and one with a finding, so that no caller waits for what is loaded only once."""
    for sample in (files("appliance") / "samples").iterdir():
        jobs.do(
            Message({"do": "validate", "lang": "de", "mode": "current", "engine": "native"}, (sample.read_bytes(),))
        )
    draft = einvoice.draft_schema()["examples"][0]
    del draft["buyer_reference"]
    jobs.do(Message({"do": "generate", "lang": "de"}, (json.dumps(draft).encode(),)))
    gc.collect()
    gc.freeze()
    gc.disable()


def _is_bloated(megabytes: int) -> bool:
    """Whether the process has ever held a quarter of its memory: little of that goes back to the system."""
    # Not `ru_maxrss`: that begins with what the server holds, who started this process.
    held = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    return held is not None and int(held[1]) > megabytes << 8


def _receive(connection: socket.socket) -> Message | None:
    """The next job; None when the server has gone."""
    start = _exactly(connection, HEAD_BYTES)
    if start is None:
        return None
    rest = _exactly(connection, Message.length(start) - HEAD_BYTES)
    return None if rest is None else Message.unpack(start + rest)


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    received = bytearray(size)
    view, at = memoryview(received), 0
    while at < size:
        count = connection.recv_into(view[at:])
        if not count:
            return None
        at += count
    return bytes(received)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
