"""The validation report: completeness, escaping of text, and limits."""

import copy
import dataclasses
import datetime
import io
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys

import pikepdf
import pytest
from lxml import etree
from lxml import html as parser

import einvoice
from einvoice.model.lines import ItemClassification, ItemProperty
from einvoice.model.money import LineAllowanceCharge
from einvoice.model.terms import leading, name
from einvoice.model.values import Amount, Code, Identifier, Quantity, Text
from einvoice.rulebook.sections import SECTIONS, title
from einvoice.syntax.severity_overrides import Override
from einvoice.visualization import glyphs
from einvoice.visualization.report.findings import _MAX_SHOWN
from einvoice.visualization.report.labels import WORDS
from einvoice.visualization.report.page import report_html
from tests.cases import corpus
from tests.helpers.full import full_invoice
from tests.helpers.paths import SAMPLES

WHEN = datetime.datetime(2026, 11, 21, 23, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
SAMPLE = SAMPLES / "ubl-invoice.xml"
LANGUAGES = ("de", "en")
C = "{urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2}"
A = "{urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2}"


@pytest.fixture(scope="module")
def invalid():
    """An invoice with inconsistent totals, missing XRechnung fields and an invalid unit code."""
    root = etree.fromstring(SAMPLE.read_bytes())
    root.find(f"{A}LegalMonetaryTotal/{C}TaxExclusiveAmount").text = "1.00"
    root.remove(root.find(f"{C}BuyerReference"))
    party = root.find(f"{A}AccountingSupplierParty/{A}Party")
    party.remove(party.find(f"{A}Contact"))
    root.find(f"{A}InvoiceLine/{C}InvoicedQuantity").set("unitCode", "&<>")
    return einvoice.validate(etree.tostring(root), lang="en")


def lines_with_errors(count):
    root = etree.fromstring(SAMPLE.read_bytes())
    first = root.find(f"{A}InvoiceLine")
    for number in range(count):
        line = copy.deepcopy(first)
        line.find(f"{C}ID").text = f"X{number}"
        line.find(f"{C}LineExtensionAmount").text = f"{number}.017"
        root.append(line)
    return einvoice.validate(etree.tostring(root))


def tree(result, lang):
    return parser.document_fromstring(f"<body>{report_html(result, lang, WHEN)}</body>")


def blocks(page, code=""):
    """Return the finding blocks of a page, optionally of one code."""
    return [it for it in page.iter("div") if it.get("class") == "finding" and code in it[0].text_content()]


def text(result, lang):
    return condensed(tree(result, lang).text_content())


def condensed(text):
    return "".join(glyphs.printable(text).split())


def missing(result, lang, page_text):
    """Return the texts of findings that are missing in a text."""
    parts = [
        part
        for finding in result.findings
        for part in (
            finding.code,
            finding.title(lang),
            finding.explanation(lang),
            finding.fix(lang),
            finding.override_reason(lang),
            name(leading(finding.terms), lang) if leading(finding.terms) else "",
            title(finding.section, lang),
            *(note.text for note in finding.notes(lang)),
            *(note.source for note in finding.notes(lang)),
        )
    ]
    return [part for part in parts if condensed(part) not in page_text]


# ---------------------------------------------------------------- completeness


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_finding_is_in_the_report(invalid, lang):
    assert len({finding.code for finding in invalid.findings}) > 4
    assert missing(invalid, lang, text(invalid, lang)) == []


@pytest.mark.cases
@pytest.mark.parametrize("lang", LANGUAGES)
def test_findings_of_comparison_cases_are_in_the_report(cases, lang):
    seen = set()
    for _, data in cases("mutants", *corpus.GENERATED, every=20):
        try:
            result = einvoice.validate(data)
        except einvoice.UnreadableDocument:
            continue
        page_text = text(result, lang)
        assert missing(result, lang, page_text) == []
        seen |= {finding.code for finding in result.findings}
    assert len(seen) > 50


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="pdftotext is not installed")
@pytest.mark.parametrize("lang", LANGUAGES)
def test_pdf_text_contains_code_title_and_fix(invalid, lang, tmp_path):
    (tmp_path / "report.pdf").write_bytes(einvoice.report_pdf(invalid, lang, when=WHEN))
    command = ["pdftotext", "-layout", tmp_path / "report.pdf", "-"]
    pages = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    page_text = condensed(pages)
    for finding in invalid.findings:
        for part in (finding.code, finding.title(lang), finding.fix(lang)):
            assert condensed(part) in page_text or condensed(part) in condensed(page_bodies(pages)), part
    count = pages.count("\f")
    numbered = "Seite {} von {}" if lang == "de" else "Page {} of {}"
    assert count > 1
    assert [numbered.format(page + 1, count) in pages for page in range(count)] == [True] * count


