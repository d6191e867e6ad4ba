"""Accepted findings, and the selection of findings by code."""

import datetime

import pytest

from einvoice.bulk import ResultSet
from einvoice.bulk.baseline import read
from einvoice.bulk.record import encode
from tests.helpers.corpora import UBL, make_corpus, validate_serially, with_error

CODES = make_corpus(30)[1]
ACCEPTED = """
[[accepted]]
code = "BR-CO-*"
files = "0/*"
reason = "Rounded by the old program."
expires = 2026-12-31
"""


def accepted(tmp_path, text=ACCEPTED):
    (tmp_path / "accepted.toml").write_text(text)
    return tmp_path / "accepted.toml"


def test_accepted_findings_are_excluded_until_they_expire(results, tmp_path):
    baseline = accepted(tmp_path)
    name = next(name for name, code in CODES.items() if code == "BR-CO-10" and name.startswith("0/"))
    last, day_after = datetime.date(2026, 12, 31), datetime.date(2027, 1, 1)
    remaining = results.without(baseline, on=last)
    assert name not in set(remaining.to_frame().file)
    assert remaining[name].errors == 0
    assert remaining[name].verdict == "invalid"
    assert {file.file for file in remaining if file.findings} == {
        n for n, c in CODES.items() if n[0] != "0" or c != "BR-CO-10"
    }
    assert results.without(baseline, on=day_after) == results
    assert len(read(baseline).expired(day_after)) == 1
    assert read(baseline).expired(last) == ()


def test_accepted_finding_counts_with_those_it_stands_for(results):
    name = next(name for name, code in CODES.items() if code == "BR-CO-10")
    record = next(record for record in results.records() if record["file"] == name)
    record["findings"][0]["more"] = 5
    suppressing = ResultSet([encode(record | {"errors": 6})], results.settings)
    assert suppressing.without(suppressing.to_baseline("known"))[name].errors == 0


@pytest.mark.parametrize(
    ("select", "ignore", "kept"),
    [
        (["BR-DE-*"], [], {"BR-DE-15", "FILE-ROOT"}),
        (["fatal"], ["BR-*"], {"SCHEMA-VALUE-DATE", "FILE-ROOT"}),
        ([], ["fatal"], set()),
    ],
)
def test_findings_are_selected_by_code_pattern_and_severity(results, select, ignore, kept):
    selected = results.select_findings(select, ignore=ignore)
    assert {finding.code for file in selected for finding in file.findings} == kept
    assert selected.verdicts == results.verdicts
    assert all(file.errors == len(file.findings) for file in selected)
    with pytest.raises(ValueError, match="unknown code 'BR-XX'"):
        results.select_findings(["BR-XX"])


def test_accepted_findings_are_ignored_in_comparisons(tmp_path):
    baseline = accepted(tmp_path, '[[accepted]]\ncode = "BR-CO-10"\nreason = "known"\n')
    before, after = (
        validate_serially({"a": with_error("BR-DE-15", UBL)}),
        validate_serially({"a": with_error("BR-CO-10", with_error("BR-DE-15", UBL))}),
    )
    with pytest.raises(AssertionError, match="BR-CO-10"):
        after.assert_matches(before)
    after.assert_matches(before, accepted=baseline)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "not valid TOML"),
        ("[accepted]", "every entry must begin"),
        ("[[allowed]]\ncode = 'BR-CO-10'", "every entry must begin"),
        ("[[accepted]]\ncode = 'BR-CO-10'", "entry 1: reason is missing"),
        ("[[accepted]]\nreason = 'x'", "entry 1: code is missing"),
        ("[[accepted]]\ncode = 'BR-NO-10'\nreason = 'x'", "unknown code 'BR-NO-10'"),
        ("[[accepted]]\ncode = 'BR-CO-10'\nreason = 'x'\nexpires = '2026'", "expires must be a date"),
        ("[[accepted]]\ncode = 'BR-CO-10'\nreason = 'x'\nexpires = 2026-01-01T00:00:00Z", "expires must be a date"),
        ("[[accepted]]\ncode = 'BR-CO-10'\nreason = 'x'\nfile = 'x'", "unknown key 'file'; valid keys are code, files"),
        ("[[accepted]]\ncode = 'BR-CO-10'\nreason = 'x'\nfiles = [1]", "files must be a pattern"),
    ],
)
def test_invalid_baseline_is_rejected_with_a_reason(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read(accepted(tmp_path, text))
