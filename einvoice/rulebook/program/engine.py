"""The rule book: loads compiled programs from the cache or the wheel, or builds them from the rule files.

The compiler of rules is imported only if neither has a program.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from einvoice.resources import RuleData, shipped
from einvoice.rulebook import cache
from einvoice.rulebook.files.versions import read_rulesets
from einvoice.rulebook.program.program import Layer, Program, with_code


class RuleBook:
    """The compiled rules of the rule data."""

    def __init__(self, data: RuleData) -> None:
        self.data = data
        self._programs: dict[tuple[str, tuple[tuple[str, str], ...], str], Program] = {}
        self._digests: dict[str, str] = {}

    def program(self, syntax: str, stack: Iterable[tuple[str, str]], copied_by: str = "") -> Program:
        """Return the rules for `UBL` or `CII` of a stack: rule sets, each with its release.

        `copied_by` is the rule set of the stack whose copies replace the rules of its base; by default, none do.

        Raises:
            LookupError: unknown rule set or release.
            RuleError: invalid rule file.
        """
        key = syntax, tuple(stack), copied_by
        if key not in self._programs:
            self._programs[key] = self._program(*key)
        return self._programs[key]

    def _program(self, syntax: str, stack: tuple[tuple[str, str], ...], copied_by: str) -> Program:
        def derive() -> tuple[Any, ...]:
            from einvoice.rulebook.program.build import build

            return build(self.data, self.digests, syntax, stack, copied_by)

        name, parts = f"program-{syntax}", (repr((syntax, stack, copied_by)), *self.digests.values())
        key = cache.key(*parts)
        stored = cache.load(name, key)
        if stored is None:
            stored = with_code(cache.built(name, lambda: cache.state(*parts), derive))
            cache.store(name, key, stored)
        rows, *program = stored
        return Program([Layer(*row) for row in rows], *program)

    @functools.cached_property
    def digests(self) -> Mapping[str, str]:
        """The SHA-256 of the data of each rule set: TOML and CSV files in its folder, code lists and syntax rules.

        That of a rule set that adopts rules includes the rule data that it adopts them from.
        """
        sets = read_rulesets(self.data.sets)
        own = {name: _files(folder) for name, folder in self.data.sets.items()}
        files = {name: [*own[name], *(path for it in sets[name].adopted for path in own[it])] for name in sorted(own)}

        def derive() -> dict[str, str]:
            return {name: cache.sha256(paths) for name, paths in files.items()}

        return cache.derived(
            "digests", sorted(path for paths in own.values() for path in paths), derive, in_wheel=False
        )


def _files(folder: Path) -> list[str]:
    schematron = folder / "schematron"
    return [
        *cache.listed(folder, ".toml", ".csv"),
        *cache.listed(schematron, ".toml"),
        *(path for base in cache.listed(schematron, "") for path in cache.listed(base, ".toml")),
        *cache.listed(folder / "codelists", ".csv"),
        *cache.listed(folder / "stops", ".csv"),
        *cache.listed(folder / "syntax", ".csv", "conditions.toml"),
    ]


@functools.cache
def rulebook(data: RuleData | None = None) -> RuleBook:
    """Return the rule book of the rule data, by default of the shipped one."""
    return RuleBook(data or shipped())
