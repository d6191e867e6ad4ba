"""The log: JSON whatever a worker writes, and no obstacle for the server if nobody reads it."""

import asyncio
import json
import logging
import os
import subprocess
import sys
import textwrap

import httpx
import pytest

from appliance.__main__ import main
from appliance.observability.log_writer import MAX_LINES, BackgroundHandler
from appliance.workers.standard_error import MAX_TEXT, StandardError
from tests.helpers.served import ROOT, serving
from tests.helpers.waiting import SECONDS, wait_until


def record(message):
    return logging.LogRecord("appliance", logging.INFO, "", 0, message, None, None)


def test_lines_are_written_in_order_until_the_end():
    reading, writing = os.pipe()
    handler = BackgroundHandler(writing)
    for number in range(100):
        handler.handle(record(str(number)))
    handler.close()
    assert os.read(reading, 10_000).decode().split() == list(map(str, range(100)))
    assert handler.dropped == 0


def test_unread_lines_are_dropped_and_counted():
    reading, writing = os.pipe()
    handler = BackgroundHandler(writing)
    for _ in range(MAX_LINES + 1300):
        handler.handle(record("x" * 500))
    assert 0 < handler.dropped <= 1300
    os.close(reading)
    handler.close()


@pytest.mark.slow
def test_reader_that_stops_reading_does_not_stop_the_server(tmp_path):
    """More than a pipe holds (64 KiB) is logged."""
    environ = {**os.environ, "EINVOICE_DATA": str(tmp_path / "data"), "EINVOICE_WORKERS": "1"}
    command = [sys.executable, "-m", "appliance", "serve", "--try-out", "--port", "0"]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = next(line for line in process.stdout if "curl" in line)
            base = line.split()[-1].partition("/api/")[0].strip("'")
            with httpx.Client(base_url=base, timeout=SECONDS) as client:
                for _ in range(1000):
                    assert client.get("/nothing").status_code == 404
        finally:
            process.kill()


def logged(caplog, *received, may_quote):
    async def receive():
        reader = StandardError(7)
        reader.may_quote = may_quote
        for data in received:
            reader.data_received(data)
        reader.connection_lost(None)

    with caplog.at_level(logging.INFO):
        asyncio.run(receive())
    return [(it.name, it.levelname, it.getMessage(), it.fields) for it in caplog.records]


def test_log_lines_of_a_worker_are_kept(caplog):
    line = {"time": "1", "level": "error", "logger": "appliance.workers.jobs", "message": "A job failed %s", "job": "x"}
    content = json.dumps(line).encode() + b"\n"
    assert logged(caplog, content[:9], content[9:], may_quote=True) == [
        ("appliance.workers.jobs", "ERROR", "A job failed %s", {"job": "x", "pid": 7})
    ]


def test_worker_cannot_write_lines_of_other_loggers(caplog):
    line = json.dumps({"level": "info", "logger": "appliance.audit", "message": "m"}).encode()
    ((name, _, _, fields),) = logged(caplog, line, may_quote=True)
    assert (name, fields) == ("appliance.workers.standard_error", {"pid": 7, "bytes": len(line)})


@pytest.mark.parametrize(("may_quote", "text"), [(False, "malloc(): x\ny"), (True, None)])
def test_other_text_of_a_worker(caplog, may_quote, text):
    (entry,) = logged(caplog, b"malloc(): x\ny\n", may_quote=may_quote)
    assert entry[3].get("text") == text
    assert entry[3]["bytes"] == 13


def test_long_lines_are_divided_and_shortened(caplog):
    entries = logged(caplog, b"x" * 20_000, b"y" * 20_000, may_quote=False)
    assert [(len(it[3]["text"]), it[3]["bytes"]) for it in entries] == [(MAX_TEXT, 20_000)] * 2


@pytest.mark.slow
def test_log_is_json_whatever_a_worker_writes(tmp_path, monkeypatch):
    """A module that Python imports at its start writes to the standard error of the worker, past `sys.stderr`."""
    script = """
        import os, sys
        if "appliance.workers.worker" in sys.orig_argv:
            os.write(2, b"free(): invalid pointer\\n" + 400_000 * b"x" + b"\\n")
    """
    (tmp_path / "sitecustomize.py").write_text(textwrap.dedent(script))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    with serving(tmp_path / "data", workers=1) as server:
        assert server.validate().status_code == 200
        lines = wait_until(lambda: [it for it in server.log().splitlines() if "invalid pointer" in it], server.log)
        assert json.loads(lines[0])["text"].startswith("free(): invalid pointer")
        assert all(json.loads(line) for line in server.log().splitlines())


def test_passwords_are_hidden_in_settings(monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_ARTIFACTS", "rediss://user:secret1@host/0?ssl_ca_certs=a&p%61ssword=secret2")
    assert main(["settings"]) == 0
    assert "EINVOICE_ARTIFACTS=rediss://***@host/0?***\n" in capsys.readouterr().out


def test_start_fails_without_a_readable_key_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EINVOICE_DATA", str(tmp_path))
    (tmp_path / "keys.env").mkdir()
    assert main(["serve", "--port", "0"]) == 1
    message = json.loads(capsys.readouterr().err)["message"]
    assert f"{tmp_path / 'keys.env'} cannot be read" in message
    monkeypatch.setenv("EINVOICE_KEYS", str(tmp_path / "missing.env"))
    assert main(["serve", "--port", "0"]) == 1
    assert "missing.env of EINVOICE_KEYS is missing" in json.loads(capsys.readouterr().err)["message"]
