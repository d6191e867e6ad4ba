"""A child process for untrusted work: started on first use, terminated with its parent.

    parent ──connection──> child: runs `main` of a module, which serves requests on the connection
           ──lifeline────>        carries no data; the system kills the child when it breaks

The first half of this module runs in the parent, the second half in the child.

`multiprocessing` is not used: it imports the main script again, which fails for scripts without a main guard.
"""

from __future__ import annotations

import atexit
import os
import resource
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import socket
    import subprocess

_SCRIPT: Final = (
    "import sys; sys.path[:] = {path!a}; from einvoice.sandbox.process import attach; from {module} import main; "
    "main(attach({lifeline}), *{arguments})"
)


class SandboxProcess:
    """A child process that starts on first use and restarts after it exits.

    Threads use it one at a time. After a fork the parent keeps the process; the child starts its own on first use.
    Instances are meant to live as long as the program.

    Attributes:
        sessions: number of sessions of the running process.
    """

    def __init__(self, module: str, *arguments: int) -> None:
        """Prepare the process without starting it.

        Args:
            module: name of the module whose `main` is called with the child's end of the connection, a socket.
            arguments: further arguments of `main`.
        """
        self._module = module
        self._arguments = arguments
        self._lock = threading.RLock()
        self._sockets: list[socket.socket] = []  # the parent's ends of the connection and of the lifeline
        self._process: subprocess.Popen[bytes] | None = None
        self.sessions = 0
        atexit.register(self.stop)
        os.register_at_fork(after_in_child=self._reset_after_fork)

    @property
    def pid(self) -> int | None:
        """Process id; None if no process is running."""
        return self._process.pid if self._process else None

    @contextmanager
    def session(self, timeout: float = -1) -> Iterator[socket.socket]:
        """Use the connection exclusively; start the process if it is not running.

        Any exception within the session, including an interrupt, kills the process: its pending answer would otherwise
        be read as the answer to the next request.

        Args:
            timeout: seconds to wait for other threads; -1 waits without limit.

        Raises:
            TimeoutError: other threads held the connection for longer than `timeout`.
            ChildProcessError: the process cannot be started.
        """
        if not self._lock.acquire(timeout=timeout):
            raise TimeoutError(f"The process of {self._module} was busy for {timeout} seconds.")
        try:
            if self._process is None or self._process.poll() is not None:
                self.stop()
                self._start()
            self.sessions += 1
            yield self._sockets[0]
        except BaseException:
            self.stop()
            raise
        finally:
            self._lock.release()

    def stop(self) -> None:
        """Kill and reap the process after the session of another thread; the next session starts a new one."""
        with self._lock:
            self._close_sockets()
            if self._process is not None:
                self._process.kill()
                self._process.wait()
            self._process = None

    def _start(self) -> None:
        import socket
        import subprocess

        try:
            connection, child_connection = socket.socketpair()
            lifeline, child_lifeline = socket.socketpair()
            self._sockets = [connection, lifeline]
            with child_connection, child_lifeline:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", self._script(child_lifeline.fileno())],
                    stdin=child_connection.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,  # libraries print errors there, with text of the document
                    pass_fds=[child_lifeline.fileno()],
                    start_new_session=True,  # Ctrl-C in a terminal reaches the parent only
                )
        except OSError as error:
            raise ChildProcessError(f"The process of {self._module} cannot be started.") from error
        self.sessions = 0

    def _script(self, lifeline: int) -> str:
        path = [os.fspath(entry) for entry in sys.path]
        return _SCRIPT.format(path=path, module=self._module, lifeline=lifeline, arguments=self._arguments)

    def _close_sockets(self) -> None:
        for end in self._sockets:
            end.close()
        self._sockets = []

    def _reset_after_fork(self) -> None:
        self._lock = threading.RLock()
        self._close_sockets()
        if self._process is not None:
            self._process.returncode = 0  # not a child of this process, so Popen must not wait for it
        self._process = None


# ---------------------------------------------------------------- in the child


def attach(lifeline: int) -> socket.socket:
    """Tie this process to its lifeline, and return its end of the connection.

    The lifeline breaks when the parent stops this process or exits for any reason. The system then sends a signal,
    which ends this process even within a long call of a C library.
    """
    import fcntl
    import socket

    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    return socket.socket(fileno=0)


def set_limits(limits: Mapping[int, int]) -> None:
    """Set the resource limits of this process; writing files and core dumps is always forbidden.

    Args:
        limits: limit by resource (constants `RLIMIT_…` of the module `resource`). A lower limit that was inherited
            from the parent stays in force.
    """
    for limit, amount in {**limits, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_CORE: 0}.items():
        inherited = resource.getrlimit(limit)[1]
        lower = amount if inherited == resource.RLIM_INFINITY else min(amount, inherited)
        resource.setrlimit(limit, (lower, lower))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
