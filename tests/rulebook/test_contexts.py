"""Contexts of rules: their loops select the same elements as the XPaths of the official Schematron."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from lxml import etree

from einvoice.errors import RuleError
from einvoice.model.location import NAMESPACES
from einvoice.rulebook.files.contexts import Context, deviations_of
from einvoice.rulebook.language import Where, condition
from einvoice.rulebook.program.build import assemble
from einvoice.rulebook.program.program import Program
from einvoice.rulebook.program.typecheck import CheckedRule
from einvoice.rulebook.rule import SYNTAXES, Rule
from einvoice.syntax.reader import read
from einvoice.syntax.xml import parse
from tests.cases import corpus
from tests.helpers.rule_sets import shipped_rule_sets
from tests.helpers.sampling import sampled

FALSE = condition("False", {}, Where("", "assert"))

#: Documents so damaged that the model has fewer elements than the XPath selects; the official rules hold for those.
DAMAGED = {
    "mutants/01.06_minimal_test_uncefact.d1-12.xml",  # the settlement is inside the seller
    "mutants/01.04a-INVOICE_ubl.d1-06.xml",  # two addresses of the buyer: no match in XPath 2.0, the first in 1.0
}

etree.FunctionNamespace(None)["upper-case"] = lambda _, text: _string(text).upper()


def _string(content: object) -> str:
    if isinstance(content, list):
        return "".join(content[0].itertext()) if content else ""
    return str(content)


def every_context() -> list[tuple[str, str, str]]:
    """Return rule set, name and syntax of all contexts."""
    return [
        (ruleset, name, syntax)
        for ruleset, contexts in shipped_rule_sets().contexts.items()
        for name in contexts.own
        for syntax in SYNTAXES
        if (context := contexts.get(name, syntax)) and context.xpath  # a context of the standard alone has no XPath
    ]


class Table:
    """The contexts of one syntax, each compiled as a rule that every item violates, with their XPaths.

    The code of such a rule is ``ruleset name``.
    """

    def __init__(self, syntax: str) -> None:
        keys = [(ruleset, name) for ruleset, name, context_syntax in every_context() if context_syntax == syntax]
        self.contexts: dict[str, Context] = {
            f"{ruleset} {name}": shipped_rule_sets().contexts[ruleset].get(name, syntax) for ruleset, name in keys
        }
        checked = []
        for ruleset, name in keys:
            scope = shipped_rule_sets().contexts[ruleset].scope(name, syntax, Where("", ""))
            names = tuple(scope.names)
            rule = Rule(f"{ruleset} {name}", "fatal", "", "", (), "", names, names.index(scope.item), "", ())
            checked.append(CheckedRule(rule, scope, (), None, FALSE))
        self.program = Program([], *assemble(checked, syntax))
        self.xpaths = [self._xpath(context) for context in self.contexts.values()]

    @staticmethod
    def _xpath(context: Context) -> tuple[etree.XPath, etree.XPath | None]:
        excluded = etree.XPath(context.xpath_excluded, namespaces=NAMESPACES) if context.xpath_excluded else None
        return etree.XPath(context.xpath, namespaces=NAMESPACES), excluded

    def compare(self, root: etree._Element) -> list[str]:
        """Return the names of contexts that select other elements than their XPaths."""
        found: dict[str, list[etree._Element]] = {key: [] for key in self.contexts}
        paths = {key: context.xpath_from_item for key, context in self.contexts.items()}
        for violation in self.program.run(read(root)):
            node, path = violation.item.node, paths[violation.rule.code]
            found[violation.rule.code] += node.xpath(path, namespaces=NAMESPACES) if path else [node]
        wrong = []
        for key, (select, exclude) in zip(self.contexts, self.xpaths, strict=True):
            excluded = exclude(root) if exclude else []
            expected = [node for node in select(root) if node not in excluded]
            if Counter(map(id, expected)) != Counter(map(id, found[key])):
                wrong.append(key)
        return wrong


def differences(step: int) -> tuple[int, dict[tuple[str, str], list[str]]]:
    """Return the number of case files compared, and those with differences by rule set, context and syntax."""
    tables = {syntax: Table(syntax) for syntax in SYNTAXES}
    compared, found = 0, dict[tuple[str, str], list[str]]()
    for case, data in corpus.cases(*corpus.ALL, every=step):
        if any("stops" in result for result in case["fired"].values()):
            continue  # the official Schematron stopped with an error
        compared += 1
        root = parse(data).getroot()
        for name in tables[case["syntax"]].compare(root):
            found.setdefault((name, case["syntax"]), []).append(case["case"])
    return compared, found


@pytest.mark.slow
@pytest.mark.cases
@sampled(4)
def test_contexts_select_the_elements_of_the_official_schematron(step: int) -> None:
    compared, found = differences(step)
    assert compared > (1000 if corpus.beside() else 500) / step
    wrong = {key: [case for case in cases if case not in DAMAGED] for key, cases in found.items()}
    assert {key: f"{len(cases)} files, such as {cases[:3]}" for key, cases in wrong.items() if cases} == {}


def test_deviation_of_a_context_with_an_unknown_key_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "own" / "schematron" / "en16931"
    folder.mkdir(parents=True)
    entry = 'direction = "laxer"\nsource = "test"\nen = "text"\n'
    (folder / "contexts.toml").write_text(f"[[line.deviation]]\n{entry}", "utf-8")
    assert list(deviations_of(tmp_path / "own", "en16931")) == ["line"]
    (folder / "contexts.toml").write_text(f'[[line.deviation]]\n{entry}wehn = "True"\n', "utf-8")
    with pytest.raises(RuleError, match="wehn"):
        deviations_of(tmp_path / "own", "en16931")
