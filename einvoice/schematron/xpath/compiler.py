"""Compiles the nodes of an expression to functions of Python."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from einvoice.schematron.errors import NotCompilable, Stopped
from einvoice.schematron.tree import Document, in_order
from einvoice.schematron.values import (
    CASTS,
    arithmetic,
    atoms,
    effective_boolean,
    general_comparison,
    is_castable,
    is_node,
    items,
    number_item,
    optional,
    value_comparison,
)
from einvoice.schematron.values import cast as cast_value
from einvoice.schematron.xpath import axes
from einvoice.schematron.xpath.compiled import (
    CONTEXT,
    CONTEXT_NODE,
    ROOT,
    Compiled,
    Evaluate,
    Kind,
    as_boolean,
    as_items,
    as_string,
    as_text,
)
from einvoice.schematron.xpath.frame import Frame, Lazy
from einvoice.schematron.xpath.functions import FUNCTIONS, Function, number
from einvoice.schematron.xpath.nodes import (
    Arithmetic,
    Call,
    Combination,
    Comparison,
    Condition,
    Constant,
    ContextItem,
    Expression,
    Filter,
    Items,
    Logic,
    Loop,
    Negative,
    Path,
    Range,
    Root,
    SimpleMap,
    Step,
    TypeTest,
    Variable,
)
from einvoice.schematron.xpath.parser import parse

_GENERAL: Final = ("=", "!=", "<", "<=", ">", ">=")
_MIRRORED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_MAX_RANGE: Final = 1_000_000
_LONG: Final = 8
"""Items of a sequence from which a set of them saves time."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A function that the sheet declares.

    Attributes:
        parameters: for each parameter its name and its declared type.
        call: gets a frame and the arguments; None until the function is compiled.
    """

    parameters: Sequence[tuple[str, str]]
    call: Callable[[Frame, Sequence[Any]], Any]


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression can refer to.

    Attributes:
        namespaces: namespaces by prefix.
        default: namespace of elements without a prefix.
        globals: variables of the sheet, with what is known about them.
        variables: local variables, with the same.
        functions: declared functions by name.
        has_node: whether the context item is a node.
        open: gives a document that came with the sheet, such as its code lists, by name; None if there are none.
    """

    namespaces: Mapping[str, str]
    default: str = ""
    globals: Mapping[str, Compiled] = field(default_factory=dict)
    variables: Mapping[str, Compiled] = field(default_factory=dict)
    functions: Mapping[str, Declared] = field(default_factory=dict)
    has_node: bool = True
    open: Callable[[str], Document] | None = None

    def with_variable(self, name: str, known: Compiled) -> Scope:
        """Return the scope with a local variable."""
        return replace(self, variables={**self.variables, name: known})

    def without_variable(self, name: str) -> Scope:
        """Return the scope without a variable, so that what uses it cannot be compiled."""
        known = {key: it for key, it in self.variables.items() if key != name}
        others = {key: it for key, it in self.globals.items() if key != name}
        return replace(self, variables=known, globals=others)


def compile_text(text: str, scope: Scope) -> Compiled:
    """Compile an expression.

    Raises:
        NotCompilable: it is not valid, or not supported.
    """
    try:
        return compile_expression(parse(text), scope)
    except RecursionError:
        raise NotCompilable("an expression is nested too deeply") from None


def compile_expression(expression: Expression, scope: Scope) -> Compiled:
    """Compile a node of the syntax tree."""
    return _COMPILERS[type(expression)](expression, scope)


# ---------------------------------------------------------------- primaries


def _constant(expression: Constant, _: Scope) -> Compiled:
    value = expression.value
    return Compiled(Kind.TEXT if isinstance(value, str) else Kind.ITEM, lambda frame: value)


def _variable(expression: Variable, scope: Scope) -> Compiled:
    name = expression.name
    known = scope.variables.get(name)
    if known is not None:

        def local(frame: Frame) -> Any:
            value = frame.variables[name]
            return value.value() if value.__class__ is Lazy else value

        return replace(known, evaluate=local, iterate=None)
    if name not in scope.globals:
        raise NotCompilable(f"the variable ${name} is not declared")
    return replace(scope.globals[name], evaluate=lambda frame: frame.run.globals[name].value(), iterate=None)


