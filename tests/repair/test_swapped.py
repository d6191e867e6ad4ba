"""Values that stand in each other's place: one cause, not one for each of them."""

import re

import pytest

import einvoice
from einvoice.editing.edits import apply
from tests.helpers.paths import SAMPLES

UBL, CII = ((SAMPLES / name).read_text("utf-8") for name in ("ubl-invoice.xml", "cii-invoice.xml"))
EXTENDED = re.sub(
    "urn:cen.eu:en16931:2017[^<]*", "urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended", CII, count=1
)
PERIOD = "<cac:InvoicePeriod><cbc:StartDate>{}</cbc:StartDate><cbc:EndDate>{}</cbc:EndDate></cac:InvoicePeriod>"


def exchanged(document, one, other):
    """The document with the texts of two elements exchanged, each of which it has once."""
    (first,), (second,) = (re.findall(rf"<{name}(?: [^>]*)?>([^<]*)<", document) for name in (one, other))
    for name, text in ((one, second), (other, first)):
        document = re.sub(rf"(<{name}(?: [^>]*)?>)[^<]*", rf"\g<1>{text}", document)
    return document


def explained(document):
    """The only cause that is not about content outside of EN 16931, with its only change."""
    causes = einvoice.validate(document.encode(), lang="en").causes()
    (cause,) = [it for it in causes if it.findings[0].severity == "fatal"]
    (change,) = cause.changes
    return cause, change


@pytest.mark.parametrize(
    ("document", "one", "other", "terms"),
    [
        (UBL, "cbc:TaxExclusiveAmount", "cbc:TaxInclusiveAmount", ("BT-109", "BT-112")),
        (CII, "ram:TaxBasisTotalAmount", "ram:GrandTotalAmount", ("BT-109", "BT-112")),
        (EXTENDED, "ram:TaxBasisTotalAmount", "ram:GrandTotalAmount", ("BT-109", "BT-112")),
        (CII, "ram:TaxBasisTotalAmount", "ram:TaxTotalAmount", ("BT-109", "BT-110")),
        (UBL, "cbc:TaxInclusiveAmount", "cbc:PrepaidAmount", ("BT-112", "BT-113")),
        (CII, "ram:BasisAmount", "ram:CalculatedAmount", ("BT-116", "BT-117")),
    ],
)
def test_exchanged_amounts_are_one_cause(document, one, other, terms):
    wrong = exchanged(document, one, other)
    cause, change = explained(wrong)
    assert set(terms) == set(cause.terms)
    assert "are exchanged" in cause.text()
    assert all(f"({term})" in cause.text() for term in terms)
    assert len(cause.findings) == sum(it.severity != "information" for it in einvoice.validate(wrong.encode()).findings)
    assert apply(wrong.encode(), change.edits).decode() == document
    if change.safe:
        assert einvoice.validate(wrong.encode()).fixed().xml.decode() == document


def with_periods(start, end, own=("2026-03-02", "2026-03-03")):
    """The UBL sample with an invoicing period, and a period of its first line."""
    document = re.sub(r"\s*<cac:InvoicePeriod>.*?</cac:InvoicePeriod>", "", UBL, flags=re.DOTALL)
    document = document.replace("</cbc:BuyerReference>", f"</cbc:BuyerReference>{PERIOD.format(start, end)}", 1)
    head, mark, tail = document.partition("</cbc:LineExtensionAmount>\n    <cac:Item>")
    assert mark
    return head + mark.replace("<cac:Item>", PERIOD.format(*own) + "<cac:Item>") + tail


def test_reversed_period_explains_the_periods_of_lines():
    right = with_periods("2026-03-01", "2026-03-31")
    assert not einvoice.validate(right.encode()).findings
    wrong = with_periods("2026-03-31", "2026-03-01")
    cause, change = explained(wrong)
    codes = {finding.code for finding in cause.findings}
    assert {"BR-29", "PEPPOL-EN16931-R110", "PEPPOL-EN16931-R111"} <= codes
    assert not change.safe
    assert apply(wrong.encode(), change.edits).decode() == right
    assert "(BT-73) and" in cause.text()


def test_reversed_period_of_a_line():
    wrong = with_periods("2026-03-01", "2026-03-31", ("2026-03-03", "2026-03-02"))
    cause, change = explained(wrong)
    assert "BR-30" in {finding.code for finding in cause.findings}
    assert not change.safe
    assert apply(wrong.encode(), change.edits).decode() == with_periods("2026-03-01", "2026-03-31")
    assert "of line 1" in cause.text()


@pytest.mark.parametrize("lang", ["de", "en", "fr"])
def test_every_language_names_both(lang):
    cause, change = explained(exchanged(UBL, "cbc:TaxExclusiveAmount", "cbc:TaxInclusiveAmount"))
    for text in (cause.text(lang), change.text(lang)):
        assert text.index("BT-109") < text.index("BT-112")


GROUP = """<ram:IncludedSupplyChainTradeLineItem><ram:AssociatedDocumentLineDocument><ram:LineID>01</ram:LineID>
<ram:LineStatusReasonCode>GROUP</ram:LineStatusReasonCode></ram:AssociatedDocumentLineDocument>"""


def with_group():
    """The sample of the profile EXTENDED with a line of the type GROUP, whose amount is not added to the others."""
    start, end = "<ram:IncludedSupplyChainTradeLineItem>", "</ram:IncludedSupplyChainTradeLineItem>"
    line = EXTENDED[EXTENDED.index(start) : EXTENDED.index(end) + len(end)]
    content = line.partition("</ram:AssociatedDocumentLineDocument>")[2]
    own = "</ram:LineID><ram:ParentLineID>01</ram:ParentLineID><ram:LineStatusReasonCode>DETAIL\
</ram:LineStatusReasonCode>"
    return EXTENDED.replace(line, GROUP + content + line.replace("</ram:LineID>", own))


def test_exchanged_totals_of_an_invoice_with_groups_of_lines():
    right = with_group()
    assert not [it for it in einvoice.validate(right.encode()).findings if it.severity == "fatal"]
    wrong = exchanged(right, "ram:TaxBasisTotalAmount", "ram:GrandTotalAmount")
    cause, change = explained(wrong)
    assert {"BT-109", "BT-112"} == set(cause.terms)
    assert apply(wrong.encode(), change.edits).decode() == right


def test_exchanged_amounts_of_a_vat_breakdown_beside_a_wrong_total():
    wrong = exchanged(CII, "ram:BasisAmount", "ram:CalculatedAmount")
    wrong = re.sub(r"(<ram:GrandTotalAmount>)[^<]*", r"\g<1>0", wrong)
    exchange, *others = einvoice.validate(wrong.encode(), lang="en").causes()
    assert "are exchanged" in exchange.text()
    assert {"BT-116", "BT-117"} == set(exchange.terms)
    assert exchange.changes[0].safe
    (total,) = (change for cause in others for change in cause.changes if change.terms[:1] == ("BT-112",))
    (expected,) = re.findall("<ram:GrandTotalAmount>([^<]*)", CII)
    assert [edit.text for edit in total.edits] == [expected]
