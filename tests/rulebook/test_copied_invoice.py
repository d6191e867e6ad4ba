"""Releases before 1.3.3 of the official UBL rules also check the VAT breakdown of a copy in an extension.

The codes are those that the official stylesheets 1.3.1 to 1.3.3 report for these documents.
"""

from __future__ import annotations

import re

import pytest

import einvoice
from tests.helpers.paths import SAMPLES

_TEXT = (SAMPLES / "ubl-invoice.xml").read_text(encoding="utf-8")
_CONTENT = _TEXT[_TEXT.index("<cbc:CustomizationID") : _TEXT.rindex("</Invoice>")]
_INVOICE = "urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
_EXTENSIONS = "urn:oasis:names:specification:ubl:schema:xsd:CommonExtensionComponents-2"


def _with_copy(content: str) -> bytes:
    """Return the sample with an invoice of this content in an extension."""
    extension = (
        f'<ext:UBLExtensions xmlns:ext="{_EXTENSIONS}"><ext:UBLExtension><ext:ExtensionContent>'
        f'<copy:Invoice xmlns:copy="{_INVOICE}">{content}</copy:Invoice>'
        "</ext:ExtensionContent></ext:UBLExtension></ext:UBLExtensions>"
    )
    return _TEXT.replace(_CONTENT, extension + _CONTENT).encode()


def _fires(document: bytes, ruleset: str) -> bool:
    return "BR-S-08" in {it.code for it in einvoice.validate(document, ruleset=ruleset).findings}


@pytest.mark.parametrize("ruleset", ["xrechnung-1.2.2", "xrechnung-2.0.0", "xrechnung-2.0.1"])
def test_a_copy_adds_up_by_itself(ruleset):
    assert not _fires(_with_copy(_CONTENT), ruleset)
    assert not _fires(_with_copy(_CONTENT.replace("<cbc:Percent>19", "<cbc:Percent>16")), ruleset)


@pytest.mark.parametrize(
    ("ruleset", "fires"), [("xrechnung-1.2.2", True), ("xrechnung-2.0.0", True), ("xrechnung-2.0.1", False)]
)
def test_the_amounts_of_a_copy_are_checked(ruleset, fires):
    wrong = re.sub("(<cbc:TaxableAmount[^>]*>)", r"\g<1>1", _CONTENT)
    assert _fires(_with_copy(wrong), ruleset) is fires
