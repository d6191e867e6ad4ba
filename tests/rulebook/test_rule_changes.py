"""Rule changes between two releases, as object, table, page and text."""

import pandas as pd
import pytest

import einvoice
from tests.helpers.languages import REJECTED


@pytest.fixture(scope="module")
def changes():
    return einvoice.rule_changes("xrechnung-2.3.1", "xrechnung-3.0.2", lang="en")


def test_changes_announced_by_kosit_are_listed(changes):
    assert (changes.old, changes.new) == ("xrechnung-2.3.1", "xrechnung-3.0.2")
    assert {"PEPPOL-EN16931-R020", "PEPPOL-EN16931-R010", "BR-DE-CVD-01"} <= set(changes.added)
    assert "BR-DE-29" in changes.removed  # replaced by PEPPOL-EN16931-R061
    assert "BR-DE-18" in changes.changed
    assert not set(changes.added) & set(changes.removed)
    assert changes


@pytest.mark.slow
def test_swapped_releases_swap_added_and_removed(changes):
    reverse = einvoice.rule_changes("xrechnung-3.0.2", "xrechnung-2.3.1")
    assert (reverse.added, reverse.removed, reverse.changed) == (changes.removed, changes.added, changes.changed)
    assert not einvoice.rule_changes("xrechnung-3.0.2", "xrechnung-3.0.2-2.6.0")


def test_table_has_one_row_per_rule(changes):
    frame = changes.to_frame()
    assert dict(frame["change"].value_counts()) == {
        kind: len(getattr(changes, kind)) for kind in ("added", "removed", "changed")
    }
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == {
        **dict.fromkeys(("change", "severity", "layer", "section"), "category"),
        **dict.fromkeys(("code", "title"), "string"),
    }
    (row,) = frame[frame.code == "PEPPOL-EN16931-R020"].itertuples()
    assert (row.change, row.severity, row.layer) == ("added", "fatal", "xrechnung")
    assert row.title == einvoice.catalog()["PEPPOL-EN16931-R020"].title("en")
    assert (frame.severity >= "information").all()
    assert set(changes.to_frame(lang="de").title) != set(frame.title)
    pd.testing.assert_frame_equal(frame.drop(columns="title"), changes.to_frame(lang="de").drop(columns="title"))


@pytest.mark.slow
def test_html_and_text_list_each_rule(changes):
    page = changes._repr_html_()
    for code in (*changes.added, *changes.removed, *changes.changed):
        assert f">{code}<" in page
        assert f"  {code}  " in str(changes)
    assert "<script" not in page
    assert "Neu: " in changes.to_text("de")
    assert repr(changes) == (
        f"<RuleChanges xrechnung-2.3.1 to xrechnung-3.0.2: {len(changes.added)} added, "
        f"{len(changes.removed)} removed, {len(changes.changed)} changed>"
    )


def test_unknown_release_or_language_is_rejected():
    with pytest.raises(ValueError, match=r"'xrechnung-9'; use one of .*'xrechnung-2\.3\.1'"):
        einvoice.rule_changes("xrechnung-9", "xrechnung-3.0.2")
    with pytest.raises(ValueError, match=REJECTED):
        einvoice.rule_changes("xrechnung-2.3.1", "xrechnung-3.0.2", lang="xx")


def test_changes_of_peppol_are_apart_from_those_of_en_16931():
    changes = einvoice.rule_changes("peppol-2025.11", "peppol-2026.5", lang="en")
    listed = {*changes.added, *changes.removed, *changes.changed}
    assert not [code for code in listed if code.startswith("CII-")]  # Peppol has no CII
    own, base = str(changes).split("EN 16931\n\n")
    assert own.startswith("Peppol BIS Billing\n")
    # The official Schematron has the rules about Dutch identifiers since 2026.5.
    assert "PEPPOL-COMMON-R054" in own
    assert "UBL-SR-56" in base
    assert "PEPPOL-" not in base
    assert changes._repr_html_().count("<details>") == 6
    layers = changes.to_frame().set_index("code").layer
    assert (layers["PEPPOL-EN16931-R007"], layers["UBL-SR-56"]) == ("peppol", "en16931")