def _context_item(_: ContextItem, scope: Scope) -> Compiled:
    return CONTEXT_NODE if scope.has_node else CONTEXT


def _root(_: Root, __: Scope) -> Compiled:
    return ROOT


def _items(expression: Items, scope: Scope) -> Compiled:
    parts = [compile_expression(it, scope) for it in expression.items]
    if len(parts) == 1:
        return replace(parts[0], is_flat=False)
    if all(isinstance(it, Constant) for it in expression.items):
        constants = tuple(it.value for it in expression.items if isinstance(it, Constant))
        return Compiled(Kind.ANY, lambda frame: constants)
    functions = [as_items(it) for it in parts]
    kind = Kind.NODES if parts and all(it.kind is Kind.NODES for it in parts) else Kind.ANY

    def evaluate(frame: Frame) -> list[Any]:
        found = [it for function in functions for it in function(frame)]
        frame.run.spend(len(found))
        return found

    return Compiled(kind, evaluate)


# ---------------------------------------------------------------- logic, comparison, arithmetic


def _logic(expression: Logic, scope: Scope) -> Compiled:
    """Compile `or` and `and`. An error counts only if no other operand decides: the operands have no order."""
    decides = expression.operator == "or"
    operands = [as_boolean(compile_expression(it, scope)) for it in expression.operands]

    def evaluate(frame: Frame) -> bool:
        item, error = frame.item, None
        for operand in operands:
            try:
                if operand(frame) is decides:
                    return decides
            except Stopped as stopped:
                frame.item, error = item, error or stopped
        if error is not None:
            raise error
        return not decides

    return Compiled(Kind.BOOLEAN, evaluate)


def _comparison(expression: Comparison, scope: Scope) -> Compiled:
    sign = expression.operator
    left, right = compile_expression(expression.left, scope), compile_expression(expression.right, scope)
    if sign in ("is", "<<", ">>"):
        return _node_comparison(sign, left, right)
    if sign not in _GENERAL:
        first, second = left.evaluate, right.evaluate
        return Compiled(Kind.ITEM, lambda frame: value_comparison(sign, first(frame), second(frame)))
    fast = _with_texts(sign, left, expression.right) or _with_texts(_MIRRORED.get(sign, sign), right, expression.left)
    if fast is None and sign == "=" and left.kind is right.kind is Kind.NODES:
        fast = _share_a_text(left.evaluate, right.evaluate)
    elif fast is None and sign == "=" and isinstance(expression.right, Variable):
        fast = _in_variable(left.evaluate, right.evaluate)
    first, second = left.evaluate, right.evaluate
    return Compiled(Kind.BOOLEAN, fast or (lambda frame: general_comparison(sign, first(frame), second(frame))))


def _in_variable(left: Evaluate, right: Evaluate) -> Evaluate:
    """Return the comparison with a variable, which may be a code list: its texts are collected once."""

    def evaluate(frame: Frame) -> bool:
        value, found = left(frame), right(frame)
        if found.__class__ is list and len(found) > _LONG:
            texts = frame.run.texts.get(id(found))
            if texts is None:
                is_text = all(isinstance(it, str) for it in found)
                texts = frame.run.texts[id(found)] = found, frozenset(found) if is_text else None
            compared = atoms(items(value))
            if texts[1] is not None and all(isinstance(it, str) for it in compared):
                return not texts[1].isdisjoint(compared)
        return general_comparison("=", value, found)

    return evaluate


def _with_texts(sign: str, side: Compiled, other: Expression) -> Evaluate | None:
    """Return the comparison of nodes or a text with literal texts, which needs no types; None for others."""
    listed = other.items if isinstance(other, Items) else (other,)
    if sign not in ("=", "!=") or side.kind not in (Kind.NODES, Kind.TEXT) or not listed:
        return None
    texts = frozenset(it.value for it in listed if isinstance(it, Constant) and isinstance(it.value, str))
    if len({*listed}) != len(texts) or (sign == "!=" and len(texts) > 1):
        return None
    evaluate = side.evaluate
    if side.kind is Kind.TEXT:
        return (lambda frame: evaluate(frame) in texts) if sign == "=" else (lambda frame: evaluate(frame) not in texts)
    if sign == "=":
        return lambda frame: any(it.text in texts for it in evaluate(frame))
    return lambda frame: any(it.text not in texts for it in evaluate(frame))


