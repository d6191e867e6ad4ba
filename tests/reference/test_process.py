"""Stylesheets that abort, hang, crash their process or access network and files fail separately."""

import os
import signal
import socket
import sys
import threading

import pytest

from einvoice.reference.process import limits, sandbox
from einvoice.reference.process.sandbox import request
from einvoice.sandbox import protocol
from einvoice.sandbox.process import SandboxProcess
from tests.helpers.bundle_files import files, packed, rule, stylesheet, template

pytest.importorskip("saxonche")

XS = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"'
LOOP = '<xsl:value-of select="count((1 to 1000000000)[. mod 7 = count(1 to .)])"/>'


@pytest.fixture
def run_stylesheet(add_bundle, invoice, validate_reference):
    """Runs a stylesheet with these instructions after a valid one and returns its result."""

    def run_stylesheet(*content, **options):
        add_bundle(packed(files(others={"xsl/de.xsl": stylesheet(rule("A"), *content, **options)})))
        xsd, core, run = validate_reference(invoice).runs
        assert xsd.executed
        assert core.codes == {"BR-CL-23"}
        return run

    return run_stylesheet


@pytest.fixture
def new_worker():
    """A new worker, stopped after the test."""
    sandbox._worker.stop()
    yield sandbox._worker
    sandbox._worker.stop()


def value(expression):
    return f'<xsl:value-of select="{expression}"/>'


# ---------------------------------------------------------------- aborts


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        ('<xsl:message terminate="yes">no more</xsl:message>', "terminated by xsl:message"),
        ('<xsl:sequence select="error()"/>', "signalled by application"),
        (value("number(//*)"), "sequence of more than one item"),
        (value("xs:decimal(string(/*))"), "xs:decimal"),
        ('<xsl:call-template name="endless"/>', "Too many nested"),
    ],
)
def test_aborted_stylesheet_has_no_findings(content, detail, run_stylesheet):
    endless = '<xsl:template name="endless"><x><xsl:call-template name="endless"/></x></xsl:template>'
    run = run_stylesheet(content, namespaces=XS, before=endless)
    assert (run.executed, run.reason, run.reports) == (False, "stopped", ())
    assert detail in run.detail
    assert run.rules == 1


@pytest.mark.parametrize("match", ["nothing", "/*"])
def test_output_without_svrl_is_rejected(match, add_bundle, invoice, validate_reference):
    """The output is text of the document, or another element."""
    other = stylesheet(rule("A")).replace(b'match="/"', f'match="{match}"'.encode())
    other = other.replace(b"svrl:schematron-output", b"svrl:other")
    add_bundle(packed(files(others={"xsl/de.xsl": other})))
    run = validate_reference(invoice).runs[2]
    assert (run.executed, run.reason) == (False, "stopped")
    assert "The output is not" in run.detail


def test_non_terminating_messages_are_ignored(run_stylesheet):
    assert run_stylesheet("<xsl:message>progress</xsl:message>").executed


# ---------------------------------------------------------------- file and network access


def test_network_access_is_prohibited(run_stylesheet):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        host = f"127.0.0.1:{server.getsockname()[1]}"
        run = run_stylesheet(value(f"doc(concat('http', '://{host}/'))"))
        assert (run.executed, run.reason) == (False, "stopped")
        assert "prohibited" in run.detail
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.parametrize(
    "expression",
    [
        "unparsed-text(concat('/etc/', 'passwd'))",
        "doc(concat('xsl', '/en.xsl'))",
        "collection(concat('/', 'etc'))",
        "function-lookup(xs:QName('fn:unparsed-text'), 1)('/etc/passwd')",
    ],
)
def test_file_access_is_prohibited(expression, run_stylesheet):
    namespaces = f'{XS} xmlns:fn="http://www.w3.org/2005/xpath-functions"'
    run = run_stylesheet(value(expression), namespaces=namespaces)
    assert (run.executed, run.reason) == (False, "stopped")
    assert "root:" not in run.detail


