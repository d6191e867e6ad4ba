"""Syntax rules: every row of the tables, contexts and parity."""

import re
from collections import Counter

import pytest
from lxml import etree

from einvoice import cache
from einvoice.model.location import NAMESPACES, xpath
from einvoice.resources import shipped
from einvoice.rulebook.files.conditions import FILE, conditions, xpath_of
from einvoice.rulebook.syntax_rules import checks, collector
from einvoice.rulebook.syntax_rules.collector import Collector
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.table import rows, rule_table, stop_rows
from einvoice.syntax import reader, states, xml
from einvoice.syntax.schema.files import PROFILES
from tests.cases import corpus
from tests.helpers import builder
from tests.helpers.rule_sets import ELEMENTS, TABLES, table
from tests.helpers.syntax_rules import STACK, all_violations, cii_document, codes, ubl_document, violations

SYNTAXES = ("UBL", "CII")
UNREACHABLE = {"CII-DT-010", "CII-DT-011", "CII-DT-012"}  # an earlier context has all their elements


def every_row(syntax):
    """Return the rules of all tables in all releases."""
    return [
        SyntaxRule(order, syntax, *row)
        for name, _ in STACK
        for order, row in enumerate((*rows(shipped().sets[name], syntax), *stop_rows(shipped().sets[name], syntax)))
    ]


# ---------------------------------------------------------------- the tables


@pytest.mark.parametrize(
    ("syntax", "families"),
    [("UBL", {"UBL-CR": 678, "UBL-SR": 54, "UBL-DT": 24}), ("CII", {"CII-SR": 482, "CII-DT": 101})],
)
def test_every_code_has_one_row(syntax, families):
    rules = [rule for rule in rule_table(syntax, STACK).rules if rule.table == table(ELEMENTS, syntax)]
    assert Counter(rule.code[:6] for rule in rules) == families
    assert len({rule.code for rule in rules}) == len(rules)


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_rows_follow_the_notation(syntax):
    for rule in every_row(syntax):
        assert rule.check in checks.CHECKS, rule.code
        assert rule.severity in ("warning", "fatal"), rule.code
        assert {pattern.conditions for pattern in rule.contexts()} == {rule.context_conditions}, rule.code
        assert {path.anywhere for path in rule.paths()} == {rule.is_anywhere}, rule.code


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_conditions_are_used_only_with_checks_that_evaluate_them_last(syntax):
    for rule in rule_table(syntax, STACK).rules:
        if rule.has_conditions:
            assert rule.check in {
                "forbidden",
                "at_most",
                "decimals",
                "date",
                "payee_not_seller",
                "in_code_list",
                "in_invoice_currency",
                "single",
                "single_text",
                "numeric",
                "matches",
                "max_length",
                "non_blank",
                "number_form",
                "meets",
            }, rule.code


def test_every_check_and_condition_is_used():
    rules = [rule for syntax in SYNTAXES for rule in every_row(syntax)]
    rules += [rule for profile in PROFILES for rule in rule_table("CII", STACK, profile).rules]
    assert set(checks.CHECKS) <= {rule.check for rule in rules}
    used = {(rule.syntax, name) for rule in rules for _, name in (*rule.context_conditions, *rule.path_conditions)}
    used |= {(rule.syntax, rule.argument) for rule in rules if rule.check in ("only_if", "meets")}
    written = {(syntax, name): str(it) for syntax in SYNTAXES for name, it in conditions(syntax).items()}
    used |= {(syntax, name) for (syntax, _), it in written.items() for name in re.findall(r"{(\w+)}", it)}
    assert set(written) <= used


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_each_condition_has_a_name_of_its_own(syntax):
    names = [name for path in shipped().files(FILE) for name in cache.toml(path).get(syntax, ())]
    assert len(set(names)) == len(names)
    for name in names:
        assert etree.XPath(xpath_of(syntax, name), namespaces=NAMESPACES), name


# ---------------------------------------------------------------- every row


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_every_rule_is_violated_by_a_document_made_from_it(syntax):
    rules = rule_table(syntax, STACK).rules
    silent = {rule.code for rule in rules if rule not in {it.rule for it in all_violations(builder.document(rule))}}
    assert silent == {code for code in UNREACHABLE if code.startswith(syntax)}


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_violation_has_the_place_of_its_element(syntax):
    for rule in rule_table(syntax, STACK).rules:
        root = builder.document(rule)
        for violation in violations(root):
            assert violation.context in (violation.element, *violation.element.iterancestors()) or rule.is_anywhere
            assert violation.attribute is None or violation.element.get(violation.attribute) is not None
            assert violation.values["count"] == len(violation.found)
            assert root.getroottree().xpath(xpath(violation.element, violation.attribute), namespaces=NAMESPACES)


@pytest.mark.parametrize("checked", TABLES)
@pytest.mark.parametrize("name", ["ubl-invoice.xml", "ubl-credit-note.xml", "cii-invoice.xml"])
def test_a_valid_invoice_violates_no_rule(sample, name, checked):
    root = xml.parse(sample(name).read_bytes()).getroot()
    assert codes(root, checked) == {}


@pytest.mark.parametrize("name", ["ubl-invoice.xml", "ubl-credit-note.xml", "cii-invoice.xml"])
def test_the_collector_does_not_change_the_invoice(sample, name):
    root = xml.parse(sample(name).read_bytes()).getroot()
    assert reader.read(root, Collector(root, STACK)) == reader.read(root)


# ---------------------------------------------------------------- contexts


