"""Document-level terms that UBL and CII have in different elements.

Sources: EN 16931-3-2 (UBL) and EN 16931-3-3 (CII); for further mandatory elements, the XML schemas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice.model.group import first
from einvoice.model.invoice import Invoice
from einvoice.model.lines import Document, Period
from einvoice.model.money import DirectDebit, PaymentTerms
from einvoice.model.values import Code, Date, Identifier, Text, absent
from einvoice.syntax.mapping.values import is_creditor, with_attributes

#: Sets a term of an invoice that is to be written with a root element.
SetTerm: TypeAlias = Callable[[Invoice, Any, str], None]


class MovedTerm(NamedTuple):
    """A term: how to remove it from the places of both syntaxes, and how to set it for each syntax.

    `take` returns `absent` if the invoice does not have the term.
    """

    term: str
    take: Callable[[Invoice], Any]
    to_cii: SetTerm
    to_ubl: SetTerm


def _field(name: str) -> SetTerm:
    """Return a function that sets a field of the invoice."""
    return lambda invoice, content, root: setattr(invoice, name, content)


def _take(groups: Iterable[Any], field: str) -> Any:
    """Remove `field` from the groups and return its first content."""
    contents = [getattr(group, field) for group in groups]
    for group in groups:
        setattr(group, field, absent)
    return first(content for content in contents if content is not absent)


def _first_terms(invoice: Invoice) -> PaymentTerms:
    if not invoice.payment_terms:
        invoice.payment_terms = [PaymentTerms()]
    return invoice.payment_terms[0]


# ---------------------------------------------------------------- BT-7, BT-8: tax point


def _take_tax_point_date(invoice: Invoice) -> Any:
    return _take((invoice, *invoice.vat_breakdown), "tax_point_date")


def _tax_point_date_to_cii(invoice: Invoice, day: Date, _: str) -> None:
    for breakdown in invoice.vat_breakdown[:1]:
        breakdown.tax_point_date = day


def _take_tax_point_code(invoice: Invoice) -> Any:
    return _take((*invoice.periods, *invoice.vat_breakdown), "tax_point_code")


def _tax_point_code_to_cii(invoice: Invoice, code: Code, _: str) -> None:
    for breakdown in invoice.vat_breakdown[:1]:
        breakdown.tax_point_code = code


def _tax_point_code_to_ubl(invoice: Invoice, code: Code, _: str) -> None:
    if not invoice.periods:
        invoice.periods = [Period()]
    invoice.periods[0].tax_point_code = code


# ---------------------------------------------------------------- BT-9, BT-83, BT-89, BT-90: payment


def _take_due_date(invoice: Invoice) -> Any:
    return _take((invoice, *invoice.payment_means, *invoice.payment_terms), "due_date")


def _due_date_to_cii(invoice: Invoice, day: Date, _: str) -> None:
    _first_terms(invoice).due_date = day


def _due_date_to_ubl(invoice: Invoice, day: Date, root: str) -> None:
    if root == "Invoice":
        invoice.due_date = day
        return
    for means in invoice.payment_means[:1]:
        means.due_date = day


def _take_remittance(invoice: Invoice) -> Any:
    own = _take((invoice,), "remittance_information")
    found = [text for means in invoice.payment_means for text in means.remittance_information]
    for means in invoice.payment_means:
        means.remittance_information = ()
    return first(found) if own is absent else own


def _remittance_to_ubl(invoice: Invoice, text: Text, _: str) -> None:
    for means in invoice.payment_means:  # the reference applies to all payment means
        means.remittance_information = [text]


def _take_mandate(invoice: Invoice) -> Any:
    debits = [means.direct_debit for means in invoice.payment_means if means.direct_debit is not absent]
    return _take((*debits, *invoice.payment_terms), "mandate_reference")


def _mandate_to_cii(invoice: Invoice, mandate: Identifier, _: str) -> None:
    _first_terms(invoice).mandate_reference = mandate


def _mandate_to_ubl(invoice: Invoice, mandate: Identifier, _: str) -> None:
    debits = [means for means in invoice.payment_means if means.direct_debit is not absent]
    for means in (debits or invoice.payment_means)[:1]:
        if means.direct_debit is absent:
            means.direct_debit = DirectDebit()
        means.direct_debit.mandate_reference = mandate


def _take_creditor(invoice: Invoice) -> Any:
    own = _take((invoice,), "creditor_identifier")
    found = []
    for party in (invoice.payee, invoice.seller):
        if party is not absent:
            found += [identifier for identifier in party.identifiers if is_creditor(identifier)]
            party.identifiers = [identifier for identifier in party.identifiers if not is_creditor(identifier)]
    return first(found) if own is absent else own


def _creditor_to_cii(invoice: Invoice, creditor: Identifier, _: str) -> None:
    invoice.creditor_identifier = with_attributes(creditor, schemeID=None)


def _creditor_to_ubl(invoice: Invoice, creditor: Identifier, _: str) -> None:
    party = invoice.seller if invoice.payee is absent else invoice.payee
    if party is not absent:
        party.identifiers = [*party.identifiers, with_attributes(creditor, schemeID="SEPA")]


# ---------------------------------------------------------------- BT-11, BT-17: two meanings of document type 50


def _take_document_50(invoice: Invoice) -> Any:
    """Remove the first document of type 50 and return its identifier; any other becomes a supporting document."""
    found = [document for document in invoice.documents if document.type_code.text == "50"]
    invoice.documents = [document for document in invoice.documents if document is not first(found)]
    for document in found[1:]:
        document.type_code = absent
    return first(document.identifier for document in found)


def _take_tender(invoice: Invoice) -> Any:
    """Remove and return the tender: in CII a document of type 50, which in UBL is the project."""
    found = absent if invoice.syntax == "UBL" else _take_document_50(invoice)
    own = _take((invoice,), "tender")
    return found if own is absent else own


def _tender_to_cii(invoice: Invoice, tender: Identifier, _: str) -> None:
    invoice.documents = [*invoice.documents, Document(identifier=tender, type_code=Code("50"))]


def _take_project(invoice: Invoice) -> Any:
    found = _take_document_50(invoice) if invoice.root == "CreditNote" else absent
    own = _take((invoice,), "project")
    return found if own is absent else own


def _project_to_ubl(invoice: Invoice, project: Identifier, root: str) -> None:
    if root == "Invoice":
        invoice.project = project
    else:
        invoice.documents = [*invoice.documents, Document(identifier=project, type_code=Code("50"))]


TERMS: Final = (
    MovedTerm("BT-7", _take_tax_point_date, _tax_point_date_to_cii, _field("tax_point_date")),
    MovedTerm("BT-8", _take_tax_point_code, _tax_point_code_to_cii, _tax_point_code_to_ubl),
    MovedTerm("BT-9", _take_due_date, _due_date_to_cii, _due_date_to_ubl),
    MovedTerm("BT-11", _take_project, _field("project"), _project_to_ubl),
    MovedTerm("BT-17", _take_tender, _tender_to_cii, _field("tender")),
    MovedTerm("BT-83", _take_remittance, _field("remittance_information"), _remittance_to_ubl),
    MovedTerm("BT-89", _take_mandate, _mandate_to_cii, _mandate_to_ubl),
    MovedTerm("BT-90", _take_creditor, _creditor_to_cii, _creditor_to_ubl),
)
