"""Expressions whose value depends on the document only, such as `//cbc:ID`: each is calculated once for a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from einvoice.schematron.errors import LimitReached, Stopped
from einvoice.schematron.xpath.compiled import Compiled
from einvoice.schematron.xpath.frame import Frame
from einvoice.schematron.xpath.nodes import Call, Constant, Expression, Path, Root, Step, Variable
from einvoice.schematron.xpath.scope import Scope


def shared(expression: Any, scope: Scope, compile_: Callable[[Any, Scope], Compiled]) -> Compiled:
    """Compile an expression; one that depends on the document only is calculated once for all that ask for it."""
    if not is_of_document(expression, scope):
        return compile_(expression, scope)
    key = expression, frozenset(scope.namespaces.items())
    if key not in scope.shared:
        scope.shared[key] = _remembered(compile_(expression, scope))
    return scope.shared[key]


def is_of_document(expression: Expression, scope: Scope) -> bool:
    """Return whether a value depends on the document only: of a path from the root, or a function of such paths."""
    if isinstance(expression, Call):
        paths = [it for it in expression.arguments if not isinstance(it, Constant)]
        return bool(paths) and all(is_of_document(it, scope) for it in paths)
    base = expression
    while isinstance(base, Step | Path):
        base = base.base
    return isinstance(base, Root) and not any(
        (isinstance(it, Variable) and (it.name in scope.variables or it.name not in scope.globals))
        or (isinstance(it, Call) and it.name == "current")
        for it in expression.walk()
    )


def _remembered(compiled: Compiled) -> Compiled:
    """Return the expression whose value is kept until the document is judged."""
    key, calculate, lazily = object(), compiled.evaluate, compiled.iterate

    def evaluate(frame: Frame) -> Any:
        known = frame.run.known
        if key in known:
            return known[key]
        value = calculate(frame)
        frame.run.remember(key, value)
        return value

    def iterate(frame: Frame) -> Iterator[Any]:
        try:
            found = evaluate(frame)
        except LimitReached:
            raise
        except Stopped:  # of a node that may not be asked for
            found = lazily(frame)  # type: ignore[misc]
        yield from found

    return replace(compiled, evaluate=evaluate, iterate=iterate if lazily else None)
