"""Calls of functions, and the conversion of arguments and results to their declared types."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from einvoice.schematron.errors import NotCompilable, Stopped
from einvoice.schematron.values import CASTS, Untyped, atoms, items
from einvoice.schematron.xpath.compiled import ROOT, Compiled, Evaluate, Kind, as_boolean, as_items, as_string, as_text
from einvoice.schematron.xpath.frame import Frame
from einvoice.schematron.xpath.functions import FUNCTIONS, Function, number
from einvoice.schematron.xpath.nodes import Call, Constant, ContextItem
from einvoice.schematron.xpath.scope import Scope, compile_expression, compiles
from einvoice.schematron.xpath.shared import shared
from einvoice.schematron.xpath.shortcuts import of_node, shortcut


@compiles(Call)
def _call(expression: Call, scope: Scope) -> Compiled:
    name = expression.name.replace("xsd:", "xs:")
    if name in scope.functions:
        return _declared(name, expression, scope)
    if name in _OF_FRAME and not expression.arguments:
        return _OF_FRAME[name]
    if name in ("document", "doc"):
        return _document(expression, scope)
    function = FUNCTIONS.get(name)
    count = len(expression.arguments)
    if function is None:
        raise NotCompilable(f"the function {name} is not supported")
    if count < function.least or (count > len(function.arguments) and not function.repeats):
        raise NotCompilable(f"the function {name} cannot have {count} arguments")
    return shared(expression, scope, _of_function)


def _of_function(expression: Call, scope: Scope) -> Compiled:
    name = expression.name.replace("xsd:", "xs:")
    function, arguments = FUNCTIONS[name], [compile_expression(it, scope) for it in expression.arguments]
    if name in ("exists", "empty") and arguments[0].kind is Kind.NODES:
        holds, wanted = as_boolean(arguments[0]), name == "exists"
        return Compiled(Kind.BOOLEAN, lambda frame: holds(frame) is wanted)
    if not arguments and function.of_context:
        arguments = [compile_expression(ContextItem(), scope)]
    if name == "not":
        return Compiled(Kind.BOOLEAN, _negated(arguments[0]))
    if (short := shortcut(expression, arguments, scope)) is not None:
        return Compiled(function.kind, short)
    forms = [_FORMS[function.argument(index)](it) for index, it in enumerate(arguments)]
    constant = [isinstance(it, Constant) for it in expression.arguments]
    forms = [_once(it) if is_constant else it for it, is_constant in itertools.zip_longest(forms, constant)]
    keeps = name in _KEEP_NODES and arguments[0].kind is Kind.NODES
    evaluate = forms[0] if name in _CONVERSIONS else _applied(function, forms)
    if name in _WRITERS:
        evaluate = _written(evaluate)
    if expression.arguments and all(isinstance(it, Constant) for it in expression.arguments):
        evaluate = _once(evaluate)
    return Compiled(Kind.NODES if keeps else function.kind, evaluate)


def _negated(argument: Compiled) -> Evaluate:
    if argument.kind is Kind.NODES and argument.iterate is None:
        nodes = argument.evaluate
        return lambda frame: not nodes(frame)
    holds = as_boolean(argument)
    return lambda frame: not holds(frame)


def _number(compiled: Compiled) -> Evaluate:
    evaluate = compiled.evaluate
    return lambda frame: number(evaluate(frame))


def _once(evaluate: Evaluate) -> Evaluate:
    """Return the function that calculates a constant when it is asked for first, such as a list in one text."""
    known: list[Any] = []

    def value(frame: Frame) -> Any:
        if not known:
            known.append(evaluate(frame))
        return known[0]

    return value


def _document(expression: Call, scope: Scope) -> Compiled:
    """Compile the access to a file that came with the sheet; nothing else is ever opened."""
    match expression.arguments:
        case (Constant(str() as name), *_) if scope.open is not None:
            node = scope.open(name).node
            return Compiled(Kind.ITEM, lambda frame: node, is_flat=True, is_node=True)
    raise NotCompilable(f"the function {expression.name} is only supported for a file that came with the sheet")


_CONVERSIONS: Final = ("boolean", "number", "string")
"""Functions that only return their argument in another form."""
_WRITERS: Final = frozenset(
    (
        *("concat", "string-join", "substring", "substring-before", "substring-after", "normalize-space", "translate"),
        *("replace", "upper-case", "lower-case", "codepoints-to-string"),
    )
)
"""Functions that make texts as long as their arguments."""
_MANY: Final = 8
"""Items of a sequence from which they are counted."""
_KEEP_NODES: Final = ("reverse", "subsequence", "remove", "exactly-one", "zero-or-one", "one-or-more")
_FORMS: Final[Mapping[str, Callable[[Compiled], Evaluate]]] = {
    "string": as_string,
    "text": as_text,
    "boolean": as_boolean,
    "items": lambda compiled: _counted(as_items(compiled)),
    "item": lambda compiled: compiled.evaluate,
    "number": lambda compiled: of_node(compiled, lambda node: number(node.text), math.nan) or _number(compiled),
}
_OF_FRAME: Final = {
    "position": Compiled(Kind.ITEM, operator.attrgetter("position")),
    "last": Compiled(Kind.ITEM, operator.attrgetter("size")),
    "current": Compiled(Kind.ITEM, operator.attrgetter("current"), is_flat=True, is_node=True),
    "root": ROOT,
}


def _counted(sequence: Evaluate) -> Evaluate:
    def evaluate(frame: Frame) -> Any:
        found = sequence(frame)
        if len(found) > _MANY:
            frame.run.spend(len(found))
        return found

    return evaluate


def _written(text: Evaluate) -> Evaluate:
    return lambda frame: frame.run.write(text(frame))


def _applied(function: Function, arguments: Sequence[Evaluate]) -> Evaluate:
    call = function.call
    match arguments:
        case [first]:
            return lambda frame: call(first(frame))
        case [first, second]:
            return lambda frame: call(first(frame), second(frame))
        case _:
            return lambda frame: call(*[it(frame) for it in arguments])


def _declared(name: str, expression: Call, scope: Scope) -> Compiled:
    """Compile the call of a function of the sheet; the body is looked up at the call, since functions may recur."""
    functions = scope.functions
    if len(expression.arguments) != len(functions[name].parameters):
        raise NotCompilable(f"the function {name} has {len(functions[name].parameters)} parameters")
    arguments = [compile_expression(it, scope).evaluate for it in expression.arguments]
    return Compiled(Kind.ANY, lambda frame: functions[name].call(frame, [it(frame) for it in arguments]))


def converter(declared: str) -> Callable[[Any], Any]:
    """Return the function that gives an argument or a result its declared type (XPath 2.0, 3.1.5).

    It raises `Stopped` for a value that does not have that type, or not that number of items.
    """
    if not declared:
        return lambda value: value
    occurrence = declared[-1] if declared[-1] in "?*+" else ""
    name = declared.rstrip("?*+").replace("xsd:", "xs:")
    if name.endswith(")") or name not in CASTS:
        return items
    one, allowed = _one(name), _ALLOWED.get(name, frozenset[type]())

    def convert(value: Any) -> Any:
        if value.__class__ in allowed and occurrence in ("", "?"):
            return one(value)
        found = [one(it) for it in atoms(items(value))]
        if (occurrence in ("", "+") and not found) or (occurrence in ("", "?") and len(found) > 1):
            raise Stopped("XPTY0004", f"{len(found)} items where {declared} is declared")
        return found if occurrence in ("*", "+") else found[0] if found else None

    return convert


_DOUBLES: Final = ("xs:double", "xs:float")
_ALLOWED: Final[Mapping[str, frozenset[type]]] = {
    "xs:string": frozenset((str,)),
    "xs:boolean": frozenset((bool,)),
    "xs:integer": frozenset((int,)),
    "xs:int": frozenset((int,)),
    "xs:decimal": frozenset((int, Decimal)),
    "xs:double": frozenset((int, Decimal, float)),
    "xs:float": frozenset((int, Decimal, float)),
}
"""The classes of the values that a declared type allows."""


def _one(name: str) -> Callable[[Any], Any]:
    """Return the function that gives an atomic value a declared type."""
    allowed, of_untyped = _ALLOWED.get(name), str if name == "xs:string" else CASTS[name]
    is_double = name in _DOUBLES

    def convert(value: Any) -> Any:
        if value.__class__ is Untyped:
            return of_untyped(value)
        if allowed is not None and value.__class__ not in allowed:
            raise Stopped("XPTY0004", f"a value is no {name}")
        return float(value) if is_double else value

    return convert
