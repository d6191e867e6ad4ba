"""The actual value of a finding is that of its leading term, in all invalid examples of all rules."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from lxml import etree

from einvoice.authoring.check import program_of
from einvoice.model.iteration import filled
from einvoice.model.values import Value
from einvoice.resources import shipped
from einvoice.result import Finding
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.examples import examples_of
from einvoice.rulebook.program.program import Violation
from einvoice.rulebook.program.typecheck import check_rule
from einvoice.syntax.reader import read
from einvoice.validation.element_terms import terms_of_elements
from einvoice.validation.findings import FindingBuilder
from tests.helpers.documents import document_of
from tests.helpers.rule_sets import shipped_rule_sets

#: What the builder of findings needs of a selection of rules.
SELECTION: Any = SimpleNamespace(
    data=shipped(),
    kinds={},
    overrides={},
    profile=None,
    identity=SimpleNamespace(kind="core", profile=""),
    specification=SimpleNamespace(kind="core", remarks=()),
)


def cases(definition: Definition) -> Iterator[tuple[str, Any, Violation, Finding]]:
    """Yield each finding of the invalid examples of a rule, in its newest release."""
    for syntax in definition.ruleset.syntaxes:
        checked = check_rule(definition, syntax, definition.versions[0], shipped_rule_sets().contexts[definition.layer])
        if checked is None:
            continue
        program = program_of(checked, syntax)
        for kind, example in examples_of(definition, syntax):
            if kind == "invalid":
                root = document_of(example, example.file, syntax)
                invoice = read(root)
                build = FindingBuilder(etree.tostring(root), invoice, SELECTION, False, "en")
                for violation in program.run(invoice):
                    yield f"{syntax}: {example.name}", invoice, violation, build.of_rule(violation, definition.layer)


def foreign_value(invoice: Any, violation: Violation, finding: Finding) -> str:
    """Return the actual value if it is not that of the leading term; "" otherwise.

    The official Schematron also checks elements for which the standard has no business term, such as the VAT of a line
    in UBL. Their findings have the term of the rule.
    """
    place, actual = violation.place, violation.values.get("actual")
    of_document = isinstance(place, Value) and not place.attribute
    if actual is None or not finding.terms or (of_document and place.node not in terms_of_elements(invoice)):
        return ""
    own = [it.value for it in filled(invoice) if it.number == finding.terms[0]]
    if any(actual in (it.raw, it.text, getattr(it, "value", None), getattr(it, "number", None)) for it in own):
        return ""
    return str(actual)


@pytest.mark.slow
def test_actual_value_is_that_of_the_leading_term() -> None:
    found = [
        (definition.layer, finding.code, finding.situation, finding.terms[0], value, name)
        for definitions in shipped_rule_sets().definitions.values()
        for definition in definitions
        for name, invoice, violation, finding in cases(definition)
        if (value := foreign_value(invoice, violation, finding))
    ]
    assert found == []
