"""From a document to the invoice: one walk over the elements, guided by the syntax's table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.values import NO_ATTRIBUTES, Value
from einvoice.syntax.binding import GROUP, LEAF, UNBOUND, State, Table
from einvoice.syntax.tables import table_of

_UNBOUND: Final = State(UNBOUND)
_new: Final[Any] = object.__new__


def read(root: Any) -> Invoice:
    """The invoice that a parsed document says.

    ``root`` is the root element of a UBL Invoice, UBL CreditNote or CII CrossIndustryInvoice. Nothing is judged: what
    is missing is ``absent``, what is there twice is kept twice, what no business term covers is in ``uncovered``.
    """
    table = table_of(root.tag)
    invoice = Invoice.__new__(Invoice)  # only what the document has is set; the rest is absent by the class
    reading = _Reading(table, invoice)
    invoice.__dict__.update(node=root, syntax=table.syntax, root=root.tag.rpartition("}")[2])
    invoice.__dict__.update(elsewhere=reading.elsewhere, uncovered=reading.uncovered)
    reading.walk(root, table.start, invoice)
    return invoice


class _Reading:
    """What one walk gathers beside the invoice itself."""

    __slots__ = ("anywhere", "elsewhere", "uncovered")

    def __init__(self, table: Table, invoice: Invoice) -> None:
        self.anywhere = table.anywhere
        self.elsewhere: dict[type, list[Any]] = {}
        self.uncovered: list[Any] = []

    def walk(self, element: Any, state: State, group: Group) -> None:
        """Fill ``group`` from the children of ``element``."""
        children = state.children
        for child in element:
            below = children.get(child.tag)
            if below is None:
                self._unbound(child, state, group)
                continue
            kind = below.kind
            if kind == LEAF:
                self._leaf(child, below, group)
            elif kind == GROUP:
                inner = _new(below.cls)
                inner.node = child
                inner.parent = group
                _keep(group.parent if below.up else group, below, inner)
                if below.own is not None:
                    self._leaf(child, below.own, inner)
                self.walk(child, below, inner)
            else:
                if below.attributes:
                    _attributes(child, below, group)
                self.walk(child, below, group)

    def _leaf(self, child: Any, state: State, group: Any) -> None:
        if len(child):  # not schema-valid, but its text is its text, and what stands inside may be a stray
            raw = "".join(child.itertext())
            self.walk(child, state, group)
        else:
            raw = child.text or ""
        value = _new(state.cls)  # the constructor written out: this runs for most elements of a document
        value.raw = raw
        value.text = raw if state.view is None else state.view(raw)
        attributes = child.items()
        value.attributes = dict(attributes) if attributes else NO_ATTRIBUTES
        value.node = child
        value.attribute = None
        value.more = ()
        holder = group.parent if state.up else group
        fields = holder.__dict__
        if state.field in fields:
            _keep(holder, state, value)
        else:
            fields[state.field] = [value] if state.many else value
        if state.attributes:
            _attributes(child, state, group)

    def _unbound(self, child: Any, state: State, group: Group) -> None:
        """An element that has no business term at its place; known things inside it are strays."""
        if state.kind != UNBOUND:
            self.uncovered.append(child)
        stray = self.anywhere.get(child.tag)
        if stray is None:
            self.walk(child, _UNBOUND, group)
            return
        inner = _new(stray.cls)
        inner.node = child
        inner.parent = group
        self.elsewhere.setdefault(stray.cls, []).append(inner)
        self.walk(child, stray, inner)


def _attributes(element: Any, state: State, group: Group) -> None:
    for name, meaning in state.attributes:
        raw = element.get(name)
        if raw is None:
            continue
        value = meaning.cls(raw)
        value.node, value.attribute = element, name
        if meaning.view is not None:
            value.text = meaning.view(raw)
        _keep(group, meaning, value)


def _keep(group: Any, state: State, content: Value | Group) -> None:
    """Put ``content`` where it belongs; a second occurrence of a single term goes to ``more`` of the first."""
    fields = group.__dict__
    name = state.field
    there = fields.get(name)
    if there is None:
        fields[name] = [content] if state.many else content
    elif state.many:
        there.append(content)
    else:
        further: Sequence[Any] = there.more
        there.more = [*further, content]
