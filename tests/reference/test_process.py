"""Artefacts that stop, hang, crash their process or access the network fail alone."""

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

from .made import files, packed, rule, stylesheet, template

pytest.importorskip("saxonche")

XS = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"'
LOOP = '<xsl:value-of select="count((1 to 1000000000)[. mod 7 = count(1 to .)])"/>'


@pytest.fixture
def ran(added, invoice, judged):
    """What becomes of a stylesheet with these instructions, which stands after one that has no faults."""

    def ran(*content, **options):
        added(packed(files(others={"xsl/de.xsl": stylesheet(rule("A"), *content, **options)})))
        xsd, core, run = judged(invoice).runs
        assert xsd.executed
        assert core.codes == {"BR-CL-23"}
        return run

    return ran


@pytest.fixture
def fresh():
    """A worker of the test's own, and none after it."""
    sandbox._worker.stop()
    yield sandbox._worker
    sandbox._worker.stop()


def value(expression):
    return f'<xsl:value-of select="{expression}"/>'


# ---------------------------------------------------------------- stops


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
def test_an_artefact_that_stops_reports_nothing(content, detail, ran):
    endless = '<xsl:template name="endless"><x><xsl:call-template name="endless"/></x></xsl:template>'
    run = ran(content, namespaces=XS, before=endless)
    assert (run.executed, run.reason, run.reports) == (False, "stopped", ())
    assert detail in run.detail
    assert run.rules == 1


@pytest.mark.parametrize("match", ["nothing", "/*"])
def test_a_result_that_is_no_svrl(match, added, invoice, judged):
    """Texts of the document, or an element that is another one."""
    other = stylesheet(rule("A")).replace(b'match="/"', f'match="{match}"'.encode())
    other = other.replace(b"svrl:schematron-output", b"svrl:other")
    added(packed(files(others={"xsl/de.xsl": other})))
    run = judged(invoice).runs[2]
    assert (run.executed, run.reason) == (False, "stopped")
    assert "The output is not" in run.detail


def test_messages_that_do_not_stop_it_are_no_matter(ran):
    assert ran("<xsl:message>so far so good</xsl:message>").executed


# ---------------------------------------------------------------- reaches out


def test_nothing_is_read_from_the_network(ran):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        host = f"127.0.0.1:{server.getsockname()[1]}"
        run = ran(value(f"doc(concat('http', '://{host}/'))"))
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
def test_nothing_is_read_from_files(expression, ran):
    namespaces = f'{XS} xmlns:fn="http://www.w3.org/2005/xpath-functions"'
    run = ran(value(expression), namespaces=namespaces)
    assert (run.executed, run.reason) == (False, "stopped")
    assert "root:" not in run.detail


@pytest.mark.parametrize("reads", [False, True])
@pytest.mark.parametrize("uri", ["http://{host}/x", "file:///etc/hostname"])
def test_no_entity_is_read(uri, reads, ran):
    """Not even where a stylesheet may read files: it parses a text, or a file of its own, that names others."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        entity = uri.format(host=f"127.0.0.1:{server.getsockname()[1]}")
        text = f"&lt;!DOCTYPE x [&lt;!ENTITY e SYSTEM ''{entity}''>]>&lt;x>&amp;e;&lt;/x>"
        run = ran(value("exists(document(''))") if reads else "", value(f"parse-xml('{text}')"))
        assert (run.executed, run.reason) == (False, "stopped")
        assert "DOCTYPE is disallowed" in run.detail
        assert "file:" not in run.detail
        with pytest.raises(TimeoutError):
            server.accept()


def test_a_file_of_its_own_with_entities_is_not_read(added, invoice, judged):
    rules = stylesheet(rule("A", value("document('codes.xml')")))
    codes = b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]><a>&e;</a>'
    added(packed(files(others={"xsl/de.xsl": rules, "xsl/codes.xml": codes})))
    run = judged(invoice).runs[2]
    assert (run.executed, run.reason) == (False, "stopped")


def test_the_environment_is_not_told(added, invoice, judged, monkeypatch, fresh):
    monkeypatch.setenv("EINVOICE_KEY_1", "secret")
    told = value("environment-variable('EINVOICE_KEY_1'), available-environment-variables()")
    added(packed(files(others={"xsl/de.xsl": stylesheet(rule("A", told))})))
    assert judged(invoice).runs[2].reports[0].text == ""


def test_its_own_files_may_be_read(added, invoice, judged):
    rules = stylesheet(rule("A", "<xsl:value-of select=\"document('codes.xml')\"/>"))
    added(packed(files(others={"xsl/de.xsl": rules, "xsl/codes.xml": b"<a>listed</a>"})))
    assert judged(invoice).runs[2].reports[0].text == "listed"


def test_an_unset_document_parameter_is_empty(added, invoice, judged):
    """SchXslt's stylesheets can be told to judge another document than the one that they are given."""
    told = value("count(document($other))"), value("document('codes.xml')"), value("exists(document('')/*)")
    rules = stylesheet(rule("A", "".join(told)), before='<xsl:param name="other" as="xs:string?"/>', namespaces=XS)
    added(packed(files(others={"xsl/de.xsl": rules, "xsl/codes.xml": b"<a>listed</a>"})))
    assert judged(invoice).runs[2].reports[0].text == "0listedtrue"


