"""A child process for untrusted work: started on first use, terminated with its parent.

How it is started and limited depends on the system: see `einvoice.sandbox.system`.

`multiprocessing` is not used: it imports the main script again, which fails for scripts without a main guard.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from einvoice.sandbox import system

if TYPE_CHECKING:
    import socket
    import subprocess

_SCRIPT: Final = (
    "import sys; sys.path[:] = {path!a}; from einvoice.sandbox.system import attach; from {module} import main; "
    "main(attach(*sys.argv[1:]), *{arguments})"
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
        self._ends: list[Any] = []  # the parent's end of the connection, and what else ends the process when closed
        self._process: subprocess.Popen[bytes] | None = None
        self.sessions = 0
        atexit.register(self.stop)
        if hasattr(os, "register_at_fork"):  # not on Windows
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
            yield self._ends[0]
        except BaseException:
            self.stop()
            raise
        finally:
            self._lock.release()

    def stop(self) -> None:
        """Kill and reap the process after the session of another thread; the next session starts a new one."""
        with self._lock:
            self._close_ends()
            if self._process is not None:
                self._process.kill()
                self._process.wait()
            self._process = None

    def _start(self) -> None:
        path = [os.fspath(entry) for entry in sys.path]
        script = _SCRIPT.format(path=path, module=self._module, arguments=self._arguments)
        try:
            self._process, self._ends = system.launch(script)
        except OSError as error:
            raise ChildProcessError(f"The process of {self._module} cannot be started.") from error
        self.sessions = 0

    def _close_ends(self) -> None:
        for end in self._ends:
            end.close()
        self._ends = []

    def _reset_after_fork(self) -> None:
        self._lock = threading.RLock()
        self._close_ends()
        if self._process is not None:
            self._process.returncode = 0  # not a child of this process, so Popen must not wait for it
        self._process = None
