"""The document whose findings are explained: its values by element, and the places of missing terms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any, Final, cast

from einvoice.editing.content import is_within
from einvoice.editing.edits import Edit, Insert, SetAttribute, SetText
from einvoice.model import location
from einvoice.model.group import Group, terms_of
from einvoice.model.invoice import Invoice
from einvoice.model.iteration import Filled, filled
from einvoice.model.lines import Line
from einvoice.model.values import Date, Number, Value, absent
from einvoice.reconciliation.hypotheses import Hypotheses
from einvoice.resources import RuleData
from einvoice.result import Finding
from einvoice.syntax.mapping.binding import GROUP, LEAF, WRAPPER, State
from einvoice.syntax.mapping.tables import table_of
from einvoice.syntax.paths import path_of
from einvoice.syntax.specifications import Syntax
from einvoice.validation.element_terms import alternative

DECIDING: Final = "deciding"
"""Name of the value of a finding with the content for which an element is not used; "" if that is missing."""
_CONDITION: Final = re.compile(r"\[[^]]*\]")
_ROOT: Final = re.compile(r"^/(?:ubl|cn):[^/]+")


class Case:
    """A document with its findings.

    Attributes:
        data: the XML.
        root: its root element.
        invoice: the invoice read from it.
        findings: its findings.
        checks: the checks of the syntax rules that validate it, by code.
        rules: the rule data with the code lists.
    """

    def __init__(
        self,
        data: bytes,
        root: Any,
        invoice: Invoice,
        findings: Sequence[Finding],
        checks: Mapping[str, str],
        rules: RuleData,
    ) -> None:
        self.data = data
        self.root = root
        self.invoice = invoice
        self.findings = findings
        self.checks = checks
        self.rules = rules
        self._steps: dict[Any, str] = {}

    @property
    def syntax(self) -> Syntax:
        """ "UBL" or "CII"."""
        return cast("Syntax", self.invoice.syntax)

    @cached_property
    def values(self) -> tuple[Filled, ...]:
        """All values of the invoice, each with its term."""
        return tuple(it for it in filled(self.invoice) if it.value.node is not None)

    @cached_property
    def hypotheses(self) -> Hypotheses:
        """The explanations of numbers that contradict each other."""
        return Hypotheses(self.invoice)

    @cached_property
    def readable(self) -> Counter[tuple[str, str]]:
        """The number of readable values by term, those of VAT counted once more, and that of attributes by name."""
        found: Counter[tuple[str, str]] = Counter()
        for it in self.values:
            found.update(keys_of(it))
        return found

    @cached_property
    def numbers(self) -> Mapping[tuple[int, str], str]:
        """The terms of the values by the identity of their group and their field."""
        return {(id(it.group), it.field): it.number for it in reversed(self.values) if it.number}

    @cached_property
    def by_element(self) -> Mapping[Any, list[Filled]]:
        """The values by element."""
        found: dict[Any, list[Filled]] = {}
        for it in self.values:
            found.setdefault(it.value.node, []).append(it)
        return found

    def value_at(self, finding: Finding) -> Filled | None:
        """Return the value that a finding points at; None if it points at a group."""
        node = finding.location.node
        for it in self.by_element.get(node, ()):
            if self.xpath(it.value.node, it.value.attribute) == finding.xpath:
                return it
        return None

    def xpath(self, node: Any, attribute: str | None = None) -> str:
        """Return the XPath of an element, or of one of its attributes."""
        return location.xpath(node, attribute, self._steps)

    @cached_property
    def groups(self) -> Mapping[Any, Group]:
        """The groups of the invoice by element."""
        return {group.node: group for group in self.invoice.walk() if group.node is not None}

    def term_of(self, group: Group, field: str) -> str:
        """Return the business term of a field, also of one that the group lacks; "" if it has none.

        Of several terms, the one for an allowance or a charge, for its indicator, and so on.
        """
        if known := self.numbers.get((id(group), field)):
            return known
        numbers = [number for number in dict.fromkeys(terms_of(type(group), field)) if number]
        if len(numbers) == 2 and (choice := alternative(group, self.invoice)) is not None:
            return numbers[choice]
        return next(iter(numbers), "")

    def missing_at(self, finding: Finding) -> tuple[Group, str] | None:
        """Return the group and field of the leading term of a finding, if its group lacks it."""
        group = self.groups.get(finding.location.node)
        if group is None or not finding.terms:
            return None
        for name in group.fields:
            if finding.terms[0] in terms_of(type(group), name) and getattr(group, name) is absent:
                return group, name
        return None

    def line_of(self, node: Any) -> Line | None:
        """Return the line around an element; None outside of lines."""
        groups = (self.groups.get(it) for it in (() if node is None else (node, *node.iterancestors())))
        return next((it for it in groups if isinstance(it, Line)), None)

    def about(self, node: Any, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings inside of an element, and those whose leading term belongs there."""
        path, line = f"{plain_path(self.xpath(node))}/", self.line_of(node)
        found = []
        for it in findings:
            place = it.location.node
            inside = place is not None and is_within(place, node)
            if inside or (self.line_of(place) is line and self.path_of_leading(it).startswith(path)):
                found.append(it)
        return found

    def path_of_leading(self, finding: Finding) -> str:
        """Return the path of the leading term of a finding, without positions; "" if it has no terms."""
        return plain_path(path_of(finding.terms[0], self.syntax)) if finding.terms else ""

    def of_terms(self, terms: Sequence[str], within: Any = None) -> Iterator[Filled]:
        """Yield the values of these terms, in an element or in the whole document."""
        for it in self.values:
            if it.number in terms and (within is None or is_within(it.value.node, within)):
                yield it

    def check_of(self, finding: Finding) -> str:
        """Return the check of the syntax rule that reported a finding; "" for other findings."""
        return self.checks.get(finding.code, "")

    def set(self, value: Value, text: str) -> Edit:
        """Return the edit that gives a value another text."""
        path = self.xpath(value.node)
        return SetAttribute(path, value.attribute, text) if value.attribute else SetText(path, text)

    def give(self, group: Group, field: str, text: str) -> Edit | None:
        """Return the edit that sets a value of a group, or adds it; None if the syntax has no element for it."""
        value = getattr(group, field)
        return self.add(group, field, text) if value is absent else self.set(value, text)

    def add(self, group: Group, field: str, text: str, attributes: Mapping[str, str] | None = None) -> Edit | None:
        """Return the edit that adds a missing value of a group; None if the syntax has no element for it.

        An amount gets the currency of the invoice in UBL, and the element its other occurrences have.
        """
        steps = self._steps_to(group, field)
        if not steps:
            return None
        if steps[-1].startswith("@"):
            owner = self.root if group.node is None else group.node
            for step in steps[:-1]:
                owner = owner.find(step)
                if owner is None:
                    return None
            return SetAttribute(self.xpath(owner), steps[-1][1:], text)
        node = self.invoice.node if group.node is None else group.node
        names = tuple(location.name(step) for step in steps)
        return Insert(self.xpath(node), names, text, attributes or {})

    def _steps_to(self, group: Group, field: str) -> tuple[str, ...]:
        state = self.state(group)
        return next(iter(sorted(_paths(state, field), key=len)), ()) if state else ()

    def state(self, group: Group) -> State | None:
        """Return the state of the binding table for the element of a group."""
        if group.node is None:
            return None
        state = table_of(self.root.tag).start
        ancestors = [group.node, *group.node.iterancestors()]
        for element in reversed(ancestors[: ancestors.index(self.root)]):
            child = state.children.get(element.tag)
            if child is None:
                return None
            state = child
        return state

    @property
    def currency_attributes(self) -> dict[str, str]:
        """The attributes of an amount that is added."""
        currency = self.invoice.currency
        return {"currencyID": currency.text} if self.syntax == "UBL" and currency is not absent else {}


