"""The changes between two releases: rules that were added, removed or changed."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from einvoice.codelists import codes, holds
from einvoice.resources import rules_folder
from einvoice.rulebook.files.load import natural
from einvoice.rulebook.program.build import RuleSets
from einvoice.rulebook.releases import CORE, NATIONAL, Release
from einvoice.rulebook.rule import SYNTAXES

Definitions: TypeAlias = dict[str, list[Any]]
"""The definitions of the rules of a release, by code: the parts that decide the result."""


class Changes(NamedTuple):
    """The codes of changed rules.

    Attributes:
        added: rules of the newer release only.
        removed: rules of the older release only.
        changed: rules with another condition, severity, context or code list.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]


def changes(old: Release, new: Release) -> Changes:
    """Return the changes from one release to another, including those of the EN 16931 rules of XRechnung releases."""
    rule_sets = RuleSets(rules_folder())
    before, after = (_definitions(rule_sets, release) for release in (old, new))
    return Changes(
        _sorted(after.keys() - before.keys()),
        _sorted(before.keys() - after.keys()),
        _sorted({code for code in before.keys() & after.keys() if before[code] != after[code]}),
    )


def _sorted(found: set[str]) -> tuple[str, ...]:
    return tuple(sorted(found, key=natural))


def _definitions(rule_sets: RuleSets, release: Release) -> Definitions:
    versions = {CORE: release.core}
    if release.ruleset == NATIONAL:
        versions[NATIONAL] = release.version
    definitions: Definitions = {}
    for name, version in versions.items():
        for code, definition in (*_sentences(rule_sets, name, version), *_rows(name, version)):
            definitions.setdefault(code, []).append(definition)
    return definitions


def _sentences(rule_sets: RuleSets, name: str, version: str) -> Iterator[tuple[str, Any]]:
    """Yield the rules of the rule files of a release, in each syntax in which they apply."""
    contexts = rule_sets.contexts[name]
    for definition in rule_sets.definitions[name]:
        if not definition.in_version(version):
            continue
        for syntax in SYNTAXES:
            it = definition.sentence(syntax, version)
            context = contexts.get(it.context, syntax, version) if it.context in contexts.names else None
            if not it.not_applicable and not (context and context.not_applicable):
                items = (context.loops, context.where, context.unless) if context else ()
                yield it.code, (syntax, it.severity, items, dict(it.let), it.when, it.assertion)


def _rows(name: str, version: str) -> Iterator[tuple[str, Any]]:
    """Yield the syntax rules of a release, with the codes of their lists."""
    for syntax in SYNTAXES:
        for path in sorted((rules_folder() / "syntax").glob(f"{syntax.lower()}*.csv")):
            if path.stem.endswith("national") != (name == NATIONAL):
                continue
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    if holds(row["since"], row["until"], version):
                        listed = codes(row["argument"], version, syntax) if path.stem.endswith("codes") else ()
                        yield row["code"], (syntax, *list(row.values())[1:6], listed)
