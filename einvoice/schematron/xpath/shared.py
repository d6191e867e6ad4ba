"""Expressions whose value depends on the document only, such as `//cbc:ID`: each is calculated once for a document.

One that begins at ancestors, such as `count(ancestor::Invoice/InvoiceLine)`, is calculated once for these ancestors,
which are the same for all lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from einvoice.schematron.errors import LimitReached, Stopped
from einvoice.schematron.xpath.compiled import Compiled, Evaluate
from einvoice.schematron.xpath.frame import Frame
from einvoice.schematron.xpath.nodes import (
    Call,
    Combination,
    ContextItem,
    Expression,
    Filter,
    Items,
    Loop,
    Path,
    SimpleMap,
    Step,
    Variable,
)
from einvoice.schematron.xpath.scope import Scope, compile_expression


def shared(expression: Any, scope: Scope, compile_: Callable[[Any, Scope], Compiled]) -> Compiled:
    """Compile an expression; one that depends on the document only is calculated once for all that ask for it."""
    if not is_of_document(expression, scope):
        compiled, origins = compile_(expression, scope), _origins(expression, scope)
        return (
            _by_origins(compiled, [compile_expression(it, scope).evaluate for it in origins]) if origins else compiled
        )
    key = expression, frozenset(scope.namespaces.items())
    if key not in scope.shared:
        scope.shared[key] = _remembered(compile_(expression, scope))
    return scope.shared[key]


def is_of_document(expression: Expression, scope: Scope) -> bool:
    """Return whether a value depends on the document only, and is more than a constant."""
    first = expression
    while isinstance(first, Step | Path | Call):  # most begin at the context item, which saves the rest
        if isinstance(first, Call) and not first.arguments:
            break
        first = first.arguments[0] if isinstance(first, Call) else first.base
    if isinstance(first, ContextItem):
        return False
    if not expression.has_document:
        return False
    return all(it in scope.globals and it not in scope.variables for it in free(expression))


def _origins(expression: Expression, scope: Scope) -> Sequence[Step]:
    """Return the steps to ancestors through which alone an expression depends on the node being judged."""
    if not expression.has_ancestor:
        return ()
    first: Any = expression
    while not _is_origin(first):
        match first:
            case Step(base) | Path(base) | Combination(_, base) | Call(_, (base, *_)) | Items((base, *_)):
                first = base
            case _:
                return ()
    found: list[Step] = []
    rest = free(expression, found)
    is_more = first is not expression and all(it in scope.globals and it not in scope.variables for it in rest)
    return list(dict.fromkeys(found)) if is_more else ()


def _is_origin(expression: Expression) -> bool:
    match expression:
        case Step(ContextItem(), "ancestor", _, ()):
            return True
    return False


FOCUS: Final = "."
_CURRENT: Final = "current()"


def free(expression: Expression, origins: list[Step] | None = None) -> frozenset[str]:
    """Return what a value depends on besides the document: names of variables, `FOCUS`, or the node being judged.

    Args:
        expression: the expression of the value.
        origins: receives the steps to ancestors, which then do not count; None if they count.
    """
    match expression:
        case Step() if origins is not None and _is_origin(expression):
            origins.append(expression)
            return frozenset()
        case ContextItem():
            return frozenset((FOCUS,))
        case Variable(name):
            return frozenset((name,))
        case Call(name, ()):
            return frozenset({"current": (_CURRENT,)}.get(name, () if name in _CONSTANTS else (FOCUS,)))
        case Step(base, _, _, inner) | Filter(base, inner):
            return free(base, origins) | _inside(inner)
        case Path(base, step) | SimpleMap(base, step):
            return free(base, origins) | _inside((step,))
        case Loop(_, bindings, body):
            found = free(body, origins)
            for name, of in reversed(bindings):
                found = (found - {name}) | free(of, origins)
            return found
        case _:
            return frozenset[str]().union(*(free(it, origins) for it in expression.children))


_CONSTANTS: Final = ("true", "false")


def _inside(expressions: Iterable[Expression]) -> frozenset[str]:
    """Return what expressions depend on whose context item is that of the step that they belong to."""
    return frozenset[str]().union(*map(free, expressions)) - {FOCUS}


def _by_origins(compiled: Compiled, origins: Sequence[Evaluate]) -> Compiled:
    """Return the expression whose value is kept for the nodes that steps to ancestors reach."""
    mark = object()
    return _kept(compiled, lambda frame: (mark, *(id(node) for origin in origins for node in (None, *origin(frame)))))


def _remembered(compiled: Compiled) -> Compiled:
    """Return the expression whose value is kept until the document is judged."""
    mark = object()
    return _kept(compiled, lambda frame: mark)


def _kept(compiled: Compiled, key_of: Callable[[Frame], Any]) -> Compiled:
    calculate, lazily = compiled.evaluate, compiled.iterate

    def evaluate(frame: Frame) -> Any:
        known, key = frame.run.known, key_of(frame)
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
