"""Generate Python from checked rules: one function for each context, with a single loop for all its rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from einvoice.rulebook.files.contexts import Scope
from einvoice.rulebook.language import Expression
from einvoice.rulebook.program.typecheck import CheckedRule

#: The tuple of functions in the generated module. Their arguments are the invoice, the function that reports a
#: violation, and the functions ``descendants`` and ``with_vat`` for this invoice.
FUNCTIONS: Final = "_functions"
_PARAMETERS: Final = "invoice, _report, descendants, with_vat"
_SHARED: Final = "descendants, with_vat"
_INDENT: Final = "    "


def generate(rules: Sequence[CheckedRule]) -> tuple[str, dict[str, str], set[str]]:
    """Return the source of a module that runs all rules, and the exact numbers and code lists that it uses as globals.

    A violation is reported with the index of the rule, the values of its names, whether each note applies, and the
    situation that applies, if any: its position among those of the rule, and the values of its names.
    """
    by_scope: dict[str, list[tuple[int, CheckedRule]]] = {}
    for number, rule in enumerate(rules):
        by_scope.setdefault(rule.scope.name, []).append((number, rule))
    module = _Module()
    for numbered in by_scope.values():
        module.function(numbered)
    for number, rule in enumerate(rules):
        if rule.situations:
            module.situations(number, rule)
    functions = "".join(f"_{name}, " for name in by_scope)
    return "\n".join((*module.lines, f"{FUNCTIONS} = ({functions})", "")), module.numbers, module.lists


class _Module:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.numbers: dict[str, str] = {}
        self.lists: set[str] = set()

    def function(self, rules: list[tuple[int, CheckedRule]]) -> None:
        scope = rules[0][1].scope
        self.lines.append(f"def _{scope.name}({_PARAMETERS}):")
        depth = self._loops(scope)
        for number, rule in rules:
            self.lines += [_INDENT * depth + line for line in self._rule(number, rule)]

    def _loops(self, scope: Scope) -> int:
        depth = 1
        for loop in scope.loops:
            self.lines.append(f"{_INDENT * depth}for {loop.name} in {self._code(loop.source)}:")
            depth += 1
        for condition, test in ((scope.where, "if not {}: continue"), (scope.unless, "if {}: continue")):
            if condition:
                self.lines.append(_INDENT * depth + test.format(self._code(condition)))
        return depth

    def _rule(self, number: int, checked: CheckedRule) -> list[str]:
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
        situation = f"_situation_{number}({contents}{_SHARED})" if checked.situations else "()"
        lines.append(f"{indent}{_INDENT}_report(({number}, ({contents}), ({notes}), {situation}))")
        return lines

    def situations(self, number: int, checked: CheckedRule) -> None:
        """Write the function that selects the situation of a violation; it runs for violations only."""
        parameters = ", ".join((*checked.rule.names, _SHARED))
        self.lines.append(f"def _situation_{number}({parameters}):")
        for position, (situation, lets, when) in enumerate(checked.situations):
            self.lines += [_INDENT + line for line in self._lets(list(lets))]
            values = "".join(f"{name}, " for name in situation.names)
            test = f"if {self._code(when)}: " if when else ""
            self.lines.append(f"{_INDENT}{test}return ({position}, ({values}))")
        self.lines.append(f"{_INDENT}return ()")

    def _lets(self, lets: list[tuple[str, Expression]]) -> list[str]:
        return [f"{name} = {self._code(expression)}" for name, expression in lets]

    def _code(self, expression: Expression) -> str:
        self.numbers |= {name: str(number) for name, number in expression.constants.items()}
        self.lists |= expression.lists
        return expression.code


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
