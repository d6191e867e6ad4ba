"""What an expression can refer to, and the functions that compile each node of the syntax tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from einvoice.schematron.tree import Document
from einvoice.schematron.xpath.compiled import Compiled
from einvoice.schematron.xpath.frame import Frame
from einvoice.schematron.xpath.nodes import Expression


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
        shared: compiled expressions whose value depends on the document only, so that it is calculated once.
        open: gives a document that came with the sheet, such as its code lists, by name; None if there are none.
    """

    namespaces: Mapping[str, str]
    default: str = ""
    globals: Mapping[str, Compiled] = field(default_factory=dict)
    variables: Mapping[str, Compiled] = field(default_factory=dict)
    functions: Mapping[str, Declared] = field(default_factory=dict)
    has_node: bool = True
    shared: dict[Any, Compiled] = field(default_factory=dict)
    open: Callable[[str], Document] | None = None

    def with_node(self) -> Scope:
        """Return the scope with a node as the context item."""
        return self if self.has_node else replace(self, has_node=True)

    def with_variable(self, name: str, known: Compiled) -> Scope:
        """Return the scope with a local variable."""
        return replace(self, variables={**self.variables, name: known})

    def without_variable(self, name: str) -> Scope:
        """Return the scope without a variable, so that what uses it cannot be compiled."""
        known = {key: it for key, it in self.variables.items() if key != name}
        others = {key: it for key, it in self.globals.items() if key != name}
        return replace(self, variables=known, globals=others)


_COMPILERS: Final[dict[type[Expression], Callable[[Any, Scope], Compiled]]] = {}


def compiles(node: type[Expression]) -> Callable[[Callable[[Any, Scope], Compiled]], Callable[[Any, Scope], Compiled]]:
    """Register the function that compiles a node of the syntax tree."""

    def register(function: Callable[[Any, Scope], Compiled]) -> Callable[[Any, Scope], Compiled]:
        _COMPILERS[node] = function
        return function

    return register


def compile_expression(expression: Expression, scope: Scope) -> Compiled:
    """Compile a node of the syntax tree.

    Raises:
        NotCompilable: it is not supported.
    """
    return _COMPILERS[type(expression)](expression, scope)
