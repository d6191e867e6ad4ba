"""One row of the tables of syntax rules, and the notation of its paths."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice.model.location import NAMESPACES
from einvoice.syntax.mapping.binding import qualified

Condition: TypeAlias = Callable[[Any], bool]
Conditions: TypeAlias = tuple[tuple[int, str], ...]
LEVELS: Final = "facturx"
"""How the tables with the rules of the levels of Factur-X begin, and the module of their words."""


class Name(NamedTuple):
    """The name of an element: whole, or only how it ends."""

    text: str  # a whole name as lxml writes it, or an ending
    namespace: str | None = None  # of an ending: the namespace it is asked in, "" for any
    is_ending: bool = False


class Step(NamedTuple):
    """One step of a path: an element with one of the names, for which the condition holds."""

    names: tuple[Name, ...]
    condition: str = ""


class Path(NamedTuple):
    """Steps downwards, from somewhere or (``anywhere``) from wherever the first step fits."""

    anywhere: bool
    steps: tuple[Step, ...]
    attribute: str | None
    conditions: Conditions  # of the steps, each with how many steps above the last one it is asked


@dataclass(eq=False)
class SyntaxRule:
    """A row: in each element that ``context`` means, what ``path`` leads to must be as ``kind`` says.

    ``argument`` is what the kind needs besides: a number, a value, a condition, the name of an element. ``severity`` is
    the flag of the official artefact, fatal or warning. ``order`` is the number of the row among all of its syntax.
    ``table`` is the table it stands in: an element belongs to one context only in each.
    ``since`` is the first release that has the row, ``until`` the first that no longer has it, ``release`` the one to
    judge by; None is the newest.
    """

    order: int
    syntax: str
    table: str
    code: str
    context: str
    kind: str
    path: str
    argument: str
    severity: str
    since: str = ""
    until: str = ""
    release: str | None = None

    @property
    def layer(self) -> str:
        """The layer of the rules: those of the nation and of Factur-X have tables of their own."""
        if self.of_level:
            return "profile"
        return "cius" if self.table == "national" else "en16931"

    @functools.cached_property
    def of_level(self) -> bool:
        """Whether it is a rule of a level of Factur-X."""
        return self.table.startswith(LEVELS)

    @functools.cached_property
    def at_root(self) -> bool:
        """Whether the rule is judged once a document."""
        return self.context == "/"

    @functools.cached_property
    def is_plain(self) -> bool:
        """Whether all that one element of the context is judged by has the same path in the document."""
        return not any(sign in self.path for sign in "|,*") and not self.is_anywhere

    @functools.cached_property
    def is_anywhere(self) -> bool:
        """Whether the path leads through the whole document, not from the context on."""
        return self.path.startswith("//")

    @functools.cached_property
    def has_conditions(self) -> bool:
        """Whether not all elements count that context and path lead to."""
        return "[" in self.context or "[" in self.path

    @functools.cached_property
    def attribute(self) -> str | None:
        """The name of the attribute that the rule is about."""
        return self.path.rpartition("@")[2] if "@" in self.path else None

    def contexts(self) -> Iterator[Path]:
        """Where the rule is judged: one pattern or several."""
        return (parse(pattern) for pattern in self.context.split(" "))

    def paths(self) -> Iterator[Path]:
        """What the rule looks at below its context: one path or several."""
        return (parse(path) for path in self.path.split(", "))

    @functools.cached_property
    def context_conditions(self) -> Conditions:
        """What is asked of an element of the context."""
        return parse(self.context).conditions

    @functools.cached_property
    def path_conditions(self) -> Conditions:
        """What is asked of an element that the path leads to, and of those above it."""
        return parse(self.path).conditions

    def condition(self, name: str) -> Condition:
        """The condition of that name in the words of the rule's table or syntax."""
        condition: Condition = getattr(words(LEVELS if self.of_level else self.syntax), name)
        return condition


@functools.cache
def words(syntax: str) -> ModuleType:
    """The module that has the conditions of a syntax or of Factur-X, and the kinds of rules that only these have."""
    return import_module(f"einvoice.rulebook.syntax_rules.{syntax.lower()}")


@functools.cache
def parse(text: str) -> Path:
    """Read a path in the notation of the tables.

    >>> parse("//cac:Party[known]/cbc:ID/@schemeID").attribute
    'schemeID'
    >>> [step.condition for step in parse("//cac:Party[known]/cbc:ID").steps]
    ['known', '']
    >>> parse(".")
    Path(anywhere=False, steps=(), attribute=None, conditions=())
    """
    elements, _, attribute = text.rpartition("@") if "@" in text else (text, "", "")
    anywhere = elements.startswith("//")
    steps = tuple(_step(step) for step in elements.split("/") if step.strip("."))
    conditions = tuple((above, step.condition) for above, step in enumerate(reversed(steps)) if step.condition)
    return Path(anywhere, steps, attribute or None, conditions)


@functools.cache
def _step(text: str) -> Step:
    names, _, condition = text.partition("[")
    return Step(tuple(_name(name) for name in names.split("|")), condition.rstrip("]"))


def _name(text: str) -> Name:
    prefix, star, ending = text.rpartition("*")
    if not star:
        return Name(qualified(text))
    return Name(ending, NAMESPACES[prefix.rstrip(":")] if prefix else "", is_ending=True)
