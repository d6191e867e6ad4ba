"""The causes of a validation result."""

from __future__ import annotations

import functools
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from einvoice.causes.applicability import QUESTION, Applicability
from einvoice.causes.cause import Cause
from einvoice.causes.change import Change
from einvoice.causes.collection import Causes
from einvoice.model.calculation import rule_in_table
from einvoice.model.iteration import Filled
from einvoice.model.lines import Line
from einvoice.reconciliation.hypotheses import Hypothesis
from einvoice.repair.case import Case, is_malformed, needs_no_action, plain_path
from einvoice.repair.evidence import judged
from einvoice.repair.missing import MISSING_ELEMENT, MissingFacts
from einvoice.repair.proposal import Combine, Proposal
from einvoice.repair.proposals.surplus import FORBIDDEN
from einvoice.repair.search import MAX_SECONDS, UNMAPPED, Explained, Search, Trial
from einvoice.repair.steps import Steps, all_lines
from einvoice.resources import RuleData
from einvoice.result import Finding, Places, ValidationResult
from einvoice.rulebook.syntax_rules.table import rule_table
from einvoice.syntax import reader
from einvoice.validation import validate_xml
from einvoice.validation.limits import limited
from einvoice.validation.selection import Stack

_OTHER_RULES: Final = ("edition", "other")
"""Kinds of specifications with rules that are not here: no change is known to be right."""
_PLAUSIBILITY: Final = "plausibility"
"""Layer whose findings doubt what is stated."""
_UNUSED: Final = ("PROFILE-NOT-USED", "PROFILE-HIGHER-ELEMENT")
"""Codes of elements that a Factur-X profile does not use; what is in them goes with them."""
_WITH_VAT: Final = ("BT-131", "BT-146")
"""What includes VAT if the lines do."""
_OF_LINES: Final = ("BG-27", "BG-28")
_GRAVITY: Final = ("fatal", "warning", "information")


@reader.gc_paused
def find_causes(result: ValidationResult, seconds: float | None = None) -> Causes:
    """Return the findings of a result grouped by common cause, the gravest first; see `ValidationResult.causes`."""
    diagnosis = Diagnosis(result, MAX_SECONDS if seconds is None else seconds)
    return Causes.of(diagnosis.causes(), diagnosis.search.ended_by)


