"""What it comes to: allowances and charges on the whole invoice, the totals, and the VAT."""

from __future__ import annotations

from typing import Any, Final

from einvoice.visualization.invoice.lines import cell, less, reasons, signed
from einvoice.visualization.invoice.sheet import Row, Sheet, section
from einvoice.visualization.markup import EMPTY, Markup, tag

_BEFORE_VAT: Final = ("line_net", "allowances", "charges", "net")
_AFTER_VAT: Final = ("gross", "paid", "rounding")
#: What is taken off; the invoice says it without a minus.
_TAKEN_OFF: Final = ("allowances", "paid")


def table(heads: list[tuple[str, str]], rows: list[Markup], class_: str = "plain") -> Markup:
    """A table with a repeated head; ``heads`` are texts with the class of their column."""
    cells = [cell("th", text, kind, scope="col") for text, kind in heads]
    return tag("table", tag("thead", tag("tr", *cells)), tag("tbody", *rows), class_=class_)


def extras(sheet: Sheet) -> Markup:
    """The allowances and charges on the whole invoice."""
    rows = [_extra(sheet, it) for it in sheet.invoice.allowances_and_charges]
    if not rows:
        return EMPTY
    heads = [
        (sheet.word("reason"), ""),
        (sheet.word("base"), "n"),
        (sheet.word("BT-119"), "n"),
        (sheet.word("BT-151"), "n"),
        (_money(sheet, "BT-131"), "n"),
    ]
    return section(sheet.word("extras"), table(heads, rows, "plain extras"))


def _extra(sheet: Sheet, extra: Any) -> Markup:
    sheet.seen(extra.indicator, *(tax.scheme for tax in extra.taxes if tax.is_vat))
    kind = sheet.word("charge" if extra.is_charge else "allowance")
    why = reasons(sheet, extra)
    vat = ["\u00a0".join(filter(None, (sheet.text(it.rate), sheet.text(it.category)))) for it in extra.taxes]
    return tag(
        "tr",
        tag("td", f"{kind}: {why}" if why else kind),
        tag("td", sheet.text(extra.base_amount), class_="n"),
        tag("td", sheet.text(extra.percentage), class_="n"),
        tag("td", "; ".join(vat), class_="n"),
        tag("td", signed(sheet, extra), class_="n"),
    )


def totals(sheet: Sheet) -> Markup:
    """The sums, with what is to be paid at the end."""
    invoice = sheet.invoice
    rows = _sums(sheet, invoice.totals, _BEFORE_VAT)
    for total in invoice.tax_totals:
        rows += sheet.rows(total, "amount")
    rows += _sums(sheet, invoice.totals, _AFTER_VAT)
    rows += _third_parties(sheet)
    body = [tag("tr", tag("th", key, scope="row"), tag("td", text, class_="n")) for key, text in rows]
    if due := sheet.text(invoice.totals.due, currency=True):
        name = tag("th", sheet.word("BT-115"), scope="row")
        body.append(tag("tr", name, tag("td", due, class_="n"), class_="due"))
    return tag("table", tag("tbody", *body), class_="totals") if body else EMPTY


def _sums(sheet: Sheet, sums: Any, names: tuple[str, ...]) -> list[Row]:
    rows = []
    for name in names:
        rows += [(key, less(text) if name in _TAKEN_OFF else text) for key, text in sheet.rows(sums, name)]
    return rows


def _third_parties(sheet: Sheet) -> list[Row]:
    rows = []
    for payment in sheet.invoice.third_party_payments:
        key = ", ".join(filter(None, (sheet.text(payment.type), sheet.text(payment.description))))
        rows.append((key or sheet.word("third_party"), sheet.text(payment.amount)))
    return rows


def vat(sheet: Sheet) -> Markup:
    """The VAT by category and rate, with why something is exempt."""
    rows = [_breakdown(sheet, it) for it in sheet.invoice.vat_breakdown]
    if not rows:
        return EMPTY
    heads = [
        (sheet.word("BT-118"), ""),
        (sheet.word("BT-119"), "n"),
        (_money(sheet, "BT-116"), "n"),
        (_money(sheet, "BT-117"), "n"),
    ]
    return section(sheet.word("vat"), table(heads, rows, "plain vat"))


def _breakdown(sheet: Sheet, part: Any) -> Markup:
    if part.is_vat:
        sheet.seen(part.scheme)
    code = sheet.text(part.category)
    words = sheet.code("vat_categories", code) if code else ""
    meant = words.removesuffix(f" ({code})")
    reason = [sheet.text(part.exemption_reason), sheet.text(part.exemption_reason_code, "exemption_reasons")]
    why = ", ".join(filter(None, reason))
    return tag(
        "tr",
        tag("td", code if meant == code else f"{code} – {meant}", tag("p", why, class_="small") if why else EMPTY),
        tag("td", sheet.text(part.rate), class_="n"),
        tag("td", sheet.text(part.taxable_amount), class_="n"),
        tag("td", sheet.text(part.tax_amount), class_="n"),
    )


def _money(sheet: Sheet, number: str) -> str:
    return f"{sheet.word(number)} {sheet.currency}".strip()
