"""Imported releases: newer ones of a shipped rule set, made of its rules and of imported assertions.

Of each assertion of the imported sheet, its fingerprint says whether a known release of einvoice has the same one. Then
the rule of einvoice judges. Assertions that are changed or new are judged as imported, and rules whose assertion the
sheet does not have any more do not apply. `einvoice.rulebook.recognition` compares.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from einvoice.resources import MANIFEST_RELEASES, RuleData


@dataclass(frozen=True, slots=True)
class Part:
    """An imported release in one syntax.

    Attributes:
        syntax: "UBL" or "CII".
        unchanged: number of codes that the rules of einvoice judge.
        changed: codes that it has with other assertions.
        added: codes that the release of einvoice does not have.
        removed: codes that only the release of einvoice has.
        sha256: of the sheet, in hexadecimal digits; it tells which of the imported sheets it is.
    """

    syntax: str
    unchanged: int
    changed: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    sha256: str = ""

    @property
    def imported(self) -> frozenset[str]:
        """The codes that the imported sheet judges."""
        return frozenset((*self.changed, *self.added))

    @property
    def replaced(self) -> frozenset[str]:
        """The codes that the rules of einvoice do not judge."""
        return self.imported.union(self.removed)

    @property
    def is_identical(self) -> bool:
        """Whether the rules of einvoice judge all of it."""
        return not self.replaced


@dataclass(frozen=True, slots=True)
class ImportedRelease:
    """An imported release of a shipped rule set.

    Attributes:
        ruleset: name of the rule set, such as "en16931".
        version: of the rules, such as "1.3.17".
        native: the release of einvoice whose rules judge what is unchanged, such as "1.3.16".
        day: of the import, ISO 8601.
        base: the release of the rule set that it builds on; "" for the newest.
        announced: whether it applies only if it is selected.
        parts: by syntax; in a syntax without one, it is as `native`.
    """

    ruleset: str
    version: str
    native: str
    day: str
    base: str
    announced: bool
    parts: tuple[Part, ...]

    def part(self, syntax: str) -> Part | None:
        """Return the part for a syntax."""
        return next((it for it in self.parts if it.syntax == syntax), None)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> ImportedRelease:
        """Return the release from the output of `dataclasses.asdict`."""
        names = ("changed", "added", "removed")
        parts = (Part(**{**it, **{name: tuple(it[name]) for name in names}}) for it in plain["parts"])
        return cls(**{**plain, "parts": tuple(parts)})


@functools.lru_cache(maxsize=16)
def _read(manifests: tuple[bytes, ...]) -> tuple[ImportedRelease, ...]:
    import json  # imported on use: few have imported releases

    plain = sorted(map(json.loads, manifests), key=lambda it: str(it["added"]))
    return tuple(ImportedRelease.from_plain(it) for manifest in plain for it in manifest[MANIFEST_RELEASES])


def imported_releases(data: RuleData) -> tuple[ImportedRelease, ...]:
    """Return the imported releases of the rule data, in the order in which they were imported.

    Manifests that have been damaged have none.
    """
    if not data.manifests:
        return ()
    try:
        return _read(data.manifests)
    except (KeyError, TypeError, ValueError):
        return ()
