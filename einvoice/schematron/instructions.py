"""The instructions of XSLT in functions and variables of a sheet, compiled to functions of Python (XSLT 2.0, 5.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from einvoice.schematron.errors import NotCompilable
from einvoice.schematron.sheets.names import XSL, children
from einvoice.schematron.tree import BLANKS
from einvoice.schematron.values import Untyped, items, text_of
from einvoice.schematron.xpath.compiled import Compiled, Evaluate, Kind, as_boolean, as_items
from einvoice.schematron.xpath.compiler import Scope, compile_text, converter
from einvoice.schematron.xpath.frame import Frame, Lazy

_IGNORED: Final = (f"{XSL}param", f"{XSL}sort", f"{XSL}with-param")


def compile_content(element: Any, scope: Scope) -> Compiled:
    """Compile the content of an element: variables, then what the instructions return, one after another.

    Raises:
        NotCompilable: it uses an instruction that is not supported.
    """
    parts: list[Evaluate] = []
    variables: list[tuple[str, Evaluate]] = []
    for it in _content(element):
        if isinstance(it, str):
            parts.append(_text(it))
        elif it.tag == f"{XSL}variable":
            known = compile_variable(it.get("select"), it, it.get("as", ""), scope)
            variables.append((it.get("name"), known.evaluate))
            scope = scope.with_variable(it.get("name"), known)
        elif it.tag in _INSTRUCTIONS:
            parts.append(_INSTRUCTIONS[it.tag](it, scope))
        else:
            raise NotCompilable(f"the instruction {it.tag.rpartition('}')[2]} is not supported")
    if len(parts) == 1:
        return Compiled(Kind.ANY, _with_variables(variables, parts[0]))
    return Compiled(
        Kind.ANY, _with_variables(variables, lambda frame: [it for part in parts for it in items(part(frame))])
    )


def compile_variable(select: str | None, element: Any, type_: str, scope: Scope) -> Compiled:
    """Compile the value of a variable: its expression, else its content; converted to its declared type."""
    if select is not None:
        compiled = compile_text(select, scope)
    elif any(True for _ in children(element)):
        if not type_:
            raise NotCompilable("a variable with content and without a declared type")
        compiled = compile_content(element, scope)
    else:
        text = element.text or ""
        compiled = Compiled(Kind.TEXT, lambda frame: text)
    if not type_ or compiled.kind is Kind.NODES:
        return compiled
    evaluate, convert = compiled.evaluate, converter(type_)
    kind = {"xs:string": Kind.TEXT, "xs:boolean": Kind.BOOLEAN}.get(type_, Kind.ANY)
    return Compiled(kind, lambda frame: convert(evaluate(frame)))


def _content(element: Any) -> Iterator[Any]:
    """Yield the texts and instructions of an element; white space alone is none."""
    if element.text and element.text.strip(BLANKS):
        yield element.text
    for child in element:
        if isinstance(child.tag, str) and child.tag not in _IGNORED:
            yield child
        if child.tail and child.tail.strip(BLANKS):
            yield child.tail


def _text(text: str) -> Evaluate:
    return lambda frame: Untyped(text)


def _with_variables(variables: Sequence[tuple[str, Evaluate]], result: Evaluate) -> Evaluate:
    if not variables:
        return result

    def evaluate(frame: Frame) -> Any:
        before, context = frame.variables, _copy(frame)
        frame.variables = dict(before)
        for name, of in variables:
            frame.variables[name] = context.variables[name] = Lazy(of, context)
        try:
            return result(frame)
        finally:
            frame.variables = before

    return evaluate


def _copy(frame: Frame) -> Frame:
    """Return a frame for a variable that is evaluated later, when the loop around it has gone on."""
    found = Frame(frame.run, frame.item, dict(frame.variables))
    found.current, found.position, found.size = frame.current, frame.position, frame.size
    return found


def _sequence(element: Any, scope: Scope) -> Evaluate:
    return compile_text(element.get("select", ""), scope).evaluate


def _value_of(element: Any, scope: Scope) -> Evaluate:
    if element.get("select") is None:
        content = compile_content(element, scope).evaluate
        return lambda frame: Untyped(frame.run.write("".join(map(text_of, items(content(frame))))))
    evaluate = as_items(compile_text(element.get("select", ""), scope))
    separator = element.get("separator", " ")
    return lambda frame: Untyped(frame.run.write(separator.join(map(text_of, evaluate(frame)))))


def _xsl_text(element: Any, _: Scope) -> Evaluate:
    return _text(element.text or "")


def _choose(element: Any, scope: Scope) -> Evaluate:
    branches: list[tuple[Callable[[Frame], bool], Evaluate]] = []
    for it in children(element):
        content = compile_content(it, scope).evaluate
        test = as_boolean(compile_text(it.get("test", ""), scope)) if it.tag == f"{XSL}when" else lambda frame: True
        branches.append((test, content))

    def evaluate(frame: Frame) -> Any:
        for test, content in branches:
            if test(frame):
                return content(frame)
        return ()

    return evaluate


def _if(element: Any, scope: Scope) -> Evaluate:
    test, content = as_boolean(compile_text(element.get("test", ""), scope)), compile_content(element, scope).evaluate
    return lambda frame: content(frame) if test(frame) else ()


def _for_each(element: Any, scope: Scope) -> Evaluate:
    if any(True for _ in children(element, f"{XSL}sort")):
        raise NotCompilable("sorted items are not supported")
    sequence = compile_text(element.get("select", ""), scope)
    is_nodes = sequence.kind is Kind.NODES or sequence.is_node
    content, found = compile_content(element, replace(scope, has_node=is_nodes)).evaluate, as_items(sequence)

    def evaluate(frame: Frame) -> list[Any]:
        before = frame.item, frame.position, frame.size, frame.current
        result: list[Any] = []
        nodes = found(frame)
        frame.run.spend(len(nodes))
        try:
            for position, it in enumerate(nodes, 1):
                frame.item = frame.current = it
                frame.position, frame.size = position, len(nodes)
                result += items(content(frame))
        finally:
            frame.item, frame.position, frame.size, frame.current = before
        return result

    return evaluate


_INSTRUCTIONS: Final = {
    f"{XSL}sequence": _sequence,
    f"{XSL}copy-of": _sequence,
    f"{XSL}value-of": _value_of,
    f"{XSL}text": _xsl_text,
    f"{XSL}choose": _choose,
    f"{XSL}if": _if,
    f"{XSL}for-each": _for_each,
}
