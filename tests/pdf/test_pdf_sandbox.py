"""The PDF sandbox: start, restart, limits, malformed answers."""

import os
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from einvoice import errors
from einvoice.pdf import embedded_invoice, limits, sandbox, worker
from einvoice.sandbox import protocol
from einvoice.sandbox.process import SandboxProcess
from tests.helpers.hybrids import XML, hybrid

GOOD = hybrid()

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork: its limits are those of the server")


@pytest.fixture
def new_server(monkeypatch):
    """A new server for one test."""
    own = SandboxProcess("einvoice.pdf.worker")
    monkeypatch.setattr(sandbox, "_server", own)
    yield own
    own.stop()


def run(code, **options):
    """Run a script that has no `if __name__ == "__main__"`."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
        **options,
    )


def test_result_equals_reading_in_this_process():
    assert sandbox.read_hybrid(GOOD) == embedded_invoice.read(GOOD)


def test_errors_keep_their_values():
    with pytest.raises(errors.PdfWithoutXml) as raised:
        sandbox.read_hybrid(hybrid(xml=b"<a/>", name="notes.xml"))
    assert raised.value.values == {"found": "notes.xml"}


def test_server_is_started_once(new_server):
    sandbox.read_hybrid(GOOD)
    first = new_server.pid
    sandbox.read_hybrid(GOOD)
    assert new_server.pid == first


def test_dead_server_is_replaced(new_server):
    sandbox.read_hybrid(GOOD)
    new_server._process.kill()
    assert sandbox.read_hybrid(GOOD).xml == XML


def test_server_start_failure_is_an_error(monkeypatch):
    monkeypatch.setattr(sandbox, "_server", SandboxProcess("einvoice.pdf.no_such_module"))
    with pytest.raises(ChildProcessError):
        sandbox.read_hybrid(GOOD)


def test_missing_pikepdf_is_reported(new_server, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(errors.PdfSupportMissing):
        sandbox.read_hybrid(GOOD)


def test_concurrent_requests_from_threads(new_server):
    read = []
    threads = [threading.Thread(target=lambda: read.append(sandbox.read_hybrid(GOOD).xml)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read == [XML] * 8


FAKE_WORKER = """
    from einvoice.sandbox import protocol, system
    def main(control):
        _, connection = system.take_over(control)
        with connection:
            protocol.send(connection, {{"ready": True}})
            protocol.receive(connection, 1 << 20)
            connection.sendall({answer!r})
        control.recv(1)
"""


@pytest.fixture
def answering(tmp_path, monkeypatch):
    """Make the worker return this response for any PDF."""
    servers = []

    def answering(answer):
        (tmp_path / "fake_worker.py").write_text(textwrap.dedent(FAKE_WORKER.format(answer=answer)))
        monkeypatch.syspath_prepend(tmp_path)
        servers.append(SandboxProcess("fake_worker"))
        monkeypatch.setattr(sandbox, "_server", servers[0])

    yield answering
    for server in servers:
        server.stop()


WHOLE = protocol.encode(*worker._read(GOOD))
MALFORMED = {
    "nothing": b"",
    "no header": b"\0" * 16,
    "no fields": protocol.encode({}),
    "an unknown error": protocol.encode({"error": "NONE", "values": {}}),
    "no object": struct.pack("!QQ", 5, 0) + b"[1,2]",
    "too deep": struct.pack("!QQ", 200_000, 0) + b"[" * 200_000,
    "a huge length": b"x" * 100,
    "no body": WHOLE[: -len(XML)],
    "a truncated body": WHOLE[:-1],
}


@pytest.mark.parametrize("answer", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_response_is_treated_as_a_crash(answer, answering):
    answering(answer)
    with pytest.raises(errors.PdfTooComplex):
        sandbox.read_hybrid(GOOD)


def test_complete_response_is_decoded(answering):
    answering(WHOLE)
    assert sandbox.read_hybrid(GOOD) == embedded_invoice.read(GOOD)


def test_oversized_response_is_rejected(monkeypatch):
    monkeypatch.setattr(limits, "ANSWER", 100)
    with pytest.raises(errors.PdfTooComplex):
        sandbox.read_hybrid(GOOD)


@pytest.mark.parametrize("failure", [MemoryError, RecursionError])
def test_exhausted_memory_or_recursion_is_too_complex(failure, monkeypatch):
    def failing(data):
        raise failure

    monkeypatch.setattr(embedded_invoice, "read", failing)
    monkeypatch.setattr(sandbox, "_exchange", lambda connection, data, pages: worker._read(data))
    with pytest.raises(errors.PdfTooComplex):
        sandbox.read_hybrid(GOOD)


def test_unexpected_exception_means_a_damaged_file(monkeypatch):
    def failing(data):
        raise KeyError

    monkeypatch.setattr(embedded_invoice, "read", failing)
    monkeypatch.setattr(sandbox, "_exchange", lambda connection, data, pages: worker._read(data))
    with pytest.raises(errors.PdfDamaged, match="KeyError"):
        sandbox.read_hybrid(GOOD)


def in_a_worker(act):
    """Run a function with the limits of a worker; return the exit status, or the negative signal number."""
    child = os.fork()
    if child == 0:
        worker._set_limits()
        try:
            act()
            os._exit(0)
        except MemoryError:
            os._exit(3)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@forks
def test_memory_limit():
    assert in_a_worker(lambda: bytearray(limits.MEMORY)) == 3
    assert in_a_worker(lambda: bytearray(1 << 20)) == 0


@forks
def test_time_limit(monkeypatch):
    monkeypatch.setattr(limits, "SECONDS", 2)
    monkeypatch.setattr(limits, "MEMORY", 1 << 40)
    assert in_a_worker(lambda: time.sleep(30)) == -signal.SIGALRM


@forks
def test_worker_cannot_write_files(tmp_path):
    assert in_a_worker(lambda: (tmp_path / "file").write_bytes(b"x")) == 1


@pytest.mark.slow
def test_script_without_main_guard_leaves_no_process(tmp_path):
    path = tmp_path / "good.pdf"
    path.write_bytes(GOOD)
    done = run(f"""
        import einvoice
        from einvoice.pdf import sandbox
        print(einvoice.extract({str(path)!r}).name)
        print(sandbox._server.pid)
    """)
    assert done.stderr == ""
    name, pid = done.stdout.split()
    assert name == "factur-x.xml"
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


@pytest.mark.slow
def test_forked_process_starts_its_own_server(tmp_path):
    path = tmp_path / "good.pdf"
    path.write_bytes(GOOD)
    done = run(f"""
        import os, einvoice
        from einvoice.pdf import sandbox
        with open({str(path)!r}, "rb") as file: data = file.read()
        einvoice.extract(data)
        ours = sandbox._server.pid
        child = os.fork()
        if child == 0:
            assert einvoice.extract(data).name == "factur-x.xml"
            assert sandbox._server.pid != ours
            raise SystemExit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        einvoice.extract(data)
        assert sandbox._server.pid == ours
    """)
    assert (done.stderr, done.returncode) == ("", 0)
