"""Finds out which missing fact findings are about, so that those about the same one are one cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from lxml import etree

from einvoice.model.group import terms_of
from einvoice.model.iteration import owner
from einvoice.model.lines import Line
from einvoice.model.location import NAMESPACES, name
from einvoice.model.money import AllowanceCharge
from einvoice.model.parties import SellerTaxRegistration
from einvoice.model.terms import terms
from einvoice.repair.case import DECIDING, Case, plain_path
from einvoice.repair.proposals.surplus import FORBIDDEN
from einvoice.result import Finding
from einvoice.syntax import schema
from einvoice.syntax.mapping.binding import WRAPPER
from einvoice.syntax.paths import path_of
from einvoice.validation.element_terms import alternative

MISSING_ELEMENT: Final = "SCHEMA-MISSING-ELEMENT"
_LINE: Final = "BG-25"
_SELLER_NUMBERS: Final = terms_of(SellerTaxRegistration, "identifier")
_ABSENCE: Final = ("not_blank", "exactly_one", "at_least_one", "one_account")
"""Checks of syntax rules that say an element, or its content, is missing."""


class MissingFacts:
    """The terms and groups that a document lacks and that findings are about.

    A term without content is missing, too. A term of a line is missing if the line of the finding lacks it.

    Args:
        case: the document.
        findings: findings that no change resolves.
    """

    def __init__(self, case: Case, findings: Sequence[Finding]) -> None:
        self._case = case
        self._findings = findings
        self._leading = {fact for finding in findings if (fact := self._of_leading(finding))}
        self._outer = dict(self._contained())

    def fact(self, finding: Finding) -> str:
        """Return the outermost missing group, or else the missing term, that a finding is about; "" if there is none.

        It is that of the leading term. If the document has the leading term, it is the only one of the other terms that
        the leading term of another finding says is missing, where the numbers of the seller's tax registrations count
        as one. If the finding says that an element is empty, or forbidden as something in it is missing, it is what the
        other findings at the element are about.
        """
        if self._case.check_of(finding) == FORBIDDEN and finding.values.get(DECIDING) != "":
            return ""  # it is about what the document has
        found = self._of_group(finding) or self._of_leading(finding) or self._only(self._of_others(finding))
        found = found or self._in_element(finding)
        return self._outer.get(found, found)

    def lacks_content(self, fact: str, findings: Sequence[Finding]) -> bool:
        """Return whether a missing group has an element at the places of all findings: it only lacks its content.

        Not if the XML schema demands the element even without content.
        """
        known = terms().get(fact)
        if known is None or not fact.startswith("BG-"):
            return False
        found = [self._element(fact, it) for it in findings]
        is_required = known.cardinality.startswith("1")
        return None not in found and (is_required or not any(map(schema.is_required, found)))

    def _element(self, fact: str, finding: Finding) -> Any:
        """Return the element of a group, in the line of a finding or in the document; None if there is none."""
        path = plain_path(path_of(fact, self._case.syntax)).split("/")
        line = self._line_of(finding) if _LINE in _ancestors(fact) else None
        for element in (self._case.root if line is None else line).iter(etree.Element):
            if name(element.tag) == path[-1]:
                steps = plain_path(self._case.xpath(element)).split("/")
                if len(steps) == len(path) and all(it in ("*", step) for it, step in zip(path, steps, strict=True)):
                    return element
        return None

    def _of_leading(self, finding: Finding) -> str:
        attribute, node = finding.xpath.partition("/@")[2], finding.location.node
        if attribute and node is not None and node.get(attribute, "").strip():
            return ""  # such as the scheme of an identifier, which is no value of its own
        number, group = self._first(finding), self._case.groups.get(node)
        if isinstance(group, AllowanceCharge) and alternative(group, self._case.invoice) is None:
            return ""  # which of the two it lacks, nobody knows
        return self._of_element(number) or self._fact_of(number, finding)

    def _of_others(self, finding: Finding) -> set[str]:
        if self._line_of(finding) is not None:
            return {self._fact_of(number, finding) for number in finding.terms[1:]} & self._leading
        # A finding about the document can be about what only a line lacks.
        return {fact for number in finding.terms for fact in (number, *_ancestors(number))} & self._leading

    def _in_element(self, finding: Finding) -> str:
        node = finding.location.node
        is_absence = self._case.check_of(finding) in _ABSENCE or finding.values.get(DECIDING) == ""
        if node is None or not is_absence:
            return ""
        return self._only({fact for it in self._case.about(node, self._findings) if (fact := self._of_leading(it))})

    def _only(self, facts: set[str]) -> str:
        """Return the only fact; of the numbers of the seller, one of which satisfies a rule that names both, the first.

        "" if there is none, or if there are several.
        """
        if facts == set(_SELLER_NUMBERS):
            return _SELLER_NUMBERS[0]
        return next(iter(facts)) if len(facts) == 1 else ""

    def _first(self, finding: Finding) -> str:
        if finding.code == MISSING_ELEMENT:
            return next(self._expected(finding), "") if len(_names(finding)) == 1 else ""
        return finding.terms[0] if finding.terms else ""

    def _of_group(self, finding: Finding) -> str:
        """Return the fact of the term that the group of a finding has instead of the leading one, as BT-32 of BT-31."""
        group = self._case.groups.get(finding.location.node)
        if group is None:
            return ""
        for field in group.fields:
            numbers = tuple(dict.fromkeys(terms_of(type(group), field)))
            if len(numbers) == 2 and numbers[0] in finding.terms[:1]:
                return self._fact_of(numbers[alternative(group, self._case.invoice) or 0], finding)
        return ""

    def _fact_of(self, number: str, finding: Finding) -> str:
        present = self._present_for(number, finding)
        if number not in terms() or number in present:
            return ""
        fact = outer if (outer := owner(number)) and outer not in present else number
        for group in () if number in self._blank else _ancestors(number):
            if group not in present and path_of(group, self._case.syntax):
                fact = group
        return fact

    def _present_for(self, number: str, finding: Finding) -> set[str]:
        line = self._line_of(finding) if _LINE in _ancestors(number) else None
        return self._present if line is None else self._present_in_lines[line]

    def _line_of(self, finding: Finding) -> Any:
        line = self._case.line_of(finding.location.node)
        return None if line is None else line.node

    @cached_property
    def _blank(self) -> set[str]:
        return {it.number for it in self._case.values if not it.value.filled}

    @cached_property
    def _present(self) -> set[str]:
        return _with_ancestors({it.number for it in self._case.values if it.value.filled})

    @cached_property
    def _present_in_lines(self) -> Mapping[Any, set[str]]:
        """The terms and groups that each line has, by its element."""
        owners: dict[Any, Any] = {}
        found: dict[Any, set[str]] = {}
        for line in self._case.groups.values():
            if isinstance(line, Line):
                found[line.node] = {_LINE}
                owners.update(dict.fromkeys(line.node.iter(), line.node))
        for it in self._case.values:
            if it.value.filled and it.value.node in owners:
                found[owners[it.value.node]].add(it.number)
        return {node: _with_ancestors(numbers) for node, numbers in found.items()}

    def _expected(self, finding: Finding) -> Iterator[str]:
        """Yield the terms of the elements that the schema expects, a group for an element that is one."""
        group = self._case.groups.get(finding.location.node)
        state = self._case.state(group) if group is not None else None
        for expected in _names(finding):
            if group_number := self._elements.get(f"{plain_path(finding.xpath)}/{expected}"):
                yield group_number
            prefix, _, local = expected.partition(":")
            child = state.children.get(f"{{{NAMESPACES.get(prefix, '')}}}{local}") if state is not None else None
            while child is not None and child.kind == WRAPPER and child.children:
                child = next(iter(child.children.values()))
            if child is not None and child.field and group is not None:
                yield from filter(None, (self._case.term_of(group, child.field),))

    def _of_element(self, number: str) -> str:
        """Return the group of a missing element that would contain a term; "" if there is none."""
        path = plain_path(path_of(number, self._case.syntax)) if number in terms() else ""
        return next((group for known, group in self._elements.items() if f"{path}/".startswith(f"{known}/")), "")

    @cached_property
    def _elements(self) -> Mapping[str, str]:
        """The groups whose elements the schema misses, by path; UBL has terms of BG-22 in another element, too."""
        missing = [it for it in self._findings if it.code == MISSING_ELEMENT]
        if not missing:
            return {}
        known: dict[str, str] = {}
        for it in terms():  # groups of an extension that share the element of one of EN 16931 come later
            if it.startswith("BG-"):
                known.setdefault(plain_path(path_of(it, self._case.syntax)), it)
        paths = [f"{plain_path(it.xpath)}/{expected}" for it in missing for expected in _names(it)]
        return {path: known[path] for path in paths if path in known}

    def _contained(self) -> Iterator[tuple[str, str]]:
        """Yield missing terms, each with the missing group beside it: a rule demands both, and they share an element.

        An example is the total VAT amount in UBL, whose element contains the VAT breakdown.
        """
        for finding in self._findings:
            fact = self._of_leading(finding)
            if not fact.startswith("BG-"):
                continue
            element = plain_path(path_of(fact, self._case.syntax)).rpartition("/")[0]
            for number in finding.terms[1:]:
                path = plain_path(path_of(number, self._case.syntax))
                if element.count("/") > 1 and path.startswith(f"{element}/") and self._fact_of(number, finding):
                    yield number, fact


def _names(finding: Finding) -> Sequence[str]:
    return str(finding.values.get("expected", "")).split(", ")


def _with_ancestors(numbers: set[str]) -> set[str]:
    return numbers.union(*(_ancestors(number) for number in numbers))


def _ancestors(number: str) -> Iterator[str]:
    """Yield the groups around a term, the innermost first."""
    known = terms().get(number)
    while known is not None and known.parent:
        yield known.parent
        known = terms().get(known.parent)
