"""The operator's guide is up to date; .ci/container.sh runs its commands."""

import json
import re
import shlex
import shutil
import subprocess

import pytest

from appliance.access.plans import BUSINESS
from appliance.api.documents import DOCUMENT_RIGHTS
from appliance.archive_jobs.records import PARTS
from appliance.contract.schemas import Plan
from appliance.settings import Settings, variable_name
from einvoice.draft.draft import Draft
from einvoice.syntax.specifications import specifications
from tests.helpers.archives import archive
from tests.helpers.paths import ROOT
from tests.helpers.served import UBL, WRONG
from tests.helpers.waiting import wait_until

GUIDE = (ROOT / "appliance" / "README.md").read_text(encoding="utf-8")
REPORTED = ("can_autofix", "can_use_inbound_email", "can_export")
"""Rights that share a row: this service does nothing with them."""
LOCKED = re.compile(r"^(\S+)==(\S+)", re.MULTILINE)


def test_guide_lists_exactly_the_settings():
    documented = set(re.findall(r"EINVOICE_(?!KEY_|PLAN_)[A-Z_]+", GUIDE))
    assert documented == {variable_name(name) for name in Settings.model_fields}


def section(title):
    return re.search(rf"^## {title}\n(.*?)^## ", GUIDE, re.DOTALL | re.MULTILINE)[1]


def test_guide_lists_exactly_the_profile_names():
    rows = re.findall(r"^\| (`.*?) \|", section("Profile names"), re.MULTILINE)
    documented = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert sorted(documented) == sorted({it.profile for it in specifications().values()})


def test_guide_lists_the_profiles_of_drafts():
    profiles = Draft.json_schema()["properties"]["profile"]["enum"]
    assert all(f"`{profile}`" in section("Profile names") for profile in profiles if profile)


def test_image_uses_the_tested_versions():
    image, tested = (
        set(LOCKED.findall((ROOT / path).read_text(encoding="utf-8")))
        for path in ("appliance/requirements.lock", ".ci/requirements.lock")
    )
    assert len(image) > 30
    assert image <= tested


def test_every_locked_version_has_a_hash():
    text = (ROOT / "appliance" / "requirements.lock").read_text(encoding="utf-8")
    assert all(entry.count("--hash=sha256:") for entry in re.split(r"\n(?=\S)", text.strip()))


def test_guide_lists_exactly_the_rights_and_limits_of_plans():
    rows = re.findall(r"^\| (`.*?) \|.*\| (.*?) \|$", section("API keys"), re.MULTILINE)
    documented = {name: granted for names, granted in rows for name in re.findall(r"`(\w+)`", names)}
    assert documented.keys() == Plan.model_fields.keys() - {"plan_type"}
    for name, value in BUSINESS.model_dump(include=set(documented)).items():
        expected = {True: "yes", False: "no", None: "unlimited"}[value]
        assert documented[name] == ("yes, but `can_export`" if name in REPORTED else expected)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_first_requests(server, tmp_path):
    text = section("Installation")
    draft = re.search(r"^cat >draft.json <<'END'\n(.*?)^END$", text, re.DOTALL | re.MULTILINE)[1]
    (tmp_path / "draft.json").write_text(draft)
    (tmp_path / "invoice.xml").write_bytes(UBL)
    (tmp_path / "other.xml").write_bytes(WRONG)
    answers = [run(line, server, tmp_path) for line in re.findall(r"^curl .*$", text, re.MULTILINE)]
    validated, batch, capabilities, generated = answers
    assert (validated["is_valid"], [it["is_valid"] for it in batch["items"]]) == (True, [True, False])
    assert capabilities["status"] == "ok"
    assert (generated["is_valid"], generated["xml"][:5]) == (True, "<?xml")


def run(line, server, folder):
    """Run a request of the guide against a server; return its answer."""
    line = line.replace("ei_…", server.client.headers["X-API-Key"])
    command = shlex.split(line.replace("http://127.0.0.1:8080/", str(server.base)))
    return json.loads(subprocess.run([*command, "-sS"], cwd=folder, capture_output=True, check=True).stdout)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("name", DOCUMENT_RIGHTS)
def test_request_of_each_endpoint_for_documents(server, tmp_path, name):
    lines = re.findall(rf"^curl .*/api/external/{name}\?.*$", GUIDE, re.MULTILINE)
    assert len(lines) == 1
    pdf = server.generate(format="ZUGFERD").json()["artifacts"]["zugferd_pdf"]["url"]
    for file, content in {
        "invoice.xml": WRONG,
        "other.xml": UBL,
        "invoice.pdf": server.client.get(pdf).content,
    }.items():
        (tmp_path / file).write_bytes(content)
    assert run(lines[0], server, tmp_path)["status"] == "done"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_requests_for_jobs(server, tmp_path):
    lines = re.findall(r"^curl .*/api/external/jobs.*$", GUIDE, re.MULTILINE)
    (tmp_path / "invoices.zip").write_bytes(archive([("a.xml", UBL), ("b.xml", WRONG)]))
    answers, job = [], {"id": "ID"}
    for line in lines:
        line = line.replace("ID", job["id"]).replace("ei_…", server.client.headers["X-API-Key"])  # may contain "ID"
        command = shlex.split(line.replace("http://127.0.0.1:8080/", str(server.base)))
        answers.append(subprocess.run([*command, "-sS", "-f"], cwd=tmp_path, capture_output=True, check=True).stdout)
        if len(answers) == 1:
            job = json.loads(answers[0])
            url = job["url"]
            wait_until(lambda url=url: server.client.get(url).json()["status"] == "done")
    assert len(lines) == 8
    assert json.loads(answers[1])["files"]["done"] == 2
    assert [(tmp_path / f"{job['id']}-{name}").read_text().count("\n") for name in PARTS] == [2, 3, 3]
    assert json.loads(answers[5])["verdicts"] == {"valid": 1, "invalid": 1, "unreadable": 0}
    assert job["id"] in [it["id"] for it in json.loads(answers[6])["items"]]
    assert server.client.get(job["url"]).status_code == 404
