"""`einvoice rules new`, `test` and `schema`: create a rule, run its examples, complete it in an editor."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

import einvoice
from einvoice.cli import main
from einvoice.resources import RuleData, rules_folder
from tests.helpers import house_rules
from tests.helpers.paths import ROOT

UBL = ROOT / "einvoice" / "sample_invoices" / "xrechnung-ubl.xml"


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    return house_rules.write(tmp_path / "my-rules")


def new(rules: Path, code: str = "ACME-07", ruleset: str = "acme") -> int:
    return main(["rules", "new", code, "--set", ruleset, "--rules", str(rules)])


def run_rule(rules: Path, code: str) -> int:
    return main(["rules", "test", code, "--rules", str(rules), "--lang", "en"])


# ---------------------------------------------------------------- new


@pytest.mark.slow
def test_new_rule_is_complete_and_has_a_schema(rules, capsys):
    assert new(rules) == 0
    path = rules / "acme" / "ACME-07.toml"
    assert capsys.readouterr().out == f"{path}\n"
    line = path.read_text("utf-8").splitlines()[0]
    schema = (path.parent / line.removeprefix("#:schema ")).resolve()
    assert schema == rules / "json-schema" / "rule.json"
    assert json.loads(schema.read_text("utf-8"))["title"] == "A rule"
    assert main(["rules", "check", str(rules)]) == 0
    assert run_rule(rules, "ACME-07") == 0


@pytest.mark.slow
def test_new_rule_takes_part_in_the_verdict(rules):
    assert new(rules) == 0
    text = re.sub(rb"(<cbc:ID>)KB[^<]*", rb"\1 ", UBL.read_bytes(), count=1)
    codes = [finding.code for finding in einvoice.validate(text, rules=rules).errors]
    assert "ACME-07" in codes


@pytest.mark.parametrize("code", ["ACME-01", "acme-01", "ACME-02", "BR-CO-10", "BR-CO-12", "UBL-SR-01", "FILE-XML"])
def test_existing_code_is_refused(rules, code, capsys):
    before = sorted(rules.rglob("*"))
    assert new(rules, code) == 2
    assert "already exists in " in capsys.readouterr().err
    assert sorted(rules.rglob("*")) == before


@pytest.mark.parametrize(
    ("code", "ruleset", "message"),
    [
        ("../ACME-07", "acme", "not a valid code"),
        ("ACME-07", "acm", "did you mean 'acme'?"),
        ("ACME-07", "en16931", "unknown rule set"),  # --rules names the folder; no other is changed
    ],
)
def test_wrong_code_or_rule_set_is_refused(rules, code, ruleset, message, capsys):
    assert new(rules, code, ruleset) == 2
    assert message in capsys.readouterr().err


def test_invalid_rule_file_does_not_prevent_a_new_one(rules):
    house_rules.write(rules, **{"ACME-01.toml": "code = "})
    assert new(rules) == 0


def test_rule_set_itself_can_be_named(rules):
    assert new(rules / "acme") == 0
    assert (rules / "json-schema" / "rule.json").exists()


def test_rules_of_einvoice_are_those_of_the_checkout(tmp_path, monkeypatch, capsys):
    """Without --rules the file is created in the checkout; an installed package is not changed."""
    assert main(["rules", "new", "BR-CO-10", "--set", "en16931"]) == 2
    assert "en16931/BR-CO-10.toml" in capsys.readouterr().err
    installed = tmp_path / "einvoice" / "rules"
    shutil.copytree(rules_folder() / "en16931", installed / "en16931")
    monkeypatch.setattr("einvoice.authoring.new_rule.shipped", lambda: RuleData(installed))
    assert main(["rules", "new", "BR-99", "--set", "en16931"]) == 2
    assert "--rules" in capsys.readouterr().err
    assert not (rules_folder() / "en16931" / "BR-99.toml").exists()


@pytest.mark.slow
def test_first_command_of_the_readme_works(tmp_path, monkeypatch):
    page = (rules_folder() / "README.md").read_text("utf-8")
    command = page.partition("```sh\n")[2].splitlines()[0]
    checkout = tmp_path / "rules"
    shutil.copytree(rules_folder(), checkout)
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr("einvoice.authoring.new_rule.shipped", lambda: RuleData(checkout))
    assert main(shlex.split(command, comments=True)[1:]) == 0
    line = (checkout / "en16931" / "BR-99.toml").read_text("utf-8").splitlines()[0]
    assert (checkout / "en16931" / line.removeprefix("#:schema ")).exists()


# ---------------------------------------------------------------- test


def changed(rules: Path, old: str, new: str) -> int:
    assert old in house_rules.RULE
    house_rules.write(rules, **{"ACME-01.toml": house_rules.RULE.replace(old, new, 1)})
    return run_rule(rules, "acme-01")


def test_examples_of_a_rule_are_run(rules, capsys):
    assert run_rule(rules, "ACME-01") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "ACME-01, acme/ACME-01.toml"
    title = "The order number does not have the form 4500… (actual '4711')"
    assert [line.split("'", 2) for line in lines[1:-1]] == [
        [f"  passed {syntax} {kind:7} ", name, report]
        for syntax in ("UBL", "CII")
        for kind, name, report in (
            ("valid", "an order number", " satisfies the rule"),
            ("invalid", "another number", f" violates the rule: {title}"),
        )
    ]
    assert lines[-1] == "4 examples run, no problems."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"4711"', '"4500123456"', "does not violate the rule: 'assert' holds (actual '4500123456')"),
        ("\nassert =", "\nwhen = \"invoice.currency == 'USD'\"\nassert =", "'when' does not hold"),
        ('"4500123456"', '"4711"', "violates the rule: The order number"),
        ("purchase_order = ", "purchase_ordr = ", "cannot be made: purchase_ordr: Invoice has no field"),
        ('{ purchase_order = "4711" }', '{ "lines[7].note" = "x" }', "the index must be at most 1"),
    ],
)
def test_failed_example_is_explained(rules, old, new, message, capsys):
    assert old in house_rules.RULE
    rule = house_rules.RULE.replace(old, new, 1)
    rule = rule.replace('["BT-13"]', '["BT-13", "BT-5"]') if "when" in new else rule
    house_rules.write(rules, **{"ACME-01.toml": rule})
    status = run_rule(rules, "ACME-01")
    printed = capsys.readouterr().out
    assert status == 1
    assert message in printed
    assert re.search(r"\n         acme/ACME-01\.toml, line \d+\n", printed)


def test_line_of_a_failed_example_is_that_of_its_name(rules, capsys):
    assert changed(rules, '"4711"', '"4500123456"') == 1
    text = (rules / "acme" / "ACME-01.toml").read_text("utf-8")
    number = int(re.search(r"line (\d+)", capsys.readouterr().out)[1])
    assert text.splitlines()[number - 1] == '"another number" = { purchase_order = "4500123456" }'


@pytest.mark.slow
def test_example_of_an_undeclared_deviation_fails(rules, capsys):
    deviating = (
        '[cii]\nassert = "exists(invoice.purchase_order)"\n[valid]\n"any" = { syntax = "cii", purchase_order = "1" }\n'
    )
    invalid = '[invalid]\n"none" = { syntax = "cii", drop = ["purchase_order"] }\n'
    own = house_rules.RULE.replace('"another number" = {', '"another number" = { syntax = "ubl",')
    content = deviating + invalid
    house_rules.write(
        rules, **{"ACME-01.toml": own.replace('["purchase_order"]', "[]"), "schematron/ACME-01.toml": content}
    )
    assert run_rule(rules, "ACME-01") == 1
    assert "only the standard rejects it, and no [[deviation]] with direction 'laxer'" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("invoice.purchase_order,", "invoice.purchase_ordr,", "line 5, assert, column"),
        ("assert =", "asert =", "did you mean 'assert'?"),
    ],
)
def test_invalid_rule_file_is_reported_with_line_and_hint(rules, old, new, message, capsys):
    assert changed(rules, old, new) == 1
    printed = capsys.readouterr().out
    assert "acme/ACME-01.toml, line 5" in printed
    assert message in printed


def test_unknown_code_is_refused_with_similar_ones(rules, capsys):
    assert run_rule(rules, "ACME-1") == 2
    assert "did you mean ACME-01" in capsys.readouterr().err


# ---------------------------------------------------------------- schema


def test_schema_is_printed_by_kind(capfdbinary):
    assert main(["rules", "schema", "ruleset"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["title"] == "A rule set"


def test_unknown_kind_is_refused(capsys):
    assert main(["rules", "schema", "rules"]) == 2
    assert "rule, schematron" in capsys.readouterr().err


def test_schemas_are_written(tmp_path):
    assert main(["rules", "schema", "--write", str(tmp_path / "schemas")]) == 0
    written = {path.name: path.read_text("utf-8") for path in (tmp_path / "schemas").iterdir()}
    shipped = {path.name: path.read_text("utf-8") for path in (rules_folder() / "json-schema").iterdir()}
    assert written == shipped, "run: einvoice rules schema --write rules/json-schema"
