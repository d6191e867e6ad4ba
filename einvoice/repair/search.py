"""Finds changes that resolve findings: a bounded, deterministic search over proposals, each tried on the document."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from einvoice.causes.collection import Limit
from einvoice.editing.edits import Edit, Insert, Remove, SetAttribute, SetText, apply
from einvoice.editing.serialization import EditError
from einvoice.errors import UnreadableDocument
from einvoice.repair.case import Case, needs_no_action, plain_path
from einvoice.repair.loss import loses_terms
from einvoice.repair.proposal import Proposal
from einvoice.repair.proposals import proposals
from einvoice.result import Finding

MAX_VALIDATIONS: Final = 48
"""Default limit of validations per search."""
MAX_SECONDS: Final = 10.0
"""Default time limit per search; only documents with thousands of lines reach it."""
_RESERVE: Final = 6
"""Validations kept for changes that were found, tried together and alone."""
_MAX_ALTERNATIVES: Final = 4
_MAX_LEFT_OUT: Final = 4
"""Maximum number of changes accepted before that are left out one by one."""
_WEIGHTS: Final = {"fatal": 100, "warning": 10, "information": 1}
_POSITION: Final = re.compile(r"\[[0-9]+\]")

UNMAPPED: Final = "CONTENT-UNCOVERED"
_SCHEMA: Final = "schema"
_DECIMAL: Final = re.compile(r"[+-]?[0-9]+\.[0-9]+", re.ASCII)


_Set: Final = (SetText, SetAttribute)

T = TypeVar("T")
Validate = Callable[[bytes], Case]


@dataclass(frozen=True, slots=True)
class Trial:
    """A change that resolves findings and adds none.

    Attributes:
        proposals: what was changed; all but the last one were accepted before.
        resolved: positions of the findings that it resolves.
        after: the changed document.
    """

    proposals: tuple[Proposal, ...]
    resolved: frozenset[int]
    after: Case

    @property
    def proposal(self) -> Proposal:
        """The proposal that was tried."""
        return self.proposals[-1]

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits of all proposals."""
        return _edits(self.proposals)


@dataclass(slots=True)
class Explained:
    """Findings with the same proven cause: the trials that resolve them, the best first."""

    resolved: frozenset[int]
    trials: list[Trial] = field(default_factory=list)


