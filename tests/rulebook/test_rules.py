"""Examples of all rules: evaluated on the model and on a document of each syntax."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from lxml import etree

from einvoice.authoring.check import program_of
from einvoice.errors import RuleError
from einvoice.model.invoice import Invoice
from einvoice.resources import shipped
from einvoice.rulebook.files.contexts import Contexts
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.example import Example
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
    """Yield each rule file with the rule set that states its rules, then with those that adopt them."""
    folders = shipped().sets
    adopted = {name: adopted_files(folders, ruleset) for name, ruleset in SETS.items()}
    for name in SETS:
        for path in rule_files(folders[name]):
            yield pytest.param(name, path, id=path.stem)
            for other in SETS:
                if path in adopted[other]:
                    yield pytest.param(other, path, id=f"{path.stem}-{other}")


def is_family(path: Path) -> bool:
    """Return whether a file states several rules, which differ in constants and individual keys."""
    return re.search(r"^\[?variants\b", path.read_text("utf-8"), re.MULTILINE) is not None


class Documents:
    """The latest documents of examples: rule sets that adopt a rule have most examples in common."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._known: dict[str, tuple[etree._Element, Invoice]] = {}

    def of(self, example: Example, syntax: str) -> tuple[etree._Element, Invoice]:
        """Return the document of an example in a syntax, and what was read from it."""
        ruleset = example.file.partition("/")[0]  # which can have a base invoice of its own
        key = repr((syntax, ruleset, replace(example, name="", file="", syntaxes=())))
        if key not in self._known:
            root = document_of(example, example.file, syntax)
            self._known[key] = root, read(root)
        while len(self._known) > self._size:
            del self._known[next(iter(self._known))]
        return self._known[key]


DOCUMENTS = Documents(300)


def failures(definition: Definition, known: Contexts, syntaxes: Iterable[str]) -> Iterator[str]:
    """Yield the examples that violate a valid rule, or that do not violate it although they should.

    Each is evaluated on the model, unless it inserts XML, and on a document of each syntax.
    """
    for syntax in syntaxes:
        if definition.resolved(syntax, definition.versions[0]).not_applicable:
            continue
        checked = check_rule(definition, syntax, definition.versions[0], known)
        assert checked is not None
        program = program_of(checked, syntax)
        for kind, example in examples_of(definition, syntax):
            root, invoice = DOCUMENTS.of(example, syntax)
            invoices = {"document": invoice}
            if not example.insert:
                invoices["model"] = invoice_of(example, shipped(), example.file, syntax)
            for source, it in invoices.items():
                if bool(program.run(it)) != (kind == "invalid"):
                    document = etree.tostring(root).decode()
                    yield f"{definition.code}, {syntax}, {kind}: {example.name}: on the {source} {document}"


FILES = [*every_file()]
FAMILIES = [param for param in FILES if is_family(param.values[1])]


def rules_of(path: Path, ruleset: str) -> list[Definition]:
    try:
        return read_file(path, SETS[ruleset], shipped().sets[ruleset])
    except RuleError:
        return []  # test_rulebook reports invalid files


def check_examples(definitions: Iterable[Definition], ruleset: str) -> None:
    found = [it for one in definitions for it in failures(one, contexts(ruleset), SETS[ruleset].syntaxes)]
    assert found == []


@pytest.mark.parametrize(("ruleset", "path"), FILES)
def test_examples_of_a_rule_file(ruleset: str, path: Path) -> None:
    """The examples of a rule, or of the first rule of a family."""
    definitions = rules_of(path, ruleset)
    check_examples(definitions[:1] if is_family(path) else definitions, ruleset)


@pytest.mark.slow
@pytest.mark.parametrize(("ruleset", "path"), FAMILIES)
def test_examples_of_the_other_rules_of_a_family(ruleset: str, path: Path) -> None:
    check_examples(rules_of(path, ruleset)[1:], ruleset)


@pytest.mark.slow
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
