"""The place of KoSIT's daemon: read as its clients read the reports."""

import base64
import hashlib
import re
import shlex
import shutil
import subprocess

import pytest
from lxml import etree

import einvoice
from tests.helpers.served import CII, ROOT, UBL, VALIDATE, WRONG, assert_problem, declaring, http, serving

NAMES = {
    "rep": "http://www.xoev.de/de/validator/varl/1",
    "s": "http://www.xoev.de/de/validator/framework/1/scenarios",
    "d": "http://www.xoev.de/de/validator/framework/1/daemon",
    "html": "http://www.w3.org/1999/xhtml",
}
NOT_SCHEMA_VALID = WRONG.replace(b"cbc:BuyerReference>", b"cbc:Buyer>")
WARNED = UBL.replace(b"+49 341 5550114", b"no")
"""Violates BR-DE-27, a warning."""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    """A server whose requests without a key use the one of "daemon"."""
    with serving(tmp_path_factory.mktemp("daemon") / "data", workers=1, kosit_daemon="daemon") as running:
        yield running


@pytest.fixture(scope="module")
def key(daemon):
    assert_problem(post(daemon, UBL), 401, "key_missing")
    daemon.add_plan("EINVOICE_PLAN_DAEMON=can_use_api")
    return daemon.add_key("daemon", "daemon")


def post(server, content, path="/", **headers):
    return http.post(server.base.join(path), content=content, headers={"Content-Type": "application/xml", **headers})


def report(response, status):
    assert (response.status_code, response.headers["content-type"]) == (status, "application/xml")
    root = etree.fromstring(response.content)
    assert (root.tag, root.get("varlVersion")) == (f"{{{NAMES['rep']}}}report", "1.0.0")
    recommended = "accept" if status == 200 else "reject"
    assert len(root.xpath(f"rep:assessment/rep:{recommended}", namespaces=NAMES)) == 1
    assert len(root.xpath("rep:assessment/*", namespaces=NAMES)) == 1
    return lambda path: root.xpath(path, namespaces=NAMES)


@pytest.mark.parametrize("document", [UBL, CII, declaring("urn:cen.eu:en16931:2017")])
def test_valid_document_is_accepted(daemon, key, document):
    found = report(post(daemon, document), 200)
    assert found("string(@valid)") == "true"
    assert found("//rep:message") == []
    hashed = base64.b64encode(hashlib.sha256(document).digest()).decode()
    assert found("string(rep:documentIdentification/rep:documentHash/rep:hashValue)") == hashed
    scenario = [etree.QName(it).localname for it in found("rep:scenarioMatched/s:scenario/*")]
    assert scenario[:4] == ["name", "match", "validateWithXmlSchema", "validateWithSchematron"]
    match = found("string(rep:scenarioMatched/s:scenario/s:match)")
    path, _, value = match.removeprefix("exists(").removesuffix(")").partition("[. = ")
    elements = [f"*[local-name()='{it}']" for it in path.replace("*:", "").split("/")[1:]]  # lxml knows XPath 1.0
    declared = etree.fromstring(document).xpath("/" + "/".join(elements))
    assert [it.text for it in declared] == [value.strip("]'")]
    steps = found("rep:scenarioMatched/rep:validationStepResult/@id")
    assert steps[:3] == ["val-xml", "val-xsd", "val-sch.1"]
    assert "".join(found("rep:assessment/rep:accept/rep:explanation/html:html//html:pre/text()"))


def test_errors_are_messages(daemon, key):
    found = report(post(daemon, WRONG, "/archive/R%201.xml?lang=en"), 406)
    assert found("string(rep:documentIdentification/rep:documentReference)") == "R 1.xml"
    assert found("string(rep:scenarioMatched/s:scenario/s:name)") == "XRechnung"
    expected = einvoice.validate(WRONG, lang="en").errors
    messages = found("//rep:validationStepResult[@valid='false']/rep:message")
    assert [
        (it.get("code"), it.get("level"), it.get("xpathLocation"), int(it.get("lineNumber"))) for it in messages
    ] == [(it.code, "error", it.xpath, it.line) for it in expected]
    assert messages[0].text.startswith(f"[{expected[0].code}] {expected[0].title('en')}")
    assert [it.get("id") for it in messages] == ["val-sch.1.1", "val-sch.1.2"]


def test_warnings_alone_are_accepted(daemon, key):
    assert [it.code for it in einvoice.validate(WARNED).warnings] == ["BR-DE-27"]
    found = report(post(daemon, WARNED), 200)
    assert found("string(@valid)") == "false"
    assert [(it.get("code"), it.get("level")) for it in found("//rep:message")] == [("BR-DE-27", "warning")]


def test_schematron_is_not_run_on_what_violates_the_schema(daemon, key):
    found = report(post(daemon, NOT_SCHEMA_VALID), 406)
    assert found("//rep:validationStepResult/@id") == ["val-xml", "val-xsd"]
    assert found("//rep:message/@code") == ["SCHEMA-UNKNOWN-ELEMENT"]


