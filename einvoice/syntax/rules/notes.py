"""What one document has at the places that the syntax rules look at, and which rules it breaks."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from einvoice.syntax.rules import kinds
from einvoice.syntax.rules.places import Places, Watch, places
from einvoice.syntax.rules.rule import SyntaxRule
from einvoice.syntax.tables import table_of


@dataclass(frozen=True, slots=True)
class SyntaxHit:
    """A syntax rule that is broken.

    ``context`` is the element that the official finding points to. ``found`` is what the rule found there, in the order
    of the document; there may be nothing, where something is missing.
    """

    rule: SyntaxRule
    context: Any
    found: tuple[Any, ...]

    @property
    def code(self) -> str:
        """The code of the rule."""
        return self.rule.code

    @property
    def element(self) -> Any:
        """The element to look at: the first that is too much, or else the one in which something is missing."""
        if not self.found:
            return self.context
        allowed = int(self.rule.argument) if self.rule.kind == "at_most" else self.rule.kind == "one"
        return self.found[min(allowed, len(self.found) - 1)]

    @property
    def attribute(self) -> str | None:
        """The attribute of ``element`` to look at; None if it is the element itself, or the attribute is missing."""
        return self.rule.attribute if self.found else None

    @property
    def values(self) -> dict[str, object]:
        """What a text can quote: how many were found, and how many there may be."""
        return {"count": len(self.found), "argument": self.rule.argument}


class Notes:
    """What the reader notes of a document for the syntax rules.

    ``root`` is the root element of the document that will be read.
    """

    __slots__ = ("_noted", "_root", "places")

    def __init__(self, root: Any) -> None:
        self.places: Places = places(table_of(root.tag).syntax, watched=True)
        self._root = root
        self._noted: dict[SyntaxRule, dict[Any, list[Any]]] = {}

    def note(self, element: Any, watches: Iterable[Watch]) -> None:
        """Note an element for the rules that watch it."""
        for rule, up, opens, test in watches:
            if test is not None and not test(rule, element):
                continue
            context = self._root if up is None else _ancestor(element, up)
            noted = self._noted.get(rule)
            if noted is None:
                noted = self._noted[rule] = {}
            if context not in noted:
                noted[context] = []
            if not opens:
                noted[context].append(element)

    def note_attributes(self, element: Any, watched: Mapping[str, Iterable[Watch]]) -> None:
        """Note an element for the rules that watch one of its attributes."""
        for name in element.keys():  # noqa: SIM118 - an element is no mapping
            if name in watched:
                self.note(element, watched[name])

    def hits(self) -> list[SyntaxHit]:
        """The rules that the document breaks, in the order of the table; one hit for each place where it does."""
        return [hit for rule in sorted(self._noted, key=lambda rule: rule.order) for hit in self._judge(rule)]

    def _judge(self, rule: SyntaxRule) -> Iterator[SyntaxHit]:
        occurrences: kinds.Occurrences = self._noted[rule]
        if rule.is_anywhere and not rule.at_root:  # whatever was found in the document counts in each context
            everywhere = occurrences.get(self._root, [])
            occurrences = {context: everywhere for context in occurrences if context is not self._root}
        if rule.has_conditions:
            occurrences = _fitting(rule, occurrences)
        for context in kinds.KINDS[rule.kind].broken(rule, occurrences):
            yield SyntaxHit(rule, context, tuple(occurrences[context]))


def _fitting(rule: SyntaxRule, occurrences: kinds.Occurrences) -> kinds.Occurrences:
    """Only the elements for which the conditions in the rule's context and path hold."""

    @functools.cache
    def holds(name: str, element: Any) -> bool:
        return rule.condition(name)(element)

    def fits(element: Any, conditions: Iterable[tuple[int, str]]) -> bool:
        return all(holds(name, _ancestor(element, up)) for up, name in conditions)

    context_conditions = [pair for pattern in rule.contexts() for pair in pattern.conditions]
    path_conditions = [pair for path in rule.paths() for pair in path.conditions]
    fitting = {
        context: [element for element in found if fits(element, path_conditions)]
        for context, found in occurrences.items()
        if fits(context, context_conditions)
    }
    always = kinds.KINDS[rule.kind].always
    return {context: found for context, found in fitting.items() if found or always}


def _ancestor(element: Any, up: int) -> Any:
    for _ in range(up):
        element = element.getparent()
    return element
