"""Operands: a missing or malformed value explains the violation of any rule that reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import einvoice
from einvoice.authoring.check import program_of
from einvoice.code_catalog import CatalogEntry
from einvoice.code_catalog.operand_texts import operand_text
from einvoice.resources import rules_folder, shipped
from einvoice.rulebook.files.contexts import Contexts
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.example import Example
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


RATE = {**ALLOWANCE, "allowances_and_charges[0].amount": "10.00"}
RATE["allowances_and_charges[0].taxes"] = [{"category": "S", "rate": "19%", "scheme": "VAT"}]


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
        (SUM, {"lines[0].net_amount": "100,00"}, (), ("malformed.amount.operand", "BT-131")),
        (SUM, {}, ("lines[0].net_amount",), ("missing.amount.operand", "BT-131")),
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


def texts_of(violation: Violation, definition: Definition) -> tuple[str, str, str]:
    values = {**violation.values, "term": violation.terms[0]}
    entry = CatalogEntry("X", "", "", "", violation.terms, definition.texts, "")
    return tuple(getattr(entry, it)("en", values, violation.situation) for it in ("title", "explanation", "fix"))


@pytest.mark.parametrize(
    ("keys", "changes", "drop", "stated"),
    [
        (SUM, {"lines[0].net_amount": "1.100,50"}, (), ("“1.100,50” in line 1", "not a comma", "Thousands", "1100.50")),
        (SUM, {"totals.line_net": "100 EUR"}, (), ("“100 EUR”, which", "unit", "such as 100.")),
        (SUM, {"totals.line_net": "1,0005"}, (), ("At most two decimals", "at most two decimals.")),
        (SUM, {}, ("totals.line_net",), ("(BT-106) is missing", "Add BT-106 with 100.00.")),
        (SUM, {}, ("lines[0].net_amount",), ("(BT-131) is missing in line 1, so BT-106", "Do not change BT-106")),
        (SUM, {"lines[0].net_amount": "x"}, ("totals.line_net",), ("once this is corrected or added", "(BT-131)")),
        (SUM_OF_CATEGORY, ALLOWANCE, (), ("“10,00”, which", "such as 10.00")),
        (
            SUM_OF_CATEGORY,
            ALLOWANCE | {"allowances_and_charges[0].reason": "bonus"},
            (),
            ("for the allowance “bonus”",),
        ),
        (SUM_OF_CATEGORY, RATE, (), ("“19%” for the allowance of 10.00 for category S", "percent sign", "such as 19.")),
        (
            SUM_OF_CATEGORY,
            {"vat_breakdown[0].taxable_amount": "1,00"},
            (),
            ("“1,00” for category S (standard rated) at 19 %",),
        ),
        (DATES, {"due_date": "2026-02-30"}, (), ("does not exist in the calendar", "of the form YYYY-MM-DD")),
        (DATES, {"due_date": "30.1.2026"}, (), ("“30.1.2026”, which is not a valid date. ",)),
        (DIFFERENCE, {}, ("totals.gross",), ("The value follows from Invoice total amount without VAT (BT-109) + ",)),
    ],
)
def test_texts_say_what_is_stated_where_and_why_it_is_wrong(
    tmp_path: Path, keys: str, changes: dict[str, Any], drop: tuple[str, ...], stated: tuple[str, ...]
) -> None:
    texts = " ".join(texts_of(violation_of(tmp_path, keys, changes, *drop), definition_of(tmp_path, keys))) + " "
    assert [it for it in stated if it not in texts] == []
    assert "{" not in texts


def test_second_malformed_value_is_named_by_its_line(tmp_path: Path) -> None:
    changes = {"lines[0].net_amount": "1,00", "lines[1]": {"identifier": "7", "net_amount": "2,00"}}
    _, explanation, _ = texts_of(violation_of(tmp_path, SUM, changes), definition_of(tmp_path, SUM))
    assert "in line 1" in explanation
    assert "The same is true of line 7." in explanation


def explanation_of(key: str, of_rule: str, **values: Any) -> str:
    return operand_text("explanation", key, "en", of_rule, {"term": "BT-131", "leading": "BT-106", **values})


def test_explanation_says_how_the_leading_value_is_calculated_without_numbers() -> None:
    of_rule = "It is nice. The sum (BT-106) is that of the lines (BT-131): {lines}. Round it. Found: {actual}."
    text = explanation_of("malformed.amount.operand", of_rule, actual="1,00", example="1.00")
    assert text.endswith("comma. The sum (BT-106) is that of the lines (BT-131).")
    assert explanation_of("malformed.amount.operand", "A sum.", actual="1,00", example="1.00").endswith("not a comma.")


def test_explanation_of_a_missing_value_says_how_it_is_calculated_or_what_is_demanded() -> None:
    calculated = "It is nice. The sum has {lines} lines. Found: {actual}, calculated: {expected}."
    text = explanation_of("missing.leading.calculated", calculated, expected=1)
    assert text == "Calculated: {expected}."
    demanded = "A rate is more than 0. {line.identifier} has {vat.rate}. Found: {rate_text}."
    assert explanation_of("missing.leading.percentage", demanded, rate_text="–") == "A rate is more than 0."
    assert operand_text("fix", "missing.leading.percentage", "en", "of the rule", {}) == "of the rule"


@pytest.mark.parametrize(("category", "expected"), [("S", "such as 19."), ("G", "Enter the number 0 as BT-119")])
def test_fix_of_a_malformed_rate_is_one_that_its_category_has(tmp_path: Path, category: str, expected: str) -> None:
    keys = SUM_OF_CATEGORY.replace("'S'", f"'{category}'")
    changes = {"vat_breakdown[0].rate": "19%", "vat_breakdown[0].category": category}
    assert expected in texts_of(violation_of(tmp_path, keys, changes), definition_of(tmp_path, keys))[2]


def test_finding_names_the_operand_in_the_language() -> None:
    document = (SAMPLES / "ubl-invoice.xml").read_bytes()
    result = einvoice.validate(document.replace(b"<cbc:Percent>19</cbc:Percent>", b"<cbc:Percent>19%</cbc:Percent>"))
    finding = next(it for it in result.findings if it.code == "BR-S-08")
    term = "Umsatzsteuersatz der Position (BT-152)"
    assert finding.title("de") == f"{term} ist keine gültige Zahl, BT-116 lässt sich nicht prüfen"
    assert finding.fix("en").startswith("Enter the number only as BT-152 for category S in line 1, such as 19.")
