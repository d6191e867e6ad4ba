"""From a draft to a hybrid PDF of each profile."""

import json
from pathlib import Path

import pytest

import einvoice

SAMPLES = Path(__file__).parents[1] / "samples"


def draft(name, **more):
    return {**json.loads((SAMPLES / name).read_text(encoding="utf-8")), "format": "ZUGFERD", **more}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("profile", "name", "filename"),
    [
        ("EN16931", "draft-full.json", "factur-x.xml"),
        ("XRECHNUNG", "draft-full.json", "xrechnung.xml"),
        ("EXTENDED", "draft-full.json", "factur-x.xml"),
        ("BASIC", "draft.json", "factur-x.xml"),
        ("BASIC_WL", "draft.json", "factur-x.xml"),
        ("MINIMUM", "draft.json", "factur-x.xml"),
    ],
)
def test_a_draft_becomes_a_valid_hybrid_of_each_profile(profile, name, filename):
    made = einvoice.generate(draft(name, profile=profile))
    assert made.is_valid, made.validation
    assert made.validation.container.is_valid
    assert made.embedded_xml.filename == filename
    assert einvoice.extract(made.pdf).name == filename
    assert (made.xml, made.primary_artifact_type, made.to_dict()["format"]) == (None, "pdf", "ZUGFERD")
    assert bool(made.omitted_terms) == (profile in ("MINIMUM", "BASIC_WL"))


def test_what_a_profile_has_no_place_for_is_refused_where_the_xml_is_the_invoice():
    with pytest.raises(einvoice.DraftError) as refused:
        einvoice.generate(draft("draft-full.json", profile="BASIC"))
    assert "/invoiced_object" in {problem.pointer for problem in refused.value.errors}


def test_sums_that_would_no_longer_add_up_are_refused():
    with pytest.raises(einvoice.DraftError) as refused:
        einvoice.generate(draft("draft.json", profile="BASIC_WL", totals={"rounding_amount": "0.01"}))
    assert "/totals/rounding_amount" in {problem.pointer for problem in refused.value.errors}
