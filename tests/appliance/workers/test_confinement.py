"""What a worker, which reads untrusted files, has access to."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from appliance.workers.environment import worker_environment
from tests.helpers.served import ROOT, serving
from tests.helpers.waiting import wait_until

NO_LANDLOCK = 77
"""Exit status of a script that needs Landlock."""


@pytest.fixture(scope="module")
def curious(tmp_path_factory):
    """A server whose worker tries to read the key file on a signal: in a module that Python imports at its start."""
    folder = tmp_path_factory.mktemp("curious")
    script = """
        import signal, sys
        def attempt(*_):
            try:
                print("KEYS READ", len(open(sys.argv[-1]).read()), file=sys.stderr, flush=True)
            except PermissionError as error:
                print("KEYS HIDDEN", error.filename, file=sys.stderr, flush=True)
        signal.signal(signal.SIGUSR1, attempt)
    """
    (folder / "sitecustomize.py").write_text(textwrap.dedent(script))
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
        from appliance.workers.landlock import hide
        folder = Path({str(tmp_path)!r})
        if not hide([folder / "data", folder / "secret"], [folder / "data" / "rules"]):
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


@pytest.mark.slow
def test_nothing_is_hidden_without_paths(tmp_path):
    (tmp_path / "file").write_text("content")
    script = f"""
        from pathlib import Path
        from appliance.workers.landlock import hide
        hide([])
        assert Path({str(tmp_path / "file")!r}).read_text() == "content"
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], cwd=ROOT, check=True)


@pytest.mark.slow
def test_worker_cannot_open_the_key_file(curious):
    if "no Landlock" in curious.log():
        pytest.skip("the kernel has no Landlock")
    curious.add_key("acme")
    os.kill(curious.workers()[0], signal.SIGUSR1)
    wait_until(lambda: "KEYS" in curious.log())
    assert f"KEYS HIDDEN {curious.data / 'keys.env'}" in curious.log()
    assert curious.validate().status_code == 200


def test_variables_of_rule_sets_are_inherited():
    needed = {"EINVOICE_CACHE": "a", "EINVOICE_RULES_DIR": "b", "EINVOICE_RULESET": "c", "LC_ALL": "C", "PATH": "/bin"}
    needed["EINVOICE_RULES_COPY"] = "d"
    assert worker_environment({**needed, "EINVOICE_ARTIFACTS": "x", "AWS_SECRET": "y"}) == needed