def page_bodies(pages):
    """Return the text without page headers and footers, which may split a finding."""
    return re.sub(r"\n\s*(?:Seite|Page) \d+ \w+ \d+\n\f.*\n", "\n", pages)


def test_compared_numbers_are_labelled(invalid):
    finding = next(it for it in invalid.findings if it.code == "BR-CO-13")
    (block,) = blocks(tree(invalid, "de"), "BR-CO-13")
    amounts = [it.text_content().rsplit(" ", 1) for it in block.iter("span") if it.get("class") == "amount"]
    names, values = map(list, zip(*amounts, strict=True))
    assert names == ["Erwartet", "Gefunden", "Differenz"]
    expected, actual = finding.values["expected"], finding.values["actual"]
    assert values == [f"{expected:.2f}".replace(".", ","), "1,00", f"−{expected - actual:.2f}".replace(".", ",")]


def test_report_names_document_and_rule_layers(invalid, sample):
    result = dataclasses.replace(invalid, filename="März <1>.xml")
    page_text = text(result, "de")
    for part in ("März<1>.xml", "XRechnung3.0(UBL)", "21.11.2026,22:30UTC", str(result.identity.customization_id)):
        assert part in page_text
    for layer in result.stack.layers:
        assert condensed(layer.description("de")) in page_text
        assert layer.sha256 in page_text
    assert "✗Nichtgültig" in page_text
    assert "✓Gültig" in text(einvoice.validate(sample("cii-invoice.xml")), "de")


def test_findings_are_grouped_by_severity_in_the_order_of_sections(invalid):
    page = tree(invalid, "en")
    assert f"Errors ({len(invalid.errors)})" in [it.text_content() for it in page.iter("h2")]
    order = [title(section, "en") for section in SECTIONS]
    (errors,) = (it for it in page.iter("section") if it.get("class") == "fatal")
    shown = [it.text_content().split(" · ")[0] for it in errors.iter("p") if it.get("class") == "where"]
    assert {*shown} == {title(finding.section, "en") for finding in invalid.errors}
    assert shown == sorted(shown, key=order.index)


def test_override_is_shown_with_its_reason(invalid):
    override = Override("information", {"de": "Weil <es> so ist.", "en": "Because <it> is."})
    changed = dataclasses.replace(invalid.findings[0], severity="information", override=override)
    page_text = text(dataclasses.replace(invalid, findings=(changed,)), "en")
    assert condensed("Severity: Informational (an error in EN 16931, lowered here). Because <it> is.") in page_text


# ---------------------------------------------------------------- escaping


UNUSUAL_TEXTS = (
    "<script>alert(1)</script>",
    "</body></html><img src=x>",
    "\u202e]]> &amp; \x07 漢字 🧾 שלום",
    "wort" * 3000,
    "\n\n\t ",
)


def with_text(unusual, document):
    """Return the result of a document with an unusual text in its fields."""
    root = etree.parse(document).getroot()
    plain = unusual.replace("\x07", "")
    for place in (f"{C}ID", f"{C}CustomizationID", f"{C}DocumentCurrencyCode", f"{C}IssueDate"):
        root.find(place).text = plain
    for place in root.iter(f"{C}RegistrationName", f"{C}LineExtensionAmount", f"{C}ID"):
        place.text = plain
    return dataclasses.replace(einvoice.validate(etree.tostring(root)), filename=unusual)


@pytest.mark.slow
def test_facts_fill_both_halves_where_the_invoice_states_nothing():
    nothing = b'<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"/>'
    halves = tree(einvoice.validate(nothing), "de").xpath("//div[@class='half']")
    assert len(halves) == 2
    assert all(it.xpath(".//tr") for it in halves)