class Search:
    """A search for the changes that resolve the findings of a document.

    Each round tries the proposals for the findings that remain, and picks changes of different findings that can be
    made together. The next round starts from the document with these changes, as calculated amounts depend on them.

    Args:
        case: the document.
        validate: validates a changed document; raises `UnreadableDocument`.
        limit: maximum number of validations.
        seconds: time limit.
        step: duration of a validation of the document in seconds; a step that would exceed the time limit is not begun.

    Attributes:
        validations: number of validations so far.
        ended_by: the limit that ended the search before all proposals were tried; "" if none did.
    """

    def __init__(
        self,
        case: Case,
        validate: Validate,
        limit: int = MAX_VALIDATIONS,
        seconds: float = MAX_SECONDS,
        step: float = 0,
    ) -> None:
        self._case = case
        self._validate = validate
        self._limit = limit
        self._end = time.monotonic() + seconds
        self._step = step
        self._tried: dict[frozenset[Edit], Trial | None] = {}
        self.validations = 0
        self.ended_by: Limit = ""

    def run(self) -> list[Explained]:
        """Return the explained findings; the others have no change that was tried with success."""
        found: list[Explained] = []
        accepted: tuple[Proposal, ...] = ()
        is_guess = False
        allowed = frozenset(number for number, it in enumerate(self._case.findings) if needs_no_action(it))
        case, remaining = self._case, frozenset(range(len(self._case.findings))) - allowed
        while remaining and not self._exhausted(_RESERVE):
            picked = self._picked(self._trials(case, accepted, remaining, is_guess), remaining)
            # An unambiguous change can show that another one explains the findings of a question, too.
            picked = [it for it in picked if len(it.trials) == 1] or picked
            joint = self._joint(accepted, picked)
            if joint is None:
                break
            self._add_consequences(picked, joint, remaining)
            is_guess = is_guess or any(len(it.trials) > 1 for it in picked)
            found += picked
            remaining -= joint.resolved
            case, accepted = joint.after, joint.proposals
        for explained in found:
            explained.trials = [self._alone(trial, explained.resolved) for trial in explained.trials]
            explained.resolved |= allowed.intersection(*(trial.resolved for trial in explained.trials))
            allowed -= explained.resolved
        return found

    def _add_consequences(self, picked: list[Explained], joint: Trial, remaining: frozenset[int]) -> None:
        """Add each finding that only several changes together resolve to the last one of its terms, or the last."""
        explained = frozenset().union(*(it.resolved for it in picked))
        for number in (joint.resolved & remaining) - explained:
            terms = {*self._case.findings[number].terms}
            owner = next((it for it in reversed(picked) if terms & {*it.trials[0].proposal.terms}), picked[-1])
            own = owner.trials[0].proposal
            owner.resolved |= {number}
            others = (it for it in joint.proposals if it is not own)
            owner.trials = [Trial((*others, own), joint.resolved, joint.after)]

    def _exhausted(self, reserve: int = 0) -> bool:
        """Return whether a limit ends the search here, and keep which one does."""
        reached: Limit = "time" if time.monotonic() + self._step > self._end else ""
        if self.validations + reserve >= self._limit:
            reached = "validations"
        self.ended_by = self.ended_by or reached
        return bool(reached)

    def _trials(
        self, case: Case, accepted: tuple[Proposal, ...], remaining: frozenset[int], is_guess: bool
    ) -> list[Trial]:
        """Try the proposals; once one resolves everything, only alternatives to it.

        If a change accepted before is a guess, no amounts are calculated from it.
        """
        trials: list[Trial] = []
        complete = False
        groups = _alike(proposals(case, self._end - self._step))
        self._exhausted()  # proposals may be missing
        for group in groups:
            first = group[0]
            if is_guess and first.is_total:
                continue
            if complete and not first.alternative and first.rank != trials[-1].proposal.rank:
                continue
            if trials and first.is_fallback:
                continue
            for trial in self._trials_of(group, accepted):
                if trial.resolved & remaining:
                    trials.append(trial)
                    complete = complete or trial.resolved >= remaining
        return trials

    def _trials_of(self, group: Sequence[Proposal], accepted: tuple[Proposal, ...]) -> Iterator[Trial]:
        """Try the same change at several places: the first one, then all together, then the others."""
        together: Trial | None = None
        for number, proposal in enumerate(group):
            if self._exhausted(_RESERVE) or (together and number):
                return
            trial = self._try((*accepted, proposal))
            if trial:
                yield trial
            if len(group) > 1 and not number:
                together = self._try((*accepted, _joined(group)))
                if together and trial and together.resolved <= trial.resolved:
                    together = None
                elif together:
                    yield together

    def _try(self, tried: tuple[Proposal, ...]) -> Trial | None:
        key = frozenset(_edits(tried))
        if key not in self._tried:
            self._tried[key] = self._outcome(tried)
        known = self._tried[key]
        return known and Trial(tried, known.resolved, known.after)

    def _outcome(self, tried: tuple[Proposal, ...]) -> Trial | None:
        if self._exhausted():
            return None
        start = time.monotonic()
        try:
            return self._validated(tried)
        finally:
            self._step = max(self._step, time.monotonic() - start)

    def _validated(self, tried: tuple[Proposal, ...]) -> Trial | None:
        edits = _edits(tried)
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
        if self._adds_unmapped(after) or any(not self._reduces(code, after) for code in tried[-1].required):
            return None
        if not resolved or added:
            return None
        turned = (term for proposal in tried for term in proposal.turned)
        return None if loses_terms(self._case, after, edits, turned) else Trial(tried, resolved, after)

    def _adds_unmapped(self, after: Case) -> bool:
        """Return whether an edit makes content that no business term covers, such as by another name of an element."""
        return not _unmapped(after) <= _unmapped(self._case)

    def _reduces(self, code: str, after: Case) -> bool:
        before, remaining = (_totals(it for it in case.findings if it.code == code) for case in (self._case, after))
        return remaining[code] < before[code]

    def _picked(self, trials: Sequence[Trial], remaining: frozenset[int]) -> list[Explained]:
        """Return disjoint causes, greedily: first the change that resolves the most and gravest findings."""
        picked: list[Explained] = []
        left = remaining
        trials = [it for it in trials if not self._removes_what_others_correct(it, trials)]
        while left:
            rated = [
                (self._weight(it.resolved & left), it) for it in trials if it.resolved & left and not it.proposal.beside
            ]
            if not rated:
                break
            _, best = max(rated, key=lambda it: (it[0], *(-n for n in it[1].proposal.rank), -len(it[1].proposal.edits)))
            same = _distinct([best, *(it for it in trials if it is not best and _is_alternative(it, best))])
            picked.append(Explained(best.resolved & left, same[:_MAX_ALTERNATIVES]))
            left -= best.resolved
        return picked

    def _removes_what_others_correct(self, trial: Trial, trials: Sequence[Trial]) -> bool:
        """Return whether a removal resolves a finding graver than the one that demands it, as another value does, too.

        An example is a warning about an amount that EN 16931 does not have, and an error about its currency.
        """
        refused = trial.proposal.refused
        if refused is None:
            return False
        graver = {it for it in trial.resolved if self._weight((it,)) > _WEIGHTS[refused.severity]}
        return any(_sets_values(it.proposal) and not graver.isdisjoint(it.resolved) for it in trials)

    def _weight(self, findings: Iterable[int]) -> int:
        return sum(_WEIGHTS[self._case.findings[it].severity] for it in findings)

    def _joint(self, accepted: tuple[Proposal, ...], picked: list[Explained]) -> Trial | None:
        """Return the trial of all picked changes together; those that do not fit the others are dropped."""
        while picked:
            trial = self._try((*accepted, *(it.trials[0].proposal for it in picked)))
            if trial and trial.resolved >= frozenset().union(*(it.resolved for it in picked)):
                return trial
            picked.pop()
        return None

    def _alone(self, trial: Trial, resolved: frozenset[int]) -> Trial:
        """Return the trial with as few of the changes accepted before it as needed to resolve the same findings.

        Tried are none of them, only those of totals, from which other totals are calculated, and without each of them.
        """
        *prior, own = trial.proposals
        totals = tuple(it for it in prior if it.is_total) if own.is_total else ()
        for fewer in dict.fromkeys(((), totals)):
            if len(fewer) < len(prior):
                tried = self._try((*fewer, own))
                if tried and tried.resolved >= resolved:
                    return tried
        for it in prior if len(prior) <= _MAX_LEFT_OUT else ():
            tried = self._try((*(kept for kept in trial.proposals[:-1] if kept is not it), own))
            trial = tried if tried and tried.resolved >= resolved else trial
        return trial


