"""The rule book: loads compiled programs from the cache, or builds them from the rule files.

The compiler is imported only if a program is not in the cache.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from einvoice.resources import rules_folder
from einvoice.rulebook import cache
from einvoice.rulebook.program.program import Layer, Program

LAYERS: Final = ("en16931", "cius")


class RuleBook:
    """The rule sets of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._programs: dict[tuple[Any, ...], Program] = {}
        self._digests: dict[str, str] = {}

    def program(
        self, syntax: str, layers: Sequence[str] = LAYERS, versions: Mapping[str, str] | None = None
    ) -> Program:
        """Return the rules of ``layers`` for ``UBL`` or ``CII``.

        ``versions`` selects releases by rule set (``{"xrechnung": "2.5.0"}``). The default for EN 16931 is the release
        that the selected one refers to, and the newest release for the other rule sets.

        Raises:
            LookupError: unknown release or layer.
            RuleError: invalid rule file.
        """
        key = (syntax, tuple(layers), tuple(sorted((versions or {}).items())))
        if key not in self._programs:
            self._programs[key] = self._program(*key)
        return self._programs[key]

    def _program(self, syntax: str, layers: tuple[str, ...], versions: tuple[tuple[str, str], ...]) -> Program:
        key = cache.key(repr((syntax, layers, versions)), *(self.digest(name) for name in (*self.sets, "codelists")))
        stored = cache.load(f"program-{syntax}", key)
        if stored is None:
            from einvoice.rulebook.program.build import build

            stored = build(self.folder, {name: self.digest(name) for name in self.sets}, syntax, layers, dict(versions))
            cache.store(f"program-{syntax}", key, stored)
        rows, *compiled = stored
        return Program([Layer(*row) for row in rows], *compiled)

    @functools.cached_property
    def sets(self) -> tuple[str, ...]:
        """Names of the folders that hold a rule set."""
        return tuple(sorted(path.parent.name for path in self.folder.glob("*/ruleset.toml")))

    def digest(self, name: str) -> str:
        """Return the SHA-256 of the data of a rule set: all TOML and CSV files in its folder."""
        if name not in self._digests:
            files = [path for path in (self.folder / name).glob("*.*") if path.suffix in (".toml", ".csv")]
            self._digests[name] = cache.digest(sorted(files))
        return self._digests[name]


@functools.cache
def rulebook() -> RuleBook:
    """Return the rule book of the installed rules."""
    return RuleBook(rules_folder())
