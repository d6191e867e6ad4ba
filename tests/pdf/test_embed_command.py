"""The command `einvoice embed`."""

import io

import pytest

import einvoice
from einvoice.cli import main
from einvoice.visualization import invoice_pdf

pikepdf = pytest.importorskip("pikepdf")


@pytest.fixture(scope="module")
def page(sample, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.pdf"
    path.write_bytes(invoice_pdf(einvoice.read(sample("cii-invoice.xml"))))
    return path


@pytest.mark.slow
def test_command_keeps_pdfa_conformance(sample, page, tmp_path, capsys):
    out = tmp_path / "out.pdf"
    invoice = sample("cii-invoice.xml")
    assert main(["embed", str(page), str(invoice), "-o", str(out), "--lang", "en"]) == 0
    assert capsys.readouterr().out.startswith("XRECHNUNG, attached as xrechnung.xml.\nThe file still declares")
    assert einvoice.extract(out).xml == invoice.read_bytes()


def test_command_accepts_other_pdfs_and_prints_the_reason(sample, tmp_path, capsys):
    plain, blank = io.BytesIO(), pikepdf.new()
    blank.add_blank_page()
    blank.save(plain)
    path, out = tmp_path / "plain.pdf", tmp_path / "out.pdf"
    path.write_bytes(plain.getvalue())
    assert main(["embed", str(path), str(sample("cii-invoice.xml")), "-o", str(out)]) == 1
    assert "kein PDF/A-3:\n  " in capsys.readouterr().out
    assert einvoice.validate(out).is_valid


def test_command_reports_errors_with_the_file(sample, page, tmp_path, capsys):
    out = tmp_path / "out.pdf"
    for arguments, message in (
        ([str(page), str(sample("ubl-invoice.xml"))], "einvoice convert"),
        ([str(sample("cii-invoice.xml")), str(sample("cii-invoice.xml"))], "cii-invoice.xml: Die Datei ist keine PDF"),
        ([str(page), str(tmp_path / "nothing.xml")], "nothing.xml"),
    ):
        assert main(["embed", *arguments, "-o", str(out)]) == 2
        assert message in capsys.readouterr().err
        assert not out.exists()