def _share_a_text(left: Evaluate, right: Evaluate) -> Evaluate:
    def evaluate(frame: Frame) -> bool:
        first = left(frame)
        return bool(first) and not {it.text for it in first}.isdisjoint(it.text for it in right(frame))

    return evaluate


def _node_comparison(sign: str, left: Compiled, right: Compiled) -> Compiled:
    first, second = as_items(left), as_items(right)

    def evaluate(frame: Frame) -> bool | None:
        a, b = first(frame), second(frame)
        if not a or not b:
            return None
        if len(a) > 1 or len(b) > 1:
            raise Stopped("XPTY0004", "a sequence of several nodes where one is allowed")
        if sign == "is":
            return a[0] is b[0]
        return bool(a[0].order < b[0].order if sign == "<<" else a[0].order > b[0].order)

    return Compiled(Kind.ITEM, evaluate)


def _arithmetic(expression: Arithmetic, scope: Scope) -> Compiled:
    sign = expression.operator
    left = compile_expression(expression.left, scope).evaluate
    right = compile_expression(expression.right, scope).evaluate
    return Compiled(Kind.ITEM, lambda frame: arithmetic(sign, left(frame), right(frame)))


def _negative(expression: Negative, scope: Scope) -> Compiled:
    operand = compile_expression(expression.operand, scope).evaluate

    def evaluate(frame: Frame) -> Any:
        value = number_item(operand(frame))
        return None if value is None else -value

    return Compiled(Kind.ITEM, evaluate)


def _range(expression: Range, scope: Scope) -> Compiled:
    first = compile_expression(expression.first, scope).evaluate
    last = compile_expression(expression.last, scope).evaluate

    def evaluate(frame: Frame) -> Sequence[int]:
        start, end = cast_value(first(frame), "xs:integer"), cast_value(last(frame), "xs:integer")
        if start is None or end is None or end < start:
            return ()
        frame.run.spend(min(end - start, _MAX_RANGE) * (1 if end - start < _MAX_RANGE else _MAX_RANGE))
        return [*range(start, end + 1)]

    return Compiled(Kind.ANY, evaluate)


def _combination(expression: Combination, scope: Scope) -> Compiled:
    left = as_items(compile_expression(expression.left, scope))
    right = as_items(compile_expression(expression.right, scope))

    def union(frame: Frame) -> Sequence[Any]:
        return in_order([*left(frame), *right(frame)])

    def chosen(frame: Frame) -> Sequence[Any]:
        others = set(map(id, right(frame)))
        return [it for it in in_order(left(frame)) if (id(it) in others) is keeps]

    keeps = expression.operator == "intersect"
    return Compiled(Kind.NODES, union if expression.operator in ("union", "|") else chosen)


def _type_test(expression: TypeTest, scope: Scope) -> Compiled:
    name = expression.type.replace("xsd:", "xs:")
    operand, is_optional = compile_expression(expression.operand, scope).evaluate, expression.occurrence == "?"
    if expression.operator not in ("cast", "castable") or name not in CASTS:
        raise NotCompilable(f"'{expression.operator}' with the type {name} is not supported")
    if expression.operator == "castable":
        return Compiled(Kind.BOOLEAN, lambda frame: _castable(operand, frame, name, is_optional))

    def evaluate(frame: Frame) -> Any:
        value = optional(operand(frame))
        if value is None and not is_optional:
            raise Stopped("XPTY0004", f"nothing cannot become {name}")
        return None if value is None else CASTS[name](value)

    return Compiled(Kind.ITEM, evaluate)


def _castable(operand: Evaluate, frame: Frame, name: str, is_optional: bool) -> bool:
    return is_castable(operand(frame), name, is_optional)


def _condition(expression: Condition, scope: Scope) -> Compiled:
    test = as_boolean(compile_expression(expression.test, scope))
    yes, no = compile_expression(expression.yes, scope), compile_expression(expression.no, scope)
    one, other = yes.evaluate, no.evaluate
    kind = yes.kind if yes.kind is no.kind and not (yes.is_node or no.is_node) else Kind.ANY
    return Compiled(kind, lambda frame: one(frame) if test(frame) else other(frame))


