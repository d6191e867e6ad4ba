"""The names of elements without which an expression is false, or true: most of a sheet is about what a document lacks.

A name counts only if nothing before it can fail, so that leaving an expression out never hides an error.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from einvoice.schematron.values import OPERATORS
from einvoice.schematron.xpath.axes import full_name, is_plain_name
from einvoice.schematron.xpath.nodes import (
    Call,
    Combination,
    Comparison,
    Constant,
    ContextItem,
    Expression,
    Filter,
    Items,
    Logic,
    Loop,
    Path,
    Root,
    Step,
)
from einvoice.schematron.xpath.scope import Scope

Names: TypeAlias = frozenset[str]

_NONE: Final[Names] = frozenset()
_GENERAL: Final = ("=", "!=", "<", "<=", ">", ">=")
_MIRRORED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_CONSTANTS: Final = ("true", "false")
_SAME: Final = ("exists", "boolean")
_TEXTS: Final = ("normalize-space", "string", "upper-case", "lower-case")


def needed(expression: Expression, wanted: bool, scope: Scope) -> Names:
    """Return names of elements: without one of them, the effective boolean value is not `wanted`, and nothing fails."""
    match expression:
        case Items((inner,)):
            return needed(inner, wanted, scope)
        case Step() | Path() | Filter():
            return _path(expression, scope)[0] if wanted else _NONE
        case Combination(("union" | "|"), left, right):
            return needed(left, True, scope) & needed(right, True, scope) if wanted else _NONE
        case Call(("not" | "empty"), (inner,)):
            return needed(inner, not wanted, scope)
        case Call(name, (inner,)) if name in _SAME:
            return needed(inner, wanted, scope)
        case Logic(operator, operands):
            found = [needed(it, wanted, scope) for it in operands]
            return _NONE.union(*found) if (operator == "and") is wanted else found[0].intersection(*found)
        case Comparison():
            return _of_comparison(expression, wanted, scope)
        case Loop(("every" | "some") as kind, ((_, sequence), *_)):
            return needed(sequence, True, scope) if (kind == "some") is wanted else _NONE
    return _NONE


def needed_by_pattern(expression: Expression, scope: Scope) -> Names:
    """Return the names of elements without which a context matches nothing; an error in it is no match anyway."""
    return _path(expression, scope, fails=False)[0]


def _of_comparison(expression: Comparison, wanted: bool, scope: Scope) -> Names:
    sign, left, right = expression.operator, expression.left, expression.right
    if _is_constant(left):
        sign, left, right = _MIRRORED.get(sign, sign), right, left
    if not _is_constant(right) or sign not in OPERATORS:
        return _NONE
    match left, right:
        case Call("count", (nodes,)), Constant(int() as number):
            return needed(nodes, True, scope) if OPERATORS[sign](0, number) is not wanted else _NONE
        case Call(name, (_,)), Constant(str() as text) if name in _TEXTS and text:
            return _of_text(left, scope) if sign == ("=" if wanted else "!=") else _NONE
        case ((Step() | Path() | Filter()), _):
            return _path(left, scope)[0] if wanted and sign in _GENERAL else _NONE
    return _NONE


def _of_text(expression: Expression, scope: Scope) -> Names:
    """Return the names without which a text of nodes is empty."""
    match expression:
        case Call(name, (inner,)) if name in _TEXTS:
            return _of_text(inner, scope)
    return _path(expression, scope)[0]


def _is_constant(expression: Expression) -> bool:
    if isinstance(expression, Items):
        return all(isinstance(it, Constant) for it in expression.items)
    return isinstance(expression, Constant) or (isinstance(expression, Call) and _is_call(expression, *_CONSTANTS))


def _is_call(expression: Call, *names: str) -> bool:
    return expression.name in names and not expression.arguments


def _path(expression: Expression, scope: Scope, *, fails: bool = True) -> tuple[Names, bool]:
    """Return the names without which a path reaches nothing, and whether it can be followed without an error.

    Args:
        fails: whether errors count.
    """
    match expression:
        case Root() | ContextItem():
            return _NONE, True
        case Call("current", ()):
            return _NONE, True
        case Step(base, axis, test, predicates):
            found, is_safe = _path(base, scope, fails=fails)
            if is_safe and is_plain_name(test):
                name = full_name(axis, test, scope.namespaces, scope.default)
                found |= {f"@{name}" if axis == "attribute" else name}
            for it in predicates:
                if is_safe:
                    found |= needed(it, True, scope)
                is_safe = is_safe and (not fails or _is_safe(it, scope))
            return found, is_safe
        case Path(base) | Filter(base):
            return _path(base, scope, fails=fails)[0], False
        case Items((inner,)):
            return _path(inner, scope, fails=fails)
        case Combination(("union" | "|"), left, right):
            (one, is_safe), (other, is_also) = (_path(it, scope, fails=fails) for it in (left, right))
            return one & other, is_safe and is_also
    return _NONE, False


def _is_safe(expression: Expression, scope: Scope) -> bool:
    """Return whether a predicate cannot fail."""
    match expression:
        case Constant() | Call(("true" | "false" | "position" | "last"), ()):
            return True
        case Step():
            return _path(expression, scope)[1]
        case Call(("not" | "empty" | "exists" | "boolean"), (inner,)):
            return _is_safe(inner, scope)
        case Logic(_, operands):
            return all(_is_safe(it, scope) for it in operands)
        case Comparison(("=" | "!="), left, right):
            return all(_is_path_or_text(it, scope) for it in (left, right))
    return False


def _is_path_or_text(expression: Expression, scope: Scope) -> bool:
    if isinstance(expression, Items):
        return all(_is_text(it) for it in expression.items)
    return _is_text(expression) or _path(expression, scope)[1]


def _is_text(expression: Expression) -> bool:
    return isinstance(expression, Constant) and isinstance(expression.value, str)
