"""What changed between two releases, to look at."""

import pandas as pd
import pytest

import einvoice


@pytest.fixture(scope="module")
def told():
    return einvoice.rule_changes("xrechnung-2.3.1", "xrechnung-3.0.2", lang="en")


def test_what_kosit_announced_is_told(told):
    assert (told.old, told.new) == ("xrechnung-2.3.1", "xrechnung-3.0.2")
    assert {"PEPPOL-EN16931-R020", "PEPPOL-EN16931-R010", "BR-DE-CVD-01"} <= set(told.added)
    assert "BR-DE-29" in told.removed  # PEPPOL-EN16931-R061 says the same
    assert "BR-DE-18" in told.changed
    assert not set(told.added) & set(told.removed)
    assert told


def test_the_other_way_round_it_is_the_other_way_round(told):
    back = einvoice.rule_changes("xrechnung-3.0.2", "xrechnung-2.3.1")
    assert (back.added, back.removed, back.changed) == (told.removed, told.added, told.changed)
    assert not einvoice.rule_changes("xrechnung-3.0.2", "xrechnung-3.0.2-2.6.0")


def test_a_table_has_a_row_for_each_rule(told):
    frame = told.to_frame()
    assert dict(frame["change"].value_counts()) == {
        kind: len(getattr(told, kind)) for kind in ("added", "removed", "changed")
    }
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == {
        **dict.fromkeys(("change", "severity", "layer", "section"), "category"),
        **dict.fromkeys(("code", "title"), "str"),
    }
    (row,) = frame[frame.code == "PEPPOL-EN16931-R020"].itertuples()
    assert (row.change, row.severity, row.layer) == ("added", "fatal", "cius")
    assert row.title == einvoice.catalog()["PEPPOL-EN16931-R020"].title("en")
    assert (frame.severity >= "information").all()
    assert set(told.to_frame(lang="de").title) != set(frame.title)
    pd.testing.assert_frame_equal(frame.drop(columns="title"), told.to_frame(lang="de").drop(columns="title"))


def test_the_page_and_the_words_name_each_rule(told):
    page = told._repr_html_()
    for code in (*told.added, *told.removed, *told.changed):
        assert f">{code}<" in page
        assert f"  {code}  " in str(told)
    assert "<script" not in page
    assert "Neu: " in told.to_text("de")
    assert repr(told) == (
        f"<RuleChanges xrechnung-2.3.1 to xrechnung-3.0.2: {len(told.added)} added, "
        f"{len(told.removed)} removed, {len(told.changed)} changed>"
    )


def test_what_there_is_not_is_refused():
    with pytest.raises(ValueError, match=r"'xrechnung-2\.3\.1'.* not 'xrechnung-9'"):
        einvoice.rule_changes("xrechnung-9", "xrechnung-3.0.2")
    with pytest.raises(ValueError, match="must be 'de' or 'en', not 'fr'"):
        einvoice.rule_changes("xrechnung-2.3.1", "xrechnung-3.0.2", lang="fr")
