"""Steps and their predicates."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from einvoice.schematron.errors import LimitReached, Stopped
from einvoice.schematron.tree import NOTHING, in_order
from einvoice.schematron.values import atoms, effective_boolean, is_node
from einvoice.schematron.xpath import axes
from einvoice.schematron.xpath.compiled import CONTEXT_NODE, Compiled, Evaluate, Kind, as_boolean, as_items
from einvoice.schematron.xpath.frame import Frame
from einvoice.schematron.xpath.loops import mapped
from einvoice.schematron.xpath.nodes import (
    Call,
    Comparison,
    Constant,
    ContextItem,
    Expression,
    Filter,
    Logic,
    Path,
    Root,
    Step,
)
from einvoice.schematron.xpath.scope import Scope, compile_expression, compiles
from einvoice.schematron.xpath.shared import FOCUS, free, is_of_document, shared

_MANY: Final = 8
"""Nodes of a step from which they are counted."""


@compiles(Step)
def _step(expression: Step, scope: Scope) -> Compiled:
    return shared(expression, scope, _of_step)


@compiles(Path)
def _path(expression: Path, scope: Scope) -> Compiled:
    return shared(expression, scope, _of_path)


def _of_step(expression: Step, scope: Scope) -> Compiled:
    expression = _divided(_shortened(expression, scope), scope)
    base = compile_expression(expression.base, scope)
    axis = expression.axis
    reach = axes.reach(axis, expression.test, scope.namespaces, scope.default)
    keeps_flat = base.is_flat and (axis in ("child", "attribute", "self") or (axis == "parent" and base.is_node))
    if not expression.predicates and (fast := _from_node(expression, base, scope)) is not None:
        return fast
    predicates = [_predicate(it, scope) for it in expression.predicates]
    select = _by_key(expression.predicates, scope.with_node()) if expression.predicates else None
    if select is not None and axis == "self" and base.kind is Kind.NODES:
        base, select = _selecting(base, select), None
    elif select is not None:
        predicates.insert(0, select)
    is_ordered = keeps_flat or axis == "self" or (base.is_node and axis not in axes.REVERSE)
    if base.is_node:
        evaluate = _from_one(base.evaluate, reach, predicates, axis in axes.REVERSE)
    else:
        evaluate = _from_all(_nodes(base), reach, predicates, is_ordered)
    iterate = None
    if (expression.predicates or base.iterate) and not any(_counts(it, scope) for it in expression.predicates):
        tests = [as_boolean(compile_expression(it, scope.with_node())) for it in expression.predicates]
        weight = 1 + sum(it.size for it in expression.predicates)
        iterate = _one_by_one(base.iterate or _nodes(base), reach, select, tests, weight)
    return Compiled(Kind.NODES, evaluate, is_flat=keeps_flat, iterate=iterate)


def _from_node(step: Step, base: Compiled, scope: Scope) -> Compiled | None:
    """Return a path of names of children, perhaps with an attribute at its end, from one node; None for other paths.

    The nodes that it reaches are in document order, and no step needs the context.
    """
    names, origin = ((), base.evaluate) if base.is_node else (base.names, base.origin)
    if origin is CONTEXT_NODE.evaluate and not names and (step.axis, step.test) == ("child", "*"):
        return Compiled(Kind.NODES, _all_children, is_flat=True)
    if origin is None or not axes.is_plain_name(step.test):
        return None
    name = axes.full_name(step.axis, step.test, scope.namespaces, scope.default)
    if step.axis == "attribute":
        evaluate = _attributes(_children(origin, names) if names else None, origin, name)
        return Compiled(Kind.NODES, evaluate, is_flat=True)
    if step.axis != "child":
        return None
    names = (*names, name)
    return Compiled(Kind.NODES, _children(origin, names), is_flat=True, names=names, origin=origin)


def _all_children(frame: Frame) -> Any:
    found = frame.item.children
    if len(found) > _MANY:
        frame.run.spend(len(found))
    return found


def _children(origin: Evaluate, names: Sequence[str]) -> Evaluate:
    first, *others = names
    if not others and origin is CONTEXT_NODE.evaluate:
        return _child(first)

    def from_first(frame: Frame) -> Any:
        found = origin(frame).named.get(first, NOTHING)
        if len(found) > _MANY:
            frame.run.spend(len(found))
        return found

    def evaluate(frame: Frame) -> Any:
        found = origin(frame).named.get(first, NOTHING)
        for name in others:
            if len(found) == 1:
                found = found[0].named.get(name, NOTHING)
            elif found:
                found = [it for node in found for it in node.named.get(name, NOTHING)]
            else:
                return NOTHING
            if len(found) > _MANY:
                frame.run.spend(len(found))
        return found

    return evaluate if others else from_first


def _child(name: str) -> Evaluate:
    def evaluate(frame: Frame) -> Any:
        found = frame.item.named.get(name, NOTHING)
        if len(found) > _MANY:
            frame.run.spend(len(found))
        return found

    return evaluate


def _attributes(elements: Evaluate | None, origin: Evaluate, name: str) -> Evaluate:
    def of_one(frame: Frame) -> Any:
        attributes = origin(frame).attributes
        return (attributes[name],) if name in attributes else NOTHING

    def of_all(frame: Frame) -> Any:
        return [it.attributes[name] for it in elements(frame) if name in it.attributes]  # type: ignore[misc]

    return of_all if elements else of_one


def _nodes(base: Compiled) -> Evaluate:
    """Return the function of the nodes that a step begins from."""
    if base.kind is Kind.NODES:
        return base.evaluate
    sequence = as_items(base)

    def evaluate(frame: Frame) -> Any:
        found = sequence(frame)
        if not all(map(is_node, found)):
            raise Stopped("XPTY0019", "a step from a value that is no node")
        return found

    return evaluate


def _shortened(step: Step, scope: Scope) -> Step:
    """Return `//name` as one step, unless a predicate counts the children of each parent."""
    match step.base:
        case Step(above, "descendant-or-self", "node()", ()) if step.axis == "child":
            if not any(_counts(it, scope) for it in step.predicates):
                return Step(above, "descendant", step.test, step.predicates)
        case Step(Root() as above, "descendant-or-self", "node()", ()) if step.axis == "attribute":
            if axes.is_plain_name(step.test) and not any(_counts(it, scope) for it in step.predicates):
                return Step(above, "descendant-attribute", step.test, step.predicates)
    return step


def _divided(step: Step, scope: Scope) -> Step:
    """Return a step whose first predicates depend on the document only as two steps, to calculate them once."""
    if not step.predicates:
        return step
    alone = replace(step, predicates=())
    if not is_of_document(alone, scope) or any(_counts(it, scope) for it in step.predicates):
        return step
    first = [*itertools.takewhile(lambda it: is_of_document(replace(alone, predicates=(it,)), scope), step.predicates)]
    rest = step.predicates[len(first) :]
    return Step(replace(alone, predicates=tuple(first)), "self", "node()", rest) if rest else step


_Select = Callable[[Frame, Any], Any]


def _by_key(predicates: Sequence[Expression], scope: Scope) -> _Select | None:
    """Return the function that leaves out nodes for which the first predicate, with `key = value`, cannot hold.

    The key depends on the node only, so that an index of the keys of a sequence of nodes serves all values.
    """
    for it in predicates[:1]:
        for part in it.operands if isinstance(it, Logic) and it.operator == "and" else (it,):
            if isinstance(part, Comparison) and part.operator == "=" and not _uses_place(it):
                for key, value in ((part.left, part.right), (part.right, part.left)):
                    if free(key) == {FOCUS} and FOCUS not in free(value):
                        known = compile_expression(key, scope)
                        if known.kind in (Kind.NODES, Kind.TEXT):
                            values = as_items(compile_expression(value, scope))
                            return _selected(as_items(known), values, key.size)
    return None


def _selecting(base: Compiled, select: _Select) -> Compiled:
    evaluate = base.evaluate
    return replace(base, evaluate=lambda frame: select(frame, evaluate(frame)), iterate=None)


def _selected(keys: Evaluate, values: Evaluate, weight: int) -> _Select:
    mark = object()

    def select(frame: Frame, found: Any) -> Any:
        if len(found) <= _MANY:
            return found
        known = frame.run.known
        nodes, index = known.get(mark, (None, None))
        if nodes is not found:  # an index pays if the same nodes come again
            known[mark] = found, None
            return found
        try:
            if index is None:
                index = _index(frame, found, keys, weight)
                known[mark] = found, index
            wanted = atoms(values(frame))
        except LimitReached:
            raise
        except Stopped:  # perhaps the rest of the predicate does not need it
            return found
        if not all(isinstance(it, str) for it in wanted):
            return found
        frame.run.spend(len(wanted))
        return [found[place] for place in sorted({place for it in wanted for place in index.get(it, NOTHING)})]

    return select


def _index(frame: Frame, nodes: Sequence[Any], keys: Evaluate, weight: int) -> dict[str, list[int]]:
    """Return the places of nodes by the texts of their keys."""
    before, index = frame.item, dict[str, list[int]]()
    frame.run.spend(len(nodes) * weight)
    try:
        for place, node in enumerate(nodes):
            frame.item = node
            for key in atoms(keys(frame)):
                index.setdefault(key, []).append(place)
    finally:
        frame.item = before
    return index


def _counts(predicate: Expression, scope: Scope) -> bool:
    """Return whether a predicate depends on the place of a node in its sequence."""
    kind = compile_expression(predicate, scope.with_node()).kind
    return kind not in (Kind.BOOLEAN, Kind.NODES, Kind.TEXT) or _uses_place(predicate)


def _uses_place(expression: Expression) -> bool:
    return any(isinstance(it, Call) and it.name in ("position", "last") for it in expression.walk())


def _one_by_one(
    base: Callable[[Frame], Iterable[Any]],
    reach: axes.Reach,
    select: _Select | None,
    tests: Sequence[Callable[[Frame], bool]],
    weight: int,
) -> Callable[[Frame], Iterator[Any]]:
    def iterate(frame: Frame) -> Iterator[Any]:
        for node in base(frame):
            found = reach(node) if select is None else select(frame, reach(node))
            frame.run.spend(1)
            for it in found:
                frame.run.spend(weight)
                for test in tests:
                    frame.item = it
                    if not test(frame):
                        break
                else:
                    yield it

    return iterate


def _from_one(base: Evaluate, reach: axes.Reach, predicates: Sequence[_Select], is_reverse: bool) -> Evaluate:
    def evaluate(frame: Frame) -> Any:
        found = _reached(frame, reach(base(frame)), predicates)
        return in_order(found) if is_reverse else found

    return evaluate


def _reached(frame: Frame, found: Any, predicates: Sequence[_Select]) -> Any:
    frame.run.spend(len(found) + 1)
    for predicate in predicates:
        if not found:
            break
        found = predicate(frame, found)
    return found


def _from_all(base: Evaluate, reach: axes.Reach, predicates: Sequence[_Select], is_ordered: bool) -> Evaluate:
    def evaluate(frame: Frame) -> Any:
        nodes = base(frame)
        if len(nodes) == 1 and is_ordered:
            return _reached(frame, reach(nodes[0]), predicates)
        result: list[Any] = []
        for node in nodes:
            found = reach(node)
            if found:
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
        return lambda frame, found: found[place - 1 : place] if place > 0 else NOTHING
    compiled = compile_expression(expression, scope)
    evaluate = compiled.evaluate
    if _is_of_focus(expression):
        by_value = compiled.kind in (Kind.ITEM, Kind.INTEGER, Kind.ANY) and not compiled.is_node
        if by_value or _uses_place(expression):
            return _counted(evaluate if by_value else as_boolean(compiled), expression.size, by_value=by_value)
        return _kept(as_boolean(compiled), expression.size)
    return lambda frame, found: _at(found, evaluate(frame)) if found else found


def _is_of_focus(expression: Expression) -> bool:
    """Return whether an expression depends on the context item or its place."""
    return any(isinstance(it, ContextItem) or (isinstance(it, Call) and not it.arguments) for it in expression.walk())


def _at(found: Sequence[Any], value: Any) -> Sequence[Any]:
    """Return what a predicate keeps whose value is the same for all items: the item at a place, all, or none."""
    value = _single(value)
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        return found if effective_boolean(value) else NOTHING
    return found[int(value) - 1 : int(value)] if 0 < value <= len(found) and value == int(value) else NOTHING


def _kept(test: Callable[[Frame], bool], weight: int) -> Callable[[Frame, Any], Any]:
    """Return the function that keeps the items for which a test holds that does not ask for their place."""

    def filtered(frame: Frame, found: Any) -> list[Any]:
        before, result = frame.item, []
        frame.run.spend(len(found) * weight)
        try:
            for it in found:
                frame.item = it
                if test(frame):
                    result.append(it)
        finally:
            frame.item = before
        return result

    return filtered


def _counted(test: Evaluate, weight: int, *, by_value: bool) -> Callable[[Frame, Any], Any]:
    """Return the function that keeps the items for which a test holds that may ask for their place."""

    def filtered(frame: Frame, found: Any) -> list[Any]:
        before, result = (frame.item, frame.position, frame.size), []
        size = len(found)
        frame.run.spend(size * weight)
        try:
            for position, it in enumerate(found, 1):
                frame.item, frame.position, frame.size = it, position, size
                value = test(frame)
                if _holds(value, position) if by_value else value:
                    result.append(it)
        finally:
            frame.item, frame.position, frame.size = before
        return result

    return filtered


def _holds(value: Any, position: int) -> bool:
    """Return whether a predicate holds: a number stands for a place."""
    value = _single(value)
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        return effective_boolean(value)
    return bool(value == position)


def _single(value: Any) -> Any:
    is_one = value.__class__ in (list, tuple) and len(value) == 1 and not is_node(value[0])
    return value[0] if is_one else value


def _of_path(expression: Path, scope: Scope) -> Compiled:
    base = compile_expression(expression.base, scope)
    step = compile_expression(expression.step, scope.with_node())
    results = mapped(as_items(base), as_items(step), expression.step)
    if step.kind is Kind.NODES or step.is_node:
        return Compiled(Kind.NODES, lambda frame: in_order(results(frame)))
    if step.kind is Kind.TEXT:
        return Compiled(Kind.TEXTS, results)
    if isinstance(expression.step, Call) and step.kind is not Kind.ANY:
        return Compiled(Kind.ANY, results)

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
    if is_nodes and (select := _by_key(expression.predicates, inner)) is not None:
        predicates.insert(0, select)

    def evaluate(frame: Frame) -> Any:
        found = sequence(frame)
        frame.run.spend(len(found))
        for predicate in predicates:
            found = predicate(frame, found)
        return found

    return Compiled(Kind.NODES if is_nodes else Kind.ANY, evaluate, is_flat=base.is_flat)
