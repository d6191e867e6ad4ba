"""Removes what must not be there: unknown, forbidden, repeated and empty elements and attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from einvoice.repair.case import Candidate, Case
from einvoice.repair.edits import Edit, Remove, RemoveAttribute
from einvoice.result import Finding

_RANK = 60
_REFUSED: Final = (
    "SCHEMA-UNKNOWN-ELEMENT", "SCHEMA-SURPLUS-ELEMENT", "SCHEMA-REPEATED-ELEMENT", "SCHEMA-LATER-ELEMENT",
    "SCHEMA-ATTRIBUTE-UNKNOWN", "CONTENT-UNCOVERED",
)  # fmt: skip
"""Codes of findings outside the rules that say an element or attribute must not be there."""
_NOT_BLANK: Final = "not_blank"
_FORBIDDEN: Final = "forbidden"
_FORBIDDING: Final = (_FORBIDDEN, "at_most", "at_most_distinct", _NOT_BLANK, "only_in", "only_if", "one_name_of")
"""Checks of syntax rules that say the same."""


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield a candidate for each place that must not be there, and for each further occurrence of a single term."""
    for finding in case.findings:
        node = finding.location.node
        if node is None or node is case.root:
            continue
        if finding.code in _REFUSED or case.check_of(finding) in _FORBIDDING:
            required = _required(case, finding) if case.check_of(finding) == _NOT_BLANK else ()
            for removals in _removals(case, finding, node):
                yield Candidate(removals, _RANK, terms=finding.terms[:1], required=required, refused=finding)
    terms = {term for finding in case.findings for term in finding.terms}
    elements = {finding.location.node for finding in case.findings}
    for it in case.values:
        further = [value for value in it.value.more if value.node is not None and not value.attribute]
        if further and (it.number in terms or not elements.isdisjoint([it.value.node, *(x.node for x in further)])):
            edits: tuple[Edit, ...] = tuple(Remove(case.xpath(value.node)) for value in further)
            yield Candidate(edits, _RANK, terms=(it.number,) if it.number else ())


def _required(case: Case, finding: Finding) -> tuple[str, ...]:
    """Return the codes of the other findings about an empty element: if one of them remains, it needs content."""
    node = finding.location.node
    others = [it for it in case.findings if it.code != finding.code]
    inside = case.about(node, others)
    leading = {term for it in (finding, *inside) for term in it.terms[:1]}
    about = [it for it in others if not leading.isdisjoint(it.terms[:1])]
    return tuple(sorted({it.code for it in (*inside, *about)}))


def _removals(case: Case, finding: Finding, node: Any) -> Iterator[tuple[Edit, ...]]:
    """Yield the removal at the place of a finding, and one at all places like it if the finding is about several."""
    attribute = finding.values.get("attribute") if finding.code == "SCHEMA-ATTRIBUTE-UNKNOWN" else None
    attribute = str(attribute or finding.xpath.partition("/@")[2])
    yield (_removal(case, node, attribute),)
    if case.check_of(finding) == _FORBIDDEN and finding.values.get("count", 1) > 1:
        like = [it for it in case.root.iter(node.tag) if _path(it) == _path(node)]
        if found := [it for it in like if not attribute or attribute in it.attrib]:
            yield tuple(_removal(case, it, attribute) for it in found)


def _removal(case: Case, node: Any, attribute: str) -> Edit:
    return RemoveAttribute(case.xpath(node), attribute) if attribute else Remove(case.xpath(node))


def _path(node: Any) -> list[Any]:
    return [node.tag, *(it.tag for it in node.iterancestors())]
