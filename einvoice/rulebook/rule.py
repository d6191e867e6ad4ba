"""The data of a rule that a program reports with its violations."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

SYNTAXES: Final = ("UBL", "CII")
EXPECTED: Final = "expected"
"""The `let` that findings show as the expected value."""
ACTUAL: Final = "actual"
"""The value of the leading term."""
LEADING: Final = "leading_term"
"""In texts, the number of the leading term; `leading_term.name` is its name, `….named` is name and number."""
SEVERITIES: Final = ("fatal", "warning", "information")


class Rule(NamedTuple):
    """A rule in one syntax, as plain data that can be stored beside the generated code.

    Attributes:
        code: of the rule in this syntax.
        severity: "fatal", "warning" or "information".
        layer: of the rule.
        section: of the invoice; see `sections`.
        terms: the business terms that the rule reads, the leading term first.
        file: the rule file.
        names: the names whose contents a violation holds: `invoice`, loop variables, `let` names.
        item: index of the name of the checked group or value.
        path: from one of the names to the value of the first term (`totals.line_net`); '' if it has no single value.
        quotes: the paths that the texts quote.
        notes: indices, in the catalog entry, of the notes that findings can show.
        location: where a finding points: "item", at the checked item; "parent", at the element that contains it; '' at
            the value of the first term.
        situations: the situations that findings can have, each as `Situation`.
        operands: the values that the assertion reads, each as `Operand`.
        shared: whether the value at fault can have one of several terms: all values with a scheme, the rates of lines
            and of allowances, or a period at a place where only the official Schematron checks it.
    """

    code: str
    severity: str
    layer: str
    section: str
    terms: tuple[str, ...]
    file: str
    names: tuple[str, ...]
    item: int
    path: str
    quotes: tuple[str, ...]
    notes: tuple[int, ...] = ()
    location: str = ""
    situations: tuple[tuple[Any, ...], ...] = ()
    operands: tuple[tuple[Any, ...], ...] = ()
    shared: bool = False


class Operand(NamedTuple):
    """A value that the assertion of a rule reads, as plain data; see `program.operands`.

    Attributes:
        terms: the business terms that it can have.
        kind: "amount", "percentage", "date" …, if it must be a number or date; "" for another value.
        leads: whether it is the value of the leading term.
        required: whether the rule cannot be checked without it.
    """

    terms: tuple[str, ...]
    kind: str
    leads: bool
    required: bool


class Situation(NamedTuple):
    """A situation in one syntax, as plain data.

    Attributes:
        key: by which findings refer to its texts.
        names: the `let` names of the situation.
        quotes: the paths that its texts quote.
        terms: the business terms at fault, the leading term first; empty if they are those of the rule.
        path: to the value of the first of these terms; '' if that is the path of the rule, or it has no single value.
        hidden: values that findings do not have. A situation that leads with another term has no expected value, which
            is that of the rule's term or calculated from faulty ones, no other `let` value of the rule calculated
            from its leading term, and without a path no actual value, unless its texts quote them.
        before_operands: whether it also explains a violation with a faulty operand.
    """

    key: str
    names: tuple[str, ...]
    quotes: tuple[str, ...]
    terms: tuple[str, ...]
    path: str
    hidden: tuple[str, ...] = ()
    before_operands: bool = False