def _edits(tried: Iterable[Proposal]) -> tuple[Edit, ...]:
    """Return the edits of all proposals, without values that are set in what another one removes."""
    edits = tuple(edit for proposal in tried for edit in proposal.edits)
    removed = tuple(f"{edit.xpath}/" for edit in edits if isinstance(edit, Remove))
    if not removed:
        return edits
    return tuple(it for it in edits if not isinstance(it, _Set) or not f"{it.xpath}/".startswith(removed))


def _sets_values(proposal: Proposal) -> bool:
    return all(isinstance(edit, _Set) for edit in proposal.edits)


def _is_alternative(trial: Trial, best: Trial) -> bool:
    if trial.resolved != best.resolved:
        return False
    return trial.proposal.alternative or trial.proposal.rank == best.proposal.rank


def _distinct(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials without those that set the same numbers, only written otherwise."""
    distinct: dict[frozenset[Edit], Trial] = {}
    for trial in trials:
        distinct.setdefault(frozenset(map(_with_number, trial.proposal.edits)), trial)
    return list(distinct.values())


def _with_number(edit: Edit) -> Edit:
    """Return an edit with its text in the shortest form if that has decimals: "218" for "218.00"."""
    text = getattr(edit, "text", "")
    if not isinstance(edit, SetText | Insert) or not _DECIMAL.fullmatch(text):
        return edit
    return replace(edit, text=text.rstrip("0").rstrip("."))


def _alike(tried: Iterable[Proposal]) -> list[list[Proposal]]:
    """Group proposals that make the same change at several places, such as in each line."""
    groups: dict[object, list[Proposal]] = {}
    for proposal in tried:
        edits = tuple(_without_positions(edit) for edit in proposal.edits)
        groups.setdefault((proposal.rank, proposal.terms, edits), []).append(proposal)
    return list(groups.values())


def _without_positions(edit: Edit) -> Edit:
    if isinstance(edit, Insert):
        return replace(edit, parent=_POSITION.sub("", edit.parent))
    return replace(edit, xpath=_POSITION.sub("", edit.xpath))


def _joined(group: Sequence[Proposal]) -> Proposal:
    """Return one proposal with the edits of all."""
    return replace(group[0], edits=tuple(dict.fromkeys(_edits(group))), terms=group[0].terms)


def compare(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[frozenset[int], tuple[Finding, ...]]:
    """Return the positions of the findings that are resolved, and the findings that are new.

    Findings are the same if they have the same code, severity and XPath. An edit can change the position of elements,
    and which of the values at fault a finding points at, so those left over are compared without positions, and then
    without XPath. If a code has more findings than are reported, a new one is only
    one that was not reported before, unless their number grew. Content that no business term covers is only reported
    if the document satisfies the XML schema, so it is not new if the document did not.
    """
    left, new = list(enumerate(before)), list(after)
    for key in (_place, _kind_of_place, _rule):
        known, found = Counter(key(it) for _, it in left), Counter(map(key, new))
        common = known & found
        left = _unmatched(left, [key(it) for _, it in left], common)
        new = _unmatched(new, [key(it) for it in new], common)
    totals = _totals(after) - _totals(before)
    limited = {finding.code for finding in before if finding.suppressed}
    added = [it for it in new if it.code not in limited or totals[it.code]]
    if any(it.layer == _SCHEMA for it in before):
        added = [it for it in added if it.code != UNMAPPED]
    return frozenset(number for number, _ in left), tuple(added)


def _unmapped(case: Case) -> set[str]:
    """Return the paths of the content that no business term covers."""
    return {plain_path(case.xpath(it)) for it in case.invoice.unmapped}


def _rule(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.severity


def _unmatched(items: Sequence[T], keys: Sequence[object], matched: Counter[Any]) -> list[T]:
    """Return the items without the first ones of each key that are matched."""
    left = Counter(matched)
    result = []
    for it, key in zip(items, keys, strict=True):
        if left[key]:
            left[key] -= 1
        else:
            result.append(it)
    return result


def _totals(findings: Iterable[Finding]) -> Counter[str]:
    """Return the number of findings by code, with those that are not reported."""
    counts: Counter[str] = Counter()
    for finding in findings:
        counts[finding.code] += 1 + finding.suppressed
    return counts


def _place(finding: Finding) -> tuple[str, ...]:
    return finding.code, finding.severity, finding.xpath


def _kind_of_place(finding: Finding) -> tuple[str, ...]:
    return finding.code, finding.severity, _POSITION.sub("", finding.xpath)