def decimal_text(number: Decimal, least: int = 0) -> str:
    """Return a number as xs:decimal, padded with zeros to a minimum number of decimals.

    >>> decimal_text(Decimal("12.5"), 2), decimal_text(Decimal("12.1250"), 2), decimal_text(Decimal("1E+2"))
    ('12.50', '12.125', '100')
    """
    whole, _, fraction = f"{number:f}".partition(".")
    fraction = fraction.rstrip("0").ljust(least, "0")
    return f"{whole}.{fraction}" if fraction else whole


def plain_path(path: str) -> str:
    """Return a path without conditions and positions, for invoices and credit notes alike.

    >>> plain_path("/ubl:Invoice/cac:InvoiceLine[2]/cbc:ID"), plain_path("/*/cbc:Note[1]")
    ('/*/cac:InvoiceLine/cbc:ID', '/*/cbc:Note')
    """
    return _ROOT.sub("/*", _CONDITION.sub("", path))


def needs_no_action(finding: Finding) -> bool:
    """Return whether a published override says that what a rule demands is not needed: the finding is information."""
    return finding.override is not None and finding.severity == "information"


def is_malformed(value: Value) -> bool:
    """Return whether a number or date is not written as such."""
    return isinstance(value, Number | Date) and value.filled and value.value is absent


def keys_of(it: Filled) -> Sequence[tuple[str, str]]:
    """Return under which keys a value is counted as readable: its term, and that with the name of each attribute."""
    number, value = it.number or it.field, it.value
    if not value.filled or is_malformed(value):
        return ()
    keys = [(number, "")]
    if getattr(it.group, "is_vat", False):
        keys.append((number, "is_vat"))
    if not value.attribute:
        keys += [(number, name) for name, text in value.attributes.items() if text.strip()]
    return keys


def _paths(state: State, field: str, of_parent: bool = False) -> Iterator[tuple[str, ...]]:
    """Yield the paths from the element of a group to a field."""
    for name, attribute in state.attributes:
        if attribute.field == field and attribute.of_parent == of_parent:
            yield (f"@{name}",)
    if state.own is not None and state.own.field == field:
        yield ()
    for tag, child in state.children.items():
        if child.kind == LEAF and child.field == field and child.of_parent == of_parent:
            yield (tag,)
        if child.kind in (LEAF, WRAPPER):
            for path in _paths(child, field, of_parent):
                yield (tag, *path)
        elif child.kind == GROUP and not of_parent:
            for path in _paths(child, field, of_parent=True):
                yield (tag, *path)