def test_what_it_includes_counts(added, invoice, judged):
    start = stylesheet('<xsl:call-template name="more"/>', rule("A"), before='<xsl:include href="more.xsl"/>')
    added(packed(files(others={"xsl/de.xsl": start, "xsl/more.xsl": template("more", rule("B"))})))
    assert judged(invoice).runs[2].codes == {"A", "B"}


# ---------------------------------------------------------------- takes too much


def test_one_that_takes_too_long(added, invoice, judged, monkeypatch):
    """What comes after it has no time left."""
    added(packed(files(others={"xsl/en.xsl": stylesheet(rule("A"), LOOP)})))
    monkeypatch.setattr(limits, "SECONDS", 3)
    xsd, *others = judged(invoice).runs
    assert xsd.executed
    assert [(run.executed, run.reason, run.reports) for run in others] == [(False, "time", ())] * 2
    assert request("match", b"<a/>", scenarios=[("true()", {})])["first"] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only there the system bounds it")
def test_one_that_takes_too_much_memory(ran, monkeypatch):
    small = SandboxProcess("einvoice.reference.process.worker", 300 << 20)
    monkeypatch.setattr(sandbox, "_worker", small)
    run = ran(value("string-length(string-join((1 to 200000000) ! 'xxxxxxxxxxxxxxxxxxxxxxx'))"))
    small.stop()
    assert (run.executed, run.reason) == (False, "died")


def test_a_worker_killed_in_the_middle_costs_one_artefact(added, invoice, judged, monkeypatch, fresh):
    added(packed(files()))
    send = protocol.send

    def kill_and_send(connection, header, body=b""):
        if header["arguments"].get("path", "").endswith("en.xsl"):
            os.kill(fresh.pid, signal.SIGKILL)
        send(connection, header, body)

    with monkeypatch.context() as patched:
        patched.setattr(protocol, "send", kill_and_send)
        runs = judged(invoice).runs
    assert [(run.executed, run.reason) for run in runs] == [(True, ""), (False, "died"), (True, "")]
    assert judged(invoice).complete


def test_a_worker_is_replaced_after_so_many_turns(fresh, monkeypatch):
    monkeypatch.setattr(limits, "RECYCLE_REQUESTS", 2)
    pids = set()
    for _ in range(4):
        request("match", b"<a/>", scenarios=[("true()", {})])
        pids.add(fresh.pid)
    assert len(pids - {None}) == 2


def test_what_its_parent_holds_is_not_what_a_worker_holds(fresh):
    ballast = b"x" * limits.RECYCLE_MEMORY
    request("match", b"<a/>", scenarios=[("true()", {})])
    assert fresh.pid is not None
    del ballast


def test_a_worker_is_replaced_when_it_is_full(fresh, monkeypatch):
    monkeypatch.setattr(limits, "RECYCLE_MEMORY", 1 << 20)
    request("match", b"<a/>", scenarios=[("true()", {})])
    assert fresh.pid is None


def test_threads_wait_for_each_other(added, invoice, judged, fresh):
    added(packed(files()))
    found = []

    def ask_often():
        found.extend(judged(invoice).runs[2].codes for _ in range(5))

    threads = [threading.Thread(target=ask_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [{"BR-DE-1"}] * 20


def test_a_fork_has_a_worker_of_its_own(fresh):
    request("match", b"<a/>", scenarios=[("true()", {})])
    ours = fresh.pid
    forked = os.fork()
    if forked == 0:
        status = 1
        try:
            first = request("match", b"<a/>", scenarios=[("false()", {}), ("true()", {})])["first"]
            status = 0 if first == 1 and fresh.pid != ours else 2
            fresh.stop()
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]) == 0
    assert request("match", b"<a/>", scenarios=[("true()", {})])["first"] == 0
    assert fresh.pid == ours


def test_a_condition_that_times_out_executes_nothing(added, invoice, judged, monkeypatch, fresh):
    added(packed(files()), "other.zip")
    added(stylesheet(rule("A")), "own.xsl", match="count((1 to 1000000000)[. mod 7 = count(1 to .)]) = count(/*)")
    monkeypatch.setattr(limits, "SECONDS", 2)
    verdict = judged(invoice)
    assert not verdict.complete
    assert {(run.executed, run.reason) for run in verdict.runs} == {(False, "time")}


def test_without_the_engine_nothing_is_executed(added, invoice, judged, monkeypatch):
    added(packed(files()))
    monkeypatch.setattr("einvoice.reference.runner.saxon_version", lambda: None)
    runs = judged(invoice).runs
    assert [(run.layer, run.executed, run.reason) for run in runs] == [
        ("en16931", False, "engine"),
        ("cius", False, "missing"),
    ]
    assert runs[0].problem_code == "REFERENCE-ENGINE"


def test_a_stylesheet_that_vanished(added, invoice, judged):
    configuration = added(packed(files()))
    (configuration.folder / "xsl" / "de.xsl").unlink()
    sandbox._worker.stop()
    run = judged(invoice).runs[2]
    assert (run.executed, run.reason) == (False, "artefact")
