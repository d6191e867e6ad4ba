"""Content of a document that the other syntax has room for once: joined, moved, or the first of several.

Sources: EN 16931-3-2 (UBL) with the rules UBL-SR, and CII D16B.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from einvoice.model.invoice import Invoice
from einvoice.model.lines import Document, Line
from einvoice.model.parties import Seller
from einvoice.model.values import Code, absent
from einvoice.syntax.mapping.groups import ConvertedGroups, all_lines, joined, parties, present, registered, unchanged
from einvoice.syntax.mapping.values import is_creditor


def _one_identifier(party: Any) -> None:
    """Keep one identifier of buyer and payee (BT-46, BT-60): if possible the one with a scheme."""
    if isinstance(party, Seller):
        return
    creditors = [it for it in party.identifiers if is_creditor(it)]  # BT-90, in the same element of UBL
    others = [it for it in party.identifiers if not is_creditor(it)]
    party.global_identifiers = party.global_identifiers[:1]
    party.identifiers = [*([] if party.global_identifiers else others[:1]), *creditors]


def _one_registration(party: Any) -> None:
    """Keep one VAT identifier and one number for another tax (BT-31, BT-32)."""
    kept: dict[bool, Any] = {}
    for registration in party.tax_registrations:
        kept.setdefault(registration.is_vat or registration.scheme.raw == "VA", registration)
    party.tax_registrations = list(kept.values())


def _once_in_line(line: Line) -> None:
    """Join the notes of a line (BT-127), and keep one object (BT-128)."""
    if len(line.notes) > 1:
        line.notes = present(joined(line.notes, "\n"))
    line.documents = [it for it in line.documents if it.type_code.text in ("130", absent)][:1]


def _move_objects(invoice: Invoice) -> None:
    """Keep one invoiced object (BT-18); any other becomes a supporting document (BG-24)."""
    for document in [it for it in invoice.documents if it.type_code.text == "130"][1:]:
        document.type_code = absent


def _join_payment_terms(invoice: Invoice) -> None:
    """Join the texts of several payment terms, which are one term (BT-20); the due date is in the first."""
    if len(invoice.payment_terms) > 1:
        invoice.payment_terms[0].note = joined(present(*(it.note for it in invoice.payment_terms)), "\n")
        invoice.payment_terms = invoice.payment_terms[:1]


def _join_means_texts(invoice: Invoice) -> None:
    """Put the texts of several payment means into the first, as an invoice has one (BT-82)."""
    if len(invoice.payment_means) > 1:
        text = joined(present(*(it.description for it in invoice.payment_means)), ", ")
        for means in invoice.payment_means:
            means.description = absent
        invoice.payment_means[0].description = text


def _move_preceding(invoice: Invoice) -> None:
    """Keep one preceding invoice (BG-3); the numbers of the others become supporting documents (BG-24)."""
    kept, others = invoice.preceding_invoices[:1], invoice.preceding_invoices[1:]
    moved = [Document(identifier=it.number, type_code=Code("916")) for it in others if it.number is not absent]
    invoice.preceding_invoices = kept
    invoice.documents = [*invoice.documents, *moved]


def _once_in_ubl(invoice: Invoice) -> None:
    _join_payment_terms(invoice)
    _join_means_texts(invoice)
    _move_objects(invoice)


def _once_in_cii(invoice: Invoice) -> None:
    _join_payment_terms(invoice)
    _move_preceding(invoice)


def _itself(invoice: Invoice) -> Iterable[Invoice]:
    return (invoice,)


#: Applied before `GROUPS` to an invoice that was read from a document. Any other invoice keeps what it was given.
ONCE: Final = (
    ConvertedGroups(parties, unchanged, _one_identifier),
    ConvertedGroups(registered, unchanged, _one_registration),
    ConvertedGroups(all_lines, unchanged, _once_in_line),
    ConvertedGroups(_itself, _once_in_cii, _once_in_ubl),
)
