"""The type of a registration number: corrected if the number says which it is, and never a reason to remove it."""

import re

import pytest

import einvoice
from einvoice.editing.edits import Remove, RemoveAttribute, apply
from tests.helpers.paths import SAMPLES

CII = (SAMPLES / "cii-invoice.xml").read_text("utf-8")
EXTENDED = re.sub(
    "urn:cen.eu:en16931:2017[^<]*", "urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended", CII, count=1
)
TYPE = 'schemeID="VA"'
(REGISTRATION,) = re.findall(r"<ram:SpecifiedTaxRegistration>.*?</ram:SpecifiedTaxRegistration>", CII, re.DOTALL)


def causes_of(document):
    return einvoice.validate(document.encode(), lang="en").causes()


@pytest.mark.parametrize("document", [CII, EXTENDED])
@pytest.mark.parametrize(
    ("wrong", "is_safe"), [("VAT", True), ("va", True), ("XX", False), ("", False)], ids=lambda it: str(it)
)
def test_unknown_type_of_a_vat_identifier_is_corrected(document, wrong, is_safe):
    (cause,) = causes_of(document.replace(TYPE, f'schemeID="{wrong}"'))
    (change,) = cause.changes
    assert change.terms == ("BT-31",)
    assert change.safe == is_safe
    assert apply(document.replace(TYPE, f'schemeID="{wrong}"').encode(), change.edits).decode() == document


def test_type_of_a_vat_identifier_is_added():
    document = EXTENDED.replace(f" {TYPE}", "")
    (cause,) = causes_of(document)
    (change,) = cause.changes
    assert change.text() == "Add attribute schemeID of seller VAT identifier (BT-31): “VA”."
    assert apply(document.encode(), change.edits).decode() == EXTENDED


@pytest.mark.parametrize("number", ["201/113/40209", "20111340209", "XX987654321"])
def test_type_of_a_number_that_is_no_vat_identifier_remains(number):
    document = EXTENDED.replace("DE987654321", number).replace(TYPE, 'schemeID="VAT"')
    assert not [change for cause in causes_of(document) for change in cause.changes]


def test_tax_number_remains_one():
    number = REGISTRATION.replace(TYPE, 'schemeID="FC"')
    causes = causes_of(EXTENDED.replace(REGISTRATION, number))
    assert causes
    assert not [change for cause in causes for change in cause.changes]


@pytest.mark.parametrize("number", ["DE987654321", "201/113/40209"])
def test_number_of_unknown_type_is_not_removed(number):
    further = REGISTRATION.replace(TYPE, 'schemeID="VAT"').replace("DE987654321", number)
    document = EXTENDED.replace(REGISTRATION, REGISTRATION + further)
    causes = causes_of(document)
    assert "PROFILE-NOT-USED" in {finding.code for cause in causes for finding in cause.findings}
    edits = [edit for cause in causes for change in cause.changes for edit in change.edits]
    assert not [edit for edit in edits if isinstance(edit, Remove | RemoveAttribute)]
