"""Compile calls of functions to Python.

Most functions are compiled by their annotations (see ``functions.registry``). The others have a lowering here: it takes
the call and its checked operands, and returns Python code and the type of the result. Short code is written inline,
because a rule may run a thousand times for an invoice.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Final

from einvoice.rulebook import functions
from einvoice.rulebook.functions import patterns
from einvoice.rulebook.language import operands as on
from einvoice.rulebook.language.operands import ExpressionError, Lowered, Operand
from einvoice.rulebook.language.types import BOOLEAN, COUNT, DATE, DOUBLE, NUMBER, TEXT

Lowering = Callable[[ast.Call, Sequence[Operand]], Lowered]

#: Prefixes of the globals for code lists in generated code: as a set of codes, and joined into one text.
CODES: Final = "_codes_"
CODE_TEXT: Final = "_code_text_"


def lower(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile a function call; raise ``ExpressionError`` for an invalid one."""
    special = SPECIAL.get(_name(call))
    if special:
        return special(call, operands)
    function = functions.CALLABLE[_name(call)]
    *takes, returns = function.__annotations__.values()
    _expect(len(takes), call, operands)
    if "Numeric" in takes:
        codes, type_ = on.numbers(operands)
        return _call(call, codes), _RETURNS.get(returns, type_)
    codes = [on.as_string(operand) for operand in operands]
    inline = _INLINE.get(_name(call))
    return (inline.format(*codes) if inline else _call(call, codes)), _RETURNS[returns]


_RETURNS: Final = {"str": TEXT, "int": COUNT, "bool": BOOLEAN, "Boolean": BOOLEAN}

#: Functions that are written inline.
_INLINE: Final = {
    "raw": "{0}",
    "length": "len({0})",
    "decimals": "len({0}.partition('.')[2])",
    "contains": "({1} in {0})",
    "starts_with": "{0}.startswith({1})",
}


