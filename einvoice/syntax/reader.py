"""Reads a document into an invoice: one walk over its elements, guided by the binding table of its syntax."""

from __future__ import annotations

import functools
import gc
import weakref
from collections import defaultdict
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar

from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.values import BLANKS, NO_ATTRIBUTES, Value
from einvoice.syntax.mapping.binding import GROUP, LEAF, UNMAPPED, WRAPPER, State
from einvoice.syntax.mapping.tables import table_of
from einvoice.syntax.states import ElementState, ElementStates, element_states

P = ParamSpec("P")
T = TypeVar("T")

Repeated: TypeAlias = tuple[Any, Any]
"""The first occurrence of a term or group that the standard allows once, and a further one."""
_COLLECTED_AFTER: Final = 2_000_000
"""Number of objects that garbage collections skip until one searches them all."""
_skipped = 0
_new: Final[Any] = object.__new__


class ElementCollector:
    """What the reader collects: elements by state, and by state and attribute, and all groups by class."""

    __slots__ = ("attributes", "elements", "groups", "states")

    def __init__(self, states: ElementStates) -> None:
        self.states = states
        self.elements: defaultdict[ElementState, list[Any]] = defaultdict(list)
        self.attributes: defaultdict[tuple[ElementState, str], list[Any]] = defaultdict(list)
        self.groups: defaultdict[type[Group], list[Any]] = defaultdict(list)


def gc_paused(function: Callable[P, T]) -> Callable[P, T]:
    """Pause garbage collection while a function processes an invoice, for the whole process.

    The new objects are all in use; searching them repeatedly takes a third of the time for 10,000 lines. Reference
    counting still frees dropped objects. Pause for one document at a time only.
    """

    @functools.wraps(function)
    def paused(*args: P.args, **kwargs: P.kwargs) -> T:
        if not gc.isenabled():
            return function(*args, **kwargs)
        gc.disable()
        try:
            return function(*args, **kwargs)
        finally:
            if gc.get_count()[0] > gc.get_threshold()[0] and not gc.get_freeze_count():
                _skip_new_objects()
            gc.enable()

    return paused


def _skip_new_objects() -> None:
    """Keep the next garbage collection from searching the objects of the invoice, which are not in cycles.

    They join the oldest generation together with all other objects. That generation is searched after many of them,
    since it may contain garbage of the program that called.
    """
    global _skipped
    _skipped += gc.get_count()[0]
    gc.freeze()
    gc.unfreeze()  # moves the objects to the oldest generation
    if _skipped > _COLLECTED_AFTER:
        _skipped = 0
        gc.collect()


@gc_paused
def read(root: Any, collector: ElementCollector | None = None) -> Invoice:
    """Return the invoice in a parsed document.

    The reader validates nothing: missing content is `absent`, repeated content is kept, and elements without a
    business term are in `unmapped`.

    Args:
        root: root element of a UBL Invoice, UBL CreditNote or CII CrossIndustryInvoice.
        collector: takes the elements that the syntax rules inspect.

    Raises:
        LookupError: unknown root element.
    """
    if collector is None:
        collector = ElementCollector(element_states(table_of(root.tag).syntax))
    states = collector.states
    invoice = Invoice.__new__(Invoice)  # sets no field: the class provides `absent`
    reader = _Reader(collector)
    invoice.__dict__.update(
        node=root,
        syntax=states.syntax,
        root=root.tag.rpartition("}")[2],
        find_invoice=weakref.ref(invoice),
        misplaced=reader.misplaced,
        unmapped=reader.unmapped,
        repeated=reader.repeated,
    )
    reader.collect(root, states.start)
    reader.walk(root, states.start, invoice)
    return invoice


