"""The end of the invoice page: supporting documents, values not shown before, and content beyond EN 16931."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any, Final

from einvoice.localization.formatting import colon
from einvoice.model.iteration import Filled
from einvoice.model.lines import Document, Line
from einvoice.model.terms import name
from einvoice.model.terms import section as section_of
from einvoice.syntax.specifications import Syntax, declared_specification
from einvoice.visualization.invoice.context import PageContext, Row, distinct, key_value_table, section
from einvoice.visualization.invoice.further_content import Leaf, leaf_label, leaf_text, name_of
from einvoice.visualization.labels import field_label
from einvoice.visualization.markup import Markup, join

_SUPPORTING: Final = "BT-122"
_SYNTAXES: Final[tuple[Syntax, ...]] = ("CII", "UBL")
_MAX_IDENTIFIER: Final = 80
"""Length (characters) up to which an identifier of a specification is one line; a longer one has a line a part."""
_PART: Final = re.compile("(?<=#)(?=urn:)")
_YEAR: Final = re.compile("[0-9]{4}")
_MAX_KEPT: Final = 10
"""Number of rows up to which a section stays on one page."""
#: Fields whose meaning the page already shows: the sign of an allowance, the tax of a number, the type of a document.
_IMPLIED: Final = ("indicator", "scheme", "parent_line")


def documents(context: PageContext) -> Markup:
    """Return the supporting documents."""
    return section(context.label("attachments"), key_value_table(_documents(context, is_attached=True), "facts wide"))


def _documents(context: PageContext, *, is_attached: bool) -> list[Row]:
    """Return the supporting documents, or else the objects and projects that the syntaxes have among them."""
    found = [it for it in context.invoice.documents if (it.identifier_term == _SUPPORTING) == is_attached]
    return [row for it in found for row in _document(context, it)]


def _document(context: PageContext, document: Document) -> list[Row]:
    """Return a document under its name: its description, or else its identifier, each once."""
    context.mark_shown(document.type_code)
    reference = " · ".join(context.reference(document))
    others = map(context.text, (document.location, document.attachment))
    text = distinct(context.text(document.description), reference, *others, separator=" · ")
    return [(context.label(document.identifier_term), text)] if text else []


def remaining_terms(context: PageContext) -> Markup:
    """Return all values not shown before with their labels, and the content that EN 16931 does not define."""
    rows = _documents(context, is_attached=False)
    rows += context.rows(context.invoice, "currency", "tax_currency")
    rows += context.coded(context.invoice, "business_process", "business_processes")
    rows += _specification(context)
    context.mark_shown(context.invoice.type_code)
    for it in list(context.unshown()):
        if it.field not in _IMPLIED:
            rows.append((_label(context, it), context.text(it.value)))
    heading = context.label("more")
    return join(
        section(heading, key_value_table(rows, "facts wide"), class_="more kept" if len(rows) <= _MAX_KEPT else "more"),
        section(context.label("further"), key_value_table(_further(context), "facts half"), class_="more"),
    )


def _specification(context: PageContext) -> list[Row]:
    """Return the specification that the invoice declares (BT-24): its name, if it is known, and its identifier."""
    identifier = context.text(context.invoice.specification)
    found = (declared_specification(it, identifier) for it in _SYNTAXES if context.invoice.syntax in ("", it))
    known = next((it for it in found if it.kind != "unknown"), None)
    title = _title(known.profile, known.version) if known else ""
    parts = _PART.sub("\n", identifier) if len(identifier) > _MAX_IDENTIFIER else identifier
    return context.row("BT-24", "\n".join(filter(None, (title, parts))))


def _title(profile: str, version: str) -> str:
    """Return the name of a specification; the edition of a norm is its year, behind a colon.

    >>> _title("EN 16931", "2017"), _title("XRechnung", "3.0")
    ('EN 16931:2017', 'XRechnung 3.0')
    """
    return f"{profile}{':' if _YEAR.fullmatch(version) else ' '}{version}".strip()


def _label(context: PageContext, it: Filled) -> str:
    """Return the label of a term with the section of the invoice, or that of a field that only one syntax has."""
    if not it.number:
        line = it.group if isinstance(it.group, Line) else it.group.parent
        place = context.label("in_line").format(line=line.identifier.text) if isinstance(line, Line) else ""
        return colon(context.lang).join(filter(None, (place, field_label(it.field, context.lang))))
    place = section_of(it.number, context.lang)
    own = context.label(it.number)
    return own if place == section_of("", context.lang) else context.named(place, own)


def _further(context: PageContext) -> Iterator[Row]:
    for group, found in context.further.unshown():
        place = _place(context, group)
        for _, parts in itertools.groupby(found, key=lambda leaf: leaf.path[0]):
            label, text = _part(context, list(parts))
            yield colon(context.lang).join(filter(None, (place, label))), text


def _part(context: PageContext, found: list[Leaf]) -> Row:
    """Return the texts of one element under its name; several ones each behind its own."""
    texts = [leaf_text(leaf, context.lang, context.currency) for leaf in found]
    if len(found) == 1:
        return leaf_label(found[0], context.lang), texts[0]
    names = [leaf_label(Leaf(leaf.path[1:] or leaf.path), context.lang) for leaf in found]
    short = [name.rpartition(colon(context.lang))[2] for name in names]
    labels = (own if short.count(own) == 1 else name for own, name in zip(short, names, strict=True))
    return name_of(found[0].path[0], context.lang), "\u00a0· ".join(map(context.named, labels, texts))


def _place(context: PageContext, group: Any) -> str:
    """Return the line or the section of the invoice that a group belongs to."""
    found = group
    while found is not None and not isinstance(found, Line):
        found = found.parent
    if found is not None:
        return context.label("in_line").format(line=found.identifier.text or "?")
    number = next(iter(group.groups), "BG-0")
    place = "" if number == "BG-0" else section_of(number, context.lang)
    return name(number, context.lang) if place == section_of("", context.lang) else place
