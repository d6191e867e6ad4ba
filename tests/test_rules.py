"""Every example of every rule: on the model with the words of each syntax, and through a document of that syntax."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pytest
from lxml import etree

from einvoice.data import rules_folder
from einvoice.model.source import NAMESPACES
from einvoice.rulebook.build import Shelf
from einvoice.rulebook.check import program_of
from einvoice.rulebook.engine import Program, rulebook
from einvoice.rulebook.examples import examples_of, invoice_of
from einvoice.rulebook.load import Definition, Example
from einvoice.rulebook.proof import prove
from einvoice.rulebook.rule import SYNTAXES
from einvoice.syntax.reader import read
from einvoice.syntax.writer import write
from einvoice.syntax.xml import parse

SHELF = Shelf(rules_folder())
ROOTS = {"UBL": "Invoice", "CII": "CrossIndustryInvoice"}


def every_example() -> list:
    return [
        pytest.param(definition, syntax, kind, example, id=f"{definition.code}-{syntax}-{kind}-{example.about}")
        for definitions in SHELF.definitions.values()
        for definition in definitions
        for syntax in SYNTAXES
        if not definition.sentence(syntax, definition.versions[0]).never
        for kind, example in examples_of(definition, syntax)
    ]


@cache
def program(file: str, code: str, syntax: str) -> Program:
    definitions = SHELF.definitions[file.partition("/")[0]]
    definition = next(it for it in definitions if it.code == code)
    proof = prove(definition, syntax, definition.versions[0], SHELF.contexts[definition.ruleset.name])
    assert proof is not None
    return program_of(proof, syntax)


@pytest.mark.parametrize(("definition", "syntax", "kind", "example"), every_example())
class TestExamples:
    def test_on_the_model(self, definition: Definition, syntax: str, kind: str, example: Example) -> None:
        if example.insert:
            pytest.skip("only a document can say it")
        invoice = invoice_of(example, rules_folder(), definition.file, syntax)
        fired = program(definition.file, definition.code, syntax).run(invoice)
        assert bool(fired) == (kind == "invalid")

    def test_through_a_document(self, definition: Definition, syntax: str, kind: str, example: Example) -> None:
        document = write(invoice_of(example, rules_folder(), definition.file), ROOTS[syntax])
        root = parse(document).getroot()
        insert(root, example.insert.get(syntax, {}))
        fired = program(definition.file, definition.code, syntax).run(read(root))
        assert bool(fired) == (kind == "invalid"), etree.tostring(root).decode()


def insert(root: etree._Element, content: Mapping[str, str]) -> None:
    """Put XML into elements of a document, behind what they have."""
    declared = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
    for path, xml in content.items():
        (parent,) = root.xpath(path, namespaces=NAMESPACES)
        parent.extend(etree.fromstring(f"<x {declared}>{xml}</x>"))


def test_base_keeps_every_rule() -> None:
    for syntax, root in ROOTS.items():
        invoice = read(parse(write(invoice_of(Example(""), rules_folder()), root)).getroot())
        assert rulebook().program(syntax).run(invoice) == []
