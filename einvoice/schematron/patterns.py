"""The context of a rule: a pattern that a node matches or not (XSLT 2.0, 5.5)."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from einvoice.schematron.errors import LimitReached, NotCompilable, Stopped
from einvoice.schematron.tree import Node
from einvoice.schematron.xpath.axes import full_name, is_plain_name, name_test
from einvoice.schematron.xpath.compiled import Kind, as_boolean
from einvoice.schematron.xpath.compiler import Scope, compile_expression
from einvoice.schematron.xpath.frame import Frame
from einvoice.schematron.xpath.needs import needed_by_pattern
from einvoice.schematron.xpath.nodes import (
    Call,
    Combination,
    Constant,
    ContextItem,
    Expression,
    Filter,
    Items,
    Logic,
    Path,
    Root,
    Step,
    Variable,
)
from einvoice.schematron.xpath.parser import parse

_OTHER_NODES: Final = ("text()", "comment()", "processing-instruction()")
_MAX_ALTERNATIVES: Final = 1_000
_MAX_NAMES: Final = 10_000
"""Names that a predicate remembers; documents that make up names would fill the memory."""

Matches: TypeAlias = Callable[[Frame, Node], bool]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One alternative of a context.

    Attributes:
        of: what it matches: "element", "attribute" or "document".
        name: the name of all nodes that it matches; "" if they have several.
        matches: whether a node with that name matches.
        fits: what it asks for the names of a node alone, as `ends-with(name(), "x")` does.
        needs: names of elements without which nothing in a document matches.
        inside: names of elements that a node must have directly inside it.
    """

    of: Literal["element", "attribute", "document"]
    name: str
    matches: Matches
    fits: Sequence[Matches] = ()
    needs: frozenset[str] = frozenset()
    inside: frozenset[str] = frozenset()


def compile_pattern(text: str, scope: Scope) -> list[Pattern]:
    """Return the alternatives of a context.

    Raises:
        NotCompilable: it is no pattern, or not supported.
    """
    try:
        found = list(itertools.islice(_alternatives(parse(text)), _MAX_ALTERNATIVES + 1))
        if len(found) > _MAX_ALTERNATIVES:
            raise NotCompilable(f"a context with more than {_MAX_ALTERNATIVES} alternatives")
        return [_pattern(it, scope) for it in found]
    except RecursionError:
        raise NotCompilable("an expression is nested too deeply") from None


def _alternatives(expression: Expression) -> Iterator[Expression]:
    """Yield paths of steps: unions inside a path are multiplied out."""
    match expression:
        case Combination("union", left, right):
            yield from _alternatives(left)
            yield from _alternatives(right)
        case Items((inner,)):
            yield from _alternatives(inner)
        case Filter(base, predicates):
            for it in _alternatives(base):
                if not isinstance(it, Step):
                    raise NotCompilable("a predicate of something that is no step")
                yield replace(it, predicates=(*it.predicates, *predicates))
        case Step(base):
            for it in _alternatives(base):
                yield replace(expression, base=it)
        case Path(base, step):
            for first in _alternatives(base):
                for last in _alternatives(step):
                    yield _joined(first, last)
        case _:
            yield expression


def _joined(first: Expression, last: Expression) -> Expression:
    if isinstance(last, ContextItem):
        return first
    if not isinstance(last, Step):
        raise NotCompilable("a path whose end is no step")
    return replace(last, base=_joined(first, last.base))


def _pattern(expression: Expression, scope: Scope) -> Pattern:
    if isinstance(expression, Step) and expression.test in _OTHER_NODES:
        raise NotCompilable(f"{expression.test} as a context")
    if isinstance(expression, Root):
        return Pattern("document", "", lambda frame, node: True)
    if not isinstance(expression, Step):
        raise NotCompilable(f"a context that is no path ({type(expression).__name__})")
    axis, test = expression.axis, expression.test
    of: Literal["element", "attribute"] = "attribute" if axis == "attribute" else "element"
    name = full_name(axis, test, scope.namespaces, scope.default) if is_plain_name(test) else ""
    conditions = [*itertools.chain.from_iterable(map(_conditions, expression.predicates))]
    of_name = [it for it in conditions if _name_asked(it) is not None]
    others = tuple(it for it in conditions if _name_asked(it) is None) if of_name else expression.predicates
    rest = replace(expression, test="node()" if name or test == "*" else test, predicates=others)
    fits = [_predicate(it, scope) for it in of_name]
    needs = needed_by_pattern(expression, scope)
    return Pattern(of, name, _step(rest, scope), fits, needs, frozenset() if name else _inside(conditions, scope))


def _inside(conditions: Sequence[Expression], scope: Scope) -> frozenset[str]:
    """Return the names of elements that must be directly inside a node for the conditions to hold."""
    steps = [it for it in conditions if isinstance(it, Step) and isinstance(it.base, ContextItem)]
    tests = [it.test for it in steps if it.axis == "child" and is_plain_name(it.test)]
    return frozenset(full_name("child", it, scope.namespaces, scope.default) for it in tests)


