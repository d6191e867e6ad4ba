"""Findings of syntax rules whose texts depend on the elements of the document."""

from __future__ import annotations

import pytest

import einvoice
from einvoice.result import Finding
from tests.helpers.paths import SAMPLES

CII = (SAMPLES / "cii-invoice.xml").read_text("utf-8")
NAME = "<ram:Name>Report</ram:Name>"
FILE = '<ram:AttachmentBinaryObject mimeCode="text/csv" filename="{}.csv">QUJD</ram:AttachmentBinaryObject>'
SUPPORTING = """<ram:AdditionalReferencedDocument><ram:IssuerAssignedID>1</ram:IssuerAssignedID>
<ram:TypeCode>916</ram:TypeCode>{}</ram:AdditionalReferencedDocument>"""


def findings_of(document: str, code: str) -> list[Finding]:
    return [it for it in einvoice.validate(document.encode()).findings if it.code == code]


@pytest.mark.parametrize(
    ("code", "one", "other"),
    [("CII-SR-475", NAME, NAME), ("CII-SR-476", FILE.format("a"), FILE.format("b"))],
)
def test_several_supporting_documents_are_distinguished_from_several_entries_of_one(
    code: str, one: str, other: str
) -> None:
    end = "</ram:ApplicableHeaderTradeAgreement>"
    several = SUPPORTING.format(one) + SUPPORTING.format(other)
    (finding,) = findings_of(CII.replace(end, several + end, 1), code)
    assert finding.title("en").startswith("The invoice has several supporting documents with")
    assert finding.fix("en") == "Nothing needs to be changed."
    (finding,) = findings_of(CII.replace(end, SUPPORTING.format(one + other) + end, 1), code)
    assert finding.situation is None
