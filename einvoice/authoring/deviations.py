"""Compare the rules of the standard with those of the official Schematron.

Both are run on an invoice. Where they differ, the rule must have a `[[deviation]]` that says so. Only the newest
release is compared; `[[history]]` entries state in a comment how older ones differ.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from einvoice.model.invoice import Invoice
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.notes import LAXER
from einvoice.rulebook.files.resolve import ResolvedRule
from einvoice.rulebook.program.build import RuleSets, assemble
from einvoice.rulebook.program.program import Program, Violation
from einvoice.rulebook.program.typecheck import CheckedRule, check_rule, check_standard

STRICTER: Final = "stricter"


class Difference(NamedTuple):
    """A rule on which the standard and the official Schematron disagree.

    Attributes:
        code: of the rule.
        direction: "stricter" if only the official rule is violated, "laxer" if only that of the standard.
        deviations: indices of the notes of the rule that say so; empty if none does.
    """

    code: str
    direction: str
    deviations: frozenset[int]


class Comparison:
    """Rules of a rule set in one syntax, as in the standard and as in the newest official release.

    A rule whose file has no `assert` is left out: nothing is claimed about it.
    """

    def __init__(self, rule_sets: RuleSets, name: str, syntax: str, codes: Collection[str] | None = None) -> None:
        """Compile the rules with these codes, by default all. Raise `RuleError` for an invalid one."""
        self.syntax = syntax
        self.release = rule_sets.sets[name].newest
        self._definitions: dict[str, Definition] = {}
        self._resolved: dict[str, ResolvedRule] = {}
        official: list[CheckedRule] = []
        standard: list[CheckedRule] = []
        for definition in rule_sets.definitions[name]:
            if not definition.in_version(self.release) or not definition.standard.assertion:
                continue
            if codes is not None and definition.code not in codes:
                continue
            self._definitions[definition.code] = definition
            self._resolved[definition.code] = definition.resolved(syntax, self.release)
            rule = check_rule(definition, syntax, self.release, rule_sets.contexts[name])
            stated = check_standard(definition, rule_sets.contexts[name])
            official += [rule] if rule else []
            standard += [stated] if stated else []
        self._official = Program([], *assemble(official, syntax, data=rule_sets.data))
        self._standard = Program([], *assemble(standard, syntax, data=rule_sets.data))

    def differences(self, invoice: Invoice) -> Iterator[Difference]:
        """Yield the rules that the invoice violates in the standard or in the official Schematron, but not in both.

        A rule that is not applicable in the syntax, with the reason in its file, needs no deviation.
        """
        official, standard = _by_code(self._official, invoice), _by_code(self._standard, invoice)
        for code, definition in self._definitions.items():
            resolved = self._resolved[code]
            reported = official.get(resolved.code, [])
            if reported and code not in standard:
                yield Difference(code, STRICTER, _shown_on_all(definition, reported))
            if code in standard and not reported:
                deviations = self._laxer(definition)
                if deviations or not resolved.not_applicable:
                    yield Difference(code, LAXER, deviations)

    def deviations(self) -> Iterator[tuple[str, int]]:
        """Yield the deviations that a document in this syntax can show, as code and index of the note."""
        for code, definition in self._definitions.items():
            for index, note in enumerate(definition.notes):
                if note.kind in (STRICTER, LAXER) and self._applies(definition, index):
                    yield code, index

    def _laxer(self, definition: Definition) -> frozenset[int]:
        notes = enumerate(definition.notes)
        return frozenset(index for index, note in notes if note.kind == LAXER and self._applies(definition, index))

    def _applies(self, definition: Definition, index: int) -> bool:
        note = definition.notes[index]
        return (
            not note.ruleset
            and note.syntax in ("", self.syntax)
            and definition.ruleset.has(note.since, note.until, self.release)
        )


def _by_code(program: Program, invoice: Invoice) -> dict[str, list[Violation]]:
    violations: dict[str, list[Violation]] = {}
    for violation in program.run(invoice):
        violations.setdefault(violation.rule.code, []).append(violation)
    return violations


def _shown_on_all(definition: Definition, violations: list[Violation]) -> frozenset[int]:
    """Return the stricter deviations shown on violations; empty if one of them shows none."""
    shown = [
        {index for index in violation.note_indices if definition.notes[index].kind == STRICTER}
        for violation in violations
    ]
    return frozenset().union(*shown) if all(shown) else frozenset()
