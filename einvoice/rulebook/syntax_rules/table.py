"""The rows of a syntax as a tree, to match paths with rules.

Two kinds of trees are walked in parallel with the document: one tree leads to the contexts, and from each context
another leads to the elements that its rules check. As in the official artefacts, an element belongs to the
first context of each table that matches.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path as FilePath
from typing import NamedTuple, TypeAlias

from einvoice import cache
from einvoice.codelists import holds
from einvoice.resources import RuleData, shipped
from einvoice.rulebook.files.tables import FOLDER, codes_by_profile, tables
from einvoice.rulebook.files.versions import read_rulesets
from einvoice.rulebook.syntax_rules import checks, stops
from einvoice.rulebook.syntax_rules.rule import Name, SyntaxRule, step

Stack: TypeAlias = tuple[tuple[str, str], ...]
"""Rule sets, each with its release."""


@dataclass(slots=True, eq=False)
class Context:
    """The context of some rows.

    Attributes:
        order: position of the context in its table.
        table: name of the table.
        has_condition: whether its elements must meet conditions.
        opened_by: rules that are evaluated even if nothing is found.
        start: root of the tree of paths.
    """

    order: int
    table: str
    has_condition: bool
    opened_by: list[SyntaxRule] = field(default_factory=list)
    start: Node = field(default_factory=lambda: Node(0))


class Node:
    """A node of the tree of contexts or paths, with what begins and ends there.

    The nodes below are created when the matcher first asks for them: documents have few of the elements that the paths
    name. Threads may do so at the same time.

    Attributes:
        depth: number of steps below the element of the context; None if the path may begin anywhere.
        contexts: contexts whose pattern ends here.
        rules: rules with a path that ends here.
        attributes: rules with a path that ends at an attribute of the element, with the name of the attribute.
    """

    __slots__ = ("_below", "_longer", "attributes", "contexts", "depth", "rules")

    def __init__(self, depth: int | None) -> None:
        self.depth = depth
        self.contexts: tuple[Context, ...] = ()
        self.rules: tuple[SyntaxRule, ...] = ()
        self.attributes: tuple[tuple[str, SyntaxRule], ...] = ()
        self._longer: list[tuple[tuple[str, ...], str | None, Context | SyntaxRule]] = []
        self._below: _Below | None = None

    @property
    def endings(self) -> tuple[tuple[Name, Node], ...]:
        """The nodes below that lead to elements by the ending of their name."""
        return (self._below or self._grow()).endings

    def below(self, tag: str) -> Iterator[Node]:
        """Yield the nodes that an element named `tag` leads to."""
        children, endings = self._below or self._grow()
        if tag in children:
            yield children[tag]
        for name, node in endings:
            if _ends(tag, name):
                yield node

    def add(self, steps: tuple[str, ...], attribute: str | None, item: Context | SyntaxRule) -> None:
        """Add a context or rule at the end of a path from here, before the first call of `below`."""
        if steps:
            self._longer.append((steps, attribute, item))
        elif isinstance(item, Context):
            self.contexts += (item,)
        elif attribute:
            self.attributes += ((attribute, item),)
        else:
            self.rules += (item,)

    def _grow(self) -> _Below:
        depth = None if self.depth is None else self.depth + 1
        nodes: dict[Name, Node] = {}
        for (first, *rest), attribute, item in self._longer:
            for name in step(first).names:
                if name not in nodes:
                    nodes[name] = Node(depth)
                nodes[name].add(tuple(rest), attribute, item)
        children = {name.text: node for name, node in nodes.items() if not name.is_ending}
        self._below = _Below(children, tuple((name, node) for name, node in nodes.items() if name.is_ending))
        return self._below


class _Below(NamedTuple):
    children: dict[str, Node]
    endings: tuple[tuple[Name, Node], ...]


def _ends(tag: str, name: Name) -> bool:
    return tag.endswith(name.text) and (not name.namespace or tag.startswith(f"{{{name.namespace}}}"))


class RuleTable:
    """All rules of a syntax, in the order of the table.

    Attributes:
        rules: the rules.
        start: node of the root element.
        anywhere: root of the tree of patterns and paths that begin at any depth.
        of_blank: rules about blank elements.
    """

    def __init__(self, rules: Iterable[SyntaxRule]) -> None:
        self.rules = tuple(rules)
        self.start = Node(0)
        self.anywhere = Node(None)
        self.of_blank: tuple[SyntaxRule, ...] = ()
        contexts: dict[tuple[str, str], Context] = {}
        for rule in self.rules:
            key = rule.table, rule.context
            if key not in contexts:
                contexts[key] = self._context(rule, len(contexts))
            self._add(rule, contexts[key])

    def _context(self, rule: SyntaxRule, order: int) -> Context:
        patterns = [*rule.contexts()]
        context = Context(order, rule.table, has_condition=bool(patterns[-1].conditions))
        for pattern in patterns:
            (self.anywhere if pattern.anywhere else self.start).add(pattern.steps, None, context)
        return context

    def _add(self, rule: SyntaxRule, context: Context) -> None:
        check = checks.CHECKS[rule.check]
        rule.minimum = checks.minimum(rule)
        if check.blank:
            self.of_blank += (rule,)
            return
        floats = False
        for path in rule.paths():
            floats = path.anywhere and not rule.at_root
            (self.anywhere if path.anywhere else context.start).add(path.steps, path.attribute, rule)
        if floats or check.always:
            context.opened_by.append(rule)


def rule_table(syntax: str, stack: Stack, profile: str = "", data: RuleData | None = None) -> RuleTable:
    """Return the rules of `UBL` or `CII` in the rule sets of a stack.

    Args:
        syntax: `UBL` or `CII`.
        stack: the rule sets, each with its release.
        profile: the Factur-X profile (`minimum` …) whose rules are added; "" for none.
        data: the rule data; None is the shipped one.
    """
    return _rule_table(syntax, stack, profile, data or shipped())


@functools.cache
def _rule_table(syntax: str, stack: Stack, profile: str, data: RuleData) -> RuleTable:
    for owner in (syntax.lower(), *(_of_profiles(data) if profile else ())):
        import_module(f"einvoice.rulebook.syntax_rules.{owner}")  # registers its checks and conditions
    return RuleTable(_in_force(syntax, stack, profile, data))


def _of_profiles(data: RuleData) -> tuple[str, ...]:
    """Return the rule sets with the rules of Factur-X profiles."""
    return tuple(name for name, ruleset in read_rulesets(data.sets).items() if ruleset.kind == "profile")


def _in_force(syntax: str, stack: Stack, profile: str, data: RuleData) -> Iterator[SyntaxRule]:
    releases, profiles = dict(stack), _of_profiles(data) if profile else ()
    found = itertools.chain.from_iterable(rows(data.sets[name], syntax) for name in releases)
    stopping = itertools.chain.from_iterable(
        stop_rows(data.sets[name], profile or syntax)
        for name in profiles or releases  # a profile has its own sheet
    )
    of_profile = itertools.chain.from_iterable(_rows_of_profile(data.sets[name], profile) for name in profiles)
    for order, row in enumerate(itertools.chain(found, of_profile, stopping)):
        ruleset, table, code, context, check, path, argument, severity, since, until, *catalog_code = row
        if holds(since, until, releases.get(ruleset)):
            yield SyntaxRule(
                order, syntax, ruleset, table, code, context, check, path, argument, severity, since, until, releases,
                data, ruleset in profiles, *catalog_code,
            )  # fmt: skip


def rows(folder: FilePath, syntax: str) -> Iterator[list[str]]:
    """Yield the rows of a rule set for a syntax in all releases, each preceded by the rule set and the table."""
    for path in tables(folder, syntax):
        table = f"{folder.name}/{path.stem}"
        yield from ([folder.name, table, *row] for row in cache.table(path)[1:])


def stop_rows(folder: FilePath, name: str) -> Iterator[list[str]]:
    """Yield what stops the Schematron of a rule set for a syntax or a profile, as `rows` does; see `stops`."""
    path = folder / stops.FOLDER / f"{name.lower()}.csv"
    for rule, context, read, since, until in cache.table(path)[1:] if path.exists() else ():
        check, elements = _check_of(read)
        table = f"{folder.name}/{stops.FOLDER} {context}"  # the contexts do not exclude each other
        yield [folder.name, table, stops.CODE, context, check, elements, rule, "fatal", since, until]


def _check_of(path: str) -> tuple[str, str]:
    """Return the check for a path, and the path to the elements.

    >>> _check_of("ram:InvoiceCurrencyCode/text()"), _check_of("ram:LineTotalAmount")
    (('single_text', 'ram:InvoiceCurrencyCode'), ('single', 'ram:LineTotalAmount'))
    """
    for ending, check in stops.READ_AS.items():
        if path.endswith(ending):
            return check, path.removesuffix(ending)
    return stops.SINGLE, path


def _rows_of_profile(folder: FilePath, profile: str) -> Iterator[list[str]]:
    """Yield the rows of a Factur-X profile as `rows` does, with the code in this profile; that of the row is last.

    They are the same in all releases.
    """
    ruleset = folder.name
    for name in ("rows", "rules", "copies"):
        for code, *row, profiles in cache.table(folder / FOLDER / f"{name}.csv")[1:]:
            codes = codes_by_profile(code, profiles)
            if profile in codes:
                yield [ruleset, f"{ruleset}/{name}", codes[profile], *row, "", "", code]


@functools.cache
def shared_codes(data: RuleData) -> frozenset[str]:
    """Return the numbers of Factur-X profiles that stand for several elements."""
    elements: dict[str, set[str]] = {}
    for folder in (data.sets[name] for name in _of_profiles(data)):
        for code, context, _, path, *_, profiles in cache.table(folder / FOLDER / "rows.csv")[1:]:
            for number in codes_by_profile(code, profiles).values():
                elements.setdefault(number, set()).add(f"{context} {path}")
    return frozenset(number for number, paths in elements.items() if len(paths) > 1)
