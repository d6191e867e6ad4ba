"""Entry point of a worker process, started by `appliance.workers.process`. It runs one job at a time.

It receives its limits as arguments and its socket as standard input, and exits when the server closes the socket.
"""

import contextlib
import gc
import itertools
import logging
import os
import random
import re
import resource
import select
import shlex
import signal
import socket
import sys
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import einvoice
from appliance.observability import logs
from appliance.workers.environment import TEMPORARY_FOLDER
from appliance.workers.jobs import run_job
from appliance.workers.landlock import COMPLETE, confine
from appliance.workers.memory import collect_garbage, return_large_blocks
from appliance.workers.protocol import PREFIX_BYTES, Message
from appliance.workers.seccomp import deny_sockets

log = logging.getLogger("appliance.workers.worker")  # not `__name__`, which is "__main__"

ORPHAN_SECONDS = 5
"""Grace period after the time limit of a job. The server kills the worker first; an orphan ends itself by timer."""

OOM_SCORE = 500
"""Added to the score by which the system selects a process if memory is short, as if it used half of all memory."""

_SYSTEM = (
    "/bin",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/proc",
    "/sbin",
    "/sys",
    "/usr",
    "/var/cache/fontconfig",
)

SYSTEM_FOLDERS = ("/bin", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr", "/var/cache/fontconfig")
"""Programs, libraries, fonts and their settings, and the state of the system."""

GC_INTERVAL = 50
"""Number of jobs between two runs of the cyclic garbage collector, which does not run during a job."""

IDLE_SECONDS = 0.1
"""Time without a job after which the garbage collector runs."""


def main(seconds: float, megabytes: int, documents: int, log_level: str, *hidden: str) -> None:
    """Run jobs until the socket closes; request a replacement after about `documents` jobs.

    Args:
        seconds: time limit of a job.
        megabytes: memory limit.
        documents: number of jobs after which the worker should be replaced.
        log_level: minimum level to log.
        hidden: paths that the process must not open: the data folder, without its rules, and the key file.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logs.configure(log_level)
    _limit_memory(megabytes)
    _offer_to_be_killed()
    return_large_blocks()
    _warm_up()
    _confine(hidden)  # before it reads the first document; what it has compiled until now is stored for others
    connection = socket.socket(fileno=0)
    connection.sendall(Message({"ready": True}).pack())
    job_limit = round(documents * random.uniform(0.8, 1))  # workers started together are not replaced together
    for number in itertools.count(1):
        if not _run_next(connection, seconds, megabytes, last=number >= job_limit):
            return
        if not number % GC_INTERVAL or not _has_next(connection):
            collect_garbage()


def _run_next(connection: socket.socket, seconds: float, megabytes: int, last: bool) -> bool:
    """Run the next job; return False if the server closed the connection. Nothing of the job is kept."""
    job = _receive(connection)
    if job is None:
        return False
    signal.setitimer(signal.ITIMER_REAL, seconds + ORPHAN_SECONDS)
    outcome = run_job(job)
    signal.setitimer(signal.ITIMER_REAL, 0)
    retire = last or _has_used_much_memory(megabytes)
    connection.sendall(Message({**outcome.head, "retire": retire}, outcome.parts).pack())
    return True


def _has_next(connection: socket.socket) -> bool:
    """Return whether another job arrives soon. If none does, there is time to release the content of the last one."""
    return bool(select.select([connection], [], [], IDLE_SECONDS)[0])


def _limit_memory(megabytes: int) -> None:
    # RLIMIT_DATA, not RLIMIT_AS: Saxon, in a child process, reserves 32 GB of address space.
    for limit, value in ((resource.RLIMIT_DATA, megabytes << 20), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(limit, (value, value))


def _offer_to_be_killed() -> None:
    """Make the system kill this process or its children before the server if memory is short. See proc(5)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE), "ascii")


def _confine(hidden: Sequence[str]) -> None:
    """Let this process read what it may need only: not the data folder and the key file, but the rules in there.

    From now on, this process cannot write what a later worker would execute, such as compiled rules, and cannot open
    sockets.
    """
    names = ("EINVOICE_RULES_DIR", "EINVOICE_RULES_COPY", "EINVOICE_CACHE")
    needed = [*(os.environ.get(name) for name in names), *(f"{it}/rules" for it in hidden)]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "einvoice"
    visible = [*(Path(it) for it in needed if it), cache]
    temporary = os.environ.get(TEMPORARY_FOLDER)
    if temporary:
        tempfile.tempdir = temporary
    version = confine(_readable(), map(Path, hidden), visible, [Path(temporary)] if temporary else [])
    without_sockets = deny_sockets()
    if version < COMPLETE or not without_sockets:
        fields = {"landlock": version, "seccomp": without_sockets}
        log.info("The kernel confines workers in part only", extra={"fields": fields})


def _readable() -> set[Path]:
    """Return what this process and its children may read: programs, libraries, fonts, Python and its modules."""
    python = [sys.prefix, sys.base_prefix, *sys.path[1:]]  # the first is the working directory (`python -m`)
    packages = [str(files(name)) for name in ("appliance", "einvoice")]
    commands = shlex.split(os.environ.get("EINVOICE_VERAPDF", ""))[:1]
    folders = [*SYSTEM_FOLDERS, *python, *packages, *(str(Path(it).resolve().parent) for it in commands)]
    return {Path(it) for it in folders if it}


def _warm_up() -> None:
    """Run typical jobs once, so that lazy imports and caches do not delay the first request."""
    for sample in einvoice.samples().iterdir():
        head = {
            "job": "validate",
            "lang": "de",
            "mode": "current",
            "engine": "native",
            "causes_seconds": 1,
            "details": ["causes"],
        }
        run_job(Message(head, (sample.read_bytes(),)))
    draft = (files("appliance") / "workers" / "draft.json").read_bytes()  # lacks the buyer reference: a finding
    run_job(Message({"job": "generate", "lang": "de"}, (draft,)))
    gc.freeze()  # without a collection, which would take a tenth of the start to free a quarter of a megabyte
    gc.disable()


def _has_used_much_memory(megabytes: int) -> bool:
    """Return whether peak memory exceeded a quarter of the limit; the allocator returns little of it to the system."""
    limit = megabytes << 8
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss <= limit:
        return False
    # `ru_maxrss` is at least the peak, but inherited from the server, the parent process; VmHWM takes longer to read.
    peak = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    return peak is not None and int(peak[1]) > limit


def _receive(connection: socket.socket) -> Message | None:
    """Return the next job, or None if the server closed the connection."""
    prefix = _receive_exactly(connection, PREFIX_BYTES)
    if prefix is None:
        return None
    rest = _receive_exactly(connection, Message.length(prefix) - PREFIX_BYTES)
    return None if rest is None else Message.unpack(prefix + rest)


def _receive_exactly(connection: socket.socket, size: int) -> bytes | None:
    received = bytearray(size)
    view, position = memoryview(received), 0
    while position < size:
        count = connection.recv_into(view[position:])
        if not count:
            return None
        position += count
    return bytes(received)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