# ---------------------------------------------------------------- loops


def _item_of(sequence: Compiled) -> Compiled:
    """Return what is known of a variable that takes each item of a sequence."""
    is_one_node = sequence.kind is Kind.NODES or sequence.is_node
    return Compiled(Kind.ITEM, sequence.evaluate, is_one_node, is_one_node)


def _loop(expression: Loop, scope: Scope) -> Compiled:
    bindings = []
    for name, of in expression.bindings:
        compiled = compile_expression(of, scope)
        is_let = expression.kind == "let"
        bindings.append((name, compiled.evaluate if is_let else as_items(compiled)))
        scope = scope.with_variable(name, compiled if is_let else _item_of(compiled))
    body = compile_expression(expression.body, scope)
    match expression.kind:
        case "some":
            return Compiled(Kind.BOOLEAN, _quantified(bindings, as_boolean(body), True))
        case "every":
            return Compiled(Kind.BOOLEAN, _quantified(bindings, as_boolean(body), False))
        case "let":
            return replace(body, evaluate=_let(bindings, body.evaluate), iterate=None)
        case _:
            kind = Kind.NODES if body.kind is Kind.NODES or body.is_node else Kind.ANY
            return Compiled(kind, _for(bindings, as_items(body)))


_Bindings = Sequence[tuple[str, Evaluate]]


def _quantified(bindings: _Bindings, body: Callable[[Frame], bool], decides: bool) -> Evaluate:
    """Return whether the body is `decides` for one combination; if so that, else the opposite."""
    (name, sequence), *others = bindings
    inner = _quantified(others, body, decides) if others else body

    def evaluate(frame: Frame) -> bool:
        before, found = frame.variables.get(name), sequence(frame)
        frame.run.spend(len(found))
        try:
            for it in found:
                frame.variables[name] = it
                if inner(frame) is decides:
                    return decides
            return not decides
        finally:
            frame.variables[name] = before

    return evaluate


def _for(bindings: _Bindings, body: Evaluate) -> Evaluate:
    (name, sequence), *others = bindings
    inner = _for(others, body) if others else body

    def evaluate(frame: Frame) -> list[Any]:
        before, result = frame.variables.get(name), []
        found = sequence(frame)
        frame.run.spend(len(found))
        for it in found:
            frame.variables[name] = it
            result += inner(frame)
        frame.variables[name] = before
        return result

    return evaluate


def _let(bindings: _Bindings, body: Evaluate) -> Evaluate:
    (name, of), *others = bindings
    inner = _let(others, body) if others else body

    def evaluate(frame: Frame) -> Any:
        before = frame.variables.get(name)
        frame.variables[name] = of(frame)
        result = inner(frame)
        frame.variables[name] = before
        return result

    return evaluate


def _simple_map(expression: SimpleMap, scope: Scope) -> Compiled:
    left = compile_expression(expression.left, scope)
    is_node_ = left.kind is Kind.NODES or left.is_node
    right = compile_expression(expression.right, replace(scope, has_node=is_node_))
    return Compiled(Kind.ANY, _mapped(as_items(left), as_items(right)))


def _mapped(left: Evaluate, right: Evaluate) -> Evaluate:
    """Return the results of a function for each item as the context item, one after another."""

    def evaluate(frame: Frame) -> list[Any]:
        before, result = (frame.item, frame.position, frame.size), []
        found = left(frame)
        frame.run.spend(len(found))
        for position, it in enumerate(found, 1):
            frame.item, frame.position, frame.size = it, position, len(found)
            result += right(frame)
        frame.item, frame.position, frame.size = before
        return result

    return evaluate


# ---------------------------------------------------------------- paths


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


def _path(expression: Path, scope: Scope) -> Compiled:
    base = compile_expression(expression.base, scope)
    step = compile_expression(expression.step, replace(scope, has_node=True))
    mapped = _mapped(as_items(base), as_items(step))
    if step.kind is Kind.NODES or step.is_node:
        return Compiled(Kind.NODES, lambda frame: in_order(mapped(frame)))

    def evaluate(frame: Frame) -> Any:
        found = mapped(frame)
        return in_order(found) if found and all(map(is_node, found)) else found

    return Compiled(Kind.ANY, evaluate)


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


