"""The syntax tree of an XPath expression."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cache, cached_property
from typing import Any, Literal, TypeAlias

Number: TypeAlias = int | Decimal | float


class Expression:
    """A part of an expression. What is derived of it is kept, as a sheet asks for it at each level again."""

    @cached_property
    def children(self) -> Sequence[Expression]:
        """The parts directly inside it."""
        found: list[Expression] = []
        kind: Any = type(self)
        for name in _names(kind):
            value = getattr(self, name)
            for it in value if isinstance(value, tuple) else (value,):
                if isinstance(it, Expression):
                    found.append(it)
                elif isinstance(it, tuple):  # a variable and its expression
                    found += (part for part in it if isinstance(part, Expression))
        return found

    def walk(self) -> Iterator[Expression]:
        """Yield it and all parts inside it."""
        waiting: list[Expression] = [self]
        while waiting:
            it = waiting.pop()
            yield it
            waiting += reversed(it.children)

    @cached_property
    def size(self) -> int:
        """The number of its parts, itself included: what one evaluation costs."""
        return 1 + sum(it.size for it in self.children)

    @cached_property
    def has_document(self) -> bool:
        """Whether a part of it is the document node or another document."""
        is_file = isinstance(self, Call) and self.name in ("document", "doc")
        return is_file or isinstance(self, Root) or any(it.has_document for it in self.children)

    @cached_property
    def has_ancestor(self) -> bool:
        """Whether a part of it is a step to ancestors."""
        return (isinstance(self, Step) and self.axis == "ancestor") or any(it.has_ancestor for it in self.children)


@cache
def _names(kind: type[Any]) -> Sequence[str]:
    return [it.name for it in fields(kind)]


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
