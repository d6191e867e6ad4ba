"""Causes of codes that their list lacks: names of codes, other spellings, and codes with one wrong character."""

import re

import pytest

import einvoice
from einvoice.repair.edits import apply
from tests.helpers.paths import SAMPLES

UBL, CII = ((SAMPLES / name).read_text("utf-8") for name in ("ubl-invoice.xml", "cii-invoice.xml"))
PAYMENT = r"(?<=<cbc:PaymentMeansCode>)58(?=</cbc:PaymentMeansCode>)"


def changed(document, pattern, text, count=1):
    found = re.sub(pattern, text, document, count=count)
    assert found != document
    return found


def cause_of(document, lang="en"):
    (cause,) = einvoice.validate(document.encode(), lang=lang).causes()
    return cause


def repaired(document, change):
    return apply(document.encode(), change.edits).decode()


@pytest.mark.parametrize("name", ["Germany", "Deutschland", "deu", "de"])
@pytest.mark.parametrize(
    ("document", "pattern"),
    [(UBL, "(?<=<cbc:IdentificationCode>)DE"), (CII, "(?<=<ram:CountryID>)DE")],
)
def test_country_by_name(document, pattern, name):
    wrong = changed(document, pattern, name)
    cause = cause_of(wrong)
    (change,) = cause.changes
    assert change.safe
    assert cause.terms == ("BT-40",)
    assert repaired(wrong, change) == document


@pytest.mark.parametrize("currency", ["€", "EURO", "eur"])
def test_wrong_currency_everywhere_is_one_change(currency):
    wrong = UBL.replace('currencyID="EUR"', f'currencyID="{currency}"').replace(">EUR<", f">{currency}<")
    cause = cause_of(wrong)
    (change,) = cause.changes
    assert change.safe
    assert repaired(wrong, change) == UBL
    assert "BT-5" in cause.text()
    assert len(cause.text()) < 200


def test_unit_with_several_meanings_is_a_question():
    wrong = changed(UBL, 'unitCode="C62"', 'unitCode="Stück"', count=0)
    cause = cause_of(wrong)
    assert [edit.value for change in cause.changes for edit in change.edits[:1]] == ["H87", "C62"]
    assert cause.terms == ("BT-130",)
    assert cause.is_question
    assert not any(change.safe for change in cause.changes)


def test_payment_means_by_name():
    wrong = changed(UBL, PAYMENT, "SEPA credit transfer")
    (change,) = cause_of(wrong).changes
    assert repaired(wrong, change) == UBL
    cause = cause_of(changed(UBL, PAYMENT, "Überweisung"))
    assert [edit.text for change in cause.changes for edit in change.edits] == ["58", "30"]


def test_vat_category_by_name_everywhere():
    wrong = UBL.replace("<cbc:ID>S</cbc:ID>", "<cbc:ID>standard rate</cbc:ID>")
    (change,) = cause_of(wrong).changes
    assert repaired(wrong, change) == UBL


def test_only_similar_code_is_proposed_but_not_safe():
    wrong = changed(UBL, "(?<=<cbc:DocumentCurrencyCode>)EUR", "EUT")
    (change,) = cause_of(wrong).changes
    assert not change.safe
    assert repaired(wrong, change) == UBL


def test_several_similar_codes_are_a_question():
    cause = cause_of(changed(UBL, PAYMENT, "158"))
    assert {edit.text for change in cause.changes for edit in change.edits} == {"15", "18", "58"}


def test_no_code_is_proposed_if_none_is_similar():
    assert cause_of(changed(UBL, PAYMENT, "bitcoin")).changes == ()
