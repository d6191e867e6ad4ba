"""The words that tie business terms to places of a syntax, read in both directions.

A table is a tree of rows in schema order::

    group("cac:Price", "price",                     # an element that is a business group
        leaf("cbc:PriceAmount", "net"),             # an element that is a business term
        leaf("cbc:BaseQuantity", "base_quantity"),
    )
    inside("cac:Party", …)                          # an element that only wraps others
    leaf("cbc:PaymentMeansCode/@name", …)           # a term that stands in an attribute
    leaf("cac:PartyName/cbc:Name", …)               # every value has a wrapper of its own
    fixed("cbc:NetworkID", "NA")                    # what the XML schema wants and no term says

A field that begins with ``../`` belongs to the group around. What a field holds, and whether it may hold several, is
the model's to say.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from einvoice.model.group import Group, kinds_of
from einvoice.model.location import NAMESPACES
from einvoice.model.values import BLANKS

INSIDE, LEAF, GROUP, UNBOUND = range(4)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: a path and the field that it stands for."""

    path: tuple[str, ...]
    field: str | None = None  # None: the element only wraps others
    attribute: str | None = None
    rows: tuple[Row, ...] | None = ()  # None: as the group around it (a line below a line)
    is_group: bool = False
    up: bool = False
    view: Callable[[str], str] | None = None
    stray: type[Group] | None = None
    root: str | None = None  # written in documents of this root only; read in all
    default: str | None = None  # written where another syntax need not say it
    foreign: Mapping[str, str] | None = None  # how another syntax's words are written here
    text: str | None = None  # of an element that says the same in every document
    always: bool = False  # written even if empty, because the XML schema wants the element
    mark: str = ""  # by which the group remembers an element that only wraps others, since a rule asks for it


def leaf(
    path: str,
    field: str,
    *,
    view: Callable[[str], str] | None = None,
    root: str | None = None,
    default: str | None = None,
    foreign: Mapping[str, str] | None = None,
    mark: str = "",
) -> Row:
    """A business term. ``view`` makes the text that this syntax's official rules compare.

    ``foreign`` has this syntax's word for the text of a value that comes from elsewhere. With ``mark`` the group
    remembers that the wrapper of the value is there, be it empty.
    """
    path, _, attribute = path.partition("/@")
    return Row(_steps(path), _field(field), attribute or None, view=view, root=root, default=default, foreign=foreign,
               mark=mark, up=field.startswith("../"))  # fmt: skip


def group(
    path: str,
    field: str,
    *rows: Row,
    stray: type[Group] | None = None,
    root: str | None = None,
    always: bool = False,
) -> Row:
    """A business group. With ``stray`` it is recognised at any other place too and kept as that class."""
    return Row(_steps(path), _field(field), rows=rows, is_group=True, stray=stray, root=root, always=always,
               up=field.startswith("../"))  # fmt: skip


def again(path: str, field: str, *, stray: type[Group] | None = None, root: str | None = None) -> Row:
    """A group below a group of the same kind, with the same rows. ``stray`` as with ``group``."""
    return Row(_steps(path), field, rows=None, is_group=True, stray=stray, root=root)


def inside(path: str, *rows: Row, always: bool = False, mark: str = "") -> Row:
    """An element that stands for nothing itself. With ``mark`` its group remembers that it is there, be it empty."""
    return Row(_steps(path), rows=rows, always=always, mark=mark)


def fixed(path: str, text: str) -> Row:
    """An element that only accompanies those before it: no term, but the XML schema wants it."""
    return Row(_steps(path), text=text)


def collapse(text: str) -> str:
    """XPath's normalize-space().

    >>> collapse("  a \\n b ")
    'a b'
    """
    if text.isalnum():  # by far the most codes
        return text
    return " ".join(part for part in text.translate(_SPACES).split(" ") if part)


_SPACES: Final = str.maketrans(BLANKS, " " * len(BLANKS))


def qualified(name: str) -> str:
    """``cbc:ID`` as lxml writes it: ``{namespace}ID``."""
    prefix, _, local = name.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def _steps(path: str) -> tuple[str, ...]:
    return () if path == "." else tuple(qualified(step) for step in path.split("/"))


def _field(name: str) -> str:
    return name.removeprefix("../")


@dataclass(slots=True, eq=False)
class State:
    """Where the reader is: what an element at this path means, and what may stand below it."""

    kind: int = INSIDE
    field: str = ""
    cls: Any = None
    many: bool = False
    up: bool = False
    view: Callable[[str], str] | None = None
    own: State | None = None  # the term that is the text of a group's own element
    attributes: tuple[tuple[str, State], ...] = ()
    mark: str = ""
    children: dict[str, State] = dataclasses.field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Table:
    """The binding of one syntax: its rows for the writer, its states for the reader."""

    syntax: str
    model: type[Group]
    rows: tuple[Row, ...]
    strays: tuple[Row, ...] = ()  # groups that have no place of their own
    start: State = dataclasses.field(default_factory=State)
    anywhere: dict[str, State] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self._add(self.rows, self.start, self.model, self.model, self.start)
        for row in self.strays:
            assert row.stray is not None
            place = State(GROUP, "", row.stray, True)
            self._add(row.rows or (), place, row.stray, self.model, place)
            self.anywhere[row.path[-1]] = place

    def _add(self, rows: tuple[Row, ...], at: State, owner: type[Group], above: type[Group], home: State) -> None:
        """Add ``rows`` below ``at``; fields are those of ``owner``, ``../`` fields those of ``above``."""
        for row in rows:
            place = around = at
            for step in row.path:
                around = place
                place = place.children.setdefault(step, State())
            if row.field is None:
                place.mark = row.mark
                self._add(row.rows or (), place, owner, above, home)
                continue
            holder = above if row.up else owner
            kind, many = kinds_of(holder)[row.field]
            if row.attribute:
                state = State(LEAF, row.field, kind, many, row.up, row.view)
                place.attributes = (*place.attributes, (row.attribute, state))
            elif row.is_group:
                self._bind(place, row, GROUP, kind, many)
                if row.rows is None:
                    place.children = home.children
                else:
                    self._add(row.rows, place, kind, owner, place)
                if row.stray:
                    # What belongs to the group around has none at another place: it is a stray itself, or unknown.
                    inner = {tag: state for tag, state in place.children.items() if not state.up}
                    self.anywhere[row.path[-1]] = State(GROUP, "", row.stray, True, children=inner)
            elif not row.path:
                place.own = State(LEAF, row.field, kind, many, row.up, row.view)
            else:
                self._bind(place, row, LEAF, kind, many)
                around.mark = row.mark or around.mark

    @staticmethod
    def _bind(place: State, row: Row, kind: int, cls: type, many: bool) -> None:
        place.kind, place.field, place.cls, place.many = kind, row.field or "", cls, many
        place.up, place.view = row.up, row.view
