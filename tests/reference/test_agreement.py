"""Our rules of EN 16931 and the official stylesheet for UBL report the same findings."""

import pytest

from einvoice.reference import ReferenceFinding, ReferenceResult, ReferenceRun

from .agreement import CASES, MIN, Tally, tally

pytest.importorskip("saxonche")


@pytest.mark.slow
@pytest.mark.cases
def test_the_comparison_cases():
    if not CASES.is_dir():
        pytest.skip("the comparison cases are not there")
    found = tally(CASES)
    assert found.judged["same"] > 2500
    assert found.share >= MIN, str(found)


@pytest.mark.slow
def test_a_difference_is_told(invoice, monkeypatch):
    found = Tally()
    found.add("as it is", invoice)
    assert found.share == 1
    core = ReferenceRun("en16931", reports=(ReferenceFinding("BR-01", "fatal", "fatal", "/*", "No."),))
    monkeypatch.setattr("einvoice.reference.validate", lambda *_: ReferenceResult("factur-x", "UBL", (core,)))
    found.add("otherwise", invoice)
    assert found.share == 0.5
    assert "otherwise: ours alone: –; theirs alone: BR-01" in str(found)


@pytest.mark.slow
def test_what_cannot_be_compared_does_not_count(invoice, sample):
    found = Tally()
    for data in (b"no XML", sample("cii-invoice.xml").read_bytes(), invoice.replace(b'"EUR">', b'"EUR">x')):
        found.add("no matter", data)
    assert dict(found.judged) == {"no answer": 1}
    assert found.share == 0
