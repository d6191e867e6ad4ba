"""A process of our own, for work that could harm this one: started when it is needed, it ends with us.

    this process ──connection──> child: `main` of a module, which answers what comes by the connection
                 ──lifeline────>        nothing is ever sent; the system ends the child when it breaks

The upper half of this module is for who asks, the lower half for the child itself.

No `multiprocessing`: that imports the main script again, which not every script is prepared for.
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

_START: Final = (
    "import sys; sys.path[:] = {path!a}; from einvoice.sandbox.process import begin; from {module} import main; "
    "main(begin({lifeline}), *{arguments})"
)


class Child:
    """A child that is started when it is first asked for, and again when it has gone.

    Threads take turns. A forked process leaves the child to the one that started it, and has one of its own. Meant to
    last as long as the program.

    Attributes:
        turns: so often the child that runs now has been asked for.
    """

    def __init__(self, module: str, *arguments: int) -> None:
        """Start nothing yet.

        Args:
            module: name of the one whose `main` is called with the child's end of the connection, a socket.
            arguments: what else `main` is given.
        """
        self._module = module
        self._arguments = arguments
        self._lock = threading.RLock()
        self._ends: list[socket.socket] = []  # of the connection and of the lifeline
        self._process: subprocess.Popen[bytes] | None = None
        self.turns = 0
        atexit.register(self.stop)
        os.register_at_fork(after_in_child=self._forget)

    @property
    def pid(self) -> int | None:
        """The number of the process; None if there is none now."""
        return self._process.pid if self._process else None

    @contextmanager
    def turn(self, seconds: float = -1) -> Iterator[socket.socket]:
        """Have the connection to the child for oneself.

        What is raised meanwhile, an interrupt too, ends the child: what it still answers would be taken for the answer
        to the next request.

        Args:
            seconds: how long to wait while it is the turn of other threads; -1 stands for as long as it takes.

        Raises:
            TimeoutError: it was theirs for longer.
            ChildProcessError: the system starts no process.
        """
        if not self._lock.acquire(timeout=seconds):
            raise TimeoutError(f"It was not our turn for {seconds} seconds.")
        try:
            if self._process is None or self._process.poll() is not None:
                self.stop()
                self._start()
            self.turns += 1
            yield self._ends[0]
        except BaseException:
            self.stop()
            raise
        finally:
            self._lock.release()

    def stop(self) -> None:
        """End the child, after the turn of another thread; the next turn has a new one."""
        with self._lock:
            self._close()
            if self._process is not None:
                self._process.kill()
                self._process.wait()
            self._process = None

    def _start(self) -> None:
        import socket
        import subprocess

        try:
            connection, its_connection = socket.socketpair()
            lifeline, its_lifeline = socket.socketpair()
            self._ends = [connection, lifeline]
            with its_connection, its_lifeline:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", self._script(its_lifeline.fileno())],
                    stdin=its_connection.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,  # libraries tell there what they also raise, in the document's words
                    pass_fds=[its_lifeline.fileno()],
                    start_new_session=True,  # Ctrl-C in a terminal is meant for us
                )
        except OSError as error:
            raise ChildProcessError(f"The process of {self._module} cannot be started.") from error
        self.turns = 0

    def _script(self, lifeline: int) -> str:
        path = [os.fspath(it) for it in sys.path]
        return _START.format(path=path, module=self._module, lifeline=lifeline, arguments=self._arguments)

    def _close(self) -> None:
        for end in self._ends:
            end.close()
        self._ends = []

    def _forget(self) -> None:
        self._lock = threading.RLock()
        self._close()
        if self._process is not None:
            self._process.returncode = 0  # it is not ours to wait for
        self._process = None


# ---------------------------------------------------------------- in the child


def begin(lifeline: int) -> socket.socket:
    """Tie this process to its lifeline, and return its end of the connection.

    The lifeline breaks when whoever started us stops us or is no more, however they went. It is a signal of the system
    that ends us then, since nothing else reaches a process that is deep in a library.
    """
    import fcntl
    import socket

    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    return socket.socket(fileno=0)


def bound(most: Mapping[int, int]) -> None:
    """From here on the system ends this process when it takes more than so much; it writes no file either.

    Args:
        most: amounts by resource, the numbers `RLIMIT_…` of the module `resource`. Where whoever started us is bounded
            more tightly, so are we.
    """
    for limit, amount in {**most, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_CORE: 0}.items():
        allowed = resource.getrlimit(limit)[1]
        lower = amount if allowed == resource.RLIM_INFINITY else min(amount, allowed)
        resource.setrlimit(limit, (lower, lower))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
