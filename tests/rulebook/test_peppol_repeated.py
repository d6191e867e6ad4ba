"""National rules of Peppol on elements that stand more often than allowed; expected: the sheets of OpenPeppol."""

from __future__ import annotations

import pytest
from lxml import etree

import einvoice
from einvoice.rulebook.files.example import Example
from tests.helpers.documents import document_of

RULES = "peppol/PEPPOL-EN16931-R001.toml"  # the examples of its folder start from a Belgian invoice
SELLER = "cac:AccountingSupplierParty/cac:Party"
NATIONAL = ("DE-R", "DK-R", "GR-R", "IS-R", "NL-R", "SE-R", "PEPPOL-COMMON")


def findings(changes, insert, drop=(), release="2026.5"):
    """Return the codes of national rules, for the Belgian invoice with changes and XML inserted by parent."""
    example = Example("", changes, drop, insert={"UBL": insert})
    result = einvoice.validate(etree.tostring(document_of(example, RULES, "UBL")), ruleset=f"peppol-{release}")
    return sorted({it.code for it in result.findings if it.code.startswith(NATIONAL)})


def seller(content):
    """Return a further seller."""
    return f"<cac:AccountingSupplierParty><cac:Party>{content}</cac:Party></cac:AccountingSupplierParty>"


def company(identifier, scheme=""):
    """Return an organisation with its number."""
    attribute = f' schemeID="{scheme}"' if scheme else ""
    return f"<cac:PartyLegalEntity><cbc:CompanyID{attribute}>{identifier}</cbc:CompanyID></cac:PartyLegalEntity>"


def vat(*identifiers):
    """Return a VAT registration with numbers."""
    numbers = "".join(f"<cbc:CompanyID>{it}</cbc:CompanyID>" for it in identifiers)
    return f"<cac:PartyTaxScheme>{numbers}<cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:PartyTaxScheme>"


def address(country):
    """Return an address with nothing but the country."""
    code = f"<cbc:IdentificationCode>{country}</cbc:IdentificationCode>"
    return f"<cac:PostalAddress><cac:Country>{code}</cac:Country></cac:PostalAddress>"


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (company("DK16356706"), ["DK-R-014"]),
        (company("DK16356706", "0184"), []),
        (company("", "0184"), ["DK-R-002", "PEPPOL-COMMON-R042"]),
        ("", ["DK-R-002"]),
    ],
)
def test_the_register_number_of_any_danish_seller_counts(second, expected):
    changes = {"seller.address.country_code": "DK"}
    assert findings(changes, {".": seller(second)}, ["seller.legal_identifier"]) == expected


def test_the_kennitala_and_the_address_of_any_icelandic_seller_count():
    changes = {
        "seller.address": {"postal_code": "101", "country_code": "IS"},
        "seller.legal_identifier": {"raw": "5402696029", "schemeID": "0088"},
    }
    street = "<cac:PostalAddress><cbc:StreetName>Laugavegur 1</cbc:StreetName></cac:PostalAddress>"
    assert findings(changes, {}) == ["IS-R-002", "IS-R-003", "PEPPOL-COMMON-R040"]
    assert findings(changes, {".": seller(street + company("5402696029", "0196"))}) == ["PEPPOL-COMMON-R040"]


def test_the_tax_number_of_any_greek_seller_can_lead_the_invoice_number():
    changes = {"seller.address.country_code": "GR", "number": "094259216|01/09/2026|1|1.1|A|7"}
    without = ["seller.tax_registrations"]
    assert "GR-R-001-2" in findings(changes, {".": seller("")}, without)
    assert "GR-R-001-2" not in findings(changes, {".": seller(vat("EL094259216"))}, without)


@pytest.mark.parametrize("numbers", [("SE556036079301", "SE5560360793"), ("SE", "")])
def test_a_vat_registration_with_two_numbers_is_not_swedish(numbers):
    changes = {
        "seller.address.country_code": "SE",
        "seller.legal_identifier": {"raw": "5560360793", "schemeID": "0007"},
    }
    without = ["seller.tax_registrations"]
    assert "SE-R-006" in findings(changes, {SELLER: vat(numbers[0])}, without)
    assert findings(changes, {SELLER: vat(*numbers)}, without) == []