def test_a_rule_of_the_root_is_violated_once():
    (violation,) = violations(ubl_document("<cbc:UUID/><cbc:UUID>again</cbc:UUID>"))
    assert (violation.code, violation.context.tag, len(violation.found)) == (
        "UBL-CR-005",
        violation.context.getroottree().getroot().tag,
        2,
    )
    assert violation.element is violation.found[0]


def test_a_rule_of_an_element_is_violated_in_each():
    root = ubl_document("<cac:PartyTaxScheme/><cac:Delivery><cac:PartyTaxScheme/></cac:Delivery>")
    assert codes(root)["UBL-SR-53"] == 2


def test_the_first_surplus_element_is_reported():
    (violation,) = violations(ubl_document("<cac:InvoicePeriod/>" * 3))
    assert violation.code == "UBL-SR-08"
    assert violation.element is violation.found[1]
    assert violation.values == {"count": 3, "argument": "1", "found": "", "name": "cac:InvoicePeriod"}


def test_a_missing_element_is_reported_at_its_parent():
    root = ubl_document("<cac:PartyTaxScheme><cbc:CompanyID/></cac:PartyTaxScheme>")
    (violation,) = violations(root)
    assert (violation.code, violation.element) == ("UBL-SR-53", root[0])


@pytest.mark.parametrize("root", ["Invoice", "CreditNote"])
@pytest.mark.parametrize("line", ["InvoiceLine", "CreditNoteLine"])
def test_lines_of_both_roots_are_checked_in_both(root, line):
    document = ubl_document(f"<cac:{line}><cbc:UUID/><cbc:Note/><cbc:Note/></cac:{line}>", root)
    assert codes(document) == {"UBL-CR-515": 1, "UBL-SR-34": 1, "UBL-SR-48": 1}


def test_extensions_are_checked_by_rules_without_a_fixed_depth():
    amount = "<cac:Delivery><cbc:FooAmount>1.234</cbc:FooAmount></cac:Delivery>"
    inner = f"<cac:PartyTaxScheme/><cbc:UUID languageID=''/>{amount}"
    extension = f"<ext:UBLExtension><ext:ExtensionContent>{inner}</ext:ExtensionContent></ext:UBLExtension>"
    root = ubl_document(f"<ext:UBLExtensions>{extension}</ext:UBLExtensions>")
    assert codes(root) == {"UBL-CR-001": 1, "UBL-SR-53": 1, "UBL-DT-19": 1, "UBL-DT-01": 1}


def test_names_are_compared_with_their_namespace():
    assert codes(ubl_document('<UUID xmlns=""/><cac:UUID/>')) == {}
    assert codes(ubl_document('<FooAmount xmlns="">1.234</FooAmount>')) == {"UBL-DT-01": 1}
    assert codes(cii_document('<FooAmount xmlns="" currencyID="EUR"/>')) == {}
    assert codes(cii_document('<ram:FooAmount currencyID="EUR"/>')) == {"CII-DT-031": 1}


def test_an_attribute_with_a_namespace_is_ignored():
    assert codes(ubl_document('<cbc:ID xmlns:x="urn:x" x:schemeID=""/>')) == {}
    assert codes(ubl_document('<cbc:ID schemeID=""/>')) == {"UBL-CR-650": 1}


def test_attributes_of_the_root_are_checked():
    root = ubl_document("")
    root.set("languageID", "de")
    assert codes(root) == {"UBL-DT-19": 1}


# ---------------------------------------------------------------- untrusted documents


def test_states_are_limited_without_a_change_of_violations(monkeypatch):
    monkeypatch.setattr(states, "LIMIT", 10)
    monkeypatch.setattr(collector, "_MATCHERS", {})
    junk = "".join(f"<cbc:X{number}/>" for number in range(20))
    line = "<cac:InvoiceLine><cbc:Note/><cbc:Note/><cbc:UUID/></cac:InvoiceLine>"
    expected = {"UBL-CR-515": 1, "UBL-SR-34": 2, "UBL-SR-48": 2}
    full = ubl_document(junk + line * 2)
    filled = Collector(full, STACK)
    reader.read(full, filled)
    assert Counter(found.code for found in filled.violations() if found.rule.table == "en16931/ubl") == expected
    assert filled.states.is_full
    assert len(filled.states.start.next) == 10
    assert codes(ubl_document(line * 2)) == expected
    assert Collector(full, STACK).states is not filled.states  # the next document starts with an empty matcher


# ---------------------------------------------------------------- parity


@pytest.mark.cases
@pytest.mark.parametrize("folder", corpus.available(*corpus.UBL, *corpus.BESIDE))
def test_violations_agree_with_the_official_schematron(cases, folder):
    compared = 0
    for case, data in cases(folder):
        fired = case["fired"]["en16931"]
        if isinstance(fired, dict):  # the official Schematron stopped
            continue
        official = {
            (code, flag, _without_prefix_of_root(place))
            for code, flag, place in fired
            if code.startswith(("UBL-", "CII-"))
        }
        root = xml.parse(data).getroot()
        result = {
            (violation.code, violation.rule.severity, _without_prefix_of_root(xpath(violation.context)))
            for violation in violations(root)
        }
        assert result == official, case["case"]
        compared += 1
    assert compared


def _without_prefix_of_root(place):
    """Return the path as the official findings write it: prefix of the document, no [1]."""
    first, _, rest = place.lstrip("/").partition("/")
    return f"{first.rpartition(':')[2]}/{rest.replace('[1]', '')}"