class _SharedAttributes(dict[tuple[tuple[str, str], ...], Mapping[str, str]]):
    """The attributes of elements as read-only mappings, by their items: most lines have the same unit and currency."""

    def __missing__(self, items: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
        self[items] = attributes = MappingProxyType(dict(items))
        return attributes


class _Reader:
    """State of one walk. `misplaced`, `unmapped` and `repeated` become those of the invoice."""

    __slots__ = ("attributes", "blank", "elements", "groups", "misplaced", "repeated", "shared", "states", "unmapped")

    def __init__(self, collector: ElementCollector) -> None:
        self.states = collector.states
        self.elements = collector.elements
        self.attributes = collector.attributes
        self.groups = collector.groups
        self.blank = self.elements[self.states.blank]
        self.shared = _SharedAttributes()
        self.misplaced: dict[type, list[Any]] = {}
        self.unmapped: list[Any] = []
        self.repeated: list[Repeated] = []

    def collect(self, element: Any, state: ElementState) -> None:
        """Collect the root element; `walk` collects all others."""
        self.elements[state].append(element)
        names = element.keys()
        for name in names:
            if name in state.collected_attributes:
                self.attributes[state, name].append(element)

    def walk(self, root: Any, state: ElementState, invoice: Any) -> None:
        """Fill `invoice` from the elements below `root`. Not split into functions: it runs for every element.

        It iterates over all elements in the order of the document, which is faster than over the children of each. So
        `group` is that of the element around the current one, in `state`, which has `remaining` more children.
        """
        elements, groups, shared = self.elements, self.groups, self.shared
        groups[type(invoice)].append(invoice)
        find_invoice = invoice.find_invoice
        group, group_ref, content, remaining = invoice, find_invoice, invoice.__dict__, len(root)
        around: list[tuple[ElementState, Any, Any, Any, int]] = []
        if not remaining and not (root.text or "").strip(BLANKS):
            self.blank.append(root)
        for element in root.iterdescendants():
            while not remaining:
                state, group, group_ref, content, remaining = around.pop()
            remaining -= 1
            below = state.next.get(element.tag)
            if below is None:
                below = self.states.below(state, element.tag)
            if below.collected:
                elements[below].append(element)
            kind = below.kind
            attributes: Mapping[str, str] = NO_ATTRIBUTES
            if (kind == LEAF or below.collected_attributes) and (items := element.items()):
                attributes = shared[tuple(items)]
                if below.collected_attributes:
                    for name in attributes:
                        if name in below.collected_attributes:
                            self.attributes[below, name].append(element)

            leaf: State | None = None
            target: Any = group
            fields = content
            if kind == LEAF:
                leaf = below
            elif kind == GROUP:
                leaf = below.own
                target = _new(below.cls)
                groups[below.cls].append(target)
                if group_ref is None:
                    group_ref = weakref.ref(group)
                fields = target.__dict__
                fields["node"] = element
                fields["parent_ref"] = group_ref
                fields["find_invoice"] = find_invoice
                if below.field:
                    others = group.parent_ref().__dict__ if below.of_parent else content
                    if below.field in others:
                        _repeat(others[below.field], target, self.repeated)
                    else:
                        others[below.field] = [target] if below.many else target
                else:
                    self._misplace(element, state, target)
            elif kind == WRAPPER:
                if below.track:
                    content.setdefault("tracked", {}).setdefault(below.track, []).append(element)
                if below.attributes:
                    _read_attributes(element, below, group, self.repeated)
            elif state.kind != UNMAPPED:
                self.unmapped.append(element)

            children = len(element)
            if leaf is not None:
                # Children violate the XML schema: the value is all text, and the children may be misplaced.
                raw = "".join(element.itertext()) if children else element.text or ""
                filled = raw >= "!" or raw.strip(BLANKS) != ""  # begins with a character above the blanks, or has one
                if not filled and not children:
                    self.blank.append(element)
                text: str | None = raw
                if leaf.view is not None:
                    text = below.views.get(raw)
                    if text is None:
                        text = below.view_of(raw, leaf.view)
                if kind == GROUP:
                    attributes = shared[tuple(element.items())]
                value = leaf.create(raw, filled, text, attributes, element)
                if leaf.of_parent:
                    fields = target.parent_ref().__dict__
                if leaf.field in fields:
                    _repeat(fields[leaf.field], value, self.repeated)
                else:
                    fields[leaf.field] = [value] if leaf.many else value
                if leaf.attributes:
                    _read_attributes(element, leaf, target, self.repeated)
            elif not children and not (element.text or "").strip(BLANKS):
                self.blank.append(element)

            if children:
                around.append((state, group, group_ref, content, remaining))
                state, remaining = below, children
                if target is not group:
                    group, group_ref, content = target, None, target.__dict__

    def _misplace(self, child: Any, parent: ElementState, group: Group) -> None:
        """Record a known group that occurs where EN 16931 has no business term."""
        if parent.kind != UNMAPPED:
            self.unmapped.append(child)
        group.__dict__["tracked"] = {"misplaced": [child]}
        self.misplaced.setdefault(type(group), []).append(group)


def _read_attributes(element: Any, state: State, group: Group, repeated: list[Repeated]) -> None:
    for name, leaf in state.attributes:
        raw = element.get(name)
        if raw is None:
            continue
        value = leaf.cls(raw)
        value.node, value.attribute = element, name
        if leaf.view is not None:
            value.text = leaf.view(raw)
        fields = group.__dict__
        if leaf.field in fields:
            _repeat(fields[leaf.field], value, repeated)
        else:
            fields[leaf.field] = [value] if leaf.many else value


def _repeat(first: Any, content: Value | Group, repeated: list[Repeated]) -> None:
    """Add a further occurrence: to the list of the field, or to `more` of a term that the standard allows once."""
    if isinstance(first, list):
        first.append(content)
        return
    repeated.append((first, content))
    if first.more:
        first.more.append(content)
    else:
        first.more = [content]
