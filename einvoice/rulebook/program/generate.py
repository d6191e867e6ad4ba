"""Generate Python from checked rules: one function for each context, with a single loop for all its rules.

Contexts with the same first loop are named together: `fusion` merges their functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from einvoice.rulebook.files.contexts import Scope
from einvoice.rulebook.language import Expression
from einvoice.rulebook.program.typecheck import CheckedRule

#: Arguments of the function of a context: the invoice, the function that reports a violation, and the functions
#: ``descendants`` and ``with_vat`` for this invoice.
_PARAMETERS: Final = "invoice, _report, descendants, with_vat"
_SHARED: Final = "descendants, with_vat"
_INDENT: Final = "    "


class Source(NamedTuple):
    """Source of a program. The same rules of a context have the same source in every program.

    Attributes:
        functions: the source of each function, by name.
        contexts: names of the functions to run, in their order, those with the same first loop together. The other
            functions select the situations of violations.
        rules: for each rule, the name of the global that holds its index.
        numbers: exact numbers that the functions use as globals, by name.
        lists: names of the code lists that they use as globals.
        operands: for each rule, a lambda expression that returns the occurrences of its operands; "" without operands.
    """

    functions: Mapping[str, str]
    contexts: Sequence[Sequence[str]]
    rules: tuple[str, ...]
    numbers: Mapping[str, str]
    lists: set[str]
    operands: tuple[str, ...]


def generate(rules: Sequence[CheckedRule]) -> Source:
    """Return the source of functions that run all rules.

    A violation is reported with the index of the rule, the values of its names, whether each note applies, and the
    situation that applies, if any: its position among those of the rule, and the values of its names.
    """
    by_scope: dict[str, list[tuple[str, CheckedRule]]] = {}
    named = list(zip(_names(rules), rules, strict=True))
    for name, rule in named:
        by_scope.setdefault(rule.scope.name, []).append((name, rule))
    writer = _Writer()
    contexts: dict[str, list[str]] = {}
    for of_scope in by_scope.values():
        loop, name = writer.function(of_scope)
        contexts.setdefault(loop or name, []).append(name)
    for name, rule in named:
        if rule.situations:
            writer.situations(name, rule)
    operands = tuple(writer.operands(rule) for rule in rules)
    names = tuple(name for name, _ in named)
    return Source(writer.functions, list(contexts.values()), names, writer.numbers, writer.lists, operands)


def _names(rules: Sequence[CheckedRule]) -> list[str]:
    """Return an identifier for each rule, which is its code unless another rule has the same identifier.

    The names of variables are in lower case, so that none of them is the same.
    """
    names: dict[str, None] = {}
    for rule in rules:
        name = "_RULE_" + re.sub(r"\W", "_", rule.rule.code)
        while name in names:
            name += "_"
        names[name] = None
    return list(names)


class _Writer:
    def __init__(self) -> None:
        self.functions: dict[str, str] = {}
        self.numbers: dict[str, str] = {}
        self.lists: set[str] = set()

    def function(self, rules: list[tuple[str, CheckedRule]]) -> tuple[str, str]:
        """Write the function of a context; return its first loop, or "", and its name."""
        scope = rules[0][1].scope
        name = f"_{scope.name}"
        lines, depth = self._loops(scope)
        for rule, checked in rules:
            lines += [_INDENT * depth + line for line in self._rule(rule, checked)]
        self.functions[name] = "\n".join((f"def {name}({_PARAMETERS}):", *lines, ""))
        return lines[0] if scope.loops else "", name

    def _loops(self, scope: Scope) -> tuple[list[str], int]:
        """Return the beginning of the loops of a context, and the depth of what they repeat."""
        lines: list[str] = []
        depth = 1
        for loop in scope.loops:
            lines.append(f"{_INDENT * depth}for {loop.name} in {self._code(loop.source)}:")
            depth += 1
        for condition, test in ((scope.where, "if not {}: continue"), (scope.unless, "if {}: continue")):
            if condition:
                lines.append(_INDENT * depth + test.format(self._code(condition)))
        return lines, depth

    def _rule(self, name: str, checked: CheckedRule) -> list[str]:
        """Compute each ``let`` as late as possible: for ``when``, for ``assert``, or for the violation."""
        lines: list[str] = []
        pending = list(checked.lets)
        indent = ""
        if checked.when:
            lines += self._lets(_take_needed(pending, checked.when))
            lines.append(f"if {self._code(checked.when)}:")
            indent = _INDENT
        lines += [indent + line for line in self._lets(_take_needed(pending, checked.assertion))]
        lines.append(f"{indent}if not {self._code(checked.assertion)}:")
        lines += [indent + _INDENT + line for line in self._lets(pending)]
        contents = "".join(f"{name}, " for name in checked.rule.names)
        notes = "".join(f"{self._code(note) if note else True}, " for note in checked.note_conditions)
        situation = f"{_situations(name)}({contents}{_SHARED})" if checked.situations else "()"
        lines.append(f"{indent}{_INDENT}_report(({name}, ({contents}), ({notes}), {situation}))")
        return lines

    def situations(self, rule: str, checked: CheckedRule) -> None:
        """Write the function that selects the situation of a violation; it runs for violations only."""
        name = _situations(rule)
        lines = [f"def {name}({', '.join((*checked.rule.names, _SHARED))}):"]
        for position, (situation, lets, when) in enumerate(checked.situations):
            lines += [_INDENT + line for line in self._lets(list(lets))]
            values = "".join(f"{name}, " for name in situation.names)
            test = f"if {self._code(when)}: " if when else ""
            lines.append(f"{_INDENT}{test}return ({position}, ({values}))")
        self.functions[name] = "\n".join((*lines, f"{_INDENT}return ()", ""))

    def operands(self, checked: CheckedRule) -> str:
        """Write the function that collects the occurrences of the operands; it is compiled for a violation only."""
        for it in checked.operands:
            self._code(it.occurrences)
        lists = "".join(f"{it.code}, " for it in checked.operands)
        return f"lambda {', '.join((*checked.rule.names, _SHARED))}: ({lists})" if lists else ""

    def _lets(self, lets: list[tuple[str, Expression]]) -> list[str]:
        return [f"{name} = {self._code(expression)}" for name, expression in lets]

    def _code(self, expression: Expression) -> str:
        self.numbers |= {name: str(number) for name, number in expression.constants.items()}
        self.lists |= expression.lists
        return expression.code


def _situations(rule: str) -> str:
    """Return the name of the function that selects the situation of a rule."""
    return f"_SITUATION{rule}"


def _take_needed(pending: list[tuple[str, Expression]], expression: Expression) -> list[tuple[str, Expression]]:
    """Remove from ``pending`` and return the lets that ``expression`` uses, directly or through another ``let``."""
    names = set(expression.names)
    needed: list[tuple[str, Expression]] = []
    for let in reversed(pending):
        if let[0] in names:
            names |= let[1].names
            needed.insert(0, let)
    for let in needed:
        pending.remove(let)
    return needed
