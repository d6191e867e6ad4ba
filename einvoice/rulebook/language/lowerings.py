"""How calls of the words are checked and written in Python.

Most words say it by their annotations (see ``words``). The others have a lowering here, which gets the call and its
checked operands and returns Python code with the kind of the result. Where the code is short it stands in the rule
itself, because a rule may ask a thousand times whether something exists.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Final

from einvoice.rulebook import functions
from einvoice.rulebook.functions import patterns
from einvoice.rulebook.language import operands as on
from einvoice.rulebook.language.operands import Lowered, Operand, Wrong
from einvoice.rulebook.language.types import BINARY, COUNT, DATE, NUMBER, TEXT, TRUTH

Lowering = Callable[[ast.Call, Sequence[Operand]], Lowered]

#: Code lists stand in generated code as globals with these prefixes: as a set of codes, and written out as one text.
CODES: Final = "_codes_"
CODE_TEXT: Final = "_code_text_"


def lower(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Check a call of a word and write it in Python; ``Wrong`` where it is none."""
    special = SPECIAL.get(_name(call))
    if special:
        return special(call, operands)
    function = functions.CALLABLE[_name(call)]
    *takes, returns = function.__annotations__.values()
    _expect(len(takes), call, operands)
    if "Numeric" in takes:
        codes, kind = on.numbers(operands)
        return _call(call, codes), _RETURNS.get(returns, kind)
    codes = [on.as_string(operand) for operand in operands]
    inline = _INLINE.get(_name(call))
    return (inline.format(*codes) if inline else _call(call, codes)), _RETURNS[returns]


_RETURNS: Final = {"str": TEXT, "int": COUNT, "bool": TRUTH, "Truth": TRUTH}

#: Words that are shorter in Python than a call of them.
_INLINE: Final = {
    "raw": "{0}",
    "length": "len({0})",
    "decimals": "len({0}.partition('.')[2])",
    "contains": "({1} in {0})",
    "starts_with": "{0}.startswith({1})",
}


