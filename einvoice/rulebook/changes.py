"""The changes between two releases: rules that were added, removed or changed."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from einvoice.codelists import codes, holds, names, ruleset_of
from einvoice.resources import RuleData, shipped
from einvoice.rulebook.files.load import natural
from einvoice.rulebook.files.tables import tables
from einvoice.rulebook.program.build import RuleSets
from einvoice.rulebook.releases import Release

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


def changes(old: Release, new: Release, data: RuleData | None = None) -> Changes:
    """Return the changes from one release to another, including those of the rule sets that they build on.

    Only the syntaxes of the newer release count: Peppol has no CII, and the CII rules of EN 16931 do not concern it.
    """
    rule_sets = RuleSets(data or shipped())
    syntaxes = rule_sets.sets[new.ruleset].syntaxes
    before, after = (_with_imported(_definitions(rule_sets, it, syntaxes), it, syntaxes) for it in (old, new))
    return Changes(
        _sorted(after.keys() - before.keys()),
        _sorted(before.keys() - after.keys()),
        _sorted({code for code in before.keys() & after.keys() if before[code] != after[code]}),
    )


def _sorted(found: set[str]) -> tuple[str, ...]:
    return tuple(sorted(found, key=natural))


def _definitions(rule_sets: RuleSets, release: Release, syntaxes: Iterable[str]) -> Definitions:
    versions = dict(release.native)
    for name, ruleset in rule_sets.sets.items():
        if ruleset.shares_releases and ruleset.base in versions:
            versions[name] = versions[ruleset.base]
    definitions: Definitions = {}
    for name, version in versions.items():
        for syntax in syntaxes:
            resolved = _resolved(rule_sets, name, version, syntax)
            for code, definition in (*resolved, *_rows(rule_sets.data, name, versions, syntax)):
                definitions.setdefault(code, []).append(definition)
    return definitions


def _with_imported(definitions: Definitions, release: Release, syntaxes: Iterable[str]) -> Definitions:
    """Return the definitions in an imported release: of a code that its sheet judges, the release is one."""
    for imported in release.imported:
        for part in (it for it in imported.parts if it.syntax in syntaxes):
            for code in part.replaced & definitions.keys():
                definitions[code] = [it for it in definitions[code] if it[0] != part.syntax]
            for code in part.imported:
                definitions.setdefault(code, []).append((part.syntax, imported.ruleset, imported.version))
    return {code: found for code, found in definitions.items() if found}


def _resolved(rule_sets: RuleSets, name: str, version: str, syntax: str) -> Iterator[tuple[str, Any]]:
    """Yield the rules of the rule files of a release that apply in a syntax."""
    contexts = rule_sets.contexts[name]
    for definition in rule_sets.definitions[name]:
        if not definition.in_version(version):
            continue
        it = definition.resolved(syntax, version)
        context = contexts.get(it.context, syntax, version) if it.context in contexts.names else None
        if not it.not_applicable and not (context and context.not_applicable):
            items = (context.loops, context.where, context.unless) if context else ()
            yield it.code, (syntax, it.severity, items, dict(it.let), it.when, it.assertion)


def _rows(data: RuleData, name: str, versions: Mapping[str, str], syntax: str) -> Iterator[tuple[str, Any]]:
    """Yield the syntax rules of a release, with the codes of their lists."""
    lists = names(data)
    for path in tables(data.sets[name], syntax):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if holds(row["since"], row["until"], versions[name]):
                    code_list = row["argument"].partition(" ")[0]
                    release = versions.get(ruleset_of(code_list, data)) if code_list in lists else None
                    listed = codes(code_list, release, syntax, data) if code_list in lists else ()
                    yield row["code"], (syntax, *list(row.values())[1:6], listed)
