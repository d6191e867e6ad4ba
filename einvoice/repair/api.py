"""The causes of a validation result."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from einvoice.errors import quote
from einvoice.model.lines import Line
from einvoice.model.location import NAMESPACES, name
from einvoice.presentation import causes
from einvoice.repair.case import Candidate, Case
from einvoice.repair.cause import Cause
from einvoice.repair.causes import Causes
from einvoice.repair.change import MAX_QUOTED, Change, Step
from einvoice.repair.edits import (
    Edit,
    Insert,
    Move,
    Remove,
    RemoveAttribute,
    Rename,
    RenameAttribute,
    SetAttribute,
    SetNamespace,
)  # fmt: skip
from einvoice.repair.missing import MissingFacts
from einvoice.repair.search import MAX_SECONDS, Explained, Search, Trial
from einvoice.resources import RuleData
from einvoice.result import Finding, Location, Places, ValidationResult
from einvoice.rulebook.syntax_rules.table import rule_table
from einvoice.syntax import reader
from einvoice.validation import validate_xml
from einvoice.validation.limits import limited
from einvoice.validation.selection import Stack

_GRAVITY: Final = ("fatal", "warning", "information")


@causes.register(ValidationResult)
@reader.gc_paused()
def find_causes(result: ValidationResult, seconds: float | None = None) -> Causes:
    """Return the findings of a result grouped by common cause, the gravest first; see `ValidationResult.causes`."""
    return Causes(Diagnosis(result, MAX_SECONDS if seconds is None else seconds).causes())


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
        self.case = self._validate(result.document.data)
        self.search = Search(self.case, self._validate, seconds=seconds)
        self._places = Places(result.document.data)

    def causes(self) -> tuple[Cause, ...]:
        """Return the causes, the gravest first."""
        findings = self._result.findings
        if not findings:
            return ()
        found = [cause for explained in self.search.run() if (cause := self._explained(explained))]
        known = {id(finding) for cause in found for finding in cause.findings}
        found += self._unexplained([it for it in findings if id(it) not in known])
        return tuple(sorted(found, key=_gravity))

    def _validate(self, data: bytes) -> Case:
        result = self._result
        run = validate_xml(data, result.options, hybrid=result.container is not None)
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
            location=self._location(explained.trials[0].candidate),
            lang=self._result.lang,
        )

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
        own = {id(finding): self.case.findings[number] for number, finding in self._originals.items()}
        missing = MissingFacts(self.case, [own.get(id(it), it) for it in findings])
        groups: dict[tuple[str, ...], list[Finding]] = {}
        for finding in sorted(findings, key=lambda it: _GRAVITY.index(it.severity)):
            fact = missing.fact(own.get(id(finding), finding))
            place = (finding.xpath, finding.terms[0] if finding.terms else finding.code)
            groups.setdefault((fact,) if fact else place, []).append(finding)
        return [self._without_change(group, key[0] if len(key) == 1 else "") for key, group in groups.items()]

    def _without_change(self, group: Sequence[Finding], fact: str) -> Cause:
        first = group[0]
        others = self._others(group)
        leading = (fact,) if fact else ()
        terms = tuple(dict.fromkeys((*leading, *first.terms)))
        return Cause(tuple(group), others, (), terms, first.location, self._result.lang, missing=fact)

    def _change(self, trial: Trial) -> Change:
        resolved = self._findings(trial.resolved)
        return Change(
            edits=trial.edits,
            steps=tuple(self._steps(trial.candidate)),
            terms=tuple(dict.fromkeys(filter(None, trial.candidate.terms))),
            safe=all(it.safe for it in trial.candidates),
            resolves=resolved,
            remaining=self._others(resolved),
            lang=self._result.lang,
            prior=tuple(step for it in trial.candidates[:-1] for step in self._steps(it)),
        )

    def _element(self, edit: Edit) -> Any:
        path = edit.parent if isinstance(edit, Insert) else edit.xpath
        return self.case.root.getroottree().xpath(path, namespaces=NAMESPACES)[0]

    def _location(self, candidate: Candidate) -> Location:
        if candidate.moved:
            return self._places.at(self._element(Remove(candidate.moved)))
        return self._places.at(self._element(candidate.edits[0]))

    def _steps(self, candidate: Candidate) -> Iterator[Step]:
        """Yield the steps of a change; the same edit in several lines is one step."""
        groups: dict[Step, list[str]] = {}
        for step in self._steps_of(candidate):
            groups.setdefault(replace(step, lines=()), []).extend(step.lines)
        for step, lines in groups.items():
            yield replace(step, lines=tuple(dict.fromkeys(lines)))

    def _steps_of(self, candidate: Candidate) -> Iterator[Step]:
        edits, terms = candidate.edits, candidate.terms
        if candidate.moved:
            element = self._element(Remove(candidate.moved))
            yield Step("move", terms[0] if terms else "", _label(element), self._lines(element))
            return
        if candidate.whole:
            yield Step("whole", candidate.whole, "")
            return
        repeats = bool(terms) and len(edits) % len(terms) == 0
        for number, edit in enumerate(edits):
            term = terms[number % len(terms)] if repeats else ""
            if term or not any(terms) or not isinstance(edit, Insert):  # such as the scheme beside a VAT category
                yield self._step(edit, term)

    def _step(self, edit: Edit, term: str) -> Step:
        element = self._element(edit)
        lines = self._lines(element)
        match edit:
            case Insert():
                return Step("add", term, edit.path[-1], lines, "", edit.text)
            case Remove():
                return Step("remove", term, _label(element), lines, element.text or "")
            case RemoveAttribute():
                return Step("remove", term, _label(element, edit.name), lines, element.get(edit.name, ""))
            case Rename():
                return Step("rename", "", _label(element), lines, _written(element), edit.name)
            case RenameAttribute():
                return Step("rename", "", _label(element, edit.name), lines, edit.name, edit.new)
            case SetNamespace():
                return Step(
                    "namespace", "", _quoted(edit.prefix), (), element.nsmap.get(edit.prefix or None, ""), edit.uri
                )
            case Move():
                return Step("move", term, _label(element), lines)
            case SetAttribute():
                before, label = element.get(edit.name, ""), _label(element, edit.name)
                return Step("set" if before else "add", term, label, lines, before, edit.value)
        before = element.text or ""
        return Step("set" if before.strip() else "fill", term, _label(element), lines, before, edit.text)

    def _lines(self, element: Any) -> tuple[str, ...]:
        """Return the identifier of the invoice line around an element; empty outside of lines."""
        for ancestor in (element, *element.iterancestors()):
            group = self.case.groups.get(ancestor)
            if isinstance(group, Line):
                position = 1 + sum(1 for _ in ancestor.itersiblings(ancestor.tag, preceding=True))
                return (_quoted(str(group.identifier)) or str(position),)
        return ()


def _label(element: Any, attribute: str = "") -> str:
    """Return the name of an element, or of one of its attributes, as texts quote it."""
    label = _quoted(name(element.tag))
    return f"{label}/@{_quoted(attribute)}" if attribute else label


def _quoted(text: str) -> str:
    return quote(text, limit=MAX_QUOTED)


def _written(element: Any) -> str:
    """Return the name as in the document, with its prefix."""
    local = element.tag.rpartition("}")[2]
    return f"{element.prefix}:{local}" if element.prefix else local


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