@pytest.mark.parametrize("reads", [False, True])
@pytest.mark.parametrize("uri", ["http://{host}/x", "file:///etc/hostname"])
def test_external_entities_are_not_read(uri, reads, run_stylesheet):
    """Applies to parsed strings, also if the stylesheet may read its own files."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        entity = uri.format(host=f"127.0.0.1:{server.getsockname()[1]}")
        text = f"&lt;!DOCTYPE x [&lt;!ENTITY e SYSTEM ''{entity}''>]>&lt;x>&amp;e;&lt;/x>"
        run = run_stylesheet(value("exists(document(''))") if reads else "", value(f"parse-xml('{text}')"))
        assert (run.executed, run.reason) == (False, "stopped")
        assert "DOCTYPE is disallowed" in run.detail
        assert "file:" not in run.detail
        with pytest.raises(TimeoutError):
            server.accept()


def test_bundled_file_with_entities_is_not_read(add_bundle, invoice, validate_reference):
    rules = stylesheet(rule("A", value("document('codes.xml')")))
    codes = b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]><a>&e;</a>'
    add_bundle(packed(files(others={"xsl/de.xsl": rules, "xsl/codes.xml": codes})))
    run = validate_reference(invoice).runs[2]
    assert (run.executed, run.reason) == (False, "stopped")


def test_environment_variables_are_hidden(add_bundle, invoice, validate_reference, monkeypatch, new_worker):
    monkeypatch.setenv("EINVOICE_KEY_1", "secret")
    texts = value("environment-variable('EINVOICE_KEY_1'), available-environment-variables()")
    add_bundle(packed(files(others={"xsl/de.xsl": stylesheet(rule("A", texts))})))
    assert validate_reference(invoice).runs[2].reports[0].text == ""


def test_files_of_the_bundle_are_readable(add_bundle, invoice, validate_reference):
    rules = stylesheet(rule("A", "<xsl:value-of select=\"document('codes.xml')\"/>"))
    add_bundle(packed(files(others={"xsl/de.xsl": rules, "xsl/codes.xml": b"<a>listed</a>"})))
    assert validate_reference(invoice).runs[2].reports[0].text == "listed"


def test_unset_document_parameter_is_empty(add_bundle, invoice, validate_reference):
    """SchXslt stylesheets have a parameter that names another document to validate."""
    texts = value("count(document($other))"), value("document('codes.xml')"), value("exists(document('')/*)")
    rules = stylesheet(rule("A", "".join(texts)), before='<xsl:param name="other" as="xs:string?"/>', namespaces=XS)
    add_bundle(packed(files(others={"xsl/de.xsl": rules, "xsl/codes.xml": b"<a>listed</a>"})))
    assert validate_reference(invoice).runs[2].reports[0].text == "0listedtrue"


def test_included_stylesheets_run(add_bundle, invoice, validate_reference):
    start = stylesheet('<xsl:call-template name="more"/>', rule("A"), before='<xsl:include href="more.xsl"/>')
    add_bundle(packed(files(others={"xsl/de.xsl": start, "xsl/more.xsl": template("more", rule("B"))})))
    assert validate_reference(invoice).runs[2].codes == {"A", "B"}


# ---------------------------------------------------------------- limits and workers


@pytest.mark.slow
def test_timeout(add_bundle, invoice, validate_reference, monkeypatch):
    """The following stylesheets have no time left."""
    add_bundle(packed(files(others={"xsl/en.xsl": stylesheet(rule("A"), LOOP)})))
    monkeypatch.setattr(limits, "SECONDS", 3)
    xsd, *remaining = validate_reference(invoice).runs
    assert xsd.executed
    assert [(run.executed, run.reason, run.reports) for run in remaining] == [(False, "time", ())] * 2
    assert request("match", b"<a/>", scenarios=[("true()", {})])["first"] == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory limits are available on Linux only")
def test_memory_limit(run_stylesheet, monkeypatch):
    small = SandboxProcess("einvoice.reference.process.worker", 300 << 20)
    monkeypatch.setattr(sandbox, "_worker", small)
    run = run_stylesheet(value("string-length(string-join((1 to 200000000) ! 'xxxxxxxxxxxxxxxxxxxxxxx'))"))
    small.stop()
    assert (run.executed, run.reason) == (False, "died")


def test_killed_worker_affects_one_stylesheet(add_bundle, invoice, validate_reference, monkeypatch, new_worker):
    add_bundle(packed(files()))
    send = protocol.send

    def kill_and_send(connection, header, body=b""):
        if header["arguments"].get("path", "").endswith("en.xsl"):
            os.kill(new_worker.pid, signal.SIGKILL)
        send(connection, header, body)

    with monkeypatch.context() as patched:
        patched.setattr(protocol, "send", kill_and_send)
        runs = validate_reference(invoice).runs
    assert [(run.executed, run.reason) for run in runs] == [(True, ""), (False, "died"), (True, "")]
    assert validate_reference(invoice).complete


def test_worker_is_replaced_after_a_number_of_requests(new_worker, monkeypatch):
    monkeypatch.setattr(limits, "RECYCLE_REQUESTS", 2)
    pids = set()
    for _ in range(4):
        request("match", b"<a/>", scenarios=[("true()", {})])
        pids.add(new_worker.pid)
    assert len(pids - {None}) == 2


def test_memory_of_the_parent_is_not_attributed_to_the_worker(new_worker):
    ballast = b"x" * limits.RECYCLE_MEMORY
    request("match", b"<a/>", scenarios=[("true()", {})])
    assert new_worker.pid is not None
    del ballast


def test_worker_is_replaced_above_the_memory_threshold(new_worker, monkeypatch):
    monkeypatch.setattr(limits, "RECYCLE_MEMORY", 1 << 20)
    request("match", b"<a/>", scenarios=[("true()", {})])
    assert new_worker.pid is None


def test_threads_share_the_worker(add_bundle, invoice, validate_reference, new_worker):
    add_bundle(packed(files()))
    found = []

    def validate_repeatedly():
        found.extend(validate_reference(invoice).runs[2].codes for _ in range(5))

    threads = [threading.Thread(target=validate_repeatedly) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [{"BR-DE-1"}] * 20


def test_forked_process_starts_its_own_worker(new_worker):
    request("match", b"<a/>", scenarios=[("true()", {})])
    parent_pid = new_worker.pid
    child_pid = os.fork()
    if child_pid == 0:
        status = 1
        try:
            first = request("match", b"<a/>", scenarios=[("false()", {}), ("true()", {})])["first"]
            status = 0 if first == 1 and new_worker.pid != parent_pid else 2
            new_worker.stop()
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child_pid, 0)[1]) == 0
    assert request("match", b"<a/>", scenarios=[("true()", {})])["first"] == 0
    assert new_worker.pid == parent_pid


@pytest.mark.slow
def test_timeout_of_a_match_condition_runs_no_stylesheet(
    add_bundle, invoice, validate_reference, monkeypatch, new_worker
):
    add_bundle(packed(files()), "other.zip")
    add_bundle(stylesheet(rule("A")), "own.xsl", match="count((1 to 1000000000)[. mod 7 = count(1 to .)]) = count(/*)")
    monkeypatch.setattr(limits, "SECONDS", 2)
    result = validate_reference(invoice)
    assert not result.complete
    assert {(run.executed, run.reason) for run in result.runs} == {(False, "time")}


def test_missing_saxon_is_reported(add_bundle, invoice, validate_reference, monkeypatch):
    add_bundle(packed(files()))
    monkeypatch.setattr("einvoice.reference.runner.saxon_version", lambda: None)
    runs = validate_reference(invoice).runs
    assert [(run.layer, run.executed, run.reason) for run in runs] == [
        ("en16931", False, "engine"),
        ("cius", False, "missing"),
    ]
    assert runs[0].problem_code == "REFERENCE-ENGINE"


def test_deleted_stylesheet_is_reported(add_bundle, invoice, validate_reference):
    configuration = add_bundle(packed(files()))
    (configuration.folder / "xsl" / "de.xsl").unlink()
    sandbox._worker.stop()
    run = validate_reference(invoice).runs[2]
    assert (run.executed, run.reason) == (False, "artefact")
