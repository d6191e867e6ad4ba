"""Sentences about causes that every display shares."""

import pytest

import einvoice
from einvoice.causes.display import codes, heading, remaining
from einvoice.localization import languages

PROOFS = {
    "de": {
        1: "Mit dieser Änderung verschwindet 1 von 3 Befunden.",
        2: "Mit dieser Änderung verschwinden 2 der 3 Befunde.",
    },
    "en": {
        1: "With this change, 1 of the 3 findings disappears.",
        2: "With this change, 2 of the 3 findings disappear.",
    },
}


@pytest.fixture
def causes(sample):
    """The causes of an invoice with a wrong total and an invalid date."""
    text = sample("ubl-invoice.xml").read_bytes().replace(b">415.33<", b">41.33<")
    result = einvoice.validate(text.replace(b"2026-05-04", b"04.05.2026"))
    assert len(result.findings) == 3
    return result.causes()


@pytest.mark.parametrize("lang", PROOFS)
def test_proof_counts_the_findings_that_disappear(causes, lang):
    shown = {len(cause.findings): cause.changes[0].proof(lang) for cause in causes}
    assert shown == PROOFS[lang]


def test_proof_of_a_change_that_resolves_everything(sample):
    text = sample("ubl-invoice.xml").read_bytes().replace(b">415.33<", b">41.33<")
    (cause,) = einvoice.validate(text).causes()
    assert cause.changes[0].proof("de") == "Mit dieser Änderung verschwinden beide Befunde."
    assert codes(cause, "de") == "BR-CO-15, BR-CO-16"


def test_no_time_leaves_findings_without_changes(sample):
    text = sample("ubl-invoice.xml").read_bytes().replace(b">415.33<", b">41.33<")
    result = einvoice.validate(text)
    causes = result.causes(seconds=0)
    assert [cause.changes for cause in causes] == [()] * len(causes)
    assert sum(len(cause.findings) for cause in causes) == len(result.findings)


def test_every_language_has_a_heading():
    assert {lang: heading(1, 1, lang) for lang in ("de", "en")} == {
        "de": "1 Ursache, 1 Befund",
        "en": "1 cause, 1 finding",
    }
    assert all("3" in heading(3, 10, lang) and "10" in heading(3, 10, lang) for lang in languages())


def test_copied_change_states_term_values_and_place(causes):
    total = next(cause for cause in causes if cause.terms[0] == "BT-112")
    assert total.changes[0].copy_text("en").split("\n") == [
        "BT-112: 41.33 -> 415.33",
        "/ubl:Invoice/cac:LegalMonetaryTotal/cbc:TaxInclusiveAmount",
    ]
    assert remaining(total.changes[0], "en") == "1 remains."


def test_copied_addition_and_removal(sample):
    text = sample("ubl-invoice.xml").read_bytes().replace(b">EUR</cbc:DocumentCurrencyCode>", b"/>")
    text = text.replace(b"<cbc:DocumentCurrencyCode/>\n", b"")
    (cause,) = einvoice.validate(text).causes()[:1]
    assert cause.changes[0].copy_text("en").split("\n")[0] == "BT-5: – -> EUR"
