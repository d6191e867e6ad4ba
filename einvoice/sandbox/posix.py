"""Sandbox processes on Linux and macOS: resource limits, and a lifeline that ends the child with its parent.

    parent ──connection──> child: runs `main` of a module, which serves requests on the connection
           ──lifeline────>        carries no data; Linux kills the child when it breaks

On macOS, a broken lifeline is ignored: an idle child ends with its connection, a busy one at its time limit. Memory
is not bounded there, since the system refuses or ignores such limits.

Modules and constants that Windows lacks are used within functions only, so that this module can be imported everywhere.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import socket
    import subprocess

_HAS_MEMORY_LIMITS: Final = sys.platform != "darwin"

BOUNDED: Final = ("time", "processor_time", "file_size", "one_document", *(["memory"] if _HAS_MEMORY_LIMITS else []))
"""What is bounded; see `einvoice.reference.Engines`."""


def launch(script: str) -> tuple[subprocess.Popen[bytes], list[socket.socket]]:
    """Start Python with a script that calls `attach(*sys.argv[1:])`; return it and what to close to end it.

    The first of these is the parent's end of the connection.

    Raises:
        OSError: the process cannot be started.
    """
    import socket
    import subprocess

    connection, child_connection = socket.socketpair()
    lifeline, child_lifeline = socket.socketpair()
    with child_connection, child_lifeline:
        try:
            process = subprocess.Popen(
                [sys.executable, "-c", script, str(child_lifeline.fileno())],
                stdin=child_connection.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # libraries print errors there, with text of the document
                pass_fds=[child_lifeline.fileno()],
                start_new_session=True,  # Ctrl-C in a terminal reaches the parent only
            )
        except BaseException:
            connection.close()
            lifeline.close()
            raise
    return process, [connection, lifeline]


def hand_over(control: socket.socket, message: bytes, connection: socket.socket, _pid: int) -> None:
    """Send a byte, and a connection for the process at the other end of `control`."""
    import socket

    socket.send_fds(control, [message], [connection.fileno()])


# ---------------------------------------------------------------- in the child


def attach(lifeline: str) -> socket.socket:
    """Tie this process to its lifeline, and return its end of the connection.

    The lifeline breaks when the parent stops this process or exits for any reason. The system then sends a signal,
    which ends this process even within a long call of a C library.
    """
    import fcntl
    import socket

    descriptor = int(lifeline)
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(descriptor, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_ASYNC)
    return socket.socket(fileno=0)


def take_over(control: socket.socket) -> tuple[bytes, socket.socket] | None:
    """Return what `hand_over` sent; None when `control` is closed."""
    import socket

    message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    return (message, socket.socket(fileno=descriptors[0])) if message else None


def set_limits(*, address_space: int | None = None, data: int | None = None, processor: int | None = None) -> None:
    """Set the resource limits of this process; writing files and core dumps is always forbidden.

    A lower limit that was inherited from the parent stays in force.

    Args:
        address_space: maximum address space (bytes); not on macOS.
        data: maximum data segment (bytes), for programs that reserve more than they use; not on macOS.
        processor: maximum processor time (seconds).
    """
    import resource

    limits = {resource.RLIMIT_CPU: processor, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_CORE: 0}
    if _HAS_MEMORY_LIMITS:
        limits |= {resource.RLIMIT_AS: address_space, resource.RLIMIT_DATA: data}
    for limit, amount in limits.items():
        if amount is not None:
            inherited = resource.getrlimit(limit)[1]
            lower = amount if inherited == resource.RLIM_INFINITY else min(amount, inherited)
            resource.setrlimit(limit, (lower, lower))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


def alarm(seconds: int) -> None:
    """Let the system end this process in so many seconds, which replaces an earlier alarm; 0 cancels it."""
    signal.alarm(seconds)


def peak_memory() -> int:
    """Return the peak memory of this process (bytes); on Linux, `ru_maxrss` is inherited from its parent."""
    import resource

    try:
        status = Path("/proc/self/status").read_text("ascii")
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB elsewhere
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    return int(found[1]) << 10 if found else 0