def test_country_and_numbers_of_a_swedish_seller_are_those_of_one_party():
    changes = {
        "seller.tax_registrations": [
            {"identifier": "SE556036079301", "scheme": "VAT"},
            {"identifier": "4711", "scheme": "TAX"},
        ]
    }
    second = {"cac:AccountingSupplierParty": f"<cac:Party>{address('SE')}</cac:Party>"}
    assert findings(changes, second, ["seller.address.country_code"]) == []
    assert findings({**changes, "seller.address.country_code": "SE"}, {}) == ["SE-R-005", "SE-R-006", "SE-R-013"]


def test_each_register_number_of_a_dutch_seller_is_checked():
    changes = {"seller.address.country_code": "NL", "seller.legal_identifier": {"raw": "12345678", "schemeID": "0106"}}
    second = {f"{SELLER}/cac:PartyLegalEntity": '<cbc:CompanyID schemeID="0190"> </cbc:CompanyID>'}
    assert (findings(changes, {}), findings(changes, second)) == ([], ["NL-R-003", "PEPPOL-COMMON-R055"])


def test_any_account_of_a_danish_payment_counts():
    changes = {
        "seller.address.country_code": "DK",
        "buyer.address.country_code": "DK",
        "seller.legal_identifier": {"raw": "DK16356706", "schemeID": "0184"},
        "payment_means[0].code": "93",
        "payment_means[0].remittance_information": "73#",
    }
    account = "<cac:PayeeFinancialAccount>{}<cbc:ID>12345678</cbc:ID></cac:PayeeFinancialAccount>"
    without = ["payment_means[0].credit_transfer"]
    assert findings(changes, {"cac:PaymentMeans": account.format("<cbc:ID/>")}, without) == []
    assert findings(changes, {"cac:PaymentMeans": account.format("").replace("8", "")}, without) == ["DK-R-010"]


GERMANY = {
    "seller.address.country_code": "DE",
    "buyer.address.country_code": "DE",
    "seller.contact": {"name": "Erika Muster", "telephone": "+49 30 1234567", "email": "erika@muster.example"},
}


def test_of_two_payment_means_codes_the_first_rule_applied_in_older_releases():
    changes = {**GERMANY, "payment_means[0].code": "59"}
    second = {"cac:PaymentMeans": "<cbc:PaymentMeansCode>30</cbc:PaymentMeansCode>"}
    without = ["payment_means[0].credit_transfer"]
    assert findings(changes, {}, without, "2025.11") == ["DE-R-020", "DE-R-025-1"]
    assert findings(changes, second, without, "2025.11") == ["DE-R-023-1"]
    assert findings(changes, second, without) == []


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("3e1", "", ["DE-R-023-1"]),  # 30 as xs:double
        ("4.8e+1", "", ["DE-R-024-1"]),
        (".59e2", "", ["DE-R-025-1"]),
        ("ZZZ", "", []),
        ("ZZZ", "48", []),
        ("48", "ZZZ", ["DE-R-024-1"]),
        ("54", "ZZZ", []),  # both compared with 48 first
    ],
)
def test_payment_means_codes_were_compared_as_numbers_in_older_releases(first, second, expected):
    changes = {**GERMANY, "payment_means[0].code": first}
    insert = {"cac:PaymentMeans": f"<cbc:PaymentMeansCode>{second}</cbc:PaymentMeansCode>"} if second else {}
    assert findings(changes, insert, ["payment_means[0].credit_transfer"], "2025.11") == expected


def test_a_dutch_vat_number_of_two_taxes_has_the_form_of_its_scheme():
    scheme = "<cac:TaxScheme><cbc:ID>VAT</cbc:ID>{}</cac:TaxScheme>"
    number = '<cbc:CompanyID schemeID="0217">NL123456789B01</cbc:CompanyID>'
    buyer = "cac:AccountingCustomerParty/cac:Party"

    def found(second):
        return findings({}, {buyer: f"<cac:PartyTaxScheme>{number}{scheme.format(second)}</cac:PartyTaxScheme>"})

    assert (found(""), found("<cbc:ID>VAT</cbc:ID>")) == ([], ["PEPPOL-COMMON-R057"])
