"""What the binding and the rules say of a path: worked out when a document first has it, and kept.

Documents come from strangers and may have as many paths as elements; no more than ``LIMIT`` steps are kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from einvoice.rulebook.syntax_rules import checks
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.table import NEWEST, Node, Releases, RuleTable, rule_table
from einvoice.syntax.mapping.binding import UNBOUND, State, Table
from einvoice.syntax.mapping.tables import table

LIMIT: Final = 10_000
_UNBOUND: Final = State(UNBOUND)


class Watch(NamedTuple):
    """What is to be noted of an element, for which rule."""

    rule: SyntaxRule
    up: int | None  # so many steps up stands the element of the context; None: nobody needs to know
    opens: bool = False  # the element is of the context itself, and nothing is found yet
    select: checks.Select | None = None  # picks out those that break the rule


class Place(State):
    """A path, or several of which the same can be said: what they mean, and what the rules want to know of them.

    ``children`` stays the binding's; the places below that documents had so far are in ``inner``.
    """

    __slots__ = ("enough", "inner", "nodes", "watched", "watched_attributes")

    def __init__(self, bound: State, nodes: tuple[Node, ...]) -> None:
        super().__init__(**{name: getattr(bound, name) for name in State.__slots__})
        self.inner: dict[str, Place] = {}
        self.nodes = nodes
        self.watched: tuple[Watch, ...] = ()
        self.watched_attributes: Mapping[str, tuple[Watch, ...]] = {}
        self.enough = 1  # with fewer elements at this place in a document no rule that watches it is broken


class Places:
    """The paths that documents of one syntax have had so far, from the root element (``start``) on."""

    def __init__(self, bindings: Table, rules: RuleTable | None) -> None:
        self._bindings = bindings
        self._rules = rules
        self._steps = itertools.count()
        self._alike: dict[tuple[State, tuple[Node, ...]], Place] = {}
        self.is_full = False
        self.start = self._root()
        self.blank = Place(_UNBOUND, ())  # not a path: all elements that have none inside and no text
        self.blank.watched = tuple(
            Watch(rule, 0, select=checks.KINDS[rule.kind].select) for rule in (rules.of_blank if rules else ())
        )

    def below(self, place: Place, tag: Any) -> Place:
        """The place of an element named ``tag`` in an element at ``place``."""
        bound = place.children.get(tag) or self._bindings.anywhere.get(tag) or _UNBOUND
        nodes: tuple[Node, ...] = ()
        if self._rules is not None and isinstance(tag, str):
            around = (*place.nodes, self._rules.anywhere)
            nodes = tuple([below for node in around for below in node.below(tag)])
        found = self._alike.get((bound, nodes))
        if found is None:
            found = _watching(Place(bound, nodes))
        if next(self._steps) < LIMIT:  # several threads may read documents: the first to keep a place has it
            found = self._alike.setdefault((bound, nodes), found)
            return place.inner.setdefault(tag, found)
        self.is_full = True
        if (bound, nodes) not in self._alike:
            found.enough = 1  # the next element at this path will be at a place of its own
        return found

    def _root(self) -> Place:
        nodes: tuple[Node, ...] = ()
        if self._rules:
            every = (node for name, node in self._rules.anywhere.endings if not name.text)
            nodes = (self._rules.start, *every)
        return _watching(Place(self._bindings.start, nodes))


def _watching(place: Place) -> Place:
    """Enter contexts that begin here, and gather what the rules want to know of this place."""
    opened = []
    taken = set()  # the tables of which a context means the element: the first has it for its own
    for context in sorted((context for node in place.nodes for context in node.contexts), key=lambda it: it.order):
        if context.table in taken:
            continue
        place.nodes += (context.start,)
        opened += [Watch(rule, 0, opens=True) for rule in context.opened_by]
        if not context.condition:
            taken.add(context.table)
    attributes: dict[str, tuple[Watch, ...]] = {}
    for node in place.nodes:
        for name, rule in node.attributes:
            watch = Watch(rule, node.depth, select=checks.KINDS[rule.kind].select)
            attributes[name] = (*attributes.get(name, ()), watch)
    found = [
        Watch(rule, node.depth, select=checks.KINDS[rule.kind].select) for node in place.nodes for rule in node.rules
    ]
    place.watched, place.watched_attributes = (*opened, *found), attributes
    place.enough = min((_enough(watch) for watch in place.watched), default=1)
    return place


def _enough(watch: Watch) -> int:
    return checks.enough(watch.rule) if watch.rule.is_plain and not watch.opens else 1


_PLACES: Final[dict[tuple[object, ...], Places]] = {}


def places(syntax: str, watched: bool, level: str = "", releases: Releases = NEWEST) -> Places:
    """The places of ``UBL`` or ``CII``, with or without what its rules and those of a level of Factur-X want to know.

    Ask once a document: places that are full are kept to the end of the document that filled them, no longer.
    """
    key = (syntax, watched, level, *releases.items())
    known = _PLACES.get(key)
    if known is None or known.is_full:
        rules = rule_table(syntax, level, releases) if watched else None
        known = _PLACES[key] = Places(table(syntax), rules)
    return known