@pytest.mark.parametrize("unusual", UNUSUAL_TEXTS)
def test_document_text_is_escaped(unusual, sample):
    page = tree(with_text(unusual, sample("ubl-invoice.xml")), "de")
    allowed = "html body h1 h2 h3 h4 div section p span strong table thead tbody tr th td ul li"
    assert {it.tag for it in page.iter()} <= set(allowed.split())
    assert {name for it in page.iter() for name in it.attrib} <= {"class", "scope", "data-title"}


@pytest.mark.slow
@pytest.mark.parametrize("unusual", UNUSUAL_TEXTS)
def test_unusual_text_is_typeset_on_few_pages(unusual, sample):
    pdf = einvoice.report_pdf(with_text(unusual, sample("ubl-invoice.xml")), "de", when=WHEN)
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        assert len(opened.pages) < 20


# ---------------------------------------------------------------- limits


def test_equal_findings_are_merged_with_their_locations(sample):
    root = etree.parse(sample("ubl-invoice.xml")).getroot()
    first = root.find(f"{A}InvoiceLine")
    for number in range(30):
        line = copy.deepcopy(first)
        line.find(f"{C}ID").text = f"X{number}"
        line.find(f"{C}InvoicedQuantity").set("unitCode", "nonsense")
        root.append(line)
    result = einvoice.validate(etree.tostring(root))
    (block,) = blocks(tree(result, "en"), "BR-CL-23")
    page_text = block.text_content()
    assert "30 locations" in page_text
    lines = [str(finding.line) for finding in result.findings if finding.code == "BR-CL-23"]
    assert f"Lines {', '.join(lines[:12])} …" in page_text


def test_findings_of_a_rule_say_what_differs(sample):
    root = etree.parse(sample("ubl-invoice.xml")).getroot()
    for line in root.iterfind(f"{A}InvoiceLine"):
        line.find(f"{A}Item/{C}Name").text = ""
    result = einvoice.validate(etree.tostring(root), lang="en")
    own = [it for it in result.findings if it.code == "BR-25"]
    assert len(own) > 1
    (block,) = blocks(tree(result, "en"), "BR-25")
    text = block.text_content()
    assert f"Lines {', '.join(str(it.line) for it in own)}" in text
    for finding in own:
        first_sentence = finding.explanation("en").partition(". ")[0]
        assert first_sentence in text


def broken_lines():
    """Return an invoice with three lines, each with the same nine errors."""
    invoice = full_invoice(3)
    for line in invoice.lines:
        line.item.name = Text("")
        line.quantity = Quantity(line.quantity.raw, {"unitCode": "QQ"})
        line.item.standard_identifier = Identifier("123", {"schemeID": "9999"})
        line.item.origin_country = Code("XX")
        line.item.properties = [ItemProperty(name=Text("Farbe"))]
        line.item.classifications = [ItemClassification(identifier=Identifier("12", {"listID": "QQQ"}))]
        extra = LineAllowanceCharge(indicator=Code("false"), amount=Amount("0.00", {"currencyID": "EUR"}))
        line.allowances_and_charges = [*line.allowances_and_charges, extra]
    return invoice


@pytest.mark.slow
def test_thirty_findings_of_ten_kinds_fit_on_two_pages():
    result = einvoice.validate(broken_lines(), lang="de")
    assert len(result.findings) > 25
    assert len({it.code for it in result.findings}) >= 10
    with pikepdf.open(io.BytesIO(einvoice.report_pdf(result, "de", when=WHEN))) as opened:
        assert len(opened.pages) <= 2


@pytest.mark.slow
def test_omitted_findings_are_counted():
    result = lines_with_errors(120)
    assert len(result.findings) > _MAX_SHOWN
    page = tree(result, "en")
    shown = blocks(page)
    assert len(shown) <= _MAX_SHOWN
    codes = {it[0].text_content().split()[0] for it in shown}
    assert codes == {finding.code for finding in result.findings}, "each code is shown"
    left = [it for it in page.iter("table") if it.get("class") == "plain left"]
    rows = [row for table in left for row in table.iter("tr") if row[-1].tag == "td"]
    omitted = sum(int(row[-1].text_content().replace(",", "")) for row in rows)
    counts = [re.search(r"(\d+) locations", it[1].text_content()) for it in shown]
    assert omitted + sum(int(found[1]) if found else 1 for found in counts) == len(result.findings)
    with pikepdf.open(io.BytesIO(einvoice.report_pdf(result, "en", when=WHEN))) as opened:
        assert len(opened.pages) < 60


