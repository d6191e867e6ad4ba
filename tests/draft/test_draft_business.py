"""Drafts of real business: without findings by our rules, and by the official stylesheets."""

from __future__ import annotations

from decimal import Decimal

import pytest

import einvoice
from einvoice.draft import Draft
from tests.helpers.business_drafts import DRAFTS, EXTENDED, OTHER_PROFILES, UBL_ONLY
from tests.helpers.official_rules import official
from tests.live.official_schematron import official_schematron

BOTH = [name for name in DRAFTS if name not in UBL_ONLY]
#: Invoices of the XRechnung Extension exceed EN 16931, which our validator tells as an information.
TOLD = {"UBL-CR-646", "UBL-CR-470", "BR-CO-16"}
MANY = "1,000 lines"


def generated(content, format, profile=None):
    return einvoice.generate({**content, "profile": profile} if profile else content, format)


def codes(result):
    return [(it.code, it.draft_pointer) for it in result.validation.findings]


@pytest.mark.parametrize("format", ["UBL", "CII"])
@pytest.mark.parametrize("name", BOTH)
def test_xrechnung_has_no_findings(name, format):
    result = generated(DRAFTS[name], format)
    assert (result.is_valid, codes(result)) == (True, [])


@pytest.mark.parametrize("name", sorted(UBL_ONLY))
def test_what_cii_cannot_hold_is_refused(name):
    assert codes(generated(DRAFTS[name], "UBL")) == []
    with pytest.raises(einvoice.DraftError, match="/preceding_invoices/1"):
        generated(DRAFTS[name], "CII")


@pytest.mark.parametrize("name", [name for name in DRAFTS if name != "self-billing"])
def test_peppol_has_no_findings(name):
    assert codes(generated(DRAFTS[name], "UBL", "PEPPOL")) == []


@pytest.mark.parametrize("name", OTHER_PROFILES)
def test_other_profiles_have_no_findings(name):
    result = generated(OTHER_PROFILES[name], "UBL")
    assert (result.is_valid, codes(result)) == (True, [])


@pytest.mark.parametrize("name", EXTENDED)
def test_xrechnung_extension_is_valid(name):
    result = generated(EXTENDED[name], "UBL")
    assert result.is_valid
    assert {code for code, _ in codes(result)} <= TOLD
    with pytest.raises(einvoice.DraftError, match="in UBL only"):
        generated(EXTENDED[name], "CII")
    with pytest.raises(einvoice.DraftError, match="XRECHNUNG-EXTENSION only"):
        generated(EXTENDED[name], "UBL", "XRECHNUNG")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in BOTH if name != MANY])
def test_zugferd_has_no_findings(name):
    pytest.importorskip("pikepdf")
    result = generated(DRAFTS[name], "ZUGFERD")
    assert (result.is_valid, codes(result)) == (True, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAFTS)
def test_official_stylesheet_for_ubl_agrees(name):
    pytest.importorskip("saxonche")
    assert official_schematron().codes(generated(DRAFTS[name], "UBL", "EN16931").data) == frozenset()


@pytest.mark.slow
@pytest.mark.parametrize("name", BOTH)
def test_official_stylesheet_for_cii_agrees(name):
    pytest.importorskip("saxonche")
    data = generated(DRAFTS[name], "CII", "EN16931").data
    assert official(data, "en16931") == (set(), set())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "format"), [*((it, "UBL") for it in (*DRAFTS, *EXTENDED, *OTHER_PROFILES)), *((it, "CII") for it in BOTH)]
)
def test_draft_of_the_invoice_is_the_same_invoice(name, format):
    content = {**DRAFTS, **EXTENDED, **OTHER_PROFILES}[name]
    first = generated(content, format)
    again = Draft.from_invoice(einvoice.read(first.data))
    assert again.left_out == ()
    assert einvoice.generate(again).data == first.data


AGREED = {
    "final invoice after down payments": "prepayments",
    "retention": "retentions",
    "cash discount": "discounts",
}


@pytest.mark.parametrize("lang", ["de", "en", "fr"])
@pytest.mark.parametrize("format", ["UBL", "CII"])
@pytest.mark.parametrize("profile", ["XRECHNUNG", "EN16931"])
@pytest.mark.parametrize("name", AGREED)
def test_what_is_put_into_words_is_structured_again(name, profile, format, lang):
    content = {**DRAFTS[name], "format": format, "profile": profile}
    first = einvoice.generate(content, lang=lang)
    again = Draft.from_invoice(einvoice.read(first.data))
    assert again.left_out == ()
    given = Draft.model_validate(content)
    for field in ("prepayments", "retentions", "discounts", "notes", "preceding_invoices", "payment_terms"):
        assert getattr(again, field) == getattr(given, field), field
    assert getattr(again, AGREED[name])
    assert einvoice.generate(again, lang=lang).data == first.data


def test_a_draft_of_a_final_invoice_calculates_its_remainder_again():
    read = einvoice.read(generated(DRAFTS["final invoice after down payments"], "UBL").data)
    again = Draft.from_invoice(read)
    again.lines[0].unit_price = Decimal(12000)
    note = again.invoice().notes[-1].text.raw.splitlines()[-1]
    assert note == "Restbetrag 8.330,00 EUR: netto 7.000,00 EUR, Umsatzsteuer 1.330,00 EUR"


def test_a_note_that_another_amount_contradicts_stays_a_note():
    data = generated(DRAFTS["final invoice after down payments"], "UBL").data
    read = einvoice.read(data.replace(b">5950.00</cbc:PrepaidAmount>", b">5949.00</cbc:PrepaidAmount>"))
    again = Draft.from_invoice(read)
    assert again.prepayments is None
    assert [it.text for it in again.notes] == [read.notes[0].text.raw]
