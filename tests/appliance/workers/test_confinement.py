"""What a worker, which reads untrusted files, has access to."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from appliance.workers.environment import worker_environment
from tests.helpers.served import ROOT, declaring, serving
from tests.helpers.waiting import wait_until

NO_LANDLOCK = 77
"""Exit status of a script that needs Landlock."""


@pytest.fixture(scope="module")
def curious(tmp_path_factory):
    """A server whose worker tries to read the key file, and another one, on a signal: in a module that Python imports.

    It opens a socket as well.
    """
    folder = tmp_path_factory.mktemp("curious")
    script = """
        import signal, socket, sys
        def attempt(*_):
            try:
                print("KEYS READ", len(open(sys.argv[-1]).read()), file=sys.stderr, flush=True)
            except PermissionError as error:
                print("KEYS HIDDEN", error.filename, file=sys.stderr, flush=True)
            for act in (lambda: open(FOREIGN), lambda: socket.socket(type=socket.SOCK_DGRAM)):
                try:
                    print("ALLOWED", act(), file=sys.stderr, flush=True)
                except PermissionError:
                    print("DENIED", file=sys.stderr, flush=True)
        signal.signal(signal.SIGUSR1, attempt)
    """
    foreign = tmp_path_factory.mktemp("foreign") / "file"
    foreign.write_text("content")
    (folder / "sitecustomize.py").write_text(f"FOREIGN = {str(foreign)!r}\n{textwrap.dedent(script)}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
        with serving(folder / "data", workers=1, log_level="debug") as server:
            yield server


@pytest.mark.slow
def test_environment_of_a_worker_has_no_secrets(without_redis):
    (worker,) = without_redis.workers()
    environ = Path(f"/proc/{worker}/environ").read_bytes()
    assert b"PATH=" in environ
    assert b"pass-word" not in environ


@pytest.mark.slow
def test_worker_inherits_no_descriptors(curious):
    curious.validate()
    (worker,) = curious.workers()
    opened = [str(path.readlink()) for path in Path(f"/proc/{worker}/fd").iterdir()]
    assert not [path for path in opened if str(curious.data) in path and not path.endswith(".log")]
    assert len([path for path in opened if path.startswith("socket:")]) == 1, "the connection to the server"


@pytest.mark.slow
def test_hidden_folder(tmp_path):
    """A process of its own, because it cannot undo this: it sees the rules in a hidden folder, and nothing else."""
    data = tmp_path / "data"
    (data / "rules").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    for path in (data / "keys.env", data / "rules" / "rule.toml", tmp_path / "secret", tmp_path / "other" / "file"):
        path.write_text("content")
    (tmp_path / "service.log").write_text("content")  # deleted, a file that a process may read takes up space
    (tmp_path / "link").symlink_to(data / "keys.env")
    script = f"""
        import os, subprocess
        from pathlib import Path
        from appliance.workers.landlock import confine
        folder = Path({str(tmp_path)!r})
        readable = map(Path, ["/usr", "/lib", "/lib64", folder])
        if not confine(readable, [folder / "data", folder / "secret"], [folder / "data" / "rules"]):
            raise SystemExit({NO_LANDLOCK})
        for name in ("data/keys.env", "secret", "link", "service.log"):
            for act in (Path.read_text, lambda path: os.truncate(path, 0), lambda path: path.write_text("x")):
                try:
                    act(folder / name)
                except PermissionError:
                    continue
                raise SystemExit(f"{{name}} is accessible")
        assert subprocess.run(["cat", folder / "secret"], capture_output=True).returncode, "a child is confined as well"
        assert (folder / "data/rules/rule.toml").read_text() == (folder / "other/file").read_text() == "content"
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], cwd=ROOT, capture_output=True, text=True)
    if done.returncode == NO_LANDLOCK:
        pytest.skip("the kernel has no Landlock")
    assert not done.stderr
    assert (data / "keys.env").read_text() == "content"


ATTEMPTS = """
    import os, signal, socket, subprocess, sys
    from pathlib import Path
    from appliance.workers.landlock import confine
    folder, parent, port = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    version = confine([Path("/")], [], [], [folder / "temporary"])
    attempts = {
        "write": (1, lambda: (folder / "compiled.rules").write_bytes(b"x")),
        "create": (1, lambda: (folder / "new.py").write_bytes(b"x")),
        "replace": (1, lambda: (folder / "temporary/own").rename(folder / "compiled.rules")),
        "remove": (1, lambda: (folder / "compiled.rules").unlink()),
        "truncate": (3, lambda: os.truncate(folder / "compiled.rules", 0)),
        "connect": (4, lambda: socket.create_connection(("127.0.0.1", port))),
        "listen": (4, lambda: socket.create_server(("127.0.0.1", 0))),
        "signal": (6, lambda: os.kill(parent, 0)),
        "abstract socket": (6, lambda: socket.socket(socket.AF_UNIX).connect(f"\\0einvoice-{parent}")),
    }
    (folder / "temporary/own").write_bytes(b"allowed")
    for name, (since, attempt) in attempts.items():
        try:
            attempt()
        except OSError as error:
            if isinstance(error, PermissionError) or name == "replace":  # EXDEV: not between folders
                continue
            raise
        if version >= since:
            print("not denied:", name)
    subprocess.run(["true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    child = subprocess.Popen(["sleep", "60"])
    child.kill()
    assert child.wait() == -signal.SIGKILL
    print((folder / "compiled.rules").read_text(), version)
"""


