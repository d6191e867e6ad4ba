"""Finds out which missing fact findings are about, so that those about the same one are one cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from einvoice.model.group import terms_of
from einvoice.model.location import NAMESPACES
from einvoice.model.terms import terms
from einvoice.repair.case import Case
from einvoice.result import Finding
from einvoice.syntax.mapping.binding import WRAPPER

_MISSING_ELEMENT: Final = "SCHEMA-MISSING-ELEMENT"


class MissingFacts:
    """The terms and groups that a document lacks and that findings are about.

    Args:
        case: the document.
        findings: findings that no change resolves.
    """

    def __init__(self, case: Case, findings: Sequence[Finding]) -> None:
        self._case = case
        self._present = {it.number for it in case.values}
        for number in list(self._present):
            self._present.update(_ancestors(number))
        self._leading = {fact for finding in findings if (fact := self._fact_of(self._first(finding)))}

    def fact(self, finding: Finding) -> str:
        """Return the outermost missing group, or else the missing term, that a finding is about; "" if there is none.

        It is that of the leading term. If the document has the leading term, it is the only one of the other terms that
        the leading term of another finding says is missing.
        """
        first = self._first(finding)
        if fact := self._fact_of(first):
            return fact
        others = {fact for number in finding.terms[1:] if (fact := self._fact_of(number)) in self._leading}
        return others.pop() if len(others) == 1 else ""

    def _first(self, finding: Finding) -> str:
        if finding.code == _MISSING_ELEMENT:
            return next(self._expected(finding), "")
        return finding.terms[0] if finding.terms else ""

    def _fact_of(self, number: str) -> str:
        if number not in terms() or number in self._present:
            return ""
        fact = number
        for group in _ancestors(number):
            if group not in self._present:
                fact = group
        return fact

    def _expected(self, finding: Finding) -> Iterator[str]:
        """Yield the terms of the elements that the schema expects."""
        group = self._case.groups.get(finding.location.node)
        state = self._case.state(group) if group is not None else None
        for name in str(finding.values.get("expected", "")).split(", "):
            prefix, _, local = name.partition(":")
            child = state.children.get(f"{{{NAMESPACES.get(prefix, '')}}}{local}") if state is not None else None
            while child is not None and child.kind == WRAPPER and child.children:
                child = next(iter(child.children.values()))
            if child is not None and child.field and group is not None:
                yield from terms_of(type(group), child.field)[:1]


def _ancestors(number: str) -> Iterator[str]:
    """Yield the groups around a term, the innermost first."""
    known = terms().get(number)
    while known is not None and known.parent:
        yield known.parent
        known = terms().get(known.parent)
