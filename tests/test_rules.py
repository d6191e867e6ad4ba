"""Examples of all rules: evaluated on the model and on a document of each syntax."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cache

import pytest
from documents import ROOTS, document_of
from lxml import etree
from rule_sets import newest_stack

from einvoice.errors import RuleError
from einvoice.resources import shipped
from einvoice.rulebook.check import program_of
from einvoice.rulebook.files.contexts import Contexts
from einvoice.rulebook.files.definition import Definition, Example
from einvoice.rulebook.files.examples import examples_of, invoice_of
from einvoice.rulebook.files.load import adopted_files, read_file, rule_files
from einvoice.rulebook.files.versions import read_rulesets
from einvoice.rulebook.program.build import RuleSets, contexts_of
from einvoice.rulebook.program.engine import rulebook
from einvoice.rulebook.program.program import Program
from einvoice.rulebook.program.typecheck import check_rule
from einvoice.syntax.reader import read
from einvoice.syntax.writer import write
from einvoice.syntax.xml import parse

SETS = read_rulesets(shipped().sets)


@cache
def contexts(ruleset: str) -> Contexts:
    base = SETS[ruleset].base
    return contexts_of(SETS[ruleset], shipped(), {base: contexts(base)} if base else {})


@cache
def copies() -> tuple[dict[str, Contexts], list[Definition]]:
    """Return the copies of rules of EN 16931 in the Schematron of the Factur-X profiles, and their contexts."""
    of_copies, definitions = RuleSets(shipped()).copied_by("facturx")
    return of_copies, [definition for definition in definitions["en16931"] if definition.copied_by]


def definitions() -> Iterator[Definition]:
    """Yield the rules of all valid files; test_rulebook reports the invalid ones."""
    yield from copies()[1]
    for name, ruleset in SETS.items():
        folders = shipped().sets
        for file in (*rule_files(folders[name]), *adopted_files(folders, ruleset)):
            with suppress(RuleError):
                yield from read_file(file, ruleset, folders[name])


def every_example() -> list:
    return [
        pytest.param(definition, syntax, kind, example, id=f"{_name(definition)}-{syntax}-{kind}-{example.name}")
        for definition in definitions()
        for syntax in (["CII"] if definition.copied_by else definition.ruleset.syntaxes)
        if not definition.sentence(syntax, definition.versions[0]).not_applicable
        for kind, example in examples_of(definition, syntax)
    ]


def _name(definition: Definition) -> str:
    """Return the code of a rule, with the rule set that adopts or copies the rule from another one, if any."""
    if definition.copied_by:
        return f"{definition.code}-copied-by-{definition.copied_by}"
    return f"{definition.code}-{definition.layer}" if definition.is_adopted else definition.code


PROGRAMS: dict[tuple[str, str, str, str], Program] = {}


def program(definition: Definition, syntax: str) -> Program:
    """Return the compiled rule alone, cached for all of its examples."""
    key = (definition.file, definition.copied_by or definition.layer, definition.code, syntax)
    if key not in PROGRAMS:
        name = definition.ruleset.name
        known = copies()[0][name] if definition.copied_by else contexts(name)
        checked = check_rule(definition, syntax, definition.versions[0], known)
        assert checked is not None
        PROGRAMS[key] = program_of(checked, syntax)
    return PROGRAMS[key]


EXAMPLES = every_example()
WITHOUT_XML = [case for case in EXAMPLES if not case.values[3].insert]  # inserted XML needs a document
ARGUMENTS = ("definition", "syntax", "kind", "example")


@pytest.mark.parametrize(ARGUMENTS, WITHOUT_XML)
def test_example_on_the_model(definition: Definition, syntax: str, kind: str, example: Example) -> None:
    invoice = invoice_of(example, shipped(), example.file, syntax)
    violations = program(definition, syntax).run(invoice)
    assert bool(violations) == (kind == "invalid")


@pytest.mark.parametrize(ARGUMENTS, EXAMPLES)
def test_example_through_a_document(definition: Definition, syntax: str, kind: str, example: Example) -> None:
    root = document_of(example, example.file, syntax)
    violations = program(definition, syntax).run(read(root))
    assert bool(violations) == (kind == "invalid"), etree.tostring(root).decode()


def test_base_invoice_violates_no_rule() -> None:
    for syntax, root in ROOTS.items():
        invoice = read(parse(write(invoice_of(Example(""), shipped()), root)).getroot())
        assert rulebook().program(syntax, newest_stack()).run(invoice) == []
