"""Run the examples of one rule, and say for each what happened.

Each example is run on a document in each syntax, as the official Schematron has the rule and as the standard has it.
Where these differ, a `[[deviation]]` must say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple

from lxml import etree

from einvoice.authoring.check import norm_errors, program_of, without_condition
from einvoice.authoring.deviations import STRICTER, Comparison
from einvoice.authoring.example_documents import document_of
from einvoice.code_catalog.catalog_entry import CatalogEntry
from einvoice.errors import RuleError
from einvoice.model.invoice import Invoice
from einvoice.resources import RuleData
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.example import Example
from einvoice.rulebook.files.examples import examples_of
from einvoice.rulebook.program.build import RuleSets
from einvoice.rulebook.program.program import Violation
from einvoice.rulebook.program.typecheck import CheckedRule, check_rule
from einvoice.syntax.reader import read

_COMPARED: Final = ("expected", "actual", "difference")


class ExampleRun(NamedTuple):
    """What happened to an example in one syntax.

    Attributes:
        syntax: "UBL" or "CII".
        kind: "valid" or "invalid".
        name: of the example.
        file: of the example, such as "en16931/BR-CO-10.toml".
        line: of its name in the file; None if it is not written there as it is.
        passed: whether it satisfies or violates the rule, as it should.
        report: what happened, in a sentence.
    """

    syntax: str
    kind: str
    name: str
    file: str
    line: int | None
    passed: bool
    report: str


class RuleRun(NamedTuple):
    """A rule in one rule set, with the runs of its examples and the errors that are not about one example."""

    code: str
    ruleset: str
    file: str
    examples: list[ExampleRun]
    errors: list[RuleError]


def run_examples(code: str, data: RuleData, lang: str) -> list[RuleRun]:
    """Run the examples of a rule in each rule set that has it.

    Args:
        code: of the rule; upper and lower case are the same.
        data: the rule data.
        lang: language of the titles of findings.

    Raises:
        RuleError: an invalid rule file.
        LookupError: no rule file defines the code.
    """
    rule_sets = RuleSets(data)
    found = [it for own in rule_sets.definitions.values() for it in own if it.code.lower() == code.lower()]
    if not found:
        known = [it.code for own in rule_sets.definitions.values() for it in own]
        near = get_close_matches(code.upper(), known, 3)
        hint = f"did you mean {', '.join(near)}?" if near else "rows of syntax/*.csv have no examples"
        raise LookupError(f"No rule file defines {code} ({hint}).")
    return [_run(definition, rule_sets, lang) for definition in found]


def _run(definition: Definition, rule_sets: RuleSets, lang: str) -> RuleRun:
    runs: list[ExampleRun] = []
    found: dict[str, RuleError] = {}  # by their text: both syntaxes have most
    contexts = rule_sets.contexts[definition.layer]
    for syntax in definition.ruleset.syntaxes:
        try:
            checked = [check_rule(definition, syntax, version, contexts) for version in definition.versions]
            if checked[0] is not None:
                runs += _Syntax(definition, checked[0], syntax, rule_sets, lang).runs()
        except RuleError as error:
            found.setdefault(str(error), error)
    errors = list(found.values()) or list(norm_errors(definition, contexts, rule_sets.data))
    return RuleRun(definition.code, definition.layer, definition.file, runs, errors)


class _Syntax:
    """A rule in one syntax, compiled to run its examples."""

    def __init__(
        self, definition: Definition, checked: CheckedRule, syntax: str, rule_sets: RuleSets, lang: str
    ) -> None:
        self._definition, self._syntax, self._data, self._lang = definition, syntax, rule_sets.data, lang
        self._program = program_of(checked, syntax, data=self._data)
        self._always_violated = program_of(without_condition(checked), syntax, data=self._data)
        self._comparison = Comparison(rule_sets, definition.layer, syntax, [definition.code])
        situations = tuple(it.plain() for it in definition.situations)
        self._entry = CatalogEntry(
            definition.code, "", "", "", checked.rule.terms, definition.texts, definition.file, situations=situations
        )

    def runs(self) -> Iterator[ExampleRun]:
        for kind, example in examples_of(self._definition, self._syntax):
            passed, report = self._report(kind, example)
            line = _line_of(self._data, example)
            yield ExampleRun(self._syntax, kind, example.name, example.file, line, passed, report)

    def _report(self, kind: str, example: Example) -> tuple[bool, str]:
        try:
            invoice = read(document_of(example, example.file, self._syntax, self._data))
        except RuleError as error:
            return False, f"cannot be made: {error.key}: {error.message}" + (f" ({error.hint})" if error.hint else "")
        except (ValueError, etree.LxmlError) as error:
            return False, f"the XML of 'insert' cannot be added: {error}"
        violations = self._program.run(invoice)
        if bool(violations) != (kind == "invalid"):
            return False, self._violated(violations) if violations else self._satisfied(invoice)
        for difference in self._comparison.differences(invoice):
            if not difference.deviations:
                who = "only the Schematron rejects it" if difference.direction == STRICTER else (
                    "only the standard rejects it")  # fmt: skip
                return False, f"{who}, and no [[deviation]] with direction '{difference.direction}' says so"
        return True, self._violated(violations) if violations else "satisfies the rule"

    def _violated(self, violations: list[Violation]) -> str:
        first = violations[0]
        title = self._entry.title(self._lang, first.values, first.situation)
        times = "" if len(violations) == 1 else f" at {len(violations)} places"
        return f"violates the rule{times}: {title}{_shown(first.values)}"

    def _satisfied(self, invoice: Invoice) -> str:
        """Say why an example does not violate the rule: the condition holds, or the rule does not apply."""
        applies = self._always_violated.run(invoice)
        if applies:
            return f"does not violate the rule: 'assert' holds{_shown(applies[0].values)}"
        resolved = self._definition.resolved(self._syntax, self._definition.versions[0])
        causes = [f"the invoice has no '{resolved.context}'"] if resolved.context else []
        causes += ["'when' does not hold"] if resolved.when else []
        return f"does not violate the rule: {' or '.join(causes) or 'it does not apply'}"


def _shown(values: Mapping[str, Any]) -> str:
    quoted = {name: f"'{value}'" if isinstance(value, str) else value for name, value in values.items()}
    compared = ", ".join(f"{name} {quoted[name]}" for name in _COMPARED if name in quoted)
    return f" ({compared})" if compared else ""


def _line_of(data: RuleData, example: Example) -> int | None:
    """Return the line with the name of an example; None for a name with constants of a family."""
    home, _, rest = example.file.partition("/")
    path: Path = data.sets[home] / rest
    pattern = re.compile(rf'(\[\w+\.)?"{re.escape(example.name)}"')
    lines = path.read_text("utf-8").splitlines()
    return next((number for number, line in enumerate(lines, 1) if pattern.match(line)), None)
