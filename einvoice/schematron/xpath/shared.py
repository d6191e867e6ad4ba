"""Expressions whose value depends on the document only, such as `//cbc:ID`: each is calculated once for a document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from einvoice.schematron.errors import LimitReached, Stopped
from einvoice.schematron.xpath.compiled import Compiled
from einvoice.schematron.xpath.frame import Frame
from einvoice.schematron.xpath.nodes import (
    Call,
    ContextItem,
    Expression,
    Filter,
    Loop,
    Path,
    Root,
    SimpleMap,
    Step,
    Variable,
)
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
    """Return whether a value depends on the document only, and is more than a constant."""
    first = expression
    while isinstance(first, Step | Path | Call):  # most begin at the context item, which saves the rest
        if isinstance(first, Call) and not first.arguments:
            break
        first = first.arguments[0] if isinstance(first, Call) else first.base
    if isinstance(first, ContextItem):
        return False
    return all(it in scope.globals and it not in scope.variables for it in free(expression)) and any(
        isinstance(it, Root) or _is_file(it) for it in expression.walk()
    )


def _is_file(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.name in ("document", "doc")


FOCUS: Final = "."
_CURRENT: Final = "current()"


def free(expression: Expression) -> frozenset[str]:
    """Return what a value depends on besides the document: names of variables, `FOCUS`, or the node being judged."""
    match expression:
        case ContextItem():
            return frozenset((FOCUS,))
        case Variable(name):
            return frozenset((name,))
        case Call(name, ()):
            return frozenset({"current": (_CURRENT,)}.get(name, () if name in _CONSTANTS else (FOCUS,)))
        case Step(base, _, _, inner) | Filter(base, inner):
            return free(base) | _inside(inner)
        case Path(base, step) | SimpleMap(base, step):
            return free(base) | _inside((step,))
        case Loop(_, bindings, body):
            found = free(body)
            for name, of in reversed(bindings):
                found = (found - {name}) | free(of)
            return found
        case _:
            return frozenset[str]().union(*map(free, expression.children()))


_CONSTANTS: Final = ("true", "false")


def _inside(expressions: Iterable[Expression]) -> frozenset[str]:
    """Return what expressions depend on whose context item is that of the step that they belong to."""
    return frozenset[str]().union(*map(free, expressions)) - {FOCUS}


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
