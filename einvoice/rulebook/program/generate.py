"""Turn proven rules into Python: one function for each context, which loops once and runs all its rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from einvoice.rulebook.files.contexts import Scope
from einvoice.rulebook.language import Expression
from einvoice.rulebook.program.typecheck import Proof

#: The tuple of the functions in the generated module; each takes the invoice, what to call for a broken rule, and the
#: words ``descendants`` and ``with_vat``, which remember things for one run.
FUNCTIONS: Final = "_functions"
_STEP: Final = "    "


def generate(proofs: Sequence[Proof]) -> tuple[str, dict[str, str], set[str]]:
    """The source of a module that runs all rules; the exact numbers and the code lists that it needs as globals.

    A broken rule is reported by calling the second argument of its function with its place in ``proofs``, the contents
    of its names, and whether each of its notes holds.
    """
    by_scope: dict[str, list[tuple[int, Proof]]] = {}
    for number, proof in enumerate(proofs):
        by_scope.setdefault(proof.scope.name, []).append((number, proof))
    module = _Module()
    for rules in by_scope.values():
        module.function(rules)
    functions = "".join(f"_{name}, " for name in by_scope)
    return "\n".join((*module.lines, f"{FUNCTIONS} = ({functions})", "")), module.numbers, module.lists


class _Module:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.numbers: dict[str, str] = {}
        self.lists: set[str] = set()

    def function(self, rules: list[tuple[int, Proof]]) -> None:
        scope = rules[0][1].scope
        self.lines.append(f"def _{scope.name}(invoice, _broken, descendants, with_vat):")
        depth = self._loops(scope)
        for number, proof in rules:
            self.lines += [_STEP * depth + line for line in self._rule(number, proof)]

    def _loops(self, scope: Scope) -> int:
        depth = 1
        for loop in scope.loops:
            self.lines.append(f"{_STEP * depth}for {loop.name} in {self._code(loop.source)}:")
            depth += 1
        for condition, test in ((scope.where, "if not {}: continue"), (scope.unless, "if {}: continue")):
            if condition:
                self.lines.append(_STEP * depth + test.format(self._code(condition)))
        return depth

    def _rule(self, number: int, proof: Proof) -> list[str]:
        """Each ``let`` is worked out where it is first needed: for ``when``, for ``assert``, or to be reported."""
        lines: list[str] = []
        todo = list(proof.lets)
        step = ""
        if proof.when:
            lines += self._lets(_needed(todo, proof.when))
            lines.append(f"if {self._code(proof.when)}:")
            step = _STEP
        lines += [step + line for line in self._lets(_needed(todo, proof.assertion))]
        lines.append(f"{step}if not {self._code(proof.assertion)}:")
        lines += [step + _STEP + line for line in self._lets(todo)]
        found = "".join(f"{name}, " for name in proof.rule.names)
        noted = "".join(f"{self._code(note) if note else True}, " for note in proof.notes)
        lines.append(f"{step}{_STEP}_broken(({number}, ({found}), ({noted})))")
        return lines

    def _lets(self, lets: list[tuple[str, Expression]]) -> list[str]:
        return [f"{name} = {self._code(expression)}" for name, expression in lets]

    def _code(self, expression: Expression) -> str:
        self.numbers |= {name: str(number) for name, number in expression.constants.items()}
        self.lists |= expression.lists
        return expression.code


def _needed(todo: list[tuple[str, Expression]], expression: Expression) -> list[tuple[str, Expression]]:
    """Take from ``todo``, in its order, what ``expression`` needs, be it through another ``let``."""
    names = set(expression.names)
    needed: list[tuple[str, Expression]] = []
    for let in reversed(todo):
        if let[0] in names:
            names |= let[1].names
            needed.insert(0, let)
    for let in needed:
        todo.remove(let)
    return needed
