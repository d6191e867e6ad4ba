"""Repaired invoices: the official stylesheet judges them no worse than before."""

from __future__ import annotations

import pytest

import einvoice
from tests.cases import corpus
from tests.helpers.checks import FOLDERS, assert_no_worse, check_applied_edits

from .official_schematron import official_schematron
from .targets import SYNTAX
from .test_live import allowed

pytest.importorskip("saxonche")

EVERY = 10
MIN_JUDGED = 40


def assert_judged_no_worse(document: bytes) -> bool:
    """Compare the codes before and after; return whether the document was changed and judged."""
    fixed = einvoice.validate(document, profile="xrechnung").fixed(unsafe=True)
    if not fixed.is_changed:
        return False
    before, after = map(official_schematron().codes, (document, fixed.xml))
    if before is None:  # the stylesheet aborts
        return False
    assert after is not None
    assert after - allowed() <= before
    return True


@pytest.mark.slow
@pytest.mark.cases
def test_official_stylesheet_judges_a_sample_no_worse(cases) -> None:
    """Mutants in UBL, one in ten."""
    documents = [data for case, data in cases("mutants", *corpus.UBL) if case["syntax"] == SYNTAX][::EVERY]
    minimum = MIN_JUDGED if corpus.beside() else MIN_JUDGED // 5
    assert sum(map(assert_judged_no_worse, documents)) >= minimum


@pytest.mark.live
@pytest.mark.cases
@pytest.mark.parametrize("part", range(20))
def test_all_cases_get_no_worse_and_stay_untouched_elsewhere(cases, part: int, monkeypatch) -> None:
    """Takes seven minutes."""
    checked = check_applied_edits(monkeypatch)
    documents = [*cases(*FOLDERS)]
    for case, data in documents[part::20]:
        assert_no_worse(case["case"], data)
    assert checked
