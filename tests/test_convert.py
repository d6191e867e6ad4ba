"""Conversion between UBL and CII, and its losses."""

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
    assert einvoice.read(back.xml) == einvoice.read(cii)


def test_credit_note_converts_to_ubl_credit_note(sample):
    cii = convert(sample("ubl-credit-note.xml")).xml
    assert xml.parse(convert(cii).xml).getroot().tag.endswith("}CreditNote")


def test_loss_has_term_text_and_line(sample):
    """CII keeps one preceding invoice (BG-3); UBL any number."""
    data = sample("ubl-invoice.xml").read_text("utf-8")
    inner = "<cac:InvoiceDocumentReference><cbc:ID>{}</cbc:ID></cac:InvoiceDocumentReference>"
    reference = f"<cac:BillingReference>{inner}</cac:BillingReference>"
    data = data.replace(
        "<cac:AccountingSupplierParty>",
        "".join(map(reference.format, ("V-1", "V-2"))) + "\n  <cac:AccountingSupplierParty>",
        1,
    )
    (loss,) = convert(data.encode()).losses
    assert (loss.terms, loss.text) == (("BT-25",), "V-2")
    assert loss.line == 1 + data[: data.index("V-2")].count("\n")
    assert xml.parse(data.encode()).xpath(loss.xpath, namespaces=einvoice.NAMESPACES)[0].text == "V-2"


def test_unmapped_content_is_a_loss_in_both_target_syntaxes(sample):
    data = (
        sample("ubl-invoice.xml")
        .read_bytes()
        .replace(b"<cbc:ID>", b"<cbc:UBLVersionID>2.1</cbc:UBLVersionID><cbc:ID>", 1)
    )
    for syntax in ("UBL", "CII"):
        (loss,) = convert(data, syntax).losses
        assert (loss.terms, loss.text, loss.xpath) == ((), "2.1", "/ubl:Invoice/cbc:UBLVersionID")


def test_unsupported_syntax_is_rejected(sample):
    with pytest.raises(ValueError, match="'UBL' or 'CII', not 'PDF'"):
        convert(sample("ubl-invoice.xml"), "PDF")


def test_command_writes_the_document_and_prints_losses(sample, tmp_path, capsys):
    out = tmp_path / "out.xml"
    assert main(["convert", str(sample("ubl-invoice.xml")), "-o", str(out), "--lang", "en"]) == 0
    assert capsys.readouterr().err == "No losses.\n"
    assert einvoice.validate(out).identity.syntax == "CII"
    data = (
        sample("ubl-invoice.xml")
        .read_bytes()
        .replace(b"<cbc:ID>", b"<cbc:UBLVersionID>2.1</cbc:UBLVersionID><cbc:ID>", 1)
    )
    lossy = tmp_path / "lossy.xml"
    lossy.write_bytes(data)
    assert main(["convert", str(lossy), "-o", str(out)]) == 1
    assert "/ubl:Invoice/cbc:UBLVersionID: 2.1" in capsys.readouterr().err
    assert main(["convert", str(tmp_path / "nothing.xml")]) == 2


def test_command_writes_to_standard_output(sample):
    run = subprocess.run(
        [sys.executable, "-m", "einvoice.cli", "convert", sample("cii-invoice.xml")], capture_output=True, check=True
    )
    assert run.stdout == convert(sample("cii-invoice.xml")).xml


@pytest.mark.cases
@pytest.mark.slow
def test_schema_valid_documents_stay_schema_valid(cases):
    """Covers every schema-valid official example if available, and generated documents with all that UBL requires."""
    converted = 0
    valid = [it for it in corpus.unedited() if it[0].get("level") in ("basic", "en16931")]
    for case, data in (*valid, *cases("xrechnung-testsuite", *corpus.UBL)):
        if case["xsd"]:
            document = xml.parse(convert(data).xml)
            assert schema.violations(document, document.getroot().tag.rpartition("}")[2]) == [], case["case"]
            converted += 1
    assert converted > 50
