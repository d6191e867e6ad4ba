"""Findings of syntax rules whose texts depend on the elements of the document."""

from __future__ import annotations

import re

import pytest

import einvoice
from einvoice.result import Finding
from tests.helpers.paths import SAMPLES
from tests.helpers.profile_documents import profile_document

CII = (SAMPLES / "cii-invoice.xml").read_text("utf-8")
UBL = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")
NLCIUS = "urn:cen.eu:en16931:2017#compliant#urn:fdc:nen.nl:nlcius:v1.0"
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


def with_blank(document: str, name: str) -> str:
    """Return the document with the first element of that name blank."""
    return re.sub(rf"<{name}>.*?</{name}>", f"<{name}/>", document, count=1, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (re.sub("urn:cen.eu:en16931:2017[^<]*", NLCIUS, CII), "empty-element-check"),
        (profile_document("extended").decode(), "PEPPOL-EN16931-R008"),
    ],
)
def test_blank_delivery_that_the_schema_requires_is_not_to_be_removed(document: str, code: str) -> None:
    (finding,) = findings_of(with_blank(document, "ram:ApplicableHeaderTradeDelivery"), code)
    assert finding.terms == ("BT-72", "BG-15")
    assert "do not remove the element" in finding.fix("en")


@pytest.mark.parametrize(("name", "is_required"), [("cac:TaxScheme", True), ("cac:Country", False)])
def test_blank_element_is_to_be_removed_only_if_the_schema_does_not_require_it(name: str, is_required: bool) -> None:
    (finding,) = findings_of(with_blank(UBL, name), "PEPPOL-EN16931-R008")
    assert ("leave the element out" in finding.fix("en")) is not is_required
    assert finding.values.get("required_in") == ("cac:PartyTaxScheme" if is_required else None)
