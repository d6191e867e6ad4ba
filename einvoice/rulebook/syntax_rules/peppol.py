"""Conditions of the Peppol rule sets: the business process of a UBL document (BT-23), and the countries of the parties.

The national rules differ in how they read a country: ``_country`` and ``_supplier_country`` give it as it is written.
"""

from __future__ import annotations

import re
from typing import Any, Final

from einvoice.model.values import Text, absent, normalize_space
from einvoice.rulebook.functions.arithmetic import double
from einvoice.rulebook.syntax_rules.rule import condition
from einvoice.rulebook.syntax_rules.stops import beside_skonto
from einvoice.rulebook.syntax_rules.xpath import below, text, texts

#: Business processes of Peppol, and the process numbers that earlier releases read from the identifier.
_FRENCH: Final = frozenset(("urn:peppol:france:billing:non-regulated", "urn:peppol:france:billing:regulated"))
_BILLING: Final = _FRENCH | {"urn:fdc:peppol.eu:2017:poacc:billing:01:1.0", "urn:peppol:bis:billing_with_response"}
_SELFBILLING: Final = _FRENCH | {"urn:fdc:peppol.eu:2017:poacc:selfbilling:01:1.0"}
_SELLER: Final = "cac:AccountingSupplierParty/cac:Party"
_BUYER: Final = "cac:AccountingCustomerParty/cac:Party"
_NUMBERED_BILLING: Final = "urn:fdc:peppol.eu:2017:poacc:billing:[0-9]{2}:1.0"
_NUMBERED_SELFBILLING: Final = "urn:fdc:peppol.eu:2017:poacc:selfbilling:[0-9]{2}:1.0"


@condition("UBL")
def billing_process(element: Any) -> bool:
    """Part of a document of a business process of Peppol BIS Billing."""
    return not _BILLING.isdisjoint(_processes(element))


@condition("UBL")
def first_billing_process(element: Any) -> bool:
    """Part of a document of the process 01, as Peppol's releases before 2026.5 read it from the identifier."""
    return _is_numbered_01(element, _NUMBERED_BILLING)


@condition("UBL")
def selfbilling_process(element: Any) -> bool:
    """Part of a document of a business process of Peppol BIS Self-Billing, other than billing with a response."""
    return not _SELFBILLING.isdisjoint(_processes(element))


@condition("UBL")
def first_selfbilling_process(element: Any) -> bool:
    """Part of a document of the process 01, as releases of Self-Billing before 2026.5 read it from the identifier."""
    return _is_numbered_01(element, _NUMBERED_SELFBILLING)


def _is_numbered_01(element: Any, pattern: str) -> bool:
    processes = (process for process in _processes(element) if re.search(pattern, process))
    return any(process.split(":")[6] == "01" for process in processes)


def _processes(element: Any) -> list[str]:
    return [normalize_space(process) for process in texts(element.getroottree().getroot(), "cbc:ProfileID")]


# -------------------------------------------------------------------------------------------------------------- Germany


@condition("UBL")
def german_beside_skonto(terms: Any) -> bool:
    """Payment terms between parties in Germany, where the first line for machines of the invoice is a cash discount."""
    countries = [normalize_space(_country(terms, party)).upper() for party in (_SELLER, _BUYER)]
    return countries == ["DE", "DE"] and beside_skonto(terms)


# -------------------------------------------------------------------------------------------------------------- Denmark


@condition("UBL")
def danish(element: Any) -> bool:
    """Part of an invoice of a seller in Denmark."""
    return _country(element, _SELLER) == "DK"


@condition("UBL")
def within_denmark(element: Any) -> bool:
    """Part of an invoice between parties in Denmark."""
    return danish(element) and _country(element, _BUYER) == "DK"


@condition("UBL")
def danish_credit_note(totals: Any) -> bool:
    """The totals of a credit note between parties in Denmark."""
    return bool(totals.getparent().tag.endswith("}CreditNote")) and within_denmark(totals)


@condition("UBL")
def danish_levy(allowance_or_charge: Any) -> bool:
    """A tax other than VAT between parties in Denmark: an allowance or charge with the reason code ``ZZZ``."""
    return "ZZZ" in texts(allowance_or_charge, "cbc:AllowanceChargeReasonCode") and within_denmark(allowance_or_charge)


@condition("UBL")
def levy_number(reason: Any) -> bool:
    """A reason that is the number of a Danish tax, from 0 to 9999: only then its text nodes are read."""
    number = double(Text(text(reason)))
    return number is not absent and 0 <= number <= 9999


@condition("UBL")
def danish_transfer(means: Any) -> bool:
    """A transfer to a bank account (31, 42) in an invoice between parties in Denmark."""
    return _is_danish_means(means, "31", "42")


