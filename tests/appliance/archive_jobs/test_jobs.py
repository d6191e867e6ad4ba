"""Jobs: a ZIP of invoices is validated in the background."""

import csv
import io
import json
import os
import signal
from typing import get_args

import httpx
import pytest

import einvoice
from appliance.api.jobs import JOB_NOT_DONE
from appliance.archive_jobs.records import PARTS, Phase
from appliance.contract.problems import Problem
from tests.helpers.archives import archive
from tests.helpers.served import API, CII, UBL, WRONG, assert_problem, http, key_in, serving
from tests.helpers.waiting import SECONDS, wait_until

JOBS = f"{API}/jobs"
FILES = [("a.xml", UBL), ("b/wrong.xml", WRONG), ("b/c.xml", CII), ("note.txt", b"x"), ("a.xml", WRONG)]
NAMES = ["a.xml", "b/wrong.xml", "b/c.xml", "note.txt", "a.xml (2)"]
PAIRS = [(name, content) for name, (_, content) in zip(NAMES, FILES, strict=True)]
MANY = archive((f"{number}.xml", WRONG if number % 100 == 7 else UBL) for number in range(600))


def send(server, content, lang="en", name="invoices.zip", **fields):
    return server.client.post(JOBS, params={"lang": lang}, files={"file": (name, content)}, data=fields)


def created(server, content, **options):
    """Send a job, and return its URL."""
    response = send(server, content, **options)
    assert response.status_code == 202, response.text
    body = response.json()
    assert body["status"] in ("queued", "running", "done")
    assert response.headers["location"] == body["url"] == str(server.base.join(f"{JOBS}/{body['id']}"))
    return body["url"]


def finished(server, url):
    """Return the description of a job when it is done."""
    return wait_until(lambda: (body := server.client.get(url).json())["status"] == "done" and body, server.log)


@pytest.fixture(scope="module")
def job(server):
    return finished(server, created(server, archive([*FILES, ("folder/", b""), (".hidden.xml", UBL)])))


def result(server, job, name):
    response = server.client.get(job["results"][name])
    assert response.status_code == 200
    return response


def test_description(job):
    assert job["files"] == {"total": 5, "done": 5, "valid": 2, "invalid": 2, "unreadable": 1}
    assert (job["filename"], job["language"], job["phase"], job["message"]) == ("invoices.zip", "en", "done", None)
    assert job["created_at"] <= job["started_at"] <= job["finished_at"] < job["expires_at"]
    assert job["results"].keys() == {"jsonl", "csv", "findings_csv", "summary"}


def test_a_line_is_an_item_of_a_batch(server, job):
    items = [json.loads(line) for line in result(server, job, "jsonl").text.splitlines()]
    expected = server.batch(*PAIRS, links="false").json()["items"]
    for item, other in zip(items, expected, strict=True):
        assert len(item.pop("sha256")) == 64
        assert (item.pop("processing_time_ms") >= 0, other.pop("processing_time_ms") >= 0) == (True, True)
    assert items == expected
    assert [it["filename"] for it in items] == NAMES


def test_tables(server, job):
    rows = list(csv.DictReader(io.StringIO(result(server, job, "csv").text)))
    expected = einvoice.validate_many(PAIRS, workers=0, lang="en")
    assert [row["file"] for row in rows] == NAMES
    assert result(server, job, "csv").text == expected.to_csv(which="files")
    assert result(server, job, "findings_csv").text == expected.to_csv()


def test_summary(server, job):
    summary = result(server, job, "summary").json()
    results = einvoice.validate_many(PAIRS, workers=0, lang="en")
    overview, causes = results.summary(), results.causes(workers=0, progress=False)
    assert summary["verdicts"] == overview.verdicts == {"valid": 2, "invalid": 2, "unreadable": 1}
    assert [(it["code"], it["files"], it["findings"]) for it in summary["codes"]] == [
        (it.code, it.files, it.findings) for it in overview.codes
    ]
    assert summary["rule_sets"] == list(overview.rulesets)
    assert [(it["text"], it["files"], it["valid"]) for it in summary["causes"]["items"]] == [
        (it.text("en"), len(it.files), it.valid) for it in causes
    ]
    assert [it["is_question"] for it in summary["causes"]["items"]] == [it.is_question for it in causes]
    figures = {name: summary["causes"][name] for name in ("examined", "invalid", "solvable", "incomplete")}
    assert figures == {"examined": 2, "invalid": 2, "solvable": 2, "incomplete": 0}