def exists(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``exists``."""
    (operand,) = _expect(1, call, operands)
    if operand.type.sort == "boolean" or operand.literal is not None:
        raise ExpressionError(operand.node, f"{operand} always exists")
    if operand.clauses:
        return f"any({operand.code} is not absent {operand.clauses})", BOOLEAN
    return (f"(not not {operand.code})" if operand.type.many else f"({operand.code} is not absent)"), BOOLEAN


def non_blank(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``non_blank``. The function is called for further occurrences only, which are rare."""
    (operand,) = _expect(1, call, operands)
    if not operand.type.many:
        if operand.type.is_value:
            code = operand.code
            further = f"not not {code}.more and non_blank({code})"
            return f"({code} is not absent and ({code}.filled or {further}))", BOOLEAN
        return f"non_blank({on.as_string(operand)})", BOOLEAN
    member = on.each(operand)
    if not member.type.is_value:
        raise ExpressionError(operand.node, f"{operand} is not a sequence of values")
    return f"any({member.code}.filled {member.clauses})", BOOLEAN


def same_occurrence(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``same_occurrence``, which takes two values."""
    for operand in _expect(2, call, operands):
        if operand.type.many or not operand.type.is_value:
            raise ExpressionError(operand.node, f"{operand} is {operand.type}, not the value of a business term")
    return _call(call, [operand.code for operand in operands]), BOOLEAN


def count(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``count``."""
    (operand,) = _expect(1, call, operands)
    if operand.type.many and not operand.clauses:
        return f"len({operand.code})", COUNT
    member = on.each(operand)
    if member.type.sort == "boolean":
        raise ExpressionError(operand.node, "a boolean cannot be counted", "count(x for x in … if …)")
    present = "" if member.code.isidentifier() else f" if {member.code} is not absent"
    return f"len([1 {member.clauses}{present}])", COUNT


def quantified(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``any`` and ``all``."""
    (operand,) = _expect(1, call, operands)
    if not operand.clauses:
        raise ExpressionError(
            call, f"{ast.unparse(call)} has no condition", f"{_name(call)}(… for x in {ast.unparse(operand.node)})"
        )
    member = on.each(operand)
    return f"{_name(call)}({on.as_boolean(member)} {member.clauses})", BOOLEAN


def total(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``sum``."""
    (operand,) = _expect(1, call, operands)
    member = on.each(operand)
    codes, type_ = on.numbers([member])
    return f"reduce(add, {_present(codes[0], member)} or (0,))", type_


def texts(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``any_unequal``, ``all_distinct`` and ``any_equal``, which take values, sequences and texts."""
    _expect(1 if _name(call) == "all_distinct" else 2, call, operands)
    return _call(call, [_all_of(operand) for operand in operands]), BOOLEAN


def any_equal(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``any_equal``. For a value and a text, the function is called for further occurrences only."""
    code, result = texts(call, operands)
    value, text = operands
    if value.type.is_value and not value.type.many and text.type.cls is str and not text.type.many:
        return f"({value.code}.text == {text.code} or not not {value.code}.more and {code})", result
    return code, result


def _all_of(operand: Operand) -> str:
    if not (operand.type.is_value or operand.type.cls is str):
        raise ExpressionError(operand.node, f"{operand} is {operand.type}, not the value of a business term")
    return f"[{operand.code} {operand.clauses}]" if operand.clauses else operand.code


def normalize_space(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``normalize_space``. The call is skipped for alphanumeric texts, which contain no white space."""
    (operand,) = _expect(1, call, operands)
    string = on.as_string(operand)
    code = _call(call, [string])
    return (f"({string} if {string}.isalnum() else {code})" if operand.repeatable else code), TEXT


def absolute(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``abs``."""
    codes, type_ = on.numbers(_expect(1, call, operands))
    return _call(call, codes), type_


def default(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``default``."""
    _expect(2, call, operands)
    (code, otherwise), type_ = on.common(operands)
    return f"(_value if (_value := {code}) is not absent else {otherwise})", type_


def first(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``first``. The code contains no assignment, which Python refuses in what a loop runs over."""
    (operand,) = _expect(1, call, operands)
    member = on.each(operand)
    if not member.type.is_value:
        raise ExpressionError(operand.node, f"{operand} is {operand.type}, not a sequence of values")
    return _call(call, [f"[{member.code} {member.clauses}]"]), member.type


def joined(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``joined``."""
    (operand,) = _expect(1, call, operands)
    member = on.each(operand)
    if not member.type.is_value:
        raise ExpressionError(operand.node, f"{operand} is {operand.type}, not a sequence of values")
    return f"joined([{member.code} {member.clauses}])", TEXT


def number(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``number``; a double is converted to its exact value."""
    (operand,) = _expect(1, call, operands)
    return (_call(call, [operand.code]) if operand.type.sort == "double" else on.as_number(operand)), NUMBER


def double(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``double``, also for a business term of type text."""
    (operand,) = _expect(1, call, operands)
    is_text = operand.type.is_value and not operand.type.many and operand.type.sort == "text"
    return (_call(call, [operand.code]) if is_text else on.as_double(operand)), DOUBLE


def compare(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``compare``."""
    value, other = _expect(2, call, operands)
    if not value.type.is_value or value.type.many:
        raise ExpressionError(value.node, f"{value} is {value.type}, not the value of a business term")
    on.as_double(value)  # raises for a value that is not a number
    number = repr(other.literal) if isinstance(other.literal, int) else on.as_double(other)
    return _call(call, [value.code, number]), COUNT


def date(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``date``."""
    (operand,) = _expect(1, call, operands)
    return on.as_date(operand), DATE


def matches(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile a function that takes a text and a constant pattern."""
    text, pattern = _expect(2, call, operands)
    try:
        patterns.compile(_constant_text(pattern))
    except ValueError as error:
        raise ExpressionError(pattern.node, str(error)) from None
    return _call(call, [on.as_string(text), pattern.code]), BOOLEAN


def attribute(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``attribute``."""
    value, name = _expect(2, call, operands)
    if not value.type.is_value or value.type.many:
        raise ExpressionError(value.node, f"{value} is {value.type}, not the value of a business term")
    _constant_text(name)
    return _call(call, [value.code, name.code]), TEXT


def substring(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``substring``; start and length are constants."""
    text, start, length = _expect(3, call, operands)
    for number in (start, length):
        if not isinstance(number.literal, int) or number.literal < 1:
            raise ExpressionError(number.node, f"{number} must be a whole number of at least 1")
    return f"{on.as_string(text)}[{start.literal - 1}:{start.literal - 1 + length.literal}]", TEXT


def part(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``part``; mark and position are constants."""
    text, mark, position = _expect(3, call, operands)
    if not _constant_text(mark):
        raise ExpressionError(mark.node, "the mark must not be empty")
    if not isinstance(position.literal, int) or position.literal < 1:
        raise ExpressionError(position.node, f"{position} must be a whole number of at least 1")
    return _call(call, [on.as_string(text), mark.code, str(position.literal)]), TEXT


def in_code_list(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``in_code_list``. The unchanged text is looked up first, since most texts have no blanks."""
    text, name = _expect(2, call, operands)
    listed = CODES + _list_name(name)
    string = on.as_string(text)
    if isinstance(text.node, ast.Name | ast.Attribute):
        return f"({string} in {listed} or in_code_list({string}, {listed}))", BOOLEAN
    return f"in_code_list({string}, {listed})", BOOLEAN


def joined_codes(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Compile ``joined_codes``."""
    (name,) = _expect(1, call, operands)
    return CODE_TEXT + _list_name(name), TEXT


#: Lowerings of functions whose annotations are not sufficient.
SPECIAL: Final[dict[str, Lowering]] = {
    "abs": absolute,
    "all": quantified,
    "all_distinct": texts,
    "any": quantified,
    "any_equal": any_equal,
    "any_unequal": texts,
    "attribute": attribute,
    "compare": compare,
    "count": count,
    "date": date,
    "default": default,
    "double": double,
    "exists": exists,
    "first": first,
    "in_code_list": in_code_list,
    "is_valid_skonto": matches,
    "joined": joined,
    "joined_codes": joined_codes,
    "matches": matches,
    "non_blank": non_blank,
    "normalize_space": normalize_space,
    "number": number,
    "part": part,
    "same_occurrence": same_occurrence,
    "skonto_lines_match": matches,
    "substring": substring,
    "sum": total,
}


def _present(code: str, member: Operand) -> str:
    """Return a list of the results of ``code`` that are not absent."""
    return f"[_value {member.clauses} if (_value := {code}) is not absent]"


def _list_name(operand: Operand) -> str:
    name = _constant_text(operand)
    if not name.isidentifier():
        raise ExpressionError(operand.node, f"'{name}' is not the name of a code list")
    return name


def _constant_text(operand: Operand) -> str:
    if not isinstance(operand.literal, str):
        raise ExpressionError(operand.node, f"{operand} must be a text in quotes")
    return operand.literal


def _expect(count: int, call: ast.Call, operands: Sequence[Operand]) -> Sequence[Operand]:
    if len(operands) != count:
        raise ExpressionError(call, f"'{_name(call)}' takes {count} operand{'s' * (count != 1)}, not {len(operands)}")
    return operands


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func)


def _call(call: ast.Call, codes: Sequence[str]) -> str:
    return f"{_name(call)}({', '.join(codes)})"
