"""The end of the invoice page: supporting documents, and all values not shown before."""

from __future__ import annotations

from typing import Final

from einvoice.model.lines import Document
from einvoice.model.terms import section as section_of
from einvoice.visualization.invoice.context import PageContext, Row, key_value_table, section
from einvoice.visualization.invoice.totals import table
from einvoice.visualization.markup import EMPTY, Markup, tag

#: Fields specific to a syntax, whose meaning the page already shows.
_SYNTAX_FIELDS: Final = ("indicator", "scheme", "parent_line")


def documents(context: PageContext) -> Markup:
    """Return the supporting documents and the invoiced object."""
    rows = [_document(context, it) for it in context.invoice.documents]
    if not rows:
        return EMPTY
    heads = [(context.label(number), "") for number in ("BT-122", "BT-123", "BT-124", "BT-125")]
    return section(context.label("attachments"), table(heads, rows))


def _document(context: PageContext, document: Document) -> Markup:
    identifier = context.text(document.identifier)
    number = document.identifier_term
    context.mark_shown(document.type_code)
    kind = context.text(document.reference_type)
    name = identifier if number == "BT-122" else f"{context.label(number)}: {identifier}"
    return tag(
        "tr",
        tag("td", f"{name} ({kind})" if kind else name),
        *(tag("td", context.text(it)) for it in (document.description, document.location, document.attachment)),
    )


def remaining_terms(context: PageContext) -> Markup:
    """Return all values not shown before, with the names of their business terms."""
    rows: list[Row] = context.rows(context.invoice, "currency", "tax_currency", "business_process", "specification")
    for it in list(context.unshown()):
        if it.field in _SYNTAX_FIELDS:
            continue
        name = context.label(it.number) if it.number else it.field.replace("_", " ")
        group = section_of(it.number, context.lang)
        rows.append((name if group == section_of("", context.lang) else f"{group}: {name}", context.text(it.value)))
    return section(context.label("more"), key_value_table(rows, "facts wide"), class_="more")
