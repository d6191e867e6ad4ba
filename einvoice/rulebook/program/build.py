"""Build a program: read and check the rules of a stack, and compile the code that `generate` writes."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from einvoice.errors import RuleError
from einvoice.resources import RuleData
from einvoice.rulebook.files.contexts import Contexts, deviations_of
from einvoice.rulebook.files.definition import Copy, Definition
from einvoice.rulebook.files.load import read_copies, read_definitions
from einvoice.rulebook.files.versions import RuleSet, read_rulesets
from einvoice.rulebook.language import bind
from einvoice.rulebook.program.generate import generate
from einvoice.rulebook.program.program import Layer
from einvoice.rulebook.program.typecheck import CheckedRule, check_rule

NEWEST: Final[Mapping[str, str]] = {}
Stack: TypeAlias = tuple[tuple[str, str], ...]
"""Rule sets, each with its release."""


class RuleSets:
    """The rule sets of the rule data: their contexts and rule definitions, by name, each after its base."""

    def __init__(self, data: RuleData) -> None:
        self.data = data
        self.sets: Mapping[str, RuleSet] = read_rulesets(data.sets)
        self.contexts: dict[str, Contexts] = {}
        self.definitions: dict[str, list[Definition]] = {}
        for name, ruleset in self.sets.items():
            self.contexts[name] = contexts_of(ruleset, data, self.contexts)
            self.definitions[name] = read_definitions(data.sets, ruleset)
            self._add_copies(name, ruleset.base)

    def _add_copies(self, name: str, base: str) -> None:
        """Add the copies of rules in a rule set to the definitions of its base."""
        copies = read_copies(self.data.sets[name], base) if base else {}
        known = {definition.code for definition in self.definitions[base]} if base else set()
        for code in copies.keys() - known:
            raise RuleError(f"'{code}' is not a rule of {base}", file=copies[code].file)
        if copies:
            added = [
                it.with_copies((*it.copies, copies[it.code])) if it.code in copies else it
                for it in self.definitions[base]
            ]
            deviations = deviations_of(self.data.sets[name], base)
            self.definitions[base] = [self._with_deviations(it, name, deviations) for it in added]

    def _with_deviations(
        self, definition: Definition, name: str, deviations: Mapping[str, Sequence[Mapping[str, Any]]]
    ) -> Definition:
        """Return a rule with the deviations of the contexts that its copy in a rule set has; they are by context."""
        copied, release = definition.copy_in(name), definition.ruleset.newest
        contexts = sorted({copied.resolved(syntax, release).context for syntax in self.sets[name].syntaxes})
        found = [entry for context in contexts for entry in deviations.get(context, ())]
        if not found:
            return definition
        others = tuple(it for it in definition.copies if it.ruleset != name)
        own = next((it for it in definition.copies if it.ruleset == name), Copy(name, definition.file))
        data = {**own.data, "deviation": [*own.data.get("deviation", ()), *found]}
        return definition.with_copies((*others, replace(own, data=data)))

    def copied_by(self, name: str) -> tuple[dict[str, Contexts], dict[str, list[Definition]]]:
        """Return contexts and definitions with the copies of rules in the Schematron of a rule set."""
        ruleset, base = self.sets[name], self.sets[self.sets[name].base]
        contexts = dict(self.contexts)
        contexts[base.name] = contexts_of(base, self.data, contexts, copied_by=name)
        contexts[name] = contexts_of(ruleset, self.data, contexts)
        copies = [definition.copy_in(name) for definition in self.definitions[base.name]]
        return contexts, {**self.definitions, base.name: copies}


def contexts_of(ruleset: RuleSet, data: RuleData, known: Mapping[str, Contexts], copied_by: str = "") -> Contexts:
    """Return the contexts of a rule set, or those of the copies of its rules in the Schematron of another one.

    `known` are those of its base. Raise `RuleError` for invalid ones.
    """
    adopted = [data.sets[name] for name in ruleset.adopted]
    copies = data.sets[copied_by] if copied_by else None
    return Contexts(data.sets[ruleset.name], known.get(ruleset.base), adopted, copies)


@functools.lru_cache(maxsize=4)
def _rule_sets(data: RuleData, digests: tuple[str, ...]) -> RuleSets:
    """Read the rule sets once for each state of their files."""
    return RuleSets(data)


def build(
    data: RuleData, digests: Mapping[str, str], syntax: str, stack: Stack, copied_by: str = ""
) -> tuple[Any, ...]:
    """Return the parts of a program as plain data: layers, rules, source of the code, exact numbers, code lists.

    `digests` are those of the rule sets; `copied_by` is the rule set whose copies replace the rules of its base.
    """
    rule_sets = _rule_sets(data, tuple(digests.values()))
    contexts, definitions = rule_sets.contexts, rule_sets.definitions
    if copied_by:
        contexts, definitions = rule_sets.copied_by(copied_by)
    checked: list[tuple[Definition, CheckedRule]] = []
    for name, version in stack:
        if name not in rule_sets.sets:
            raise LookupError(f"unknown rule set '{name}'; known rule sets are {', '.join(rule_sets.sets)}")
        for definition in definitions[name]:
            if definition.in_version(version):
                rule = check_rule(definition, syntax, version, contexts[name])
                if rule:
                    checked.append((definition, rule))
    replaced = {code for definition, _ in checked for code in definition.data.get("replaces", ())}
    codes = {definition.code for definition, _ in checked}
    kept = [
        rule
        for definition, rule in checked
        if definition.code not in replaced and codes.isdisjoint(definition.yields_to)
    ]
    rows = [_layer(rule_sets.sets[name], version, digests[name], syntax, kept) for name, version in stack]
    return rows, *assemble(kept, syntax, dict(stack), data)


def assemble(
    rules: Sequence[CheckedRule], syntax: str, releases: Mapping[str, str] = NEWEST, data: RuleData | None = None
) -> tuple[Any, ...]:
    """Return the rules, the code, the exact numbers and the code lists (those of the releases).

    The code is the source of the functions by name, the names of those to run, the index of each rule by its global,
    and for each rule the source of the function that collects the occurrences of its operands.
    """
    source = generate(rules)
    indices = {name: index for index, name in enumerate(source.rules)}
    rows = [tuple(it.rule) for it in rules]
    return (
        rows,
        (dict(source.functions), tuple(source.contexts), indices, source.operands),
        source.numbers,
        bind(source.lists, releases, syntax, data),
    )


def _layer(ruleset: RuleSet, release: str, digest: str, syntax: str, rules: Sequence[CheckedRule]) -> tuple[Any, ...]:
    version = ruleset.version(release)
    count = sum(it.rule.layer == ruleset.name for it in rules)
    layer = Layer(
        ruleset.name,
        ruleset.kind,
        ruleset.label,
        version.number(syntax),
        version.specification,
        version.date,
        digest,
        count,
    )
    return tuple(layer)
