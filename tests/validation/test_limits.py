"""Limits on the number of findings of one document."""

from dataclasses import replace

import pytest
from lxml import etree

import einvoice
from einvoice.model.location import xpath
from einvoice.result import Finding
from einvoice.validation.limits import limited
from tests.helpers.paths import ROOT

SAMPLE = ROOT / "einvoice" / "sample_invoices" / "xrechnung-ubl.xml"
LINE = b"<cac:InvoiceLine/>"


def _with_lines(count):
    """Return an invoice with this number of empty lines; each violates several rules."""
    return SAMPLE.read_bytes().replace(b"</Invoice>", LINE * count + b"</Invoice>")


@pytest.fixture(scope="module")
def finding():
    return Finding("BR-21", "fatal", "fatal", "en16931", "lines")


def test_findings_are_limited_per_code_and_in_total():
    few, many = (einvoice.validate(_with_lines(count)) for count in (10, 3_000))
    assert len(many.findings) <= 1_000
    codes = [finding.code for finding in many.findings]
    assert max(map(codes.count, codes)) == 100
    assert {finding.code for finding in few.findings} <= set(codes)
    assert many.omitted["BR-21"] == 2_900
    assert not few.omitted
    assert not few.is_valid
    assert not many.is_valid


def test_omitted_findings_are_stated():
    result = einvoice.validate(_with_lines(150))
    data = result.to_dict("en")
    of_code = [item for item in data["errors"] if item["code"] == "BR-21"]
    assert data["validation_details"]["findings_left_out"]["BR-21"] == 50
    assert [len(item["notes"]) for item in of_code] == [0] * 99 + [1]
    assert of_code[-1]["notes"][0]["text"].endswith(": 50.")


def test_every_code_is_kept(finding):
    """The verdict and the set of codes do not depend on the limits."""
    codes = [replace(finding, code=f"X-{number}", severity="warning") for number in range(1_500)]
    findings = [*codes, finding] * 2
    kept = limited(findings)
    assert {it.code for it in kept} == {it.code for it in findings}
    assert len(kept) == 1_501
    assert sum(it.suppressed for it in kept) == 1_501


def test_errors_are_kept_before_warnings(finding):
    warning = replace(finding, code="UBL-CR-001", severity="warning")
    kept = limited([*(replace(warning, code=f"W-{n % 20}") for n in range(2_000)), *[finding] * 100])
    assert [it.code for it in kept].count("BR-21") == 100
    assert len(kept) == 1_000
    assert {it.code: it.suppressed for it in kept if it.suppressed}.keys() <= {f"W-{n}" for n in range(20)}
    assert sum(it.suppressed for it in kept) == 1_100


def test_same_code_with_another_severity_is_kept(finding):
    warnings = [replace(finding, severity="warning")] * 200
    assert [it.severity for it in limited([*warnings, finding])].count("fatal") == 1


def _deep_names(depth, count):
    """Return an invoice with unknown elements that have long names and are deeply nested."""
    name = b"n" * 1_000
    nested = b"<%b>" % name * depth + b"<a/>" * count + b"</%b>" % name * depth
    return SAMPLE.read_bytes().replace(b"</Invoice>", nested + b"</Invoice>")


def test_xpaths_do_not_grow_with_names():
    """Each finding would repeat the names of all ancestors."""
    data = _deep_names(60, 200)
    result = einvoice.validate(data)
    root = etree.fromstring(data)
    for finding in result.findings:
        (found,) = root.xpath(finding.xpath, namespaces=einvoice.NAMESPACES)
        assert found.sourceline == finding.line
        assert len(finding.xpath) <= 1_000
    assert max(len(finding.xpath) for finding in result.findings) > 100


def test_a_path_of_many_steps_consists_of_positions():
    root = etree.fromstring(b"<a>" + b"<b/><b>" * 250 + b"</b>" * 250 + b"</a>")
    last = list(root.iter())[-1]
    path = xpath(last)
    assert path.startswith("/*/*[2]/*[2]/")
    assert root.xpath(path) == [last]
