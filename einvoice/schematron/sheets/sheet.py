"""What a sheet says, whatever form it has."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Let:
    """A variable.

    Attributes:
        name: its name.
        expression: its value; None if it has content instead.
        content: the element of XSLT with the content.
        type: its declared type; "" for none.
        of_document: whether the document is its context, not the node that the rule judges.
    """

    name: str
    expression: str | None
    content: Any = None
    type: str = ""
    of_document: bool = False


#: A message: texts, and expressions in a tuple of one.
Message: TypeAlias = Sequence[str | tuple[str]]


@dataclass(frozen=True, slots=True)
class Assertion:
    """An assertion or a report.

    Attributes:
        code: its id; without one, the condition.
        test: the condition.
        fires_if: whether the condition is true or false where it reports.
        flag: its severity as the sheet names it; "" for none.
        message: its message.
        line: its line in the sheet.
        loops: the loops around it, from the outside: the condition of each, and the nodes that it goes through; the
            condition of the assertion is that of each of the last ones.
        obstacle: why it cannot be compiled; "" if that is still to be seen.
    """

    code: str
    test: str
    fires_if: bool
    flag: str
    message: Message
    line: int
    loops: Sequence[tuple[str, str]] = ()
    obstacle: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: the nodes that it judges, and its assertions.

    Attributes:
        context: the pattern of the nodes.
        priority: of several rules of a pattern that match a node, the one with the highest judges it.
        lets: its variables, in order.
        assertions: its assertions, in order.
        namespaces: namespaces by prefix.
        line: its line in the sheet.
    """

    context: str
    priority: float
    lets: Sequence[Let]
    assertions: Sequence[Assertion]
    namespaces: Mapping[str, str]
    line: int


@dataclass(frozen=True, slots=True)
class Declaration:
    """A function that the sheet declares: its parameters with their types, its type, and its body."""

    name: str
    parameters: Sequence[tuple[str, str]]
    type: str
    body: Any


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet.

    Attributes:
        form: "schematron" or "xslt".
        title: its title; "" for none.
        namespaces: namespaces by prefix.
        default_namespace: namespace of elements without a prefix; "" for none.
        lets: the variables of the whole sheet, in order.
        functions: the functions.
        patterns: the rules of each pattern; one rule of each judges a node.
        visits_attributes: whether attributes are judged, too.
    """

    form: Literal["schematron", "xslt"]
    title: str
    namespaces: Mapping[str, str]
    lets: Sequence[Let]
    functions: Sequence[Declaration]
    patterns: Sequence[Sequence[Rule]]
    default_namespace: str = ""
    visits_attributes: bool = True

    @property
    def assertions(self) -> Sequence[Assertion]:
        """All assertions."""
        return [it for rules in self.patterns for rule in rules for it in rule.assertions]

    def with_codes(self, codes: Collection[str]) -> Sheet:
        """Return the sheet with the assertions of some codes only. Rules stay, as one may judge instead of another."""
        patterns = [
            [replace(rule, assertions=[it for it in rule.assertions if it.code in codes]) for rule in rules]
            for rules in self.patterns
        ]
        return replace(self, patterns=[rules for rules in patterns if any(rule.assertions for rule in rules)])
