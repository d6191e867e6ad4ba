"""The header of the invoice page (letterhead, address, invoice data, notes), and the parties at the end of the page."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from einvoice.localization.formatting import colon
from einvoice.model.terms import name
from einvoice.model.values import absent
from einvoice.rulebook.functions.plausibility import has_form_of_leitweg_id
from einvoice.visualization.invoice import meaning
from einvoice.visualization.invoice.context import PageContext, Row, address, key_value_table, section
from einvoice.visualization.invoice.down_payments import deducted, down_payment_note, is_final
from einvoice.visualization.markup import EMPTY, Markup, join, lines, tag

#: Scheme that marks the creditor identifier (BT-90) among a party's identifiers in UBL.
SEPA: Final = "SEPA"

_COLUMN: Final = 31
"""Length of the longest word that fits beside its label into half of the page (characters)."""
_SEVERAL_PAGES: Final = 40
"""Number of lines above which the totals are so far behind that the amount due is also at the beginning."""
_IDENTIFIERS: Final = ("identifiers", "global_identifiers")
_REFERENCES: Final = (
    "purchase_order",
    "sales_order",
    "contract",
    "project",
    "despatch_advice",
    "receiving_advice",
    "tender",
    "accounting_reference",
)


class _Block(NamedTuple):
    """A block about a party, and whether it needs the whole width of the page."""

    html: Markup
    is_wide: bool


def title(context: PageContext) -> str:
    """Return the title of the page, such as "Rechnung R-2026-1", with a mark such as "(Test)"."""
    marked = ", ".join(context.label(f"{mark}_title") for mark in meaning.marks(context))
    name = f"{kind(context)} {context.text(context.invoice.number)}".strip()
    return f"{name} ({marked})" if marked else name


def kind(context: PageContext) -> str:
    """Return the name of the document type (BT-3); an invoice paid in part by down payments is a final one."""
    code = context.invoice.type_code
    name = context.text(code, "invoice_types") if code.text else context.code("invoice_types", "380")
    return context.label("final_invoice") if is_final(context) else name


def header(context: PageContext, logo: str = "") -> Markup:
    """Return the letterhead, address field and invoice data. The buyer sends a self-billed invoice to the seller."""
    parties: list[Any] = [context.invoice.seller, context.invoice.buyer]
    issuer, recipient = reversed(parties) if context.is_self_billed else parties
    sender = context.text(issuer.name)
    sender_address = address(context, issuer.address)
    image = Markup(f'<img class="logo" alt="{context.label("logo")}" src="{logo}"/>') if logo else EMPTY
    name = tag("p", tag("strong", sender), class_="name", data_footer=_footer(context, issuer, sender))
    letterhead = tag("div", image, name, tag("p", " · ".join(sender_address)), class_="from")
    window = tag(
        "div",
        tag("p", " · ".join((sender, *sender_address[:-1])), class_="return"),
        tag("p", lines(tag("strong", context.text(recipient.name)), *address(context, recipient.address))),
        class_="to",
    )
    data = tag("div", key_value_table(_data(context)), class_="data")
    heading = tag("h1", title(context))
    return join(letterhead, tag("div", window, data, class_="top"), heading, meaning.of_document(context))


def _footer(context: PageContext, issuer: Any, sender: str) -> str:
    """Return the footer of every page: the sender and its VAT identifier or tax number."""
    for number, value in (("BT-31", issuer.vat_identifier), ("BT-32", getattr(issuer, "tax_number", absent))):
        if text := context.text(value, scheme=False):
            return f"{sender} · {context.label(number)} {text}"
    return sender


def _data(context: PageContext) -> list[Row]:
    """Return dates and references."""
    invoice = context.invoice
    rows = [*context.rows(invoice, "number", "issue_date"), *due_dates(context)]
    if len(invoice.lines) > _SEVERAL_PAGES:
        rows += context.rows(invoice.totals, "due", currency=True)
    for delivery in invoice.deliveries:
        rows += context.rows(delivery, "date")
    for period in invoice.periods:
        rows += context.row("BT-73", context.period(period.start, period.end))
    rows += _tax_point(context)
    rows += _buyer_reference(context)
    rows += context.rows(invoice, *_REFERENCES)
    for group in (invoice, *invoice.deliveries):
        notes = context.further_rows(group, "DeliveryNoteReferencedDocument")
        rows += [(label.partition(colon(context.lang))[0], text) for label, text in notes]
    in_table = [(it.number, it.issued) for it in deducted(context)]
    for earlier in invoice.preceding_invoices:
        number, dated = context.text(earlier.number), context.text(earlier.issue_date)
        if (earlier.number.text, earlier.issue_date.date) not in in_table:
            rows += context.row("BT-25", number, f"{context.label('dated')}\u00a0{dated}" if dated else "")
    return rows


def _buyer_reference(context: PageContext) -> list[Row]:
    text = context.text(context.invoice.buyer_reference)
    return context.row("leitweg_id" if has_form_of_leitweg_id(text) else "BT-10", text)


def due_dates(context: PageContext) -> list[Row]:
    """Return the due dates, which the syntaxes store in three places."""
    invoice = context.invoice
    discounts = meaning.discount_terms(context)
    dates = [invoice.due_date, *(it.due_date for it in invoice.payment_terms if it not in discounts)]
    dates += [it.due_date for it in invoice.payment_means]
    return context.row("BT-9", "; ".join(dict.fromkeys(filter(None, map(context.text, dates)))))


def _tax_point(context: PageContext) -> list[Row]:
    invoice = context.invoice
    dates = [invoice.tax_point_date, *(it.tax_point_date for it in invoice.vat_breakdown)]
    codes = [it.tax_point_code for it in invoice.periods] + [it.tax_point_code for it in invoice.vat_breakdown]
    texts = [*map(context.text, dates), *(context.text(it, "tax_point_codes") for it in codes)]
    return context.row("BT-7", "; ".join(dict.fromkeys(filter(None, texts))))


def notes(context: PageContext) -> Markup:
    """Return the notes on the whole invoice, without the one that `down_payments` shows as a table."""
    table = down_payment_note(context)
    blocks = [context.note(it.subject_code, it.text) for it in context.invoice.notes if it is not table]
    return tag("div", *blocks, class_="notes") if any(blocks) else EMPTY


def parties(context: PageContext) -> Markup:
    """Return further data about the parties and deliveries."""
    invoice = context.invoice
    blocks = [
        _party(context, "BG-4", invoice.seller, in_header=True),
        _party(context, "BG-7", invoice.buyer, in_header=True),
        _party(context, "BG-10", invoice.payee),
        _party(context, "BG-11", invoice.tax_representative),
        *(_delivery(context, it) for it in invoice.deliveries),
    ]
    content = [it for it in blocks if it]
    return section(context.label("parties"), _in_pairs(content)) if content else EMPTY


def _in_pairs(blocks: list[_Block]) -> Markup:
    """Arrange blocks in two columns; one with a longer word than a column takes the whole width."""
    rows: list[list[_Block]] = []
    for block in blocks:
        if not block.is_wide and rows and len(rows[-1]) == 1 and not rows[-1][0].is_wide:
            rows[-1].append(block)
        else:
            rows.append([block])
    return join(
        *(tag("div", *(it.html for it in row), class_="pair wide" if row[0].is_wide else "pair") for row in rows)
    )


def _block(title: str, paragraph: list[str], rows: list[Row]) -> _Block | None:
    if not rows and not any(paragraph):
        return None
    longest = max((len(word) for _, text in rows for word in text.split()), default=0)
    text = tag("p", lines(*paragraph)) if any(paragraph) else EMPTY
    return _Block(tag("div", tag("h3", title), text, key_value_table(rows), class_="block"), longest > _COLUMN)


def _party(context: PageContext, number: str, party: Any, *, in_header: bool = False) -> _Block | None:
    """Return a block about a party; with `in_header`, name and address are already in the header.

    The header of a self-billed invoice does not tell who is who: there the name is repeated.
    """
    if not party:
        return None
    name_and_address = [] if in_header and not context.is_self_billed else [context.text(party.name)]
    if not in_header:
        name_and_address += address(context, getattr(party, "address", absent))
    rows = context.rows(party, "trading_name", "legal_identifier")
    for registration in getattr(party, "tax_registrations", ()):
        context.mark_shown(registration.scheme)  # the label tells the tax
        rows += context.rows(registration, "identifier", scheme=False)
    identifiers = [it for name in _IDENTIFIERS for it in getattr(party, name, ()) if (it.scheme or "") != SEPA]
    named: dict[str, list[str]] = {}
    for it in identifiers:  # a number with a scheme, such as a GLN, is no customer number
        named.setdefault(context.label("BT-29") if it.scheme else context.label_of(it), []).append(context.text(it))
    rows += [(label, "; ".join(filter(None, texts))) for label, texts in named.items() if any(texts)]
    rows += context.rows(party, "electronic_address")
    rows += _contact(context, getattr(party, "contact", absent))
    rows += context.rows(party, "legal_information")
    return _block(name(number, context.lang), name_and_address, rows)


def _contact(context: PageContext, contact: Any) -> list[Row]:
    names = [it for it in (contact.name, contact.department) if it]
    text = ", ".join(filter(None, map(context.text, names)))
    return ([(context.label_of(names[0]), text)] if text else []) + context.rows(contact, "telephone", "email")


def _delivery(context: PageContext, delivery: Any) -> _Block | None:
    name_and_address = [context.text(delivery.party_name), *address(context, delivery.address)]
    rows = context.rows(delivery, "location_identifier", "global_location_identifier")
    return _block(context.label("delivery"), name_and_address, rows)