@pytest.mark.slow
def test_confined_process_neither_writes_nor_connects_nor_sends_signals(tmp_path):
    (tmp_path / "temporary").mkdir()
    (tmp_path / "compiled.rules").write_text("content")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0einvoice-{os.getpid()}")
        abstract.listen()
        arguments = (tmp_path, os.getpid(), server.getsockname()[1])
        command = [sys.executable, "-c", textwrap.dedent(ATTEMPTS), *map(str, arguments)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert not done.stderr
    if done.stdout.endswith(" 0\n"):
        pytest.skip("the kernel has no Landlock")
    assert done.stdout.startswith("content "), done.stdout


@pytest.mark.slow
def test_worker_does_not_change_the_cache(tmp_path, monkeypatch):
    """A rule set that a document requests is not stored by the worker that compiled it."""
    monkeypatch.setenv("EINVOICE_CACHE", str(tmp_path / "cache"))
    with serving(tmp_path / "data", workers=1) as server:
        if '"landlock":0' in server.log():
            pytest.skip("the kernel has no Landlock")
        worker = server.workers()
        stored = {path.name for path in (tmp_path / "cache").glob("program-*")}
        assert stored, "what the samples need was stored before"
        assert server.validate(declaring("2.3"), validation_mode="compatibility").status_code == 200
        assert server.workers() == worker
        assert {path.name for path in (tmp_path / "cache").glob("program-*")} == stored


SOCKETS = """
    import errno, socket, subprocess, sys
    from appliance.workers.seccomp import deny_sockets
    first, second = socket.socketpair()
    if not deny_sockets():
        raise SystemExit(77)
    for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            try:
                socket.socket(family, kind)
            except PermissionError:
                continue
            raise SystemExit(f"not denied: {family} {kind}")
    first.sendall(b"x")
    assert second.recv(1) == b"x"
    assert [socket.socketpair()], "between a process and its children"
    child = "import socket\\ntry: socket.socket()\\nexcept PermissionError: print('denied')"
    print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True).stdout)
"""


@pytest.mark.slow
def test_process_and_its_children_open_no_sockets():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SOCKETS)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode == NO_LANDLOCK:
        pytest.skip("the system has no seccomp")
    assert (done.stdout.strip(), done.stderr) == ("denied", "")


@pytest.mark.slow
def test_only_what_is_listed_can_be_read(tmp_path):
    for name in ("listed", "other", "listed/hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("content")
    script = f"""
        from pathlib import Path
        from appliance.workers.landlock import confine
        folder = Path({str(tmp_path)!r})
        if not confine([folder / "listed", Path("/usr")], [folder / "listed/hidden"]):
            raise SystemExit({NO_LANDLOCK})
        for name in ("other/file", "listed/hidden/file"):
            try:
                (folder / name).read_text()
            except PermissionError:
                continue
            raise SystemExit(f"{{name}} is accessible")
        (folder / "listed").stat()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode == NO_LANDLOCK:
        pytest.skip("the kernel has no Landlock")
    assert not done.stderr


@pytest.mark.slow
def test_worker_cannot_open_the_key_file(curious):
    if '"landlock":0' in curious.log():
        pytest.skip("the kernel has no Landlock")
    curious.add_key("acme")
    os.kill(curious.workers()[0], signal.SIGUSR1)
    wait_until(lambda: curious.log().count("DENIED") == 2 or "ALLOWED" in curious.log())
    assert "ALLOWED" not in curious.log(), "a file of others, a socket"
    assert f"KEYS HIDDEN {curious.data / 'keys.env'}" in curious.log()
    assert curious.validate().status_code == 200


def test_variables_of_rule_sets_are_inherited():
    needed = {"EINVOICE_CACHE": "a", "EINVOICE_RULES_DIR": "b", "EINVOICE_RULESET": "c", "LC_ALL": "C", "PATH": "/bin"}
    needed["EINVOICE_RULES_COPY"] = "d"
    assert worker_environment({**needed, "EINVOICE_ARTIFACTS": "x", "AWS_SECRET": "y"}) == needed
