"""Checked expressions and loops, and the location of their source."""

from __future__ import annotations

from dataclasses import dataclass

from einvoice.rulebook.language.nodes import Node
from einvoice.rulebook.language.types import Type


@dataclass(frozen=True, slots=True)
class Where:
    """Location of an expression: rule file (`en16931/BR-CO-10.toml`) and key (`assert`, `ubl.when`)."""

    file: str
    key: str


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression.

    Attributes:
        source: as in the rule file.
        node: what it means.
        terms: the business terms that it reads.
        names: the declared names it uses.
    """

    source: str
    node: Node
    terms: frozenset[str]
    names: frozenset[str]

    @property
    def type(self) -> Type:
        """The type of the result."""
        return self.node.type


@dataclass(frozen=True, slots=True)
class Loop:
    """`name in source`: `source` is a sequence, or a single value or group; `type` is the type of `name`."""

    name: str
    source: Expression
    type: Type