class Diagnosis:
    """The search for the causes of one result.

    Args:
        result: the result.
        seconds: time limit of the search.

    Attributes:
        case: the document, validated again.
        search: the search.
    """

    def __init__(self, result: ValidationResult, seconds: float = MAX_SECONDS) -> None:
        self._result = result
        self._seconds = 0.0
        self._exhausted: dict[str, str] = {}
        self.case = self._validate(result.document.data)
        step = self._seconds
        # The validation counts, and what follows the search takes about as long: it reads all values, too.
        self.search = Search(self.case, self._validate, seconds=seconds - 2 * step, step=step)
        self._places = Places(result.document.data)
        self._steps = Steps(self.case)
        self._asked: set[Proposal] = set()

    def causes(self) -> tuple[Cause, ...]:
        """Return the causes, the gravest first."""
        findings = self._result.findings
        if not findings:
            return ()
        proven = [] if self._result.identity.kind in _OTHER_RULES else self.search.run()
        # The issuer decides between several changes, and what is built on a change that only the issuer can confirm.
        trials = [(trial, len(it.trials) > 1) for it in proven for trial in it.trials]
        self._asked = {it.proposal for it, is_choice in trials if is_choice or self._judged(it) is QUESTION}
        found = [cause for explained in proven if (cause := self._explained(explained))]
        known = {id(finding) for cause in found for finding in cause.findings}
        found += self._unexplained([it for it in findings if id(it) not in known])
        return tuple(sorted(found, key=_gravity))

    def _validate(self, data: bytes) -> Case:
        result = self._result
        start = time.monotonic()
        run = validate_xml(data, result.options, hybrid=result.container is not None, exhausted=self._exhausted)
        self._seconds = time.monotonic() - start  # without what follows, which compiles the checks once
        context, selection = run.context, run.context.selection
        profile = selection.profile.name if selection.profile else ""
        checks = checks_by_code(context.document.identity.syntax, selection.stack, profile, selection.data)
        return Case(data, context.document.root, context.invoice, limited(run.findings), checks, selection.data)

    @cached_property
    def _originals(self) -> dict[int, Finding]:
        """The findings of the result, by their position among those of the validation by the rules of einvoice.

        The official artefacts report less precise places, so their findings are also the same if only the code is.
        """
        originals: dict[int, Finding] = {}
        left = list(self._result.findings)
        for key in (_code_and_place, _code):
            positions: defaultdict[object, list[int]] = defaultdict(list)
            for number, finding in enumerate(self.case.findings):
                if number not in originals:
                    positions[key(finding)].append(number)
            unmatched = []
            for finding in left:
                if same := positions[key(finding)]:
                    originals[same.pop(0)] = finding
                else:
                    unmatched.append(finding)
            left = unmatched
        return originals

    @cached_property
    def _by_original(self) -> dict[int, Finding]:
        return {id(finding): self.case.findings[number] for number, finding in self._originals.items()}

    def _own(self, finding: Finding) -> Finding:
        """Return the finding of the validation by the rules of einvoice that is the same as one of the result."""
        return self._by_original.get(id(finding), finding)

    def _explained(self, explained: Explained) -> Cause | None:
        findings = self._findings(explained.resolved)
        if not findings:
            return None
        changes = tuple(self._change(trial) for trial in explained.trials)
        return Cause(
            findings=findings,
            remaining=self._others(findings),
            changes=changes,
            terms=tuple(dict.fromkeys(term for change in changes for term in change.terms)),
            location=self._places.at(self._steps.place(explained.trials[0].proposal)),
            lang=self._result.lang,
            **self._lacking(findings),
        )

    def _lacking(self, findings: Sequence[Finding]) -> Mapping[str, Any]:
        """Return the allowance or charge that may be missing instead, as likely as another number is; {} for none.

        In a line, even if that number is a slip: nothing else says what the line has.
        """
        for first, *others in self.case.hypotheses.explanations:
            for it in others:
                is_likely = it.prior <= first.prior + 1 or it.missing in _OF_LINES
                places = self.case.hypotheses.rules(it) if it.missing and is_likely else ()
                if places and all(any(self._is_about(finding, *place) for place in places) for finding in findings):
                    return self._group(it, findings[0])
        return {}

    def _group(self, hypothesis: Hypothesis, finding: Finding) -> Mapping[str, Any]:
        """Return a missing group as attributes of a cause."""
        lines = all_lines(self.case, [self._own(finding).location.node])
        return {"missing": hypothesis.missing, "lines": lines, "amount": hypothesis.summands[0].amount}

    def _findings(self, positions: Iterable[int]) -> tuple[Finding, ...]:
        found = [self._originals[it] for it in sorted(positions) if it in self._originals]
        return tuple(sorted(found, key=lambda it: _GRAVITY.index(it.severity)))

    def _others(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        known = {id(finding) for finding in findings}
        return tuple(it for it in self._result.findings if id(it) not in known)

    def _unexplained(self, findings: Sequence[Finding]) -> list[Cause]:
        """Return the causes of the findings that no change resolves.

        Those about the same missing fact have one cause, and those at the same place with the same leading term.
        """
        found = list(self._missing_groups(findings))
        known = {id(finding) for cause in found for finding in cause.findings}
        findings = [it for it in findings if id(it) not in known]
        missing = MissingFacts(self.case, [self._own(it) for it in findings if not needs_no_action(it)])
        groups: dict[tuple[str, ...], list[Finding]] = {}
        for finding in sorted(findings, key=lambda it: _GRAVITY.index(it.severity)):
            is_of_value = needs_no_action(finding) or finding.layer == _PLAUSIBILITY
            around = self._missing_around(finding) or self._unused_around(finding)
            fact = "" if is_of_value or around else missing.fact(self._own(finding))
            key = (fact,) if fact else self._place(around or finding)
            groups.setdefault(key, []).append(finding)
        for (place, *_), group in groups.items():
            group.sort(key=lambda it: it.xpath != place)  # the finding at an unreadable value says more than the others
        others = [self._without_change(it, key[0] if len(key) == 1 else "", missing) for key, it in groups.items()]
        return [*found, *others]

    def _missing_groups(self, findings: Sequence[Finding]) -> Iterator[Cause]:
        """Yield a cause for each line, allowance or charge that the sums contain and the invoice lacks.

        Lines that include VAT are such a cause, too: their net amounts are not known to the cent.
        """
        hypotheses = self.case.hypotheses
        for first, *_ in hypotheses.explanations:
            rules = hypotheses.rules(first) if first.missing or first.includes_vat else ()
            group = tuple(it for it in findings if any(self._is_about(it, *rule) for rule in rules))
            if group and first.includes_vat:
                yield self._cause(group, _WITH_VAT, includes_vat=True)
            elif group:
                terms = tuple(dict.fromkeys((first.missing, *group[0].terms)))
                yield self._cause(group, terms, **self._group(first, group[0]))

    def _cause(self, group: Sequence[Finding], terms: tuple[str, ...], **details: Any) -> Cause:
        """Return a cause without a change."""
        first = group[0]
        return Cause(tuple(group), self._others(group), (), terms, first.location, self._result.lang, **details)

    def _is_about(self, finding: Finding, code: str, place: Any) -> bool:
        """Return whether a finding is that of a rule, and of a line if the place is one."""
        line = place if isinstance(place, Line) else None
        is_same = rule_in_table(finding.code) == code
        return is_same and (line is None or self.case.line_of(self._own(finding).location.node) is line)

    def _place(self, finding: Finding) -> tuple[str, str]:
        """Return what the findings of one cause share: an unreadable value that they read, or place and leading term.

        Content that no business term covers is one cause, by the reason why it may stay.
        """
        if finding.code == UNMAPPED:
            return finding.code, finding.situation
        own = self._own(finding)
        line = self.case.line_of(own.location.node)
        for number in own.terms:
            if it := self._unreadable.get((id(line), number)) or self._unreadable.get((id(None), number)):
                return self.case.xpath(it.value.node), number
        leading = finding.terms[0] if finding.terms else finding.code
        element, _, attribute = finding.xpath.partition("/@")
        if attribute.startswith("scheme") and leading.count("-") > 1:  # such as BT-29-1
            return element, leading.rpartition("-")[0]  # rules report a scheme at its identifier
        return finding.xpath, leading

    def _missing_around(self, finding: Finding) -> Finding | None:
        """Return the finding about the missing element that would contain the leading term of a finding, or is it."""
        if any(finding is it for it in self._missing_elements.values()):
            return finding
        path = self.case.path_of_leading(finding)
        return next((it for element, it in self._missing_elements.items() if path.startswith(f"{element}/")), None)

    def _unused_around(self, finding: Finding) -> Finding | None:
        """Return the finding about an element that the profile does not use, if another one is inside of it."""
        if finding.code not in _UNUSED:
            return None
        unused = (it for it in self._result.findings if it.code in _UNUSED)
        around = (it for it in unused if finding.xpath.startswith(f"{it.xpath}/"))
        return min(around, key=lambda it: len(it.xpath), default=None)

    @cached_property
    def _missing_elements(self) -> dict[str, Finding]:
        """The findings about single elements that are no term or group, by the path of the element, as CII has them."""
        missing = (it for it in self._result.findings if it.code == MISSING_ELEMENT and not it.terms)
        paths = ((f"{plain_path(it.xpath)}/{it.values.get('expected', '')}", it) for it in missing)
        return {path: it for path, it in paths if ", " not in path}

    @cached_property
    def _unreadable(self) -> dict[tuple[int, str], Filled]:
        """The first value of each term that is not written as a number or date, by the identity of its line."""
        found: dict[tuple[int, str], Filled] = {}
        for it in self.case.values:
            if is_malformed(it.value):
                found.setdefault((id(self.case.line_of(it.value.node)), it.number), it)
        return found

    def _without_change(self, group: Sequence[Finding], fact: str, missing: MissingFacts) -> Cause:
        owns = [self._own(it) for it in group]
        is_empty = missing.lacks_content(fact, owns)
        first = group[0]
        leading = (fact,) if fact else ()
        terms = tuple(dict.fromkeys((*leading, *first.terms)))
        lines = all_lines(self.case, [self._around(own) for own in (owns if fact else owns[:1])])
        return self._cause(group, terms, missing=fact, lines=lines, is_empty=is_empty)

    def _around(self, finding: Finding) -> Any:
        """Return the element of a finding, or the one around it if it may not be there, such as that of a sub-line."""
        node = finding.location.node
        return node.getparent() if self.case.check_of(finding) == FORBIDDEN else node

    def _change(self, trial: Trial) -> Change:
        resolved = self._findings(trial.resolved)
        proposal, steps = trial.proposal, self._steps.of(trial.proposal)
        terms = (*(() if proposal.refused else proposal.terms), *(step.term for step in steps))
        return Change(
            edits=trial.edits,
            steps=steps,
            terms=tuple(dict.fromkeys(filter(None, terms))),
            applicability=self._applicability(trial),
            resolves=resolved,
            remaining=self._others(resolved),
            lang=self._result.lang,
            prior=tuple(step for it in trial.proposals[:-1] for step in self._steps.of(it)),
            refused=proposal.refused,
        )

    def _applicability(self, trial: Trial) -> Applicability:
        return self._judged(trial) if self._asked.isdisjoint(trial.proposals) else QUESTION

    def _judged(self, trial: Trial) -> Applicability:
        is_combined = any(isinstance(it.action, Combine) for it in trial.proposals)
        ceiling = max(it.applicability for it in trial.proposals)
        return judged(self.case, trial.after, trial.edits, ceiling, is_combined=is_combined)


def _code_and_place(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.xpath


def _code(finding: Finding) -> str:
    return finding.code


@functools.cache
def checks_by_code(syntax: str, stack: Stack, profile: str, data: RuleData) -> Mapping[str, str]:
    """Return the check of each syntax rule, by code."""
    return {rule.code: rule.check for rule in rule_table(syntax, stack, profile, data).rules}


def _gravity(cause: Cause) -> tuple[int, ...]:
    counts = [sum(finding.severity == severity for finding in cause.findings) for severity in _GRAVITY]
    return (*(-count for count in counts), not cause.changes)
