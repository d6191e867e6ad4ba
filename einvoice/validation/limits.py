"""Limits on the number of findings of one document.

Broken exports repeat the same error, and a document can be made to have any number of them. The verdict does not
change: at least one finding of each code and severity is kept. The last one kept states how many are omitted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from einvoice.result import Finding

if TYPE_CHECKING:
    from einvoice.result.differences import Difference

MAX_PER_CODE: Final = 100
"""Maximum number of findings with the same code and severity."""
MAX_FINDINGS: Final = 1000
"""Maximum number of findings of a document, unless it has more different codes."""


class FindingsByCode:
    """Builds the first findings of each code and severity and counts the others.

    Args:
        limit: maximum number of findings per code and severity.
    """

    def __init__(self, limit: int = MAX_PER_CODE) -> None:
        self._limit = limit
        self._findings: dict[tuple[str, str], list[Finding]] = {}
        self._counts: dict[tuple[str, str], int] = {}

    def add(self, code: str, severity: str, build: Callable[[], Finding]) -> None:
        """Add the finding that `build` returns, or count it."""
        key = code, severity
        self._counts[key] = count = self._counts.get(key, 0) + 1
        if count <= self._limit:
            self._findings.setdefault(key, []).append(build())

    def findings(self) -> list[Finding]:
        """Return the findings, ordered by the first of each code."""
        result: list[Finding] = []
        for key, kept in self._findings.items():
            result += [*kept[:-1], _counting(kept[-1], self._counts[key] - len(kept))]
        return result


def limited(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings within all limits, in the same order: the first of each code, then errors, then others."""
    if len(findings) <= MAX_PER_CODE:
        return tuple(findings)
    return tuple(_counting(findings[position], omitted) for position, omitted in _selected(findings))


def limited_differences(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    """Return the differences whose findings are within the limits of `limited`."""
    selected = _selected([it.finding for it in differences])
    return tuple(replace(differences[at], finding=_counting(differences[at].finding, n)) for at, n in selected)


def _selected(findings: Sequence[Finding]) -> list[tuple[int, int]]:
    """Return the positions of the findings to keep, each with the number of omitted findings that it states."""
    numbers: Counter[tuple[str, str]] = Counter()
    candidates = []
    for position, it in enumerate(findings):
        numbers[it.code, it.severity] += 1
        number = numbers[it.code, it.severity]
        if number <= MAX_PER_CODE:
            candidates.append((number > 1, it.severity != "fatal", position))
    required = sum(not repeated for repeated, _, _ in candidates)
    kept = sorted(position for _, _, position in sorted(candidates)[: max(MAX_FINDINGS, required)])
    omitted = numbers - Counter((findings[at].code, findings[at].severity) for at in kept)
    last = {(findings[at].code, findings[at].severity): at for at in kept}
    counts = {at: omitted[key] for key, at in last.items()}
    return [(at, counts.get(at, 0)) for at in kept]


def _counting(finding: Finding, omitted: int) -> Finding:
    """Return the finding with `omitted` more findings that are not reported."""
    return replace(finding, suppressed=finding.suppressed + omitted) if omitted else finding
