"""What changed between two releases of the rules: which are new, gone, or judge otherwise."""

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

Readings: TypeAlias = dict[str, list[Any]]
"""What the rules of a release say, by their codes: equal where they judge alike."""


class Changes(NamedTuple):
    """The codes of the rules that only the newer release has, of those that only the older one has, and of the others
    that judge otherwise: by another condition, with another severity, at another place, or by other codes of a list.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]


def changes(old: Release, new: Release) -> Changes:
    """What changed from one release to another; in those of XRechnung also by the EN 16931 rules that go with them."""
    shelf = RuleSets(rules_folder())
    before, after = (_readings(shelf, release) for release in (old, new))
    return Changes(
        _sorted(after.keys() - before.keys()),
        _sorted(before.keys() - after.keys()),
        _sorted({code for code in before.keys() & after.keys() if before[code] != after[code]}),
    )


def _sorted(found: set[str]) -> tuple[str, ...]:
    return tuple(sorted(found, key=natural))


def _readings(shelf: RuleSets, release: Release) -> Readings:
    versions = {CORE: release.core}
    if release.ruleset == NATIONAL:
        versions[NATIONAL] = release.version
    found: Readings = {}
    for name, version in versions.items():
        for code, said in (*_sentences(shelf, name, version), *_rows(name, version)):
            found.setdefault(code, []).append(said)
    return found


def _sentences(shelf: RuleSets, name: str, version: str) -> Iterator[tuple[str, Any]]:
    """The rules of the rule files of a release, in each syntax that can break them."""
    contexts = shelf.contexts[name]
    for definition in shelf.definitions[name]:
        if not definition.in_version(version):
            continue
        for syntax in SYNTAXES:
            it = definition.sentence(syntax, version)
            place = contexts.get(it.context, syntax, version) if it.context in contexts.names else None
            if not it.not_applicable and not (place and place.not_applicable):
                at = (place.loops, place.where, place.unless) if place else ()
                yield it.code, (syntax, it.severity, at, dict(it.let), it.when, it.assertion)


def _rows(name: str, version: str) -> Iterator[tuple[str, Any]]:
    """The rules about elements of a release, with the codes of their lists."""
    for syntax in SYNTAXES:
        for path in sorted((rules_folder() / "syntax").glob(f"{syntax.lower()}*.csv")):
            if path.stem.endswith("national") != (name == NATIONAL):
                continue
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    if holds(row["since"], row["until"], version):
                        known = codes(row["argument"], version, syntax) if path.stem.endswith("codes") else ()
                        yield row["code"], (syntax, *list(row.values())[1:6], known)
