"""Endpoints for whole documents when the service cannot serve them: status, code and headers of the contract."""

import json

import pytest

from appliance.api.documents import DOCUMENT_RIGHTS
from einvoice.localization import Messages
from tests.appliance.workers.test_refusals import CASES, END, PART, running
from tests.helpers.archives import archive
from tests.helpers.served import API, UBL, assert_problem

WAITS = {"status": 503, "code": "busy", "retry_after": "2"}
TOO_COMPLEX = {"status": 422, "code": "too_complex"}
EXPECTED = {
    "queue full": WAITS,
    "wait": WAITS,
    "no worker": WAITS,
    "worker exits": WAITS,
    "upload memory": WAITS,
    "time limit": TOO_COMPLEX,
    "memory limit": TOO_COMPLEX,
    "internal error": {"status": 500, "code": "internal_error"},
    "slow": {"status": 408, "code": "upload_too_slow"},
    "size": {"status": 413, "code": "file_too_large"},
    "no form": {"status": 422, "code": "invalid_form"},
    "cut off": {"status": 422, "code": "invalid_form"},
    "right": {"status": 403, "code": "right_required"},
    "daily limit": {"status": 429, "code": "daily_validation_limit"},
}
"""What is answered, by the name of the case in `tests.appliance.workers.test_refusals`."""


def body(name, case, content):
    """Return the body of a request that has what the case needs."""
    part = PART % (b"files" if name == "diff" else b"file")
    part = part.replace(b"<a/>", content)
    parts = part * (2 if name == "diff" else 1)
    return parts if case == "cut off" else parts + END


@pytest.mark.anyio
@pytest.mark.parametrize("lang", ["de", "en"])
@pytest.mark.parametrize("case", EXPECTED)
@pytest.mark.parametrize("name", DOCUMENT_RIGHTS)
async def test_refused_requests(monkeypatch, tmp_path, name, case, lang):
    content = b"<" * 10_485_761 if case == "size" else b"<a/>"
    plan = (
        f"EINVOICE_PLAN_SMALL=can_use_api,daily_validation_limit=0,{'' if case == 'right' else DOCUMENT_RIGHTS[name]}"
    )
    changes = {"path": f"{API}/{name}", "body": body(name, case, content), "query": f"lang={lang}".encode()}
    if name == "fix":  # it has the queue of long requests
        changes["is_long"] = True
    async with running(monkeypatch, tmp_path, {**CASES[case], **changes, "whole": True}, plan) as request:
        start, *rest = await request()
    headers = {key.decode(): value.decode() for key, value in start["headers"]}
    problem = json.loads(b"".join(it.get("body", b"") for it in rest))
    expected = EXPECTED[case]
    assert (start["status"], problem["status"], problem["code"]) == (*[expected["status"]] * 2, expected["code"])
    assert headers["content-type"] == "application/problem+json"
    assert headers["cache-control"] == "no-store"
    assert headers.get("retry-after") == expected.get("retry_after") or case == "daily limit"
    assert {"type", "title", "status", "detail", "code"} <= problem.keys()
    title = Messages("appliance", "problem_titles")[lang][expected["code"]]
    assert problem["title"] == title


def test_redis_is_not_needed(without_redis):
    """Nothing is stored; daily limits are counted in memory."""
    rights = ",".join(DOCUMENT_RIGHTS.values())
    limited = without_redis.with_plan(f"can_use_api,daily_validation_limit=6,{rights}")
    with limited.client:
        for name in DOCUMENT_RIGHTS:
            field = "files" if name == "diff" else "file"
            files = [(field, ("a.xml", UBL))] * (2 if name == "diff" else 1)
            response = limited.client.post(f"{API}/{name}", files=files)
            assert response.status_code == (422 if name == "extract" else 200), response.text
        assert_problem(limited.client.post(f"{API}/read", files={"file": UBL}), 429, "daily_validation_limit")


def test_jobs_need_redis(without_redis):
    response = without_redis.client.post(f"{API}/jobs", files={"file": archive([("a.xml", UBL)])})
    assert_problem(response, 503, "jobs_unavailable")
    assert int(response.headers["retry-after"]) > 0
    for path in ("jobs", "jobs/x", "jobs/x/summary", "jobs/x/results.csv"):
        assert_problem(without_redis.client.get(f"{API}/{path}"), 503, "jobs_unavailable")
    assert_problem(without_redis.client.delete(f"{API}/jobs/x"), 503, "jobs_unavailable")
