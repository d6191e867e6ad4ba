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
from pathlib import Path

import pikepdf
import pytest
from lxml import etree
from lxml import html as parser

import einvoice
from einvoice.model.terms import name
from einvoice.rulebook.sections import SECTIONS, title
from einvoice.syntax.severity_overrides import Override
from einvoice.visualization import glyphs
from einvoice.visualization.report.findings import _MAX_SHOWN
from einvoice.visualization.report.labels import WORDS
from einvoice.visualization.report.page import report_html

WHEN = datetime.datetime(2026, 11, 21, 23, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
SAMPLE = Path(__file__).parents[1] / "samples" / "ubl-invoice.xml"
LANGUAGES = ("de", "en")
C = "{urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2}"
A = "{urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2}"


@pytest.fixture(scope="module")
def broken():
    """An invoice whose sums do not add up, which lacks what XRechnung wants, and with a line that says too little."""
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
    """The findings of a page, those of a code."""
    return [it for it in page.iter("div") if it.get("class") == "finding" and code in it[0].text_content()]


def text(result, lang):
    return squeezed(tree(result, lang).text_content())


def squeezed(text):
    return "".join(glyphs.printable(text).split())


def missing(result, lang, said):
    """What of the findings does not stand in a text."""
    told = [
        part
        for finding in result.findings
        for part in (
            finding.code,
            finding.title(lang),
            finding.explanation(lang),
            finding.fix(lang),
            finding.override_reason(lang),
            name(finding.bt_field, lang) if finding.bt_field else "",
            title(finding.section, lang),
            *(note.text for note in finding.notes(lang)),
            *(note.source for note in finding.notes(lang)),
        )
    ]
    return [part for part in told if squeezed(part) not in said]


# ---------------------------------------------------------------- it says everything


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_finding_is_told(broken, lang):
    assert len({finding.code for finding in broken.findings}) > 4
    assert missing(broken, lang, text(broken, lang)) == []


@pytest.mark.cases
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_finding_of_many_kinds_is_told(cases, lang):
    seen = set()
    for number, (_, data) in enumerate(cases("mutants")):
        if number % 40:
            continue
        try:
            result = einvoice.validate(data)
        except einvoice.UnreadableDocument:
            continue
        said = text(result, lang)
        assert missing(result, lang, said) == []
        seen |= {finding.code for finding in result.findings}
    assert len(seen) > 50


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="pdftotext is not installed")
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_code_title_and_fix_is_in_the_text_of_the_pdf(broken, lang, tmp_path):
    (tmp_path / "report.pdf").write_bytes(einvoice.report_pdf(broken, lang, when=WHEN))
    command = ["pdftotext", "-layout", tmp_path / "report.pdf", "-"]
    pages = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    said = squeezed(pages)
    for finding in broken.findings:
        for part in (finding.code, finding.title(lang), finding.fix(lang)):
            assert squeezed(part) in said or squeezed(part) in squeezed(bare(pages)), part
    count = pages.count("\f")
    numbered = "Seite {} von {}" if lang == "de" else "Page {} of {}"
    assert count > 1
    assert [numbered.format(page + 1, count) in pages for page in range(count)] == [True] * count


def bare(pages):
    """The text without what stands at the head and the foot of each page, which may part a finding."""
    return re.sub(r"\n\s*(?:Seite|Page) \d+ \w+ \d+\n\f.*\n", "\n", pages)


def test_the_numbers_are_told_beside_their_names(broken):
    finding = next(it for it in broken.findings if it.code == "BR-CO-13")
    (table,) = blocks(tree(broken, "de"), "BR-CO-13")
    names, values = ([cell.text_content() for cell in row] for row in table.iter("tr"))
    assert names == ["Erwartet", "Gefunden", "Differenz"]
    expected, actual = finding.values["expected"], finding.values["actual"]
    assert values == [f"{expected:.2f}".replace(".", ","), "1,00", f"−{expected - actual:.2f}".replace(".", ",")]


def test_what_was_judged_and_by_which_rules(broken, sample):
    result = dataclasses.replace(broken, filename="März <1>.xml")
    said = text(result, "de")
    for part in ("März<1>.xml", "XRechnung3.0(UBL)", "21.11.2026,22:30UTC", str(result.identity.customization_id)):
        assert part in said
    for layer in result.stack.layers:
        assert squeezed(layer.description("de")) in said
        assert layer.sha256 in said
    assert "✗Nichtgültig" in said
    assert "✓Gültig" in text(einvoice.validate(sample("cii-invoice.xml")), "de")


def test_findings_stand_by_severity_and_section(broken):
    page = tree(broken, "en")
    heads = [it.text_content() for it in page.iter("h2", "h3")]
    sections = {title(finding.section, "en") for finding in broken.errors}
    errors = heads.index(f"Errors ({len(broken.errors)})")
    order = [title(section, "en") for section in SECTIONS]
    shown = heads[errors + 1 : errors + 1 + len(sections)]
    assert set(shown) == sections
    assert shown == sorted(shown, key=order.index)


def test_an_override_is_told_with_its_reason(broken):
    override = Override("information", "Weil <es> so ist.", "Because <it> is.")
    changed = dataclasses.replace(broken.findings[0], severity="information", override=override)
    said = text(dataclasses.replace(broken, findings=(changed,)), "en")
    assert squeezed("Severity: Informational (an error in EN 16931, lowered here). Because <it> is.") in said


# ---------------------------------------------------------------- nothing gets in


AWKWARD = (
    "<script>alert(1)</script>",
    "</body></html><img src=x>",
    "\u202e]]> &amp; \x07 漢字 🧾 שלום",
    "wort" * 3000,
    "\n\n\t ",
)


