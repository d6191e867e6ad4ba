"""Checked operands as a number, a text, a boolean …

An operand of another type raises `ExpressionError`. The checker turns it into a `RuleError` with file, key and
column.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

from einvoice.rulebook.language.nodes import Call, Clause, Field, Generator, Literal, Name, Node
from einvoice.rulebook.language.types import BOOLEAN, DATE, DOUBLE, NUMBER, TEXT, Type

#: The variable of a loop that the rule does not write, such as in `sum(invoice.prepaid)`.
MEMBER: Final = "_member"


class ExpressionError(Exception):
    """An invalid expression; `node` is its location, `hint` the correction."""

    def __init__(self, node: ast.AST | Node, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.node = node.at if isinstance(node, Node) else node
        self.message = message
        self.hint = hint


def as_number(operand: Node) -> Node:
    """Return an exact number; its result is `absent` for an invalid one."""
    if operand.type.sort != "number":
        raise wrong(operand, "a number")
    if isinstance(operand, Literal):
        return Literal(operand.at, NUMBER, Decimal(operand.value))
    return Field(operand.at, NUMBER, operand, "number") if operand.type.is_value else operand


def as_double(operand: Node) -> Node:
    """Return a double."""
    if operand.type.sort == "double":
        return operand
    if operand.type.sort != "number":
        raise wrong(operand, "a number")
    if isinstance(operand, Literal):
        return Literal(operand.at, DOUBLE, float(operand.value))
    return Call(operand.at, DOUBLE, "double", (operand,))


def as_text(operand: Node) -> Node:
    """Return a text to compare: the text that the mapping produced, or `absent`."""
    if operand.type.sort != "text":
        raise wrong(operand, "text", f"raw({ast.unparse(operand.at)})")
    return Field(operand.at, TEXT, operand, "text") if operand.type.is_value else operand


def as_string(operand: Node) -> Node:
    """Return a text to pass to functions: the text of the document, '' if it is absent."""
    if operand.type.many or not is_value_or_text(operand):
        raise wrong(operand, "text")
    if isinstance(operand, Literal) or (isinstance(operand, Call) and operand.function == "string"):
        return operand
    text = Field(operand.at, TEXT, operand, "raw") if operand.type.is_value else operand
    return Call(operand.at, TEXT, "string", (text,))


def as_date(operand: Node) -> Node:
    """Return a date to compare; `absent` for an invalid date."""
    if operand.type.sort != "date":
        raise wrong(operand, "a date")
    return Call(operand.at, DATE, "date", (operand,)) if operand.type.is_value else operand


def as_boolean(operand: Node) -> Node:
    """Return a boolean; values of the invoice are not booleans."""
    if operand.type.sort != "boolean":
        written = ast.unparse(operand.at)
        hint = f"any(… for x in {written}) or exists({written})" if operand.type.many else f"exists({written})"
        raise wrong(operand, "a boolean", hint)
    return operand


def is_value_or_text(operand: Node) -> bool:
    """Return whether an operand, or each member of a sequence, is a value or a text."""
    return operand.type.is_value or operand.type.cls is str


def wrong(operand: Node, what: str, hint: str = "") -> ExpressionError:
    """Return the error that an operand is not what it must be."""
    return ExpressionError(operand, f"{operand} is {operand.type}, not {what}", hint)


# ------------------------------------------------------------------------------------------------ several operands

_COMMON: Final[dict[str, tuple[Callable[[Node], Node], Type]]] = {
    "double": (as_double, DOUBLE),
    "number": (as_number, NUMBER),
    "date": (as_date, DATE),
    "text": (as_text, TEXT),
    "boolean": (as_boolean, BOOLEAN),
}


def common(operands: Sequence[Node]) -> tuple[tuple[Node, ...], Type]:
    """Return operands converted to their common type, and that type.

    A number and a double give a double, as in XPath; other types do not mix.
    """
    for operand in operands:
        if not operand.type.sort:
            hint = "any(… for x in …), any_equal(…) or count(…)" if operand.type.many else "compare one of its terms"
            raise ExpressionError(operand, f"{operand} is {operand.type} and cannot be compared", hint)
    sorts = {operand.type.sort for operand in operands}
    if sorts == {"double", "number"}:
        sorts = {"double"}
    if len(sorts) > 1:
        first = operands[0]
        other = next(operand for operand in operands if operand.type.sort != first.type.sort)
        raise ExpressionError(other, f"{first} is {first.type}, {other} is {other.type}", _conversion(first, other))
    convert, type_ = _COMMON[sorts.pop()]
    return tuple(map(convert, operands)), type_


def _conversion(first: Node, other: Node) -> str:
    """Return how to compare operands of two types; "" if that cannot be known."""
    literal, value = (first, other) if isinstance(first, Literal) else (other, first)
    if isinstance(literal, Literal) and isinstance(literal.value, str) and value.type.sort in ("number", "double"):
        return "write the number without quotes, or compare raw(…)"
    if isinstance(literal, Literal) and value.type.sort == "text":
        return "write the text in quotes, or convert the value with number(…)"
    return ""


def numbers(operands: Sequence[Node]) -> tuple[tuple[Node, ...], Type]:
    """Return operands as numbers: doubles if one of them is a double, otherwise exact numbers."""
    for operand in operands:
        as_double(operand)  # raises for an operand that is not a number
    return common(operands)


# ------------------------------------------------------------------------------------------------ loops


def loop_source(operand: Node) -> Node:
    """Return the source of a loop: a sequence, or a single value or group with its further occurrences."""
    if isinstance(operand, Generator):
        raise ExpressionError(operand, "a loop needs a path, not a generator expression", "for x in … for y in …")
    if not (operand.type.is_group or operand.type.is_value or operand.type.many):
        raise wrong(operand, "a sequence")
    return operand


def each(operand: Node, convert: Callable[[Node], Node] = lambda member: member) -> Generator:
    """Return the members of a sequence or generator expression, each of them converted."""
    if isinstance(operand, Generator):
        member, clauses = convert(operand.member), operand.clauses
    else:
        clauses = (Clause(MEMBER, loop_source(operand)),)
        member = convert(Name(operand.at, operand.type.one, MEMBER))
    return Generator(operand.at, replace(member.type, many=True), member, clauses)
