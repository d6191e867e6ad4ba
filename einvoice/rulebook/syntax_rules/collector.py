"""What one document has at the places that the syntax rules look at, and which rules it breaks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from einvoice.model import location
from einvoice.rulebook.syntax_rules import checks
from einvoice.rulebook.syntax_rules.checks import Occurrences
from einvoice.rulebook.syntax_rules.matcher import Place, Places, Watch, places
from einvoice.rulebook.syntax_rules.rule import Conditions, SyntaxRule
from einvoice.rulebook.syntax_rules.table import NEWEST, Releases
from einvoice.syntax.mapping.tables import table_of

_Noted: TypeAlias = list[tuple[Watch, list[Any]]]


@dataclass(frozen=True, slots=True)
class SyntaxHit:
    """A syntax rule that is broken.

    ``context`` is the element that the official finding points to. ``found`` is what the rule found there; those at the
    same path are in the order of the document. There may be nothing, where something is missing.
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
        kind = self.rule.kind
        if kind in ("at_most", "one"):
            allowed = int(self.rule.argument or 1)
            return self.found[allowed] if len(self.found) > allowed else self.context
        return self.context if checks.KINDS[kind].always else self.found[0]

    @property
    def attribute(self) -> str | None:
        """The attribute of ``element`` to look at; None if it is the element itself, or the attribute is missing."""
        return self.rule.attribute if self.found else None

    @property
    def values(self) -> dict[str, object]:
        """What a text can quote: how many were found, how many there may be, and what the one to look at says.

        The texts of a rule of the rule language call the last one ``actual``; a level of Factur-X may have it here.
        """
        said = checks.said(self.rule, self.element) if self.found else ""
        values = {"count": len(self.found), "argument": self.rule.argument, "found": said, "name": self.name}
        return {**values, "actual": said} if self.rule.of_level else values

    @property
    def name(self) -> str:
        """The name of what to look at, with the usual prefix: ``cbc:EndpointID/@schemeID``."""
        name = location.name(self.element.tag)
        return f"{name}/@{self.attribute}" if self.attribute else name


class Notes:
    """What the reader notes of a document for the syntax rules.

    ``root`` is the root element of the document that will be read, ``level`` the level of Factur-X whose rules are
    judged beside those of the syntax, if any, ``releases`` those to judge by. ``elements`` are those at watched places;
    ``attributes`` those with a watched attribute.
    """

    __slots__ = ("_root", "attributes", "elements", "places")

    def __init__(self, root: Any, level: str = "", releases: Releases = NEWEST) -> None:
        self.places: Places = places(table_of(root.tag).syntax, watched=True, level=level, releases=releases)
        self.elements: defaultdict[Place, list[Any]] = defaultdict(list)
        self.attributes: defaultdict[tuple[Place, str], list[Any]] = defaultdict(list)
        self._root = root

    def hits(self) -> list[SyntaxHit]:
        """The rules that the document breaks, in the order of the table; one hit for each place where it does."""
        noted: defaultdict[SyntaxRule, _Noted] = defaultdict(list)
        for place, elements in self.elements.items():
            if len(elements) >= place.enough:
                for watch in place.watched:
                    noted[watch.rule].append((watch, elements))
        for (place, name), elements in self.attributes.items():
            for watch in place.watched_attributes[name]:
                noted[watch.rule].append((watch, elements))
        hits: list[SyntaxHit] = []
        for rule, found in noted.items():
            if checks.enough(rule) < 2 or _repeats(found):
                hits += _judge(rule, self._occurrences(rule, found))
        hits.sort(key=lambda hit: hit.rule.order)
        return hits

    def _occurrences(self, rule: SyntaxRule, noted: _Noted) -> Occurrences:
        occurrences: dict[Any, list[Any]] = {}
        for watch, elements in noted:
            if watch.opens:
                for element in elements:
                    occurrences.setdefault(element, [])
                continue
            if watch.select is not None:
                elements = watch.select(rule, elements)
            if watch.up is None:
                occurrences.setdefault(self._root, []).extend(elements)
                continue
            steps = range(watch.up)
            for element in elements:
                context = element
                for _ in steps:
                    context = context.getparent()
                if context in occurrences:
                    occurrences[context].append(element)
                else:
                    occurrences[context] = [element]
        if rule.is_anywhere and not rule.at_root:  # whatever was found in the document counts in each context
            everywhere = occurrences.pop(self._root, [])
            return dict.fromkeys(occurrences, everywhere)
        return occurrences


def _repeats(noted: _Noted) -> bool:
    """Whether there may be two of something: the quick look that settles most rules that are about that."""
    if len(noted) > 1:
        return True
    watch, elements = noted[0]
    if watch.up is None or len(elements) < 2:
        return len(elements) > 1
    contexts = set(elements)
    for _ in range(watch.up):
        contexts = {element.getparent() for element in contexts}
        if len(contexts) < len(elements):
            return True
    return False


def _judge(rule: SyntaxRule, occurrences: Occurrences) -> Iterator[SyntaxHit]:
    broken = checks.KINDS[rule.kind].broken
    contexts = list(broken(rule, occurrences))
    if contexts and rule.has_conditions:  # asked last: without them a rule is broken rather more often, never less
        occurrences = _fitting(rule, {context: occurrences[context] for context in contexts})
        contexts = list(broken(rule, occurrences))
    for context in contexts:
        yield SyntaxHit(rule, context, tuple(occurrences[context]))


def _fitting(rule: SyntaxRule, occurrences: Occurrences) -> Occurrences:
    """Only the elements for which the conditions in the rule's context and path hold."""
    answers: dict[tuple[str, Any], bool] = {}

    def fits(element: Any, conditions: Conditions) -> bool:
        for above, name in conditions:
            asked = _ancestor(element, above)
            if (name, asked) not in answers:
                answers[name, asked] = rule.condition(name)(asked)
            if not answers[name, asked]:
                return False
        return True

    fitting = {
        context: [element for element in found if fits(element, rule.path_conditions)]
        for context, found in occurrences.items()
        if fits(context, rule.context_conditions)
    }
    always = checks.KINDS[rule.kind].always
    return {context: found for context, found in fitting.items() if found or always}


def _ancestor(element: Any, up: int) -> Any:
    for _ in range(up):
        element = element.getparent()
    return element
