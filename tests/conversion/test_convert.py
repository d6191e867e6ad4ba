"""Conversion between UBL and CII: what is told, and the command."""

import json
import subprocess
import sys

import pytest
from hypothesis import given

import einvoice
from einvoice.cli import main
from einvoice.conversion import convert
from einvoice.syntax import schema, xml
from einvoice.syntax.writer import write
from tests.cases import corpus
from tests.helpers.properties import examples
from tests.helpers.strategies import plausible_invoices


@pytest.mark.parametrize("name", ["ubl-invoice.xml", "ubl-credit-note.xml", "cii-invoice.xml"])
def test_samples_convert_without_losses_and_stay_valid(sample, name):
    converted = convert(sample(name))
    assert converted.syntax != einvoice.validate(sample(name)).identity.syntax
    assert converted.losses == ()
    assert einvoice.validate(converted.xml).is_valid


@pytest.mark.parametrize("name", ["ubl-invoice.xml", "ubl-credit-note.xml", "cii-invoice.xml"])
def test_round_trip_returns_the_same_invoice(sample, name):
    converted = convert(sample(name))
    back = convert(converted.xml)
    assert einvoice.read(back.xml) == einvoice.read(sample(name))


def test_tax_number_of_a_peppol_invoice_has_the_scheme_of_cii(sample):
    """The rules for CII only accept VA and FC as scheme of a tax registration."""
    number = "<cbc:CompanyID>29/123</cbc:CompanyID><cac:TaxScheme><cbc:ID>TAX</cbc:ID></cac:TaxScheme>"
    end = "</cac:PartyTaxScheme>"
    document = sample("ubl-invoice.xml").read_text("utf-8").replace(end, f"{end}<cac:PartyTaxScheme>{number}{end}", 1)
    registrations = einvoice.read(convert(document.encode()).xml).seller.tax_registrations
    assert [it.scheme.raw for it in registrations if it.identifier.text == "29/123"] == ["FC"]


@pytest.mark.slow
def test_result_may_be_larger_than_a_source(sample):
    """CII takes more bytes for a note than UBL; the limit is one of files."""
    notes = f"<cbc:Note>{'x' * 400}</cbc:Note>" * 24_000
    document = sample("ubl-invoice.xml").read_text("utf-8").replace("<cbc:Note>", f"{notes}<cbc:Note>", 1)
    converted = convert(document.encode())
    assert len(converted.xml) > xml.DEFAULT.bytes > len(document)
    assert converted.losses == ()


@pytest.mark.slow
@examples(40)
@given(plausible_invoices())
def test_lossless_conversion_is_reversible(invoice):
    cii = write(invoice, "CrossIndustryInvoice")
    ubl = convert(cii)
    back = convert(ubl.xml)
    assert (ubl.losses, back.losses) == ((), ())
    assert not einvoice.diff(cii, back.xml)
    assert einvoice.read(back.xml) == einvoice.read(cii)


def test_credit_note_converts_to_ubl_credit_note(sample):
    cii = convert(sample("ubl-credit-note.xml")).xml
    assert xml.parse(convert(cii).xml).getroot().tag.endswith("}CreditNote")


def test_loss_has_term_text_and_place(sample):
    """CII has one delivery (BG-13); UBL any number."""
    data = sample("ubl-invoice.xml").read_text("utf-8")
    second = "<cac:Delivery><cbc:ActualDeliveryDate>2026-04-29</cbc:ActualDeliveryDate></cac:Delivery>"
    data = data.replace("</cac:Delivery>", f"</cac:Delivery>\n  {second}", 1)
    converted = convert(data.encode())
    (loss,) = converted.losses
    assert (loss.term, loss.text, loss.new_text) == ("BT-72", "2026-04-29", "")
    assert loss.line == 1 + data[: data.index("2026-04-29")].count("\n")
    assert xml.parse(data.encode()).xpath(loss.xpath, namespaces=einvoice.NAMESPACES)[0].text == "2026-04-29"
    assert not converted.is_faithful


def test_unmapped_content_is_a_loss_in_both_target_syntaxes(sample):
    data = (
        sample("ubl-invoice.xml")
        .read_bytes()
        .replace(b"<cbc:ID>", b"<cbc:UBLVersionID>2.1</cbc:UBLVersionID><cbc:ID>", 1)
    )
    for syntax in ("UBL", "CII"):
        converted = convert(data, syntax)
        (loss,) = converted.losses
        assert (loss.term, loss.text, loss.xpath) == ("", "2.1", "/ubl:Invoice/cbc:UBLVersionID")
        assert converted.is_faithful  # it is no term of EN 16931


def test_unsupported_syntax_is_rejected(sample):
    with pytest.raises(ValueError, match="'UBL' or 'CII', not 'PDF'"):
        convert(sample("ubl-invoice.xml"), "PDF")


def test_command_writes_the_document_and_prints_what_happened(sample, tmp_path, capsys):
    out = tmp_path / "out.xml"
    assert main(["convert", str(sample("ubl-invoice.xml")), "-o", str(out), "--lang", "en"]) == 0
    assert capsys.readouterr().err == (
        "Before: valid. After the conversion to CII: valid.\n"
        "Nothing was lost: source and target were compared term by term.\n"
    )
    assert einvoice.validate(out).identity.syntax == "CII"
    assert main(["convert", str(tmp_path / "nothing.xml")]) == 2


