"""Internal errors: answered and logged without invoice content."""

import io
import json
import logging

import httpx
import pytest
from fastapi import FastAPI

import einvoice
from appliance.observability.logs import JsonFormatter
from appliance.transport.middleware import ErrorBoundary
from appliance.workers import jobs
from appliance.workers.protocol import Message
from tests.helpers.served import UBL, assert_problem

SECRET = "DE55869999990004711520"
VALIDATE = {"job": "validate", "lang": "de", "mode": "current", "engine": "native"}


@pytest.fixture
def lines():
    """The log records as JSON."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.addHandler(handler)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.removeHandler(handler)


def failing(*args, **kwargs):
    raise RuntimeError(SECRET)


def test_failing_job_is_logged_without_content(monkeypatch, lines):
    monkeypatch.setattr(einvoice, "validate", failing)
    outcome = jobs.run_job(Message(VALIDATE, (UBL,)))
    assert outcome == Message({"failed": True})
    (line,) = lines()
    assert (line["exception"], line["job"]) == ("RuntimeError", "validate")
    assert any("failing" in frame for frame in line["stack"])
    assert SECRET not in str(line)


def test_job_exceeding_memory(monkeypatch):
    def greedy(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(einvoice, "validate", greedy)
    assert jobs.run_job(Message(VALIDATE, (UBL,))).head == {"limit_exceeded": True}


@pytest.mark.anyio
async def test_failing_request_is_answered_with_500(lines):
    app = FastAPI()
    app.get("/")(lambda: failing())
    app.add_middleware(ErrorBoundary)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
        response = await client.get("/", params={"lang": "en"})
    assert_problem(response, 500, "internal_error")
    assert SECRET not in response.text
    assert "RuntimeError" in [line.get("exception") for line in lines()]
    assert SECRET not in str(lines())
