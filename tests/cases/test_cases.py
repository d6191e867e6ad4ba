"""The generated cases: they are as stored, and einvoice's findings are those of the official stylesheets."""

from collections import Counter

import pytest

import einvoice
from tests.helpers.profile_documents import PROFILES
from tests.live.facturx import native

from . import corpus
from .edits import edited
from .official import place

pytestmark = pytest.mark.cases


def stops(case):
    """Return whether the official stylesheet ended with an error."""
    return any(isinstance(found, dict) for found in case["fired"].values())


def test_cases_have_distinct_names_and_documents():
    """Reading them compares the hash of each document."""
    cases = corpus.generated()
    assert len({case["case"] for case, _ in cases}) == len({data for _, data in cases}) == len(cases) > 300


def test_every_folder_has_valid_and_invalid_documents():
    found = Counter(
        (case["case"].partition("/")[0], bool(case["edits"]), case["xsd"]) for case, _ in corpus.generated()
    )
    for folder in corpus.GENERATED:
        assert found[folder, False, True], folder
        assert found[folder, True, True], folder
        assert found[folder, True, False], folder
    assert all(case["xsd"] for case, _ in corpus.unedited())


def test_no_base_violates_a_fatal_rule():
    for case, _ in corpus.unedited():
        assert not [flag for found in case["fired"].values() for _, flag, _ in found if flag != "warning"], case["case"]


@pytest.mark.parametrize("edits", [[["remove", "/*/nothing"]], [["rename", "/*"]]])
def test_edit_that_does_not_apply_is_an_error(edits):
    with pytest.raises(ValueError, match="does not apply"):
        edited(b"<Invoice/>", edits)


def test_document_other_than_the_judged_one_is_an_error():
    row = {"case": "a/b", "base": "x", "edits": [], "sha256": "0"}
    with pytest.raises(ValueError, match=r"a/b is another document .*tests\.cases\.generate"):
        corpus._generated(row, {"x": b"<Invoice/>"})


def test_places_have_the_form_of_the_other_cases():
    cac = "urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"
    root = "/*:Invoice[namespace-uri()='urn:oasis:names:specification:ubl:schema:xsd:Invoice-2'][1]"
    assert place(f"{root}/*:TaxTotal[namespace-uri()='{cac}'][2]") == "/Invoice/cac:TaxTotal[2]"
    assert place("/rsm:CrossIndustryInvoice[1]/ram:ID[1]") == "/rsm:CrossIndustryInvoice/ram:ID"


@pytest.mark.parametrize("folder", corpus.UBL)
def test_en16931_findings_are_those_of_the_official_stylesheet(folder):
    for case, data in corpus.cases(folder):
        if stops(case):
            continue
        findings = einvoice.validate(data, profile="xrechnung").findings
        found = {(it.code, it.flag) for it in findings if it.layer == "en16931"}
        assert found == {(code, flag) for code, flag, _ in case["fired"]["en16931"]}, case["case"]


@pytest.mark.parametrize("profile", corpus.FACTUR_X)
def test_factur_x_findings_are_those_of_the_official_stylesheet(profile):
    compared = 0
    for case, data in corpus.cases(corpus.FACTUR_X[profile]):
        if stops(case) or case["customization_id"] != PROFILES[profile]:
            continue  # the other document is not validated by the profile
        own = native(data, profile)[0]
        official = {code: flag or "fatal" for code, flag, _ in case["fired"]["facturx"]}
        assert own == official, case["case"]
        compared += 1
    assert compared > 10
