"""Reports of a whole run: Excel and HTML."""

import datetime
import re
import sys
from decimal import Decimal

import pytest

import einvoice
from tests.helpers.corpora import CII, UBL, make_corpus, validate_serially, with_error, write_files

openpyxl = pytest.importorskip("openpyxl")

HOSTILE = UBL.replace(b"LG-2026-0417", b"=1+1").replace(b"Lindenhof Gartenbau GmbH", b"&lt;script&gt;A &amp; B")


def sheet(path, name):
    """Return the rows of a sheet as a program reads them."""
    return [list(row) for row in openpyxl.load_workbook(path)[name].iter_rows(values_only=True)]


def test_workbook_has_a_sheet_per_table(tmp_path):
    results = validate_serially(make_corpus(12)[0], lang="en")
    results.to_excel(tmp_path / "a.xlsx")
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    assert book.sheetnames == ["Overview", "Files", "Findings"]
    head, *rows = sheet(tmp_path / "a.xlsx", "Files")
    assert head[:4] == ["File", "Verdict", "Invoice number", "Date"]
    assert [row[0] for row in rows] == [file.file for file in results]
    first = dict(zip(head, rows[0], strict=True))
    assert Decimal(str(first["Gross"])) == results[0].gross
    assert first["Date"] == datetime.datetime(2026, 5, 4)
    assert isinstance(first["Errors"], int)
    head, *rows = sheet(tmp_path / "a.xlsx", "Findings")
    assert [row[head.index("Rule")] for row in rows] == [it.code for file in results for it in file.findings]
    overview = sheet(tmp_path / "a.xlsx", "Overview")
    assert overview[1][2:4] == ["valid", results.verdicts["valid"]]


def test_workbook_in_german(tmp_path):
    results = validate_serially({"a.xml": with_error("BR-CO-10", UBL)}, lang="de")
    results.to_excel(tmp_path / "a.xlsx", ["findings", "files", "lines", "vat"], terms=["BT-13"])
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    assert book.sheetnames == ["Übersicht", "Dateien", "Befunde", "Positionen", "Umsatzsteuer"]
    finding = dict(zip(*sheet(tmp_path / "a.xlsx", "Befunde")[:2], strict=True))
    assert (finding["Regel"], finding["Schwere"], finding["Zeile"]) == ("BR-CO-10", "Fehler", 113)
    assert Decimal(str(finding["Differenz"])) == Decimal("0.01")
    assert sheet(tmp_path / "a.xlsx", "Dateien")[0][-1] == "BT-13"
    assert "Position" in sheet(tmp_path / "a.xlsx", "Positionen")[0]
    date = book["Dateien"]["D2"]
    assert (date.number_format, book["Dateien"]["H2"].number_format) == ("dd.mm.yyyy", "#,##0.00##")
    assert book["Befunde"]["A2"].hyperlink.location == "'Dateien'!A2"
    assert book["Befunde"].auto_filter.ref.startswith("A1:")


def test_every_column_has_a_heading_in_every_language(tmp_path):
    results = validate_serially({"a.xml": UBL}, engine="native")
    for lang in ("de", "en", "fr"):
        results.to_excel(tmp_path / "a.xlsx", ["findings", "files", "lines", "vat", "differences"], lang=lang, law="de")
        for page in openpyxl.load_workbook(tmp_path / "a.xlsx"):
            for cell in page[1]:
                assert not re.fullmatch(r"[a-z]+(_[a-z]+)+", cell.value), cell.value


def test_texts_of_documents_are_no_formulas(tmp_path):
    einvoice.read_many({"a.xml": HOSTILE}, workers=0, progress=False).to_excel(tmp_path / "a.xlsx")
    page = openpyxl.load_workbook(tmp_path / "a.xlsx")["Dateien"]
    (cell,) = [it for it in page[2] if it.value == "=1+1"]
    assert cell.data_type == "s"


def test_excel_needs_openpyxl(results, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"\[notebook\]"):
        results.to_excel(tmp_path / "a.xlsx")


def test_a_sheet_has_a_limit_of_rows(results, tmp_path, monkeypatch):
    monkeypatch.setattr("einvoice.bulk.excel._MAX_ROWS", 3)
    with pytest.raises(ValueError, match="more than 3 rows"):
        results.to_excel(tmp_path / "a.xlsx")


def test_html_report_is_one_file_without_scripts_and_links(tmp_path):
    files = {"x/a.xml": with_error("BR-CO-10", HOSTILE), "y/b.xml": UBL, "y/c.xml": b"<x/>", "y/d.xml": CII}
    results = validate_serially(files, lang="en")
    results.report_html(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.startswith('<!DOCTYPE html><html lang="en">')
    assert not re.search(r"<script|https?://|src=|<link", page)
    assert "&lt;script&gt;A &amp; B" in page
    for text in ("4 files: 2 valid, 1 not valid, 1 unreadable", "BR-CO-10", "x/a.xml", "Seller"):
        assert text in page, text
    assert "Prüfbericht" in german(results, tmp_path)


def german(results, folder):
    results.report_html(folder / "b.html", lang="de")
    return (folder / "b.html").read_text(encoding="utf-8")


def test_html_report_lists_the_worst_files(tmp_path, monkeypatch):
    monkeypatch.setattr("einvoice.bulk.report_html._MAX_FILES", 1)
    two = with_error("BR-DE-15", with_error("BR-CO-10", UBL))
    results = validate_serially({"a.xml": with_error("BR-CO-10", UBL), "b.xml": two}, lang="en")
    results.report_html(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert re.findall(r"<details><summary><strong>([^<]*)", page) == ["b.xml"]
    assert "Further files have errors" in page


def test_the_suffix_selects_the_format(tmp_path, capsys):
    from einvoice.cli import main

    folder = write_files(tmp_path / "in", {"a.xml": UBL, "b.xml": with_error("BR-CO-10", UBL)})
    assert main(["validate", "--lang", "en", str(folder), "-o", str(tmp_path / "a.xlsx")]) == 1
    assert "2 files" in capsys.readouterr().out
    assert len(sheet(tmp_path / "a.xlsx", "Files")) == 3
    assert main(["validate", "--lang", "en", str(folder / "a.xml"), "-o", str(tmp_path / "a.html"), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_possible_consequences_are_counted_and_named_everywhere():
    results = validate_serially({"a.xml": with_error("SCHEMA-VALUE-DATE", UBL), "b.xml": UBL}, lang="en")
    broken = re.sub(rb"(?s)<cac:AccountingCustomerParty>.*?</cac:AccountingCustomerParty>", b"", UBL)
    results = validate_serially({"a.xml": broken, "b.xml": UBL}, lang="en")
    findings = results.to_frame()
    summary = results.summary()
    count = int(findings.indicative.sum())
    assert count > 0
    assert summary.consequences == count
    for text in (str(summary), summary._repr_html_()):
        assert f"Of these, possible consequences of a schema error: {count} findings." in text
    assert {it.code: it.findings for it in summary.codes} == dict(findings.code.value_counts())
    assert "consequences" not in str(validate_serially({"b.xml": UBL}, lang="en").summary())