# ---------------------------------------------------------------- calls


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
    arguments = [compile_expression(it, scope) for it in expression.arguments]
    if name in ("exists", "empty") and arguments[0].kind is Kind.NODES:
        holds, wanted = as_boolean(arguments[0]), name == "exists"
        return Compiled(Kind.BOOLEAN, lambda frame: holds(frame) is wanted)
    if not arguments and function.of_context:
        arguments = [_context_item(ContextItem(), scope)]
    converted = [_FORMS[function.argument(index)](it) for index, it in enumerate(arguments)]
    kind, is_flat = function.kind, False
    if name in _KEEP_NODES and arguments and arguments[0].kind is Kind.NODES:
        kind = Kind.NODES
    return Compiled(kind, _applied(function, converted), is_flat)


def _document(expression: Call, scope: Scope) -> Compiled:
    """Compile the access to a file that came with the sheet; nothing else is ever opened."""
    match expression.arguments:
        case (Constant(str() as name), *_) if scope.open is not None:
            node = scope.open(name).node
            return Compiled(Kind.ITEM, lambda frame: node, is_flat=True, is_node=True)
    raise NotCompilable(f"the function {expression.name} is only supported for a file that came with the sheet")


_KEEP_NODES: Final = ("reverse", "subsequence", "remove", "exactly-one", "zero-or-one", "one-or-more")
_FORMS: Final[Mapping[str, Callable[[Compiled], Evaluate]]] = {
    "string": as_string,
    "text": as_text,
    "boolean": as_boolean,
    "items": as_items,
    "item": lambda compiled: compiled.evaluate,
    "number": lambda compiled: lambda frame: number(compiled.evaluate(frame)),
}
_OF_FRAME: Final = {
    "position": Compiled(Kind.ITEM, operator.attrgetter("position")),
    "last": Compiled(Kind.ITEM, operator.attrgetter("size")),
    "current": Compiled(Kind.ITEM, operator.attrgetter("current"), is_flat=True, is_node=True),
    "root": ROOT,
}


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


def converted(value: Any, declared: str) -> Any:
    """Return an argument or a result in its declared type (XPath 2.0, 3.1.5).

    Raises:
        Stopped: it does not have that type, or not that number of items.
    """
    if not declared:
        return value
    occurrence = declared[-1] if declared[-1] in "?*+" else ""
    name = declared.rstrip("?*+").replace("xsd:", "xs:")
    if name.endswith(")") or name not in CASTS:
        return items(value)
    found = [_as_declared(it, name) for it in atoms(items(value))]
    if (occurrence in ("", "+") and not found) or (occurrence in ("", "?") and len(found) > 1):
        raise Stopped("XPTY0004", f"{len(found)} items where {declared} is declared")
    return found if occurrence in ("*", "+") else found[0] if found else None


def _as_declared(value: Any, name: str) -> Any:
    from decimal import Decimal

    from einvoice.schematron.values import Untyped

    if value.__class__ is Untyped:
        return str(value) if name == "xs:string" else CASTS[name](value)
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    allowed = {
        "xs:string": isinstance(value, str),
        "xs:boolean": isinstance(value, bool),
        "xs:integer": is_number and isinstance(value, int),
        "xs:int": is_number and isinstance(value, int),
        "xs:decimal": is_number,
        "xs:double": is_number or isinstance(value, float),
        "xs:float": is_number or isinstance(value, float),
    }
    if not allowed.get(name, True):
        raise Stopped("XPTY0004", f"a value is no {name}")
    return float(value) if name in ("xs:double", "xs:float") else value


_COMPILERS: Final[Mapping[type[Expression], Callable[[Any, Scope], Compiled]]] = {
    Arithmetic: _arithmetic,
    Call: _call,
    Combination: _combination,
    Comparison: _comparison,
    Condition: _condition,
    Constant: _constant,
    ContextItem: _context_item,
    Filter: _filter,
    Items: _items,
    Logic: _logic,
    Loop: _loop,
    Negative: _negative,
    Path: _path,
    Range: _range,
    Root: _root,
    SimpleMap: _simple_map,
    Step: _step,
    TypeTest: _type_test,
    Variable: _variable,
}
