"""Invoices with more lines than a PDF may have."""

import re

import pytest

from tests.helpers.served import CII, DRAFT, UBL, assert_problem, serving

pytestmark = pytest.mark.slow

NO_LINK = {"available": False, "url": None, "expires_in_seconds": None}
UBL_LINE = re.search(rb"<cac:InvoiceLine>.*?</cac:InvoiceLine>", UBL, re.DOTALL)[0]
CII_LINE = re.search(
    rb"<ram:IncludedSupplyChainTradeLineItem>.*?</ram:IncludedSupplyChainTradeLineItem>", CII, re.DOTALL
)[0]
SUB_LINE = UBL_LINE.replace(b"InvoiceLine>", b"SubInvoiceLine>")


@pytest.fixture(scope="module")
def five_lines(tmp_path_factory):
    """A server that renders invoices of up to five lines."""
    with serving(tmp_path_factory.mktemp("lines") / "data", workers=1, pdf_lines=5) as server:
        yield server


def lines_of(document, line):
    """Return the document with this line six times, instead of its own lines."""
    first, last = document.index(line[:20]), document.rindex(line[-20:]) + 20
    return document[:first] + line * 6 + document[last:]


@pytest.mark.parametrize(
    "document",
    [
        lines_of(UBL, UBL_LINE),
        lines_of(CII, CII_LINE),
        UBL.replace(UBL_LINE, UBL_LINE.replace(b"</cac:InvoiceLine>", SUB_LINE * 5 + b"</cac:InvoiceLine>")),
    ],
    ids=["UBL", "CII", "sub-lines"],
)
def test_readable_invoice_is_not_offered(five_lines, document):
    artifacts = five_lines.validate(document).json()["artifacts"]
    assert artifacts["readable_invoice_pdf"] == NO_LINK
    assert five_lines.client.get(artifacts["validation_report_pdf"]["url"]).status_code == 200


def test_link_up_to_the_limit(five_lines):
    for response in (five_lines.validate(UBL), five_lines.generate(format="ZUGFERD", lines=DRAFT["lines"] * 5)):
        assert response.json()["artifacts"]["readable_invoice_pdf"]["available"]


def test_generated_xml_has_no_link_to_a_readable_invoice(five_lines):
    artifacts = five_lines.generate(lines=DRAFT["lines"] * 6).json()["artifacts"]
    assert artifacts["readable_invoice_pdf"] == NO_LINK
    assert artifacts["validation_report_pdf"]["available"]


@pytest.mark.parametrize("lang", ["de", "en"])
def test_hybrid_is_refused(five_lines, lang):
    response = five_lines.generate(format="ZUGFERD", lines=DRAFT["lines"] * 6, lang=lang)
    detail = assert_problem(response, 422, "too_complex").detail
    assert "6" in detail
    assert "5" in detail
