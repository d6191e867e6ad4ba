"""Compiles the text of an expression to a function of Python."""

from __future__ import annotations

from einvoice.schematron.errors import NotCompilable
from einvoice.schematron.xpath import calls, loops, operators, paths  # they register what they compile
from einvoice.schematron.xpath.calls import converter
from einvoice.schematron.xpath.compiled import Compiled
from einvoice.schematron.xpath.parser import parse
from einvoice.schematron.xpath.scope import Declared, Scope, compile_expression

__all__ = [
    "Declared",
    "Scope",
    "calls",
    "compile_expression",
    "compile_text",
    "converter",
    "loops",
    "operators",
    "paths",
]


def compile_text(text: str, scope: Scope) -> Compiled:
    """Compile an expression.

    Raises:
        NotCompilable: it is not valid, or not supported.
    """
    try:
        return compile_expression(parse(text), scope)
    except RecursionError:
        raise NotCompilable("an expression is nested too deeply") from None