def _conditions(predicate: Expression) -> Sequence[Expression]:
    """Return the conditions of a predicate that must all hold."""
    is_and = isinstance(predicate, Logic) and predicate.operator == "and"
    return predicate.operands if is_and else (predicate,)  # type: ignore[attr-defined]


def _step(step: Step, scope: Scope) -> Matches:
    """Return the function that tests the name and the predicates of a node, and the steps before it."""
    if step.axis not in ("child", "descendant", "attribute", "self", "descendant-or-self"):
        raise NotCompilable(f"the axis {step.axis} in a context")
    tests: list[Matches] = []
    if is_plain_name(step.test):
        name = full_name(step.axis, step.test, scope.namespaces, scope.default)
        tests.append(lambda frame, node: node.name == name)
    elif (of_name := name_test(step.test, scope.namespaces)) is not None:
        tests.append(lambda frame, node: of_name(node))
    predicates = [_predicate(it, scope) for it in step.predicates]
    before = [it for it in (_before(step.base, scope),) if it is not None]
    return _every([*tests, *before, *predicates] if _is_short(step.base) else [*tests, *predicates, *before])


def _is_short(base: Expression) -> bool:
    """Return whether what stands before a step takes less time than its predicates."""
    return isinstance(base, Root) or (isinstance(base, Step) and not base.predicates and _is_short(base.base))


def _every(tests: Sequence[Matches]) -> Matches:
    match tests:
        case []:
            return lambda frame, node: True
        case [one]:
            return one
        case [first, second]:
            return lambda frame, node: first(frame, node) and second(frame, node)

    def matches(frame: Frame, node: Node) -> bool:
        for test in tests:  # noqa: SIM110 (a generator takes longer)
            if not test(frame, node):
                return False
        return True

    return matches


def _predicate(expression: Expression, scope: Scope) -> Matches:
    if isinstance(expression, Constant) and isinstance(expression.value, int):
        place = expression.value
        return lambda frame, node: node.parent is not None and _place(node) == place
    if any(isinstance(it, Call) and it.name in ("position", "last") for it in expression.walk()):
        raise NotCompilable("a place in the predicate of a context")
    compiled = compile_expression(expression, scope)
    if compiled.kind in (Kind.ITEM, Kind.INTEGER) and not compiled.is_node:
        raise NotCompilable("a number in the predicate of a context")
    return _condition(expression, scope)


def _condition(expression: Expression, scope: Scope) -> Matches:
    name, holds = _name_asked(expression), as_boolean(compile_expression(expression, scope))
    if name is not None:
        return _by_name(name, _of_node(holds))
    if isinstance(expression, Logic) and expression.operator == "and":
        of_name = tuple(it for it in expression.operands if _name_asked(it) is not None)
        others = [it for it in expression.operands if _name_asked(it) is None]
        if of_name:
            return _every([_condition(it, scope) for it in (Logic("and", of_name), *others)])

    return _of_node(holds)


def _of_node(holds: Callable[[Frame], bool]) -> Matches:
    def matches(frame: Frame, node: Any) -> bool:
        frame.item = node
        try:
            return holds(frame)
        except LimitReached:
            raise
        except Stopped:
            return False  # an error in a pattern: the node does not match (XSLT 2.0, 5.5.4)

    return matches


def _name_asked(expression: Expression) -> Callable[[Node], str] | None:
    """Return the function of the name that a condition asks for alone, as `ends-with(name(), "x")`, or None."""
    parts = [it for it in expression.walk() if isinstance(it, Step | Path | Variable | Root | ContextItem)]
    functions = {it.name for it in expression.walk() if isinstance(it, Call) and not it.arguments}
    if parts or not functions:
        return None
    if functions == {"name"}:
        return operator.attrgetter("lexical_name")
    return operator.attrgetter("name") if functions <= {"local-name", "namespace-uri"} else None


def _by_name(name: Callable[[Node], str], holds: Matches) -> Matches:
    known: dict[str, bool] = {}

    def matches(frame: Frame, node: Any) -> bool:
        asked = name(node)
        if asked not in known:
            if len(known) > _MAX_NAMES:
                known.clear()
            known[asked] = holds(frame, node)
        return known[asked]

    return matches


def _place(node: Any) -> int:
    same = node.parent.named[node.name]
    return next(index for index, it in enumerate(same, 1) if it is node)


def _before(base: Expression, scope: Scope) -> Matches | None:
    """Return the function that tests what stands before a step; None if anything may."""
    match base:
        case ContextItem():
            return None
        case Root():
            return lambda frame, node: node.parent is not None and node.parent.parent is None
        case Step(inner, "descendant-or-self", "node()", ()):
            return _above(inner, scope)
        case Step():
            matches = _step(base, scope)
            return lambda frame, node: node.parent is not None and matches(frame, node.parent)
        case _:
            raise NotCompilable(f"a context that begins with {type(base).__name__}")


def _above(base: Expression, scope: Scope) -> Matches | None:
    """Return the function that tests whether an ancestor matches; None if any may."""
    if isinstance(base, Root | ContextItem):
        return None
    if not isinstance(base, Step):
        raise NotCompilable(f"a context that begins with {type(base).__name__}")
    matches = _step(base, scope)
    return lambda frame, node: any(matches(frame, it) for it in node.ancestors())