# ---------------------------------------------------------------- the PDF


@pytest.mark.slow
def test_pdf_is_reproducible_and_accessible(invalid):
    pdf = einvoice.report_pdf(invalid, when=WHEN)
    assert pdf == einvoice.report_pdf(invalid, "en", when=WHEN)
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        assert opened.Root.MarkInfo.Marked
        assert opened.Root.Lang == "en"
        assert opened.Root.ViewerPreferences.DisplayDocTitle
        metadata = opened.open_metadata()
        assert metadata["pdfuaid:part"] == "1"
        assert (metadata["pdfaid:part"], metadata["pdfaid:conformance"]) == ("3", "A")
        assert metadata["dc:title"] == f"Validation report · {invalid.summary.invoice_number}"
        sizes = {tuple(round(float(side)) for side in page.mediabox) for page in opened.pages}
        assert sizes == {(0, 0, 595, 842)}


def test_heading_levels_are_consecutive(invalid):
    levels = [int(it.tag[1]) for it in tree(invalid, "de").iter("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def elements(node):
    """Yield the elements of the tag tree."""
    if not isinstance(node, pikepdf.Dictionary):
        return
    if "/S" in node:
        yield node
    children = node.get("/K", pikepdf.Array())
    for child in children if isinstance(children, pikepdf.Array) else [children]:
        yield from elements(child)


@pytest.mark.parametrize("is_assessed", [False, True])
def test_tables_and_lists_have_only_their_parts_in_the_tag_tree(invalid, is_assessed):
    """ISO 14289-1 (7.2): a table contains rows and groups of rows, no other table; an item its label and body."""
    assessment = invalid.assessment() if is_assessed else None
    pdf = einvoice.report_pdf(invalid, "de", when=WHEN, causes=(), assessment=assessment)
    kinds = {"/Table": set(), "/LI": set()}
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        for it in elements(opened.Root.StructTreeRoot):
            if (kind := str(it.S)) in kinds:
                kinds[kind] |= {str(child.S) for child in it.K}
    assert "/TR" in kinds["/Table"] or "/TBody" in kinds["/Table"]
    assert kinds["/Table"] <= {"/TR", "/THead", "/TBody", "/TFoot", "/Caption"}
    assert kinds["/LI"] <= {"/Lbl", "/LBody"}
    assert bool(kinds["/LI"]) == is_assessed, "the classes of errors are a list"


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("EINVOICE_TEST_VERAPDF"), reason="EINVOICE_TEST_VERAPDF does not name a veraPDF command"
)
@pytest.mark.parametrize("flavour", ["3a", "ua1"])
def test_verapdf_confirms_conformance(invalid, sample, tmp_path, flavour):
    results = {
        "invalid": invalid,
        "valid": einvoice.validate(sample("ubl-invoice.xml")),
        "many": lines_with_errors(200),
    }
    unusual = dataclasses.replace(invalid, filename=UNUSUAL_TEXTS[2] + UNUSUAL_TEXTS[3])
    for number, result in enumerate((*results.values(), unusual)):
        (tmp_path / f"{number}.pdf").write_bytes(einvoice.report_pdf(result, "de"))
    command = [*shlex.split(os.environ["EINVOICE_TEST_VERAPDF"]), "--format", "text", "-v", "-f", flavour]
    done = subprocess.run([*command, *sorted(tmp_path.glob("*.pdf"))], capture_output=True, text=True, timeout=600)
    assert len([line for line in done.stdout.splitlines() if line.startswith("PASS")]) == 4
    assert "FAIL" not in done.stdout


def test_labels_are_complete_and_used():
    assert set(WORDS["de"]) == set(WORDS["en"])
    sources = "".join(path.read_text() for path in glyphs.FONTS.parent.rglob("*.py") if path.name != "labels.py")
    composed = ("_sign", "_means", "layer_", "BT-", "current", "compatibility", "fatal", "warning", "information")
    unused = {key for key in WORDS["de"] if not any(part in key for part in composed) and f'"{key}"' not in sources}
    assert unused <= {"expected", "actual", "difference"}, "used by name: numbers that are compared"


def test_public_function_imports_the_renderer_lazily():
    names = ("weasyprint", "html", "einvoice.visualization.report.page")
    code = f"import sys, einvoice; einvoice.report_pdf; print(*[name in sys.modules for name in {names}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False"] * 3
