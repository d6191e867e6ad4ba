"""Violations of the XML schema that libxml2 does not see behind a child that is not expected."""

import pytest
from lxml import etree

import einvoice
from einvoice.syntax.schema import hidden, violations
from tests.helpers.schema_documents import LINE, TOTALS, VALID, parsed

DATE = "<cbc:IssueDate>2026-03-31</cbc:IssueDate>"
NOTE = "<cbc:Note>Danke</cbc:Note>"
UNKNOWN = "<cbc:Foo/>"
WRONG = 'currencyID="EUR">eins<'
RIGHT = 'currencyID="EUR">1.00<'
ITEM = "<cac:Item><cbc:Name>Ware</cbc:Name></cac:Item>"
SUBJECT = "<ram:SubjectCode>REG</ram:SubjectCode>"


def found(text, root="Invoice"):
    """Return code, element and the hiding element of each violation."""
    document = parsed(text)
    before = etree.tostring(document)
    reported = violations(document, root)
    assert etree.tostring(document) == before
    return [(it.code[7:], it.values["element"], it.values.get("hidden_by", "")) for it in reported]


def changed(*edits, root="Invoice"):
    text = VALID[root]
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return text


def test_violations_behind_an_unknown_element_are_reported():
    text = changed((NOTE, UNKNOWN + NOTE), (TOTALS, TOTALS.replace(RIGHT, WRONG)))
    assert found(text) == [
        ("UNKNOWN-ELEMENT", "cbc:Foo", ""),
        ("VALUE-NUMBER", "cbc:PayableAmount", "cbc:Foo"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "first"),
    [
        (DATE, "", ("MISSING-ELEMENT", "Invoice", "")),
        (DATE + "\n" + NOTE, NOTE + DATE, ("ELEMENT-ORDER", "cbc:IssueDate", "")),
        (DATE, DATE * 2, ("REPEATED-ELEMENT", "cbc:IssueDate", "")),
        (DATE, UNKNOWN, ("UNKNOWN-ELEMENT", "cbc:Foo", "")),
    ],
)
def test_the_arrangement_itself_adds_no_violation(old, new, first):
    assert found(changed((old, new))) == [first]
    (_, hidden_one) = found(changed((old, new), (LINE.format("Invoice"), LINE.format("Invoice").replace(RIGHT, WRONG))))
    assert hidden_one[:2] == ("VALUE-NUMBER", "cbc:LineExtensionAmount")
    assert hidden_one[2]


def test_every_surplus_element_is_validated():
    wrong = TOTALS.replace(RIGHT, WRONG)
    assert found(changed((TOTALS, TOTALS + wrong * 3))) == [
        ("REPEATED-ELEMENT", "cac:LegalMonetaryTotal", ""),
        *[("VALUE-NUMBER", "cbc:PayableAmount", "cac:LegalMonetaryTotal")] * 3,
    ]


def test_the_search_goes_on_behind_what_it_finds():
    line = LINE.format("Invoice").replace(
        ITEM, f"{UNKNOWN}<cac:Item>{UNKNOWN}<cbc:Name a=''>Ware</cbc:Name></cac:Item>"
    )
    text = changed((NOTE, "<cbc:Nota/>" + NOTE), (LINE.format("Invoice"), line))
    assert found(text) == [
        ("UNKNOWN-ELEMENT", "cbc:Nota", ""),
        ("UNKNOWN-ELEMENT", "cbc:Foo", "cbc:Nota"),
        ("UNKNOWN-ELEMENT", "cbc:Foo", "cbc:Foo"),
        ("ATTRIBUTE-UNKNOWN", "cbc:Name", "cbc:Foo"),
    ]


def test_an_element_in_the_wrong_parent_is_validated():
    text = changed((ITEM, ITEM + TOTALS.replace(RIGHT, WRONG)))
    assert found(text) == [
        ("UNKNOWN-ELEMENT", "cac:LegalMonetaryTotal", ""),
        ("VALUE-NUMBER", "cbc:PayableAmount", "cac:LegalMonetaryTotal"),
    ]


def test_cii():
    text = changed(
        ("<ram:ApplicableHeaderTradeAgreement/>", ""),
        (">1.5<", ">viel<"),
        (SUBJECT, SUBJECT * 2),
        root="CrossIndustryInvoice",
    )
    assert found(text, "CrossIndustryInvoice") == [
        ("REPEATED-ELEMENT", "ram:SubjectCode", ""),
        ("MISSING-ELEMENT", "rsm:SupplyChainTradeTransaction", ""),
        ("VALUE-NUMBER", "ram:GrossWeightMeasure", "ram:ApplicableHeaderTradeDelivery"),
    ]


def test_the_number_of_validations_is_bounded():
    wrong = TOTALS.replace(RIGHT, WRONG)
    first, *others, last = found(changed((TOTALS, TOTALS + wrong * 20)))
    assert first[0] == "REPEATED-ELEMENT"
    assert [it[0] for it in others] == ["VALUE-NUMBER"] * hidden.PASSES
    assert last[:2] == ("UNSEEN", "cac:LegalMonetaryTotal")  # the others are not kept secret


def test_what_remains_unseen_is_an_information():
    wrong = TOTALS.replace(RIGHT, WRONG)
    result = einvoice.validate(changed((TOTALS, TOTALS + wrong * 20)).encode(), lang="en")
    (unseen,) = (it for it in result.findings if it.code == "SCHEMA-UNSEEN")
    assert unseen.severity == "information"
    assert unseen.title().endswith("from cac:LegalMonetaryTotal in ubl:Invoice on")


def test_a_long_document_is_validated_once():
    assert found(changed((NOTE, UNKNOWN + NOTE * 1_001), (TOTALS, TOTALS.replace(RIGHT, WRONG)))) == [
        ("UNKNOWN-ELEMENT", "cbc:Foo", "")
    ]


@pytest.mark.parametrize(("lang", "word"), [("de", "weiteren Prüfung"), ("en", "further validation")])
def test_the_finding_says_how_it_was_found(lang, word):
    text = changed((NOTE, UNKNOWN + NOTE), (TOTALS, TOTALS.replace(RIGHT, WRONG)))
    first, second = (it for it in einvoice.validate(text.encode()).findings if it.layer == "schema")
    assert first.notes(lang) == ()
    (note,) = second.notes(lang)
    assert note.kind == "hidden"
    assert word in note.text
    assert "cbc:Foo" in note.text
    assert str(first.line) in note.text
