"""Finds changes that resolve findings: a bounded, deterministic search over candidates, each tried on the document."""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from einvoice.errors import UnreadableDocument
from einvoice.repair.candidates import candidates
from einvoice.repair.case import Candidate, Case
from einvoice.repair.edits import Edit, apply
from einvoice.repair.serialization import EditError
from einvoice.result import Finding

MAX_VALIDATIONS: Final = 48
"""Default limit of validations per search."""
MAX_SECONDS: Final = 10.0
"""Default time limit per search; only documents with thousands of lines reach it."""
_MAX_ALTERNATIVES: Final = 4
_WEIGHTS: Final = {"fatal": 100, "warning": 10, "information": 1}
_POSITION: Final = re.compile(r"\[[0-9]+\]")

Validate = Callable[[bytes], Case]


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate that was tried.

    Attributes:
        candidate: the candidate.
        edits: all edits that were applied.
        resolved: positions of the findings that it resolves.
        added: findings that it adds.
        after: the changed document.
    """

    candidate: Candidate
    edits: tuple[Edit, ...]
    resolved: frozenset[int]
    added: tuple[Finding, ...]
    after: Case


@dataclass(slots=True)
class Explained:
    """Findings with the same proven cause: the trials that resolve them, the best first."""

    resolved: frozenset[int]
    trials: list[Trial] = field(default_factory=list)


class Search:
    """A search for the changes that resolve the findings of a document.

    Args:
        case: the document.
        validate: validates a changed document; raises `UnreadableDocument`.
        limit: maximum number of validations.
        seconds: time limit.
    """

    def __init__(
        self, case: Case, validate: Validate, limit: int = MAX_VALIDATIONS, seconds: float = MAX_SECONDS
    ) -> None:
        self._case = case
        self._validate = validate
        self._limit = limit
        self._end = time.monotonic() + seconds
        self._tried: dict[frozenset[Edit], Trial | None] = {}
        self.validations = 0

    def run(self) -> list[Explained]:
        """Return the explained findings; the others have no change that was tried with success."""
        found: list[Explained] = []
        accepted: tuple[Edit, ...] = ()
        case, remaining = self._case, frozenset(range(len(self._case.findings)))
        while remaining and not self._exhausted():
            picked = self._picked(self._trials(case, accepted, remaining), remaining)
            joint = self._joint(accepted, picked)
            if joint is None:
                break
            found += picked
            accepted, case = joint.edits, joint.after
            remaining -= joint.resolved
        return found

    def _exhausted(self) -> bool:
        return self.validations >= self._limit or time.monotonic() > self._end

    def _trials(self, case: Case, accepted: tuple[Edit, ...], remaining: frozenset[int]) -> list[Trial]:
        """Try the candidates; once one resolves everything, only alternatives to it."""
        trials: list[Trial] = []
        complete = False
        for candidate in candidates(case):
            if complete and not candidate.alternative and candidate.rank != trials[-1].candidate.rank:
                continue
            if self._exhausted():
                break
            trial = self._try(candidate, accepted)
            if trial and not trial.added and trial.resolved & remaining:
                trials.append(trial)
                complete = complete or trial.resolved >= remaining
        return trials

    def _try(self, candidate: Candidate, accepted: tuple[Edit, ...]) -> Trial | None:
        edits = (*accepted, *candidate.edits)
        key = frozenset(edits)
        if key not in self._tried:
            self._tried[key] = self._outcome(candidate, edits)
        return self._tried[key]

    def _outcome(self, candidate: Candidate, edits: tuple[Edit, ...]) -> Trial | None:
        try:
            data = apply(self._case.data, edits)
        except EditError:
            return None
        self.validations += 1
        try:
            after = self._validate(data)
        except UnreadableDocument:
            return None
        resolved, added = compare(self._case.findings, after.findings)
        return Trial(candidate, edits, resolved, added, after)

    def _picked(self, trials: Sequence[Trial], remaining: frozenset[int]) -> list[Explained]:
        """Return disjoint causes, greedily: first the change that resolves the most and gravest findings."""
        picked: list[Explained] = []
        left = remaining
        while left:
            rated = [(self._weight(it.resolved & left), it) for it in trials if it.resolved & left]
            if not rated:
                break
            _, best = max(rated, key=lambda it: (it[0], -it[1].candidate.rank, -len(it[1].candidate.edits)))
            same = [
                it for it in trials if it.resolved == best.resolved and it is not best and _is_alternative(it, best)
            ]
            picked.append(Explained(best.resolved & left, [best, *same[: _MAX_ALTERNATIVES - 1]]))
            left -= best.resolved
        return picked

    def _weight(self, findings: Iterable[int]) -> int:
        return sum(_WEIGHTS[self._case.findings[it].severity] for it in findings)

    def _joint(self, accepted: tuple[Edit, ...], picked: list[Explained]) -> Trial | None:
        """Return the trial of all picked changes together; those that do not fit the others are dropped."""
        while picked:
            if len(picked) == 1:
                return picked[0].trials[0]
            edits = tuple(dict.fromkeys(edit for it in picked for edit in it.trials[0].candidate.edits))
            trial = self._try(Candidate(edits, 0), accepted)
            if trial and not trial.added and trial.resolved >= frozenset().union(*(it.resolved for it in picked)):
                return trial
            picked.pop()
        return None


def _is_alternative(trial: Trial, best: Trial) -> bool:
    return trial.candidate.alternative or trial.candidate.rank == best.candidate.rank


def compare(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[frozenset[int], tuple[Finding, ...]]:
    """Return the positions of the findings that are resolved, and the findings that are new.

    Findings are the same if they have the same code, severity and XPath; an edit can change the position of elements,
    so those left over are compared without positions.
    """
    left, new = list(enumerate(before)), list(after)
    for key in (_place, _kind_of_place):
        counts = Counter(map(key, new))
        unmatched = []
        for number, finding in left:
            if counts[key(finding)]:
                counts[key(finding)] -= 1
            else:
                unmatched.append((number, finding))
        left = unmatched
        remaining: defaultdict[tuple[str, ...], int] = defaultdict(int, counts)
        kept = []
        for finding in reversed(new):
            if remaining[key(finding)] > 0:
                remaining[key(finding)] -= 1
                kept.append(finding)
        new = kept[::-1]
    return frozenset(number for number, _ in left), tuple(new)


def _place(finding: Finding) -> tuple[str, ...]:
    return finding.code, finding.severity, finding.xpath


def _kind_of_place(finding: Finding) -> tuple[str, ...]:
    return finding.code, finding.severity, _POSITION.sub("", finding.xpath)
