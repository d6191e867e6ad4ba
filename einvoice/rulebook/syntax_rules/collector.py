"""Collects the elements that syntax rules inspect while a document is read, then evaluates the rules."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice.model import location
from einvoice.model.values import BLANKS, normalize_space
from einvoice.resources import RuleData
from einvoice.rulebook.syntax_rules import checks
from einvoice.rulebook.syntax_rules.checks import Occurrences
from einvoice.rulebook.syntax_rules.conditions import deciding
from einvoice.rulebook.syntax_rules.matcher import Matcher, Watch
from einvoice.rulebook.syntax_rules.rule import Conditions, SyntaxRule
from einvoice.rulebook.syntax_rules.stops import SINGLE, SINGLE_TEXT
from einvoice.rulebook.syntax_rules.table import Stack, rule_table
from einvoice.rulebook.syntax_rules.xpath import texts
from einvoice.syntax.mapping.tables import table_of
from einvoice.syntax.reader import ElementCollector
from einvoice.syntax.schema import is_required

_Matches: TypeAlias = list[tuple[Watch, list[Any]]]
NO_TEXT_NODES: Final[Mapping[Any, tuple[str, ...]]] = MappingProxyType({})
_DIGITS: Final = "[+-]?[0-9]*[.][0-9]*"
_elements: Final = itemgetter(1)
_SELLER: Final = "cac:AccountingSupplierParty"
_DISCOUNT: Final = "ram:ActualAmount"
_TAX_NUMBER: Final = "cbc:CompanyID"
_TAX_TYPE: Final = "cac:TaxScheme/cbc:ID"
_DISTINCT: Final = ("at_most_distinct", "at_most_distinct_words")
_MAX_ALLOWED: Final = 12
"""Maximum number of codes for texts to list all of them."""


class SyntaxViolation(NamedTuple):
    """A violation of a syntax rule.

    Attributes:
        rule: the violated rule.
        context: the element that the official finding refers to.
        found: the elements that the path of the rule selects, in document order for each path; empty if a required
            element is missing.
    """

    rule: SyntaxRule
    context: Any
    found: tuple[Any, ...]

    @property
    def code(self) -> str:
        """The code of the rule."""
        return self.rule.code

    @property
    def element(self) -> Any:
        """The element to report: the first surplus one, or the one with missing content."""
        check = self.rule.check
        if check in (SINGLE, SINGLE_TEXT):
            return self.found[1]
        if check in ("at_most", "exactly_one"):
            allowed = int(self.rule.argument or 1)
            return self.found[allowed] if len(self.found) > allowed else self.context
        return self.context if checks.CHECKS[check].always else self.found[0]

    @property
    def attribute(self) -> str | None:
        """The attribute of `element` to report; None for the element itself or a missing attribute."""
        return self.rule.attribute if self.found else None

    @property
    def values(self) -> dict[str, object]:
        """Values for the texts: number of elements, argument of the rule, content and name of the element.

        A code without content is `blank`. A wrong code that can be recognised also has `code`, and `intended`: the code
        that is probably meant. A currency that is given has `code`; if the invoice has another one, that is `required`,
        and where none is given `invoice_currency`. A code that is not among a few allowed ones has these as `allowed`.
        An empty element that the XML schema requires has the name of its parent as `required_in`; if that is
        the root, also `in_document`. The root is `is_document`. An element that is forbidden because of another
        one, or of an attribute, has the name of this condition, and that content as `deciding`. Elements that
        their parents have only once each are `one_each`. Entries of a payee that are given more than once have
        their number as `several`. An amount with more than digits and a point is `not_a_number`; if only white
        space around it is too much, it is `without_space`; if only zeros are, it is `without_zeros`. Several
        contents where one is allowed are `distinct`. Of elements that are required together, a missing one is
        `without_` with its name. Of a tax registration without a number, that of another one with the same tax
        type is `same_type`; if the others have no number either, that is `no_other_number`. Of one without a
        tax type, the number is `untyped`, and the VAT identifier of the seller beside it `vat_number`. A
        discount without its indicator is `without_indicator`.
        Texts of rules in the rule language call the content `actual`; texts of a Factur-X profile may do so too.
        """
        content = checks.content(self.rule, self.element) if self.found else ""
        if self.found and len(self.element) and self.rule.attribute is None:
            is_group = not (self.element.text or "").strip(BLANKS)  # indented or not
            content = normalize_space((" " if is_group else "").join(self.element.itertext()))
        values = {"count": len(self.found), "argument": self.rule.argument, "found": content, "name": self.name}
        if self.found and self.rule.check in checks.CURRENCY_CHECKS:
            values |= self._currencies()
        if self.found and (intended := checks.intended(self.rule, self.element)):
            values |= {"code": checks.code(self.rule, self.element), "intended": intended}
        if self.found and self.rule.check.startswith("in_code_list") and not content.strip(BLANKS):
            values["blank"] = True
        if self.rule.check == "payee_not_seller" and len(self.found) > 1:
            values["several"] = len(self.found)
        if self.rule.check == "at_most" and len({it.getparent() for it in self.found}) == len(self.found) > 1:
            values["one_each"] = True
        if self.rule.check == "not_blank" and is_required(self.element):
            parent = self.element.getparent()
            values["required_in"] = location.name(parent.tag)
            if parent.getparent() is None:
                values["in_document"] = True
        if self.rule.check == "not_blank" and self.element.getparent() is None:
            values["is_document"] = True
        if self.rule.check == "decimals":
            values |= self._amount(content)
        if self.rule.check == "one_of" and len(allowed := checks.choice(self.rule)) <= _MAX_ALLOWED:
            values["allowed"] = ", ".join(sorted(allowed))
        if self.rule.check in _DISTINCT:
            contents = (normalize_space(checks.content(self.rule, it)) for it in self.found)
            values["distinct"] = ", ".join(dict.fromkeys(contents))
        if self.rule.check == "all_of":
            names, known = re.findall(r":(\w+)(?:,|$)", self.rule.path), {location.name(it.tag) for it in self.found}
            values |= {f"without_{it}": True for it in names if not any(name.endswith(f":{it}") for name in known)}
            values |= self._other_registrations() if "without_CompanyID" in values else {}
            values |= self._with_vat_number() if "without_ID" in values else {}
        if self.rule.check == "discount" and {location.name(it.tag) for it in self.found} == {_DISCOUNT}:
            values["without_indicator"] = True
        values |= self._conditions()
        return {**values, "actual": content} if self.rule.of_profile else values

    def _other_registrations(self) -> dict[str, object]:
        """Return the number of another registration with the same tax type, or that no other one has a number."""
        party, types = self.context.getparent(), texts(self.context, _TAX_TYPE)
        others = [it for it in party.iterchildren(self.context.tag) if it is not self.context]
        numbers = {
            number: texts(it, _TAX_TYPE) for it in others for number in texts(it, _TAX_NUMBER) if number.strip(BLANKS)
        }
        if types and (same := next((it for it in numbers if numbers[it] == types), "")):
            return {"same_type": normalize_space(same)}
        return {"no_other_number": True} if others and not numbers else {}

    def _with_vat_number(self) -> dict[str, object]:
        """Return the number of a registration of the seller without a tax type, and that of one with VAT beside it."""
        party = self.context.getparent()
        numbers = {
            number: texts(it, _TAX_TYPE)
            for it in party.iterchildren(self.context.tag)
            for number in texts(it, _TAX_NUMBER)
        }
        untyped = next((it for it in texts(self.context, _TAX_NUMBER) if it.strip(BLANKS)), "")
        beside = next((it for it, types in numbers.items() if types == ["VAT"] and it != untyped), "")
        is_seller = party.getparent() is not None and location.name(party.getparent().tag) == _SELLER
        if not (is_seller and untyped and beside):
            return {}
        return {"untyped": normalize_space(untyped), "vat_number": normalize_space(beside)}

    def _amount(self, content: str) -> dict[str, object]:
        number = normalize_space(content)
        if not re.fullmatch(_DIGITS, number):
            return {"not_a_number": True}
        digits, limit = number.partition(".")[2], int(self.rule.argument)
        if len(digits) <= limit:
            return {"without_space": number}
        return {"without_zeros": number[: limit - len(digits)]} if not digits[limit:].strip("0") else {}

    def _conditions(self) -> dict[str, object]:
        """Return the condition that makes the element forbidden, by name, and what the element meets it by."""
        if self.rule.check != "forbidden" or not self.rule.has_conditions:
            return {}
        met = ((self.context, self.rule.context_conditions), (self.element, self.rule.path_conditions))
        names = {name: node for node, conditions in met for steps, name in conditions if steps == 0}
        read = {name: deciding(self.rule.syntax, name, node, self.rule.data) for name, node in names.items()}
        contents = {name: content for name, content in read.items() if content is not None}
        return {**dict.fromkeys(contents, True), "deciding": next(iter(contents.values()))} if contents else {}

    def _currencies(self) -> dict[str, object]:
        values: dict[str, object] = {"code": given} if (given := checks.code(self.rule, self.element)) else {}
        if self.rule.check != "in_invoice_currency":
            return values
        currencies = set(texts(self.element.getroottree().getroot(), "cbc:DocumentCurrencyCode"))
        required = currencies.pop() if len(currencies) == 1 else ""
        return {**values, "required" if given else "invoice_currency": required} if required.strip() else values

    @property
    def name(self) -> str:
        """The name of the element or attribute, with the usual prefix: `cbc:EndpointID/@schemeID`."""
        name = location.name(self.element.tag)
        return f"{name}/@{self.attribute}" if self.attribute else name


_MATCHERS: Final[dict[tuple[object, ...], Matcher]] = {}


class Collector(ElementCollector):
    """Elements of one document, collected by the reader for the syntax rules.

    Args:
        root: root element of the document to read.
        stack: the rule sets, each with its release.
        profile: name of the Factur-X profile whose rules apply besides, if any.
        data: the rule data; None is the shipped one.
        text_nodes: the text nodes of the elements that have several.
    """

    __slots__ = ("_root", "text_nodes")

    def __init__(
        self,
        root: Any,
        stack: Stack,
        profile: str = "",
        data: RuleData | None = None,
        text_nodes: Mapping[Any, tuple[str, ...]] = NO_TEXT_NODES,
    ) -> None:
        key = (root.tag, stack, profile, data)
        matcher = _MATCHERS.get(key)
        if matcher is None or matcher.is_full:
            table = table_of(root.tag)
            matcher = _MATCHERS[key] = Matcher(table, rule_table(table.syntax, stack, profile, data))
        super().__init__(matcher)
        self._root = root
        self.text_nodes = text_nodes

    def violations(self) -> list[SyntaxViolation]:
        """Return the violations in the order of the table, one for each context in which a rule is violated."""
        matches: defaultdict[SyntaxRule, _Matches] = defaultdict(list)
        elements_of: Mapping[Any, list[Any]] = self.elements
        for state, elements in elements_of.items():
            for watch in state.watches:
                matches[watch.rule].append((watch, elements))
            if state.repeat_watches and (len(elements) > 1 or self.text_nodes):
                for watch in state.repeat_watches:
                    matches[watch.rule].append((watch, elements))
        attributes: Mapping[tuple[Any, str], list[Any]] = self.attributes
        for (state, name), elements in attributes.items():
            for watch in state.attribute_watches[name]:
                matches[watch.rule].append((watch, elements))
        violations: list[SyntaxViolation] = []
        for rule, found in matches.items():
            check = checks.CHECKS[rule.check]
            if self.text_nodes and rule.check == SINGLE_TEXT:
                found = self._of_text_nodes(found)
            if check.select is not None:
                selected = check.select(rule, found[0][1] if len(found) == 1 else [*chain(*map(_elements, found))])
                if not selected:  # as in most documents
                    continue
                found = _only(found, set(selected))
            elif check.needed is not None and not any(check.needed(rule, elements) for _, elements in found):
                continue
            if found and (rule.minimum < 2 or _may_repeat(found)):
                violations += _check(rule, self._occurrences(rule, found))
        violations.sort(key=lambda violation: violation.rule.order)
        return violations

    def _of_text_nodes(self, matches: _Matches) -> _Matches:
        """Return each element as often as it has text nodes."""
        nodes = self.text_nodes.get
        return [(watch, [it for it in elements for _ in nodes(it, (it,))]) for watch, elements in matches]

    def _occurrences(self, rule: SyntaxRule, matches: _Matches) -> Occurrences:
        """Return the elements found for each element of the context."""
        occurrences: dict[Any, list[Any]] = {}
        for watch, elements in matches:
            if watch.is_context:
                for element in elements:
                    occurrences.setdefault(element, [])
                continue
            if watch.depth is None:
                occurrences.setdefault(self._root, []).extend(elements)
                continue
            steps = range(watch.depth)
            for element in elements:
                context = element
                for _ in steps:
                    context = context.getparent()
                if context in occurrences:
                    occurrences[context].append(element)
                else:
                    occurrences[context] = [element]
        if rule.is_anywhere and not rule.at_root:  # all contexts share the elements of the document
            found = occurrences.pop(self._root, [])
            return dict.fromkeys(occurrences, found)
        return occurrences


def _only(matches: _Matches, selected: set[Any]) -> _Matches:
    """Keep the elements that violate a rule about single elements."""
    kept = [(watch, [element for element in elements if element in selected]) for watch, elements in matches]
    return [(watch, elements) for watch, elements in kept if elements]


def _may_repeat(matches: _Matches) -> bool:
    """Return whether a context may have two elements: a quick test that settles most rules about repetition."""
    if len(matches) > 1:
        return True
    watch, elements = matches[0]
    if watch.depth is None or len(elements) < 2:
        return len(elements) > 1
    contexts = set(elements)
    if len(contexts) < len(elements):  # text nodes
        return True
    for _ in range(watch.depth):
        contexts = {element.getparent() for element in contexts}
        if len(contexts) < len(elements):
            return True
    return False


def _check(rule: SyntaxRule, occurrences: Occurrences) -> Iterator[SyntaxViolation]:
    violated = checks.CHECKS[rule.check].violated
    contexts = violated(rule, occurrences)
    if contexts and rule.has_conditions:  # evaluated last: without conditions a rule finds more violations, not fewer
        occurrences = _meeting_conditions(rule, {context: occurrences[context] for context in contexts})
        contexts = violated(rule, occurrences)
    for context in contexts:
        yield SyntaxViolation(rule, context, tuple(occurrences[context]))


def _meeting_conditions(rule: SyntaxRule, occurrences: Occurrences) -> Occurrences:
    """Return the elements that meet the conditions in the context and the path of the rule."""
    results: dict[tuple[str, Any], bool] = {}

    def meets(element: Any, conditions: Conditions) -> bool:
        for steps, name in conditions:
            ancestor = _ancestor(element, steps)
            if (name, ancestor) not in results:
                results[name, ancestor] = rule.condition(name)(ancestor)
            if not results[name, ancestor]:
                return False
        return True

    remaining = {
        context: [element for element in found if meets(element, rule.path_conditions)]
        for context, found in occurrences.items()
        if meets(context, rule.context_conditions)
    }
    always = checks.CHECKS[rule.check].always
    return {context: found for context, found in remaining.items() if found or always}


def _ancestor(element: Any, steps: int) -> Any:
    for _ in range(steps):
        element = element.getparent()
    return element
