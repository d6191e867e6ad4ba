"""Run the rules. The rule book finds the rule sets, proves them, and keeps the code it made of them on disk.

What is on the way of a validation with a warm cache is here; the rest of the room is only imported to make the code.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from einvoice.model.group import Group, kinds_of
from einvoice.model.values import absent
from einvoice.resources import rules_folder
from einvoice.rulebook import cache
from einvoice.rulebook.functions import EXACT, WORDS
from einvoice.rulebook.functions.vat import WithVat
from einvoice.rulebook.rule import Fired, Rule

if TYPE_CHECKING:
    from einvoice.model.invoice import Invoice

LAYERS: Final = ("en16931", "cius")


class Layer(NamedTuple):
    """The rules of one layer in a program: from which rule set and release, how many rules, and what exactly.

    ``sha256`` is that of the rule data, in hexadecimal digits; ``specification`` is the version of the specification
    that the release judges, where it is numbered apart.
    """

    name: str
    ruleset: str
    version: str
    specification: str
    date: str
    title: dict[str, str]
    sha256: str
    rules: int


class Program:
    """The rules of one syntax, certain layers and certain versions, ready to run; made of what ``build`` worked out."""

    def __init__(
        self,
        layers: Sequence[Layer],
        rules: Sequence[tuple[Any, ...]],
        code: CodeType,
        numbers: Mapping[str, str],
        lists: Mapping[str, Any],
    ) -> None:
        self.layers = tuple(layers)
        self.rules = tuple(Rule(*row) for row in rules)
        module = {**WORDS, "absent": absent, **lists, **{name: Decimal(number) for name, number in numbers.items()}}
        exec(code, module)  # our own code, made by `generate` from expressions that `language` has checked
        self._functions = module["_functions"]

    @property
    def count(self) -> int:
        """How many rules are evaluated."""
        return len(self.rules)

    def run(self, invoice: Invoice) -> list[Fired]:
        """Everything that breaks a rule, in the order of the contexts and rules. The invoice is only read."""
        broken: list[tuple[int, tuple[Any, ...], tuple[bool, ...]]] = []
        descendants, with_vat = _Descendants(), WithVat()
        with localcontext(EXACT):
            for function in self._functions:
                function(invoice, broken.append, descendants, with_vat)
        return [Fired(self.rules[number], found, noted) for number, found, noted in broken]


class _Descendants:
    """The word ``descendants`` for one run: the groups of an invoice are gathered once, when a rule first asks."""

    __slots__ = ("_groups",)

    def __init__(self) -> None:
        self._groups: dict[str, list[Group]] | None = None

    def __call__(self, invoice: Invoice, kind: str) -> Sequence[Group]:
        """Every group of the class ``kind``: first those that have a place in the norm, then the strays."""
        if self._groups is None:
            self._groups = {}
            _gather(invoice, self._groups)
            for strays in invoice.misplaced.values():
                for group in strays:
                    _gather(group, self._groups)
        return self._groups.get(kind, ())


def _gather(group: Group, groups: dict[str, list[Group]]) -> None:
    """Put ``group`` and all below it under the names of their classes. It only looks at what is set, for speed."""
    cls: Any = type(group)  # Any, because a class whose members cannot be hashed worries mypy
    kinds, holders = _shape(cls)
    for kind in kinds:
        if kind in groups:
            groups[kind].append(group)
        else:
            groups[kind] = [group]
    fields = group.__dict__
    for name in holders:
        content = fields.get(name, absent)
        for member in content if type(content) is list else (content,):
            if member is not absent:
                _gather(member, groups)


@functools.cache
def _shape(cls: type[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of a class of groups and of those that it is a special case of; its fields that hold groups."""
    kinds = (kind.__name__ for kind in cls.__mro__ if issubclass(kind, Group) and kind is not Group)
    held = kinds_of(cls)
    return tuple(kinds), ("more", *(name for name in cls.fields if name != "more" and issubclass(held[name][0], Group)))


class RuleBook:
    """All rule sets of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._programs: dict[tuple[Any, ...], Program] = {}
        self._digests: dict[str, str] = {}

    def program(
        self, syntax: str, layers: Sequence[str] = LAYERS, versions: Mapping[str, str] | None = None
    ) -> Program:
        """The rules of ``layers`` for ``UBL`` or ``CII``.

        ``versions`` names the release of single rule sets (``{"xrechnung": "2.5.0"}``); for EN 16931 the default is
        the release that goes with the chosen one, for the others the newest. Raises ``LookupError`` for an unknown
        release or layer, and ``RuleError`` where a rule file is wrong.
        """
        key = (syntax, tuple(layers), tuple(sorted((versions or {}).items())))
        if key not in self._programs:
            self._programs[key] = self._program(*key)
        return self._programs[key]

    def _program(self, syntax: str, layers: tuple[str, ...], versions: tuple[tuple[str, str], ...]) -> Program:
        key = cache.key(repr((syntax, layers, versions)), *(self.digest(name) for name in (*self.sets, "codelists")))
        stored = cache.load(f"program-{syntax}", key)
        if stored is None:
            from einvoice.rulebook.program.build import build

            stored = build(self, syntax, layers, dict(versions))
            cache.store(f"program-{syntax}", key, stored)
        rows, *made = stored
        return Program([Layer(*row) for row in rows], *made)

    @functools.cached_property
    def sets(self) -> tuple[str, ...]:
        """The names of the folders that hold a rule set."""
        return tuple(sorted(path.parent.name for path in self.folder.glob("*/ruleset.toml")))

    def digest(self, name: str) -> str:
        """The SHA-256 of the data of a rule set: of every file in its folder."""
        if name not in self._digests:
            self._digests[name] = cache.digest(sorted((self.folder / name).glob("*.*")))
        return self._digests[name]


@functools.cache
def rulebook() -> RuleBook:
    """The rule book that comes with einvoice."""
    return RuleBook(rules_folder())
