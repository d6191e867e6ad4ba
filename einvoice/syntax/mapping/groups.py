"""Groups that UBL and CII both have, but not in the same form.

Sources: EN 16931-3-2 (UBL) and EN 16931-3-3 (CII); for what an XML schema demands beyond them, that schema.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from einvoice.model.group import first
from einvoice.model.invoice import Invoice, Note
from einvoice.model.lines import Document, GrossPrice, Item, Line, Period
from einvoice.model.money import CreditTransfer, PaymentMeans, PriceAllowance, TaxTotal
from einvoice.model.parties import Contact, Delivery
from einvoice.model.totals import Totals
from einvoice.model.values import Amount, Code, Identifier, Text, UnitPrice, absent
from einvoice.syntax.mapping.values import restated


class Shape(NamedTuple):
    """One kind of group: which ones, and how each is brought into the form of either syntax."""

    where: Callable[[Invoice], Iterable[Any]]
    to_cii: Callable[[Any], None]
    to_ubl: Callable[[Any], None]


def _as_it_is(group: Any) -> None:
    """The syntax takes either form."""


def _present(*groups: Any) -> list[Any]:
    return [group for group in groups if group is not absent]


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


def _parties(invoice: Invoice) -> Iterable[Any]:
    return _present(invoice.seller, invoice.buyer, invoice.payee)


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
    return _present(*(party.contact for party in _present(invoice.seller, invoice.buyer)))


def _contact_to_ubl(contact: Contact) -> None:
    if contact.name is absent:
        contact.name = contact.department


def _registrations(invoice: Invoice) -> Iterable[Any]:
    parties = _present(invoice.seller, invoice.buyer, invoice.tax_representative)
    return [registration for party in parties for registration in party.tax_registrations]


def _registration_to_ubl(registration: Any) -> None:
    """The scheme that CII has beside the number stands in an element of its own."""
    if registration.identifier is not absent:
        registration.identifier = restated(registration.identifier, schemeID=None)


# ---------------------------------------------------------------- BT-84, BT-86: account and bank

_IBAN: Final = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")


def _means_to_cii(means: PaymentMeans) -> None:
    account = means.credit_transfer
    if account.identifier is absent or account.proprietary_identifier is not absent:
        return
    if not _IBAN.fullmatch("".join(account.identifier.text.split()).upper()):
        account.proprietary_identifier, account.identifier = account.identifier, absent


def _means_to_ubl(means: PaymentMeans) -> None:
    """UBL has the bank inside the account, even if there is no number of an account."""
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
        document.identifier = restated(document.identifier, schemeID=None)


def _document_to_ubl(document: Document) -> None:
    """UBL has a type on the invoiced object (130) and on a credit note's project (50) alone."""
    if document.type_code.text == "130":
        if document.identifier is not absent and document.reference_type is not absent:
            document.identifier = restated(document.identifier, schemeID=document.reference_type.text)
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
    """CII has the discount below the gross price, which is net price plus discount where UBL leaves it out."""
    discounts = line.price.allowances
    given = first(discount.base_amount for discount in discounts if discount.base_amount is not absent)
    gross = line.price.net.number + sum(discount.amount.number for discount in discounts)
    if discounts:
        line.price.allowances = ()
    if discounts and not (given is absent and gross is absent):
        line.gross_price = GrossPrice(
            amount=UnitPrice(f"{gross:f}") if given is absent else given,
            base_quantity=line.price.base_quantity,
            allowances=discounts,
        )
    for discount in line.gross_price.allowances:
        _lowers_the_price(discount)
        discount.base_amount = absent


def _price_to_ubl(line: Line) -> None:
    """UBL has the gross price below the discount, which is gross minus net price where CII leaves it out.

    It has one base quantity, so a gross price for another one has no place in it.
    """
    gross, line.gross_price = line.gross_price, absent
    if gross is absent or line.price is absent or gross.base_quantity.number != line.price.base_quantity.number:
        return
    discounts = list(gross.allowances) or [PriceAllowance()]
    difference = gross.amount.number - line.price.net.number
    for discount in discounts:
        _lowers_the_price(discount)
    if discounts[0].amount is absent and difference is not absent:
        discounts[0].amount = UnitPrice(f"{difference:f}")
    discounts[0].base_amount = gross.amount
    if line.price.base_quantity is absent:
        line.price.base_quantity = gross.base_quantity
    line.price.allowances = discounts


def _lowers_the_price(discount: PriceAllowance) -> None:
    """The norm has no charge on a price, so an allowance need not say that it is one; both syntaxes want it said."""
    if discount.indicator is absent:
        discount.indicator = Code("false")


# ---------------------------------------------------------------- BG-DEX-01: lines below lines


def _lines_to_cii(invoice: Invoice) -> None:
    invoice.lines = [line for top in invoice.lines for line in _flat(top)]


def _flat(line: Line) -> Iterator[Line]:
    below, line.lines = line.lines, ()
    yield line
    for inner in below:
        if line.identifier is not absent:
            inner.parent_line = Identifier(line.identifier.raw)
        yield from _flat(inner)


