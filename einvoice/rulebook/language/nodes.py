"""The typed nodes of a checked expression: what it means, without how a back end writes it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from einvoice.rulebook.language import fields
from einvoice.rulebook.language.types import Type

#: A constant of a family of rules: a number, a text or several texts.
Constant = str | int | Decimal | Sequence[str]


@dataclass(frozen=True, slots=True)
class Node:
    """A part of an expression: its place in the source, and the type of its result."""

    at: ast.expr = field(repr=False, compare=False)
    type: Type

    def __str__(self) -> str:
        written = ast.unparse(self.at)
        terms = ", ".join(self.type.terms)
        return f"{terms} ({written})" if terms else written


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A constant: a text, a boolean, a count (`int`), an exact number (`Decimal`) or a double (`float`)."""

    value: str | bool | int | float | Decimal


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A declared name, or the variable of a loop."""

    name: str


@dataclass(frozen=True, slots=True)
class Field(Node):
    """A field of a group, whose business terms are `type.terms`, or what a value of the document consists of.

    The `number` of a value is exact, and `absent` if it is invalid; its `text` is the one that the mapping
    produced, its `raw` that of the document.
    """

    owner: Node
    name: str


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A call of a function of the language, or an operator with its operands. These have the types that it takes.

    Operators are `+ - * /`, comparisons of two operands, `and or not`, `in` (a value, and several constants) and
    `if` (a test, and two alternatives). `string` is a text as functions take it, '' if it is absent.
    """

    function: str
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    """`for name in source if …`: over a sequence, or over a single value or group and its further occurrences."""

    name: str
    source: Node
    tests: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Generator(Node):
    """A generator expression: the sequence of its members. It is an operand of a function only."""

    member: Node
    clauses: tuple[Clause, ...]


def is_path(node: Node) -> bool:
    """Return whether a node is a name, or follows stored fields from a name: it may be read repeatedly."""
    while isinstance(node, Field):
        if not fields.is_stored(node.owner.type.cls, node.name):
            return False
        node = node.owner
    return isinstance(node, Name)
