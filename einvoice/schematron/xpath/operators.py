"""Primaries, logic, comparison, arithmetic and types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from einvoice.schematron.errors import NotCompilable, Stopped
from einvoice.schematron.tree import in_order
from einvoice.schematron.values import (
    CASTS,
    DOUBLE_ARITHMETIC,
    EXACT,
    EXACT_ARITHMETIC,
    NUMBERS,
    OPERATORS,
    TEXTS,
    arithmetic,
    atoms,
    general_comparison,
    is_castable,
    items,
    number_item,
    optional,
    value_comparison,
)
from einvoice.schematron.values import cast as cast_value
from einvoice.schematron.xpath.compiled import (
    CONTEXT,
    CONTEXT_NODE,
    ROOT,
    Compiled,
    Evaluate,
    Kind,
    as_boolean,
    as_items,
)
from einvoice.schematron.xpath.frame import Frame, Lazy
from einvoice.schematron.xpath.nodes import (
    Arithmetic,
    Combination,
    Comparison,
    Condition,
    Constant,
    ContextItem,
    Expression,
    Items,
    Logic,
    Negative,
    Range,
    Root,
    TypeTest,
    Variable,
)
from einvoice.schematron.xpath.scope import Scope, compile_expression, compiles
from einvoice.schematron.xpath.shortcuts import of_text

_GENERAL: Final = ("=", "!=", "<", "<=", ">", ">=")
_MIRRORED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_MAX_RANGE: Final = 1_000_000
_LONG: Final = 8
"""Items of a sequence from which a set of them saves time."""


_OTHER: Final[dict[str, Any]] = {"iterate": None, "names": (), "origin": None}
"""What is not known of the value of a variable, though it is of its expression."""


@compiles(Constant)
def _constant(expression: Constant, _: Scope) -> Compiled:
    value = expression.value
    kind = Kind.TEXT if isinstance(value, str) else Kind.INTEGER if isinstance(value, int) else Kind.ITEM
    return Compiled(kind, lambda frame: value)


@compiles(Variable)
def _variable(expression: Variable, scope: Scope) -> Compiled:
    name = expression.name
    known = scope.variables.get(name)
    if known is not None:

        def local(frame: Frame) -> Any:
            value = frame.variables[name]
            if value.__class__ is Lazy:
                value = frame.variables[name] = value.value()
            return value

        return replace(known, evaluate=local, **_OTHER)
    if name not in scope.globals:
        raise NotCompilable(f"the variable ${name} is not declared")
    return replace(scope.globals[name], evaluate=lambda frame: frame.run.globals[name].value(), **_OTHER)


@compiles(ContextItem)
def _context_item(_: ContextItem, scope: Scope) -> Compiled:
    return CONTEXT_NODE if scope.has_node else CONTEXT


@compiles(Root)
def _root(_: Root, __: Scope) -> Compiled:
    return ROOT


@compiles(Items)
def _items(expression: Items, scope: Scope) -> Compiled:
    parts = [compile_expression(it, scope) for it in expression.items]
    if len(parts) == 1:
        return replace(parts[0], is_flat=False)
    if all(isinstance(it, Constant) for it in expression.items):
        constants = tuple(it.value for it in expression.items if isinstance(it, Constant))
        return Compiled(Kind.ANY, lambda frame: constants)
    functions = [as_items(it) for it in parts]
    kind = Kind.NODES if parts and all(it.kind is Kind.NODES for it in parts) else Kind.ANY

    def evaluate(frame: Frame) -> list[Any]:
        found = [it for function in functions for it in function(frame)]
        frame.run.spend(len(found))
        return found

    return Compiled(kind, evaluate)


@compiles(Logic)
def _logic(expression: Logic, scope: Scope) -> Compiled:
    """Compile `or` and `and`. An error counts only if no other operand decides: the operands have no order."""
    decides = expression.operator == "or"
    operands = [as_boolean(compile_expression(it, scope)) for it in expression.operands]
    if len(operands) == 2:
        return Compiled(Kind.BOOLEAN, _of_two(operands[0], operands[1], decides))

    def evaluate(frame: Frame) -> bool:
        waiting, error = iter(operands), None
        while True:
            try:
                for operand in waiting:
                    if operand(frame) is decides:
                        return decides
                break
            except Stopped as stopped:
                error = error or stopped
        if error is not None:
            raise error
        return not decides

    return Compiled(Kind.BOOLEAN, evaluate)


def _of_two(first: Callable[[Frame], bool], second: Callable[[Frame], bool], decides: bool) -> Evaluate:
    def evaluate(frame: Frame) -> bool:
        try:
            if first(frame) is decides:
                return decides
        except Stopped as error:
            try:
                if second(frame) is decides:
                    return decides
            except Stopped:
                raise error from None
            raise
        return second(frame)

    return evaluate


@compiles(Comparison)
def _comparison(expression: Comparison, scope: Scope) -> Compiled:
    sign = expression.operator
    left, right = compile_expression(expression.left, scope), compile_expression(expression.right, scope)
    if sign in ("is", "<<", ">>"):
        return _node_comparison(sign, left, right)
    if left.kind is right.kind is Kind.INTEGER:
        return Compiled(Kind.BOOLEAN, _of_integers(OPERATORS[sign], left.evaluate, right.evaluate))
    if sign not in _GENERAL:
        return Compiled(Kind.ITEM, _of_numbers(sign, left.evaluate, right.evaluate, value_comparison))
    fast = _with_texts(sign, left, expression.right) or _with_texts(_MIRRORED.get(sign, sign), right, expression.left)
    if fast is None and sign == "=" and left.kind is right.kind is Kind.NODES:
        fast = _share_a_text(left.evaluate, right.evaluate)
    elif fast is None and sign == "=" and isinstance(expression.right, Variable):
        fast = in_sequence(left.evaluate, right.evaluate)
    return Compiled(Kind.BOOLEAN, fast or _of_numbers(sign, left.evaluate, right.evaluate, general_comparison))


def _of_numbers(sign: str, left: Evaluate, right: Evaluate, others: Callable[[str, Any, Any], Any]) -> Evaluate:
    """Return a comparison that sees exact numbers and texts at once, and leaves other values to a function."""
    test = OPERATORS[sign]

    def evaluate(frame: Frame) -> Any:
        first, second = left(frame), right(frame)
        kind, other = first.__class__, second.__class__
        if (kind in EXACT and other in EXACT) or (kind in TEXTS and other in TEXTS):
            return test(first, second)
        return others(sign, first, second)

    return evaluate


def _of_integers(test: Callable[[Any, Any], bool], left: Evaluate, right: Evaluate) -> Evaluate:
    return lambda frame: test(left(frame), right(frame))


def in_sequence(left: Evaluate, right: Evaluate) -> Evaluate:
    """Return the comparison with a sequence, which may be a variable with a code list: its texts are collected once."""

    def evaluate(frame: Frame) -> bool:
        found = right(frame)
        if found.__class__ is list and not found:
            return False
        value = left(frame)
        if value.__class__ in TEXTS and found.__class__ in TEXTS:
            return bool(value == found)
        if found.__class__ is list and len(found) > _LONG:
            texts = frame.run.texts.get(id(found))
            if texts is None:
                is_text = all(isinstance(it, str) for it in found)
                texts = frame.run.texts[id(found)] = found, frozenset(found) if is_text else None
            compared = atoms(items(value))
            if texts[1] is not None and all(isinstance(it, str) for it in compared):
                return not texts[1].isdisjoint(compared)
        return general_comparison("=", value, found)

    return evaluate


def _with_texts(sign: str, side: Compiled, other: Expression) -> Evaluate | None:
    """Return the comparison of nodes or a text with literal texts, which needs no types; None for others."""
    listed = other.items if isinstance(other, Items) else (other,)
    if sign not in ("=", "!=") or side.kind not in (Kind.NODES, Kind.TEXT, Kind.TEXTS) or not listed:
        return None
    texts = frozenset(it.value for it in listed if isinstance(it, Constant) and isinstance(it.value, str))
    if len({*listed}) != len(texts) or (sign == "!=" and len(texts) > 1):
        return None
    evaluate = side.evaluate
    if side.kind is Kind.TEXTS:
        return (lambda frame: not texts.isdisjoint(evaluate(frame))) if sign == "=" else None
    if side.kind is Kind.TEXT:
        return (lambda frame: evaluate(frame) in texts) if sign == "=" else (lambda frame: evaluate(frame) not in texts)

    def one_is(frame: Frame) -> bool:
        for it in evaluate(frame):  # noqa: SIM110 (a generator takes longer)
            if it.text in texts:
                return True
        return False

    def one_is_not(frame: Frame) -> bool:
        for it in evaluate(frame):  # noqa: SIM110 (a generator takes longer)
            if it.text not in texts:
                return True
        return False

    return one_is if sign == "=" else one_is_not


def _share_a_text(left: Evaluate, right: Evaluate) -> Evaluate:
    def evaluate(frame: Frame) -> bool:
        first = left(frame)
        return bool(first) and not {it.text for it in first}.isdisjoint(it.text for it in right(frame))

    return evaluate


def _node_comparison(sign: str, left: Compiled, right: Compiled) -> Compiled:
    first, second = as_items(left), as_items(right)

    def evaluate(frame: Frame) -> bool | None:
        a, b = first(frame), second(frame)
        if not a or not b:
            return None
        if len(a) > 1 or len(b) > 1:
            raise Stopped("XPTY0004", "a sequence of several nodes where one is allowed")
        if sign == "is":
            return a[0] is b[0]
        return bool(a[0].order < b[0].order if sign == "<<" else a[0].order > b[0].order)

    return Compiled(Kind.ITEM, evaluate)


@compiles(Arithmetic)
def _arithmetic(expression: Arithmetic, scope: Scope) -> Compiled:
    sign = expression.operator
    left = compile_expression(expression.left, scope).evaluate
    right = compile_expression(expression.right, scope).evaluate
    exact, double = EXACT_ARITHMETIC.get(sign), DOUBLE_ARITHMETIC[sign]

    def evaluate(frame: Frame) -> Any:
        first, second = left(frame), right(frame)
        kind, other = first.__class__, second.__class__
        if kind is Decimal and other in EXACT and exact is not None:
            return exact(first, second)
        if (kind is float and other in NUMBERS) or (other is float and kind in NUMBERS):
            return double(float(first), float(second))
        return arithmetic(sign, first, second)

    return Compiled(Kind.ITEM, evaluate)


@compiles(Negative)
def _negative(expression: Negative, scope: Scope) -> Compiled:
    operand = compile_expression(expression.operand, scope).evaluate

    def evaluate(frame: Frame) -> Any:
        value = number_item(operand(frame))
        return None if value is None else -value

    return Compiled(Kind.ITEM, evaluate)


@compiles(Range)
def _range(expression: Range, scope: Scope) -> Compiled:
    first = compile_expression(expression.first, scope).evaluate
    last = compile_expression(expression.last, scope).evaluate

    def evaluate(frame: Frame) -> Sequence[int]:
        start, end = cast_value(first(frame), "xs:integer"), cast_value(last(frame), "xs:integer")
        if start is None or end is None or end < start:
            return ()
        frame.run.spend(min(end - start, _MAX_RANGE) * (1 if end - start < _MAX_RANGE else _MAX_RANGE))
        return [*range(start, end + 1)]

    return Compiled(Kind.ANY, evaluate)


@compiles(Combination)
def _combination(expression: Combination, scope: Scope) -> Compiled:
    if expression.operator in ("union", "|"):
        return Compiled(Kind.NODES, _union([compile_expression(it, scope) for it in _united(expression)]))
    first, second = compile_expression(expression.left, scope), compile_expression(expression.right, scope)
    left, right = as_items(first), as_items(second)

    def chosen(frame: Frame) -> Sequence[Any]:
        others = set(map(id, right(frame)))
        return [it for it in in_order(left(frame)) if (id(it) in others) is keeps]

    keeps = expression.operator == "intersect"
    return Compiled(Kind.NODES, chosen)


def _united(expression: Expression) -> Iterator[Expression]:
    """Yield the operands of a union, and of the unions that are its first operands."""
    if isinstance(expression, Combination) and expression.operator in ("union", "|"):
        yield from _united(expression.left)
        yield expression.right
    else:
        yield expression


def _union(operands: Sequence[Compiled]) -> Evaluate:
    parts, are_ordered = [as_items(it) for it in operands], all(it.is_flat for it in operands)

    def union(frame: Frame) -> Sequence[Any]:
        found = [nodes for nodes in [part(frame) for part in parts] if nodes]
        if len(found) == 1 and are_ordered:
            only: Sequence[Any] = found[0]
            return only
        return in_order([it for nodes in found for it in nodes])

    return union


@compiles(TypeTest)
def _type_test(expression: TypeTest, scope: Scope) -> Compiled:
    name = expression.type.replace("xsd:", "xs:")
    known, is_optional = compile_expression(expression.operand, scope), expression.occurrence == "?"
    operand = known.evaluate
    if expression.operator not in ("cast", "castable") or name not in CASTS:
        raise NotCompilable(f"'{expression.operator}' with the type {name} is not supported")
    if expression.operator == "castable":
        return Compiled(Kind.BOOLEAN, _castable(known, name, is_optional))

    def evaluate(frame: Frame) -> Any:
        value = optional(operand(frame))
        if value is None and not is_optional:
            raise Stopped("XPTY0004", f"nothing cannot become {name}")
        return None if value is None else CASTS[name](value)

    return Compiled(Kind.ITEM, evaluate)


def _castable(operand: Compiled, name: str, is_optional: bool) -> Evaluate:
    evaluate, to = operand.evaluate, of_text(name)
    if to is None or not (operand.kind is Kind.NODES or operand.is_node):
        return lambda frame: is_castable(evaluate(frame), name, is_optional)

    def castable(frame: Frame) -> bool:
        found = (evaluate(frame),) if operand.is_node else evaluate(frame)
        if len(found) != 1:
            return is_optional and not found
        try:
            to(found[0].text)
        except Stopped:
            return False
        return True

    return castable


@compiles(Condition)
def _condition(expression: Condition, scope: Scope) -> Compiled:
    test = as_boolean(compile_expression(expression.test, scope))
    yes, no = compile_expression(expression.yes, scope), compile_expression(expression.no, scope)
    one, other = yes.evaluate, no.evaluate
    kind = yes.kind if yes.kind is no.kind and not (yes.is_node or no.is_node) else Kind.ANY
    return Compiled(kind, lambda frame: one(frame) if test(frame) else other(frame))
