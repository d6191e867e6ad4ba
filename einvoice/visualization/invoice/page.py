"""The invoice page: shows every value of an invoice on A4."""

from __future__ import annotations

import datetime
import pkgutil

from einvoice.model.invoice import Invoice
from einvoice.result.languages import Language
from einvoice.visualization.glyphs import REPLACEMENT
from einvoice.visualization.invoice import header
from einvoice.visualization.invoice.accent import accent_css
from einvoice.visualization.invoice.context import PageContext
from einvoice.visualization.invoice.down_payments import down_payments
from einvoice.visualization.invoice.lines import invoice_lines
from einvoice.visualization.invoice.logo import data_uri
from einvoice.visualization.invoice.payment import payment
from einvoice.visualization.invoice.remaining_terms import documents, remaining_terms
from einvoice.visualization.invoice.totals import allowances_and_charges, totals, vat
from einvoice.visualization.markup import EMPTY, Markup, join, tag
from einvoice.visualization.text import html_document, plain_text
from einvoice.visualization.typesetting import render


def invoice_pdf(
    invoice: Invoice,
    lang: Language = "de",
    *,
    logo: bytes | None = None,
    accent: str | None = None,
    when: datetime.datetime | None = None,
) -> bytes:
    """Render an invoice as PDF; see `einvoice.visualization.invoice_pdf`."""
    context = PageContext(invoice, lang)
    html = invoice_html(context, logo)
    return render(
        html,
        lang=lang,
        title=header.title(context),
        author=context.text(invoice.seller.name),
        description=" · ".join(filter(None, (header.title(context), context.text(invoice.seller.name)))),
        css=style(context) + (accent_css(accent) if accent else ""),
        compact_css=[_css(f"{name}.css") for name in ("compact", "dense")],
        when=when or _noon(invoice),
    )


def invoice_document(invoice: Invoice, lang: Language) -> str:
    """Render an invoice as an HTML document; see `einvoice.visualization.invoice_html`."""
    context = PageContext(invoice, lang)
    html = invoice_html(context)
    return html_document(html, lang=lang, title=header.title(context), css=style(context))


def invoice_text(invoice: Invoice, lang: Language, width: int) -> str:
    """Render an invoice as plain text; see `einvoice.visualization.invoice_text`."""
    return plain_text(invoice_html(PageContext(invoice, lang)), width)


def invoice_html(context: PageContext, logo: bytes | None = None) -> Markup:
    """Return the page as HTML, without the style."""
    parts = [
        header.header(context, data_uri(logo) if logo else ""),
        header.notes(context),
        invoice_lines(context),
        allowances_and_charges(context),
        totals(context),
        vat(context),
        down_payments(context),
        payment(context),
        header.parties(context),
        documents(context),
    ]
    html = join(*parts, remaining_terms(context))
    missing = tag("p", context.label("unshown"), class_="small") if REPLACEMENT in html else EMPTY
    return join(html, missing)


def style(context: PageContext) -> str:
    """Return the CSS, with the labels of the page footer."""
    return _css("invoice.css").replace("PAGE_WORD", context.label("page")).replace("PAGES_WORD", context.label("pages"))


def _noon(invoice: Invoice) -> datetime.datetime | None:
    day = invoice.issue_date.value
    if not isinstance(day, datetime.date):
        return None
    return datetime.datetime.combine(day, datetime.time(12), datetime.UTC)


def _css(name: str) -> str:
    data = pkgutil.get_data("einvoice.visualization.invoice", name)
    if data is None:
        raise FileNotFoundError(f"{name} is missing from the package einvoice. Reinstall einvoice.")
    return data.decode()
