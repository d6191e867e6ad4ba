"""Builds findings: from rule violations, syntax rule violations and catalog entries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from einvoice import codelists
from einvoice.code_catalog import catalog, entry
from einvoice.model.calculation import RULES, is_extended
from einvoice.model.group import Group
from einvoice.model.iteration import filled
from einvoice.model.location import labelled, name
from einvoice.model.terms import term, terms
from einvoice.model.values import Value
from einvoice.quotation import quote
from einvoice.resources import shipped
from einvoice.result import Finding, Language, Places, Severity
from einvoice.result.advice import Advice, Numbers
from einvoice.result.finding import UNKNOWN_RULE
from einvoice.result.location import NOWHERE
from einvoice.rulebook.rule import ACTUAL
from einvoice.rulebook.sections import section
from einvoice.rulebook.syntax_rules.table import shared_codes
from einvoice.syntax.paths import path_of, term_of_attribute
from einvoice.syntax.schema import is_optional, is_required
from einvoice.validation.element_terms import enclosing_group, is_elsewhere, terms_of_child, terms_of_elements

if TYPE_CHECKING:
    from einvoice.code_catalog import CatalogEntry
    from einvoice.model.invoice import Invoice
    from einvoice.reference import ReferenceFinding
    from einvoice.rulebook.program.program import Violation
    from einvoice.rulebook.syntax_rules.collector import SyntaxViolation
    from einvoice.rulebook.syntax_rules.rule import SyntaxRule
    from einvoice.syntax.schema.messages import SchemaViolation
    from einvoice.syntax.severity_overrides import Override
    from einvoice.validation.selection import RuleSelection

_NAMES: Final = r"[\w:]+(/[\w:]+)*"
_OF_AMOUNTS: Final = re.compile("BR-(DEC|S|Z|E|AE|IC|G|O|AF|AG)-[0-9]")
"""Codes of rules about the decimals of amounts, and about a VAT category."""
_OF_DECIMALS: Final = "BR-DEC-"
_WHOLE_CENTS: Final = r"\s*[-+]?[0-9]*\.[0-9]{0,2}0*\s*"
"""An amount of which only zeros or white space are too much."""
_TAX_AT_RATE: Final = "tax_at_rate"
"""Value of texts about an amount that is wrong in any standard: tax that is not the rate times the taxable amount."""
_PART_ONLY: Final = "DECL-PART-ONLY"
_FORBIDDEN: Final = "forbidden"
_NOT_BLANK: Final = "not_blank"
_AT_MOST: Final = "at_most"
_DECIMALS: Final = "decimals"
_SURPLUS: Final = "SCHEMA-SURPLUS-ELEMENT"
_REFUSED: Final = (_SURPLUS, "SCHEMA-UNKNOWN-ELEMENT", "SCHEMA-LATER-ELEMENT", "SCHEMA-WRONG-NAMESPACE")
"""Codes of findings about elements that the schema does not have."""
_EMPTY: Final = ("SCHEMA-MISSING-CONTENT", "SCHEMA-VALUE-EMPTY")
_VAT_TOTALS: Final = ("cbc:TaxAmount", "ram:TaxTotalAmount")
_MAX_VALUE_LENGTH: Final = 500
"""Maximum number of characters of a value quoted in a finding."""
_NO_VALUES: Final[Mapping[str, object]] = {}


class FindingBuilder:
    """Builds the findings of one document.

    Args:
        data: the XML of the document.
        invoice: the invoice read from it.
        selection: the rules that validate it.
        indicative: whether the document violates its XML schema.
        lang: default language of the findings.
    """

    def __init__(
        self, data: bytes, invoice: Invoice, selection: RuleSelection, indicative: bool, lang: Language
    ) -> None:
        self.places = Places(data)
        self._invoice = invoice
        self._rules = selection.data
        self._kinds = selection.kinds
        self._overrides = selection.overrides
        self._selection = selection
        self._indicative = indicative
        self._standard = selection.identity.profile if selection.identity.kind == "other" else ""
        self.lang = lang
        self._numbers = Numbers(invoice)
        self._terms: dict[Any, tuple[str, ...]] | None = None  # by element, computed on first use
        self._misnamed: list[tuple[Any, Mapping[str, str], tuple[str, ...]]] = []  # elements, values, what they may be

    def of_rule(self, violation: Violation, layer: str) -> Finding:
        """Return the finding for a violated rule."""
        rule, place = violation.rule, violation.place
        node = self._invoice.node if violation.node is None else violation.node
        if violation.diagnosis:
            terms = self._of_operand(violation.diagnosis.place, violation)
        else:
            terms = self._at_fault(violation) if rule.shared else violation.terms
        surplus = self._surplus(node)
        return self._finding(
            rule.code,
            rule.severity,
            layer,
            section=rule.section if terms[:1] == rule.terms[:1] else section(None, terms, rule.file),
            terms=terms,
            location=self.places.at(node, getattr(place, "attribute", None)),
            values={
                **violation.values,
                **({"term": terms[0]} if violation.diagnosis else {}),
                **self._misnamed_as(terms, node),
                **({"surplus": surplus} if surplus else {}),
            },
            override=self._overrides.get(rule.code),
            indicative=self._indicative,
            note_indices=violation.note_indices,
            situation=violation.situation,
            described_by=self._described_by(rule.code, layer),
            advice=self._advice(rule.code, node),
        )

    def _advice(self, code: str, node: Any, check: str = "") -> Advice | None:
        is_of_form = code.startswith(_OF_DECIMALS) or check == _DECIMALS
        if is_of_form and node is not None and re.fullmatch(_WHOLE_CENTS, node.text or ""):
            return None  # whatever is wrong with the amount, this finding is about how it is written
        is_of_number = code in RULES or _OF_AMOUNTS.match(code) or check == _DECIMALS
        return Advice(self._numbers, code, node) if is_of_number else None

    def of_syntax_rule(self, violation: SyntaxViolation, layer: str) -> Finding:
        """Return the finding for a violated syntax rule."""
        catalog_entry, values = self.entry(violation.rule.catalog_code or violation.code), violation.values
        own = self._terms_of_violation(violation, catalog_entry)
        if len(own) == 1 and any(it["value"] == "term" for it in catalog_entry.situations):
            values = {**values, "term": own[0]}
        if violation.rule.check == _FORBIDDEN:
            values = {**values, **_date_beside(violation.element), **_exemption_in(violation.element)}
        if surplus := self._surplus(violation.element if violation.attribute else violation.element.getparent()):
            values = {**values, "surplus": surplus}
        elif violation.rule.check == _FORBIDDEN and not violation.attribute:
            values = {**values, **_emptied(violation.element)}
        elif violation.rule.check == _AT_MOST and (left := _emptied(violation.element)):
            values = {**values, "left_empty": left["emptied"]}
        if violation.rule.check == _NOT_BLANK:
            known = self._terms_of_element(violation)  # not those of a group around an element without a term
            mandatory = self._mandatory([it for it in own if _is_term(it)])
            empty = _empty_around(violation.element) if mandatory else {}
            values = {**values, **mandatory, **empty, **self._contents(known)}
        situation = self._situation(catalog_entry, values)
        if violation.rule.check == _NOT_BLANK:
            number = (
                ""
                if situation.get("value") in ("mandatory", "group_may_go")
                else "".join(f" ({it})" for it in known[:1])
            )
            values = {**values, "name": "/".join(labelled(violation.element)) + number}
        terms = tuple(situation.get("terms", ())) or own
        if _is_of_rule_file(catalog_entry):  # its situations have conditions, and it leads with the term at fault
            terms, situation = (), {}
            values = {name: value for name, value in values.items() if name != ACTUAL}
        values = {**values, **self._misnamed_as(terms or catalog_entry.terms, violation.element)}
        return self._finding(
            violation.code,
            violation.rule.severity,
            layer,
            section=section(None, terms, violation.rule.table) if terms else catalog_entry.section,
            terms=terms or catalog_entry.terms,
            location=self.places.at(violation.element, violation.attribute),
            values=values,
            override=self._overrides.get(violation.code),
            indicative=self._indicative,
            note_indices=self._about_copy(violation.rule),
            situation=situation.get("key", ""),
            described_by=self._described_by(violation.code, layer)
            or self._described_by_row(violation.code, catalog_entry),
            advice=self._advice(violation.code, violation.element, violation.rule.check),
        )

    def of_schema(self, violation: SchemaViolation, layer: str) -> Finding:
        """Return the finding for a violation of an XML schema, about the terms that are missing or at the element."""
        element = violation.element
        missing = [self._terms_of_child(element, (name(tag),)) for tag in violation.missing]
        terms = tuple(dict.fromkeys(number for numbers in missing for number in numbers))
        values = {**violation.values, **self._values_of_missing(violation, missing)}
        if values.get("currency"):
            values |= self._currencies_of(element)
        parent = None if element is None else element.getparent()
        terms = terms or self.terms_at(element) or (() if violation.missing else self._terms_of_only_value(element))
        if surplus := self._surplus(parent if violation.code in _REFUSED else element):
            values["unused" if violation.code == _SURPLUS else "surplus"] = surplus
        if violation.code in _EMPTY and element is not None and parent is not None and is_required(element):
            values["required_in"] = name(parent.tag)
        elif violation.code in _EMPTY:
            values |= self._mandatory(terms)
        renamed = values.get("similar") or values.get("required")
        if renamed and element is not None and parent is not None:
            stated = {"misnamed": name(element.tag), "misnamed_line": str(violation.line), "renamed": str(renamed)}
            self._misnamed.append((element, stated, self._terms_of_child(parent, (str(renamed),))))
        return self.of_entry(violation.code, layer, element, values, terms)

    def _misnamed_as(self, numbers: Sequence[str], node: Any) -> Mapping[str, str]:
        """Return the values for the text about a missing term that an element with a wrong name seems to have."""
        for element, values, meant in self._misnamed:
            if not {*numbers[:1], *map(_parent_of, numbers[:1])}.isdisjoint(meant) and _is_in_same(element, node):
                return values
        return {}

    def of_entry(
        self, code: str, layer: str, node: Any, values: Mapping[str, object], terms: tuple[str, ...] = ()
    ) -> Finding:
        """Return the finding of a catalog entry; `terms` replace those of the entry, a `node` of None is no place."""
        catalog_entry = self.entry(code)
        situation = self._situation(catalog_entry, values)
        terms = tuple(situation.get("terms", ())) or terms
        return self._finding(
            code,
            catalog_entry.severity,
            layer,
            section=section(None, terms, catalog_entry.file) if terms else catalog_entry.section,
            terms=terms or catalog_entry.terms,
            location=NOWHERE if node is None else self.places.at(node),
            values=values,
            situation=situation.get("key", ""),
        )

    def of_report(
        self,
        report: ReferenceFinding,
        layer: str,
        node: Any,
        *,
        kind: str = "",
        described_by: CatalogEntry | None = None,
    ) -> Finding:
        """Return the finding for what an official artefact reported at an element.

        Args:
            report: code, severity and message.
            layer: the layer of the artefact.
            node: the element. It has the terms of a rule that the entry does not state.
            kind: of the layer.
            described_by: the entry with the texts; by default that of the code in the catalog.
        """
        # Texts of the catalog are about one element; the message of the artefact names the one that is meant.
        unclear = described_by or (entry(UNKNOWN_RULE) if report.code in shared_codes(shipped()) else None)
        known = unclear or catalog().get(report.code)
        terms = (known.terms if known else ()) or self.terms_at(node)
        return self._finding(
            report.code,
            report.flag,
            layer,
            severity=report.severity,
            section=known.section if known else section(None, terms, ""),
            terms=terms,
            location=self.places.at(node),
            indicative=self._indicative and layer != "schema",
            reported=report.text or report.test or report.code,
            described_by=unclear,
            kind=kind or self._kinds.get(layer, ""),
        )

    def _finding(
        self,
        code: str,
        flag: str,
        layer: str,
        *,
        severity: str | None = None,
        override: Override | None = None,
        values: Mapping[str, object] = _NO_VALUES,
        **details: Any,
    ) -> Finding:
        """Return a finding.

        Args:
            code, flag, layer: as of `Finding`.
            severity: effective severity; by default that of the override, or else `flag`.
            override: published override of the severity of the rule.
            values: values of the texts, which are shortened.
            details: further fields of `Finding`.
        """
        effective = severity or (override.severity if override else flag)
        return Finding(
            code=code,
            severity=cast("Severity", effective),
            flag=cast("Severity", flag),
            layer=layer,
            values=_quotable(values),
            override=override if effective != flag else None,
            lang=self.lang,
            standard=self._standard if layer in self._kinds and _TAX_AT_RATE not in values else "",
            **{"kind": self._kinds.get(layer, ""), **details},
        )

    def _surplus(self, element: Any) -> str:
        """Return the name of the element without a business term that contains an element, or is it; "" if none does.

        A profile with its own XML schema provides for elements that EN 16931 does not have, and so may an extension
        whose rules are not here.
        """
        profile, specification = self._selection.profile, self._selection.specification
        is_unknown = specification.kind == "extension" and _PART_ONLY in specification.remarks
        if element is None or is_unknown or (profile and profile.is_schema):
            return ""
        around = (element, *element.iterancestors())
        found = next((it for it in around if it in self._invoice.unmapped), None)
        return name(found.tag) if found is not None and is_optional(found) else ""

    def _mandatory(self, numbers: Sequence[str]) -> Mapping[str, str]:
        """Return the value for the text about an empty element that EN 16931 requires in its group."""
        for number in numbers[:1]:
            known, syntax = terms().get(number), self._invoice.syntax
            is_group = known is not None and path_of(known.parent, syntax) == path_of(number, syntax)
            if known is not None and known.cardinality.startswith("1") and not is_group:
                return {"mandatory": number}
        return {}

    def _contents(self, numbers: Sequence[str]) -> Mapping[str, str]:
        """Return the value for the text about an empty group: itself if it is mandatory, else what it must contain.

        Terms of the XRechnung extension only count in a document that declares an extension.
        """
        if not numbers or _is_term(numbers[0]):
            return {}
        if term(numbers[0]).cardinality == "1..1":
            return {"mandatory": numbers[0]}
        contents = self._required_in(numbers[0])
        if numbers[0].startswith("BG-DEX-") and is_extended(self._invoice):
            contents = [it.number for it in terms().values() if it.parent == numbers[0] and it.cardinality[0] == "1"]
        return {"contents": ", ".join(contents)} if contents else {}

    def _currencies_of(self, element: Any) -> dict[str, object]:
        """Return values for the text about an amount without a currency: that of the invoice, or two possible ones.

        Empty if the currency is unknown. A VAT total is in the invoice currency or in the accounting currency; the
        amounts of a VAT breakdown entry never are in the latter.
        """
        code, tax_code = str(self._invoice.currency), str(self._invoice.tax_currency)
        is_breakdown = element.getparent() is not None and name(element.getparent().tag) == "cac:TaxSubtotal"
        if tax_code and name(element.tag) in _VAT_TOTALS and not is_breakdown:
            return {"tax_currency": tax_code}
        return {"invoice_currency": code} if code in codelists.codes("currencies", data=self._rules) else {}

    def _values_of_missing(
        self, violation: SchemaViolation, missing: Sequence[tuple[str, ...]]
    ) -> Mapping[str, object]:
        """Return values for the texts about missing elements: a term, what a group has to contain, or several terms."""
        numbers = [number for found in missing for number in found]
        if len(missing) == 1 and numbers:
            contents = ", ".join(self._required_in(numbers[0]))
            may_go = terms()[numbers[0]].cardinality.startswith("0") and _may_go(violation.element)
            known = {"contents": contents} if contents else {"of_empty": numbers[0]} if may_go else {}
            return {"term": numbers[0], **known}
        if not numbers:
            held = ", ".join(self._required_below(violation.element, violation.missing[0])) if len(missing) == 1 else ""
            return {"holds": held} if held else {}
        labels = [
            f"{name(tag)} ({found[0]})" if found else name(tag)
            for tag, found in zip(violation.missing, missing, strict=True)
        ]
        short = [found[0] if found else name(tag) for tag, found in zip(violation.missing, missing, strict=True)]
        return {"labelled": ", ".join(labels), "numbers": ", ".join(short)}

    def _required_in(self, group: str) -> Sequence[str]:
        """Return the terms and groups that a group must contain; in a Factur-X profile, those that it has.

        Terms of attributes are left out: they are only required together with the term of their element.
        """
        numbers = [it.number for it in terms().values() if it.parent == group and it.cardinality[0] == "1"]
        return self._supported(numbers)

    def _required_below(self, element: Any, tag: str) -> Sequence[str]:
        """Return the outermost terms and groups that a missing element without a term must contain."""
        syntax = self._invoice.syntax
        names = [*reversed([name(it.tag) for it in (element, *element.iterancestors())]), name(tag)]
        path = "/".join(("", names[0] if syntax == "CII" else "*", *names[1:], ""))
        below = {it.number: it.parent for it in terms().values() if path_of(it.number, syntax).startswith(path)}
        outermost = [number for number, parent in below.items() if parent not in below]
        return self._supported([it for it in outermost if terms()[it].cardinality[0] == "1"])

    def _supported(self, numbers: Sequence[str]) -> Sequence[str]:
        """Return the terms and groups that the Factur-X profile has, if there is one, without those of attributes."""
        numbers = [it for it in numbers if it.count("-") == 1]
        if self._selection.profile is None:
            return numbers
        from einvoice.facturx.business_terms import supports
        from einvoice.facturx.profile import profile_named

        profile = profile_named(self._selection.profile.name)
        return [it for it in numbers if any(supports(profile, term) for term in (it, *_terms_in(it)))]

    def entry(self, code: str) -> CatalogEntry:
        """Return the catalog entry of a code; raise `KeyError` for an unknown one."""
        return entry(code, self._rules)

    def _at_fault(self, violation: Violation) -> tuple[str, ...]:
        """Return the terms of a violation, that of its value first; of a rule about single values, only that term.

        The official Schematron also checks values at places where the standard has another term for them.
        """
        own = self._terms_of(violation.node)
        if isinstance(violation.item, Value):
            return own
        place = violation.place
        is_other = violation.leads_with_its_place and isinstance(place, Value) and not place.attribute
        if isinstance(place, Group) and any(map(_is_term, own)):
            return violation.terms  # a value in this group is missing: not the one that the group's element stands for
        known = set(own) <= set(violation.alternatives)
        return tuple(dict.fromkeys((*own, *violation.terms))) if known or is_other else violation.terms

    def _of_operand(self, value: Any, violation: Violation) -> tuple[str, ...]:
        """Return the terms of a violation, that of the malformed value first: periods and prices share a class."""
        own = self._terms_of(value.node) if isinstance(value, Value) and value.attribute is None else ()
        return tuple(dict.fromkeys((*own, *violation.terms)))

    def _terms_of_violation(self, violation: SyntaxViolation, catalog_entry: CatalogEntry) -> tuple[str, ...]:
        """Return the term of the attribute or element that violates a syntax rule.

        If it has none, the group that contains it, provided that the rule has no terms, names the group or has only
        terms of other groups; otherwise the terms of the rule that can be in this group.
        """
        if own := self._terms_of_element(violation):
            return own
        group = enclosing_group(violation.element, self._terms or {})
        known = catalog_entry.terms
        here = tuple(it for it in known if not group or not is_elsewhere(it, group))
        return (group,) if group and (group in known or not here) else here

    def _terms_of_element(self, violation: SyntaxViolation) -> tuple[str, ...]:
        """Return the term of the attribute or element that violates a syntax rule; empty if it has none."""
        element, rule = violation.element, violation.rule
        own = self.terms_at(element)
        if not violation.found and re.fullmatch(_NAMES, rule.path):
            own = self._terms_of_child(element, rule.path.split("/")) or own
        if not own and violation.found and violation.attribute is None and element.getparent() is not None:
            own = tuple(it for it in self._terms_of_child(element.getparent(), (name(element.tag),)) if _is_term(it))
        of_attribute = own and violation.attribute and self._term_of_attribute(own[0], element, violation.attribute)
        return (of_attribute,) if of_attribute else own

    def _term_of_attribute(self, number: str, element: Any, attribute: str) -> str:
        """Return the business term of an attribute: that of its value, or that of the scheme of a term; "" for none."""
        values = (it for it in filled(self._invoice) if it.value.node is element and it.value.attribute == attribute)
        return next((it.number for it in values if it.number), "") or term_of_attribute(number, attribute)

    def _about_copy(self, rule: SyntaxRule) -> tuple[int, ...]:
        """Return the notes about the copy of a rule of EN 16931 that the profile applies instead."""
        if not rule.of_profile:
            return ()
        return tuple(index for index, note in enumerate(self.entry(rule.code).notes) if note["ruleset"] == rule.ruleset)

    def _described_by(self, code: str, layer: str) -> CatalogEntry | None:
        """Return the catalog entry of a rule in an added rule set; None for the rules that are shipped."""
        return self.entry(code) if layer in self._rules.added else None

    def _described_by_row(self, code: str, of_row: CatalogEntry) -> CatalogEntry | None:
        """Return the entry of a row under the number of the profile, unless the entry of that number has its texts."""
        return None if code == of_row.code or self.entry(code).texts == of_row.texts else of_row._replace(code=code)

    def _situation(self, catalog_entry: CatalogEntry, values: Mapping[str, object]) -> Mapping[str, Any]:
        """Return the first situation of a rule without conditions that applies, by syntax and values; {} for none."""
        for it in catalog_entry.situations:
            elements = ("", values.get("name"), values.get("element"))
            is_selected = it["syntax"] in ("", self._invoice.syntax) and it.get("element", "") in elements
            if not is_selected or (it["value"] and not values.get(it["value"])):
                continue
            code_list = it.get("code_of")
            stated = values.get("code") or values.get("found")  # the code of an amount is its currency
            if not code_list or stated in codelists.codes(code_list, data=self._rules):
                return it
        return {}

    def terms_at(self, element: Any) -> tuple[str, ...]:
        """Return the business term of an element; of a surplus one without, that of the first one with this name."""
        if (own := self._terms_of(element)) or element is None:
            return own
        first = next((it for it in element.itersiblings(element.tag, preceding=True) if self._terms_of(it)), None)
        return self._terms_of(first)

    def _terms_of_only_value(self, element: Any) -> tuple[str, ...]:
        """Return the term of the only value in an element, such as a date in CII; else that of a sibling before it."""
        if element is None:
            return ()
        leaves = map(_only_leaf, (element, *element.itersiblings(element.tag, preceding=True)))
        return next((found for it in leaves if (found := self._terms_of(it))), ())

    def _terms_of_child(self, parent: Any, names: Sequence[str]) -> tuple[str, ...]:
        """Return the business term of a missing element, by the names of the elements on its path."""
        self._terms_of(parent)
        return terms_of_child(parent, names, self._terms or {}, self._invoice.syntax)

    def _terms_of(self, element: Any) -> tuple[str, ...]:
        """Return the business term of an element; empty if it is ambiguous."""
        if self._terms is None:
            self._terms = terms_of_elements(self._invoice)
        return self._terms.get(element, ())


def _parent_of(number: str) -> str:
    return terms()[number].parent if number in terms() else ""


def _is_in_same(element: Any, node: Any) -> bool:
    """Return whether an element is in the line, VAT breakdown or other group of another one that has such a group."""
    groups = (it for it in element.iterancestors() if it.getparent() is not None)
    group = next((it for it in groups if len(it.getparent().findall(it.tag)) > 1), None)
    return group is None or all(it is group for it in (node, *node.iterancestors()) if it.tag == group.tag)


def _date_beside(element: Any) -> Mapping[str, str]:
    """Return the value for the text about a date and time in CII that stands beside the date it may contradict."""
    if not element.tag.endswith("}DateTime"):
        return {}
    beside = element.getparent().find("{*}DateTimeString")
    return {} if beside is None or not beside.text else {"beside": beside.text.strip()}


def _exemption_in(element: Any) -> Mapping[str, str]:
    """Return the value for the text about an element that contains a reason for a tax exemption or its code."""
    inner = (it for it in element.iterdescendants("*") if "ExemptionReason" in name(it.tag))
    found = next((text for it in inner if (text := (it.text or "").strip())), "")
    return {"exemption": quote(found)} if found else {}


def _emptied(element: Any) -> Mapping[str, str]:
    """Return the value for the text about an element without which another one, the outermost such, would be empty."""
    outermost = None
    for it in element.iterancestors():
        if it.getparent() is None or len(it.xpath("*")) > 1 or not is_optional(it):
            break
        outermost = it
    return {} if outermost is None else {"emptied": name(outermost.tag)}


def _empty_around(element: Any) -> Mapping[str, str]:
    """Return the value for the text about an empty element in another one, the outermost such, that can be left out."""
    outermost = next((it for it in reversed([*element.iterancestors()]) if _may_go(it)), None)
    return {} if outermost is None else {"group_may_go": name(outermost.tag)}


def _may_go(element: Any) -> bool:
    """Return whether an element has no text in it and can be left out."""
    return not any(text.strip() for text in element.itertext()) and is_optional(element)


def _is_of_rule_file(catalog_entry: CatalogEntry) -> bool:
    """Return whether a rule file describes a rule, as for a rule of EN 16931 that only a profile still has."""
    folder, _, name = catalog_entry.file.partition("/")
    return bool(folder) and "/" not in name


def _terms_in(group: str) -> list[str]:
    """Return the terms directly in a group."""
    return [it.number for it in terms().values() if it.parent == group and _is_term(it.number)]


def _only_leaf(element: Any) -> Any:
    """Return the innermost element of one in which each contains a single one."""
    while len(element) == 1:
        element = element[0]
    return element


def _is_term(number: str) -> bool:
    """Return whether a number is that of a business term, not of a group."""
    return term(number).datatype != "Group"


def _quotable(values: Mapping[str, object]) -> dict[str, Any]:
    """Shorten and escape text values: document text may be long or contain control characters."""
    return {
        name: quote(value, limit=_MAX_VALUE_LENGTH) if isinstance(value, str) else value
        for name, value in values.items()
    }
