"""What the language takes and gives: places, constants, checked expressions and loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from einvoice.rulebook.language.types import Kind

#: What a family of rules may put in a name's place: a number, a text or several texts.
Constant = str | int | Decimal | Sequence[str]


@dataclass(frozen=True, slots=True)
class Where:
    """The place of an expression: the rule file (``en16931/BR-CO-10.toml``) and the key (``assert``, ``ubl.when``)."""

    file: str
    key: str


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression.

    ``code`` is Python to be put into a generated function, in brackets where it needs them; it reads the given names
    and, as globals of the function, the words (``functions.WORDS``), the exact numbers in ``constants`` and the code
    lists in ``lists`` (see ``bind``). ``terms`` are the business terms it reads, ``names`` those of the given names
    that it uses.
    """

    source: str
    code: str
    kind: Kind
    terms: frozenset[str]
    names: frozenset[str]
    constants: Mapping[str, Decimal]
    lists: frozenset[str]


@dataclass(frozen=True, slots=True)
class Loop:
    """``name in source``: ``source.code`` can be iterated, ``kind`` is what ``name`` stands for in it."""

    name: str
    source: Expression
    kind: Kind
