"""The head of the page: who writes to whom, and the data by which the invoice is found again."""

from __future__ import annotations

from typing import Any, Final

from einvoice.model.terms import name
from einvoice.model.values import absent
from einvoice.visualization.invoice.sheet import Row, Sheet, address, facts, section
from einvoice.visualization.markup import EMPTY, Markup, join, lines, tag

#: By this scheme UBL marks the creditor identifier (BT-90) among the identifiers of a party.
SEPA: Final = "SEPA"

_IDENTIFIERS: Final = ("identifiers", "global_identifiers")
_REFERENCES: Final = (
    "buyer_reference",
    "purchase_order",
    "sales_order",
    "contract",
    "project",
    "despatch_advice",
    "receiving_advice",
    "tender",
    "accounting_reference",
)


def title(sheet: Sheet) -> str:
    """What the page is called: "Rechnung R-2026-1"."""
    return f"{kind(sheet)} {sheet.text(sheet.invoice.number)}".strip()


def kind(sheet: Sheet) -> str:
    """What kind of document it is, in words."""
    code = sheet.invoice.type_code
    return sheet.text(code, "invoice_types") if code.text else sheet.code("invoice_types", "380")


def head(sheet: Sheet, logo: str = "") -> Markup:
    """Letterhead, address, and the data of the invoice beside it."""
    invoice = sheet.invoice
    seller, buyer = invoice.seller, invoice.buyer
    sender = sheet.text(seller.name)
    own = address(sheet, seller.address)
    picture = Markup(f'<img class="logo" alt="{sheet.word("logo")}" src="{logo}">') if logo else EMPTY
    name = tag("p", tag("strong", sender), class_="name", data_footer=_footer(sheet, sender))
    letterhead = tag("div", picture, name, tag("p", lines(*own)), class_="from")
    window = tag(
        "div",
        tag("p", " · ".join((sender, *own[:-1])), class_="return"),
        tag("p", lines(tag("strong", sheet.text(buyer.name)), *address(sheet, buyer.address))),
        class_="to",
    )
    beside = tag("div", facts(_data(sheet)), class_="data")
    return join(letterhead, tag("div", window, beside, class_="top"), tag("h1", title(sheet)))


def _footer(sheet: Sheet, sender: str) -> str:
    """What stands below every page: who sends it, and under which number the tax office knows them."""
    seller = sheet.invoice.seller
    for number, value in (("BT-31", seller.vat_identifier), ("BT-32", seller.tax_number)):
        if text := sheet.text(value):
            return f"{sender} · {sheet.word(number)} {text}"
    return sender


def _data(sheet: Sheet) -> list[Row]:
    """Dates and references, beside the address."""
    invoice = sheet.invoice
    rows = [*sheet.rows(invoice, "number", "issue_date"), *due_dates(sheet)]
    for delivery in invoice.deliveries:
        rows += sheet.rows(delivery, "date")
    for period in invoice.periods:
        rows += sheet.row("BT-73", sheet.span(period.start, period.end))
    rows += _tax_point(sheet)
    rows += sheet.rows(invoice, *_REFERENCES)
    for earlier in invoice.preceding_invoices:
        dated = sheet.text(earlier.issue_date)
        rows += sheet.row("BT-25", sheet.text(earlier.number), f"{sheet.word('dated')} {dated}" if dated else "")
    return rows


def due_dates(sheet: Sheet) -> list[Row]:
    """Until when to pay; the syntaxes keep it at three places."""
    invoice = sheet.invoice
    dates = [invoice.due_date, *(it.due_date for it in invoice.payment_terms)]
    dates += [it.due_date for it in invoice.payment_means]
    return sheet.row("BT-9", "; ".join(dict.fromkeys(filter(None, map(sheet.text, dates)))))


def _tax_point(sheet: Sheet) -> list[Row]:
    invoice = sheet.invoice
    dates = [invoice.tax_point_date, *(it.tax_point_date for it in invoice.vat_breakdown)]
    codes = [it.tax_point_code for it in invoice.periods] + [it.tax_point_code for it in invoice.vat_breakdown]
    said = [*map(sheet.text, dates), *(sheet.text(it, "tax_point_codes") for it in codes)]
    return sheet.row("BT-7", "; ".join(dict.fromkeys(filter(None, said))))


def notes(sheet: Sheet) -> Markup:
    """The notes on the whole invoice."""
    shown = [sheet.note(note.subject_code, note.text) for note in sheet.invoice.notes]
    return tag("div", *shown, class_="notes") if any(shown) else EMPTY


def parties(sheet: Sheet) -> Markup:
    """What else there is to say of those who take part."""
    invoice = sheet.invoice
    blocks = [
        _party(sheet, "BG-4", invoice.seller, named=True),
        _party(sheet, "BG-7", invoice.buyer, named=True),
        _party(sheet, "BG-10", invoice.payee),
        _party(sheet, "BG-11", invoice.tax_representative),
        *(_delivery(sheet, it) for it in invoice.deliveries),
    ]
    found = [it for it in blocks if it]
    return section(sheet.word("parties"), _beside(found)) if found else EMPTY


def _beside(blocks: list[Markup]) -> Markup:
    """Blocks, two beside each other."""
    pairs = [tag("div", *blocks[at : at + 2], class_="pair") for at in range(0, len(blocks), 2)]
    return join(*pairs)


def _party(sheet: Sheet, number: str, party: Any, *, named: bool = False) -> Markup:
    """A party, whatever of this its kind can have; ``named`` where name and address stand in the head."""
    if not party:
        return EMPTY
    where = [] if named else [sheet.text(party.name), *address(sheet, getattr(party, "address", absent))]
    rows = sheet.rows(party, "trading_name", "legal_identifier")
    for registration in getattr(party, "tax_registrations", ()):
        sheet.seen(registration.scheme)
        rows += sheet.rows(registration, "identifier")
    identifiers = [it for name in _IDENTIFIERS for it in getattr(party, name, ()) if (it.scheme or "") != SEPA]
    if said := "; ".join(filter(None, map(sheet.text, identifiers))):
        rows.append((sheet.label(identifiers[0]), said))
    rows += sheet.rows(party, "electronic_address")
    rows += _contact(sheet, getattr(party, "contact", absent))
    rows += sheet.rows(party, "legal_information")
    if not rows and not any(where):
        return EMPTY
    address_of = tag("p", lines(*where)) if any(where) else EMPTY
    return tag("div", tag("h3", name(number, sheet.lang)), address_of, facts(rows), class_="block")


def _contact(sheet: Sheet, contact: Any) -> list[Row]:
    who = [it for it in (contact.name, contact.department) if it]
    named = ", ".join(filter(None, map(sheet.text, who)))
    return ([(sheet.label(who[0]), named)] if named else []) + sheet.rows(contact, "telephone", "email")


def _delivery(sheet: Sheet, delivery: Any) -> Markup:
    where = [sheet.text(delivery.party_name), *address(sheet, delivery.address)]
    rows = sheet.rows(delivery, "location_identifier", "global_location_identifier")
    if not rows and not any(where):
        return EMPTY
    return tag("div", tag("h3", sheet.word("delivery")), tag("p", lines(*where)), facts(rows), class_="block")
