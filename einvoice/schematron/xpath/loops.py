"""Loops: `for`, `let`, `some`, `every`, and `!`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from einvoice.schematron.tree import NOTHING
from einvoice.schematron.xpath.compiled import Compiled, Evaluate, Kind, as_boolean, as_items
from einvoice.schematron.xpath.frame import Frame
from einvoice.schematron.xpath.nodes import Call, Comparison, Constant, Expression, Loop, SimpleMap, Variable
from einvoice.schematron.xpath.operators import in_sequence
from einvoice.schematron.xpath.scope import Scope, compile_expression, compiles
from einvoice.schematron.xpath.shared import shared


def _item_of(sequence: Compiled) -> Compiled:
    """Return what is known of a variable that takes each item of a sequence."""
    is_one_node = sequence.kind is Kind.NODES or sequence.is_node
    return Compiled(Kind.ITEM, sequence.evaluate, is_one_node, is_one_node)


@compiles(Loop)
def _loop(expression: Loop, scope: Scope) -> Compiled:
    return shared(expression, scope, _of_loop)


def _of_loop(expression: Loop, scope: Scope) -> Compiled:
    bindings, outer = [], scope
    for name, of in expression.bindings:
        compiled = compile_expression(of, scope)
        is_let = expression.kind == "let"
        bindings.append((name, compiled.evaluate if is_let else as_items(compiled)))
        scope = scope.with_variable(name, compiled if is_let else _item_of(compiled))
    body, weight = compile_expression(expression.body, scope), expression.body.size
    match expression.kind:
        case "some" if (equality := _equality(expression)) is not None:
            return Compiled(Kind.BOOLEAN, in_sequence(compile_expression(equality, outer).evaluate, bindings[0][1]))
        case "some":
            return Compiled(Kind.BOOLEAN, _quantified(bindings, as_boolean(body), True, weight))
        case "every":
            return Compiled(Kind.BOOLEAN, _quantified(bindings, as_boolean(body), False, weight))
        case "let":
            return replace(body, evaluate=_let(bindings, body.evaluate), iterate=None, names=(), origin=None)
        case _:
            kind = Kind.NODES if body.kind is Kind.NODES or body.is_node else Kind.ANY
            return Compiled(kind, _for(bindings, as_items(body), weight))


def _equality(loop: Loop) -> Expression | None:
    """Return what is compared in `some $a in … satisfies … = $a`, which is the comparison with a sequence."""
    match loop:
        case Loop("some", ((name, Variable() | Call(_, (Constant(), *_))),), Comparison("=", left, right)):
            for compared, variable in ((left, right), (right, left)):
                if variable == Variable(name) and variable not in compared.walk():
                    return compared
    return None


_Bindings = Sequence[tuple[str, Evaluate]]


def _quantified(bindings: _Bindings, body: Callable[[Frame], bool], decides: bool, weight: int) -> Evaluate:
    """Return whether the body is `decides` for one combination; if so that, else the opposite."""
    (name, sequence), *others = bindings
    inner = _quantified(others, body, decides, weight) if others else body

    def evaluate(frame: Frame) -> bool:
        before, found = frame.variables.get(name), sequence(frame)
        spend = frame.run.spend
        try:
            for it in found:
                spend(weight)
                frame.variables[name] = it
                if inner(frame) is decides:
                    return decides
            return not decides
        finally:
            frame.variables[name] = before

    return evaluate


def _for(bindings: _Bindings, body: Evaluate, weight: int) -> Evaluate:
    (name, sequence), *others = bindings
    inner = _for(others, body, weight) if others else body

    def evaluate(frame: Frame) -> list[Any]:
        before, result = frame.variables.get(name), []
        found = sequence(frame)
        frame.run.spend(len(found) * weight)
        try:
            for it in found:
                frame.variables[name] = it
                result += inner(frame)
        finally:
            frame.variables[name] = before
        return result

    return evaluate


def _let(bindings: _Bindings, body: Evaluate) -> Evaluate:
    (name, of), *others = bindings
    inner = _let(others, body) if others else body

    def evaluate(frame: Frame) -> Any:
        before = frame.variables.get(name)
        frame.variables[name] = of(frame)
        try:
            return inner(frame)
        finally:
            frame.variables[name] = before

    return evaluate


@compiles(SimpleMap)
def _simple_map(expression: SimpleMap, scope: Scope) -> Compiled:
    left = compile_expression(expression.left, scope)
    is_node_ = left.kind is Kind.NODES or left.is_node
    right = compile_expression(expression.right, replace(scope, has_node=is_node_))
    return Compiled(Kind.ANY, mapped(as_items(left), as_items(right), expression.right))


def mapped(left: Evaluate, right: Evaluate, expression: Expression) -> Evaluate:
    """Return the results of a function, of an expression, for each item as the context item, one after another."""
    weight = expression.size
    if not any(isinstance(it, Call) and it.name in ("position", "last") for it in expression.walk()):
        return _mapped(left, right, weight)

    def counted(frame: Frame) -> Sequence[Any]:
        found = left(frame)
        if not found:
            return NOTHING
        before, result = (frame.item, frame.position, frame.size), []
        frame.run.spend(len(found) * weight)
        try:
            for position, it in enumerate(found, 1):
                frame.item, frame.position, frame.size = it, position, len(found)
                result += right(frame)
        finally:
            frame.item, frame.position, frame.size = before
        return result

    return counted


def _mapped(left: Evaluate, right: Evaluate, weight: int) -> Evaluate:
    def evaluate(frame: Frame) -> Sequence[Any]:
        found = left(frame)
        if not found:
            return NOTHING
        before, result = frame.item, []
        frame.run.spend(len(found) * weight)
        try:
            for it in found:
                frame.item = it
                result += right(frame)
        finally:
            frame.item = before
        return result

    return evaluate
