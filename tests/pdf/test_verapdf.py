"""veraPDF, if configured: limits, failed clauses as findings, and failures of veraPDF itself.

The command is a fake with a given output; the real one also runs if EINVOICE_TEST_VERAPDF names it.
"""

import os
import shlex
import sys

import pytest

import einvoice
from einvoice.pdf import verapdf
from tests.helpers.extras import POSIX
from tests.helpers.hybrids import hybrid

RULE = '<rule specification="ISO 19005-3:2012" clause="6.2.8" testNumber="3" status="{}" failedChecks="2">{}</rule>'
REPORT = "<?xml version='1.0'?><report><jobs><job><validationReport>{}</validationReport></job></jobs></report>"
FAILED = REPORT.format(
    RULE.format("passed", "") + RULE.format("failed", "<description>No\n  Interpolate</description><check/>")
)


@pytest.fixture
def fake_verapdf(tmp_path, monkeypatch):
    """Set up a command that runs some Python, with the arguments of veraPDF."""

    def set_up(code):
        script = tmp_path / "stand in.py"
        script.write_text(code)
        monkeypatch.setenv(verapdf.VARIABLE, shlex.join([sys.executable, str(script)]))

    return set_up


def findings(data=None, lang="en"):
    result = einvoice.validate(hybrid() if data is None else data, lang=lang, picture=False)
    assert result.is_valid
    return result, result.container.findings


def test_verapdf_is_not_run_without_configuration():
    result, found = findings()
    assert found == ()
    assert "not a full PDF/A validation" in result.container.title["en"]


def test_failed_clause_is_a_finding(fake_verapdf):
    fake_verapdf(f"import sys; print({FAILED!r}); sys.exit(1)")
    result, (finding,) = findings()
    assert (finding.code, finding.severity, finding.layer) == ("PDF-VERAPDF", "warning", "pdf")
    assert finding.values["clause"] == "6.2.8"
    assert finding.title() == "veraPDF: the PDF violates ISO 19005-3:2012, clause 6.2.8"
    found = "violations of clause 6.2.8 (test 3) found by veraPDF: 2. Description: No Interpolate"
    assert finding.explanation().endswith(found)
    assert not result.container.is_valid
    assert "veraPDF" in result.container.title["de"]


def test_passing_file_has_no_finding(fake_verapdf):
    fake_verapdf(f"print({REPORT.format(RULE.format('passed', ''))!r})")
    result, found = findings()
    assert found == ()
    assert result.container.is_valid


def test_verapdf_gets_the_file_and_no_network_settings(fake_verapdf, monkeypatch):
    monkeypatch.setenv("https_proxy", "http://proxy.example")
    fake_verapdf(f"""
import os, sys
file = sys.argv[-1]
assert open(file, "rb").read(5) == b"%PDF-"
assert "https_proxy" not in os.environ
assert sys.stdin.read() == ""
print({REPORT.format("")!r})
""")
    assert findings()[1] == ()


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise SystemExit(7)", "exit status 7"),
        pytest.param("import os; os.abort()", "exit status -6", marks=POSIX),
        ("", "The file is empty."),
        ("print('<report/>')", "the report has no result"),
        ("print('<report>')", "The XML is incomplete"),
        ("import time; time.sleep(9)", "no answer within 1 seconds"),
    ],
)
def test_failure_of_verapdf_is_a_finding(fake_verapdf, monkeypatch, code, reason):
    if "sleep" in code:
        monkeypatch.setattr(verapdf, "_SECONDS", 1)
    fake_verapdf(code)
    result, (finding,) = findings()
    assert finding.code == "PDF-VERAPDF-FAILED"
    assert reason in finding.values["reason"]
    assert not result.container.is_valid


@pytest.mark.parametrize("command", ["/nowhere/verapdf", "verapdf 'unbalanced"])
def test_missing_command_is_a_finding(monkeypatch, command):
    monkeypatch.setenv(verapdf.VARIABLE, command)
    _, (finding,) = findings()
    assert finding.code == "PDF-VERAPDF-FAILED"


@pytest.mark.slow
def test_real_verapdf_confirms_the_checks(monkeypatch):
    command = os.environ.get("EINVOICE_TEST_VERAPDF")
    if not command:
        pytest.skip("EINVOICE_TEST_VERAPDF names no veraPDF")
    monkeypatch.setenv(verapdf.VARIABLE, command)
    _, found = findings(hybrid(lambda pdf, spec: spec.EF.F.__delitem__("/Subtype")))
    details = {finding.values.get("clause") for finding in found}
    assert "6.8" in details  # and others, as the colour profile of the file is a dummy
    assert "PDF-VERAPDF-FAILED" not in {finding.code for finding in found}
