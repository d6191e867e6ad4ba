"""Hybrid PDFs generated from drafts, for each profile."""

import json

import pytest

import einvoice
from tests.helpers.paths import SAMPLES


def draft(name, **changes):
    return {**json.loads((SAMPLES / name).read_text(encoding="utf-8")), "format": "ZUGFERD", **changes}


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
def test_draft_generates_a_valid_hybrid_of_each_profile(profile, name, filename):
    generated = einvoice.generate(draft(name, profile=profile))
    assert generated.is_valid, generated.validation
    assert generated.validation.container.is_valid
    assert generated.embedded_xml.filename == filename
    assert einvoice.extract(generated.pdf).name == filename
    assert (generated.xml, generated.primary_artifact_type, generated.to_dict()["format"]) == (None, "pdf", "ZUGFERD")
    assert bool(generated.omitted_terms) == (profile in ("MINIMUM", "BASIC_WL"))


def test_unsupported_terms_are_rejected_in_invoice_profiles():
    with pytest.raises(einvoice.DraftError) as raised:
        einvoice.generate(draft("draft-full.json", profile="BASIC"))
    assert "/invoiced_object" in {problem.pointer for problem in raised.value.errors}


def test_unsupported_totals_are_rejected():
    with pytest.raises(einvoice.DraftError) as raised:
        einvoice.generate(draft("draft.json", profile="BASIC_WL", totals={"rounding_amount": "0.01"}))
    assert "/totals/rounding_amount" in {problem.pointer for problem in raised.value.errors}


@pytest.mark.parametrize("profile", ["NLCIUS", "XRECHNUNG-EXTENSION"])
def test_profile_that_no_hybrid_can_declare_is_an_error(profile):
    with pytest.raises(einvoice.DraftError) as raised:
        einvoice.generate(draft("draft.json", profile=profile))
    (problem,) = raised.value.errors
    assert (problem.pointer, problem.key) == ("/profile", "profile_not_in_pdf")