@condition("UBL")
def danish_transfer_to_account(means: Any) -> bool:
    """As ``danish_transfer``, with the number of the account, so that the registration number is read."""
    return danish_transfer(means) and _any_filled(means, "cac:PayeeFinancialAccount/cbc:ID")


@condition("UBL")
def danish_debit(means: Any) -> bool:
    """A direct debit (49) in an invoice between parties in Denmark."""
    return _is_danish_means(means, "49")


@condition("UBL")
def danish_debit_by_mandate(means: Any) -> bool:
    """As ``danish_debit``, with a mandate reference, so that the debited account is read."""
    return danish_debit(means) and _any_filled(means, "cac:PaymentMandate/cbc:ID")


@condition("UBL")
def danish_giro_or_card(means: Any) -> bool:
    """A payment by Giro (50) or payment card (FIK, 93) in an invoice between parties in Denmark."""
    return _is_danish_means(means, "50", "93")


@condition("UBL")
def danish_card(means: Any) -> bool:
    """A payment by payment card (FIK, 93) with a card type, so that the account is read."""
    types = {number[:3] for number in texts(means, "cbc:PaymentID")}
    return _is_danish_means(means, "93") and not types.isdisjoint(("71#", "73#", "75#"))


def _is_danish_means(means: Any, *codes: str) -> bool:
    is_of_invoice = means.getparent().tag.endswith("}Invoice")
    return is_of_invoice and not set(codes).isdisjoint(texts(means, "cbc:PaymentMeansCode")) and within_denmark(means)


def _any_filled(element: Any, path: str) -> bool:
    return any(normalize_space(it) for it in texts(element, path))


# ------------------------------------------------------------------------------------------------------ other countries


@condition("UBL")
def greek(role: Any) -> bool:
    """Seller or buyer in an invoice of a Greek seller."""
    return _supplier_country(role) in ("GR", "EL")


@condition("UBL")
def icelandic_claim(means: Any) -> bool:
    """A claim (payment means 9) of a seller in Iceland."""
    return "9" in texts(means, "cbc:PaymentMeansCode") and _country(means, _SELLER) == "IS"


@condition("UBL")
def icelandic_transfer(means: Any) -> bool:
    """A transfer to a bank account (42) of a seller in Iceland."""
    return "42" in texts(means, "cbc:PaymentMeansCode") and _country(means, _SELLER) == "IS"


@condition("UBL")
def icelandic_final_date(document: Any) -> bool:
    """The supporting document in which a seller in Iceland states the final due date."""
    return "EINDAGI" in texts(document, "cbc:DocumentDescription") and _country(document, _SELLER) == "IS"


@condition("UBL")
def norwegian(role: Any) -> bool:
    """The seller in an invoice of a Norwegian seller."""
    return _supplier_country(role) == "NO"


@condition("UBL")
def other_tax(registration: Any) -> bool:
    """A registration for taxes other than VAT, with the scheme ``TAX``."""
    return "TAX" in map(normalize_space, texts(registration, "cac:TaxScheme/cbc:ID"))


@condition("UBL")
def swedish_with_vat(party: Any) -> bool:
    """A seller in Sweden with a Swedish VAT identifier."""
    countries = texts(party, "cac:PostalAddress/cac:Country/cbc:IdentificationCode")
    return "SE" in countries and "SE" in _vat_countries(party)


@condition("UBL")
def exactly_vat(registration: Any) -> bool:
    """A VAT registration, with the scheme ``VAT`` in upper case."""
    return "VAT" in texts(registration, "cac:TaxScheme/cbc:ID")


def _country(element: Any, party: str) -> str:
    """Return the country of a party's address in the document of an element; "" if there is none."""
    root = element.getroottree().getroot()
    return "".join(texts(root, f"{party}/cac:PostalAddress/cac:Country/cbc:IdentificationCode"))


def _vat_countries(party: Any) -> list[str]:
    """Return the countries in the VAT registrations of a party: "" for one without an identifier."""
    registrations = [it for it in below(party, "cac:PartyTaxScheme") if exactly_vat(it)]
    return ["".join(texts(it, "cbc:CompanyID"))[:2] for it in registrations]


def _supplier_country(element: Any) -> str:
    """Return the country whose rules apply to the seller, in upper case.

    It is that of the VAT identifier of the seller, or else of the tax representative, or else of the seller's address.
    With several VAT registrations of one of them, no country has rules: an error in a pattern of XSLT is no match.
    """
    root = element.getroottree().getroot()
    for path in (_SELLER, "cac:TaxRepresentativeParty"):
        found = [country for party in below(root, path) for country in _vat_countries(party)]
        if len(found) > 1:
            return ""
        if any(found):
            return normalize_space(found[0]).upper()
    return normalize_space(_country(root, _SELLER)).upper()
