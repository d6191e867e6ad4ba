"""Repaired documents: which changes are made, what remains, and the verdict before and after."""

import pytest
from pikepdf import Array, Dictionary

import einvoice
from einvoice.causes import Cause, Change
from einvoice.causes.applicability import QUESTION, SAFE, UNSAFE
from einvoice.editing.edits import Remove, SetText
from einvoice.errors import SignedDocument
from einvoice.repair import fixing
from einvoice.result import ValidationResult
from tests.helpers.checks import FOLDERS, assert_no_worse, check_applied_edits, codes
from tests.helpers.hybrids import XML, hybrid

ROOT = "/ubl:Invoice/"
CURRENCY = SetText(f"{ROOT}cbc:DocumentCurrencyCode", "EUR")
TOTAL = SetText(f"{ROOT}cac:LegalMonetaryTotal/cbc:TaxInclusiveAmount", "415.33")
SIGNATURE = b'<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:SignedInfo/></ds:Signature>'


@pytest.fixture
def invoice(sample):
    return sample("ubl-invoice.xml").read_bytes()


@pytest.fixture
def faulty(invoice):
    """An invoice with two faults: the currency in lower case (BT-5), and a wrong total with VAT (BT-112)."""
    return invoice.replace(b">EUR<", b">eur<").replace(b">415.33<", b">41.33<")


def change(*edits, applicability=SAFE):
    return Change(edits, (), (), applicability, (), (), "en")


def causes_are(monkeypatch, *causes):
    """Let every result have these causes: (changes of the cause, …)."""
    found = tuple(Cause((), (), tuple(changes), (), einvoice.result.location.NOWHERE, "en") for changes in causes)
    monkeypatch.setattr(ValidationResult, "causes", lambda self: found if self.findings else ())
    return found


def test_safe_changes_make_the_invoice_what_it_was(faulty, invoice):
    result = einvoice.validate(faulty, lang="en")
    fixed = result.fixed()
    assert not fixed.before.is_valid
    assert fixed.after.is_valid
    assert fixed.xml == invoice
    assert fixed.before is result
    assert fixed.after.document.data == invoice
    assert len(fixed.changes) == 2
    assert fixed.remaining == ()


def test_valid_invoice_stays_as_it_is(invoice):
    fixed = einvoice.validate(invoice).fixed(unsafe=True)
    assert not fixed.is_changed
    assert fixed.xml == invoice
    assert fixed.diff() == ""


def test_unsafe_changes_are_made_on_request_only(monkeypatch, faulty):
    causes_are(monkeypatch, [change(CURRENCY)], [change(TOTAL, applicability=UNSAFE)])
    fixed = einvoice.validate(faulty).fixed()
    assert [it.edits for it in fixed.changes] == [(CURRENCY,)]
    assert [it.edits for it in fixed.unsafe] == [(TOTAL,)]
    fixed = einvoice.validate(faulty).fixed(unsafe=True)
    assert [it.edits for it in fixed.changes] == [(CURRENCY,), (TOTAL,)]
    assert fixed.after.is_valid


def test_questions_are_never_answered(monkeypatch, faulty):
    question = causes_are(monkeypatch, [change(CURRENCY), change(Remove(f"{ROOT}cbc:DocumentCurrencyCode"))])
    fixed = einvoice.validate(faulty).fixed(unsafe=True)
    assert not fixed.is_changed
    assert fixed.remaining == question
    assert fixed.unsafe == ()


def test_no_option_makes_a_change_that_is_a_question(monkeypatch, faulty):
    question = causes_are(monkeypatch, [change(CURRENCY, applicability=QUESTION)])
    fixed = einvoice.validate(faulty).fixed(unsafe=True)
    assert fixed.xml == faulty
    assert fixed.remaining == question
    assert question[0].is_question
    assert fixed.unsafe == ()


def test_change_that_builds_on_a_question_is_not_made(monkeypatch, faulty):
    causes_are(monkeypatch, [change(CURRENCY), change(CURRENCY, TOTAL)], [change(CURRENCY, TOTAL)])
    assert not einvoice.validate(faulty).fixed(unsafe=True).is_changed


def test_change_that_adds_a_finding_is_not_made(monkeypatch, faulty):
    causes_are(monkeypatch, [change(CURRENCY, Remove(f"{ROOT}cbc:IssueDate"))])
    assert not einvoice.validate(faulty).fixed().is_changed


def test_change_that_resolves_nothing_is_not_made(monkeypatch, faulty):
    causes_are(monkeypatch, [change(SetText(f"{ROOT}cbc:Note", "x"))])
    assert not einvoice.validate(faulty).fixed().is_changed


def test_contradictory_changes_are_made_one_by_one(monkeypatch, faulty):
    other = SetText(CURRENCY.xpath, "USD")
    causes_are(monkeypatch, [change(CURRENCY)], [change(other)], [change(TOTAL)])
    fixed = einvoice.validate(faulty).fixed()
    assert [it.edits for it in fixed.changes] == [(CURRENCY,), (TOTAL,)]
    assert fixed.after.is_valid


