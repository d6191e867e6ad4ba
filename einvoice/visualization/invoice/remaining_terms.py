"""The end of the page: what is attached, and everything that no other part has shown."""

from __future__ import annotations

from typing import Final

from einvoice.model.lines import Document
from einvoice.model.terms import section as part_of
from einvoice.visualization.invoice.sheet import Row, Sheet, facts, section
from einvoice.visualization.invoice.totals import table
from einvoice.visualization.markup import EMPTY, Markup, tag

#: Fields that only serve a syntax: their words say nothing that the page does not say.
_SILENT: Final = ("indicator", "scheme", "parent_line")


def documents(sheet: Sheet) -> Markup:
    """The supporting documents, and the object that is invoiced."""
    rows = [_document(sheet, it) for it in sheet.invoice.documents]
    if not rows:
        return EMPTY
    heads = [(sheet.word(number), "") for number in ("BT-122", "BT-123", "BT-124", "BT-125")]
    return section(sheet.word("attachments"), table(heads, rows))


def _document(sheet: Sheet, document: Document) -> Markup:
    said = sheet.text(document.identifier)
    number = {"130": "BT-18", "50": "BT-17"}.get(document.type_code.text)
    sheet.seen(document.type_code)
    kind = sheet.text(document.reference_type)
    name = f"{sheet.word(number)}: {said}" if number else said
    return tag(
        "tr",
        tag("td", f"{name} ({kind})" if kind else name),
        *(tag("td", sheet.text(it)) for it in (document.description, document.location, document.attachment)),
    )


def rest(sheet: Sheet) -> Markup:
    """What nothing above has shown, each with the name that the norm gives it."""
    rows: list[Row] = sheet.rows(sheet.invoice, "currency", "tax_currency", "business_process", "specification")
    for it in list(sheet.rest()):
        if it.field in _SILENT:
            continue
        name = sheet.word(it.number) if it.number else it.field.replace("_", " ")
        part = part_of(it.number, sheet.lang)
        rows.append((name if part == part_of("", sheet.lang) else f"{part}: {name}", sheet.text(it.value)))
    return section(sheet.word("more"), facts(rows, "facts wide"), class_="more")