@pytest.mark.parametrize("part", PARTS)
def test_resumed_download(server, job, part):
    url = f"{job['url']}/{part}"
    whole = server.client.get(url)
    size, etag = len(whole.content), whole.headers["etag"]
    assert int(whole.headers["content-length"]) == size
    assert whole.headers["accept-ranges"] == "bytes"
    parts = {
        "bytes=0-9": whole.content[:10],
        "bytes=100-": whole.content[100:],
        "bytes=-7": whole.content[-7:],
        f"bytes=10-{size * 2}": whole.content[10:],
    }
    for requested, expected in parts.items():
        response = server.client.get(url, headers={"Range": requested, "If-Range": etag})
        assert (response.status_code, response.content) == (206, expected), requested
        at = whole.content.rindex(expected) if len(expected) > 50 or expected == whole.content[-7:] else 0
        assert response.headers["content-range"] == f"bytes {at}-{at + len(expected) - 1}/{size}"
    for headers in ({"Range": "bytes=0-9", "If-Range": '"other"'}, {"Range": "lines=1-2"}, {"Range": "bytes=9-1"}):
        response = server.client.get(url, headers=headers)
        assert (response.status_code, response.content) == (200, whole.content)
    response = server.client.get(url, headers={"Range": f"bytes={size}-"}, params={"lang": "en"})
    assert str(size) in assert_problem(response, 416, "range_not_satisfiable").detail
    assert response.headers["content-range"] == f"bytes */{size}"
    head = server.client.head(url)
    assert (head.status_code, head.headers["content-length"], head.content) == (200, str(size), b"")


def test_list_and_deletion(server):
    with httpx.Client(base_url=server.base, headers=server.add_key("lister"), timeout=SECONDS) as client:
        urls = []
        for name in ("first.zip", "second.zip"):
            response = client.post(JOBS, files={"file": (name, archive(FILES))})
            urls.append(response.json()["url"])
        for url in urls:
            wait_until(lambda url=url: client.get(url).json()["status"] == "done")
        found = client.get(JOBS).json()
        assert (found["status"], found["count"]) == ("ok", 2)
        assert [it["filename"] for it in found["items"]] == ["second.zip", "first.zip"]
        assert found["items"][1] == client.get(urls[0]).json()
        assert client.delete(urls[1]).status_code == 204
        for request in (client.get, client.delete):
            assert_problem(request(urls[1]), 404, "job_not_found")
        assert [it["url"] for it in client.get(JOBS).json()["items"]] == [urls[0]]


def test_running_job_is_deleted(server):
    url = created(server, MANY)
    assert server.client.delete(url).status_code == 204
    assert_problem(server.client.get(url), 404, "job_not_found")
    assert server.validate().status_code == 200


def test_other_keys_do_not_find_a_job(server, job):
    other = server.add_key("other-jobs")
    paths = [job["url"], *(f"{job['url']}/{name}" for name in (*PARTS, "summary"))]
    for url in paths:
        assert_problem(http.get(url, headers=other), 404, "job_not_found")
        assert_problem(http.get(url), 401, "key_missing")
    assert_problem(http.request("DELETE", job["url"], headers=other), 404, "job_not_found")
    assert http.get(server.base.join(JOBS), headers=other).json() == {"status": "ok", "count": 0, "items": []}
    for path in ("x", f"{job['id']}x", f"{job['id']}/other.csv"):
        assert server.client.get(f"{JOBS}/{path}").status_code == 404


def test_results_of_a_job_that_is_not_done(server):
    url = created(server, MANY)
    response = server.client.get(f"{url}/results.jsonl", params={"lang": "en"})
    assert "of 600 files" in assert_problem(response, 409, "job_not_done").detail
    assert int(response.headers["retry-after"]) > 0
    assert server.client.get(url).json()["results"] is None
    server.client.delete(url)


def test_problem_of_a_job_that_is_not_done_says_what_is_done():
    said = [Problem(it, done=7, total=7).to_dict("en")["detail"].partition(". ")[0] for it in JOB_NOT_DONE.values()]
    assert said == [
        "7 of 7 files are validated",
        "All files (7) are validated; common causes are still being searched for",
        "All files (7) are validated; the summary is still being made",
    ]
    assert {*JOB_NOT_DONE, "done"} == set(get_args(Phase))


def encrypted():
    content = bytearray(archive(FILES))
    content[content.index(b"PK\1\2") + 8] |= 1
    return bytes(content)


