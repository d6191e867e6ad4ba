"""Causes of misspelt names, wrong namespaces and elements in the wrong order; their changes restore every byte."""

import re

import pytest
from lxml import etree

import einvoice
from einvoice.editing.edits import Insert, Move, Rename, RenameAttribute, SetNamespace, apply
from einvoice.editing.serialization import EditError
from einvoice.model.location import NAMESPACES
from einvoice.syntax.xml import parse
from tests.helpers.checks import assert_untouched
from tests.helpers.paths import SAMPLES

UBL, CII = ((SAMPLES / name).read_text("utf-8") for name in ("ubl-invoice.xml", "cii-invoice.xml"))
ROOT = "/ubl:Invoice"


def restored(wrong):
    """The document with the change of its only cause, and whether it is safe."""
    (cause,) = einvoice.validate(wrong.encode(), lang="en").causes()
    (change,) = cause.changes
    after = apply(wrong.encode(), change.edits)
    assert_untouched(wrong.encode(), change.edits, after)
    return after.decode(), change.safe


@pytest.mark.parametrize(
    ("document", "name", "wrong", "is_safe"),
    [
        (UBL, "cbc:IssueDate", "cbc:IssueDat", False),
        (UBL, "cbc:IssueDate", "cbc:issueDate", True),
        (UBL, "cbc:IssueDate", "cac:IssueDate", True),
        (UBL, "cac:AccountingSupplierParty", "cac:AccountingSuplierParty", False),
        (UBL, "cac:InvoiceLine", "cac:InvoicesLine", False),
        (UBL, "cbc:ID", "cbc:Id", True),
        (CII, "ram:GrandTotalAmount", "ram:GrandAmount", False),
    ],
)
def test_misspelt_elements_are_renamed_everywhere(document, name, wrong, is_safe):
    misspelt = re.sub(f"(?<=[</]){name}(?=[ >])", wrong, document)
    assert misspelt != document
    assert restored(misspelt) == (document, is_safe)


@pytest.mark.parametrize(("name", "wrong"), [("currencyID", "currencyId"), ("unitCode", "unitcode")])
def test_misspelt_attributes_are_renamed_everywhere(name, wrong):
    assert restored(UBL.replace(f" {name}=", f" {wrong}=")) == (UBL, True)


@pytest.mark.parametrize("uri", ["CommonBasicComponents-1", "CommonBasicComponent-2"])
def test_wrong_namespace_is_one_cause(uri):
    assert restored(UBL.replace("CommonBasicComponents-2", uri)) == (UBL, True)


def test_name_that_resembles_no_other_is_removed_instead():
    wrong = UBL.replace("<cbc:IssueDate>", "<cbc:Internal>x</cbc:Internal>\n  <cbc:IssueDate>")
    assert restored(wrong) == (UBL, False)


@pytest.mark.parametrize("comment", ["", "<!-- a < b -->", "<![CDATA[]]>"])
def test_moved_element_keeps_its_bytes(comment):
    party = re.search(r"\s*<cac:AccountingSupplierParty>.*?</cac:AccountingSupplierParty>", UBL, re.DOTALL)[0]
    commented = party.replace("<cac:Party>", f"{comment}<cac:Party\n>")
    after = "</cac:AccountingCustomerParty>"
    wrong = UBL.replace(party, "").replace(after, after + commented)
    assert restored(wrong) == (UBL.replace(party, commented), True)


def test_element_moves_to_the_start_of_its_parent():
    first = re.search(r"\s*<cbc:CustomizationID>.*?</cbc:CustomizationID>", UBL)[0]
    wrong = UBL.replace(first, "").replace("</cbc:ID>", f"</cbc:ID>{first}", 1)
    assert apply(wrong.encode(), [Move(f"{ROOT}/cbc:CustomizationID")]).decode() == UBL


def test_element_moves_beside_an_inserted_one():
    amount = re.search(r"\s*<cbc:TaxAmount[^>]*>[^<]*</cbc:TaxAmount>", UBL)[0]
    total = f"{ROOT}/cac:TaxTotal"
    wrong = UBL.replace(amount, "", 1).replace("</cac:TaxTotal>", f"{amount}</cac:TaxTotal>", 1)
    moves = [Move(f"{total}/cac:TaxSubtotal[{number}]") for number in (1, 2)]
    after = apply(wrong.encode(), [*moves, Insert(total, ("cac:TaxSubtotal[3]", "cbc:TaxAmount"), "1")])
    (found,) = parse(after).getroot().xpath(total, namespaces=NAMESPACES)
    assert [etree.QName(it).localname for it in found] == ["TaxAmount", "TaxSubtotal", "TaxSubtotal", "TaxSubtotal"]


def test_rename_declares_a_missing_prefix():
    data = b'<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"><ID a="1">x</ID ><Note/></Invoice>'
    after = apply(data, [Rename(f"{ROOT}/ubl:ID", "cbc:ID"), Rename(f"{ROOT}/ubl:Note", "ubl:Notes")])
    declared = b'xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"'
    expected = data.replace(b'<ID a="1">x</ID >', b"<cbc:ID " + declared + b' a="1">x</cbc:ID >')
    assert after == expected.replace(b"<Note/>", b"<Notes/>")


def test_quotation_marks_and_order_of_attributes_remain():
    data = b"<Invoice xmlns='urn:oasis:names:specification:ubl:schema:xsd:Invoice-2'><ID b = 'x' a='&lt;'/></Invoice>"
    assert apply(data, [RenameAttribute(f"{ROOT}/ubl:ID", "a", "c")]) == data.replace(b" a=", b" c=")
    after = apply(data, [SetNamespace(ROOT, "", "urn:x")])
    assert after == data.replace(b"'urn:oasis:names:specification:ubl:schema:xsd:Invoice-2'", b"'urn:x'")


@pytest.mark.parametrize(
    "edit",
    [
        Rename(f"{ROOT}/ubl:ID", "ID"),
        Rename(f"{ROOT}/ubl:ID", "cbc:1"),
        RenameAttribute(f"{ROOT}/ubl:ID", "c", "d"),
        RenameAttribute(f"{ROOT}/ubl:ID", "a", "b"),
        SetNamespace(ROOT, "cbc", "urn:x"),
        Move(ROOT),
        Move(f"{ROOT}/ubl:ID"),
    ],
)
def test_edits_that_do_not_fit_are_rejected(edit):
    data = b'<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"><ID a="1" b="2"/></Invoice>'
    with pytest.raises(EditError):
        apply(data, [edit])


def test_element_of_a_choice_in_the_wrong_namespace_is_renamed():
    assert restored(CII.replace("udt:DateTimeString", "ram:DateTimeString")) == (CII, True)
