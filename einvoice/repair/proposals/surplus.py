"""Removes what must not be there: unknown, forbidden, repeated and empty elements and attributes.

What is only outside of EN 16931 may stay (CONTENT-UNCOVERED), so its removal is no proposal. Nor is that of content
that only the issuer could give back: an amount, a file, a text or a reference that stands nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from lxml import etree

from einvoice.causes.applicability import QUESTION, SAFE, UNSAFE, Applicability
from einvoice.editing.content import is_copy, is_within
from einvoice.editing.edits import Edit, Remove, RemoveAttribute
from einvoice.model.iteration import Filled, repeats
from einvoice.model.terms import term, terms
from einvoice.model.values import Amount, Value
from einvoice.repair.case import DECIDING, Case
from einvoice.repair.proposal import Proposal, Withdraw
from einvoice.result import Finding
from einvoice.syntax.mapping.tables import table_of
from einvoice.syntax.paths import term_of_attribute

_REFUSED: Final = (
    "SCHEMA-UNKNOWN-ELEMENT", "SCHEMA-SURPLUS-ELEMENT", "SCHEMA-REPEATED-ELEMENT", "SCHEMA-LATER-ELEMENT",
    "SCHEMA-ATTRIBUTE-UNKNOWN",
)  # fmt: skip
"""Codes of findings outside the rules that say an element or attribute must not be there."""
_REPEATED: Final = "SCHEMA-REPEATED-ELEMENT"
_NOT_BLANK: Final = "not_blank"
FORBIDDEN: Final = "forbidden"
"""Check of syntax rules that an element may not be there."""
_LIMITS: Final = ("at_most", "at_most_distinct")
_FORBIDDING: Final = (FORBIDDEN, *_LIMITS, _NOT_BLANK, "only_in", "only_if", "one_name_of")
"""Checks of syntax rules that say the same."""
_DIGIT: Final = re.compile("[0-9]")
_CONTENT: Final = (
    "Amount", "BinaryObject", "BinaryFile", "Note", "Description", "Content", "Reference", "ReferencedDocument",
)  # fmt: skip
"""Endings of the names of elements with amounts, files, texts, and numbers of documents, in UBL and CII."""


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal for each place that must not be there, and for each further occurrence of a single term."""
    for finding in case.findings:
        node = finding.location.node
        if node is None or node is case.root:
            continue
        if DECIDING in finding.values:  # its content is wrong, such as the type of a number; the element is not
            continue
        is_refused = finding.code in _REFUSED or case.check_of(finding) in _FORBIDDING
        if is_refused and not _is_lost(case, finding, node):
            required = _required(case, finding) if case.check_of(finding) == _NOT_BLANK else ()
            for removals in _removals(case, finding, node):
                ceiling = _ceiling(case, finding, node)
                yield Proposal(
                    removals,
                    ceiling,
                    finding.terms[:1],
                    Withdraw(finding, _is_second(case, finding, node)),
                    required=required,
                )
    for row in case.invoice.vat_breakdown:  # with VAT, the sums say it as well, see `hypotheses`
        if row.node is not None and not row.tax_amount.number and is_copy(row.node):
            yield Proposal((Remove(case.xpath(row.node)),), UNSAFE, ("BG-23",))
    numbers = {number for finding in case.findings for number in finding.terms}
    elements = {finding.location.node for finding in case.findings}
    for it in case.values:
        further = [value for value in it.value.more if value.node is not None and not value.attribute]
        if any(_differs(value, it.value) for value in further):
            continue
        if further and (it.number in numbers or not elements.isdisjoint([it.value.node, *(x.node for x in further)])):
            edits: tuple[Edit, ...] = tuple(Remove(case.xpath(value.node)) for value in further)
            ceiling = UNSAFE if any(value.filled for value in further) else SAFE
            yield Proposal(edits, ceiling, (it.number,) if it.number else ())


def _differs(further: Value, first: Value) -> bool:
    """Return whether a further value states something that the first one does not."""
    same = further.text.split() == first.text.split() and dict(further.attributes) == dict(first.attributes)
    return further.filled and not same


def _ceiling(case: Case, finding: Finding, node: Any) -> Applicability:
    """Return what the removal may do: one of what is empty or has an exact copy is safe, one of a fact a question."""
    if finding.code == _REPEATED and finding.values.get("max_occurs") == 1 and _is_equal(node):
        return SAFE
    if attribute := _attribute(finding):
        known = (it for it in case.by_element.get(node, ()) if it.number)
        return QUESTION if any(term_of_attribute(it.number, attribute) for it in known) else UNSAFE
    if not "".join(node.itertext(etree.Element)).strip():
        return SAFE
    if is_copy(node) or finding.values.get("stated_in_line"):
        return UNSAFE
    facts = (it for it in case.values if it.number and it.value.filled and is_within(it.value.node, node))
    return QUESTION if any(True for _ in facts) else UNSAFE


