"""The command einvoice-appliance."""

import socket

import httpx
import pytest
from served import ROOT, running

from appliance.__main__ import main


@pytest.mark.slow
def test_the_command_of_the_checkout(tmp_path):
    if not (ROOT / ".venv" / ".made-from").exists():
        pytest.skip("this environment was not made by tests/run, and would be made anew")
    with running(tmp_path / "data", ROOT / "appliance" / "run") as call:
        assert httpx.get(httpx.URL(call[-1]).join("/healthz")).status_code == 200


def test_wrong_settings_end_in_a_sentence(monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_PORT", "many")
    assert main(["serve"]) == 1
    assert "EINVOICE_PORT" in capsys.readouterr().err


def test_a_taken_port_ends_in_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_DATA", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["serve", "--port", str(taken.getsockname()[1])]) == 1
    assert "in use" in capsys.readouterr().err


def test_revoking_what_is_not_there(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_DATA", str(tmp_path))
    assert main(["keys", "revoke", "NOBODY_1"]) == 1
    assert "NOBODY_1" in capsys.readouterr().err
