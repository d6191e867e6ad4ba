"""The causes in the validation report, and its layout."""

import dataclasses
import datetime
import io
import re
import shutil
import subprocess

import pypdf
import pytest
from lxml import html as parser

import einvoice
from einvoice.visualization.glyphs import printable
from einvoice.visualization.report.causes import _MAX_SHOWN
from einvoice.visualization.report.page import report_html
from tests.helpers.paths import SAMPLES

WHEN = datetime.datetime(2026, 11, 21, 22, 30, tzinfo=datetime.UTC)
SAMPLE = SAMPLES / "ubl-invoice.xml"
LANGUAGES = ("de", "en")


def faulty():
    """An invoice with 13 findings: some have a common cause, others only the issuer can resolve."""
    head, _, tail = SAMPLE.read_bytes().rpartition(b"<cbc:ID>S</cbc:ID>")
    data = head + b"<cbc:ID>Z</cbc:ID>" + tail
    data = re.sub(rb"<cbc:BuyerReference>.*?</cbc:BuyerReference>", b"", data)
    data = re.sub(rb"<cbc:Telephone>.*?</cbc:Telephone>", b"", data, count=1)
    for right, wrong in (
        (b">2026-05-04<", b">04.05.2026<"),
        (b">415.33<", b">41.33<"),
        (b'"C62"', b'"none"'),
        (b">Hohenau</cbc:CityName>", b"></cbc:CityName>"),
        (b">DE02120300000000202051<", b">DE02120300000000202052<"),
    ):
        assert right in data
        data = data.replace(right, wrong, 1)
    return data


@pytest.fixture(scope="module")
def result():
    found = einvoice.validate(faulty(), lang="en")
    assert len(found.findings) == 13
    return found


@pytest.fixture(scope="module")
def causes(result):
    return result.causes()


def section(result, lang, causes):
    """Return the section with the causes, or None."""
    page = parser.document_fromstring(f"<body>{report_html(result, lang, WHEN, causes)}</body>")
    return next((it for it in page.iter("section") if it.get("class") == "causes"), None)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_causes_are_stated_before_the_findings(result, causes, lang):
    page = parser.document_fromstring(f"<body>{report_html(result, lang, WHEN, causes)}</body>")
    headings = [it.text_content() for it in page.iter("h2")]
    heading = {"de": f"{len(causes)} Ursachen, 13 Befunde", "en": f"{len(causes)} causes, 13 findings"}[lang]
    errors = {"de": "Fehler (10)", "en": "Errors (10)"}[lang]
    assert headings.index(heading) < headings.index(errors)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_each_cause_is_shown_with_its_place_findings_change_and_proof(result, causes, lang):
    shown = section(result, lang, causes)
    blocks = [it.text_content() for it in shown.iter("div")]
    changed = [cause for cause in causes if cause.changes]
    assert len(blocks) == len(changed) > 2
    for cause, block in zip(changed, blocks, strict=True):
        for part in (cause.text(lang), str(cause.location.line), cause.location.xpath, cause.changes[0].text(lang)):
            assert printable(part) in block
        assert all(finding.code in block for finding in cause.findings)
    proofs = {
        "de": ("verschwinden 3 der 13 Befunde.", "verschwindet 1 von 13 Befunden."),
        "en": ("3 of the 13 findings disappear.", "1 of the 13 findings disappears."),
    }
    assert all(any(proof in block for block in blocks) for proof in proofs[lang])


def test_causes_without_a_change_are_listed(result, causes):
    items = [it.text_content() for it in section(result, "en", causes).iter("li")]
    unchanged = [cause for cause in causes if not cause.changes and len(cause.findings) > 1]
    assert len(items) == len(unchanged) > 1
    for cause, item in zip(unchanged, items, strict=True):
        assert cause.text("en") in item
        assert all(finding.code in item for finding in cause.findings)


def test_a_question_lists_its_alternatives(sample):
    data = sample("ubl-invoice.xml").read_text("utf-8").replace(">400.00<", ">390.00<")
    found = einvoice.validate(data.encode(), lang="en")
    (cause,) = found.causes()
    assert cause.is_question
    shown = section(found, "en", [cause])
    items = [it.text_content() for it in shown.iter("li")]
    assert len(items) == len(cause.changes) > 1
    for change, item in zip(cause.changes, items, strict=True):
        assert change.text() in item
        assert "disappear" in item
    assert [it.partition(":")[0] for it in items] == ["Either", *["Or"] * (len(items) - 1)]
    assert not shown.find_class("proof")  # green, as if all of them were right


@pytest.mark.parametrize(("lang", "words"), [("de", "nicht gesucht"), ("en", "not searched for")])
def test_causes_that_were_not_searched_for_are_mentioned(result, lang, words):
    shown = section(result, lang, ())
    assert words in shown.text_content()
    assert not list(shown.iter("h2", "h3"))


def test_causes_that_only_repeat_the_findings_are_omitted(result, causes):
    unchanged = [cause for cause in causes if not cause.changes and len(cause.findings) == 1]
    findings = tuple(cause.findings[0] for cause in unchanged)
    assert section(dataclasses.replace(result, findings=findings), "en", unchanged) is None
    assert section(dataclasses.replace(result, findings=()), "en", ()) is None


def test_many_causes_are_counted(result, causes):
    shown = section(result, "en", [cause for cause in causes if not cause.changes] * 20)
    assert len(shown.findall(".//li")) == _MAX_SHOWN
    assert "more causes" in shown.text_content()


# ---------------------------------------------------------------- layout


def word_positions(pdf, folder):
    """Return, for each page, the position of the lowest word above the footer, as a share of the page height."""
    (folder / "report.pdf").write_bytes(pdf)
    command = ["pdftotext", "-bbox", folder / "report.pdf", folder / "report.html"]
    subprocess.run(command, check=True, timeout=60)
    pages = parser.fromstring((folder / "report.html").read_bytes()).iter("page")
    footer = 0.945
    return [
        max(low for word in page.iter("word") if (low := float(word.get("ymax")) / float(page.get("height"))) < footer)
        for page in pages
    ]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="pdftotext is not installed")
@pytest.mark.parametrize("lang", LANGUAGES)
def test_thirteen_findings_take_at_most_three_full_pages(result, causes, lang, tmp_path):
    pages = word_positions(einvoice.report_pdf(result, lang, when=WHEN, causes=causes), tmp_path)
    assert len(pages) <= 3
    assert min(pages[:-1]) > 0.8


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="pdftotext is not installed")
@pytest.mark.parametrize("count", range(5, 13))
def test_no_page_but_the_last_is_half_empty(result, count, tmp_path):
    fewer = dataclasses.replace(result, findings=result.findings[-count:])
    pages = word_positions(einvoice.report_pdf(fewer, "de", when=WHEN, causes=()), tmp_path)
    assert min(pages[:-1], default=1) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("count", range(5, 13))
def test_what_to_do_is_on_the_page_of_its_finding(result, count):
    fewer = dataclasses.replace(result, findings=result.findings[-count:])
    reader = pypdf.PdfReader(io.BytesIO(einvoice.report_pdf(fewer, "de", when=WHEN, causes=())))
    texts = [page.extract_text().strip().splitlines() for page in reader.pages[1:]]
    assert not any(it.startswith("Was zu tun ist:") for lines in texts for it in lines[:2])


@pytest.mark.slow
def test_report_finds_the_causes_itself(result, causes):
    assert einvoice.report_pdf(result, when=WHEN) == einvoice.report_pdf(result, when=WHEN, causes=causes)