def test_file_that_cannot_be_unpacked(server):
    done = finished(server, created(server, encrypted()))
    assert done["files"] == {"total": 5, "done": 5, "valid": 1, "invalid": 2, "unreadable": 2}
    first = json.loads(result(server, done, "jsonl").text.splitlines()[0])
    assert [it["code"] for it in first["errors"]] == ["FILE-MEMBER"]
    assert "encrypted" in first["errors"][0]["explanation"]


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"", 422, "empty_file"),
        (UBL, 422, "archive_unreadable"),
        (archive(FILES)[:-5], 422, "archive_unreadable"),
        (archive([]), 422, "archive_empty"),
        (archive([("folder/", b""), (".hidden", b"x")]), 422, "archive_empty"),
        (archive((f"{number}.xml", bytes(9_000_000)) for number in range(12)), 422, "archive_refused"),
    ],
)
def test_refused_archives(server, content, status, code):
    assert_problem(send(server, content), status, code)


def test_invalid_requests(server):
    assert_problem(send(server, archive(FILES), lang="xx"), 422, "invalid_lang")
    assert_problem(send(server, archive(FILES), engine="java"), 422, "invalid_engine")
    assert_problem(send(server, archive(FILES), engine="reference"), 403, "right_required")
    assert_problem(server.client.post(JOBS, json={}), 422, "invalid_form")
    assert_problem(server.client.post(JOBS, files={"other": b"x"}), 422, "no_file")
    twice = [("file", ("a.zip", archive(FILES)))] * 2
    assert_problem(server.client.post(JOBS, files=twice), 422, "one_file_expected")
    assert_problem(server.client.put(JOBS), 405, "method_not_allowed")


@pytest.mark.parametrize("settings", [{"artifacts": "off"}, {"job_megabytes": 0}])
def test_jobs_are_not_offered(tmp_path, settings):
    with serving(tmp_path / "data", workers=1, **settings) as server:
        assert_problem(send(server, archive(FILES)), 501, "jobs_not_offered")
        assert_problem(server.client.get(JOBS), 501, "jobs_not_offered")
        assert server.client.get(f"{API}/capabilities").json()["jobs"]["available"] is False
        assert not (server.data / "jobs").exists()


def test_server_that_is_killed(tmp_path):
    """Two workers and the server end in the middle of a job; each file has one result, in order."""
    with serving(tmp_path / "data", workers=2) as server:
        url = created(server, MANY)
        for files in (64, 192):
            wait_until(lambda files=files: server.client.get(url).json()["files"]["done"] >= files)
            os.kill(server.workers()[0], signal.SIGKILL)
        wait_until(lambda: server.client.get(url).json()["files"]["done"] >= 256)
        key = server.client.headers["X-API-Key"]
        server.process.kill()
        server.process.wait()
    with serving(tmp_path / "data", workers=2) as server:
        server.client.headers["X-API-Key"] = key
        done = finished(server, str(server.base.join(JOBS)) + "/" + url.rpartition("/")[2])
        assert done["files"] == {"total": 600, "done": 600, "valid": 594, "invalid": 6, "unreadable": 0}
        items = [json.loads(line) for line in result(server, done, "jsonl").text.splitlines()]
        assert [it["filename"] for it in items] == [f"{number}.xml" for number in range(600)]
        assert result(server, done, "summary").json()["causes"]["examined"] == 6


def test_replicas_share_jobs(own_redis, tmp_path):
    """One server ends in the middle of a job; the other one answers for it, and goes on when the lease has ended."""
    with serving(tmp_path / "a", workers=1, artifacts=own_redis.url) as first:
        (tmp_path / "b").mkdir()
        (tmp_path / "b" / "keys.env").write_text((first.data / "keys.env").read_text())
        with serving(tmp_path / "b", workers=1, artifacts=own_redis.url) as second:
            second.client.headers["X-API-Key"] = key_in(first.call)
            url = second.base.join(httpx.URL(created(first, MANY)).path)
            wait_until(lambda: second.client.get(url).json()["files"]["done"] >= 64)
            assert second.client.get(url).json()["status"] == "running"
            first.process.kill()
            first.process.wait()
            done = finished(second, url)
            assert done["files"]["done"] == 600
            names = [json.loads(line)["filename"] for line in result(second, done, "jsonl").text.splitlines()]
            assert names == [f"{number}.xml" for number in range(600)]


def test_audit_log_has_a_line_for_each_file(server, job):
    lines = [json.loads(line) for line in server.log().splitlines()]
    lines = [line for line in lines if line["logger"] == "appliance.audit" and line["request_id"] == job["id"]]
    assert [(line["valid"], line["syntax"]) for line in lines] == [
        (True, "UBL"),
        (False, "UBL"),
        (True, "CII"),
        (False, None),
        (False, "UBL"),
    ]
    assert {len(line["sha256"]) for line in lines} == {64}
