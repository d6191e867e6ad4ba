"""What two releases of the rules find differently in the same invoice, and which release changed it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

from einvoice.result.finding import Finding
from einvoice.result.languages import Language
from einvoice.rulebook.releases import CORE, Release, between

Judge: TypeAlias = Callable[[Release], tuple[Finding, ...]]
Key: TypeAlias = tuple[str, str, str]
Side: TypeAlias = Literal["declared", "current"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A finding that only one of the two has.

    Attributes:
        finding: the finding; it is among those of the result only if `only_in` is "declared".
        only_in: "declared" (the rules that judged the invoice) or "current" (those of today).
        changed_in: the release from which on it is as it is in the newer one of the two.
        ruleset: the rule set whose release changed it, "en16931" or "xrechnung".
    """

    finding: Finding
    only_in: Side
    changed_in: Release
    ruleset: str

    @property
    def version(self) -> str:
        """The release of that rule set, such as "1.3.10" or "2.0.0"."""
        return self.changed_in.core if self.ruleset == CORE else self.changed_in.version

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """The difference as the HTTP interface answers it, ready for JSON."""
        changed = {
            "ruleset": self.ruleset,
            "version": self.version,
            "specification": self.changed_in.specification,
            "date": self.changed_in.date,
        }
        return {**self.finding.to_dict(lang), "only_in": self.only_in, "changed_in": changed}


def compare(judge: Judge, declared: Release, current: Release) -> tuple[Difference, ...]:
    """What `judge` finds by one of two releases of a rule set and not by the other; ``declared`` may be announced.

    Releases between the two are asked where there is a difference, to find out which one made it. The same rule at the
    same place is a difference too if its severity is another one.
    """
    sides: tuple[Side, Side] = ("declared", "current")
    steps = (declared, *between(declared, current))
    if current not in steps:
        sides = ("current", "declared")
        steps = (current, *between(current, declared))

    @cache
    def found(step: int) -> dict[Key, Finding]:
        return {_key(finding): finding for finding in judge(steps[step])}

    first, last = found(0), found(len(steps) - 1)

    def difference(finding: Finding, only_in: Side) -> Difference:
        key = _key(finding)
        at_last = key in last
        step = bisect_left(range(len(steps)), True, key=lambda step: (key in found(step)) is at_last)
        ruleset = CORE if finding.layer == CORE else steps[step].ruleset
        if _flag(key, found(step - 1)) == _flag(key, found(step)):
            # The rule is as it was: its severity is overridden in one of the two, which EN 16931 never does.
            ruleset = steps[step].ruleset
        return Difference(finding, only_in, steps[step], ruleset)

    gone = [difference(first[key], sides[0]) for key in first if key not in last]
    come = [difference(last[key], sides[1]) for key in last if key not in first]
    return (*gone, *come)


def _key(finding: Finding) -> Key:
    return finding.code, finding.severity, finding.xpath


def _flag(key: Key, found: Mapping[Key, Finding]) -> str | None:
    """The severity that the rule itself has where it found something at the same place; None if it did not."""
    code, _, xpath = key
    return next((it.flag for it in found.values() if (it.code, it.xpath) == (code, xpath)), None)
