"""A compiled expression: a function of a frame, and what is known about its values beforehand."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias

from einvoice.schematron.errors import Stopped
from einvoice.schematron.values import effective_boolean, items, string, text_of
from einvoice.schematron.xpath.frame import Frame

Evaluate: TypeAlias = Callable[[Frame], Any]


class Kind(Enum):
    """What an expression returns: nodes or texts in a sequence, a boolean, a text, an integer, an item or None, any."""

    NODES = "nodes"
    BOOLEAN = "boolean"
    TEXT = "text"
    TEXTS = "texts"
    INTEGER = "integer"
    ITEM = "item"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled expression.

    Attributes:
        kind: what it returns.
        evaluate: the function that returns it.
        is_flat: whether no node is inside another one of the same result.
        is_node: whether it returns exactly one node, in no sequence; then `kind` is ITEM.
        iterate: yields the same nodes one by one, perhaps in another order; None if that saves nothing.
        names, origin: the names of a path of children, and the function of the node where it begins; None for others.
    """

    kind: Kind
    evaluate: Evaluate
    is_flat: bool = False
    is_node: bool = False
    iterate: Callable[[Frame], Iterator[Any]] | None = None
    names: tuple[str, ...] = ()
    origin: Evaluate | None = None


def as_boolean(compiled: Compiled) -> Callable[[Frame], bool]:
    """Return the function of the effective boolean value."""
    evaluate, iterate = compiled.evaluate, compiled.iterate
    match compiled.kind:
        case Kind.BOOLEAN:
            return evaluate
        case Kind.NODES if iterate is not None:
            return _exists(iterate)
        case Kind.NODES | Kind.TEXT | Kind.INTEGER:
            return lambda frame: bool(evaluate(frame))
        case _:
            return lambda frame: effective_boolean(evaluate(frame))


def _exists(iterate: Callable[[Frame], Iterator[Any]]) -> Callable[[Frame], bool]:
    """Return whether there is a node. What comes after it is not evaluated, and its errors do not count."""

    def evaluate(frame: Frame) -> bool:
        item = frame.item
        try:
            return next(iterate(frame), None) is not None
        finally:
            frame.item = item

    return evaluate


def as_string(compiled: Compiled) -> Callable[[Frame], str]:
    """Return the function of a text argument (xs:string?); nothing is an empty text."""
    evaluate = compiled.evaluate
    if compiled.kind is Kind.TEXT:
        return evaluate
    if compiled.kind is not Kind.NODES:
        return lambda frame: string(evaluate(frame))

    def text(frame: Frame) -> str:
        found = evaluate(frame)
        if len(found) > 1:
            raise Stopped("XPTY0004", "a sequence of several items where one is allowed")
        return found[0].text if found else ""

    return text


def as_text(compiled: Compiled) -> Callable[[Frame], str]:
    """Return the function of the text of any item (`fn:string`)."""
    evaluate = compiled.evaluate
    return evaluate if compiled.kind is Kind.TEXT else lambda frame: text_of(evaluate(frame))


def as_items(compiled: Compiled) -> Callable[[Frame], Any]:
    """Return the function of the value as a sequence."""
    evaluate = compiled.evaluate
    if compiled.kind is Kind.NODES:
        return evaluate
    return lambda frame: items(evaluate(frame))


def context(frame: Frame) -> Any:
    """Return the context item.

    Raises:
        Stopped: there is none, as in a function.
    """
    if frame.item is None:
        raise Stopped("XPDY0002", "there is no context item")
    return frame.item


CONTEXT: Final = Compiled(Kind.ITEM, context)
CONTEXT_NODE: Final = Compiled(Kind.ITEM, operator.attrgetter("item"), is_flat=True, is_node=True)
ROOT: Final = Compiled(Kind.ITEM, lambda frame: frame.run.document.node, is_flat=True, is_node=True)
