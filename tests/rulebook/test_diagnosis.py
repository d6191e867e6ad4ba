"""Operands: a missing or malformed value explains the violation of any rule that reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import einvoice
from einvoice.resources import rules_folder, shipped
from einvoice.rulebook.catalog.operand_texts import operand_text
from einvoice.rulebook.check import program_of
from einvoice.rulebook.files.contexts import Contexts
from einvoice.rulebook.files.definition import Definition, Example
from einvoice.rulebook.files.examples import invoice_of
from einvoice.rulebook.files.load import read_file
from einvoice.rulebook.files.versions import read_ruleset
from einvoice.rulebook.program.program import Violation
from einvoice.rulebook.program.typecheck import check_rule
from tests.helpers.paths import SAMPLES

FOLDER = rules_folder() / "en16931"
RULE = """
code = "X"
severity = "fatal"
{keys}
[en]
title = "wrong"
explanation = "It is a sum. Found: {{actual}}."
fix = "f"
[valid]
"base" = {{}}
[invalid]
"changed" = {{}}
"""
SUM = """
terms = ["BT-106", "BT-131"]
for = "totals"
let.expected = "sum(line.net_amount for line in invoice.lines)"
assert = "totals.line_net == expected"
"""
SUM_OF_CATEGORY = """
terms = ["BT-116", "BT-118", "BT-119", "BT-92", "BT-95", "BT-96"]
for = "vat_breakdown"
let.items = "with_vat(invoice.allowances, 'S', vat.rate)"
let.expected = "sum(item.amount for item in items)"
when = "vat.category == 'S'"
assert = "vat.taxable_amount == expected"
"""
DATES = """
terms = ["BT-9", "BT-2"]
assert = "date(invoice.due_date) >= date(invoice.issue_date)"
"""
DIFFERENCE = """
terms = ["BT-115", "BT-112", "BT-113"]
assert = "invoice.totals.due == invoice.totals.gross - invoice.totals.paid"
"""
ALLOWANCE = {
    "allowances_and_charges[0].indicator": "false",
    "allowances_and_charges[0].amount": "10,00",
    "allowances_and_charges[0].taxes": [{"category": "S", "rate": "19", "scheme": "VAT"}],
}


def definition_of(folder: Path, keys: str) -> Definition:
    path = folder / "X.toml"
    path.write_text(RULE.format(keys=keys), "utf-8")
    (definition,) = read_file(path, read_ruleset(FOLDER))
    return definition


def violation_of(folder: Path, keys: str, changes: dict[str, Any], *drop: str) -> Violation:
    definition = definition_of(folder, keys)
    checked = check_rule(definition, "UBL", definition.ruleset.newest, Contexts(FOLDER, None))
    assert checked is not None
    (violation,) = program_of(checked, "UBL").run(invoice_of(Example("", changes, drop), shipped()))
    return violation


def fault(violation: Violation) -> tuple[str, str]:
    return violation.situation, violation.terms[0]


@pytest.mark.parametrize(
    ("keys", "changes", "drop", "expected"),
    [
        (SUM, {"totals.line_net": "99"}, (), ("", "BT-106")),
        (SUM, {"totals.line_net": "1,00"}, (), ("malformed.amount", "BT-106")),
        (SUM, {}, ("totals.line_net",), ("missing.leading.calculated", "BT-106")),
        (SUM, {"lines[0].net_amount": "100,00"}, (), ("malformed.amount.operand.lines", "BT-131")),
        (SUM, {}, ("lines[0].net_amount",), ("missing.amount.operand.lines", "BT-131")),
        (SUM, {"lines[0].net_amount": "x"}, ("totals.line_net",), ("missing.leading.incalculable", "BT-106")),
        (SUM_OF_CATEGORY, ALLOWANCE, (), ("malformed.amount.operand", "BT-92")),
        (SUM_OF_CATEGORY, {"vat_breakdown[0].rate": "19%"}, (), ("malformed.percentage.operand", "BT-119")),
        (DATES, {"due_date": "2026-02-30"}, (), ("malformed.date", "BT-9")),
        (DATES, {"due_date": "2026-12-01", "issue_date": "1.12.2026"}, (), ("malformed.date.operand", "BT-2")),
    ],
)
def test_operand_at_fault_is_named(
    tmp_path: Path, keys: str, changes: dict[str, Any], drop: tuple[str, ...], expected: tuple[str, str]
) -> None:
    assert fault(violation_of(tmp_path, keys, changes, *drop)) == expected


def test_operand_of_another_category_explains_nothing(tmp_path: Path) -> None:
    changes = {**ALLOWANCE, "allowances_and_charges[0].taxes": [{"category": "E", "rate": "0", "scheme": "VAT"}]}
    assert fault(violation_of(tmp_path, SUM_OF_CATEGORY, changes)) == ("", "BT-116")


def test_finding_points_at_the_malformed_value_and_quotes_it(tmp_path: Path) -> None:
    violation = violation_of(tmp_path, SUM_OF_CATEGORY, {"vat_breakdown[0].rate": "7%"})
    assert violation.place.raw == violation.values["actual"] == "7%"
    assert violation.values["example"] == "7"
    assert "expected" not in violation.values


def test_optional_operand_may_be_missing(tmp_path: Path) -> None:
    assert fault(violation_of(tmp_path, DIFFERENCE, {})) == ("", "BT-115")


@pytest.mark.parametrize(("key", "expected"), [("", ("malformed.amount", "BT-106")), ("before_operands = true", None)])
def test_situation_before_operands_explains_their_faults(tmp_path: Path, key: str, expected: Any) -> None:
    situation = f"[[situations]]\n{key}\nen.title = 'own'\n"
    violation = violation_of(tmp_path, SUM + situation, {"totals.line_net": "1,00"})
    (own,) = definition_of(tmp_path, SUM + situation).situations
    assert fault(violation) == (expected or (own.key, "BT-106"))


def test_explanation_keeps_what_the_rule_demands_in_general() -> None:
    text = operand_text(
        "explanation", "malformed.amount.operand.lines", "en", "It is a sum. Found: {actual}. Round it."
    )
    assert text.endswith("cannot be checked. It is a sum. Round it.")
    assert "(line: {lines})" in text


def test_texts_of_the_rule_stay_where_only_its_value_is_missing() -> None:
    assert operand_text("explanation", "missing.leading", "en", "of the rule") == "of the rule"
    assert operand_text("fix", "missing.leading", "en", "of the rule") == "of the rule"
    assert "{expected}" in operand_text("fix", "missing.leading.calculated", "en", "of the rule")


def test_finding_names_the_operand_in_the_language() -> None:
    document = (SAMPLES / "ubl-invoice.xml").read_bytes()
    result = einvoice.validate(document.replace(b"<cbc:Percent>19</cbc:Percent>", b"<cbc:Percent>19%</cbc:Percent>"))
    finding = next(it for it in result.findings if it.code == "BR-S-08")
    assert (
        finding.title("de") == "Umsatzsteuersatz der Position (BT-152) ist keine Zahl, BT-116 lässt sich nicht prüfen"
    )
    assert finding.fix("en").startswith("Enter the number only as BT-152, such as 19.")
