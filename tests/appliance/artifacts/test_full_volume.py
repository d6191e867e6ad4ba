"""The artifact store on a full volume: content is erased in time, and the service starts and validates."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from tests.helpers.served import ROOT

VOLUME = ["unshare", "--user", "--map-root-user", "--mount"]
"""Starts a program that may mount a file system of its own, which ends with it."""

PROLOGUE = """
import json, os, secrets, subprocess, sys, time
from pathlib import Path
from appliance.access.keys import KeyFile
from tests.helpers.served import WRONG, serving
from tests.helpers.waiting import wait_until
from appliance.artifacts.sqlite_store import SQLiteStore
from appliance.artifacts.store import StoreError, StoreFull

volume = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", volume], check=True)
folder = volume / "data" / "artifacts"
expired, valid = secrets.token_bytes(1_000_000), secrets.token_bytes(1_000_000)
now = [time.time()]

def fill():
    with (volume / "other").open("ab", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass

def is_on_disk(content):
    stored = b"".join(path.read_bytes() for path in folder.iterdir())
    return any(content[at : at + 32] in stored for at in range(0, len(content), 512))

def store():
    return SQLiteStore(folder, 1 << 30, lambda: now[0])

def filled(checkpoint):
    artifacts = store()
    artifacts.put("expired", expired, 60, tombstone_seconds=100)
    artifacts.put("valid", valid, 600)
    if checkpoint:
        artifacts.check()
    fill()
    return artifacts
"""


def run(tmp_path, script):
    """Run a script on a volume of 8 MB; return the object that it prints as JSON."""
    if subprocess.run([*VOLUME, "true"], capture_output=True).returncode:
        pytest.skip("the system does not allow to mount a file system")
    (tmp_path / "volume").mkdir()
    path = os.pathsep.join([str(ROOT), *sys.path])
    command = [*VOLUME, sys.executable, "-c", PROLOGUE + textwrap.dedent(script), str(tmp_path / "volume")]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, timeout=120)
    assert done.returncode == 0
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("checkpoint", [True, False])
def test_expired_content_is_erased(tmp_path, checkpoint):
    result = run(
        tmp_path,
        f"""
        artifacts = filled({checkpoint})
        now[0] += 61
        artifacts.purge()
        print(json.dumps([is_on_disk(expired), artifacts.get("expired") is None, artifacts.get("valid") == valid]))
        """,
    )
    assert result[:2] == [False, True]
    assert result[2] is checkpoint, "content that is only in the log cannot be kept"


def test_expired_content_is_erased_at_the_next_start(tmp_path):
    result = run(
        tmp_path,
        """
        filled(checkpoint=True).close()
        fill()
        now[0] += 61
        artifacts = store()
        print(json.dumps([is_on_disk(expired), artifacts.has_expired("expired"), artifacts.get("valid") == valid]))
        """,
    )
    assert result == [False, True, True]


def test_full_store_is_readable_and_reported(tmp_path):
    result = run(
        tmp_path,
        """
        artifacts = filled(checkpoint=True)
        try:
            artifacts.check()
        except StoreFull as error:
            print(json.dumps([str(error), artifacts.get("valid") == valid]))
        """,
    )
    assert result == ["the volume of the artifact store is full", True]


@pytest.mark.slow
def test_service_starts_on_a_full_volume(tmp_path):
    result = run(
        tmp_path,
        """
        KeyFile(volume / "data" / "keys.env").add("acme", "business")
        fill()
        data = volume.parent / "data"  # the log, beside it, is not on the volume
        data.symlink_to(volume / "data")
        with serving(data, workers=1, metrics=1) as server:
            before = server.client.get("/readyz").json()["status"], server.validate(WRONG).json()["artifacts"]
            metrics = server.client.get("/metrics").text
            (volume / "other").unlink()
            for _ in range(100):
                if server.client.get("/readyz").json()["status"] == "ready":
                    break
                time.sleep(0.1)
            after = server.validate(WRONG).json()["artifacts"]
            print(json.dumps([before, metrics, after, server.log()]))
        """,
    )
    (status, before), metrics, after, log = result
    assert status == "degraded"
    assert not before["validation_report_pdf"]["available"]
    assert "\neinvoice_artifacts_available 0.0\n" in metrics
    assert "\neinvoice_links_dropped_total 1.0\n" in metrics
    assert after["validation_report_pdf"]["available"], "without a restart"
    assert "artifact store" in log


@pytest.mark.slow
def test_zugferd_is_refused_on_a_full_volume(tmp_path):
    result = run(
        tmp_path,
        """
        KeyFile(volume / "data" / "keys.env").add("acme", "business")
        data = volume.parent / "data"  # the log, beside it, is not on the volume
        data.symlink_to(volume / "data")
        with serving(data, workers=1) as server:
            statuses = [server.generate(format="ZUGFERD").status_code]
            fill()
            statuses.append(server.generate(format="ZUGFERD").status_code)
            capabilities = lambda: server.client.get("/api/external/capabilities").json()
            wait_until(lambda: len(capabilities()["supported_generation_formats"]) == 2)
            formats = capabilities()["supported_generation_formats"]
            statuses.append(server.generate(format="ZUGFERD").status_code)
            (volume / "other").unlink()
            wait_until(lambda: server.generate(format="ZUGFERD").status_code == 200)
            print(json.dumps([statuses, formats]))
        """,
    )
    assert result == [[200, 503, 503], ["UBL", "CII"]]
