"""The VAT category that stands in the wrong place, as the amounts say."""

import pytest

import einvoice
from tests.helpers.faults import faulty, names


@pytest.mark.parametrize("kind", ["row_category", "line_category", "row_rate"])
def test_the_fix_of_each_finding_about_it_names_the_right_category(kind):
    advised = 0
    for case in faulty(12, kinds=[kind]):
        result = einvoice.validate(case.data, lang="en")
        fixes = {it.advice.text("en") for it in result.findings if it.advice} - {""}
        if fixes:
            (change,) = result.causes()[0].changes
            assert any(names(result.causes()[0], it) for it in case.faults)
            assert fixes == {change.text("en")}
            advised += 1
    assert advised >= 11
