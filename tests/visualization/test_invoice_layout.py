"""Where the pages of an invoice end: no nearly empty last page, no totals without rows above them."""

import io

import pypdf
import pytest

import einvoice
from einvoice.visualization import invoice_pdf
from einvoice.visualization.markup import Markup
from einvoice.visualization.typesetting import render
from tests.helpers.business_drafts import DRAFTS, invoice, line

A_PAGE = "@page { size: 100mm 100mm; margin: 0 } p { margin: 0; font-size: 10mm; line-height: 1 }"


def page_texts(pdf):
    return [it.extract_text() for it in pypdf.PdfReader(io.BytesIO(pdf)).pages]


def page_count(lines, *compact):
    """Return the number of pages of lines, ten of which fill a page."""
    html = Markup("<p>x</p>" * lines)
    return len(page_texts(render(html, lang="de", title="Titel", css=A_PAGE, compact_css=compact)))


@pytest.mark.parametrize("pages", [2, 3, 4])
def test_nearly_empty_last_page_is_saved(pages):
    smaller = "p { line-height: .8 }"
    assert page_count(10 * pages - 9, smaller) == pages - 1
    assert page_count(10 * pages - 9) == pages
    assert page_count(10 * pages - 1, smaller) == pages, "the last page is full"


def test_each_further_style_is_tried():
    styles = ("p { line-height: .98 }", "p { line-height: .8 }")
    assert [page_count(21, *styles[:number]) for number in (0, 1, 2)] == [3, 3, 2]


def test_style_that_saves_no_page_is_not_used():
    assert page_count(12, "p { line-height: 1.2 }") == 2
    assert page_count(12, "@page { size: 100mm 50mm }") == 2


@pytest.mark.parametrize("rows", [26, 31, 32, 50])
def test_totals_follow_rows_on_their_page(rows):
    draft = invoice(1, *(line(f"Artikel {number:03}", "2", "10.00") for number in range(rows)))
    pages = page_texts(invoice_pdf(einvoice.generate(draft, "CII").invoice, "de"))
    (page,) = (it for it in pages if "Gesamt brutto" in it)
    assert len(pages) == 2
    assert f"Artikel {rows - 2:03}" in page
    assert f"Artikel {rows - 1:03}" in page


def test_heading_and_rate_do_not_break_beside_a_short_text():
    generated = einvoice.generate(DRAFTS["small business, § 19 UStG"], "CII")
    (page,) = page_texts(invoice_pdf(generated.invoice, "fr"))
    lines = page.replace("\u00a0", " ").splitlines()
    assert any("Prix unitaire EUR" in it for it in lines)
    assert any("0 % exonéré" in it for it in lines)