def exists(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Whether anything is there."""
    (operand,) = _expect(1, call, operands)
    if operand.kind.sort == "truth" or operand.literal is not None:
        raise Wrong(operand.node, f"{operand} is always there")
    if operand.clauses:
        return f"any({operand.code} is not absent {operand.clauses})", TRUTH
    return (f"(not not {operand.code})" if operand.kind.many else f"({operand.code} is not absent)"), TRUTH


def non_blank(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """Whether anything is there that is not blank."""
    (operand,) = _expect(1, call, operands)
    if not operand.kind.many:
        if operand.kind.is_value:
            # The word looks at further occurrences too, which almost no document has.
            code = operand.code
            return f"({code}.filled or not not {code}.more and non_blank({code}))", TRUTH
        return f"non_blank({on.as_string(operand)})", TRUTH
    member = on.each(operand)
    if not member.kind.is_value:
        raise Wrong(operand.node, f"{operand} is no sequence of values")
    return f"any({member.code}.filled {member.clauses})", TRUTH


def count(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """How many there are."""
    (operand,) = _expect(1, call, operands)
    if operand.kind.many and not operand.clauses:
        return f"len({operand.code})", COUNT
    member = on.each(operand)
    if member.kind.sort == "truth":
        raise Wrong(operand.node, "a truth is not counted", "count(x for x in … if …)")
    there = "" if member.code.isidentifier() else f" if {member.code} is not absent"
    return f"len([1 {member.clauses}{there}])", COUNT


def quantified(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """``any`` and ``all``."""
    (operand,) = _expect(1, call, operands)
    if not operand.clauses:
        raise Wrong(call, f"{ast.unparse(call)} asks nothing", f"{_name(call)}(… for x in {ast.unparse(operand.node)})")
    member = on.each(operand)
    return f"{_name(call)}({on.as_truth(member)} {member.clauses})", TRUTH


def total(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """``sum``."""
    (operand,) = _expect(1, call, operands)
    member = on.each(operand)
    codes, kind = on.numbers([member])
    return f"reduce(add, {_present(codes[0], member)} or (0,))", kind


def texts(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """``any_unequal`` and ``all_distinct``, and ``any_equal``: all the texts of each operand, a value, a sequence or a text."""
    _expect(1 if _name(call) == "all_distinct" else 2, call, operands)
    return _call(call, [_all_of(operand) for operand in operands]), TRUTH


def any_equal(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """``any_equal``; a value and a text are compared without the word, which is for further occurrences."""
    written, kind = texts(call, operands)
    value, text = operands
    if value.kind.is_value and not value.kind.many and text.kind.cls is str and not text.kind.many:
        return f"({value.code}.text == {text.code} or not not {value.code}.more and {written})", kind
    return written, kind


def _all_of(operand: Operand) -> str:
    if not (operand.kind.is_value or operand.kind.cls is str):
        raise Wrong(operand.node, f"{operand} is {operand.kind}, not the value of a business term")
    return f"[{operand.code} {operand.clauses}]" if operand.clauses else operand.code


def normalize_space(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """A text without superfluous blanks. Most texts are clean, which saves the call."""
    (operand,) = _expect(1, call, operands)
    string = on.as_string(operand)
    written = _call(call, [string])
    return (f"({string} if {string}.isalnum() else {written})" if operand.repeatable else written), TEXT


def absolute(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """``abs``."""
    codes, kind = on.numbers(_expect(1, call, operands))
    return _call(call, codes), kind


def default(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """A value, or another in its place."""
    _expect(2, call, operands)
    codes, kind = on.together(operands)
    return _call(call, codes), kind


def first(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """The first of several values."""
    (operand,) = _expect(1, call, operands)
    member = on.each(operand)
    if not member.kind.is_value:
        raise Wrong(operand.node, f"{operand} is {operand.kind}, no sequence of values")
    return f"next(iter({_present(member.code, member)}), absent)", member.kind


def number(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """An exact number; a binary one is taken for the number that it is exactly."""
    (operand,) = _expect(1, call, operands)
    return (_call(call, [operand.code]) if operand.kind.sort == "binary" else on.as_number(operand)), NUMBER


def double(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """A binary number."""
    (operand,) = _expect(1, call, operands)
    return on.as_binary(operand), BINARY


def compare(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """The order of a value and a number."""
    value, other = _expect(2, call, operands)
    if not value.kind.is_value or value.kind.many:
        raise Wrong(value.node, f"{value} is {value.kind}, not the value of a business term")
    on.as_binary(value)  # raises where it is no number
    number = repr(other.literal) if isinstance(other.literal, int) else on.as_binary(other)
    return _call(call, [value.code, number]), COUNT


def date(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """A day."""
    (operand,) = _expect(1, call, operands)
    return on.as_date(operand), DATE


def matches(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """A text held against a pattern that stands in the rule."""
    text, pattern = _expect(2, call, operands)
    try:
        patterns.compile(_constant_text(pattern))
    except ValueError as error:
        raise Wrong(pattern.node, str(error)) from None
    return _call(call, [on.as_string(text), pattern.code]), TRUTH


def attribute(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """What stands beside a value."""
    value, name = _expect(2, call, operands)
    if not value.kind.is_value or value.kind.many:
        raise Wrong(value.node, f"{value} is {value.kind}, not the value of a business term")
    _constant_text(name)
    return _call(call, [value.code, name.code]), TEXT


def substring(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """A piece of a text, from a place and of a length that stand in the rule."""
    text, start, length = _expect(3, call, operands)
    for number in (start, length):
        if not isinstance(number.literal, int) or number.literal < 1:
            raise Wrong(number.node, f"{number} has to be a whole number from 1")
    return f"{on.as_string(text)}[{start.literal - 1}:{start.literal - 1 + length.literal}]", TEXT


def in_code_list(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """One code of a list. Most texts are clean, so the plain text is looked up before it is trimmed."""
    text, name = _expect(2, call, operands)
    listed = CODES + _list_name(name)
    string = on.as_string(text)
    if isinstance(text.node, ast.Name | ast.Attribute):
        return f"({string} in {listed} or in_code_list({string}, {listed}))", TRUTH
    return f"in_code_list({string}, {listed})", TRUTH


def joined_codes(call: ast.Call, operands: Sequence[Operand]) -> Lowered:
    """A code list as one text."""
    (name,) = _expect(1, call, operands)
    return CODE_TEXT + _list_name(name), TEXT


#: What a call cannot be derived for from the annotations of its word.
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
    "joined_codes": joined_codes,
    "matches": matches,
    "non_blank": non_blank,
    "normalize_space": normalize_space,
    "number": number,
    "skonto_lines_match": matches,
    "substring": substring,
    "sum": total,
}


def _present(code: str, member: Operand) -> str:
    """A list of what ``code`` is for each member, without ``absent``."""
    return f"[_value {member.clauses} if (_value := {code}) is not absent]"


def _list_name(operand: Operand) -> str:
    name = _constant_text(operand)
    if not name.isidentifier():
        raise Wrong(operand.node, f"'{name}' cannot be the name of a code list")
    return name


def _constant_text(operand: Operand) -> str:
    if not isinstance(operand.literal, str):
        raise Wrong(operand.node, f"{operand} has to be a text in quotes")
    return operand.literal


def _expect(count: int, call: ast.Call, operands: Sequence[Operand]) -> Sequence[Operand]:
    if len(operands) != count:
        raise Wrong(call, f"'{_name(call)}' takes {count} operand{'s' * (count != 1)}, not {len(operands)}")
    return operands


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func)


def _call(call: ast.Call, codes: Sequence[str]) -> str:
    return f"{_name(call)}({', '.join(codes)})"
