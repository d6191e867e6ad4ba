"""Deviations of the official Schematron: each is computed, by running the rule of the standard beside the official."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from einvoice.authoring.deviations import Comparison, Difference
from einvoice.model.invoice import Invoice
from einvoice.resources import rules_folder
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.examples import examples_of
from einvoice.syntax.reader import read
from einvoice.syntax.xml import parse
from tests.cases import corpus
from tests.helpers.documents import document_of
from tests.helpers.rule_sets import shipped_rule_sets

#: The rule sets that are compared.
COMPARED = ("en16931", "xrechnung", "xrechnung-extension", "facturx", "nlcius", "peppol", "peppol-selfbilling")
#: The cases of each folder, and the rule sets that they are compared with.
CASES = {
    "generated": ("en16931", "xrechnung", "xrechnung-extension", "facturx", "nlcius", "peppol", "peppol-selfbilling"),
    "cases": ("en16931", "xrechnung", "xrechnung-extension"),
    "cases-facturx": ("en16931", "facturx"),
    "cases-nlcius": ("en16931", "nlcius"),
    "cases-peppol": ("en16931", "peppol"),
}


def with_cases(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that runs on all comparison cases."""
    return pytest.mark.slow(pytest.mark.cases(test))  # type: ignore[no-any-return]


class Found(NamedTuple):
    """A difference, with the document that shows it."""

    syntax: str
    difference: Difference
    document: str


@functools.cache
def comparisons() -> dict[tuple[str, str], Comparison]:
    """Return the comparison of each rule set in each of its syntaxes."""
    known = shipped_rule_sets()
    return {
        (name, syntax): Comparison(known, name, syntax) for name in COMPARED for syntax in known.sets[name].syntaxes
    }


def definitions() -> list[Definition]:
    return [definition for definitions in shipped_rule_sets().definitions.values() for definition in definitions]


@functools.cache
def by_examples() -> list[Found]:
    """Return the differences that the examples of a rule show on that rule."""
    return [
        Found(syntax, difference, example.name)
        for (name, syntax), comparison in comparisons().items()
        for definition in shipped_rule_sets().definitions[name]
        for _, example in examples_of(definition, syntax)
        for difference in comparison.differences(read(document_of(example, example.file, syntax)))
        if difference.code == definition.code
    ]


@functools.cache
def by_cases(folder: str) -> list[Found]:
    """Return the differences that the cases of a folder show."""
    return [
        Found(syntax, difference, case)
        for case, syntax, invoice in cases(folder)
        for name in CASES[folder]
        if (name, syntax) in comparisons()
        for difference in comparisons()[name, syntax].differences(invoice)
    ]


def cases(folder: str) -> Iterator[tuple[str, str, Invoice]]:
    """Yield name, syntax and invoice of each case; the official rules do not apply to invalid XML documents."""
    for case, data in corpus.generated() if folder == "generated" else corpus.read(folder):
        if case["xsd"]:
            yield case["case"], case["syntax"], read(parse(data).getroot())


def available() -> list[str]:
    """Return the folders that there are."""
    return [folder for folder in CASES if folder == "generated" or corpus.beside(folder)]


def test_rule_files_state_the_standard_alone() -> None:
    """What the official Schematron does otherwise is in the folder ``schematron``."""
    schematron = ("ubl", "cii", "history", "deviation", "renamed_from")
    tables = [
        (it.file, table) for it in definitions() for table in (it.data, it.data.get("variants", {}).get(it.code, {}))
    ]
    assert [(file, key) for file, table in tables for key in schematron if key in table] == []


def test_no_line_of_the_rule_data_is_too_long() -> None:
    files = rules_folder().rglob("*.toml")
    lines = [(path, line) for path in files for line in path.read_text("utf-8").splitlines() if len(line) > 120]
    assert lines == []


def test_every_rule_states_the_standard() -> None:
    assert [it.code for it in definitions() if not it.standard.assertion and not it.standard.not_applicable] == []


@pytest.mark.slow
def test_examples_differ_only_where_a_deviation_says_so() -> None:
    assert [found for found in by_examples() if not found.difference.deviations] == []


@with_cases
@pytest.mark.parametrize("folder", available())
def test_cases_differ_only_where_a_deviation_says_so(folder: str) -> None:
    assert [found for found in by_cases(folder) if not found.difference.deviations] == []


@with_cases
@pytest.mark.skipif(not corpus.beside(), reason="some deviations are shown only by documents beside the checkout")
def test_every_deviation_is_shown_by_a_document() -> None:
    documents = [*by_examples(), *(found for folder in available() for found in by_cases(folder))]
    shown = {(found.difference.code, index) for found in documents for index in found.difference.deviations}
    assert sorted({it for comparison in comparisons().values() for it in comparison.deviations()} - shown) == []
