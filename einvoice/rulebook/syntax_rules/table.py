"""The rows of a syntax as a tree: which of them have a say at a path.

Two trees of steps are walked down together with the document: one leads to the contexts, and at each context another
one begins, which leads to what its rules look at. As in the artefacts, an element belongs to one context only of each
table: to the first that means it.
"""

from __future__ import annotations

import csv
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from einvoice.codelists import holds
from einvoice.resources import rules_folder
from einvoice.rulebook.syntax_rules import checks
from einvoice.rulebook.syntax_rules.rule import LEVELS, Name, Path, SyntaxRule, words

NATIONAL: Final = "national"
TABLES: Final = ("", "codes", NATIONAL)
"""The tables of a syntax: ``ubl.csv``, ``ubl-codes.csv`` …; each is what the artefacts call a pattern."""
Releases: TypeAlias = Mapping[str, str]
"""The release to judge by, by rule set; the newest of those that are not named."""
NEWEST: Final[Releases] = {}


@dataclass(slots=True, eq=False)
class Context:
    """The elements that some rows are judged in, and the way to what these rows look at."""

    order: int
    table: str
    condition: str
    opened_by: list[SyntaxRule] = field(default_factory=list)  # these are judged even where nothing is found
    start: Node = field(default_factory=lambda: Node(0))


@dataclass(slots=True, eq=False)
class Node:
    """Where some steps of patterns or paths lead: what begins and what ends there."""

    depth: int | None  # steps below the element of the context; None if the path may begin anywhere
    children: dict[str, Node] = field(default_factory=dict)
    endings: tuple[tuple[Name, Node], ...] = ()
    contexts: tuple[Context, ...] = ()
    rules: tuple[SyntaxRule, ...] = ()
    attributes: tuple[tuple[str, SyntaxRule], ...] = ()

    def below(self, tag: str) -> Iterator[Node]:
        """The nodes that an element named ``tag`` leads to."""
        if tag in self.children:
            yield self.children[tag]
        for name, node in self.endings:
            if _ends(tag, name):
                yield node

    def grow(self, path: Path) -> Iterator[Node]:
        """The nodes at the end of a path from here; steps that are not there yet are made."""
        nodes = [self]
        for step in path.steps:
            nodes = [node._child(name) for node in nodes for name in step.names]
        return iter(nodes)

    def _child(self, name: Name) -> Node:
        depth = None if self.depth is None else self.depth + 1
        if not name.is_ending:
            if name.text not in self.children:
                self.children[name.text] = Node(depth)
            return self.children[name.text]
        for known, node in self.endings:
            if known == name:
                return node
        node = Node(depth)
        self.endings += ((name, node),)
        return node


def _ends(tag: str, name: Name) -> bool:
    return tag.endswith(name.text) and (not name.namespace or tag.startswith(f"{{{name.namespace}}}"))


class RuleTable:
    """All rules of a syntax, in the order of the table."""

    def __init__(self, rules: Iterable[SyntaxRule]) -> None:
        self.rules = tuple(rules)
        self.start = Node(0)  # the root element
        self.anywhere = Node(None)
        self.of_blank: tuple[SyntaxRule, ...] = ()
        contexts: dict[tuple[str, str], Context] = {}
        for rule in self.rules:
            key = rule.table, rule.context
            if key not in contexts:
                contexts[key] = self._context(rule, len(contexts))
            self._add(rule, contexts[key])

    def _context(self, rule: SyntaxRule, order: int) -> Context:
        patterns = list(rule.contexts())
        conditions = [step.condition for step in patterns[-1].steps if step.condition]
        context = Context(order, rule.table, " ".join(conditions))
        for pattern in patterns:
            for node in (self.anywhere if pattern.anywhere else self.start).grow(pattern):
                node.contexts += (context,)
        return context

    def _add(self, rule: SyntaxRule, context: Context) -> None:
        if checks.KINDS[rule.kind].blank:
            self.of_blank += (rule,)
            return
        floats = False
        for path in rule.paths():
            floats = path.anywhere and not rule.at_root
            for node in (self.anywhere if path.anywhere else context.start).grow(path):
                if path.attribute:
                    node.attributes += ((path.attribute, rule),)
                else:
                    node.rules += (rule,)
        if floats or checks.KINDS[rule.kind].always:
            context.opened_by.append(rule)


def rule_table(syntax: str, level: str = "", releases: Releases = NEWEST) -> RuleTable:
    """The rules of ``UBL`` or ``CII``, with those of a level of Factur-X (``minimum`` …), in certain releases.

    They are read when first asked for.
    """
    return _rule_table(syntax, level, releases.get("en16931"), releases.get("xrechnung"))


@functools.cache
def _rule_table(syntax: str, level: str, core: str | None, national: str | None) -> RuleTable:
    words(syntax)
    if level:
        words(LEVELS)
    return RuleTable(_in_force(syntax, level, core, national))


def _in_force(syntax: str, level: str, core: str | None, national: str | None) -> Iterator[SyntaxRule]:
    for order, row in enumerate(itertools.chain(rows(syntax), _rows_of_level(level) if level else ())):
        rule = SyntaxRule(order, syntax, *row)
        rule.release = national if rule.table == NATIONAL else core
        if holds(rule.since, rule.until, rule.release):
            yield rule


def rows(syntax: str) -> Iterator[list[str]]:
    """The rows of all tables of a syntax in all releases, each after the name of its table."""
    for name in TABLES:
        file = "-".join((syntax.lower(), *filter(None, (name,))))
        with (rules_folder() / "syntax" / f"{file}.csv").open(encoding="utf-8", newline="") as table:
            content = csv.reader(table)
            next(content)
            yield from ([name, *row] for row in content)


def _rows_of_level(level: str) -> Iterator[list[str]]:
    """The rows of the tables of ``rules/facturx/syntax`` that hold in a level of Factur-X, each after the name of its table."""
    for name in ("rows", "rules"):
        with (rules_folder() / "facturx" / "syntax" / f"{name}.csv").open(encoding="utf-8", newline="") as table:
            content = csv.reader(table)
            next(content)
            yield from ([f"{LEVELS}-{name}", *row] for *row, levels in content if level in levels.split(" "))
