"""The command `einvoice extract`: the XML, the list of attachments, and error messages."""

import io
import subprocess
import sys

import pytest

from einvoice.cli import main
from tests.helpers.hybrids import XML, attach, hybrid


@pytest.fixture
def pdf(tmp_path):
    def write(data):
        path = tmp_path / "rechnung.pdf"
        path.write_bytes(data)
        return str(path)

    return write


def test_command_writes_the_xml_to_a_file(pdf, tmp_path, capsys):
    out = tmp_path / "out.xml"
    assert main(["extract", pdf(hybrid()), "-o", str(out), "--lang", "en"]) == 0
    assert out.read_bytes() == XML
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.splitlines() == [
        f"* factur-x.xml, Alternative, text/xml, {len(XML)} bytes, list of attachments, document (AF), "
        "CrossIndustryInvoice, urn:cen.eu:en16931:2017",
        "Profile: EN 16931",
    ]


@pytest.mark.slow
def test_command_writes_only_the_xml_to_stdout(pdf):
    command = [sys.executable, "-m", "einvoice.cli", "extract", pdf(hybrid())]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, XML)
    assert "Liste der Anlagen" in done.stderr.decode()


def test_command_reads_a_pdf_from_stdin(monkeypatch, tmp_path, capsys):
    class Pipe:
        buffer = io.BytesIO(hybrid())

    monkeypatch.setattr("sys.stdin", Pipe)
    assert main(["extract", "-", "-o", str(tmp_path / "out.xml")]) == 0
    assert (tmp_path / "out.xml").read_bytes() == XML


def test_command_lists_attachments_and_the_selected_one(pdf, tmp_path, capsys):
    data = hybrid(lambda pdf, spec: attach(pdf, "xrechnung.xml", XML + b"\n"))
    main(["extract", pdf(data), "-o", str(tmp_path / "out.xml")])
    lines = capsys.readouterr().out.splitlines()
    assert [line[:15] for line in lines[:2]] == ["* factur-x.xml,", "  xrechnung.xml"]
    assert "Gewählt wurde factur-x.xml" in lines[2]


@pytest.mark.parametrize(
    ("lang", "title"), [("de", "Die XML-Datei im PDF ist fehlerhaft"), ("en", "The XML file in the")]
)
def test_invalid_xml_is_extracted(pdf, tmp_path, capsys, lang, title):
    out = tmp_path / "out.xml"
    assert main(["extract", pdf(hybrid(xml=XML[:-9])), "-o", str(out), "--lang", lang]) == 0
    assert out.read_bytes() == XML[:-9]
    assert f"FILE-PDF-XML: {title}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("data", "title"),
    [
        (XML, "Die Datei ist kein PDF"),
        (b"%PDF-1.7", "Das PDF ist beschädigt"),
        (hybrid(xml=b"<a/>", name="a.xml"), "Im PDF steckt keine Rechnung"),
    ],
)
def test_command_explains_why_nothing_was_extracted(pdf, tmp_path, capsys, data, title):
    out = tmp_path / "out.xml"
    assert main(["extract", pdf(data), "-o", str(out)]) == 2
    assert not out.exists()
    printed = capsys.readouterr()
    assert printed.out == ""
    assert title in printed.err


def test_unwritable_output_path_is_reported(pdf, tmp_path, capsys):
    target = str(tmp_path / "nowhere" / "out.xml")
    assert main(["extract", pdf(hybrid()), "-o", target]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"{target}: ")
    assert "Datei oder Ordner nicht gefunden" in message
