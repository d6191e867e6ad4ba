"""Short ways for what sheets ask most: the words of a node, its value as a number or date, a code in a list."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

from einvoice.schematron.errors import Stopped
from einvoice.schematron.tree import local_name
from einvoice.schematron.values import CASTS
from einvoice.schematron.xpath.compiled import Compiled, Evaluate, Kind, as_string, as_text
from einvoice.schematron.xpath.nodes import Call, Constant
from einvoice.schematron.xpath.scope import Scope, compile_expression

_AS_THEY_ARE: Final = ("xs:string", "xs:untypedAtomic", "xs:anyAtomicType")
"""Types to which the text of a node is not converted."""


def shortcut(expression: Call, arguments: Sequence[Compiled], scope: Scope) -> Evaluate | None:
    """Return a function for the call of a function of XPath; None if there is no short way."""
    name = expression.name.replace("xsd:", "xs:")
    if name == "normalize-space":
        return of_node(arguments[0], operator.attrgetter("words"), "")
    if name == "local-name" and arguments[0].is_node:
        return of_node(arguments[0], local_name, "")
    if (to := of_text(name)) is not None:
        return of_node(arguments[0], lambda node: to(node.text), None)
    match expression:
        case Call("substring", (_, Constant(int() as start), Constant(int() as length))) if start > 0 and length > 0:
            text = as_string(arguments[0])
            return lambda frame: text(frame)[start - 1 : start - 1 + length]
        case Call(
            "contains", (Constant(str() as codes), Call("concat", (Constant(str() as sign), code, Constant(end))))
        ):
            if sign == end and len(sign) == 1:
                return _has_code(codes, sign, as_text(compile_expression(code, scope)))
    return None


def of_text(type_: str) -> Callable[[str], Any] | None:
    """Return the cast of the text of a node to a type; None if it remains a text."""
    return None if type_ in _AS_THEY_ARE else CASTS.get(type_)


def of_node(nodes: Compiled, value: Callable[[Any], Any], nothing: Any) -> Evaluate | None:
    """Return the function of a value of a node; None for what may be no node."""
    found = nodes.evaluate
    if nodes.is_node:
        return lambda frame: value(found(frame))
    if nodes.kind is not Kind.NODES:
        return None

    def evaluate(frame: Any) -> Any:
        one = found(frame)
        if len(one) == 1:
            return value(one[0])
        if one:
            raise Stopped("XPTY0004", "a sequence of several items where one is allowed")
        return nothing

    return evaluate


def _has_code(codes: str, sign: str, code: Evaluate) -> Evaluate:
    """Return whether a list of codes, each between signs, has one."""

    def evaluate(frame: Any) -> bool:
        text = code(frame)
        return f"{sign}{text}{sign}" in codes if sign in text else text in _divided(codes, sign)

    return evaluate


@lru_cache(maxsize=512)
def _divided(codes: str, sign: str) -> frozenset[str]:
    return frozenset(codes.split(sign)[1:-1])
