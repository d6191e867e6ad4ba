"""Peppol BIS Billing and Self-Billing: where findings point, and what a user of self-billing meets."""

from __future__ import annotations

import re

import pytest
from documents import document_of
from lxml import etree

import einvoice
from einvoice.rulebook.files.definition import Example

RULES = "peppol/PEPPOL-EN16931-R001.toml"  # the examples of its folder start from a Belgian invoice
BILLING, SELF_BILLING = b"poacc:billing", b"poacc:selfbilling"


def document(insert=None, changes=None):
    """Return the bytes of the Belgian invoice, with XML inserted by the XPath of its parent."""
    example = Example("", changes or {}, insert={"UBL": insert or {}})
    return etree.tostring(document_of(example, RULES, "UBL"))


def codes(result):
    return [finding.code for finding in result.findings]


def test_the_invoice_of_the_examples_is_valid():
    result = einvoice.validate(document())
    assert (result.is_valid, codes(result), result.identity.profile) == (True, [], "Peppol BIS Billing")


@pytest.mark.parametrize(
    ("indicator", "wrong", "found"),
    [("false", "AA", ["BR-CL-19", "PEPPOL-EN16931-CL002"]), ("true", "95", ["BR-CL-20", "PEPPOL-EN16931-CL003"])],
)
def test_each_wrong_reason_code_is_reported_at_its_element(indicator, wrong, found):
    code = f"<cbc:AllowanceChargeReasonCode>{wrong}</cbc:AllowanceChargeReasonCode>"
    allowance = f"<cac:AllowanceCharge><cbc:ChargeIndicator>{indicator}</cbc:ChargeIndicator>{code * 3}"
    result = einvoice.validate(document({".": f"{allowance}</cac:AllowanceCharge>"}))
    for expected in found:
        paths = [finding.xpath for finding in result.findings if finding.code == expected]
        assert [re.findall(r"\d+", path.rpartition("/")[2]) for path in paths] == [["1"], ["2"], ["3"]]


def test_a_self_billed_invoice_is_validated_by_its_own_rules():
    self_billed = document(changes={"type_code": "389"}).replace(BILLING, SELF_BILLING)
    result = einvoice.validate(self_billed)
    assert (result.is_valid, codes(result)) == (True, [])
    assert [layer.name for layer in result.stack.layers] == ["schema", "en16931", "peppol-selfbilling"]
    ordinary = einvoice.validate(document().replace(BILLING, SELF_BILLING), lang="en")
    assert codes(ordinary) == ["PEPPOL-EN16931-P0100"]
    assert "389" in ordinary.findings[0].fix()
    assert codes(einvoice.validate(document(changes={"type_code": "389"}))) == ["PEPPOL-EN16931-P0100"]


def test_self_billing_does_not_check_the_currency_of_the_vat_in_a_breakdown():
    billing = document(changes={"vat_breakdown[0].tax_amount": {"raw": "21.00", "currencyID": "SEK"}})
    code = "PEPPOL-EN16931-R051"
    assert code in codes(einvoice.validate(billing))
    assert code not in codes(einvoice.validate(billing.replace(BILLING, SELF_BILLING)))


def test_releases_of_self_billing_differ_in_the_processes():
    numbered = document(changes={"type_code": "389"}).replace(BILLING, SELF_BILLING).replace(b":01:1.0", b":02:1.0")
    older, newer = (einvoice.validate(numbered, ruleset=f"peppol-selfbilling-2026.{month}") for month in (3, 5))
    assert (codes(older), codes(newer)) == ([], ["PEPPOL-EN16931-R007"])
