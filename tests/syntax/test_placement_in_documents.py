"""Documents written in the other syntax: they keep their terms and stay schema-valid."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from einvoice.model.invoice import Invoice
from einvoice.model.values import Identifier, Number, absent
from einvoice.syntax.schema import violations
from einvoice.syntax.writer import write
from einvoice.syntax.xml import parse
from tests.cases import corpus
from tests.helpers.business_terms import business_terms
from tests.helpers.converted import converted, read_again

UBL, CREDIT_NOTE, CII = "Invoice", "CreditNote", "CrossIndustryInvoice"
SUITE = corpus.SHARED / "cases" / "xrechnung-testsuite"

#: Terms without a place in CII.
LOST_TO_CII = {
    "01.01_comprehensive_test_ubl.xml": {"BT-25", "BT-26"},  # D16B has room for one preceding invoice
    "04.03a-INVOICE_ubl.xml": {"BT-25"},  # the same
    "05.01a-INVOICE_ubl.xml": {"BT-DEX-001", "BT-DEX-002", "BT-DEX-003"},  # third-party payments
}
#: Mandatory elements of the UBL schema that the documents do not contain.
ADDED_FOR_UBL = {"01.05_minimal_test_uncefact.xml": {"BT-110"}}  # the VAT total above a breakdown
#: Further preceding invoices, whose numbers become supporting documents.
MOVED_IN_CII = {"01.01_comprehensive_test_ubl.xml": {"BT-122"}, "04.03a-INVOICE_ubl.xml": {"BT-122"}}


@pytest.mark.cases
def test_valid_documents_have_the_same_terms_in_the_other_syntax() -> None:
    documents = {case["case"]: data for case, data in corpus.unedited() if case.get("level") != "extended"}
    lost, added = lost_and_added(documents)
    assert lost == {}
    assert added == {}


@pytest.mark.cases
@pytest.mark.skipif(not SUITE.exists(), reason="needs the test suite of XRechnung")
def test_documents_of_the_test_suite_have_the_same_terms_in_the_other_syntax() -> None:
    lost, added = lost_and_added({path.name: path.read_bytes() for path in sorted(SUITE.glob("*.xml"))})
    assert lost == LOST_TO_CII
    assert added == ADDED_FOR_UBL | MOVED_IN_CII


def lost_and_added(documents: dict[str, bytes]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return the numbers of the terms that documents lose or gain in the other syntax, or on the way back."""
    lost: dict[str, set[str]] = {}
    added: dict[str, set[str]] = {}
    for name, data in documents.items():
        invoice = read_again(data)
        said = business_terms(invoice)
        for root in (UBL, CREDIT_NOTE) if invoice.syntax == "CII" else (CII,):
            there = converted(invoice, root)
            back = converted(there, invoice.root)
            for other in (there, back):
                if missing := {number for number, _ in said - business_terms(other)}:
                    lost[name] = missing
                if new := {number for number, _ in business_terms(other) - said}:
                    added[name] = new
    return lost, added


#: Elements that are mandatory in the UBL schema and optional in CII, for mandatory terms of the standard.
DEMANDED_BY_UBL = {
    "cac:AccountingCustomerParty", "cac:AccountingSupplierParty", "cac:CreditNoteLine", "cac:InvoiceLine",
    "cac:Item", "cac:LegalMonetaryTotal", "cbc:Amount", "cbc:ChargeIndicator", "cbc:ID", "cbc:LineExtensionAmount",
    "cbc:NetworkID", "cbc:PayableAmount", "cbc:PaymentMeansCode", "cbc:PrimaryAccountNumberID", "cbc:TaxAmount",
}  # fmt: skip


@pytest.mark.cases
@pytest.mark.parametrize("part", range(8))
def test_schema_valid_documents_stay_valid_in_the_other_syntax(part: int) -> None:
    """Except if CII lacks a mandatory UBL element, or has an invalid date: its schema accepts any text."""
    cases = corpus.cases(*corpus.GENERAL, *corpus.BESIDE)
    for case, data in [(case["case"], data) for case, data in cases if case["xsd"]][part::8]:
        invoice = read_again(data)
        for root in (UBL, CREDIT_NOTE) if invoice.syntax == "CII" else (CII,):
            for violation in violations(parse(write(invoice, root)), root):
                if violation.code == "SCHEMA-MISSING-ELEMENT":
                    assert set(violation.values["expected"].split(", ")) <= DEMANDED_BY_UBL, case
                else:
                    assert violation.code == "SCHEMA-VALUE-DATE", case
                assert root != CII, case


# ---------------------------------------------------------------- test suite documents in both syntaxes


