"""`einvoice fix`: what it writes, what it prints, and its exit status."""

import io
import stat
import sys

import pytest
from pikepdf import Array, Dictionary

from einvoice.cli import main
from tests.helpers.extras import POSIX
from tests.helpers.hybrids import XML, hybrid

SIGNATURE = b'<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"/>'
ISSUER = {
    "de": "Eine bereits versendete Rechnung berichtigt ihr Aussteller",
    "en": "An invoice already sent must be corrected by its issuer, not edited by its recipient.",
}


@pytest.fixture
def valid(sample):
    return sample("ubl-invoice.xml").read_bytes()


@pytest.fixture
def faulty(valid, tmp_path):
    """A file with the currency in lower case (BT-5)."""
    path = tmp_path / "invoice.xml"
    path.write_bytes(valid.replace(b">EUR<", b">eur<"))
    return path


@pytest.fixture
def incomplete(faulty):
    """The same file without an invoice number (BT-1), which only the issuer knows."""
    faulty.write_bytes(faulty.read_bytes().replace(b"<cbc:ID>LG-2026-0417</cbc:ID>", b"", 1))
    return faulty


@pytest.fixture
def faulty_pdf(tmp_path):
    path = tmp_path / "invoice.pdf"
    path.write_bytes(hybrid(xml=XML.replace(b">EUR</ram:InvoiceC", b">eur</ram:InvoiceC")))
    return path


def fix(*arguments, lang="en"):
    return main(["fix", *map(str, arguments), "--lang", lang])


@pytest.mark.parametrize("lang", ["de", "en"])
def test_file_is_corrected_in_place(faulty, valid, capsys, lang):
    faulty.chmod(0o640)
    mode = stat.S_IMODE(faulty.stat().st_mode)  # Windows knows only whether a file may be written
    assert fix(faulty, lang=lang) == 0
    assert faulty.read_bytes() == valid
    assert stat.S_IMODE(faulty.stat().st_mode) == mode
    assert [it.name for it in faulty.parent.iterdir()] == [faulty.name]
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith(f"{faulty}: ")
    assert "BT-5" in out
    assert ISSUER[lang] in out


@POSIX
def test_link_keeps_its_target(faulty, valid, tmp_path):
    link = tmp_path / "link.xml"
    link.symlink_to(faulty)
    assert fix(link) == 0
    assert link.is_symlink()
    assert faulty.read_bytes() == valid


def test_valid_file_is_not_written(valid, tmp_path, capsys):
    path = tmp_path / "invoice.xml"
    path.write_bytes(valid)
    before = path.stat()
    assert fix(path) == 0
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert capsys.readouterr().out == f"{path}: no changes. The invoice is valid (no findings).\n"


def test_status_is_1_if_errors_are_left(incomplete, capsys):
    assert fix(incomplete) == 1
    assert b">EUR<" in incomplete.read_bytes()
    out = capsys.readouterr().out
    assert "Changes (1):" in out
    assert "Invoice number (BT-1) is missing" in out.partition("Remaining")[2]


def test_diff_writes_no_file(faulty, valid, capsys):
    before = faulty.read_bytes()
    assert fix(faulty, "--diff") == 1
    assert faulty.read_bytes() == before
    out, err = capsys.readouterr()
    assert out.startswith(f"--- {faulty}\n+++ {faulty}\n@@")
    assert "Changes (1):" in err
    faulty.write_bytes(valid)
    assert fix(faulty, "--diff") == 0
    assert capsys.readouterr().out == ""


def test_output_goes_elsewhere(faulty, valid, tmp_path):
    before = faulty.read_bytes()
    assert fix(faulty, "-o", tmp_path / "out.xml") == 0
    assert faulty.read_bytes() == before
    assert (tmp_path / "out.xml").read_bytes() == valid


@pytest.mark.parametrize("arguments", [["-"], ["invoice.xml", "-o", "-"]])
def test_standard_input_and_output(faulty, valid, monkeypatch, capsysbinary, arguments):
    monkeypatch.chdir(faulty.parent)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(faulty.read_bytes())))
    assert fix(*arguments) == 0
    out, err = capsysbinary.readouterr()
    assert out == valid
    assert err.startswith(arguments[0].encode() + b": ")
    assert b">eur<" in faulty.read_bytes()


def test_unsafe_changes_are_announced_and_made_on_request(faulty, valid, capsys):
    """The rate of a row is what its amounts and its lines say, but a rate is not a matter of form."""
    head, mark, tail = valid.partition(b"<cac:TaxSubtotal>")
    faulty.write_bytes(head + mark + tail.replace(b"<cbc:Percent>19<", b"<cbc:Percent>16<", 1))
    assert fix(faulty) == 1
    assert "with --unsafe: 1" in capsys.readouterr().out
    assert fix(faulty, "--unsafe") == 0
    assert "with --unsafe" not in capsys.readouterr().out
    assert faulty.read_bytes() == valid


def test_no_option_relabels_an_allowance(faulty, valid, capsys):
    wrong = valid.replace(b"<cbc:ID>S</cbc:ID>", b"<cbc:ID>Z</cbc:ID>", 1)
    faulty.write_bytes(wrong)
    assert fix(faulty, "--unsafe") == 1
    assert faulty.read_bytes() == wrong
    assert "with --unsafe" not in capsys.readouterr().out


@pytest.mark.parametrize("lang", ["de", "en"])
def test_signed_invoice_is_not_changed(faulty, capsys, lang):
    signed = faulty.read_bytes().replace(b"</Invoice>", SIGNATURE + b"</Invoice>")
    faulty.write_bytes(signed)
    assert fix(faulty, lang=lang) == 2
    assert faulty.read_bytes() == signed
    assert {"de": "ist signiert", "en": "is signed"}[lang] in capsys.readouterr().err


def test_signed_pdf_is_not_changed(tmp_path, capsys):
    path = tmp_path / "signed.pdf"
    path.write_bytes(hybrid(lambda pdf, _: pdf.Root.__setitem__("/AcroForm", Dictionary(SigFlags=3, Fields=Array()))))
    assert fix(path, "-o", tmp_path / "out.xml") == 2
    assert not (tmp_path / "out.xml").exists()
    assert "The PDF is signed" in capsys.readouterr().err


@pytest.mark.parametrize("output", [[], ["-o", "out.pdf"]])
def test_xml_in_a_pdf_is_not_changed(faulty_pdf, capsys, monkeypatch, output):
    monkeypatch.chdir(faulty_pdf.parent)
    before = faulty_pdf.read_bytes()
    assert fix(faulty_pdf, *output) == 2
    assert [it.read_bytes() for it in faulty_pdf.parent.iterdir()] == [before]
    assert "-o OUT.xml" in capsys.readouterr().err


def test_corrected_xml_of_a_pdf(faulty_pdf, tmp_path, capsys):
    fix(faulty_pdf, "-o", tmp_path / "out.xml")
    assert (tmp_path / "out.xml").read_bytes() == XML
    assert "The pages of the PDF still show the old values" in capsys.readouterr().out
    assert fix(faulty_pdf, "--diff") == 1


def test_unreadable_and_unwritable_files(faulty, tmp_path, capsys):
    assert fix(tmp_path / "none.xml") == 2
    assert capsys.readouterr().err.startswith(f"{tmp_path / 'none.xml'}: ")
    target = tmp_path / "none" / "out.xml"
    assert fix(faulty, "-o", target) == 2
    assert capsys.readouterr().err.startswith(f"{target}: ")
