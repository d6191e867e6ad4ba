"""Deviations of the official Schematron: each is computed, by running the rule of the standard beside the official."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from documents import document_of

from einvoice.model.invoice import Invoice
from einvoice.resources import shipped
from einvoice.rulebook.deviations import Comparison
from einvoice.rulebook.files.examples import examples_of
from einvoice.rulebook.program.build import RuleSets
from einvoice.syntax.reader import read
from einvoice.syntax.xml import parse

SHARED = Path(__file__).resolve().parents[2] / "shared"
RULE_SETS = RuleSets(shipped())
COMPARISONS = {
    (name, syntax): Comparison(RULE_SETS, name, syntax)
    for name, ruleset in RULE_SETS.sets.items()
    for syntax in ruleset.syntaxes
}
#: The cases of each folder, and the rule sets that they are compared with.
CASES = {"cases": ("en16931", "xrechnung", "xrechnung-extension"), "cases-facturx": ("en16931", "facturx")}

#: Rules whose files do not state the rule of the standard, which has one sentence for each syntax.
WITHOUT_NORM = {
    "BR-DEX-04",
    "BR-DEX-05",
    "BR-DEX-08",
    "PEPPOL-EN16931-R043-2",
    "PEPPOL-EN16931-R044",
    "PEPPOL-EN16931-R046",
    "PEPPOL-EN16931-R053",
    "PEPPOL-EN16931-R054",
    "PEPPOL-EN16931-R055",
}


def examples(name: str, syntax: str) -> Iterator[tuple[str, str, Invoice]]:
    """Yield code, name and invoice of each example."""
    for definition in RULE_SETS.definitions[name]:
        for _, example in examples_of(definition, syntax):
            yield definition.code, example.name, read(document_of(example, example.file, syntax))


def cases(folder: str) -> Iterator[tuple[str, str, Invoice]]:
    """Yield name, syntax and invoice of each case; the official rules do not apply to invalid XML documents."""
    with (SHARED / folder / "expected.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            if case.get("xsd", True):
                root = parse((SHARED / folder / case["case"]).read_bytes()).getroot()
                yield case["case"], case.get("syntax", "CII"), read(root)


def test_only_known_rules_do_not_state_the_standard() -> None:
    rules = [definition for definitions in RULE_SETS.definitions.values() for definition in definitions]
    assert {it.code for it in rules if not it.norm.assertion and not it.norm.not_applicable} == WITHOUT_NORM


@pytest.mark.parametrize(("name", "syntax"), COMPARISONS)
def test_examples_differ_only_where_a_deviation_says_so(name: str, syntax: str) -> None:
    comparison = COMPARISONS[name, syntax]
    unexplained = [
        (code, difference.direction, example)
        for code, example, invoice in examples(name, syntax)
        for difference in comparison.differences(invoice)
        if difference.code == code and not difference.deviations
    ]
    assert unexplained == []


@pytest.mark.slow
@pytest.mark.cases
@pytest.mark.skipif(not SHARED.exists(), reason="comparison cases are not available")
@pytest.mark.parametrize("folder", CASES)
def test_cases_differ_only_where_a_deviation_says_so(folder: str) -> None:
    unexplained = [
        (difference.code, difference.direction, case)
        for case, syntax, invoice in cases(folder)
        for name in CASES[folder]
        if (name, syntax) in COMPARISONS
        for difference in COMPARISONS[name, syntax].differences(invoice)
        if not difference.deviations
    ]
    assert unexplained == []


def test_every_deviation_is_shown_by_an_example() -> None:
    expected, shown = set(), set()
    for (name, syntax), comparison in COMPARISONS.items():
        expected |= set(comparison.deviations())
        for code, _, invoice in examples(name, syntax):
            for difference in comparison.differences(invoice):
                if difference.code == code:
                    shown |= {(code, index) for index in difference.deviations}
    assert sorted(expected - shown) == []
