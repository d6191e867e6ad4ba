"""The table of contexts against documents: what the model's loops find is what the artefact's XPath selects."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from lxml import etree

from einvoice.model.location import NAMESPACES
from einvoice.resources import rules_folder
from einvoice.rulebook.files.contexts import Context
from einvoice.rulebook.language import Expression, Where
from einvoice.rulebook.language.types import BOOLEAN
from einvoice.rulebook.program.build import RuleSets, assemble
from einvoice.rulebook.program.program import Program
from einvoice.rulebook.program.typecheck import CheckedRule
from einvoice.rulebook.rule import SYNTAXES, Rule
from einvoice.syntax.reader import read
from einvoice.syntax.xml import parse

CASES = Path(__file__).resolve().parents[2] / "shared" / "cases"
ALWAYS_BROKEN = Expression("False", "False", BOOLEAN, frozenset(), frozenset(), {}, frozenset())
SHELF = RuleSets(rules_folder())

#: Documents that are so damaged that the model sees less than the artefact, which finds nothing wrong in what it sees.
DAMAGED = {"mutants/01.06_minimal_test_uncefact.d1-12.xml"}  # the whole settlement stands inside the seller

etree.FunctionNamespace(None)["upper-case"] = lambda _, text: _string(text).upper()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.cases,
    pytest.mark.skipif(not CASES.exists(), reason="the comparison cases are not here"),
]


def _string(content: object) -> str:
    if isinstance(content, list):
        return "".join(content[0].itertext()) if content else ""
    return str(content)


def every_context() -> list[tuple[str, str, str]]:
    """Rule set, name and syntax of every context that has an XPath."""
    return [
        (ruleset, name, syntax)
        for ruleset, contexts in SHELF.contexts.items()
        for name in contexts.own
        for syntax in SYNTAXES
        if contexts.get(name, syntax)
    ]


class Table:
    """The contexts of one syntax, each as a rule that every item breaks, beside their XPaths."""

    def __init__(self, syntax: str) -> None:
        chosen = [(ruleset, name) for ruleset, name, of in every_context() if of == syntax]
        self.contexts: list[Context] = [SHELF.contexts[ruleset].get(name, syntax) for ruleset, name in chosen]
        proofs = []
        for ruleset, name in chosen:
            scope = SHELF.contexts[ruleset].scope(name, syntax, Where("", ""))
            names = tuple(scope.names)
            rule = Rule(name, "fatal", "", "", (), "", names, names.index(scope.item), "", ())
            proofs.append(CheckedRule(rule, scope, (), None, ALWAYS_BROKEN))
        self.program = Program([], *assemble(proofs, syntax))
        self.xpaths = [self._xpath(context) for context in self.contexts]

    @staticmethod
    def _xpath(context: Context) -> tuple[etree.XPath, etree.XPath | None]:
        taken = etree.XPath(context.xpath_excluded, namespaces=NAMESPACES) if context.xpath_excluded else None
        return etree.XPath(context.xpath, namespaces=NAMESPACES), taken

    def compare(self, root: etree._Element) -> list[str]:
        """The names of the contexts that find something else than their XPaths do."""
        found: dict[str, list[etree._Element]] = {context.name: [] for context in self.contexts}
        ways = {context.name: context.xpath_from_item for context in self.contexts}
        for fired in self.program.run(read(root)):
            node, way = fired.item.node, ways[fired.rule.code]
            found[fired.rule.code] += node.xpath(way, namespaces=NAMESPACES) if way else [node]
        wrong = []
        for context, (selects, taken) in zip(self.contexts, self.xpaths, strict=True):
            nodes = selects(root)
            gone = taken(root) if taken else []
            expected = [node for node in nodes if node not in gone]
            if Counter(map(id, expected)) != Counter(map(id, found[context.name])):
                wrong.append(context.name)
        return wrong


@cache
def differences() -> dict[tuple[str, str], list[str]]:
    """For each context and syntax the case files in which the two disagree."""
    tables = {syntax: Table(syntax) for syntax in SYNTAXES}
    found: dict[tuple[str, str], list[str]] = {}
    for line in (CASES / "expected.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        if any("stops" in fired for fired in case["fired"].values()):
            continue  # the artefact ended with an error, so nobody knows what it would have judged
        root = parse((CASES / case["case"]).read_bytes()).getroot()
        for name in tables[case["syntax"]].compare(root):
            found.setdefault((name, case["syntax"]), []).append(case["case"])
    return found


@pytest.mark.parametrize(("ruleset", "name", "syntax"), every_context())
def test_a_context_is_where_the_artefact_looks(ruleset: str, name: str, syntax: str) -> None:
    assert SHELF.contexts[ruleset].get(name, syntax).xpath, "what does it stand for?"
    wrong = [case for case in differences().get((name, syntax), []) if case not in DAMAGED]
    assert not wrong, f"{len(wrong)} files, such as {wrong[:3]}"
