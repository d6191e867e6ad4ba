"""Whether another program still writes a file: its state, and who has it open.

Linux tells that a file is open for writing by refusing a lease on it (fcntl(2), F_SETLEASE); elsewhere, and on network
file systems, only a change of its size or time shows it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from pathlib import Path
from typing import NamedTuple


class State(NamedTuple):
    """Size and time of the last change of a file, in nanoseconds."""

    size: int
    changed: int


def state(path: Path) -> State:
    """Return the state of a file."""
    found = path.stat()
    return State(found.st_size, found.st_mtime_ns)


def can_tell(folder: Path) -> bool:
    """Return whether `is_open` is right in a folder, about a file that nobody writes; some file systems refuse all."""
    path = folder / f".{os.getpid()}.lease"
    path.touch()
    try:
        return not is_open(path)
    finally:
        path.unlink()


if sys.platform == "linux":
    import fcntl

    def is_open(path: Path) -> bool:
        """Return whether a program on this machine has a file open for writing; False if that cannot be known."""
        try:
            with path.open("rb") as file:
                # One who opens the file now waits until the lease ends; the default signal would end this program.
                fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)
                fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
                with contextlib.suppress(OSError):
                    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        except OSError as error:
            return error.errno == errno.EAGAIN
        return False

else:

    def is_open(path: Path) -> bool:
        """Return False: it cannot be known."""
        return False
