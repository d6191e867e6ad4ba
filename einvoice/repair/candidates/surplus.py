"""Removes what must not be there: unknown, forbidden, repeated and empty elements and attributes.

What is only outside of EN 16931 may stay (CONTENT-UNCOVERED), so its removal is no candidate. Nor is that of content
that only the issuer could give back: an amount that stands nowhere else, or the content of one of several groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from lxml import etree

from einvoice.model.iteration import Filled, repeats
from einvoice.model.terms import term
from einvoice.model.values import Amount
from einvoice.repair.case import Candidate, Case, is_within
from einvoice.repair.edits import Edit, Remove, RemoveAttribute
from einvoice.result import Finding

_RANK = 60
_REFUSED: Final = (
    "SCHEMA-UNKNOWN-ELEMENT", "SCHEMA-SURPLUS-ELEMENT", "SCHEMA-REPEATED-ELEMENT", "SCHEMA-LATER-ELEMENT",
    "SCHEMA-ATTRIBUTE-UNKNOWN",
)  # fmt: skip
"""Codes of findings outside the rules that say an element or attribute must not be there."""
_REPEATED: Final = "SCHEMA-REPEATED-ELEMENT"
_NOT_BLANK: Final = "not_blank"
_FORBIDDEN: Final = "forbidden"
_LIMITS: Final = ("at_most", "at_most_distinct")
_FORBIDDING: Final = (_FORBIDDEN, *_LIMITS, _NOT_BLANK, "only_in", "only_if", "one_name_of")
"""Checks of syntax rules that say the same."""


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield a candidate for each place that must not be there, and for each further occurrence of a single term."""
    for finding in case.findings:
        node = finding.location.node
        if node is None or node is case.root:
            continue
        if finding.code in _REFUSED or (case.check_of(finding) in _FORBIDDING and not _is_lost(case, finding, node)):
            required = _required(case, finding) if case.check_of(finding) == _NOT_BLANK else ()
            for removals in _removals(case, finding, node):
                is_safe = finding.code == _REPEATED and finding.values.get("max_occurs") == 1 and _is_equal(node)
                yield Candidate(removals, _RANK, is_safe, finding.terms[:1], required=required, refused=finding)
    terms = {term for finding in case.findings for term in finding.terms}
    elements = {finding.location.node for finding in case.findings}
    for it in case.values:
        further = [value for value in it.value.more if value.node is not None and not value.attribute]
        if further and (it.number in terms or not elements.isdisjoint([it.value.node, *(x.node for x in further)])):
            edits: tuple[Edit, ...] = tuple(Remove(case.xpath(value.node)) for value in further)
            yield Candidate(edits, _RANK, terms=(it.number,) if it.number else ())


def _is_equal(node: Any) -> bool:
    """Return whether an element before it has the same bytes."""
    text = etree.tostring(node, with_tail=False)
    return any(etree.tostring(it, with_tail=False) == text for it in node.itersiblings(node.tag, preceding=True))


def _is_lost(case: Case, finding: Finding, node: Any) -> bool:
    """Return whether the removal that a syntax rule demands loses content that only the issuer could give back."""
    if case.check_of(finding) in _LIMITS and "/@" not in finding.xpath:
        return node.getparent().find(node.tag) is node and not _is_stated_twice(case, finding, node)
    return any(_is_only_amount(case, it) for it in case.values if is_within(it.value.node, node))


def _is_stated_twice(case: Case, finding: Finding, node: Any) -> bool:
    """Return whether another group has the same content for a term that the invoice has once.

    In CII, the tax point date stands in each VAT entry; whereas each attached file belongs to its supporting document.
    """
    if any(repeats(term(number)) for number in finding.terms[:1]):
        return False
    like = [it for it in case.root.iter(node.tag) if it is not node and _path(it) == _path(node)]
    return any("".join(it.itertext()).split() == "".join(node.itertext()).split() for it in like)


def _is_only_amount(case: Case, stated: Filled) -> bool:
    """Return whether a value is an amount of a business term that the invoice does not state elsewhere."""
    if not isinstance(stated.value, Amount) or not stated.number or not stated.value.filled:
        return False
    others = [it.value for it in case.of_terms((stated.number,)) if it.value.node is not stated.value.node]
    return all(not isinstance(it, Amount) or it.number != stated.value.number for it in others)


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
