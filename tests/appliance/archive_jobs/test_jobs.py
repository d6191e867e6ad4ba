"""Jobs: a ZIP of invoices is validated in the background."""

import io
import json
import zipfile

import pytest

from tests.helpers.served import API, CII, UBL, WRONG
from tests.helpers.waiting import wait_until

JOBS = f"{API}/jobs"


def archive(files):
    """Return a ZIP of pairs of name and content."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in files:
            written.writestr(name, content)
    return target.getvalue()


def send(server, content, lang="en", **fields):
    files = {"file": ("invoices.zip", content)}
    return server.client.post(JOBS, params={"lang": lang}, files=files, data=fields)


def finished(server, content, **options):
    """Send a job, and return its description when it is done."""
    response = send(server, content, **options)
    assert response.status_code == 202, response.text
    url = response.headers["location"]
    assert url == response.json()["url"]
    return wait_until(lambda: (body := server.client.get(url).json())["status"] == "done" and body, server.log)


FILES = [("a.xml", UBL), ("b/wrong.xml", WRONG), ("b/c.xml", CII), ("note.txt", b"x"), ("a.xml", WRONG)]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_job(server):
    job = finished(server, archive([*FILES, ("folder/", b""), (".hidden.xml", UBL)]))
    assert job["files"] == {"total": 5, "done": 5, "valid": 2, "invalid": 2, "unreadable": 1}
    response = server.client.get(job["results"]["jsonl"])
    items = [json.loads(line) for line in response.text.splitlines()]
    assert [(it["filename"], it["is_valid"]) for it in items] == [
        ("a.xml", True),
        ("b/wrong.xml", False),
        ("b/c.xml", True),
        ("note.txt", False),
        ("a.xml (2)", False),
    ]
