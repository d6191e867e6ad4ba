"""Checked parts of an expression, and how each is written in Python where a number, a text, a truth … is wanted.

Words and operators are lowered with these functions; what does not fit raises ``Wrong``, which ``language`` turns
into a ``RuleError`` with file, key and column.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from einvoice.rulebook.language.types import BINARY, DATE, NUMBER, TEXT, TRUTH, Kind


class Wrong(Exception):  # noqa: N818 (it never leaves the language)
    """An expression that is not part of the language; ``node`` is the place, ``hint`` what to write instead."""

    def __init__(self, node: ast.AST, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.node = node
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Operand:
    """A checked part of an expression.

    ``code`` is its Python. For a constant ``literal`` is its value. For a generator expression ``code`` is one
    member, ``clauses`` what follows it (``for x in … if …``), and ``kind`` says many. ``repeatable`` means that ``code`` is a
    name or a stored field of one, which generated code may evaluate several times.
    """

    node: ast.expr
    code: str
    kind: Kind
    literal: Any = None
    clauses: str = ""
    repeatable: bool = False

    def __str__(self) -> str:
        written = ast.unparse(self.node)
        terms = ", ".join(self.kind.terms)
        return f"{terms} ({written})" if terms else written


#: What a word makes of its operands: Python code and the kind of the result.
Lowered = tuple[str, Kind]
Lowering = Callable[[Sequence[Operand]], Lowered]


# ------------------------------------------------------------------------------------------------ constants


def constant_name(number: Decimal | int) -> str:
    """The global name of an exact number in generated code: ``_0_02`` for 0.02."""
    return "_" + str(number).replace(".", "_")


def constant_value(name: str) -> Decimal | None:
    """The number that a global name of generated code stands for; None for any other name."""
    match = re.fullmatch(r"_([0-9]+)(?:_([0-9]+))?", name)
    return Decimal(".".join(filter(None, match.groups()))) if match else None


# ------------------------------------------------------------------------------------------------ one operand


def as_number(operand: Operand) -> str:
    """An exact number; ``absent`` for a value that is none."""
    if operand.literal is not None and operand.kind.sort == "number":
        return constant_name(operand.literal)
    if operand.kind.sort != "number":
        raise Wrong(operand.node, f"{operand} is {operand.kind}, not a number")
    return f"{operand.code}.number" if operand.kind.is_value else operand.code


def as_binary(operand: Operand) -> str:
    """A binary number, as XPath makes it of an untyped value; ``absent`` for a value that is none."""
    if operand.kind.sort == "binary":
        return operand.code
    if operand.kind.sort != "number":
        raise Wrong(operand.node, f"{operand} is {operand.kind}, not a number")
    if operand.literal is not None:
        return repr(float(operand.literal))
    return f"double({operand.code})"


def as_text(operand: Operand) -> str:
    """A text to compare: the view that the binding gave the value, ``absent`` where there is none."""
    if operand.kind.sort != "text":
        raise Wrong(operand.node, f"{operand} is {operand.kind}, not text", f"raw({ast.unparse(operand.node)})")
    return f"{operand.code}.text" if operand.kind.is_value else operand.code


_OR_EMPTY: Final = " or '')"


def as_string(operand: Operand) -> str:
    """A text to look into: the characters of the document, '' where there are none."""
    if operand.kind.many or not (operand.kind.is_value or operand.kind.cls is str):
        raise Wrong(operand.node, f"{operand} is {operand.kind}, not text")
    if operand.kind.is_value:
        return f"({operand.code}.raw{_OR_EMPTY}"
    if operand.literal is not None or operand.code.endswith(_OR_EMPTY):
        return operand.code
    return f"({operand.code}{_OR_EMPTY}"


def as_date(operand: Operand) -> str:
    """A day to compare; ``absent`` for a value that is none."""
    if operand.kind.sort != "date":
        raise Wrong(operand.node, f"{operand} is {operand.kind}, not a date")
    return f"date({operand.code})" if operand.kind.is_value else operand.code


def as_truth(operand: Operand) -> str:
    """True or false; nothing but the language's own truths, since a value has none."""
    if operand.kind.sort == "truth":
        return operand.code
    written = ast.unparse(operand.node)
    hint = f"any(… for x in {written}) or exists({written})" if operand.kind.many else f"exists({written})"
    raise Wrong(operand.node, f"{operand} is {operand.kind}, neither true nor false", hint)


def as_is(operand: Operand) -> str:
    """A value or text, untouched."""
    if operand.kind.many or not (operand.kind.is_value or operand.kind.cls is str):
        raise Wrong(operand.node, f"{operand} is {operand.kind}, not the value of a business term")
    return operand.code


# ------------------------------------------------------------------------------------------------ several operands

_COMMON: dict[str, tuple[Callable[[Operand], str], Kind]] = {
    "binary": (as_binary, BINARY),
    "number": (as_number, NUMBER),
    "date": (as_date, DATE),
    "text": (as_text, TEXT),
    "truth": (as_truth, TRUTH),
}


def together(operands: Sequence[Operand]) -> tuple[list[str], Kind]:
    """Operands that are compared or chosen from, lowered to what they have in common, and what that is.

    Binary draws numbers to its side, as ``xs:double`` does in XPath; nothing else mixes.
    """
    for operand in operands:
        if not operand.kind.sort:
            hint = "any(… for x in …), any_equal(…) or count(…)" if operand.kind.many else "compare one of its terms"
            raise Wrong(operand.node, f"{operand} is {operand.kind} and cannot be compared", hint)
    sorts = {operand.kind.sort for operand in operands}
    if sorts == {"binary", "number"}:
        sorts = {"binary"}
    if len(sorts) > 1:
        first = operands[0]
        other = next(operand for operand in operands if operand.kind.sort != first.kind.sort)
        raise Wrong(other.node, f"{first} is {first.kind}, {other} is {other.kind}")
    lower, kind = _COMMON[sorts.pop()]
    return [lower(operand) for operand in operands], kind


def numbers(operands: Sequence[Operand]) -> tuple[list[str], Kind]:
    """Operands that are calculated with: all binary where one is, exact otherwise."""
    for operand in operands:
        as_binary(operand)  # raises where it is no number at all
    return together(operands)


def source(operand: Operand) -> str:
    """What a loop goes through: a sequence, or a single thing with its ``more``."""
    if operand.clauses:
        raise Wrong(operand.node, "a loop goes through a path, not a generator", "for x in … for y in …")
    if not (operand.kind.is_group or operand.kind.is_value or operand.kind.many):
        raise Wrong(operand.node, f"{operand} is {operand.kind}, not a sequence")
    code = operand.code
    if operand.kind.many:
        return code
    return f"(() if {code} is absent else ({code}, *{code}.more))" if operand.repeatable else f"occurrences({code})"


def each(operand: Operand) -> Operand:
    """One member of a sequence or generator, with the clauses that go through all."""
    if operand.clauses:
        return replace(operand, kind=operand.kind.one)
    return Operand(operand.node, "_it", operand.kind.one, clauses=f"for _it in {source(operand)}")
