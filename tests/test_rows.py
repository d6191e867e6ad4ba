"""The texts of the rules about elements, and how validation tells of them."""

import re

import pytest

import einvoice
from einvoice.syntax.rules.table import rule_table

LATER = {"name", "found", "count"}
CODES = sorted({rule.code for syntax in ("UBL", "CII") for rule in rule_table(syntax).rules})


@pytest.mark.parametrize("language", ["de", "en"])
def test_every_code_has_texts_in_which_only_the_document_is_missing(language):
    catalog = einvoice.catalog()
    for code in CODES:
        texts = catalog[code].texts[language]
        assert set(texts) == {"title", "explanation", "fix"}
        for text in texts.values():
            assert set(re.findall(r"\{(\w+)\}", text)) <= LATER, code
            assert text.strip(), code
            assert "  " not in text, code


@pytest.mark.parametrize(
    ("old", "new", "code", "severity", "layer", "said"),
    [
        ("<cbc:ID>", "<cbc:CopyIndicator>true</cbc:CopyIndicator><cbc:ID>", "UBL-CR-004", "warning", "en16931", "die"),
        ("<cbc:IdentificationCode>DE<", "<cbc:IdentificationCode>GE1<", "BR-CL-14", "fatal", "en16931", "GE1"),
        ("<cbc:BuyerReference>", "<cbc:AccountingCost/><cbc:BuyerReference>", "PEPPOL-EN16931-R008", "fatal", "cius",
         "cbc:AccountingCost"),
    ],
)  # fmt: skip
def test_they_are_found_with_the_others(sample, old, new, code, severity, layer, said):
    data = sample("ubl-invoice.xml").read_text("utf-8")
    assert old in data
    result = einvoice.validate(data.replace(old, new, 1).encode())
    finding = next(found for found in result.findings if found.code == code)
    assert (finding.severity, finding.layer) == (severity, layer)
    assert said in finding.title("de") + finding.explanation("de")


def test_a_published_override_counts_for_them_too(sample):
    """KoSIT makes a line below a line an error in an invoice that declares XRechnung; the rule says warning."""
    data = sample("ubl-invoice.xml").read_text("utf-8")
    result = einvoice.validate(
        data.replace("</cac:InvoiceLine>", "<cac:SubInvoiceLine/></cac:InvoiceLine>", 1).encode()
    )
    finding = next(found for found in result.findings if found.code == "UBL-CR-646")
    assert (finding.flag, finding.severity) == ("warning", "fatal")
    assert finding.override_reason("de")


def test_what_repeats_itself_is_told_of_a_hundred_times(sample):
    data = sample("ubl-invoice.xml").read_text("utf-8")
    result = einvoice.validate(
        data.replace("<cbc:BuyerReference>", "<cbc:Note/>" * 500 + "<cbc:BuyerReference>").encode()
    )
    assert sum(found.code == "PEPPOL-EN16931-R008" for found in result.findings) == 100