def _is_equal(node: Any) -> bool:
    """Return whether an element before it has the same bytes."""
    text = etree.tostring(node, with_tail=False)
    return any(etree.tostring(it, with_tail=False) == text for it in node.itersiblings(node.tag, preceding=True))


def _is_lost(case: Case, finding: Finding, node: Any) -> bool:
    """Return whether the removal that a finding demands loses content that only the issuer could give back."""
    if finding.values.get("stated_in_line"):  # the same content is where the schema allows it
        return False
    attribute = _attribute(finding)
    if case.check_of(finding) in _LIMITS or finding.code == _REPEATED:
        return not _is_stated_twice(finding, node, attribute)
    return not attribute and _holds_content(case, node, is_known=finding.code not in _REFUSED)


def _is_second(case: Case, finding: Finding, node: Any) -> bool:
    """Return whether a finding about the number of elements names one whose content stands in another group."""
    is_limit = case.check_of(finding) in _LIMITS and not _attribute(finding)
    return is_limit and bool(finding.terms) and not is_copy(node) and _is_stated_twice(finding, node, "")


def _is_stated_twice(finding: Finding, node: Any, attribute: str) -> bool:
    """Return whether another element or attribute of the same kind has the same content.

    For a term that groups have each, only one before it in the same group counts: in CII, the tax point date of all VAT
    entries is one, whereas each attached file belongs to its supporting document.
    """
    if not attribute and is_copy(node):
        return True
    if any(it in terms() and repeats(term(it)) for it in finding.terms[:1]):
        return False
    like = [it for it in node.getroottree().getroot().iter(node.tag) if it is not node and _path(it) == _path(node)]
    if attribute:
        return any(it.get(attribute) == node.get(attribute) for it in like)
    return any(it.attrib == node.attrib and _words(it) == _words(node) for it in like)


def _holds_content(case: Case, node: Any, is_known: bool) -> bool:
    """Return whether an element states something that matters and that the invoice has nowhere else.

    That is a business term, and also an amount, a file, a text or a reference; of an element that the schema does not
    allow, content with digits, which may be an amount, a date or a number of a document.
    """
    if any(_is_only(case, it) for it in case.values if is_within(it.value.node, node)):
        return True
    found = [(it, text) for it in node.iter(etree.Element) if (text := (it.text or "").strip())]
    if not is_known and any(_DIGIT.search(text) for _, text in found):
        return not is_copy(node)  # elsewhere, an equal date or number can mean something else
    known = is_known or node.tag in table_of(case.root.tag).tags
    stated = {text for it, text in found if known and _is_kept(it, node)}
    if not stated:
        return False
    others = {(it.text or "").strip() for it in case.root.iter(etree.Element) if not is_within(it, node)}
    return not stated <= others


def _is_kept(element: Any, node: Any) -> bool:
    """Return whether an element in the one to remove has content that matters, by its name or that of a parent."""
    steps = [element, *element.iterancestors()]
    return any(it.tag.endswith(_CONTENT) for it in steps[: steps.index(node) + 1])


def _words(element: Any) -> list[str]:
    return " ".join(element.itertext()).split()


def _is_only(case: Case, stated: Filled) -> bool:
    """Return whether a value is that of a business term, and the invoice does not state it elsewhere."""
    if not stated.number or not stated.value.filled or stated.value.attribute:
        return False
    others = [it.value for it in case.of_terms((stated.number,)) if it.value.node is not stated.value.node]
    if isinstance(stated.value, Amount):
        return all(not isinstance(it, Amount) or it.number != stated.value.number for it in others)
    return all(it.text.split() != stated.value.text.split() for it in others)


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
    attribute = _attribute(finding)
    yield (_removal(case, node, attribute),)
    outer = node
    while not attribute and (parent := outer.getparent()) is not case.root and len(parent) == 1 and not parent.attrib:
        outer = parent
    if outer is not node and not "".join(outer.itertext(etree.Element)).strip():  # what only contains it is empty, too
        yield (Remove(case.xpath(outer)),)
    if case.check_of(finding) == FORBIDDEN and finding.values.get("count", 1) > 1:
        like = [it for it in case.root.iter(node.tag) if _path(it) == _path(node)]
        if found := [it for it in like if not attribute or attribute in it.attrib]:
            yield tuple(_removal(case, it, attribute) for it in found)


def _attribute(finding: Finding) -> str:
    """Return the attribute that a finding is about; "" for an element."""
    attribute = finding.values.get("attribute") if finding.code == "SCHEMA-ATTRIBUTE-UNKNOWN" else None
    return str(attribute or finding.xpath.partition("/@")[2])


def _removal(case: Case, node: Any, attribute: str) -> Edit:
    return RemoveAttribute(case.xpath(node), attribute) if attribute else Remove(case.xpath(node))


def _path(node: Any) -> list[Any]:
    return [node.tag, *(it.tag for it in node.iterancestors())]
