"""Groups that UBL and CII have in different forms.

Sources: EN 16931-3-2 (UBL) and EN 16931-3-3 (CII); for further mandatory elements, the XML schemas.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from einvoice.model.group import first
from einvoice.model.invoice import Invoice, Note, Totals
from einvoice.model.lines import Document, GrossPrice, Item, Line, Period, Price
from einvoice.model.money import CreditTransfer, PaymentMeans, PriceAllowance, TaxTotal
from einvoice.model.parties import Contact, Delivery
from einvoice.model.values import Amount, Code, Identifier, Text, UnitPrice, absent
from einvoice.syntax.mapping.values import with_attributes
from einvoice.syntax.specifications import specifications


class ConvertedGroups(NamedTuple):
    """Groups of an invoice: how to select them, and how to convert each for either syntax."""

    select: Callable[[Invoice], Iterable[Any]]
    to_cii: Callable[[Any], None]
    to_ubl: Callable[[Any], None]


def unchanged(group: Any) -> None:
    """Leave the group as it is: the syntax accepts both forms."""


def present(*contents: Any) -> list[Any]:
    """Return the contents that are not `absent`."""
    return [content for content in contents if content is not absent]


def joined(texts: Sequence[Text], between: str) -> Text:
    """Return the texts as one, the same one only once; `absent` if there is none."""
    if len(texts) < 2:
        return first(texts)
    different = dict.fromkeys(text.raw.strip() for text in texts if text.filled)
    end = "\n" if texts[-1].raw.endswith("\n") else ""  # lines of cash discounts end with a line break
    return Text(between.join(different) + end) if different else absent


# ---------------------------------------------------------------- BT-21: the subject of a note

_SUBJECT: Final = re.compile(r"#([^#\s]{3})#(.*)", re.DOTALL)


def _note_to_cii(note: Note) -> None:
    parts = _SUBJECT.match(note.text.raw) if note.subject_code is absent and note.text is not absent else None
    if parts:
        note.subject_code, note.text = Code(parts[1]), Text(parts[2])


def _note_to_ubl(note: Note) -> None:
    if note.subject_code is not absent:
        note.text = Text(f"#{note.subject_code}#{note.text}")
        note.subject_code = absent


# ---------------------------------------------------------------- parties, BT-71: identifiers with a scheme


def parties(invoice: Invoice) -> Iterable[Any]:
    """Return the parties that have identifiers."""
    return present(invoice.seller, invoice.buyer, invoice.payee)


def _identifiers_to_cii(party: Any) -> None:
    with_scheme = [identifier for identifier in party.identifiers if identifier.scheme is not absent]
    party.identifiers = [identifier for identifier in party.identifiers if identifier.scheme is absent]
    party.global_identifiers = [*with_scheme, *party.global_identifiers]


def _identifiers_to_ubl(party: Any) -> None:
    party.identifiers = [*party.identifiers, *party.global_identifiers]
    party.global_identifiers = ()


def _location_to_cii(delivery: Delivery) -> None:
    if delivery.location_identifier.scheme is not absent:
        delivery.global_location_identifier = delivery.location_identifier
        delivery.location_identifier = absent


def _location_to_ubl(delivery: Delivery) -> None:
    if delivery.location_identifier is absent:
        delivery.location_identifier = delivery.global_location_identifier


def _contacts(invoice: Invoice) -> Iterable[Contact]:
    return present(*(party.contact for party in present(invoice.seller, invoice.buyer)))


def _contact_to_ubl(contact: Contact) -> None:
    """Join the names of person and department, which are one term (BT-41, BT-56)."""
    contact.name = joined(present(contact.name, contact.department), ", ")


def registered(invoice: Invoice) -> Iterable[Any]:
    """Return the parties that can have tax registrations."""
    return present(invoice.seller, invoice.buyer, invoice.tax_representative)


def _registrations(invoice: Invoice) -> Iterable[Any]:
    return [registration for party in registered(invoice) for registration in party.tax_registrations]


def _registration_to_ubl(registration: Any) -> None:
    """Remove the scheme, for which UBL has a separate element."""
    if registration.identifier is not absent:
        registration.identifier = with_attributes(registration.identifier, schemeID=None)


# ---------------------------------------------------------------- BT-84, BT-86: account and bank

_IBAN: Final = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")


def _means_to_cii(means: PaymentMeans) -> None:
    account = means.credit_transfer
    if account.identifier is absent or account.proprietary_identifier is not absent:
        return
    if not _IBAN.fullmatch("".join(account.identifier.text.split()).upper()):
        account.proprietary_identifier, account.identifier = account.identifier, absent


def _means_to_ubl(means: PaymentMeans) -> None:
    """Add an account if there is only a bank, which UBL has inside the account; use any kind of account number."""
    if means.credit_transfer is absent and means.service_provider is not absent:
        means.credit_transfer = CreditTransfer()
    account = means.credit_transfer
    if account is not absent and account.identifier is absent:
        account.identifier = account.proprietary_identifier


# ---------------------------------------------------------------- BT-18, BG-24, BT-128: documents


def _document_to_cii(document: Document) -> None:
    scheme = document.identifier.scheme
    if document.type_code.text == "130" and scheme is not absent:
        document.reference_type = Code(scheme)
        document.identifier = with_attributes(document.identifier, schemeID=None)


def _document_to_ubl(document: Document) -> None:
    """Remove types other than invoiced object (130) and project of a credit note (50), as UBL requires."""
    if document.type_code.text == "130":
        if document.identifier is not absent and document.reference_type is not absent:
            document.identifier = with_attributes(document.identifier, schemeID=document.reference_type.text)
    elif document.type_code.text != "50":
        document.type_code = absent


def _line_documents_to_cii(line: Line) -> None:
    for document in line.documents:
        if document.type_code is absent:
            document.type_code = Code("130")
        _document_to_cii(document)


def _line_documents_to_ubl(line: Line) -> None:
    line.documents = [document for document in line.documents if document.type_code.text in ("130", absent)]
    for document in line.documents:
        document.type_code = Code("130")
        _document_to_ubl(document)


# ---------------------------------------------------------------- BG-29: discount and gross price


def _price_to_cii(line: Line) -> None:
    """Move the discount to the gross price. If UBL has no gross price, it is the net price plus the discount."""
    discounts = line.price.allowances
    gross_amount = first(discount.base_amount for discount in discounts if discount.base_amount is not absent)
    gross = line.price.net.number + sum(discount.amount.number for discount in discounts)
    if discounts:
        line.price.allowances = ()
    if discounts and not (gross_amount is absent and gross is absent):
        line.gross_price = GrossPrice(
            amount=UnitPrice(f"{gross:f}") if gross_amount is absent else gross_amount,
            base_quantity=line.price.base_quantity,
            allowances=discounts,
        )
    for discount in line.gross_price.allowances:
        _mark_as_allowance(discount)
        discount.base_amount = absent


def _price_to_ubl(line: Line) -> None:
    """Move the gross price to the discount. If CII has no discount, it is the gross price minus the net price.

    UBL has one base quantity, so a gross price with another base quantity is omitted.
    """
    gross, line.gross_price = line.gross_price, absent
    if gross is absent or line.price is absent or not _have_same_base(gross, line.price):
        return
    discount = _one_discount(gross.allowances)
    difference = gross.amount.number - line.price.net.number
    if discount.amount is absent and difference is not absent:
        discount.amount = UnitPrice(f"{difference:f}")
    if discount.amount.number < 0:
        return  # a surcharge on the price, which EN 16931 does not have
    discount.base_amount = gross.amount
    if line.price.base_quantity is absent:
        line.price.base_quantity = gross.base_quantity
    line.price.allowances = [discount]


def _have_same_base(gross: GrossPrice, net: Price) -> bool:
    numbers = [Decimal(1) if it is absent else it.number for it in (gross.base_quantity, net.base_quantity)]
    return bool(numbers[0] == numbers[1])


def _one_discount(allowances: Sequence[PriceAllowance]) -> PriceAllowance:
    """Return the allowances and charges on a price as one discount: EN 16931 has one (BT-147)."""
    if len(allowances) == 1 and not allowances[0].is_charge:
        _mark_as_allowance(allowances[0])
        return allowances[0]
    result = PriceAllowance(indicator=Code("false"))
    total = sum(-it.amount.number if it.is_charge else it.amount.number for it in allowances)
    if allowances and total is not absent:
        result.amount = UnitPrice(f"{total:f}")
    return result


def _mark_as_allowance(discount: PriceAllowance) -> None:
    """Set the indicator, which both syntaxes require; the standard has no charges on prices."""
    if discount.indicator is absent:
        discount.indicator = Code("false")


# ---------------------------------------------------------------- BG-DEX-01: sub-lines


def _lines_to_cii(invoice: Invoice) -> None:
    invoice.lines = [line for top in invoice.lines for line in _flat(top)]


def _flat(line: Line) -> Iterator[Line]:
    sub_lines, line.lines = line.lines, ()
    yield line
    for inner in sub_lines:
        if line.identifier is not absent:
            inner.parent_line = Identifier(line.identifier.raw)
        yield from _flat(inner)


_DEEPEST: Final = 50  # levels of sub-lines; also bounds cycles of parent lines


def _lines_to_ubl(invoice: Invoice) -> None:
    numbered = {line.identifier.text: line for line in reversed(invoice.lines) if line.identifier is not absent}
    parents = {id(line): numbered.get(line.parent_line.text) for line in invoice.lines}
    top: list[Line] = []
    sub_lines: defaultdict[int, list[Line]] = defaultdict(list)
    for line in invoice.lines:
        parent = parents[id(line)]
        if parent is None or not _has_top(line, parents):
            top.append(line)
        else:
            line.parent_line = absent
            sub_lines[id(parent)].append(line)
    for line in invoice.lines:
        line.lines = [*line.lines, *sub_lines[id(line)]]
    invoice.lines = top


def _has_top(line: Line, parents: dict[int, Line | None]) -> bool:
    """Return whether the parents of `line` end at a top-level line; they may form a cycle."""
    ancestor: Line | None = line
    for _ in range(_DEEPEST):
        if ancestor is None:
            return True
        ancestor = parents[id(ancestor)]
    return False


# ---------------------------------------------------------------- terms of one syntax only


def _dated(periods: Iterable[Period]) -> list[Period]:
    """Return the first period with a date: CII has one period, without a tax point code."""
    return [it for it in periods if it.start is not absent or it.end is not absent][:1]


def _item_to_ubl(line: Line) -> None:
    """Add an item to a line that has VAT but no item: UBL puts the VAT of a line in its item."""
    if line.taxes and line.item is absent:
        line.item = Item()


_NOT_AVAILABLE: Final = "NA"  # Peppol's purchase order if there is only a sales order; mandatory in the UBL schema


def _order_to_cii(invoice: Invoice) -> None:
    if invoice.purchase_order.text == _NOT_AVAILABLE and invoice.sales_order is not absent:
        invoice.purchase_order = absent


def _order_to_ubl(invoice: Invoice) -> None:
    if invoice.purchase_order is absent and invoice.sales_order is not absent:
        invoice.purchase_order = Identifier(_NOT_AVAILABLE)


def _tax_totals_to_ubl(invoice: Invoice) -> None:
    """Put the VAT total in the invoice currency first.

    If it is missing and there is a VAT breakdown, create it: UBL nests the breakdown in this total.
    """
    totals = [total for total in invoice.tax_totals if _in_invoice_currency(total, invoice)]
    if invoice.vat_breakdown and not totals:
        amount = sum(part.tax_amount.number for part in invoice.vat_breakdown)
        totals = [TaxTotal() if amount is absent else TaxTotal(amount=Amount(f"{amount:f}"))]
    invoice.tax_totals = [*totals, *(total for total in invoice.tax_totals if not _in_invoice_currency(total, invoice))]


def _in_invoice_currency(total: TaxTotal, invoice: Invoice) -> bool:
    currency = total.amount.currency
    return currency is absent or invoice.currency is absent or currency == invoice.currency.text


# ---------------------------------------------------------------- lines and invoice


def all_lines(invoice: Invoice) -> Iterable[Line]:
    """Return the lines, each followed by its sub-lines."""
    return [line for top in invoice.lines for line in _with_sub_lines(top)]


def _with_sub_lines(line: Line) -> Iterator[Line]:
    yield line
    for inner in line.lines:
        yield from _with_sub_lines(inner)


def _line_to_cii(line: Line) -> None:
    line.periods = _dated(line.periods)
    _line_documents_to_cii(line)
    _price_to_cii(line)


def _line_to_ubl(line: Line) -> None:
    _line_documents_to_ubl(line)
    _price_to_ubl(line)
    _item_to_ubl(line)


def _is_extended(invoice: Invoice) -> bool:
    """Whether an invoice declares Factur-X EXTENDED, whose schema, D22B, repeats the preceding invoice."""
    declared = (it for it in specifications().values() if it.facturx_profile == "extended")
    return any(invoice.specification.text in it.identifiers for it in declared)


def _invoice_to_cii(invoice: Invoice) -> None:
    invoice.periods = _dated(invoice.periods)
    if not _is_extended(invoice):
        invoice.preceding_invoices = invoice.preceding_invoices[:1]
    invoice.deliveries = [*invoice.deliveries, Delivery()][:1]  # required by the schema; refers to the advices
    if invoice.totals is absent and invoice.tax_totals:
        invoice.totals = Totals()  # contains the VAT totals
    _order_to_cii(invoice)
    _lines_to_cii(invoice)


def _invoice_to_ubl(invoice: Invoice) -> None:
    _order_to_ubl(invoice)
    _tax_totals_to_ubl(invoice)
    _lines_to_ubl(invoice)


GROUPS: Final = (
    ConvertedGroups(lambda invoice: invoice.notes, _note_to_cii, _note_to_ubl),
    ConvertedGroups(parties, _identifiers_to_cii, _identifiers_to_ubl),
    ConvertedGroups(_contacts, unchanged, _contact_to_ubl),
    ConvertedGroups(_registrations, unchanged, _registration_to_ubl),
    ConvertedGroups(lambda invoice: invoice.deliveries, _location_to_cii, _location_to_ubl),
    ConvertedGroups(lambda invoice: invoice.payment_means, _means_to_cii, _means_to_ubl),
    ConvertedGroups(lambda invoice: invoice.documents, _document_to_cii, _document_to_ubl),
    ConvertedGroups(all_lines, _line_to_cii, _line_to_ubl),
    ConvertedGroups(lambda invoice: (invoice,), _invoice_to_cii, _invoice_to_ubl),
)
