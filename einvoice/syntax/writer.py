"""From the invoice to a document: the syntax's table read from the other side, in schema order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from lxml import etree

from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.location import NAMESPACES
from einvoice.model.values import Code, Value, absent
from einvoice.syntax.mapping.binding import Row, qualified
from einvoice.syntax.mapping.placement import placed
from einvoice.syntax.mapping.tables import table
from einvoice.syntax.mapping.values import Spelling

_ROOTS = {
    "Invoice": ("UBL", "ubl:Invoice", ("cac", "cbc", "ext")),
    "CreditNote": ("UBL", "cn:CreditNote", ("cac", "cbc", "ext")),
    "CrossIndustryInvoice": ("CII", "rsm:CrossIndustryInvoice", ("rsm", "ram", "qdt", "udt")),
}


def write(invoice: Invoice, root: str) -> bytes:
    """The invoice as a document of that root: ``Invoice``, ``CreditNote`` or ``CrossIndustryInvoice``.

    An invoice that was read from such a document is written as it stood, letter by letter; any other is first put the
    way this syntax wants it, and what its schema wants besides (a VAT total above a breakdown, the gross price of a
    discount) is worked out. Nothing is judged. UTF-8, stable byte for byte; ``LookupError`` for another root. What no
    business term covers is not written: see ``Invoice.uncovered``.
    """
    syntax, name, prefixes = _ROOTS[root]
    own = invoice.syntax == syntax and invoice.root in ("", root)
    prefix, _, _ = name.partition(":")
    nsmap = {p: NAMESPACES[p] for p in prefixes} | ({None: NAMESPACES[prefix]} if syntax == "UBL" else {})
    element = etree.Element(qualified(name), nsmap=nsmap)  # type: ignore[arg-type]
    content = invoice if own else placed(invoice, syntax, root)
    writing = _Writing(root, None if own else Spelling(syntax, content))
    rows = table(syntax).rows
    writing.fill(element, rows, _At(content, content, (content,), rows))
    etree.indent(element)
    return etree.tostring(element, encoding="UTF-8", xml_declaration=True) + b"\n"


@dataclass(frozen=True, slots=True)
class _At:
    """Where the writer is in the invoice: a group, the group above it, those beside it, and the rows of its kind."""

    group: Group
    above: Group
    beside: Sequence[Group]
    rows: tuple[Row, ...]


class _Writing:
    """One document being written; ``spelling`` is None where the invoice already speaks this syntax."""

    def __init__(self, root: str, spelling: Spelling | None) -> None:
        self.root = root
        self.spelling = spelling

    def fill(self, element: Any, rows: tuple[Row, ...], at: _At) -> None:
        """Write ``rows`` below ``element``."""
        for row in rows:
            if row.root not in (None, self.root):
                continue
            if row.text is not None:
                if len(element):
                    _descend(element, row.path)[1].text = row.text
            elif row.field is None:
                top, inner = _descend(element, row.path)
                self.fill(inner, row.rows or (), at)
                if len(inner) == 0 and not row.always:
                    element.remove(top)
            elif row.is_group:
                self._groups(element, row, at)
            elif row.attribute:
                self._attribute(element, row, at)
            else:
                for value in self._values(row, at):
                    self._value(element, row, value)

    def _groups(self, element: Any, row: Row, at: _At) -> None:
        groups = _all(getattr(at.above if row.up else at.group, row.field or ""))
        if row.up:
            groups = _owned(groups, at)
        rows = at.rows if row.rows is None else row.rows
        for group in groups:
            top, inner = _descend(element, row.path)
            self.fill(inner, rows, _At(group, at.group, groups, rows))
            if self.spelling is not None and len(inner) == 0 and inner.text is None and not row.always:
                element.remove(top)

    def _values(self, row: Row, at: _At) -> Sequence[Any]:
        values = _all(getattr(at.above if row.up else at.group, row.field or ""))
        if not values and self.spelling is not None and row.default is not None:
            return [Code(row.default)]
        return values

    def _value(self, element: Any, row: Row, value: Value) -> None:
        text, attributes = (value.raw, value.attributes) if self.spelling is None else self.spelling.of(value, row)
        _, inner = _descend(element, row.path)
        inner.text = text
        for name, content in attributes.items():
            inner.set(name, content)

    def _attribute(self, element: Any, row: Row, at: _At) -> None:
        owner = element
        for step in row.path:
            owner = owner.find(step)
            if owner is None:
                return
        for value in self._values(row, at):
            owner.set(row.attribute, value.raw if self.spelling is None else self.spelling.of(value, row)[0])


def _descend(element: Any, path: tuple[str, ...]) -> tuple[Any, Any]:
    """New elements along ``path``: the topmost and the innermost; the element itself for an empty path."""
    top = inner = element
    for i, step in enumerate(path):
        inner = etree.SubElement(inner, step)
        if i == 0:
            top = inner
    return top, inner


def _all(content: Any) -> Sequence[Any]:
    """Every occurrence that a field holds."""
    if content is absent:
        return ()
    if isinstance(content, Value | Group):
        return (content, *content.more)
    return cast(Sequence[Any], content)


def _owned(groups: Sequence[Any], at: _At) -> Sequence[Any]:
    """Those of ``groups`` that stand below the present group; the first one takes those that stand nowhere yet."""
    is_first = at.group is at.beside[0]
    homes = {id(group) for group in at.beside}
    return [g for g in groups if g.parent is at.group or (is_first and id(g.parent) not in homes)]
