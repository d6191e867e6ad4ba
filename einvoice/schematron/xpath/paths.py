"""Steps and their predicates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from einvoice.schematron.errors import Stopped
from einvoice.schematron.tree import in_order
from einvoice.schematron.values import effective_boolean, is_node
from einvoice.schematron.xpath import axes
from einvoice.schematron.xpath.compiled import Compiled, Evaluate, Kind, as_boolean, as_items
from einvoice.schematron.xpath.frame import Frame
from einvoice.schematron.xpath.loops import mapped
from einvoice.schematron.xpath.nodes import Call, Constant, Expression, Filter, Path, Step
from einvoice.schematron.xpath.scope import Scope, compile_expression, compiles


@compiles(Step)
def _step(expression: Step, scope: Scope) -> Compiled:
    expression = _shortened(expression, scope)
    base = compile_expression(expression.base, scope)
    axis = expression.axis
    reach = axes.reach(axis, expression.test, scope.namespaces, scope.default)
    predicates = [_predicate(it, scope) for it in expression.predicates]
    keeps_flat = base.is_flat and axis in ("child", "attribute", "self")
    is_ordered = keeps_flat or (base.is_node and axis not in axes.REVERSE)
    if base.is_node:
        evaluate = _from_one(base.evaluate, reach, predicates, axis in axes.REVERSE)
    else:
        evaluate = _from_all(as_items(base), reach, predicates, is_ordered)
    iterate = None
    if not any(_counts(it, scope) for it in expression.predicates):
        tests = [as_boolean(compile_expression(it, scope)) for it in expression.predicates]
        iterate = _one_by_one(base.iterate or as_items(base), reach, tests)
    return Compiled(Kind.NODES, evaluate, is_flat=keeps_flat, iterate=iterate)


def _shortened(step: Step, scope: Scope) -> Step:
    """Return `//name` as one step, unless a predicate counts the children of each parent."""
    match step.base:
        case Step(above, "descendant-or-self", "node()", ()) if step.axis == "child":
            if not any(_counts(it, scope) for it in step.predicates):
                return Step(above, "descendant", step.test, step.predicates)
    return step


def _counts(predicate: Expression, scope: Scope) -> bool:
    """Return whether a predicate depends on the place of a node in its sequence."""
    inner = replace(scope, has_node=True)
    calls = (it.name for it in predicate.walk() if isinstance(it, Call))
    kind = compile_expression(predicate, inner).kind
    return kind not in (Kind.BOOLEAN, Kind.NODES, Kind.TEXT) or not {"position", "last"}.isdisjoint(calls)


def _one_by_one(
    base: Callable[[Frame], Iterable[Any]], reach: axes.Reach, tests: Sequence[Callable[[Frame], bool]]
) -> Callable[[Frame], Iterator[Any]]:
    def iterate(frame: Frame) -> Iterator[Any]:
        for node in base(frame):
            if not is_node(node):
                raise Stopped("XPTY0019", "a step from a value that is no node")
            for it in reach(node):
                frame.run.spend(1)
                if _passes(it, tests, frame):
                    yield it

    return iterate


def _passes(node: Any, tests: Sequence[Callable[[Frame], bool]], frame: Frame) -> bool:
    for test in tests:
        frame.item = node
        if not test(frame):
            return False
    return True


def _from_one(
    base: Evaluate, reach: axes.Reach, predicates: Sequence[Callable[[Frame, Any], Any]], is_reverse: bool
) -> Evaluate:
    def evaluate(frame: Frame) -> Any:
        found = reach(base(frame))
        frame.run.spend(len(found) + 1)
        for predicate in predicates:
            found = predicate(frame, found)
        return in_order(found) if is_reverse else found

    return evaluate


def _from_all(
    base: Evaluate, reach: axes.Reach, predicates: Sequence[Callable[[Frame, Any], Any]], is_ordered: bool
) -> Evaluate:
    def evaluate(frame: Frame) -> Any:
        result: list[Any] = []
        for node in base(frame):
            if not is_node(node):
                raise Stopped("XPTY0019", "a step from a value that is no node")
            found = reach(node)
            for predicate in predicates:
                found = predicate(frame, found)
            result += found
            frame.run.spend(len(found) + 1)
        return result if is_ordered else in_order(result)

    return evaluate


def _predicate(expression: Expression, scope: Scope) -> Callable[[Frame, Any], Any]:
    """Return the function that filters a sequence by a predicate."""
    if isinstance(expression, Constant) and isinstance(expression.value, int):
        place = expression.value
        return lambda frame, found: found[place - 1 : place] if place > 0 else ()
    compiled = compile_expression(expression, scope)
    evaluate = compiled.evaluate
    by_value = compiled.kind in (Kind.ITEM, Kind.ANY) and not compiled.is_node
    test = evaluate if by_value else as_boolean(compiled)

    def filtered(frame: Frame, found: Any) -> list[Any]:
        before, result = (frame.item, frame.position, frame.size), []
        frame.size = len(found)
        for position, it in enumerate(found, 1):
            frame.item, frame.position = it, position
            value = test(frame)
            if _holds(value, position) if by_value else value:
                result.append(it)
            frame.size = len(found)
        frame.item, frame.position, frame.size = before
        return result

    return filtered


def _holds(value: Any, position: int) -> bool:
    """Return whether a predicate holds: a number stands for a place."""
    if value.__class__ in (list, tuple) and len(value) == 1 and not is_node(value[0]):
        value = value[0]
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        return effective_boolean(value)
    return bool(value == position)


@compiles(Path)
def _path(expression: Path, scope: Scope) -> Compiled:
    base = compile_expression(expression.base, scope)
    step = compile_expression(expression.step, replace(scope, has_node=True))
    results = mapped(as_items(base), as_items(step))
    if step.kind is Kind.NODES or step.is_node:
        return Compiled(Kind.NODES, lambda frame: in_order(results(frame)))

    def evaluate(frame: Frame) -> Any:
        found = results(frame)
        return in_order(found) if found and all(map(is_node, found)) else found

    return Compiled(Kind.ANY, evaluate)


@compiles(Filter)
def _filter(expression: Filter, scope: Scope) -> Compiled:
    base = compile_expression(expression.base, scope)
    is_nodes = base.kind is Kind.NODES or base.is_node
    inner = replace(scope, has_node=is_nodes)
    sequence = as_items(base)
    predicates = [_predicate(it, inner) for it in expression.predicates]

    def evaluate(frame: Frame) -> Any:
        found = sequence(frame)
        frame.run.spend(len(found))
        for predicate in predicates:
            found = predicate(frame, found)
        return found

    return Compiled(Kind.NODES if is_nodes else Kind.ANY, evaluate, is_flat=base.is_flat)