def test_rounds_are_bounded(monkeypatch, faulty):
    rounds = []
    cause = Cause((), (), (change(CURRENCY),), (), einvoice.result.location.NOWHERE, "en")
    monkeypatch.setattr(ValidationResult, "causes", lambda self: rounds.append(self) or (cause,))
    monkeypatch.setattr(fixing, "compare", lambda before, after: ({1}, ()))
    assert len(einvoice.validate(faulty).fixed().changes) == fixing.MAX_ROUNDS
    assert len(rounds) == fixing.MAX_ROUNDS + 1


def test_options_of_the_validation_apply_to_the_repaired_document(faulty):
    result = einvoice.validate(faulty, ruleset="xrechnung-2.3.1")
    assert [it.version for it in result.fixed().after.stack.layers] == [it.version for it in result.stack.layers]
    assert result.fixed().after.stack.layers != einvoice.validate(faulty).stack.layers


@pytest.mark.parametrize("place", [b"</Invoice>", b"<cac:OrderReference>"])
def test_signed_xml_is_not_changed(faulty, place):
    """The sample has no prefix for its root element."""
    assert place in faulty
    signed = faulty.replace(place, b"<!-- -->" + SIGNATURE + place, 1)
    with pytest.raises(SignedDocument) as raised:
        einvoice.validate(signed).fixed()
    assert raised.value.part == "xml"


@pytest.fixture
def faulty_cii():
    changed = XML.replace(b">EUR</ram:InvoiceCurrencyCode>", b">eur</ram:InvoiceCurrencyCode>")
    assert changed != XML
    return changed


def test_signed_pdf_is_not_changed(faulty_cii):
    signed = hybrid(lambda pdf, spec: pdf.Root.__setitem__("/AcroForm", Dictionary(SigFlags=3, Fields=Array())))
    with pytest.raises(SignedDocument) as raised:
        einvoice.validate(signed).fixed()
    assert raised.value.part == "pdf"


def test_xml_of_a_pdf_is_corrected_by_the_rules_of_the_pdf(faulty_cii):
    result = einvoice.validate(hybrid(xml=faulty_cii))
    fixed = result.fixed()
    assert fixed.xml == XML
    assert fixed.after.container is result.container
    assert [it.name for it in fixed.after.stack.layers] == [it.name for it in result.stack.layers]
    assert [it for it in fixed.after.findings if it.layer == "pdf"] == list(result.container.findings)
    assert codes(fixed.after) == codes(einvoice.validate(hybrid()))


@pytest.mark.parametrize("lang", ["de", "en"])
def test_summary(faulty, lang):
    text = str(einvoice.validate(faulty, lang=lang).fixed())
    first, second, *changes, last = text.splitlines()
    assert (
        first
        == {
            "de": "vorher nicht gültig (3 Fehler), nachher gültig (keine Befunde).",
            "en": "not valid (3 errors) before, valid (no findings) after the changes.",
        }[lang]
    )
    assert second == {"de": "Änderungen (2):", "en": "Changes (2):"}[lang]
    assert len(changes) == 2
    assert any("BT-5" in line for line in changes)
    assert (
        last
        == {
            "de": "Zahlbetrag (BT-115): vorher 400,00, nachher 400,00. "
            "Umsatzsteuer gesamt (BT-110): vorher 56,33, nachher 56,33. Positionen: vorher 3, nachher 3.",
            "en": "Amount due for payment (BT-115): 400.00 before, 400.00 after. "
            "Total VAT amount (BT-110): 56.33 before, 56.33 after. Invoice lines: 3 before, 3 after.",
        }[lang]
    )


def test_diff_has_the_names(faulty):
    lines = einvoice.validate(faulty).fixed().diff("a.xml").splitlines()
    assert lines[:2] == ["--- a.xml", "+++ a.xml"]
    assert [line for line in lines[2:] if line[0] in "+-"] == [
        "-  <cbc:DocumentCurrencyCode>eur</cbc:DocumentCurrencyCode>",
        "+  <cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>",
        '-    <cbc:TaxInclusiveAmount currencyID="EUR">41.33</cbc:TaxInclusiveAmount>',
        '+    <cbc:TaxInclusiveAmount currencyID="EUR">415.33</cbc:TaxInclusiveAmount>',
    ]


@pytest.mark.slow
@pytest.mark.cases
@pytest.mark.parametrize("part", range(4))
def test_cases_get_no_worse_and_stay_untouched_elsewhere(cases, part, monkeypatch):
    """One case in 20; `pytest -m live` fixes all of them."""
    checked = check_applied_edits(monkeypatch)
    documents = [*cases(*FOLDERS)]
    for case, data in documents[part::80]:
        assert_no_worse(case["case"], data)
    assert checked
