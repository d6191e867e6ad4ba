"""HTML of an invoice for notebooks: key facts and lines, without scripts."""

from __future__ import annotations

from html import escape
from typing import Final

from einvoice.localization import Language
from einvoice.model.invoice import Invoice
from einvoice.model.lines import Line
from einvoice.model.terms import name
from einvoice.model.values import Amount, Value, absent
from einvoice.quotation import quote

_MAX_LINES: Final = 20
_MAX_LENGTH: Final = 120

# Colours and class names as in `einvoice.render.html`.
_STYLE: Final = """
.einvoice-invoice{font-size:13px;line-height:1.45;max-width:64em}
div.einvoice-invoice.einvoice-invoice table{table-layout:auto;border-collapse:collapse;margin:.5em 0;font-size:inherit}
div.einvoice-invoice.einvoice-invoice :is(td,th){text-align:left;vertical-align:top;padding:.25em .7em;background:none;
border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent)}
div.einvoice-invoice.einvoice-invoice .number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.einvoice-invoice small{font-weight:400;white-space:nowrap}
""".replace("\n", "")


def invoice_html(invoice: Invoice, lang: Language) -> str:
    """Return the key facts and the first lines of an invoice; all content is escaped."""
    facts: tuple[tuple[str, Value], ...] = (
        ("BT-1", invoice.number),
        ("BT-2", invoice.issue_date),
        ("BT-27", invoice.seller.name),
        ("BT-31", invoice.seller.vat_identifier),
        ("BT-44", invoice.buyer.name),
        ("BT-24", invoice.specification),
        ("BT-109", invoice.totals.net),
        ("BT-110", invoice.vat_total),
        ("BT-112", invoice.totals.gross),
        ("BT-115", invoice.totals.due),
    )
    rows = "".join(_fact(number, value, lang) for number, value in facts if value is not absent)
    return (
        f'<div class="einvoice-invoice" lang="{lang}"><style>{_STYLE}</style>'
        f"<table><tbody>{rows}</tbody></table>{_lines(invoice, lang)}</div>"
    )


def _fact(number: str, value: Value, lang: Language) -> str:
    currency = value.currency or "" if isinstance(value, Amount) else ""
    return (
        f'<tr><th scope="row">{escape(name(number, lang))} <small>{number}</small></th>'
        f"<td>{_text(value)} {escape(quote(str(currency)))}</td></tr>"
    )


def _lines(invoice: Invoice, lang: Language) -> str:
    if not invoice.lines:
        return ""
    terms = {"BT-126": "", "BT-153": "", "BT-129": "number", "BT-146": "number", "BT-131": "number"}
    head = "".join(
        f'<th scope="col" class="{kind}">{escape(name(term, lang))}<br><small>{term}</small></th>'
        for term, kind in terms.items()
    )
    rows = "".join(_line(line) for line in invoice.lines[:_MAX_LINES])
    omitted = len(invoice.lines) - _MAX_LINES
    rows += f'<tr><td colspan="{len(terms)}">… + {omitted}</td></tr>' if omitted > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _line(line: Line) -> str:
    unit = escape(quote(str(line.quantity.unit)))
    return (
        f"<tr><td>{_text(line.identifier)}</td><td>{_text(line.item.name)}</td>"
        f'<td class="number">{_text(line.quantity)} {unit}</td><td class="number">{_text(line.price.net)}</td>'
        f'<td class="number">{_text(line.net_amount)}</td></tr>'
    )


def _text(value: Value) -> str:
    return escape(quote(str(value), limit=_MAX_LENGTH))
