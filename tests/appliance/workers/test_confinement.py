"""What a worker, which reads untrusted files, has access to."""

from pathlib import Path

import pytest
from served import serving

from appliance.workers.environment import worker_environment


def test_environment_of_a_worker_has_no_secrets(tmp_path, monkeypatch):
    pytest.importorskip("redis", reason="the extra redis is not installed")
    monkeypatch.setenv("OTHER_PASSWORD", "pass-word")
    url = f"unix://:pass-word@{tmp_path}/none.sock"
    with serving(tmp_path / "data", workers=1, artifacts=url, key_acme_1="acme:business:pass-word") as server:
        (worker,) = server.workers()
        environ = Path(f"/proc/{worker}/environ").read_bytes()
        assert b"PATH=" in environ
        assert b"pass-word" not in environ


def test_worker_inherits_no_descriptors(tmp_path):
    with serving(tmp_path / "data", workers=1) as server:
        server.validate()
        (worker,) = server.workers()
        opened = [str(path.readlink()) for path in Path(f"/proc/{worker}/fd").iterdir()]
        assert not [path for path in opened if str(tmp_path / "data") in path and not path.endswith(".log")]
        assert len([path for path in opened if path.startswith("socket:")]) == 1, "the connection to the server"


def test_variables_of_rule_sets_are_inherited():
    needed = {"EINVOICE_CACHE": "a", "EINVOICE_RULES_DIR": "b", "EINVOICE_RULESET": "c", "LC_ALL": "C", "PATH": "/bin"}
    assert worker_environment({**needed, "EINVOICE_ARTIFACTS": "x", "AWS_SECRET": "y"}) == needed
