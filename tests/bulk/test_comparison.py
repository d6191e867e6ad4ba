"""Comparison of result sets."""

import re

import pytest

from einvoice.bulk import ResultSet
from tests.helpers.corpora import UBL, make_corpus, numbered, validate_serially, with_error

FILES, CODES = make_corpus(30)


def test_comparison_of_equal_results_is_empty(results, tmp_path):
    results.save(tmp_path / "a.jsonl")
    assert ResultSet.load(tmp_path / "a.jsonl") == results
    comparison = validate_serially(FILES, lang="en").compare(tmp_path / "a.jsonl")
    assert not comparison
    assert len(comparison.unchanged) == len(CODES)
    results.assert_matches(tmp_path / "a.jsonl")


def test_comparison_lists_changes():
    wrong, late = with_error("BR-CO-10", UBL), with_error("SCHEMA-VALUE-DATE", UBL)
    before = validate_serially({"a": wrong, "b": UBL, "c": late, "gone": wrong}, lang="en")
    after = validate_serially({"a": UBL, "b": wrong, "c": late, "new": late}, lang="en")
    comparison = after.compare(before)
    assert [(it.file, it.finding.code) for it in comparison.fixed] == [("a", "BR-CO-10")]
    assert [(it.file, it.finding.code) for it in comparison.new] == [("b", "BR-CO-10"), ("new", "SCHEMA-VALUE-DATE")]
    assert [(it.file, it.finding.code) for it in comparison.unchanged] == [("c", "SCHEMA-VALUE-DATE")]
    assert comparison.changed_verdicts == (("a", "invalid", "valid"), ("b", "valid", "invalid"))
    assert (comparison.missing, comparison.added) == (("gone",), ("new",))
    frame = comparison.to_frame()
    assert list(frame.change) == ["fixed", "new", "new", "unchanged"]
    with pytest.raises(AssertionError) as raised:
        after.assert_matches(before)
    message = str(raised.value)
    for part in ("b: BR-CO-10 (line 113, BT-106)", "a: not valid → valid", "gone", "new files", "fixed findings: 1"):
        assert part in message


@pytest.fixture(scope="module")
def changed():
    wrong, late = with_error("BR-CO-10", UBL), with_error("SCHEMA-VALUE-DATE", UBL)
    before = {"better": wrong, "worse": UBL, "worse2": UBL, "both": wrong, "same": late}
    after = {"better": UBL, "worse": late, "worse2": late, "both": late, "same": late, "added": wrong}
    return validate_serially(after, lang="en").compare(validate_serially(before, lang="en"))


def test_comparison_says_what_is_better_and_worse(changed):
    assert (changed.better, changed.worse, changed.both) == (("better",), ("worse", "worse2"), ("both",))
    assert changed.message() == "Better and worse: 2 fixed, 4 new. Files: 1 better, 2 worse, 1 both."
    assert changed.message("de").startswith("Besser und schlechter: 2 behoben, 4 neu.")
    assert str(changed).startswith(changed.message())
    improved = validate_serially({"a": UBL}).compare(validate_serially({"a": with_error("BR-CO-10", UBL)}), lang="en")
    assert improved.message() == "Better: 1 fixed, 0 new. Files: 1 better, 0 worse, 0 both."
    unchanged = validate_serially({"a": UBL}).compare(validate_serially({"a": UBL}))
    assert unchanged.message("en").startswith("No finding changed: 0 fixed, 0 new.")


def test_new_findings_are_counted_by_rule_before_they_are_listed(changed):
    (late, wrong) = changed.by_rule("new")
    assert (late.code, late.findings, late.files) == ("SCHEMA-VALUE-DATE", 3, 3)
    assert (wrong.code, wrong.findings, wrong.files) == ("BR-CO-10", 1, 1)
    assert [it.code for it in changed.by_rule("fixed")] == ["BR-CO-10"]
    with pytest.raises(ValueError, match="'new', 'fixed' or 'unchanged'"):
        changed.by_rule("old")
    lines = str(changed).splitlines()
    section = lines[lines.index("✗ new findings: 4") + 1 :]
    assert section[0].split()[:4] == ["SCHEMA-VALUE-DATE", "3", "in", "3"]
    assert section[1].split()[:4] == ["BR-CO-10", "1", "in", "1"]
    assert section[2].startswith("  worse: SCHEMA-VALUE-DATE")
    assert "✓ fixed findings: 2" in lines


def test_html_of_a_comparison_marks_fixed_green_and_new_red(changed):
    page = changed._repr_html_()
    assert '<span class="fixed">✓ 2 fixed</span>' in page
    assert '<span class="new">✗ 4 new</span>' in page
    for name, (red, green) in {"fixed": (False, True), "new": (True, False)}.items():
        colour = re.search(rf"\.einvoice span\.{name}\{{[^}}]*background:#(..)(..)(..)", page).groups()
        r, g, _ = (int(part, 16) for part in colour)
        assert (r > 2 * g, g > 2 * r) == (red, green)
    assert page.index("3 in 3 files") < page.index(">worse<")  # findings and files of the rule, then the rows


def test_the_release_is_always_named(changed):
    release = validate_serially({"a": UBL})[0].ruleset
    assert release.startswith("xrechnung-")
    summary = validate_serially({"a": UBL}, lang="en").summary()
    for text in (str(changed), changed._repr_html_(), str(summary), summary._repr_html_()):
        assert f"Validated with {release}" in text
    before = validate_serially({"a": UBL}, ruleset="xrechnung-2.3.1")
    comparison = validate_serially({"a": UBL}).compare(before, lang="en")
    for text in (str(comparison), comparison._repr_html_()):
        assert f"Validated with {release}, before with {before[0].ruleset}" in text
    nothing = validate_serially({"a": b"<x/>"}, lang="en")
    assert "Validated with no rule set" in str(nothing.compare(nothing))
    assert "Geprüft mit" in nothing.compare(nothing).to_text("de")


def test_renamed_files_are_matched_by_invoice_number():
    before = validate_serially({f"2026-10/{n}.xml": numbered(n, with_error("BR-CO-10", UBL)) for n in range(3)})
    after = validate_serially({f"2026-11/{n}.xml": numbered(n, with_error("BR-CO-10", UBL)) for n in range(3)})
    assert len(after.compare(before).missing) == 3
    assert not after.compare(before, by="number")
    after.assert_matches(before, by="number")
    with pytest.raises(ValueError, match="'file' or 'number'"):
        after.compare(before, by="date")


def test_interrupted_results_do_not_match(results):
    interrupted = ResultSet(results._lines, results.settings, complete=False)
    with pytest.raises(AssertionError, match="unterbrochen"):
        interrupted.assert_matches(results)


def test_long_differences_are_truncated():
    before = validate_serially({f"{n}.xml": UBL for n in range(30)})
    with pytest.raises(AssertionError, match=r"… \+ 10") as raised:
        validate_serially({}, allow_empty=True).assert_matches(before)
    assert len(str(raised.value).splitlines()) < 30
