"""Faults of ours: they are answered and logged without a word of what an invoice says."""

import io
import json
import logging

import httpx
import pytest
from fastapi import FastAPI
from served import UBL, assert_problem

import einvoice
from appliance.observability.logs import JsonFormatter
from appliance.transport.middleware import ErrorBoundary
from appliance.workers import jobs
from appliance.workers.protocol import Message

SECRET = "DE55869999990004711520"
JUDGE = {"job": "validate", "lang": "de", "mode": "current", "engine": "native"}


@pytest.fixture
def lines():
    """What is logged, as JSON."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.addHandler(handler)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.removeHandler(handler)


def failing(*args, **kwargs):
    raise RuntimeError(SECRET)


def test_a_job_that_fails(monkeypatch, lines):
    monkeypatch.setattr(einvoice, "validate", failing)
    outcome = jobs.run_job(Message(JUDGE, (UBL,)))
    assert outcome == Message({"failed": True})
    (line,) = lines()
    assert (line["exception"], line["job"]) == ("RuntimeError", "validate")
    assert any("failing" in frame for frame in line["stack"])
    assert SECRET not in str(line)


def test_a_job_without_memory(monkeypatch):
    def greedy(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(einvoice, "validate", greedy)
    assert jobs.run_job(Message(JUDGE, (UBL,))).head == {"limit_exceeded": True}


@pytest.mark.anyio
async def test_a_request_that_fails(lines):
    app = FastAPI()
    app.get("/")(lambda: failing())
    app.add_middleware(ErrorBoundary)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
        answer = await client.get("/", params={"lang": "en"})
    assert_problem(answer, 500, "internal_error")
    assert SECRET not in answer.text
    assert "RuntimeError" in [line.get("exception") for line in lines()]
    assert SECRET not in str(lines())
