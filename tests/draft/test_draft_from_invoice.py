"""Drafts made from invoices: the same invoice again, and a list of what a draft cannot hold."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from lxml import etree

import einvoice
from einvoice.draft import Draft, PrecedingInvoice
from einvoice.model.money import LogisticsCharge, LogisticsTax
from einvoice.model.values import Code
from tests.helpers.drafts import complete_drafts
from tests.helpers.plain import draft, line
from tests.helpers.properties import examples


def canonical(invoice):
    """The invoice without the order of the VAT breakdown: a draft names entries with a reason first."""
    invoice.vat_breakdown = sorted(invoice.vat_breakdown, key=lambda it: (it.category.text, str(it.rate.text)))
    return invoice


@pytest.mark.slow
@pytest.mark.parametrize("format", ["UBL", "CII"])
@examples(40)
@given(content=complete_drafts())
def test_draft_of_a_generated_invoice_is_the_same_invoice(format, content):
    first = einvoice.read(einvoice.generate(content, format).data)
    again = Draft.from_invoice(first)
    assert again.left_out == ()
    assert canonical(einvoice.read(einvoice.generate(again).data)) == canonical(first)


@pytest.mark.parametrize("format", ["UBL", "CII"])
def test_draft_with_all_fields_returns_byte_by_byte(sample, format):
    first = einvoice.generate(sample("draft-full.json"), format).data
    again = Draft.from_invoice(einvoice.read(first))
    assert (again.left_out, einvoice.generate(again).data) == ((), first)
    other = Draft.from_invoice(einvoice.read(first), "CII" if format == "UBL" else "UBL")
    assert einvoice.generate(other).data == einvoice.generate(sample("draft-full.json"), other.format).data


@pytest.mark.parametrize("name", ["ubl-invoice.xml", "cii-invoice.xml", "ubl-credit-note.xml"])
def test_draft_of_a_sample_has_all_its_content(sample, name):
    assert Draft.from_invoice(einvoice.read(sample(name))).left_out == ()


def test_attachments_of_a_credit_note_are_kept():
    attached = [{"id": "Foto", "url": "https://handwerk.example/1"}]
    credit = einvoice.read(einvoice.generate(draft(type_code="381", attachments=attached), "UBL").data)
    assert [it.text for it in credit["BT-122"]] == ["Foto"]
    again = Draft.from_invoice(credit)
    assert (again.left_out, [it.id for it in again.attachments]) == ((), ["Foto"])


def changed(data, path, text):
    """A generated UBL document with another text of an element."""
    root = etree.fromstring(data)
    root.find(path, root.nsmap).text = text
    return etree.tostring(root)


def test_amounts_are_calculated_and_differing_ones_listed():
    data = einvoice.generate(draft(), "UBL").data
    wrong = changed(data, ".//cac:LegalMonetaryTotal/cbc:PayableAmount", "99.98")
    again = Draft.from_invoice(einvoice.read(wrong))
    [loss] = again.left_out
    assert (loss.status, loss.term, loss.a, loss.b) == ("changed", "BT-115", Decimal("99.98"), Decimal("11.90"))
    assert loss.entry_a.xpath.endswith("cac:LegalMonetaryTotal/cbc:PayableAmount")
    assert again.invoice().totals.due.number == Decimal("11.90")


def test_content_without_a_field_is_listed():
    root = etree.fromstring(einvoice.generate(draft(), "UBL").data)
    notes = etree.SubElement(root, f"{{{root.nsmap['cbc']}}}CopyIndicator")
    notes.text = "true"
    root.insert(2, notes)
    [loss] = Draft.from_invoice(einvoice.read(etree.tostring(root))).left_out
    assert (loss.status, loss.term, loss.a) == ("only_in_a", "", "true")


@pytest.mark.parametrize(
    ("identifier", "profile", "left_out"),
    [
        ("urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", "XRECHNUNG", 0),
        ("urn:cen.eu:en16931:2017#compliant#urn:xoev-de:kosit:standard:xrechnung_2.1", "XRECHNUNG", 1),
        ("urn:fdc:unknown", "EN16931", 1),
    ],
)
def test_specification_becomes_a_profile(identifier, profile, left_out):
    invoice = einvoice.read(einvoice.generate(draft(), "UBL").data)
    invoice.specification = identifier
    again = Draft.from_invoice(invoice)
    assert again.profile == profile
    assert [(it.term, it.a) for it in again.left_out] == [("BT-24", identifier)] * left_out


def test_invoice_without_a_required_term_is_an_error():
    invoice = einvoice.read(einvoice.generate(draft(lines=[line(), line()]), "UBL").data)
    del invoice.lines[1].item
    with pytest.raises(einvoice.DraftError, match="/lines/1/name"):
        Draft.from_invoice(invoice)


def test_correction_names_the_corrected_invoice(sample):
    original = einvoice.read(sample("ubl-invoice.xml"))
    correction = Draft.from_invoice(original)
    correction.type_code = "384"
    correction.invoice_number = "K-1"
    correction.preceding_invoices = [PrecedingInvoice(number=original.number.text)]
    correction.lines[0].quantity = Decimal(1)
    generated = einvoice.generate(correction)
    assert generated.invoice["BT-3"].text == "384"
    assert [it.text for it in generated.invoice["BT-25"]] == [original.number.text]
    assert correction.invoice().lines[0].quantity.number == 1


@pytest.mark.parametrize(("name", "given"), [("due_date", "31.12.2026"), ("currency", 978), ("format", "ODF")])
def test_assignment_is_checked(name, given):
    checked = Draft.model_validate(draft())
    with pytest.raises(ValueError, match=name):
        setattr(checked, name, given)
    checked.due_date = "2026-12-31"
    assert checked.due_date == datetime.date(2026, 12, 31)


EXTENDED = "urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended"


def test_a_profile_of_a_pdf_is_drafted_as_one_and_logistics_charges_are_charges(sample):
    invoice = einvoice.read(sample("cii-invoice.xml"))
    (tax,) = invoice.lines[0].taxes
    vat = LogisticsTax(category=tax.category.text, rate=tax.rate.number, scheme=Code("VAT"))
    invoice.specification = EXTENDED
    invoice.logistics_charges = [LogisticsCharge(description="Fracht", amount="15.00", taxes=[vat])]
    invoice.recalculate()
    again = Draft.from_invoice(invoice)
    assert (again.format, again.profile) == ("ZUGFERD", "EXTENDED")
    assert [(it.amount, it.reason) for it in again.charges] == [(Decimal("15.00"), "Fracht")]
    assert einvoice.read(einvoice.generate(again).data).totals.due == invoice.totals.due.number