_DEEPEST: Final = 50  # so many lines below each other; a document that nests deeper is no invoice


def _lines_to_ubl(invoice: Invoice) -> None:
    numbered = {line.identifier.text: line for line in reversed(invoice.lines) if line.identifier is not absent}
    above = {id(line): numbered.get(line.parent_line.text) for line in invoice.lines}
    top: list[Line] = []
    below: defaultdict[int, list[Line]] = defaultdict(list)
    for line in invoice.lines:
        parent = above[id(line)]
        if parent is None or not _ends(line, above):
            top.append(line)
        else:
            line.parent_line = absent
            below[id(parent)].append(line)
    for line in invoice.lines:
        line.lines = [*line.lines, *below[id(line)]]
    invoice.lines = top


def _ends(line: Line, above: dict[int, Line | None]) -> bool:
    """Whether the lines above ``line`` come to an end: they may as well name each other."""
    place: Line | None = line
    for _ in range(_DEEPEST):
        if place is None:
            return True
        place = above[id(place)]
    return False


# ---------------------------------------------------------------- what only one syntax has room for


def _dated(periods: Iterable[Period]) -> list[Period]:
    """The first of the periods that have a day: CII has one period, and no code of the tax point in it."""
    return [it for it in periods if it.start is not absent or it.end is not absent][:1]


def _item_to_ubl(line: Line) -> None:
    """UBL has the VAT of a line inside its item."""
    if line.taxes and line.item is absent:
        line.item = Item()


_NOT_GIVEN: Final = "NA"  # Peppol's word for the purchase order that UBL's schema wants beside a sales order


def _order_to_cii(invoice: Invoice) -> None:
    if invoice.purchase_order.text == _NOT_GIVEN and invoice.sales_order is not absent:
        invoice.purchase_order = absent


def _order_to_ubl(invoice: Invoice) -> None:
    if invoice.purchase_order is absent and invoice.sales_order is not absent:
        invoice.purchase_order = Identifier(_NOT_GIVEN)


def _tax_totals_to_ubl(invoice: Invoice) -> None:
    """UBL has the VAT breakdown below the total in the invoice's currency, and its schema wants that total."""
    own = [total for total in invoice.tax_totals if _is_own(total, invoice)]
    if invoice.vat_breakdown and not own:
        amount = sum(part.tax_amount.number for part in invoice.vat_breakdown)
        own = [TaxTotal() if amount is absent else TaxTotal(amount=Amount(f"{amount:f}"))]
    invoice.tax_totals = [*own, *(total for total in invoice.tax_totals if not _is_own(total, invoice))]


def _is_own(total: TaxTotal, invoice: Invoice) -> bool:
    currency = total.amount.currency
    return currency is absent or invoice.currency is absent or currency == invoice.currency.text


# ---------------------------------------------------------------- the whole of a line, of an invoice


def _lines(invoice: Invoice) -> Iterable[Line]:
    return [line for top in invoice.lines for line in _with_lines_below(top)]


def _with_lines_below(line: Line) -> Iterator[Line]:
    yield line
    for inner in line.lines:
        yield from _with_lines_below(inner)


def _line_to_cii(line: Line) -> None:
    line.periods = _dated(line.periods)
    _line_documents_to_cii(line)
    _price_to_cii(line)


def _line_to_ubl(line: Line) -> None:
    _line_documents_to_ubl(line)
    _price_to_ubl(line)
    _item_to_ubl(line)


def _invoice_to_cii(invoice: Invoice) -> None:
    invoice.periods = _dated(invoice.periods)
    invoice.preceding_invoices = invoice.preceding_invoices[:1]
    invoice.deliveries = [*invoice.deliveries, Delivery()][:1]  # the schema wants one; the advices stand in it
    if invoice.totals is absent and invoice.tax_totals:
        invoice.totals = Totals()  # for the VAT totals, which stand in it
    _order_to_cii(invoice)
    _lines_to_cii(invoice)


def _invoice_to_ubl(invoice: Invoice) -> None:
    _order_to_ubl(invoice)
    _tax_totals_to_ubl(invoice)
    _lines_to_ubl(invoice)


SHAPES: Final = (
    Shape(lambda invoice: invoice.notes, _note_to_cii, _note_to_ubl),
    Shape(_parties, _identifiers_to_cii, _identifiers_to_ubl),
    Shape(_contacts, _as_it_is, _contact_to_ubl),
    Shape(_registrations, _as_it_is, _registration_to_ubl),
    Shape(lambda invoice: invoice.deliveries, _location_to_cii, _location_to_ubl),
    Shape(lambda invoice: invoice.payment_means, _means_to_cii, _means_to_ubl),
    Shape(lambda invoice: invoice.documents, _document_to_cii, _document_to_ubl),
    Shape(_lines, _line_to_cii, _line_to_ubl),
    Shape(lambda invoice: (invoice,), _invoice_to_cii, _invoice_to_ubl),
)
