"""Differences between the findings of two releases for the same invoice."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

from einvoice.result.finding import Finding
from einvoice.result.languages import Language
from einvoice.rulebook.releases import Release, Releases

Validate: TypeAlias = Callable[[Release], tuple[Finding, ...]]
Key: TypeAlias = tuple[str, str, str]
Side: TypeAlias = Literal["declared", "current"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A finding that only one of two releases reports.

    Attributes:
        finding: the finding; part of the findings of the result only if `only_in` is "declared".
        only_in: "declared" (the release that validated the invoice) or "current".
        changed_in: first release that behaves like the newer of the two.
        ruleset: rule set that changed in that release, such as "en16931" or "xrechnung".
    """

    finding: Finding
    only_in: Side
    changed_in: Release
    ruleset: str

    @property
    def version(self) -> str:
        """Release of that rule set, such as "1.3.10" or "2.0.0"."""
        return dict(self.changed_in.versions)[self.ruleset]

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return the difference as plain data, ready for JSON."""
        from einvoice.render.json import difference_dict

        return difference_dict(self, lang or self.finding.lang)


def compare(validate: Validate, declared: Release, current: Release, known: Releases) -> tuple[Difference, ...]:
    """Return the findings that only one of two releases of a rule set reports.

    The same rule with another severity at the same location is a difference, too. To find the release that caused a
    difference, the releases in between are validated as needed. `declared` may be newer than `current`.
    """
    sides: tuple[Side, Side] = ("declared", "current")
    steps = (declared, *known.between(declared, current))
    if current not in steps:
        sides = ("current", "declared")
        steps = (current, *known.between(current, declared))

    @cache
    def findings(step: int) -> dict[Key, Finding]:
        return {_key(finding): finding for finding in validate(steps[step])}

    first, last = findings(0), findings(len(steps) - 1)

    def difference(finding: Finding, only_in: Side) -> Difference:
        key = _key(finding)
        in_last = key in last
        step = bisect_left(range(len(steps)), True, key=lambda step: (key in findings(step)) is in_last)
        ruleset = finding.layer if finding.layer in dict(steps[step].base) else steps[step].ruleset
        if _flag(key, findings(step - 1)) == _flag(key, findings(step)):
            # The rule is unchanged: one release overrides its severity, which the base never does.
            ruleset = steps[step].ruleset
        return Difference(finding, only_in, steps[step], ruleset)

    removed = [difference(first[key], sides[0]) for key in first if key not in last]
    added = [difference(last[key], sides[1]) for key in last if key not in first]
    return (*removed, *added)


def _key(finding: Finding) -> Key:
    return finding.code, finding.severity, finding.xpath


def _flag(key: Key, findings: Mapping[Key, Finding]) -> str | None:
    """Return the rule's own severity if it reported a finding at the same location, else None."""
    code, _, xpath = key
    return next((it.flag for it in findings.values() if (it.code, it.xpath) == (code, xpath)), None)
