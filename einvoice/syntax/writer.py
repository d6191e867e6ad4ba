"""Writes an invoice as a document, guided by the binding table of the syntax, in schema order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from lxml import etree

from einvoice.model.group import Group
from einvoice.model.invoice import CREDIT_NOTE_TYPES, Invoice
from einvoice.model.location import NAMESPACES
from einvoice.model.values import Amount, Code, Date, Value, normalize_space
from einvoice.syntax.mapping.binding import Row, qualified
from einvoice.syntax.mapping.placement import place
from einvoice.syntax.mapping.tables import table
from einvoice.syntax.mapping.values import ValueFormatter

_ROOTS: Final = {
    "Invoice": ("UBL", "ubl:Invoice", ("cac", "cbc", "ext")),
    "CreditNote": ("UBL", "cn:CreditNote", ("cac", "cbc", "ext")),
    "CrossIndustryInvoice": ("CII", "rsm:CrossIndustryInvoice", ("rsm", "ram", "qdt", "udt")),
}


_SYNTAXES: Final = ("UBL", "CII")


def root_of(invoice: Invoice, syntax: str) -> str:
    """Return the root element of an invoice in a syntax; in UBL `CreditNote` if the type code (BT-3) requires it."""
    if syntax == invoice.syntax and invoice.root:
        return invoice.root
    if syntax == "CII":
        return "CrossIndustryInvoice"
    return "CreditNote" if normalize_space(invoice.type_code.raw or "") in CREDIT_NOTE_TYPES else "Invoice"


def write_syntax(invoice: Invoice, syntax: str | None) -> bytes:
    """Return the invoice as a document; see `Invoice.write`."""
    if syntax not in (None, *_SYNTAXES):
        raise ValueError(f"syntax {syntax!r} is unknown; valid are {' and '.join(map(repr, _SYNTAXES))}")
    return write(invoice, root_of(invoice, syntax or invoice.syntax or "UBL"))


def write(invoice: Invoice, root: str | None = None) -> bytes:
    """Return the invoice as a document with that root: `Invoice`, `CreditNote` or `CrossIndustryInvoice`.

    The default is the root of the document that the invoice was read from; without one, that of UBL. The values of an
    invoice that was read from such a document are written unchanged. Any other invoice is converted first, and missing
    mandatory elements (VAT total of a breakdown, gross price of a discount) are calculated. The writer validates
    nothing. The result is UTF-8 and deterministic; elements without a business term are not written
    (see `Invoice.unmapped`).

    Raises:
        LookupError: unknown root element.
        TypeError: not an invoice.
    """
    if not isinstance(invoice, Invoice):
        raise TypeError(f"write() needs an Invoice, not {type(invoice).__name__}; einvoice.read reads one")
    if root is None:
        return write_syntax(invoice, None)
    if root not in _ROOTS:
        raise LookupError(f"unknown root element {root!r}; valid are {', '.join(map(repr, _ROOTS))}")
    syntax, name, prefixes = _ROOTS[root]
    is_unchanged = invoice.syntax == syntax and invoice.root in ("", root)
    prefix, _, _ = name.partition(":")
    nsmap = {p: NAMESPACES[p] for p in prefixes} | ({None: NAMESPACES[prefix]} if syntax == "UBL" else {})
    element = etree.Element(qualified(name), nsmap=nsmap)  # type: ignore[arg-type]
    content = invoice if is_unchanged else place(invoice, syntax, root)
    writer = _Writer(root, ValueFormatter(syntax, content), is_unchanged)
    rows = table(syntax).rows
    writer.fill(element, rows, _Position(content, content, (content,), rows))
    etree.indent(element)
    return etree.tostring(element, encoding="UTF-8", xml_declaration=True) + b"\n"


class _Position(NamedTuple):
    """Position of the writer in the invoice.

    Attributes:
        group: the current group.
        parent: its parent group.
        siblings: all groups of the same field, the current one included.
        rows: rows of the group.
    """

    group: Group
    parent: Group
    siblings: Sequence[Group]
    rows: tuple[Row, ...]


class _Writer:
    """Writes one document; `is_unchanged` if the invoice was read from the same syntax."""

    def __init__(self, root: str, formatter: ValueFormatter, is_unchanged: bool) -> None:
        self.root = root
        self.formatter = formatter
        self.is_unchanged = is_unchanged

    def fill(self, element: Any, rows: tuple[Row, ...], position: _Position) -> None:
        """Write `rows` below `element`."""
        group, parent, _, _ = position
        for row in rows:
            if row.root is not None and row.root != self.root:
                continue
            if row.field is None:
                self._without_field(element, row, position)
                continue
            content = getattr(parent if row.of_parent else group, row.field)
            if row.is_group:
                if content:
                    self._groups(element, row, _all(content), position)
            elif content:
                self._values(element, row, _all(content))
            elif row.default is not None and not self.is_unchanged:
                self._values(element, row, [Code(row.default)])

    def _without_field(self, element: Any, row: Row, position: _Position) -> None:
        """Write a constant beside other elements, or a wrapper with the rows below it."""
        if row.text is not None:
            if len(element):
                _descend(element, row.path)[1].text = row.text
            return
        top, inner = _descend(element, row.path)
        self.fill(inner, row.rows or (), position)
        if len(inner) == 0 and not row.always:
            element.remove(top)

    def _groups(self, element: Any, row: Row, groups: Sequence[Any], position: _Position) -> None:
        if row.of_parent:
            groups = _belonging(groups, position)
        rows = position.rows if row.rows is None else row.rows
        for group in groups:
            top, inner = _descend(element, row.path)
            self.fill(inner, rows, _Position(group, position.group, groups, rows))
            if not self.is_unchanged and len(inner) == 0 and inner.text is None and not row.always:
                element.remove(top)

    def _values(self, element: Any, row: Row, values: Sequence[Any]) -> None:
        if row.attribute:
            self._attribute(element, row, row.attribute, values)
            return
        for value in values:
            text, attributes = self._notation(value, row)
            inner = element
            for step in row.path:
                inner = etree.SubElement(inner, step)
            inner.text = text
            for name, content in attributes.items():
                inner.set(name, content)

    def _attribute(self, element: Any, row: Row, name: str, values: Sequence[Any]) -> None:
        owner = element
        for step in row.path:
            owner = owner.find(step)
            if owner is None:
                return
        for value in values:
            owner.set(name, self._notation(value, row)[0])

    def _notation(self, value: Value, row: Row) -> tuple[str, Mapping[str, str]]:
        """Return text and attributes: as in the document, or for an assigned value as the syntax requires."""
        is_assigned = value.node is None and not value.attributes and isinstance(value, Amount | Date)
        if self.is_unchanged and not is_assigned:
            return value.raw, value.attributes
        return self.formatter.format(value, row)


def _descend(element: Any, path: tuple[str, ...]) -> tuple[Any, Any]:
    """Add elements along `path`; return the outermost and the innermost, or the element itself for an empty path."""
    if not path:
        return element, element
    top = inner = etree.SubElement(element, path[0])
    for step in path[1:]:
        inner = etree.SubElement(inner, step)
    return top, inner


def _all(content: Any) -> Sequence[Any]:
    """Return all occurrences of a field that has content."""
    if isinstance(content, list | tuple):
        return content
    return (content, *content.more)


def _belonging(groups: Sequence[Any], position: _Position) -> Sequence[Any]:
    """Return the groups whose parent is the current group; the first sibling takes those without such a parent."""
    is_first = position.group is position.siblings[0]
    parents = {id(group) for group in position.siblings}
    return [g for g in groups if g.parent is position.group or (is_first and id(g.parent) not in parents)]
