"""Build a program: read and check the rules of a folder, and compile the code that ``generate`` writes."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from einvoice.rulebook.files.contexts import Contexts
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.load import read_definitions
from einvoice.rulebook.files.versions import RuleSet, Version, read_ruleset
from einvoice.rulebook.language import bind
from einvoice.rulebook.program.generate import generate
from einvoice.rulebook.program.program import Layer
from einvoice.rulebook.program.typecheck import CheckedRule, check_rule
from einvoice.rulebook.rule import Rule

BASE: Final = "en16931"
"""The rule set whose contexts all other rule sets may use."""


class RuleSets:
    """The rule sets of a folder: their releases, contexts and rule definitions, by name."""

    def __init__(self, folder: Path) -> None:
        names = sorted((path.parent.name for path in folder.glob("*/ruleset.toml")), key=lambda name: name != BASE)
        self.sets: dict[str, RuleSet] = {name: read_ruleset(folder / name) for name in names}
        self.contexts: dict[str, Contexts] = {}
        self.definitions: dict[str, list[Definition]] = {}
        for name, ruleset in self.sets.items():
            self.contexts[name] = Contexts(folder / name, self.contexts.get(BASE))
            self.definitions[name] = read_definitions(folder / name, ruleset)

    def versions(self, selected: Mapping[str, str]) -> dict[str, Version]:
        """Return the release of every rule set: the selected one, the one it refers to, or the newest.

        Raises:
            LookupError: unknown rule set or release.
        """
        for name in selected:
            if name not in self.sets:
                raise LookupError(f"unknown rule set '{name}'; known rule sets are {', '.join(self.sets)}")
        versions = {
            name: ruleset.versions[ruleset.index_of(selected.get(name, ruleset.newest))]
            for name, ruleset in self.sets.items()
        }
        for name in selected:
            if BASE not in selected and versions[name].en16931:
                versions[BASE] = self.sets[BASE].versions[self.sets[BASE].index_of(versions[name].en16931)]
        return versions


@functools.lru_cache(maxsize=4)
def _rule_sets(folder: Path, digests: tuple[str, ...]) -> RuleSets:
    """Read the rule sets of ``folder`` once for each state of its files."""
    return RuleSets(folder)


def build(
    folder: Path, digests: Mapping[str, str], syntax: str, layers: tuple[str, ...], selected: Mapping[str, str]
) -> tuple[Any, ...]:
    """Return the parts of a program as plain data: layers, rules, code object, exact numbers, code lists.

    ``digests`` are those of the rule sets, ``selected`` are the releases that are not the default.
    """
    rule_sets = _rule_sets(folder, tuple(digests.values()))
    versions = rule_sets.versions(selected)
    checked: list[tuple[Definition, CheckedRule]] = []
    for name, definitions in rule_sets.definitions.items():
        version = versions[name].name
        for definition in definitions:
            if definition.layer in layers and definition.in_version(version):
                rule = check_rule(definition, syntax, version, rule_sets.contexts[name])
                if rule:
                    checked.append((definition, rule))
    replaced = {code for definition, _ in checked for code in definition.data.get("replaces", ())}
    kept = [rule for definition, rule in checked if definition.code not in replaced]
    rows = [_layer(layer, rule_sets, versions, digests, [it.rule for it in kept]) for layer in layers]
    release = versions[BASE].name if BASE in versions else None
    return rows, *assemble(kept, syntax, release)


def assemble(rules: Sequence[CheckedRule], syntax: str, release: str | None = None) -> tuple[Any, ...]:
    """Return the rules, the code object, the exact numbers and the code lists (those of a release of EN 16931)."""
    source, numbers, lists = generate(rules)
    code = compile(source, f"<rules for {syntax}>", "exec")
    return [tuple(it.rule) for it in rules], code, numbers, bind(lists, release, syntax)


def _layer(
    layer: str,
    rule_sets: RuleSets,
    versions: Mapping[str, Version],
    digests: Mapping[str, str],
    rules: Sequence[Rule],
) -> tuple[Any, ...]:
    """Return the row of a layer: the first rule set with that layer, its release, and the number of rules."""
    for name, definitions in rule_sets.definitions.items():
        if any(definition.layer == layer for definition in definitions):
            release, title = versions[name], rule_sets.sets[name].title
            count = sum(rule.layer == layer for rule in rules)
            return tuple(
                Layer(layer, name, release.name, release.specification, release.date, title, digests[name], count)
            )
    raise LookupError(f"no rule set has the layer '{layer}'")
