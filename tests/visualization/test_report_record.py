"""The report as a record to keep: hashes, versions, and the result as data; equal arguments give equal bytes."""

import datetime
import hashlib
import io
import json
from importlib.metadata import version

import pikepdf
import pytest

import einvoice
from einvoice.cli import main
from einvoice.pdf.writer.pdfa_precheck import pdfa_violations
from einvoice.visualization import report_html
from tests.helpers.corpora import UBL
from tests.helpers.extras import require_rendering
from tests.helpers.paths import SAMPLES

WHEN = datetime.datetime(2026, 11, 21, 23, 30, 5, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
WRONG = UBL.replace(b">415.33<", b">41.33<")
NAME = "validation-result.json"


def attached(pdf):
    with pikepdf.open(io.BytesIO(pdf)) as document:
        (file,) = document.Root.AF
        assert str(document.Root.Names.EmbeddedFiles.Names[0]) == NAME
        assert str(file.AFRelationship) == "/Data"
        assert str(file.EF.F.Subtype) == "/application/json"
        assert pdfa_violations(document, "en") == []
        return json.loads(file.EF.F.read_bytes())


def test_equal_arguments_give_equal_bytes():
    first, again = (
        einvoice.report_pdf(result, "de", when=WHEN, assessment=result.assessment())
        for result in (einvoice.validate(WRONG), einvoice.validate(WRONG))
    )
    assert first == again
    result = einvoice.validate(WRONG)
    later = einvoice.report_pdf(result, "de", when=WHEN + datetime.timedelta(hours=1), assessment=result.assessment())
    assert later != first


def test_the_record_has_the_result_as_data(tmp_path):
    path = tmp_path / "invoice.xml"
    path.write_bytes(WRONG)
    result = einvoice.validate(path, lang="en")
    data = attached(einvoice.report_pdf(result, when=WHEN, assessment=result.assessment()))
    assert data["file"] == {"name": "invoice.xml", "sha256": hashlib.sha256(WRONG).hexdigest()}
    assert data["program"] == f"einvoice {version('einvoice-toolkit')}"
    assert data["validated_at"] == "2026-11-21T22:30:05+00:00"
    expected = result.to_dict(causes=True, assessment=True)
    del expected["processing_time_ms"]
    assert data["result"] == expected
    layers = data["result"]["validation_details"]["validation_stack"]["layers"]
    assert all(layer["sha256"] and layer["version"] for layer in layers)


def test_the_assessment_is_part_of_it_on_request_only():
    details = attached(einvoice.report_pdf(einvoice.validate(WRONG), when=WHEN))["result"]["validation_details"]
    assert "assessment" not in details


def test_the_page_shows_hash_and_program():
    html = report_html(einvoice.validate(WRONG, lang="en"), when=WHEN)
    assert hashlib.sha256(WRONG).hexdigest() in html
    assert f"einvoice {version('einvoice-toolkit')}" in html


def test_the_hash_of_a_hybrid_pdf_is_that_of_the_pdf():
    draft = json.loads((SAMPLES / "draft.json").read_text("utf-8"))
    pdf = einvoice.generate({**draft, "format": "ZUGFERD"}).pdf
    assert einvoice.validate(pdf).sha256 == hashlib.sha256(pdf).hexdigest()


def test_the_time_of_the_environment(tmp_path, monkeypatch):
    require_rendering()
    (tmp_path / "in.xml").write_bytes(WRONG)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795000000")
    outputs = [tmp_path / "a.pdf", tmp_path / "b.pdf"]
    for output in outputs:
        assert main(["report", str(tmp_path / "in.xml"), "-o", str(output), "--assess"]) == 1
    first, again = (output.read_bytes() for output in outputs)
    assert first == again
    assert attached(first)["validated_at"] == "2026-11-18T11:06:40+00:00"


@pytest.mark.parametrize("content", [UBL, WRONG])
def test_verdict_per_layer(content):
    html = report_html(einvoice.validate(content, lang="en"), when=WHEN)
    rules = html[html.index("Applied rule sets") :]
    assert ("2 errors" in rules) == (content is WRONG)
    assert "no findings" in rules
