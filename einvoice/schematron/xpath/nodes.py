"""The syntax tree of an XPath expression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Literal, TypeAlias

Number: TypeAlias = int | Decimal | float


@dataclass(frozen=True, slots=True)
class Expression:
    """A part of an expression."""

    def children(self) -> Iterator[Expression]:
        """Yield the parts directly inside it."""
        for field in fields(self):
            value = getattr(self, field.name)
            for it in value if isinstance(value, tuple) else (value,):
                if isinstance(it, Expression):
                    yield it
                elif isinstance(it, tuple):  # a variable and its expression
                    yield from (part for part in it if isinstance(part, Expression))

    def walk(self) -> Iterator[Expression]:
        """Yield it and all parts inside it."""
        yield self
        for child in self.children():
            yield from child.walk()

    @property
    def size(self) -> int:
        """The number of its parts, itself included: what one evaluation costs."""
        return sum(1 for _ in self.walk())


@dataclass(frozen=True, slots=True)
class Constant(Expression):
    """A number or a text."""

    value: Number | str


@dataclass(frozen=True, slots=True)
class Variable(Expression):
    """`$name`."""

    name: str


@dataclass(frozen=True, slots=True)
class ContextItem(Expression):
    """`.`."""


@dataclass(frozen=True, slots=True)
class Root(Expression):
    """`/` alone or in front: the document node."""


@dataclass(frozen=True, slots=True)
class Items(Expression):
    """`(a, b)`; `()` if there are no items."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Logic(Expression):
    """`a or b`, `a and b`."""

    operator: Literal["or", "and"]
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Comparison(Expression):
    """A general (`=`), value (`eq`) or node (`is`, `<<`) comparison."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Arithmetic(Expression):
    """`+`, `-`, `*`, `div`, `idiv`, `mod`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negative(Expression):
    """`-a`."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Range(Expression):
    """`a to b`."""

    first: Expression
    last: Expression


@dataclass(frozen=True, slots=True)
class Combination(Expression):
    """`union`, `intersect`, `except`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class TypeTest(Expression):
    """`cast as`, `castable as`, `instance of`, `treat as`; `occurrence` is "", "?", "*" or "+"."""

    operator: str
    operand: Expression
    type: str
    occurrence: str


@dataclass(frozen=True, slots=True)
class Condition(Expression):
    """`if (test) then a else b`."""

    test: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, slots=True)
class Loop(Expression):
    """`for`, `let`, `some`, `every`: variables with their sequences, and a body."""

    kind: str
    bindings: tuple[tuple[str, Expression], ...]
    body: Expression


@dataclass(frozen=True, slots=True)
class SimpleMap(Expression):
    """`a ! b`."""

    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Step(Expression):
    """`base/axis::test[predicate]…`.

    Attributes:
        test: a name with its prefix, "*", "*:name", "prefix:*", or a kind such as "text()".
    """

    base: Expression
    axis: str
    test: str
    predicates: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Path(Expression):
    """`base/step` where the step is no axis step, such as `a/(b | c)` or `a/string()`."""

    base: Expression
    step: Expression


@dataclass(frozen=True, slots=True)
class Filter(Expression):
    """`(a)[predicate]…`."""

    base: Expression
    predicates: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """`name(arguments)`; the prefix `fn` is left out."""

    name: str
    arguments: tuple[Expression, ...]
