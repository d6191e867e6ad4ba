"""Vocabulary of the binding tables, which map business terms to elements of a syntax, in both directions.

A table is a tree of rows in schema order::

    group("cac:Price", "price",                     # an element that is a business group
        leaf("cbc:PriceAmount", "net"),             # an element that is a business term
        leaf("cbc:BaseQuantity", "base_quantity"),
    )
    wrapper("cac:Party", …)                         # an element that only groups others
    leaf("cbc:PaymentMeansCode/@name", …)           # a term in an attribute
    leaf("cac:PartyName/cbc:Name", …)               # every value has its own wrapper
    constant("cbc:NetworkID", "NA")                 # required by the XML schema, no business term

A field that begins with `../` belongs to the parent group. The model defines the type and cardinality of a field.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from einvoice.model.group import Group, types_of
from einvoice.model.location import NAMESPACES
from einvoice.model.values import creator

WRAPPER, LEAF, GROUP, UNMAPPED = range(4)


class Row(NamedTuple):
    """One row of a table: a path and the field that it maps to.

    Attributes:
        path: steps from the parent row, as lxml names them.
        field: field of the model; None for a wrapper or a constant.
        attribute: XML attribute that holds the value, None for the text of the element.
        rows: rows below; None repeats the rows of the enclosing group.
        of_parent: the field belongs to the parent group.
        view: text that the official rules of this syntax compare.
        misplaced: class of the group where it occurs in any other parent element.
        root: root element whose documents are written with this row; all documents are read with it.
        default: text to write if the invoice has none.
        foreign: text of the other syntax -> text of this one.
        text: text of a constant.
        always: written even if empty, because the XML schema requires the element.
        track: name under which the group records that the element exists, for rules that test for it.
    """

    path: tuple[str, ...]
    field: str | None = None
    attribute: str | None = None
    rows: tuple[Row, ...] | None = ()
    is_group: bool = False
    of_parent: bool = False
    view: Callable[[str], str] | None = None
    misplaced: type[Group] | None = None
    root: str | None = None
    default: str | None = None
    foreign: Mapping[str, str] | None = None
    text: str | None = None
    always: bool = False
    track: str = ""


def leaf(
    path: str,
    field: str,
    *,
    view: Callable[[str], str] | None = None,
    root: str | None = None,
    default: str | None = None,
    foreign: Mapping[str, str] | None = None,
    track: str = "",
) -> Row:
    """Return the row of a business term; `track` records the wrapper of the value, even if it is empty."""
    path, _, attribute = path.partition("/@")
    return Row(_steps(path), _field(field), attribute or None, view=view, root=root, default=default, foreign=foreign,
               track=track, of_parent=field.startswith("../"))  # fmt: skip


def group(
    path: str,
    field: str,
    *rows: Row,
    misplaced: type[Group] | None = None,
    root: str | None = None,
    always: bool = False,
) -> Row:
    """Return the row of a business group."""
    return Row(_steps(path), _field(field), rows=rows, is_group=True, misplaced=misplaced, root=root, always=always,
               of_parent=field.startswith("../"))  # fmt: skip


def nested(path: str, field: str, *, misplaced: type[Group] | None = None, root: str | None = None) -> Row:
    """Return the row of a group inside a group of the same kind; it has the same rows."""
    return Row(_steps(path), field, rows=None, is_group=True, misplaced=misplaced, root=root)


def wrapper(path: str, *rows: Row, always: bool = False, track: str = "") -> Row:
    """Return the row of an element that only groups other elements."""
    return Row(_steps(path), rows=rows, always=always, track=track)


def constant(path: str, text: str) -> Row:
    """Return the row of an element with a fixed text, which the XML schema requires beside the preceding elements."""
    return Row(_steps(path), text=text)


@functools.cache
def qualified(name: str) -> str:
    """Return `cbc:ID` as lxml writes it: `{namespace}ID`."""
    prefix, _, local = name.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def _steps(path: str) -> tuple[str, ...]:
    return () if path == "." else tuple(qualified(step) for step in path.split("/"))


def _field(name: str) -> str:
    return name.removeprefix("../")


@dataclass(slots=True, eq=False)
class State:
    """Meaning of the elements at one path, as the table defines it.

    Attributes:
        kind: `WRAPPER`, `LEAF`, `GROUP` or `UNMAPPED`.
        field, cls, many, of_parent: field that holds the content, its type, whether it is a list, and whether it
            belongs to the parent group.
        view: function that returns the text as the official rules of this syntax compare it; None if they compare it
            unchanged.
        create: function that creates its values; see `creator`.
        own: the term in the text of a group's own element.
        attributes: terms in attributes, by name of the attribute.
        track: see `Row`.
        children: states of the child elements, by tag.
    """

    kind: int = WRAPPER
    field: str = ""
    cls: Any = None
    many: bool = False
    of_parent: bool = False
    view: Callable[[str], str] | None = None
    create: Any = None
    own: State | None = None
    attributes: tuple[tuple[str, State], ...] = ()
    track: str = ""
    children: dict[str, State] = dataclasses.field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Table:
    """Binding of one syntax: rows for the writer, states for the reader.

    `misplaced_groups` are rows of groups that are only recognized as misplaced. `misplaced` are the states of all
    groups that are recognized in any parent element, by tag.
    """

    syntax: str
    model: type[Group]
    rows: tuple[Row, ...]
    misplaced_groups: tuple[Row, ...] = ()
    start: State = dataclasses.field(default_factory=State)
    misplaced: dict[str, State] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self._add(self.rows, self.start, self.model, self.model, self.start)
        for row in self.misplaced_groups:
            assert row.misplaced is not None
            state = State(GROUP, "", row.misplaced, True)
            self._add(row.rows or (), state, row.misplaced, self.model, state)
            self.misplaced[row.path[-1]] = state

    @property
    def tags(self) -> frozenset[str]:
        """The names of all elements of the table, except the root element."""
        tags: set[str] = set()
        waiting, seen = [self.start, *self.misplaced.values()], set[int]()
        while waiting:
            state = waiting.pop()
            if id(state) not in seen:  # nested groups contain themselves
                seen.add(id(state))
                tags.update(state.children)
                waiting += state.children.values()
        return frozenset(tags)

    def _add(
        self, rows: tuple[Row, ...], parent: State, owner: type[Group], owner_parent: type[Group], repeated: State
    ) -> None:
        """Add `rows` below `parent`. Fields are those of `owner`, `../` fields those of `owner_parent`."""
        for row in rows:
            state = previous = parent
            for step in row.path:
                previous = state
                state = state.children.setdefault(step, State())
            if row.field is None:
                state.track = row.track
                self._add(row.rows or (), state, owner, owner_parent, repeated)
                continue
            holder = owner_parent if row.of_parent else owner
            cls, many = types_of(holder)[row.field]
            if row.attribute:
                attribute = State(LEAF, row.field, cls, many, row.of_parent, row.view)
                state.attributes = (*state.attributes, (row.attribute, attribute))
            elif row.is_group:
                self._bind(state, row, GROUP, cls, many)
                self._add_group(row, state, cls, owner, repeated)
            elif not row.path:
                state.own = State()
                self._bind(state.own, row, LEAF, cls, many)
            else:
                self._bind(state, row, LEAF, cls, many)
                previous.track = row.track or previous.track

    def _add_group(self, row: Row, state: State, cls: type[Group], owner: type[Group], repeated: State) -> None:
        if row.rows is None:
            state.children = repeated.children
        else:
            self._add(row.rows, state, cls, owner, state)
        if row.misplaced:
            # A misplaced group has no parent group that could take the fields of the parent.
            children = {tag: child for tag, child in state.children.items() if not child.of_parent}
            self.misplaced[row.path[-1]] = State(GROUP, "", row.misplaced, True, children=children)

    @staticmethod
    def _bind(state: State, row: Row, kind: int, cls: type, many: bool) -> None:
        state.kind, state.field, state.cls, state.many = kind, row.field or "", cls, many
        state.of_parent, state.view = row.of_parent, row.view
        state.create = creator(cls) if kind == LEAF else None
