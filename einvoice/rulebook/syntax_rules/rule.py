"""Syntax rules: one row of a table, and the notation of its paths."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from einvoice import codelists
from einvoice.model.location import NAMESPACES
from einvoice.resources import RuleData
from einvoice.rulebook.syntax_rules.conditions import Condition, condition
from einvoice.syntax.mapping.binding import qualified

Conditions: TypeAlias = tuple[tuple[int, str], ...]


class Name(NamedTuple):
    """The name of an element, or the ending of a name.

    Attributes:
        text: the name as lxml writes it, or the ending.
        namespace: namespace that an ending requires; "" for any.
        is_ending: whether `text` is an ending.
    """

    text: str
    namespace: str | None = None
    is_ending: bool = False


class Step(NamedTuple):
    """A step of a path: an element with one of the names that meets the condition."""

    names: tuple[Name, ...]
    condition: str = ""


class Path(NamedTuple):
    """A path.

    Attributes:
        anywhere: whether the first step matches at any depth.
        steps: steps downwards as they are written, for `step`.
        attribute: name of the attribute at the end.
    """

    anywhere: bool
    steps: tuple[str, ...]
    attribute: str | None

    @property
    def conditions(self) -> Conditions:
        """Conditions of the steps, each with the number of steps from it to the last one."""
        return tuple((above, step(it).condition) for above, it in enumerate(reversed(self.steps)) if "[" in it)


@dataclass(eq=False)
class SyntaxRule:
    """A row: in each element that `context` matches, the elements at `path` must pass `check`.

    Attributes:
        order: position of the row among all rows of its syntax.
        ruleset: rule set of the row.
        table: table of the row; an element belongs to one context of each table.
        argument: argument of the check: a number, a value, a condition or the name of an element.
        severity: flag of the official artefact, fatal or warning.
        since, until: first release with the row, and first release without it.
        releases: release to validate by, for each rule set; the newest for one that is not named.
        data: rule data with the code lists; None is the shipped one.
        of_profile: whether it is a rule of a Factur-X profile.
        catalog_code: code of its catalog entry if that is not its own: each profile has numbers of its own for rules
            that all profiles share.
        minimum: with fewer elements in a document, the rule is not violated.
    """

    order: int
    syntax: str
    ruleset: str
    table: str
    code: str
    context: str
    check: str
    path: str
    argument: str
    severity: str
    since: str = ""
    until: str = ""
    releases: Mapping[str, str] = field(default_factory=dict)
    data: RuleData | None = None
    of_profile: bool = False
    catalog_code: str = ""
    minimum: int = field(default=1, init=False)

    @property
    def layer(self) -> str:
        """The layer of the rule: the name of its rule set."""
        return self.ruleset

    def codes(self, name: str, syntax: str | None = None) -> frozenset[str]:
        """Return the codes of a list in the release to validate by; `codelists.codes` describes the arguments."""
        return codelists.codes(name, self._release_of(name), syntax, self.data)

    def codes_by_name(self, name: str) -> Mapping[str, str]:
        """Return the codes of a list in the rule's syntax as `codelists.by_name` does."""
        return codelists.by_name(name, self._release_of(name), self.syntax, self.data)

    def ordered_codes(self, name: str, syntax: str | None = None) -> tuple[str, ...]:
        """Return the codes as `codes` does, but in the order of the official list."""
        return codelists.ordered(name, self._release_of(name), syntax, self.data)

    def _release_of(self, code_list: str) -> str | None:
        return self.releases.get(codelists.ruleset_of(code_list, self.data))

    @functools.cached_property
    def at_root(self) -> bool:
        """Whether the context is the root element."""
        return self.context == "/"

    @functools.cached_property
    def is_plain(self) -> bool:
        """Whether all elements found in one context have the same path in the document."""
        return not any(sign in self.path for sign in "|,*") and not self.is_anywhere

    @functools.cached_property
    def is_anywhere(self) -> bool:
        """Whether the path starts at any depth of the document instead of at the context."""
        return self.path.startswith("//")

    @functools.cached_property
    def has_conditions(self) -> bool:
        """Whether the context or the path has conditions."""
        return "[" in self.context or "[" in self.path

    @functools.cached_property
    def attribute(self) -> str | None:
        """The name of the attribute that the rule reads; None for the text."""
        return parse(self.path).attribute

    def contexts(self) -> Iterator[Path]:
        """Return the patterns of the context."""
        return (parse(pattern) for pattern in self.context.split(" "))

    def paths(self) -> Iterator[Path]:
        """Return the paths from the context to the elements to check."""
        return (parse(path) for path in self.path.split(", "))

    @functools.cached_property
    def path_count(self) -> int:
        """The number of paths."""
        return self.path.count(", ") + 1

    @functools.cached_property
    def context_conditions(self) -> Conditions:
        """Conditions that an element must meet to be a context."""
        return parse(self.context).conditions

    @functools.cached_property
    def path_conditions(self) -> Conditions:
        """Conditions of an element that the path selects, and of its ancestors."""
        return parse(self.path).conditions

    def condition(self, name: str) -> Condition:
        """Return the condition of that name."""
        return condition(self.syntax, name, self.data)


def parse(text: str) -> Path:
    """Parse a path in the notation of the tables.

    >>> parse("//cac:Party[vat]/cbc:ID/@schemeID")
    Path(anywhere=True, steps=('cac:Party[vat]', 'cbc:ID'), attribute='schemeID')
    >>> parse("cbc:ID[@schemeID=0225]"), parse("//cac:Party[vat]/cbc:ID").conditions
    (Path(anywhere=False, steps=('cbc:ID[@schemeID=0225]',), attribute=None), ((1, 'vat'),))
    """
    parts = text.split("/")
    attribute = parts.pop()[1:] if parts[-1].startswith("@") else None
    return Path(text.startswith("//"), tuple([step for step in parts if step.strip(".")]), attribute)


@functools.cache
def step(text: str) -> Step:
    """Parse a step of a path: `cac:Party[vat]`."""
    names, _, condition = text.partition("[")
    return Step(tuple(_name(name) for name in names.split("|")), condition.rstrip("]"))


def _name(text: str) -> Name:
    prefix, star, ending = text.rpartition("*")
    if not star:
        return Name(qualified(text))
    return Name(ending, NAMESPACES[prefix.rstrip(":")] if prefix else "", is_ending=True)
