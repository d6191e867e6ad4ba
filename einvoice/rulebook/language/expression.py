"""Checked expressions and loops, and the location of their source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from einvoice.rulebook.language.types import Type

#: A constant of a family of rules: a number, a text or several texts.
Constant = str | int | Decimal | Sequence[str]


@dataclass(frozen=True, slots=True)
class Where:
    """Location of an expression: rule file (``en16931/BR-CO-10.toml``) and key (``assert``, ``ubl.when``)."""

    file: str
    key: str


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression.

    Attributes:
        source: as in the rule file.
        code: Python for a generated function. Its globals are ``functions.GLOBALS``, ``constants`` and ``lists``.
        type: of the result.
        terms: the business terms that it reads.
        names: the declared names it uses.
        constants: the exact numbers it uses, by the name of a global.
        lists: the code lists it uses; see ``bind``.
    """

    source: str
    code: str
    type: Type
    terms: frozenset[str]
    names: frozenset[str]
    constants: Mapping[str, Decimal]
    lists: frozenset[str]


@dataclass(frozen=True, slots=True)
class Loop:
    """``name in source``: ``source.code`` is an iterable, ``type`` the type of ``name``."""

    name: str
    source: Expression
    type: Type
