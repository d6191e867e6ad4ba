"""The native EN 16931 rules and the official stylesheet for UBL report the same findings."""

import pytest

from einvoice.reference import ReferenceFinding, ReferenceResult, ReferenceRun
from tests.cases import corpus
from tests.helpers.agreement import MIN, Tally
from tests.helpers.sampling import sampled

pytest.importorskip("saxonche")


@pytest.mark.slow
@pytest.mark.cases
@sampled(8)
def test_comparison_cases_agree(step):
    result = Tally()
    for case, data in corpus.cases(*corpus.ALL, every=step):
        result.add(case["case"], data)
    assert result.counts["same"] > (2500 if corpus.beside() else 150) / step
    assert result.share >= MIN, str(result)


@pytest.mark.slow
def test_difference_is_listed(invoice, monkeypatch):
    result = Tally()
    result.add("unchanged", invoice)
    assert result.share == 1
    core = ReferenceRun("en16931", reports=(ReferenceFinding("BR-01", "fatal", "fatal", "/*", "No."),))
    monkeypatch.setattr("einvoice.reference.validate", lambda *_: ReferenceResult("factur-x", "UBL", (core,)))
    result.add("changed", invoice)
    assert result.share == 0.5
    assert "changed: native only: –; reference only: BR-01" in str(result)


@pytest.mark.slow
def test_documents_that_cannot_be_compared_are_not_counted(invoice, sample):
    result = Tally()
    for data in (b"no XML", sample("cii-invoice.xml").read_bytes(), invoice.replace(b'"EUR">', b'"EUR">x')):
        result.add("document", data)
    assert dict(result.counts) == {"not compared": 1}
    assert result.share == 0
