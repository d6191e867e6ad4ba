r"""`einvoice rules check` as someone meets it who writes a first rule."""

import re

import pytest

from einvoice.cli import main
from tests.helpers import house_rules

MISTAKES = {
    "path": ("invoice.purchase_order,", "invoice.purchase_ordr,", "assert", "did you mean 'purchase_order'?"),
    "type": (
        "matches(invoice.purchase_order, '^4500[0-9]{6}$')",
        "invoice.totals.net > '1'",
        "assert",
        "write the number without quotes",
    ),
    "placeholder": ("Angegeben: {actual}.", "Angegeben: {actul}.", "explanation", "did you mean 'actual'?"),
    "context": ("\nassert", '\nfor = "lin"\nassert', "for", "did you mean 'line'?"),
    "escape of TOML": ("4500[0-9]{6}", r"4500\d{6}", "assert", r"write [0-9] for \d"),
    "escape of a text": ("4500[0-9]{6}", r"4500\\d{6}", "assert", "write [0-9]"),
    "escape of a pattern": ("'^4500[0-9]{6}$'", r"r'^4500\\w{6}$'", "assert", "write [A-Za-z0-9_]"),
    "escape for a sign": ("'^4500[0-9]{6}$'", r"'^4500\\.[0-9]'", "assert", "write [.]"),
    "control character": ("'^4500", r"'^4500\b", "assert", "control character U+0008"),
    "example": ("4711", "4500123456", '"another number"', "does not violate the rule"),
}


@pytest.mark.parametrize(("old", "new", "key", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistake_of_a_newcomer_is_one_message_with_line_and_suggestion(tmp_path, capsys, old, new, key, message):
    assert old in house_rules.RULE
    rule = house_rules.RULE.replace(old, new, 1)
    house_rules.write(tmp_path, **{"ACME-01.toml": rule})
    assert main(["rules", "check", str(tmp_path)]) == 1
    printed = capsys.readouterr()
    (problem,) = printed.out.splitlines()
    assert message in problem
    file, line, *_ = problem.split(", ")
    assert file == "acme/ACME-01.toml"
    number = int(re.fullmatch(r"line (\d+)(: .*)?", line)[1])
    assert rule.splitlines()[number - 1].startswith(key)
    assert "Checking acme: 1 rule files, with their examples." in printed.err
    assert printed.err.endswith("\n1 problem.\n")


def check(folder, capsys, rule):
    house_rules.write(folder, **{"ACME-01.toml": rule})
    status = main(["rules", "check", str(folder)])
    printed = capsys.readouterr()
    return status, printed.out.splitlines(), printed.err


INSERTED = """
[valid."inserted"]
syntax     = "ubl"
ubl.insert = { "." = "<cac:OrderReference><cbc:ID>4711</cbc:ID></cac:OrderReference>" }
"""


def test_examples_run_on_documents(tmp_path, capsys):
    status, (problem,), _ = check(tmp_path, capsys, house_rules.RULE + INSERTED)
    assert status == 1
    assert "ACME-01 in UBL: 'inserted' violates the rule" in problem
    status, (problem,), _ = check(tmp_path, capsys, house_rules.RULE + INSERTED.replace('"."', '"cac:Nowhere"'))
    assert status == 1
    assert "the XML of 'inserted' cannot be added: 'cac:Nowhere' does not select exactly one element" in problem


def test_valid_examples_that_never_reach_the_condition_are_named(tmp_path, capsys):
    rule = house_rules.RULE.replace("\nassert", "\nwhen = \"starts_with(invoice.purchase_order, '4')\"\nassert")
    assert "no valid example" not in check(tmp_path, capsys, rule)[2]
    status, problems, said = check(tmp_path, capsys, rule.replace("4500123456", "B-26/1"))
    assert (status, problems) == (0, [])
    assert "ACME-01: no valid example reaches 'assert': 'an order number' ('when' does not hold; add one" in said


FORBIDDEN = """\
code     = "ACME-01"
severity = "fatal"
terms    = ["BG-23", "BT-121"]

for    = "vat_breakdown"
when   = "exists(vat.exemption_reason_code)"
assert = "not exists(vat)"

[en]
title       = "t"
explanation = "e"
fix         = "f"

[valid]
"none" = {}

[invalid]
"one" = { "vat_breakdown[0].exemption_reason_code" = "VATEX-EU-O" }
"""


def test_rule_that_forbids_something_needs_no_valid_example_with_it(tmp_path, capsys):
    status, problems, said = check(tmp_path, capsys, FORBIDDEN)
    assert (status, problems) == (0, [])
    assert "no valid example" not in said
    possible = FORBIDDEN.replace('"not exists(vat)"', '"not exists(vat) or 1 == 2"')
    assert "no valid example reaches 'assert': 'none'" in check(tmp_path, capsys, possible)[2]
