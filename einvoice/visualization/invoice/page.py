"""The readable invoice: everything that an invoice says, on A4, for people."""

from __future__ import annotations

import datetime
import pkgutil

from einvoice.model.invoice import Invoice
from einvoice.result.languages import Language
from einvoice.visualization.glyphs import REPLACEMENT
from einvoice.visualization.invoice import head
from einvoice.visualization.invoice.lines import invoice_lines
from einvoice.visualization.invoice.logo import data_address
from einvoice.visualization.invoice.payment import payment
from einvoice.visualization.invoice.remaining_terms import documents, rest
from einvoice.visualization.invoice.sheet import Sheet
from einvoice.visualization.invoice.totals import extras, totals, vat
from einvoice.visualization.markup import EMPTY, Markup, join, tag
from einvoice.visualization.typesetting import render


def invoice_pdf(
    invoice: Invoice, lang: Language = "de", *, logo: bytes | None = None, when: datetime.datetime | None = None
) -> bytes:
    """The invoice as a PDF that people can read: A4, PDF/A-3a and PDF/UA-1.

    It shows every value the invoice holds. The same invoice gives the same bytes.

    Args:
        invoice: from ``einvoice.read`` or made by hand; it need not be valid.
        lang: language of labels, numbers and dates, "de" or "en".
        logo: a picture for the letterhead: PNG, JPEG, or another format that Pillow reads.
        when: when the PDF was made, with a time zone; by default noon UTC on the issue date (BT-2).

    Raises:
        MissingDependency: weasyprint, or what it needs of the system, is not installed.
        ValueError: the logo is no picture.
    """
    sheet = Sheet(invoice, lang)
    html = invoice_html(sheet, logo)
    return render(
        html,
        lang=lang,
        title=head.title(sheet),
        author=sheet.text(invoice.seller.name),
        description=" · ".join(filter(None, (head.title(sheet), sheet.text(invoice.seller.name)))),
        css=style(sheet),
        when=when or _noon(invoice),
    )


def invoice_html(sheet: Sheet, logo: bytes | None = None) -> Markup:
    """The page as HTML, without the style."""
    parts = [
        head.head(sheet, data_address(logo) if logo else ""),
        head.notes(sheet),
        invoice_lines(sheet),
        extras(sheet),
        totals(sheet),
        vat(sheet),
        payment(sheet),
        head.parties(sheet),
        documents(sheet),
    ]
    html = join(*parts, rest(sheet))
    missing = tag("p", sheet.word("unshown"), class_="small") if REPLACEMENT in html else EMPTY
    return join(html, missing)


def style(sheet: Sheet) -> str:
    """The style of the page, with the words of its footer."""
    data = pkgutil.get_data("einvoice.visualization.invoice", "invoice.css")
    if data is None:
        raise FileNotFoundError("invoice.css is missing from the package einvoice. Reinstall einvoice.")
    return data.decode().replace("PAGE_WORD", sheet.word("page")).replace("PAGES_WORD", sheet.word("pages"))


def _noon(invoice: Invoice) -> datetime.datetime | None:
    day = invoice.issue_date.value
    if not isinstance(day, datetime.date):
        return None
    return datetime.datetime.combine(day, datetime.time(12), datetime.UTC)
