"""Checked operands, and their Python code as a number, a text, a boolean …

An operand of another type raises ``ExpressionError``. The checker turns it into a ``RuleError`` with file, key and
column.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from einvoice.rulebook.language.types import BOOLEAN, DATE, DOUBLE, NUMBER, TEXT, Type


class ExpressionError(Exception):
    """An invalid expression; ``node`` is its location, ``hint`` the correction."""

    def __init__(self, node: ast.AST, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.node = node
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Operand:
    """A checked part of an expression.

    ``code`` is its Python code, ``literal`` the value of a constant. For a generator expression, ``code`` is one
    member, ``clauses`` the rest (``for x in … if …``), and ``type`` is a sequence. ``repeatable`` means that
    ``code`` is a name or a stored field of a name, which generated code may evaluate several times.
    """

    node: ast.expr
    code: str
    type: Type
    literal: Any = None
    clauses: str = ""
    repeatable: bool = False

    def __str__(self) -> str:
        written = ast.unparse(self.node)
        terms = ", ".join(self.type.terms)
        return f"{terms} ({written})" if terms else written


#: A compiled function call: Python code and the type of the result.
Lowered = tuple[str, Type]
Lowering = Callable[[Sequence[Operand]], Lowered]


# ------------------------------------------------------------------------------------------------ constants


def constant_name(number: Decimal | int) -> str:
    """Return the global name of an exact number in generated code: ``_0_02`` for 0.02."""
    return "_" + str(number).replace(".", "_")


def constant_value(name: str) -> Decimal | None:
    """Return the number that a global name of generated code represents; None for any other name."""
    match = re.fullmatch(r"_([0-9]+)(?:_([0-9]+))?", name)
    return Decimal(".".join(filter(None, match.groups()))) if match else None


# ------------------------------------------------------------------------------------------------ one operand


def as_number(operand: Operand) -> str:
    """Return the code for an exact number; its result is ``absent`` for an invalid one."""
    if operand.literal is not None and operand.type.sort == "number":
        return constant_name(operand.literal)
    if operand.type.sort != "number":
        raise ExpressionError(operand.node, f"{operand} is {operand.type}, not a number")
    return f"{operand.code}.number" if operand.type.is_value else operand.code


def as_double(operand: Operand) -> str:
    """Return the code for a double, converted as XPath converts untyped values; ``absent`` for an invalid number."""
    if operand.type.sort == "double":
        return operand.code
    if operand.type.sort != "number":
        raise ExpressionError(operand.node, f"{operand} is {operand.type}, not a number")
    if operand.literal is not None:
        return repr(float(operand.literal))
    return f"double({operand.code})"


def as_text(operand: Operand) -> str:
    """Return the code for a text to compare: the text that the mapping produced, or ``absent``."""
    if operand.type.sort != "text":
        raise ExpressionError(
            operand.node, f"{operand} is {operand.type}, not text", f"raw({ast.unparse(operand.node)})"
        )
    return f"{operand.code}.text" if operand.type.is_value else operand.code


_OR_EMPTY: Final = " or '')"


def as_string(operand: Operand) -> str:
    """Return the code for a text to pass to functions: the text of the document, '' if it is absent."""
    if operand.type.many or not (operand.type.is_value or operand.type.cls is str):
        raise ExpressionError(operand.node, f"{operand} is {operand.type}, not text")
    if operand.type.is_value:
        return f"({operand.code}.raw{_OR_EMPTY}"
    if operand.literal is not None or operand.code.endswith(_OR_EMPTY):
        return operand.code
    return f"({operand.code}{_OR_EMPTY}"


def as_date(operand: Operand) -> str:
    """Return the code for a date to compare; ``absent`` for an invalid date."""
    if operand.type.sort != "date":
        raise ExpressionError(operand.node, f"{operand} is {operand.type}, not a date")
    return f"date({operand.code})" if operand.type.is_value else operand.code


def as_boolean(operand: Operand) -> str:
    """Return the code for a boolean; values of the invoice are not booleans."""
    if operand.type.sort == "boolean":
        return operand.code
    written = ast.unparse(operand.node)
    hint = f"any(… for x in {written}) or exists({written})" if operand.type.many else f"exists({written})"
    raise ExpressionError(operand.node, f"{operand} is {operand.type}, not a boolean", hint)


def as_is(operand: Operand) -> str:
    """Return the code for a value or text, unchanged."""
    if operand.type.many or not (operand.type.is_value or operand.type.cls is str):
        raise ExpressionError(operand.node, f"{operand} is {operand.type}, not the value of a business term")
    return operand.code


# ------------------------------------------------------------------------------------------------ several operands

_COMMON: dict[str, tuple[Callable[[Operand], str], Type]] = {
    "double": (as_double, DOUBLE),
    "number": (as_number, NUMBER),
    "date": (as_date, DATE),
    "text": (as_text, TEXT),
    "boolean": (as_boolean, BOOLEAN),
}


def common(operands: Sequence[Operand]) -> tuple[list[str], Type]:
    """Return the code for operands converted to their common type, and that type.

    A number and a double give a double, as in XPath; other types do not mix.
    """
    for operand in operands:
        if not operand.type.sort:
            hint = "any(… for x in …), any_equal(…) or count(…)" if operand.type.many else "compare one of its terms"
            raise ExpressionError(operand.node, f"{operand} is {operand.type} and cannot be compared", hint)
    sorts = {operand.type.sort for operand in operands}
    if sorts == {"double", "number"}:
        sorts = {"double"}
    if len(sorts) > 1:
        first = operands[0]
        other = next(operand for operand in operands if operand.type.sort != first.type.sort)
        raise ExpressionError(
            other.node, f"{first} is {first.type}, {other} is {other.type}", _conversion(first, other)
        )
    lower, type_ = _COMMON[sorts.pop()]
    return [lower(operand) for operand in operands], type_


def _conversion(first: Operand, other: Operand) -> str:
    """Return how to compare operands of two types; "" if that cannot be known."""
    literal, value = (first, other) if first.literal is not None else (other, first)
    if isinstance(literal.literal, str) and value.type.sort in ("number", "double"):
        return "write the number without quotes, or compare raw(…)"
    if literal.literal is not None and value.type.sort == "text":
        return "write the text in quotes, or convert the value with number(…)"
    return ""


def numbers(operands: Sequence[Operand]) -> tuple[list[str], Type]:
    """Return the code for numbers: doubles if one of them is a double, otherwise exact numbers."""
    for operand in operands:
        as_double(operand)  # raises for an operand that is not a number
    return common(operands)


def loop_source(operand: Operand) -> str:
    """Return the code of a loop's source: a sequence, or a single value or group with its further occurrences."""
    if operand.clauses:
        raise ExpressionError(operand.node, "a loop needs a path, not a generator expression", "for x in … for y in …")
    if not (operand.type.is_group or operand.type.is_value or operand.type.many):
        raise ExpressionError(operand.node, f"{operand} is {operand.type}, not a sequence")
    code = operand.code
    if operand.type.many:
        return code
    return f"(() if {code} is absent else ({code}, *{code}.more))" if operand.repeatable else f"occurrences({code})"


def each(operand: Operand) -> Operand:
    """Return one member of a sequence or generator expression, with the clauses of the loop."""
    if operand.clauses:
        return replace(operand, type=operand.type.one)
    return Operand(operand.node, "_member", operand.type.one, clauses=f"for _member in {loop_source(operand)}")
