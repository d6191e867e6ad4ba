"""From a document to the invoice: one walk over the elements, guided by the syntax's table."""

from __future__ import annotations

import gc
import weakref
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.values import BLANKS, NO_ATTRIBUTES, Value
from einvoice.rulebook.syntax_rules.collector import Notes
from einvoice.rulebook.syntax_rules.matcher import Place, places
from einvoice.syntax.mapping.binding import GROUP, INSIDE, LEAF, UNBOUND, State
from einvoice.syntax.mapping.tables import table_of

_LARGE: Final = 10_000
"""So many new objects are better not searched for garbage at once."""
_new: Final[Any] = object.__new__
_ASTRAY: Final = frozenset({"astray"})


def read(root: Any, notes: Notes | None = None) -> Invoice:
    """The invoice that a parsed document says.

    ``root`` is the root element of a UBL Invoice, UBL CreditNote or CII CrossIndustryInvoice. Nothing is judged: what
    is missing is ``absent``, what is there twice is kept twice, what no business term covers is in ``uncovered``.
    ``notes`` gathers on the way what the syntax rules want to know.
    """
    syntax = table_of(root.tag).syntax
    invoice = Invoice.__new__(Invoice)  # only what the document has is set; the rest is absent by the class
    reading = _Reading(syntax, notes)
    invoice.__dict__.update(node=root, syntax=syntax, root=root.tag.rpartition("}")[2])
    invoice.__dict__.update(elsewhere=reading.elsewhere, uncovered=reading.uncovered)
    with collector_at_rest():
        reading.begin(root, invoice)
    return invoice


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Keep Python from searching a large invoice for garbage while it is worked on: there is none in it.

    It would look at all of it again and again, which for 10,000 lines takes a third of the time. What is dropped on
    the way is freed at once all the same. It rests for the whole process, so let it be for a document at a time.
    """
    was_at_work = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_at_work:
            if gc.get_count()[0] > _LARGE and not gc.get_freeze_count():
                gc.freeze()  # and with the next line everything is old, and is left alone until old things are searched
                gc.unfreeze()
            gc.enable()


class _Reading:
    """What one walk gathers beside the invoice itself."""

    __slots__ = ("attributes", "blank", "elements", "elsewhere", "places", "uncovered")

    def __init__(self, syntax: str, notes: Notes | None) -> None:
        self.places = notes.places if notes else places(syntax, watched=False)
        self.elements = notes.elements if notes else defaultdict(list)
        self.attributes = notes.attributes if notes else defaultdict(list)
        self.blank = self.elements[self.places.blank]
        self.elsewhere: dict[type, list[Any]] = {}
        self.uncovered: list[Any] = []

    def begin(self, root: Any, invoice: Invoice) -> None:
        """Fill the invoice from the root element."""
        start = self.places.start
        self.elements[start].append(root)
        self._watched(root, start, root.keys())
        self.walk(root, start, invoice)

    def walk(self, element: Any, place: Place, group: Group) -> None:
        """Fill ``group`` from the children of ``element``."""
        if not len(element) and place.own is None and not (element.text or "").strip(BLANKS):
            self.blank.append(element)
        known = place.inner
        around = weakref.ref(group)
        elements = self.elements
        for child in element:
            below = known.get(child.tag)
            if below is None:
                below = self.places.below(place, child.tag)
            kind = below.kind
            if below.watched:
                elements[below].append(child)
            if below.watched_attributes and (names := child.keys()):
                self._watched(child, below, names)
            if kind == LEAF:
                self._leaf(child, below, group)
            elif kind == GROUP:
                inner = _new(below.cls)
                inner.node = child
                inner.around = around
                if below.field:
                    _keep(group.parent if below.up else group, below, inner)
                else:
                    self._stray(child, place, inner)
                if below.own is not None:
                    self._leaf(child, below.own, inner)
                self.walk(child, below, inner)
            elif kind == INSIDE:
                if below.mark:
                    group.__dict__.setdefault("marks", {}).setdefault(below.mark, []).append(child)
                if below.attributes:
                    _attributes(child, below, group)
                self.walk(child, below, group)
            else:
                if place.kind != UNBOUND:
                    self.uncovered.append(child)
                self.walk(child, below, group)

    def _leaf(self, child: Any, state: State, group: Any) -> None:
        if len(child):  # not schema-valid, but its text is its text, and what stands inside may be a stray
            raw = "".join(child.itertext())
            if isinstance(state, Place):  # what is in a group's own element is read with the group
                self.walk(child, state, group)
        else:
            raw = child.text or ""
            if not raw.strip(BLANKS):
                self.blank.append(child)
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

    def _watched(self, element: Any, place: Place, names: list[str]) -> None:
        for name in names:
            if name in place.watched_attributes:
                self.attributes[place, name].append(element)

    def _stray(self, child: Any, around: Place, inner: Group) -> None:
        """Keep a known thing that stands where no business term has it."""
        if around.kind != UNBOUND:
            self.uncovered.append(child)
        inner.__dict__["marks"] = {"astray": [child]}
        self.elsewhere.setdefault(type(inner), []).append(inner)


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
    elif there.more:
        there.more.append(content)
    else:
        there.more = [content]