def texts(values: Iterable[Any]) -> list[str]:
    """Return the content of values: numbers without trailing zeros, identifiers with scheme, joined by a bar."""
    said = []
    for value in values:
        if isinstance(value, Number):
            said.append(str(value.number.normalize()))
        elif value is not absent:
            scheme = value.attributes.get("schemeID") if isinstance(value, Identifier) else None
            said.append(str(value) + (f" {scheme}" if scheme else ""))
    return said


def _parties(invoice: Invoice) -> list[Any]:
    return [party for party in (invoice.seller, invoice.buyer, invoice.payee) if party is not absent]


#: Fields of the terms that the placement moves or converts.
MOVED: dict[str, Callable[[Invoice], Iterable[Any]]] = {
    "BT-7": lambda it: [it.tax_point_date, "|", *(part.tax_point_date for part in it.vat_breakdown)],
    "BT-8": lambda it: [*(period.tax_point_code for period in it.periods), "|",
                        *(part.tax_point_code for part in it.vat_breakdown)],
    "BT-9": lambda it: [it.due_date, "|", *(terms.due_date for terms in it.payment_terms)],
    "BT-11": lambda it: [it.project],
    "BT-13": lambda it: [it.purchase_order, "|", it.sales_order],
    "BT-17": lambda it: [it.tender],
    "BT-20": lambda it: [terms.note for terms in it.payment_terms],
    "BT-21": lambda it: [text for note in it.notes for text in (note.subject_code, "|", note.text)],
    "BT-29": lambda it: [text for party in _parties(it)
                         for text in (*party.identifiers, "|", *party.global_identifiers)],
    "BT-71": lambda it: [text for place in it.deliveries
                         for text in (place.location_identifier, "|", place.global_location_identifier)],
    "BT-83": lambda it: [it.remittance_information, "|",
                         *(text for means in it.payment_means for text in means.remittance_information)],
    "BT-84": lambda it: [text for means in it.payment_means for text in
                         (means.credit_transfer.identifier, "|", means.credit_transfer.proprietary_identifier)],
    "BT-89": lambda it: [*(means.direct_debit.mandate_reference for means in it.payment_means), "|",
                         *(terms.mandate_reference for terms in it.payment_terms)],
    "BT-90": lambda it: [it.creditor_identifier],
    "BT-128": lambda it: [text for line in it.lines for document in line.documents
                          for text in (document.identifier, document.type_code, document.reference_type)],
    "BT-147": lambda it: [text for line in it.lines for price in (line.price, line.gross_price)
                          for allowance in price.allowances for text in (allowance.amount, allowance.base_amount)],
    "BT-148": lambda it: [line.gross_price.amount for line in it.lines],
    "BT-149": lambda it: [text for line in it.lines
                          for text in (line.price.base_quantity, "|", line.gross_price.base_quantity)],
    "BG-24": lambda it: sorted(str(text) for document in it.documents
                               for text in (document.identifier, document.type_code, document.reference_type)),
}  # fmt: skip

#: Differences between the two documents: by term, with the reason.
DIFFERENT_TWINS = {
    # an order number of which the CII twin says nothing
    "BT-13": {"01.02a", "01.08a", "01.09a", "01.10a", "01.11a", "01.12a", "01.13a"},
    # the CII twin has two more identifiers; in 01.04 the UBL twin has BT-90 at the seller although there is a payee
    "BT-29": {"01.01_comprehensive", "01.04_comprehensive", "02.01a-cvd", "03.07a"},
    # the CII twin has one of two IBANs as proprietary identifier
    "BT-84": {"01.02_comprehensive"},
    # the CII twin has the quantity in the gross price alone, or nowhere
    "BT-149": {"01.01_comprehensive", "01.02_comprehensive", "01.03_comprehensive", "01.04_comprehensive", "02.01a-cvd",
               "03.07a"},
    # the CII twin has one of two preceding invoices
    "BG-24": {"01.01_comprehensive"},
}  # fmt: skip


@pytest.mark.cases
@pytest.mark.skipif(not SUITE.exists(), reason="needs the test suite of XRechnung")
def test_terms_have_the_places_of_the_test_suite() -> None:
    """Most documents of the test suite exist in both syntaxes."""
    differing: dict[str, set[str]] = {}
    for path in sorted(SUITE.glob("*_ubl.xml")):
        twin = path.with_name(path.name.replace("_ubl", "_uncefact"))
        if not twin.exists():
            continue
        ubl, cii = read_again(path.read_bytes()), read_again(twin.read_bytes())
        for ours, theirs in ((converted(ubl, CII), cii), (converted(cii, UBL), ubl)):
            for term in (term for term, of in MOVED.items() if texts(of(ours)) != texts(of(theirs))):
                differing.setdefault(term, set()).add(re.split("-INV|_INV|_test", path.name)[0])
    assert differing == DIFFERENT_TWINS
