"""Matches paths with syntax rules. Each path is matched once, when it first occurs in a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.table import Node, RuleTable
from einvoice.syntax.mapping.binding import State, Table
from einvoice.syntax.states import ElementState, ElementStates


class Watch(NamedTuple):
    """A rule that needs the elements of a state.

    Attributes:
        rule: the rule.
        depth: steps from the element of the context to this one; None if the context does not matter.
        is_context: whether the element is the context itself.
    """

    rule: SyntaxRule
    depth: int | None
    is_context: bool = False


class MatchedState(ElementState):
    """A path with the rules that apply to it.

    Attributes:
        nodes: nodes of the rule table that the path leads to.
        watches: rules that need the elements.
        repeat_watches: rules that need them only if there are several.
        attribute_watches: rules that need the elements with an attribute, by name of the attribute.
    """

    __slots__ = ("attribute_watches", "nodes", "repeat_watches", "watches")

    def __init__(self, bound: State, nodes: tuple[Node, ...] = (), watches: tuple[Watch, ...] = ()) -> None:
        super().__init__(bound)
        self.nodes = nodes
        self.watches = watches
        self.repeat_watches: tuple[Watch, ...] = ()
        self.attribute_watches: Mapping[str, tuple[Watch, ...]] = {}


class Matcher(ElementStates):
    """Matches the paths in documents of one syntax with a table of rules, and keeps the results."""

    def __init__(self, bindings: Table, rules: RuleTable) -> None:
        self._rules = rules
        super().__init__(bindings)
        blank = MatchedState(self.blank, watches=tuple(Watch(rule, 0) for rule in rules.of_blank))
        blank.collected = bool(blank.watches)
        self.blank = blank

    def _matches(self, parent: ElementState | None, tag: Any) -> tuple[Node, ...]:
        if parent is None:
            anywhere = (node for name, node in self._rules.anywhere.endings if not name.text)
            return (self._rules.start, *anywhere)
        if not isinstance(parent, MatchedState) or not isinstance(tag, str):
            return ()
        return tuple([below for node in (*parent.nodes, self._rules.anywhere) for below in node.below(tag)])

    def _create(self, bound: State, matches: tuple[Node, ...], *, is_shared: bool) -> MatchedState:
        state = MatchedState(bound, matches)
        contexts = _enter_contexts(state)
        attributes: dict[str, tuple[Watch, ...]] = {}
        for node in state.nodes:
            for name, rule in node.attributes:
                attributes[name] = (*attributes.get(name, ()), Watch(rule, node.depth))
        found = [Watch(rule, node.depth) for node in state.nodes for rule in node.rules]
        state.watches, state.attribute_watches = (*contexts, *found), attributes
        state.collected, state.collected_attributes = bool(state.watches), attributes
        if is_shared:  # otherwise each element may have a state of its own
            state.repeat_watches = tuple([it for it in state.watches if _needs_several(it)])
            state.watches = tuple([it for it in state.watches if not _needs_several(it)])
        return state


def _enter_contexts(state: MatchedState) -> list[Watch]:
    """Add the nodes of the contexts that begin at a state, and return the rules that need the context itself."""
    watches = []
    tables = set()  # an element belongs to the first context of each table that matches
    for context in sorted((context for node in state.nodes for context in node.contexts), key=lambda it: it.order):
        if context.table in tables:
            continue
        state.nodes += (context.start,)
        watches += [Watch(rule, 0, is_context=True) for rule in context.opened_by]
        if not context.has_condition:
            tables.add(context.table)
    return watches


def _needs_several(watch: Watch) -> bool:
    return watch.rule.minimum > 1 and watch.rule.is_plain and not watch.is_context
