"""The rule language: checks the expressions of a rule file and turns them into Python.

Public: ``check`` (any expression), ``condition`` (one that is true or false), ``loops`` (``x in …; y in …``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from einvoice.rulebook.kinds import Kind


@dataclass(frozen=True, slots=True)
class Where:
    """The place of an expression: the rule file (``en16931/BR-CO-10.toml``) and the key (``assert``, ``ubl.when``)."""

    file: str
    key: str


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression.

    ``code`` is Python to be put into a generated function, in brackets where it needs them; it reads the given names,
    the words (``functions.WORDS``) and the exact numbers in ``constants``, both of which belong into the function's
    globals. ``terms`` are the business terms it reads, ``names`` those of the given names that it uses.
    """

    source: str
    code: str
    kind: Kind
    terms: frozenset[str]
    names: frozenset[str]
    constants: Mapping[str, Decimal]


@dataclass(frozen=True, slots=True)
class Loop:
    """``name in source``: ``source.code`` can be iterated, ``kind`` is what ``name`` stands for in it."""

    name: str
    source: Expression
    kind: Kind


def check(source: str, names: Mapping[str, Kind], where: Where, *, group: str | None = None) -> Expression:
    """Check an expression and lower it to Python.

    ``names`` are the names it may use, ``group`` the business group whose numbers count where a class of the model
    serves several. Raises ``RuleError`` with file, key, column and what to write instead.
    """
    raise NotImplementedError


def condition(source: str, names: Mapping[str, Kind], where: Where, *, group: str | None = None) -> Expression:
    """``check`` an expression that has to be true or false, such as that of ``when`` and ``assert``."""
    raise NotImplementedError


def loops(source: str, names: Mapping[str, Kind], where: Where, *, group: str | None = None) -> tuple[Loop, ...]:
    """Check ``x in <expression>; y in <expression>``; a later loop may use the names of the earlier ones.

    The path of a loop counts no business terms; ``group`` is the one that the last loop's name stands for.
    """
    raise NotImplementedError
