"""What fits into the memory of the container: number of workers, memory limit of a worker, memory for uploads.

The server needs `SERVER`, and uploads what `EINVOICE_UPLOAD_MEGABYTES` allows. Each worker needs `QUICK` for small
documents. Large ones run on all workers but one, which may take `EINVOICE_WORKER_MEGABYTES` each. All in megabytes.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

SERVER: Final = 110
QUICK: Final = 116
"""Memory of a worker that validates small documents, and of a copy of a document on its way to it."""

MIN_WORKER: Final = 200
MAX_WORKER: Final = 2048
MIN_UPLOADS: Final = 136
"""Enough for a batch of ten files of 10 MB, which gets three quarters (`appliance.workers.shares`)."""
MAX_UPLOADS: Final = 512


def default_workers() -> int:
    """Return the number of processors available to this process, or fewer workers if memory is short."""
    known = hasattr(os, "sched_getaffinity")
    processors = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
    fitting = [it for it in range(1, processors + 1) if needed(it, MIN_WORKER, MIN_UPLOADS) <= memory()]
    return max(fitting, default=1)


def default_uploads() -> int:
    """Return the memory for uploads: an eighth of all."""
    return min(max(memory() // 8, MIN_UPLOADS), MAX_UPLOADS)


def default_worker(workers: int, uploads: int) -> int:
    """Return the memory limit of a worker, so that all that run large documents may reach it; a twentieth is left."""
    left = memory() * 19 // 20 - needed(workers, QUICK, uploads)
    return min(max(left // _long(workers) + QUICK, MIN_WORKER), MAX_WORKER)


def needed(workers: int, worker: int, uploads: int) -> int:
    """Return the memory needed if each limit is reached."""
    return SERVER + uploads + workers * QUICK + _long(workers) * (worker - QUICK)


def check(workers: int, worker: int, uploads: int) -> None:
    """Raise ValueError if the memory does not suffice for these settings."""
    if (total := needed(workers, worker, uploads)) > memory():
        raise ValueError(
            f"the settings need {total} MB of memory, but there are {memory()} MB: lower EINVOICE_WORKERS ({workers}), "
            f"EINVOICE_WORKER_MEGABYTES ({worker}) or EINVOICE_UPLOAD_MEGABYTES ({uploads}), or leave them out to use "
            f"what fits; at least {needed(1, MIN_WORKER, MIN_UPLOADS)} MB are needed"
        )


def memory(proc: Path = Path("/proc"), mounted: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the memory of this machine or container in megabytes.

    Args:
        proc: where the file system proc is mounted.
        mounted: where control groups are mounted.
    """
    limits = [*_numbers(proc / "meminfo", "MemTotal:", 1024), *_limits(proc, mounted)]
    return min(limits, default=MAX_WORKER << 20) >> 20


def oom_kills(proc: Path = Path("/proc"), mounted: Path = Path("/sys/fs/cgroup")) -> int:
    """Return how many processes of this container the system has killed for lack of memory."""
    for folder in _groups(proc, mounted):
        for name in ("memory.events", "memory.oom_control"):
            if found := list(_numbers(folder / name, "oom_kill ", 1)):
                return found[0]
    return 0


def _limits(proc: Path, mounted: Path) -> Iterator[int]:
    """Yield the limits of the control group and of those around it; a group without a limit has "max"."""
    for folder in _groups(proc, mounted):
        for name in ("memory.max", "memory.limit_in_bytes"):
            yield from _numbers(folder / name, "", 1)


def _groups(proc: Path, mounted: Path) -> Iterator[Path]:
    """Yield the folders of the control group for memory and of those around it, version 2 and 1, innermost first.

    A container sees its own group as the root, whatever the path says.
    """
    for line in _lines(proc / "self" / "cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory"):
            root = mounted / controllers
            inner = root / path.strip("/")
            yield from (it for it in (inner, *inner.parents) if it.is_relative_to(root))


def _numbers(path: Path, prefix: str, unit: int) -> Iterator[int]:
    """Yield the numbers, in a unit, of the lines of a file that begin with `prefix`."""
    for line in _lines(path):
        number = line.removeprefix(prefix).split()[:1] if line.startswith(prefix) else []
        yield from (int(it) * unit for it in number if it.isdecimal())


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("ascii").splitlines()
    except (OSError, ValueError):
        return []


def _long(workers: int) -> int:
    """Return the number of workers that run large documents (`appliance.workers.schedule`)."""
    return max(1, workers - 1)
