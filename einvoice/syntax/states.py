"""Element states: what the reader knows about each path, computed on first occurrence and cached.

Untrusted documents may have as many paths as elements; at most `LIMIT` transitions are kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from typing import Any, Final

from einvoice.syntax.mapping.binding import UNMAPPED, State, Table
from einvoice.syntax.mapping.tables import table

LIMIT: Final = 10_000
_UNMAPPED: Final = State(UNMAPPED)
_LONGEST_KEPT: Final = 16
_VIEWS_KEPT: Final = 100


class ElementState(State):
    """A path, or several paths with the same meaning.

    Attributes:
        next: states of the child elements seen in documents so far, by tag.
        collected: whether the collector takes the elements at this path.
        collected_attributes: attributes whose elements the collector takes.
        views: views of the short texts read so far.
    """

    __slots__ = ("collected", "collected_attributes", "next", "views")

    def __init__(self, bound: State) -> None:
        super().__init__(**{name: getattr(bound, name) for name in State.__slots__})
        self.next: dict[Any, ElementState] = {}
        self.collected = False
        self.collected_attributes: Collection[str] = ()
        self.views: dict[str, str] = {}

    def view_of(self, raw: str, view: Callable[[str], str]) -> str:
        """Return the text that the official rules compare; keep it if it is short, as codes are."""
        text = view(raw)
        if len(raw) <= _LONGEST_KEPT and len(self.views) < _VIEWS_KEPT:
            self.views[raw] = text
        return text


class ElementStates:
    """The states of one syntax, from the root element (`start`) on.

    `blank` is not a path: it represents all elements without children and text. `is_full` is set at `LIMIT`.
    """

    def __init__(self, table: Table) -> None:
        self.syntax = table.syntax
        self.is_full = False
        self._table = table
        self._transitions = itertools.count()
        self._shared: dict[tuple[State, tuple[Any, ...]], ElementState] = {}
        self.start = self._create(table.start, self._matches(None, ""), is_shared=True)
        self.blank = ElementState(_UNMAPPED)

    def below(self, parent: ElementState, tag: Any) -> ElementState:
        """Return the state of an element named `tag` inside an element in the state `parent`."""
        bound = parent.children.get(tag) or self._table.misplaced.get(tag) or _UNMAPPED
        key = bound, self._matches(parent, tag)
        state = self._shared.get(key)
        is_kept = next(self._transitions) < LIMIT
        if state is None:
            state = self._create(*key, is_shared=is_kept)
        if is_kept:  # several threads may read documents: the first one to store a state wins
            return parent.next.setdefault(tag, self._shared.setdefault(key, state))
        self.is_full = True
        return state

    def _matches(self, parent: ElementState | None, tag: Any) -> tuple[Any, ...]:
        """Return what distinguishes states of the same meaning; subclasses override this."""
        return ()

    def _create(self, bound: State, matches: tuple[Any, ...], *, is_shared: bool) -> ElementState:
        """Return a new state; `is_shared` means that all matching elements of a document use the same one."""
        return ElementState(bound)


_STATES: Final[dict[str, ElementStates]] = {}


def element_states(syntax: str) -> ElementStates:
    """Return the states of `UBL` or `CII`; call once per document, since full ones are replaced."""
    states = _STATES.get(syntax)
    if states is None or states.is_full:
        states = _STATES[syntax] = ElementStates(table(syntax))
    return states