def test_command_does_not_say_that_nothing_was_lost_if_an_element_was(sample, tmp_path, capsys):
    data = sample("ubl-invoice.xml").read_bytes()
    lossy = tmp_path / "lossy.xml"
    lossy.write_bytes(data.replace(b"<cbc:ID>", b"<cbc:UBLVersionID>2.1</cbc:UBLVersionID><cbc:ID>", 1))
    assert main(["convert", str(lossy), "-o", str(tmp_path / "out.xml"), "--lang", "de"]) == 0
    told = capsys.readouterr().err
    assert "verloren: Inhalt ohne Geschäftsbegriff der EN 16931: 2.1" in told
    assert "/ubl:Invoice/cbc:UBLVersionID" in told
    assert "Nichts ging verloren" not in told


def test_strict_writes_nothing_if_a_term_was_lost(sample, tmp_path, capsys):
    second = "<cac:Delivery><cbc:ActualDeliveryDate>2026-04-29</cbc:ActualDeliveryDate></cac:Delivery>"
    source, out = tmp_path / "two.xml", tmp_path / "out.xml"
    text = sample("ubl-invoice.xml").read_text("utf-8").replace("</cac:Delivery>", f"</cac:Delivery>{second}", 1)
    source.write_text(text, "utf-8")
    assert main(["convert", str(source), "-o", str(out), "--strict", "--lang", "de"]) == 1
    assert "verloren: BT-72 Liefer- oder Leistungsdatum: 29.04.2026 (Zeile" in capsys.readouterr().err
    assert not out.exists()
    assert main(["convert", str(source), "-o", str(out), "--lang", "de"]) == 1
    assert out.exists()


def test_command_prints_json_and_names_a_specification(sample, tmp_path, capsys):
    out = tmp_path / "out.xml"
    command = ["convert", str(sample("ubl-invoice.xml")), "-o", str(out), "--json", "--lang", "en"]
    assert main([*command, "--specification", "EN16931"]) == 0
    told = json.loads(capsys.readouterr().err)
    assert (told["is_faithful"], told["valid_before"], told["valid_after"]) == (True, True, True)
    assert [(it["kind"], it["term"], it["new_value"]) for it in told["changes"]] == [
        ("changed", "BT-24", "urn:cen.eu:en16931:2017")
    ]
    assert main([*command, "--specification", "COMFORT"]) == 2
    assert "must be an identifier or one of" in json.loads(capsys.readouterr().err)["problem"]["title"]


def test_command_prints_an_unreadable_file_as_json(tmp_path, capsys):
    file = tmp_path / "a.xml"
    file.write_text("no invoice")
    assert main(["convert", str(file), "--to", "cii", "--json"]) == 2
    told = json.loads(capsys.readouterr().err)
    assert (told["file"], told["problem"]["code"]) == (str(file), "FILE-FORMAT")


def test_command_writes_to_standard_output(sample):
    run = subprocess.run(
        [sys.executable, "-m", "einvoice.cli", "convert", sample("cii-invoice.xml")], capture_output=True, check=True
    )
    assert run.stdout == convert(sample("cii-invoice.xml")).xml


@pytest.mark.cases
@pytest.mark.slow
def test_valid_documents_stay_valid_or_it_is_told(cases):
    """Covers every valid official example if available, and generated documents with all that UBL requires.

    Of a round trip, exactly what was told of both conversions is different.
    """
    converted = 0
    valid = [it for it in corpus.unedited() if it[0].get("level") in ("basic", "en16931")]
    for case, data in (*valid, *cases("xrechnung-testsuite", *corpus.UBL)):
        if not case["xsd"]:
            continue
        there = convert(data)
        document = xml.parse(there.xml)
        assert schema.violations(document, document.getroot().tag.rpartition("}")[2]) == [], case["case"]
        assert there.after.is_valid or not there.before.is_valid or not there.is_faithful, case["case"]
        back = convert(there.xml, specification=str(there.before.invoice.specification) or None)
        told = {term for it in (*there.changes, *back.changes) for term in (it.term or it.name, it.new_term)}
        different = {it.term or it.entry_a.name for it in einvoice.diff(data, back.xml).differences}
        assert different <= told, case["case"]
        converted += 1
    assert converted > 50


def test_a_document_without_a_type_in_a_credit_note_supports_the_invoice(sample):
    document = b"<cac:AdditionalDocumentReference><cbc:ID>Plan</cbc:ID></cac:AdditionalDocumentReference>"
    source = (
        sample("ubl-credit-note.xml")
        .read_bytes()
        .replace(b"<cac:AccountingSupplierParty>", document + b"<cac:AccountingSupplierParty>", 1)
    )
    assert [it.text for it in einvoice.validate(source).invoice["BT-122"]] == ["Plan"]
    converted = einvoice.convert(einvoice.convert(source).xml)
    assert not einvoice.diff(source, converted.xml).differences


def test_a_second_preceding_invoice_that_becomes_a_document_is_a_loss(sample):
    number = b"<cac:InvoiceDocumentReference><cbc:ID>%s</cbc:ID></cac:InvoiceDocumentReference>"
    reference = b"<cac:BillingReference>" + number + b"</cac:BillingReference>"
    source = sample("ubl-invoice.xml").read_bytes()
    source = source.replace(
        b"<cac:AccountingSupplierParty>", reference % b"A-1" + reference % b"A-2" + b"<cac:AccountingSupplierParty>", 1
    )
    converted = einvoice.convert(source)
    assert [(it.kind, it.term, it.text) for it in converted.losses] == [("moved", "BT-25", "A-2")]
    assert not converted.is_faithful


def test_the_currency_of_one_amount_is_lost(sample):
    source = sample("ubl-invoice.xml").read_bytes()
    source = source.replace(
        b"</cbc:DocumentCurrencyCode>", b"</cbc:DocumentCurrencyCode><cbc:TaxCurrencyCode>SEK</cbc:TaxCurrencyCode>", 1
    )
    source = source.replace(b'currencyID="EUR">102.00', b'currencyID="SEK">102.00', 1)
    assert "BT-131" in {it.term for it in einvoice.convert(source).losses}
