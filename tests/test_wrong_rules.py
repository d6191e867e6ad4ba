"""Wrong rule files are answered with file, key, place and a hint, and nothing else happens."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from einvoice.errors import RuleError
from einvoice.resources import rules_folder
from einvoice.rulebook.check import check_all, new_rule
from einvoice.rulebook.program.engine import RuleBook

RULE = """
code     = "BR-99"
severity = "fatal"
terms    = ["BT-126"]

for    = "line"
assert = "non_blank(line.identifier)"

[de]
title       = "t"
explanation = "e"
fix         = "f"

[en]
title       = "t"
explanation = "e"
fix         = "f"

[[valid]]
name = "numbered"

[[invalid]]
name = "no number"
drop  = ["lines[0].identifier"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one rule set, without rules."""
    home = tmp_path / "en16931"
    home.mkdir()
    for name in ("base.toml", "en16931/ruleset.toml", "en16931/contexts.toml"):
        shutil.copy(rules_folder() / name, tmp_path / name)
    return tmp_path


def problems(folder: Path, rule: str) -> list[RuleError]:
    (folder / "en16931" / "BR-99.toml").write_text(rule, "utf-8")
    return check_all(folder)


def test_a_right_rule_has_no_problem(folder: Path) -> None:
    assert problems(folder, RULE) == []


# What is changed in the rule; the key that the answer names; what it says, hint included.
WRONG = {
    "no TOML": ('"fatal"', "fatal", "", "line 3"),
    "an unknown key": ("assert =", "asert =", "asert", "did you mean 'assert'?"),
    "an unknown severity": ('"fatal"', '"error"', "severity", "fatal, warning, information"),
    "a text for a list": ('["BT-126"]', '"BT-126"', "terms", "must be a list"),
    "no condition": ('assert = "non_blank(line.identifier)"', "", "assert", "not_applicable"),
    "no German fix": ('explanation = "e"\nfix         = "f"\n\n[en]', 'explanation = "e"\n\n[en]', "de.fix", "missing"),
    "an unknown field": ("line.identifier)", "line.identifer)", "assert", "did you mean 'identifier'?"),
    "an unknown word": ("non_blank(", "non_blnk(", "assert", "did you mean 'non_blank'?"),
    "an unknown context": ('for    = "line"', 'for    = "lien"', "for", "did you mean 'line'?"),
    "a value for a truth": ('"non_blank(line.identifier)"', '"line.identifier"', "assert", "exists(line.identifier)"),
    "a number against a text": ("non_blank(line.identifier)", "line.price.net == 'S'", "assert", "BT-146"),
    "a term that is not listed": ('["BT-126"]', "[]", "terms", "reads BT-126"),
    "a term that is not read": ('["BT-126"]', '["BT-126", "BT-131"]', "terms", "never reads BT-131"),
    "an overlay that says the same": (
        "\n[de]",
        '\n[cii]\nassert = "non_blank(line.identifier)"\n\n[de]',
        "cii.assert",
        "remove it",
    ),
    "an overlay that replaces texts": ("\n[de]", '\n[cii]\nsource = "x"\n\n[de]', "cii.source", "not a known key"),
    "an unknown name in a text": ('fix         = "f"', 'fix         = "{expcted}"', "de.fix", "'expcted'"),
    "an unknown path in a text": ('fix         = "f"', 'fix         = "{line.number}"', "de.fix", "no field 'number'"),
    "a path to a group in a text": ('fix         = "f"', 'fix         = "{line.item}"', "de.fix", "not a single value"),
    "a let that hides a word": ("\nassert =", '\nlet.sum = "1"\nassert =', "let.sum", "is already in use"),
    "a let that hides the line": ("\nassert =", '\nlet.line = "1"\nassert =', "let.line", "is already in use"),
    "no breaking example": (
        '[[invalid]]\nname = "no number"\ndrop  = ["lines[0].identifier"]\n',
        "",
        "[[invalid]]",
        "BR-99 needs an example for UBL",
    ),
    "an example for one syntax alone": ('name = "no number"', 'name = "x"\nsyntax = "ubl"', "[[invalid]]", "for CII"),
    "a breaking example that breaks nothing": ("lines[0].identifier", "due_date", "[[invalid]]", "does not violate"),
    "a valid example that breaks the rule": (
        'name = "numbered"',
        'name = "x"\nset = { "lines[0].identifier" = " " }',
        "[[valid]]",
        "violates the rule",
    ),
    "an example that drops what is not there": ("lines[0].identifier", "lines[1]", "lines[1]", "does not exist"),
    "an example that sets an unknown field": (
        'name = "numbered"',
        'name = "x"\nset = { "lines[0].identifer" = "1" }',
        "lines[0].identifer",
        "did you mean 'identifier'?",
    ),
    "an unknown version": ('severity = "fatal"', 'severity = "fatal"\nsince = "9.9"', "since", "unknown release '9.9'"),
    "an unknown section": ('severity = "fatal"', 'severity = "fatal"\nsection = "x"', "section", "seller"),
    "code and variants": ("\nfor  ", "\nvariants = {}\nfor  ", "code", "either"),
}


@pytest.mark.parametrize(("old", "new", "key", "says"), WRONG.values(), ids=WRONG)
def test_a_wrong_rule_is_explained(folder: Path, old: str, new: str, key: str, says: str) -> None:
    assert old in RULE
    found = problems(folder, RULE.replace(old, new, 1))
    assert found
    for error in found:
        assert error.file == "en16931/BR-99.toml"
        assert error.key == key
        assert says in str(error)


def test_a_condition_names_its_column(folder: Path) -> None:
    (error, *_) = problems(folder, RULE.replace("line.identifier)", "line.identifer)"))
    assert error.column == len("non_blank(") + 1


def test_a_code_stands_once(folder: Path) -> None:
    (folder / "en16931" / "AA.toml").write_text(RULE, "utf-8")
    (error,) = problems(folder, RULE)
    assert "already defined in en16931/AA.toml" in str(error)


def test_every_wrong_file_is_told_at_once(folder: Path) -> None:
    (folder / "en16931" / "AA.toml").write_text("code = 1", "utf-8")
    (folder / "text").mkdir()
    (folder / "text" / "FILE-X.toml").write_text('code = "FILE-X"', "utf-8")
    files = [error.file for error in problems(folder, RULE.replace("non_blank", "non_blnk"))]
    assert set(files) == {"en16931/AA.toml", "en16931/BR-99.toml", "text/FILE-X.toml"}


@pytest.mark.parametrize(
    ("context", "key"),
    [
        ('[x]\nfor = "line of invoice.lines"', "x.for"),
        ('[x]\nfor = "line in invoice.lnes"', "x.for"),
        ('[x]\nfor = "line in invoice.lines"\nubl.were = "True"', "x.ubl"),
        ('[x]\nfor = "line in invoice.lines"\ncii.where = "line.price"', "x.where"),
        ('[x]\nfor = "line in invoice.lines"\nlocation = "line"', "x.location"),
        ('[invoice]\nfor = "line in invoice.lines"', "invoice"),
    ],
)
def test_a_wrong_context_is_explained(folder: Path, context: str, key: str) -> None:
    (folder / "en16931" / "contexts.toml").write_text(context, "utf-8")
    found = problems(folder, RULE.replace('"line"', '"x"'))
    assert found
    for error in found:
        assert (error.file, error.key) == ("en16931/contexts.toml", key)


def test_a_wrong_rule_does_not_run(folder: Path) -> None:
    (folder / "en16931" / "BR-99.toml").write_text(RULE.replace("non_blank", "non_blnk"), "utf-8")
    with pytest.raises(RuleError, match=r"en16931/BR-99\.toml, assert, column 1"):
        RuleBook(folder).program("UBL", ["en16931"])


def test_a_new_rule_waits_for_its_texts(folder: Path) -> None:
    path = new_rule("BR-98", "en16931", folder)
    assert path == folder / "en16931" / "BR-98.toml"
    (error,) = check_all(folder)
    assert (error.file, error.key) == ("en16931/BR-98.toml", "de.title")
    with pytest.raises(FileExistsError):
        new_rule("BR-98", "en16931", folder)
    with pytest.raises(LookupError, match="unknown rule set 'other'"):
        new_rule("BR-98", "other", folder)
