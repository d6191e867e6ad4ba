"""ZIP archives in the web app, in Chromium against a real server."""

import itertools
import json
import re
from functools import partial

import httpx
import pytest

from tests.helpers.archives import archive
from tests.helpers.served import API, UBL, WRONG
from tests.helpers.waiting import SECONDS

pytestmark = pytest.mark.slow

FILES = [("a.xml", UBL), ("b.xml", WRONG), ("note.txt", b"x")]
JOBS = f"{API}/jobs"
_NUMBERS = itertools.count()


@pytest.fixture
def client(server):
    """A client with a key of its own, which has no jobs."""
    headers = server.add_key(f"zip-{next(_NUMBERS)}")
    with httpx.Client(base_url=server.base, headers=headers, timeout=SECONDS) as client:
        yield client


@pytest.fixture
def opened_with_key(opened, client):
    def opened_with_key(**options):
        page = opened(key=False, **options)
        page.enter_key(client.headers["X-API-Key"])
        page.page.wait_for_selector(".key-valid")
        return page

    return opened_with_key


def choose(page, tmp_path, content, name="rechnungen.zip"):
    (tmp_path / name).write_bytes(content)
    page.page.set_input_files("#files", tmp_path / name)


def test_archive_is_validated(opened_with_key, client, tmp_path):
    page = opened_with_key()
    assert "Ein ZIP mit vielen Rechnungen, höchstens 100 MB" in page.text("#drop-hint")
    choose(page, tmp_path, archive(FILES))
    page.page.wait_for_selector(".jobs >> text=Fertig. Gültig: 1, nicht gültig: 1, nicht lesbar: 1.")
    assert page.text("#status").startswith("rechnungen.zip: Fertig.")
    (job,) = client.get(JOBS).json()["items"]
    parts = {"Ergebnisse (CSV)": "results.csv", "Befunde (CSV)": "findings.csv"}
    parts |= {"Ergebnisse (JSON Lines)": "results.jsonl", "Zusammenfassung (JSON)": "summary"}
    for label, part in parts.items():
        name, content = page.download(f"text={label}")
        assert name == f"rechnungen-{part}" + ("" if "." in part else ".json")
        assert content == client.get(f"{JOBS}/{job['id']}/{part}").content
    assert page.page.locator("#result").is_hidden()


def test_job_is_found_again_and_deleted(opened_with_key, client, tmp_path):
    client.post(JOBS, files={"file": ("rechnungen.zip", archive(FILES))}).raise_for_status()
    page = opened_with_key()
    page.page.wait_for_selector(".jobs >> text=Fertig.")
    delete = page.page.get_by_role("group", name="rechnungen.zip").get_by_role("button").last
    assert delete.inner_text() == "Löschen"
    delete.click()
    assert delete.inner_text() == "Endgültig löschen"
    delete.blur()
    assert delete.inner_text() == "Löschen"
    for _ in range(2):
        delete.press("Enter")
    page.page.wait_for_selector("#jobs", state="hidden")
    assert "rechnungen.zip" in page.text("#status")
    assert client.get(JOBS).json()["count"] == 0
    assert page.page.evaluate("document.activeElement.id") == "files"


STATES = [
    ({"status": "queued", "phase": "files"}, "Wartet, bis ein früheres ZIP geprüft ist."),
    ({"status": "running", "phase": "files"}, "3 von 10 Dateien geprüft."),
    ({"status": "waiting", "phase": "files", "message": "Der Speicher ist voll."}, "Der Speicher ist voll."),
    ({"status": "running", "phase": "causes"}, "nach gemeinsamen Ursachen wird gesucht."),
]


@pytest.mark.parametrize(("state", "shown"), STATES)
def test_state_of_a_job(opened, client, state, shown):
    job = client.post(JOBS, files={"file": ("rechnungen.zip", archive(FILES))}).json()
    files = {"total": 10, "done": 3, "valid": 3, "invalid": 0, "unreadable": 0}
    body = {**job, "results": None, "files": files, **state}
    page = opened(key=False)
    listed = {"status": "ok", "count": 1, "items": [body]}
    page.page.route(re.compile(r"/api/external/jobs\?"), partial(answered, body=listed))
    page.page.route(re.compile(r"/api/external/jobs/"), partial(answered, body=body))
    page.enter_key(client.headers["X-API-Key"])
    page.page.wait_for_selector(f".jobs >> text={shown}")
    progress = page.page.get_by_role("progressbar", name="Fortschritt der Prüfung von rechnungen.zip")
    assert (progress.get_attribute("max"), progress.evaluate("(it) => it.value")) == ("10", 3)
    assert page.page.get_by_role("group", name="rechnungen.zip").get_by_role("button").count() == 1


def answered(route, body):
    route.fulfill(status=200, content_type="application/json", body=json.dumps(body))


def test_refused_archive_is_explained(opened_with_key, tmp_path):
    page = opened_with_key()
    choose(page, tmp_path, archive([]))
    page.page.wait_for_selector("#error >> text=ZIP ohne Dateien")
    page.assert_becomes(lambda: len(page.console_errors), 1)  # the browser logs the status 422
    page.page.click("#error >> text=Erneut versuchen")
    page.assert_becomes(lambda: len(page.console_errors), 2)
    page.page.wait_for_selector("#error >> text=ZIP ohne Dateien")
    page.console_errors.clear()


def test_key_without_the_right(opened, server, tmp_path):
    server.add_plan("EINVOICE_PLAN_NO_JOBS=can_use_api,can_batch")
    page = opened(key=False)
    page.enter_key(server.add_key("without-jobs", "no-jobs")["X-API-Key"])
    page.page.wait_for_selector(".key-valid")
    assert "ZIP" not in page.text("#drop-hint")
    choose(page, tmp_path, archive(FILES))
    page.page.wait_for_selector("#error >> text=ZIP-Archive werden hier nicht geprüft")


def test_archive_beside_invoices(opened_with_key, tmp_path):
    page = opened_with_key(locale="en-GB")
    (tmp_path / "invoice.xml").write_bytes(UBL)
    (tmp_path / "many.zip").write_bytes(archive(FILES))
    page.page.set_input_files("#files", [tmp_path / "invoice.xml", tmp_path / "many.zip"])
    page.page.wait_for_selector("#result-title >> text=Valid")
    page.page.wait_for_selector(".jobs >> text=Done. Valid: 1, not valid: 1, unreadable: 1.")
    page.page.click("[data-lang=de]")
    page.page.wait_for_selector(".jobs >> text=Fertig. Gültig: 1")
    assert page.texts(".jobs button") == [
        "Ergebnisse (CSV)", "Befunde (CSV)", "Ergebnisse (JSON Lines)", "Zusammenfassung (JSON)", "Löschen",
    ]  # fmt: skip