@pytest.mark.parametrize("awkward", AWKWARD)
def test_what_the_document_says_is_text(awkward, sample):
    root = etree.parse(sample("ubl-invoice.xml")).getroot()
    plain = awkward.replace("\x07", "")
    for place in (f"{C}ID", f"{C}CustomizationID", f"{C}DocumentCurrencyCode", f"{C}IssueDate"):
        root.find(place).text = plain
    for place in root.iter(f"{C}RegistrationName", f"{C}LineExtensionAmount", f"{C}ID"):
        place.text = plain
    result = dataclasses.replace(einvoice.validate(etree.tostring(root)), filename=awkward)
    page = tree(result, "de")
    allowed = "html body h1 h2 h3 h4 div section p span strong table thead tbody tr th td"
    assert {it.tag for it in page.iter()} <= set(allowed.split())
    assert {name for it in page.iter() for name in it.attrib} <= {"class", "scope", "data-title"}
    pdf = einvoice.report_pdf(result, "de", when=WHEN)
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        assert len(opened.pages) < 60


# ---------------------------------------------------------------- it ends


def test_what_has_the_same_words_stands_once_with_its_places(sample):
    root = etree.parse(sample("ubl-invoice.xml")).getroot()
    first = root.find(f"{A}InvoiceLine")
    for number in range(30):
        line = copy.deepcopy(first)
        line.find(f"{C}ID").text = f"X{number}"
        line.find(f"{C}InvoicedQuantity").set("unitCode", "nonsense")
        root.append(line)
    result = einvoice.validate(etree.tostring(root))
    (own,) = blocks(tree(result, "en"), "BR-CL-23")
    said = own.text_content()
    assert "30 locations" in said
    assert "and 22 more locations" in said
    lines = [finding.line for finding in result.findings if finding.code == "BR-CL-23"]
    assert [int(number) for number in re.findall(r"Line (\d+):", said)] == lines[:8]


@pytest.mark.slow
def test_thousands_of_findings_are_counted_and_none_is_lost():
    result = lines_with_errors(1500)
    assert len(result.findings) > 3000
    page = tree(result, "en")
    shown = blocks(page)
    assert len(shown) <= _MAX_SHOWN
    codes = {it[0].text_content().split()[0] for it in shown}
    assert codes == {finding.code for finding in result.findings}, "each code is seen"
    rest = next(it for it in page.iter("table") if it.get("class") == "plain left")
    left = sum(int(row[-1].text_content().replace(",", "")) for row in rest.iter("tr") if row[-1].tag == "td")
    places = [re.search(r"(\d+) locations", it[1].text_content()) for it in shown]
    assert left + sum(int(found[1]) if found else 1 for found in places) == len(result.findings)
    with pikepdf.open(io.BytesIO(einvoice.report_pdf(result, "en", when=WHEN))) as opened:
        assert len(opened.pages) < 60


# ---------------------------------------------------------------- the PDF


def test_the_same_result_gives_the_same_bytes_and_an_accessible_pdf(broken):
    pdf = einvoice.report_pdf(broken, when=WHEN)
    assert pdf == einvoice.report_pdf(broken, "en", when=WHEN)
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        assert opened.Root.MarkInfo.Marked
        assert opened.Root.Lang == "en"
        assert opened.Root.ViewerPreferences.DisplayDocTitle
        metadata = opened.open_metadata()
        assert metadata["pdfuaid:part"] == "1"
        assert (metadata["pdfaid:part"], metadata["pdfaid:conformance"]) == ("3", "A")
        assert metadata["dc:title"] == f"Validation report · {broken.summary.invoice_number}"
        sizes = {tuple(round(float(side)) for side in page.mediabox) for page in opened.pages}
        assert sizes == {(0, 0, 595, 842)}


def test_heading_levels_skip_none(broken):
    levels = [int(it.tag[1]) for it in tree(broken, "de").iter("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("EINVOICE_TEST_VERAPDF"), reason="EINVOICE_TEST_VERAPDF does not name a veraPDF command"
)
@pytest.mark.parametrize("flavour", ["3a", "ua1"])
def test_verapdf_finds_it_conformant(broken, sample, tmp_path, flavour):
    results = {"broken": broken, "valid": einvoice.validate(sample("ubl-invoice.xml")), "many": lines_with_errors(200)}
    awkward = dataclasses.replace(broken, filename=AWKWARD[2] + AWKWARD[3])
    for number, result in enumerate((*results.values(), awkward)):
        (tmp_path / f"{number}.pdf").write_bytes(einvoice.report_pdf(result, "de"))
    command = [*shlex.split(os.environ["EINVOICE_TEST_VERAPDF"]), "--format", "text", "-v", "-f", flavour]
    done = subprocess.run([*command, *sorted(tmp_path.glob("*.pdf"))], capture_output=True, text=True, timeout=600)
    assert len([line for line in done.stdout.splitlines() if line.startswith("PASS")]) == 4
    assert "FAIL" not in done.stdout


def test_the_words_are_complete_and_used():
    assert set(WORDS["de"]) == set(WORDS["en"])
    sources = "".join(path.read_text() for path in glyphs.FONTS.parent.rglob("*.py") if path.name != "labels.py")
    composed = ("_sign", "_means", "layer_", "BT-", "current", "compatibility", "fatal", "warning", "information")
    unused = [key for key in WORDS["de"] if not any(part in key for part in composed) and f'"{key}"' not in sources]
    assert unused == ["expected", "actual", "difference"], "the names of numbers that are compared"


def test_the_public_function_imports_the_renderer_when_called_only():
    names = ("weasyprint", "html", "einvoice.visualization.report.page")
    code = f"import sys, einvoice; einvoice.report_pdf; print(*[name in sys.modules for name in {names}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False"] * 3
