"""`einvoice show` and `einvoice report`: text, HTML and PDF."""

import re

import pytest
from lxml import html as parser

import einvoice
from einvoice.cli import main
from einvoice.model.iteration import filled
from einvoice.visualization import invoice_html, invoice_text, report_html, report_text
from tests.helpers.extras import require_rendering
from tests.helpers.full import full_invoice
from tests.helpers.labelled import condensed, forms


def test_show_prints_the_invoice(sample, capsys):
    assert main(["show", str(sample("cii-invoice.xml")), "--lang", "de"]) == 0
    text = capsys.readouterr().out
    assert "Rechnung SW-88\n==============" in text
    assert re.search("Zahlbetrag +297,50 EUR", text)
    assert "   1  Wartung der Heizung  4 Std." in text
    assert "\x1b" not in text


@pytest.mark.parametrize("command", ["show", "report"])
@pytest.mark.parametrize(("suffix", "start"), [(".pdf", b"%PDF-"), (".html", b"<!doctype html>"), (".txt", b"")])
def test_output_has_the_format_of_its_name(command, suffix, start, sample, tmp_path, capsys):
    if suffix == ".pdf":
        require_rendering()
    out = tmp_path / f"out{suffix}"
    assert main([command, str(sample("ubl-invoice.xml")), "-o", str(out), "--lang", "en"]) == 0
    content = out.read_bytes()
    assert content.startswith(start)
    assert len(content) > 500
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("command", ["show", "report"])
def test_other_formats_are_refused(command, sample, tmp_path, capsys):
    with pytest.raises(SystemExit) as raised:
        main([command, str(sample("ubl-invoice.xml")), "-o", str(tmp_path / "out.docx")])
    assert raised.value.code == 2
    assert ".docx" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["show", "report"])
def test_unreadable_file_has_status_2(command, tmp_path, capsys):
    (tmp_path / "no.xml").write_text("<a>")
    assert main([command, str(tmp_path / "no.xml"), "--lang", "en"]) == 2
    assert main([command, str(tmp_path / "missing.xml"), "--lang", "en"]) == 2
    assert "no.xml" in capsys.readouterr().err


def test_report_status_tells_errors(sample, tmp_path, capsys):
    data = sample("ubl-invoice.xml").read_text("utf-8").replace('unitCode="', 'unitCode="x')
    (tmp_path / "bad.xml").write_text(data.replace('"EUR">99.00', '"EUR">98.99'), "utf-8")
    assert main(["report", str(tmp_path / "bad.xml"), "--lang", "de"]) == 1
    text = capsys.readouterr().out
    assert "Nicht gültig" in text
    assert "BR-CO-10" in text


@pytest.mark.parametrize("width", [60, 100, 160])
def test_text_contains_every_value_and_keeps_its_width(width):
    invoice = full_invoice(3)
    text = invoice_text(invoice, "de", width=width)
    flat = condensed(text)
    numbers = {it.number for it in filled(invoice) if it.number}
    assert len(numbers) > 60
    for it in filled(invoice):
        for wanted in forms(it, "de") if it.number in ("BT-1", "BT-27", "BT-115", "BT-84", "BT-131", "BT-129") else ():
            assert any(condensed(form) in flat for form in wanted), it.number
    if width >= 100:
        assert max(map(len, text.splitlines())) <= width


def test_html_has_no_scripts_and_no_references():
    for html in (
        invoice_html(full_invoice(text="<script>")),
        report_html(einvoice.validate(full_invoice()), causes=()),
    ):
        tree = parser.document_fromstring(html)
        assert not tree.xpath("//script | //link | //@src | //@href")
        assert tree.xpath("//title")[0].text


def test_arguments_are_checked():
    with pytest.raises(TypeError, match="must be an invoice"):
        invoice_text("x")
    with pytest.raises(TypeError, match="must be a result"):
        report_text("x")
    with pytest.raises(ValueError, match="argument 'lang'"):
        invoice_html(full_invoice(), "xx")


def test_report_states_the_assessment_on_request(sample, tmp_path, capsys):
    wrong = tmp_path / "wrong.xml"
    wrong.write_bytes(sample("ubl-invoice.xml").read_bytes().replace(b">LG-2026-0417<", b"><", 1))
    command = ["report", str(wrong), "--lang", "de"]
    assert main(command) == 1
    plain = capsys.readouterr().out
    assert "Umsatzsteuerrecht" not in plain
    assert main([*command, "--assess"]) == 1
    assessed = capsys.readouterr().out
    box = assessed.index("Bedeutung für den Empfänger nach deutschem Umsatzsteuerrecht")
    assert assessed.index("Zahlbetrag") < box < assessed.index("Fehler (")
    assert "keine Steuerberatung" in " ".join(assessed.split())
    facts, findings = plain.split("Fehler (")
    values = [it.split("  ")[-1].strip() for it in facts.splitlines() if "  " in it and "Geprüft am" not in it]
    assert len(values) > 8
    assert [it for it in values if it not in assessed] == []
    titles = [it for it in findings.splitlines() if re.match(r"[A-Z]+-\S+ |/ubl:", it)]
    assert titles
    assert [it for it in titles if it not in assessed.splitlines()] == []


def test_report_says_that_no_law_applies(sample, tmp_path, capsys):
    abroad = tmp_path / "abroad.xml"
    abroad.write_bytes(sample("ubl-invoice.xml").read_bytes().replace(b">DE</cbc:Ident", b">AT</cbc:Ident", 1))
    main(["report", str(abroad), "--assess", "--lang", "en"])
    out = capsys.readouterr()
    assert "No assessment" in out.err
    assert "VAT law" not in out.out
    with pytest.raises(SystemExit):
        main(["report", str(abroad), "--law", "de"])
