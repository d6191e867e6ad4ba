"""What the functions of the language take, and the types of their results.

For most functions, their annotations say it (see `functions.registry`); the others are listed here. What a function
takes is a conversion: it returns the operand as the function gets it, or raises `ExpressionError`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from einvoice.rulebook import functions
from einvoice.rulebook.functions import patterns
from einvoice.rulebook.language import conversions as to
from einvoice.rulebook.language.conversions import ExpressionError
from einvoice.rulebook.language.nodes import Call, Field, Generator, Literal, Node
from einvoice.rulebook.language.types import BOOLEAN, COUNT, DOUBLE, NUMBER, TEXT, Type

Conversion: TypeAlias = Callable[[Node], Node]


def checked_call(call: ast.Call, name: str, operands: Sequence[Node]) -> Node:
    """Return the call of a function with checked operands; raise `ExpressionError` for an invalid one."""
    if name in _CONVERSIONS:
        (operand,) = _expect(1, name, call, operands)
        return replace(_CONVERSIONS[name](operand), at=call)
    if name in ("any", "all"):
        return _quantified(call, name, operands)
    if name in _ANY and len(operands) == 1 and _is_sequence(name, operands[0]):
        return Call(call, BOOLEAN, "any", (to.each(operands[0], _ANY[name]),))
    if name == "default":
        converted, type_ = to.common(_expect(2, name, call, operands))
    elif name in _SIGNATURES:
        takes, result = _SIGNATURES[name]
        _expect(len(takes), name, call, operands)
        converted = tuple(convert(operand) for convert, operand in zip(takes, operands, strict=True))
        type_ = result or converted[0].type.one
    else:
        converted, type_ = _annotated(call, name, operands)
    return Call(call, type_, name, converted)


def _annotated(call: ast.Call, name: str, operands: Sequence[Node]) -> tuple[tuple[Node, ...], Type]:
    *takes, returns = functions.CALLABLE[name].__annotations__.values()
    _expect(len(takes), name, call, operands)
    if "Numeric" in takes:
        converted, type_ = to.numbers(operands)
        return converted, _RETURNS.get(returns, type_)
    return tuple(map(to.as_string, operands)), _RETURNS[returns]


def _quantified(call: ast.Call, name: str, operands: Sequence[Node]) -> Node:
    (operand,) = _expect(1, name, call, operands)
    if not isinstance(operand, Generator):
        hint = f"{name}(… for x in {ast.unparse(operand.at)})"
        raise ExpressionError(call, f"{ast.unparse(call)} has no condition", hint)
    return Call(call, BOOLEAN, name, (to.each(operand, to.as_boolean),))


def _is_sequence(name: str, operand: Node) -> bool:
    """Return whether a function is asked of each member of a sequence; `exists` is asked of a list as such."""
    return isinstance(operand, Generator) or (operand.type.many and name == "non_blank")


def _present(member: Node) -> Node:
    return Call(member.at, BOOLEAN, "exists", (_optional(member),))


def _filled(member: Node) -> Node:
    if not member.type.is_value:
        raise ExpressionError(member, f"{member} is not a sequence of values")
    return Field(member.at, BOOLEAN, member, "filled")


#: Functions that ask whether one member of a sequence is there.
_ANY: Final[dict[str, Conversion]] = {"exists": _present, "non_blank": _filled}


def _expect(count: int, name: str, call: ast.Call, operands: Sequence[Node]) -> Sequence[Node]:
    if len(operands) != count:
        raise ExpressionError(call, f"'{name}' takes {count} operand{'s' * (count != 1)}, not {len(operands)}")
    return operands


# ------------------------------------------------------------------------------------------------ values and sequences


def _single_value(operand: Node) -> Node:
    if operand.type.many or not operand.type.is_value:
        raise to.wrong(operand, "the value of a business term")
    return operand


def _numeric_value(operand: Node) -> Node:
    to.as_double(_single_value(operand))  # raises for a value that is not a number
    return operand


def _contents(operand: Node) -> Node:
    """Return a value or text, or a sequence of them."""
    if not to.is_value_or_text(operand):
        raise to.wrong(operand, "the value of a business term")
    return operand


def _values(operand: Node) -> Node:
    values = to.each(operand)
    if not values.type.is_value:
        raise to.wrong(operand, "a sequence of values")
    return values


def _counted(operand: Node) -> Node:
    if operand.type.many and not isinstance(operand, Generator):
        return operand
    members = to.each(operand)
    if members.member.type.sort == "boolean":
        raise ExpressionError(operand, "a boolean cannot be counted", "count(x for x in … if …)")
    return members


def _optional(operand: Node) -> Node:
    if operand.type.sort == "boolean" or isinstance(operand, Literal):
        raise ExpressionError(operand, f"{operand} always exists")
    return operand


def _text_or_value(operand: Node) -> Node:
    return operand if operand.type.is_value else to.as_string(operand)


# ------------------------------------------------------------------------------------------------ numbers


def _numeric(operand: Node) -> Node:
    return to.numbers([operand])[0][0]


def _addends(operand: Node) -> Node:
    return to.each(operand, _numeric)


def _count_or_double(operand: Node) -> Node:
    return operand if isinstance(operand, Literal) and isinstance(operand.value, int) else to.as_double(operand)


def _exact(operand: Node) -> Node:
    """Return an exact number; a double is converted to its exact value."""
    if operand.type.sort == "double":
        return Call(operand.at, NUMBER, "number", (operand,))
    return to.as_number(operand)


def _double(operand: Node) -> Node:
    """Return a double, also for a business term of type text."""
    if operand.type.is_value and operand.type.sort == "text":
        return Call(operand.at, DOUBLE, "double", (operand,))
    return to.as_double(operand)


# ------------------------------------------------------------------------------------------------ constants


def _quoted(operand: Node) -> Literal:
    if not isinstance(operand, Literal) or not isinstance(operand.value, str):
        raise ExpressionError(operand, f"{operand} must be a text in quotes")
    return operand


def _pattern(operand: Node) -> Node:
    try:
        patterns.compile(str(_quoted(operand).value))
    except ValueError as error:
        raise ExpressionError(operand, str(error)) from None
    return operand


def _mark(operand: Node) -> Node:
    if not _quoted(operand).value:
        raise ExpressionError(operand, "the mark must not be empty")
    return operand


def _list_name(operand: Node) -> Node:
    name = str(_quoted(operand).value)
    if not name.isidentifier():
        raise ExpressionError(operand, f"'{name}' is not the name of a code list")
    return operand


def _position(operand: Node) -> Node:
    if not isinstance(operand, Literal) or not isinstance(operand.value, int) or operand.value < 1:
        raise ExpressionError(operand, f"{operand} must be a whole number of at least 1")
    return operand


#: Results by annotation.
_RETURNS: Final = {"str": TEXT, "int": COUNT, "bool": BOOLEAN, "Boolean": BOOLEAN}

#: Functions that only convert their operand.
_CONVERSIONS: Final[dict[str, Conversion]] = {
    "date": to.as_date,
    "double": _double,
    "number": _exact,
    "raw": to.as_string,
}

#: What the other functions take, and their result; None for that of the first operand, or of its members.
_SIGNATURES: Final[dict[str, tuple[tuple[Conversion, ...], Type | None]]] = {
    "abs": ((_numeric,), None),
    "all_distinct": ((_contents,), BOOLEAN),
    "any_equal": ((_contents, _contents), BOOLEAN),
    "any_unequal": ((_contents, _contents), BOOLEAN),
    "attribute": ((_single_value, _quoted), TEXT),
    "compare": ((_numeric_value, _count_or_double), COUNT),
    "count": ((_counted,), COUNT),
    "exists": ((_optional,), BOOLEAN),
    "first": ((_values,), None),
    "in_code_list": ((to.as_string, _list_name), BOOLEAN),
    "is_valid_skonto": ((to.as_string, _pattern), BOOLEAN),
    "joined": ((_values,), TEXT),
    "joined_codes": ((_list_name,), TEXT),
    "matches": ((to.as_string, _pattern), BOOLEAN),
    "non_blank": ((_text_or_value,), BOOLEAN),
    "part": ((to.as_string, _mark, _position), TEXT),
    "same_occurrence": ((_single_value, _single_value), BOOLEAN),
    "skonto_lines_match": ((to.as_string, _pattern), BOOLEAN),
    "string_join": ((_values, to.as_string), TEXT),
    "substring": ((to.as_string, _position, _position), TEXT),
    "sum": ((_addends,), None),
}
