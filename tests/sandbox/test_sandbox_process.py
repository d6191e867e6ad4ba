"""Sandbox processes: start, restart, timeouts, forks, termination with the parent, resource limits."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading

import pytest

from einvoice.sandbox import system
from einvoice.sandbox.process import SandboxProcess

ECHO = """
    def main(connection, *arguments):
        while asked := connection.recv(100):
            connection.sendall(repr((asked.decode(), *arguments)).encode())
"""
DEAF = """
    import signal, socket
    def main(connection, port):
        getattr(signal, "alarm", id)(120)  # not on Windows, where the process ends with this one
        seen = socket.create_connection(("127.0.0.1", port))
        sum(range(10**12))  # a single native call that cannot be interrupted
"""
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
LONG = 60
"""Seconds that nothing here takes, on a slow machine either."""


@pytest.fixture
def children(tmp_path, monkeypatch):
    """Start a child that runs this code."""
    monkeypatch.syspath_prepend(tmp_path)
    started = []

    def child(code, *arguments):
        module = f"child_{len(started)}"
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(code))
        started.append(SandboxProcess(module, *arguments))
        return started[-1]

    yield child
    for it in started:
        it.stop()


@pytest.fixture
def echo(children):
    return children(ECHO)


@pytest.fixture
def listener():
    """Listens for connections, which end together with the process that made them."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(LONG)
        yield server


def ask(child, word="you"):
    with child.session() as connection:
        connection.settimeout(LONG)
        connection.sendall(word.encode())
        return connection.recv(100).decode()


def is_there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def in_a_fork(act):
    """Do something in a fork of this process; whether it holds there."""
    forked = os.fork()
    if forked == 0:
        try:
            os._exit(0 if act() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]) == 0


def test_the_process_starts_once_on_first_use(echo):
    assert echo.pid is None
    assert ask(echo) == "('you',)"
    first = echo.pid
    assert ask(echo, "again") == "('again',)"
    assert (echo.pid, echo.sessions) == (first, 2)


def test_main_gets_the_arguments(children):
    assert ask(children(ECHO, 7, 1 << 40)) == "('you', 7, 1099511627776)"


@forks
def test_a_process_that_died_is_replaced(echo):
    ask(echo)
    first = echo.pid
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert ask(echo) == "('you',)"
    assert echo.pid != first
    assert echo.sessions == 1


def test_a_process_that_hangs_is_killed_with_the_session(children, listener):
    child = children(DEAF, listener.getsockname()[1])
    with pytest.raises(TimeoutError), child.session() as connection:  # noqa: PT012
        seen, _ = listener.accept()
        connection.settimeout(0.01)
        connection.recv(1)
    assert child.pid is None
    with seen:
        seen.settimeout(LONG)
        assert seen.recv(1) == b""


def test_an_abandoned_answer_is_not_read_by_the_next_request(echo):
    with pytest.raises(KeyboardInterrupt), echo.session() as connection:  # noqa: PT012
        connection.sendall(b"first")
        raise KeyboardInterrupt
    assert ask(echo, "second") == "('second',)"


def test_waiting_for_a_session_times_out(echo):
    ask(echo)
    done = threading.Event()

    def wait():
        with pytest.raises(TimeoutError), echo.session(0.01):
            pytest.fail("a turn in the turn of another thread")
        done.set()

    with echo.session():
        threading.Thread(target=wait).start()
        assert done.wait(LONG)
    assert ask(echo) == "('you',)"
    assert echo.sessions == 3


def test_a_stopped_process_is_gone_and_can_restart(echo):
    ask(echo)
    first = echo.pid
    echo.stop()
    assert echo.pid is None
    if hasattr(os, "fork"):  # on Windows, a signal to ask for it would end the process
        assert not is_there(first)
    assert ask(echo) == "('you',)"


def test_a_process_that_cannot_be_started(echo, monkeypatch):
    with monkeypatch.context() as patched:
        for name in ("executable", "_base_executable"):
            patched.setattr(sys, name, "/no/such/python")
        with pytest.raises(ChildProcessError, match="child_0"):
            ask(echo)
    assert ask(echo) == "('you',)"


@forks
def test_a_fork_has_its_own_process(echo):
    ask(echo)
    ours = echo.pid

    def ask_there():
        assert echo.pid is None
        assert ask(echo) == "('you',)"
        theirs = echo.pid
        echo.stop()
        return theirs != ours

    assert in_a_fork(ask_there)
    assert ask(echo) == "('you',)"
    assert (echo.pid, echo.sessions) == (ours, 2)


@forks
def test_a_fork_within_the_session_of_another_thread_does_not_block(echo):
    forked = []
    with echo.session():
        thread = threading.Thread(target=lambda: forked.append(in_a_fork(lambda: ask(echo) == "('you',)")))
        thread.start()
        thread.join(LONG)
    assert forked == [True]


@pytest.mark.skipif(sys.platform != "linux", reason="only there the signal ends a process")
def test_a_busy_process_ends_with_its_killed_parent(children, listener, tmp_path):
    children(DEAF)
    script = f"""
        import sys; sys.path[:] = {[str(tmp_path), *sys.path]}
        from einvoice.sandbox.process import SandboxProcess
        with SandboxProcess("child_0", {listener.getsockname()[1]}).session() as connection:
            connection.recv(1)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)]) as parent:
        seen, _ = listener.accept()
        parent.kill()
    with seen:
        seen.settimeout(LONG)
        assert seen.recv(1) == b""


@forks
def test_lower_limits_of_the_parent_are_kept():
    resource = pytest.importorskip("resource")
    tight, loose = 100 << 20, 200 << 20

    def bounded():
        resource.setrlimit(resource.RLIMIT_DATA, (tight, tight))
        system.set_limits(data=loose, processor=5)
        return resource.getrlimit(resource.RLIMIT_DATA) == (tight, tight)

    assert in_a_fork(bounded)


@forks
def test_limits_are_set_and_files_cannot_be_written(tmp_path):
    resource = pytest.importorskip("resource")

    def write():
        system.set_limits(processor=5)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        with pytest.raises(OSError, match="too large"):
            (tmp_path / "file").write_bytes(b"x")
        return resource.getrlimit(resource.RLIMIT_CPU) == (5, 5)

    assert in_a_fork(write)