def test_content_at_which_the_schematron_stops_is_not_processed(daemon, key):
    amount = b"<ram:LineTotalAmount>"
    start = CII.index(amount)
    end = CII.index(b"</ram:LineTotalAmount>", start) + len(b"</ram:LineTotalAmount>")
    twice = CII[:end] + CII[start:end] + CII[end:]
    found = report(post(daemon, twice), 422)
    assert found("//rep:validationStepResult[@id='val-sch.1' and @valid='false']/rep:message/@code") == [
        "LAYER-STOPPED"
    ]
    assert found("string(@valid)") == "false"
    report(post(daemon, twice.replace(b"<ram:BuyerReference>", b"<ram:X/><ram:BuyerReference>")), 406)


@pytest.mark.parametrize("declared", ["2.3", "9.9", "urn:cen.eu:en16931:2017 ", None])
def test_document_without_a_scenario_is_rejected(daemon, key, declared):
    found = report(post(daemon, declaring(declared)), 406)
    assert len(found("rep:noScenarioMatched")) == 1
    assert found("string(@valid)") == "false"


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [(b"<a/>", 406, "FILE-ROOT"), (b"<a>", 422, "FILE-XML-END"), (b"no XML", 422, "FILE-FORMAT")],
)
def test_other_documents(daemon, key, content, status, code):
    found = report(post(daemon, content), status)
    assert found("rep:noScenarioMatched/rep:validationStepResult/rep:message/@code") == [code]


def test_pdf_is_not_processed(daemon, key):
    links = daemon.generate(format="ZUGFERD").json()["artifacts"]
    report(post(daemon, daemon.client.get(links["zugferd_pdf"]["url"]).content), 422)


@pytest.mark.parametrize(("content", "content_type"), [(b"", "application/xml"), (b"x", "multipart/form-data")])
def test_no_content(daemon, key, content, content_type):
    response = http.post(daemon.base, content=content, headers={"Content-Type": content_type})
    assert_problem(response, 400, "content_expected")


def test_names_of_documents_are_escaped(daemon, key):
    found = report(post(daemon, UBL, "/a%00%EF%BF%BF<.xml"), 200)
    assert found("string(//rep:documentReference)") == "a\\x00\\uffff<.xml"


def test_size_of_a_document(daemon, key):
    limit = 10_485_760
    report(post(daemon, UBL + b" " * (limit - len(UBL))), 200)
    assert_problem(post(daemon, UBL + b" " * (limit + 1 - len(UBL))), 413, "body_too_large")


def test_given_key_is_used(daemon, key):
    assert_problem(post(daemon, UBL, **{"X-API-Key": "ei_x"}), 401, "key_invalid")
    daemon.add_plan("EINVOICE_PLAN_NO_FILE=can_use_api,daily_validation_limit=0")
    assert_problem(post(daemon, UBL, **daemon.add_key("other", "no-file")), 429, "daily_validation_limit")


def test_other_endpoints_still_require_a_key(daemon, key):
    assert_problem(http.post(daemon.base.join(VALIDATE), files={"file": UBL}), 401, "key_missing")
    assert_problem(post(daemon, UBL, "/api/x"), 401, "key_missing")
    assert http.get(daemon.base).headers["content-type"].startswith("text/html")
    assert_problem(http.get(daemon.base.join("/unknown")), 404, "not_found")


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_request_of_the_guide(daemon, tmp_path):
    guide = (ROOT / "appliance" / "README.md").read_text("utf-8")
    (line,) = re.findall("^curl .*--data-binary @invoice.xml.*$", guide, re.MULTILINE)
    line = line.replace("ei_…", daemon.client.headers["X-API-Key"])
    command = shlex.split(line.replace("http://127.0.0.1:8080/", str(daemon.base)))
    (tmp_path / "invoice.xml").write_bytes(UBL)
    answer = subprocess.run([*command, "-sS"], cwd=tmp_path, capture_output=True, check=True).stdout
    assert b"<rep:accept>" in answer


def test_pages_of_the_daemon(daemon):
    health = http.get(daemon.base.join("/server/health"))
    assert health.headers["content-type"] == "application/xml"
    root = etree.fromstring(health.content)
    assert root.findtext("d:status", namespaces=NAMES) == "UP"
    assert root.findtext("d:application/d:name", namespaces=NAMES) == "einvoice"
    assert int(root.findtext("d:memory/d:freeMemory", namespaces=NAMES)) > 0
    root = etree.fromstring(http.get(daemon.base.join("/server/config")).content)
    assert "XRechnung" in [it.text for it in root.iterfind("s:scenario/s:name", NAMES)]


def test_the_start_reports_a_name_without_a_key(daemon):
    assert "EINVOICE_KOSIT_DAEMON names no valid key" in daemon.log()


@pytest.mark.slow
def test_switched_on_without_a_name_each_request_needs_a_key(tmp_path):
    with serving(tmp_path / "data", workers=1, kosit_daemon="on") as running:
        running.add_key("on")
        assert_problem(post(running, UBL), 401, "key_missing")
        report(running.client.post("/", content=UBL), 200)


def test_switched_off_nothing_is_posted(server):
    assert_problem(server.client.post("/", content=UBL), 405, "method_not_allowed")
    assert_problem(server.client.get("/server/health"), 404, "not_found")
