"""Invalid rule files: errors with file, key, column and hint."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from einvoice.authoring.check import check_all
from einvoice.errors import RuleError
from einvoice.resources import RuleData, rules_folder
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

[valid]
"numbered" = {}

[invalid]
"no number" = { drop = ["lines[0].identifier"] }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a rules folder with one rule set without rules."""
    home = tmp_path / "en16931"
    home.mkdir()
    for name in ("base.toml", "en16931/ruleset.toml", "en16931/contexts.toml"):
        shutil.copy(rules_folder() / name, tmp_path / name)
    return tmp_path


def errors(folder: Path, rule: str) -> list[RuleError]:
    (folder / "en16931" / "BR-99.toml").write_text(rule, "utf-8")
    return check_all(RuleData(folder))


def test_valid_rule_has_no_errors(folder: Path) -> None:
    assert errors(folder, RULE) == []


# By name: the text to replace in RULE and its replacement; the key and a part of the message of the error.
INVALID = {
    "invalid TOML": ('"fatal"', "fatal", "", "line 3"),
    "unknown key": ("assert =", "asert =", "asert", "did you mean 'assert'?"),
    "unknown severity": ('"fatal"', '"error"', "severity", "fatal, warning, information"),
    "text instead of a list": ('["BT-126"]', '"BT-126"', "terms", "must be a list"),
    "no condition": ('assert = "non_blank(line.identifier)"', "", "assert", "not_applicable"),
    "no German fix": ('explanation = "e"\nfix         = "f"\n\n[en]', 'explanation = "e"\n\n[en]', "de.fix", "missing"),
    "unknown field": ("line.identifier)", "line.identifer)", "assert", "did you mean 'identifier'?"),
    "unknown function": ("non_blank(", "non_blnk(", "assert", "did you mean 'non_blank'?"),
    "unknown context": ('for    = "line"', 'for    = "lien"', "for", "did you mean 'line'?"),
    "condition not boolean": (
        '"non_blank(line.identifier)"',
        '"line.identifier"',
        "assert",
        "exists(line.identifier)",
    ),
    "number compared with text": ("non_blank(line.identifier)", "line.price.net == 'S'", "assert", "BT-146"),
    "unlisted term": ('["BT-126"]', "[]", "terms", "reads BT-126"),
    "unused term": ('["BT-126"]', '["BT-126", "BT-131"]', "terms", "never reads BT-131"),
    "redundant overlay": (
        "\n[de]",
        '\n[cii]\nassert = "non_blank(line.identifier)"\n\n[de]',
        "cii.assert",
        "remove it",
    ),
    "overlay of a common key": ("\n[de]", '\n[cii]\nsource = "x"\n\n[de]', "cii.source", "not a known key"),
    "unknown name in a text": ('fix         = "f"', 'fix         = "{expcted}"', "de.fix", "'expcted'"),
    "unknown path in a text": ('fix         = "f"', 'fix         = "{line.number}"', "de.fix", "no field 'number'"),
    "path to a group in a text": ('fix         = "f"', 'fix         = "{line.item}"', "de.fix", "not a single value"),
    "let shadows a function": ("\nassert =", '\nlet.sum = "1"\nassert =', "let.sum", "is already in use"),
    "let shadows the context": ("\nassert =", '\nlet.line = "1"\nassert =', "let.line", "is already in use"),
    "no invalid example": (
        '[invalid]\n"no number" = { drop = ["lines[0].identifier"] }\n',
        "",
        "invalid",
        "BR-99 needs an example for UBL",
    ),
    "example for one syntax only": ("{ drop", '{ syntax = "ubl", drop', "invalid", "for CII"),
    "example with an unknown root": ("= {}", '= { root = "Order" }', 'valid."numbered".root', "CreditNote"),
    "invalid example without violation": ("lines[0].identifier", "due_date", 'invalid."no number"', "does not violate"),
    "valid example with violation": (
        "= {}",
        '= { "lines[0].identifier" = " " }',
        'valid."numbered"',
        "violates the rule",
    ),
    "example drops a missing field": ("lines[0].identifier", "lines[1]", "lines[1]", "does not exist"),
    "example sets an unknown field": (
        "= {}",
        '= { "lines[0].identifer" = "1" }',
        "lines[0].identifer",
        "did you mean 'identifier'?",
    ),
    "example repeats a single-valued term": (
        "= {}",
        '= { "lines[0].identifier" = ["1", "2"] }',
        "lines[0].identifier",
        "insert further elements as XML",
    ),
    "unknown version": ('severity = "fatal"', 'severity = "fatal"\nsince = "9.9"', "since", "unknown release '9.9'"),
    "unknown section": ('severity = "fatal"', 'severity = "fatal"\nsection = "x"', "section", "seller"),
    "code with variants": ("\nfor  ", "\nvariants = {}\nfor  ", "code", "either"),
}


@pytest.mark.parametrize(("old", "new", "key", "message"), INVALID.values(), ids=INVALID)
def test_invalid_rule_is_reported_with_file_and_key(folder: Path, old: str, new: str, key: str, message: str) -> None:
    assert old in RULE
    reported = errors(folder, RULE.replace(old, new, 1))
    assert reported
    for error in reported:
        assert error.file == "en16931/BR-99.toml"
        assert error.key == key
        assert message in str(error)


# By name: the file about the official Schematron; the key and a part of the message of the error.
INVALID_SCHEMATRON = {
    "repeated condition": ('[cii]\nassert = "non_blank(line.identifier)"', "cii.assert", "remove it"),
    "condition repeated for both syntaxes": ('assert = "non_blank(line.identifier)"', "assert", "remove it"),
    "text of the rule": ('[de]\ntitle = "t"', "de", "not a known key"),
    "unknown syntax": ('[xml]\nassert = "True"', "xml", "not a known key"),
    "unknown member": ('[variants]\nBR-98 = { cii.not_applicable = "x" }', "variants.BR-98", "not in the rule file"),
    "unknown release": ('[[history]]\nuntil = "9.9"\nassert = "True"', "history.until", "unknown release"),
    "unlisted term": ('[ubl]\nassert = "non_blank(line.notes)"', "terms", "reads BT-127"),
    "unknown field": ('[ubl]\nassert = "non_blank(line.nots)"', "ubl.assert", "did you mean 'notes'?"),
    "unknown name in a value": ('[ubl]\nlet.a = "lin.note"\nassert = "non_blank(a)"', "ubl.let.a", "'lin'"),
    "no source": ('[[deviation]]\ndirection = "laxer"\nde = "d"\nen = "e"', "[[deviation]].source", "missing"),
    "example without violation": ('[invalid]\n"x" = {}', 'invalid."x"', "does not violate"),
}


@pytest.mark.parametrize(("schematron", "key", "message"), INVALID_SCHEMATRON.values(), ids=INVALID_SCHEMATRON)
def test_invalid_schematron_file_is_reported_with_file_and_key(
    folder: Path, schematron: str, key: str, message: str
) -> None:
    write_schematron(folder, schematron)
    error = errors(folder, RULE)[0]
    assert error.key == key
    assert message in str(error)
    assert error.file == f"en16931/{'' if key == 'terms' else 'schematron/'}BR-99.toml"  # the terms are the rule's


def write_schematron(folder: Path, content: str) -> None:
    (folder / "en16931" / "schematron").mkdir()
    (folder / "en16931" / "schematron" / "BR-99.toml").write_text(content, "utf-8")


def test_schematron_file_replaces_parts_of_the_rule(folder: Path) -> None:
    rule = RULE.replace("\nassert =", '\nlet.text = "line.identifier"\nlet.limit = "1"\nassert =')
    rule = rule.replace("non_blank(line.identifier)", "length(text) >= limit")
    write_schematron(folder, '[cii]\nlet.limit = "3"\n[valid]\n"x" = { "lines[0].identifier" = "123" }')
    assert [str(error) for error in errors(folder, rule)] == [
        "en16931/BR-99.toml, line 22, valid.\"numbered\": BR-99 in CII: 'numbered' violates the rule"
    ]


def test_schematron_file_without_a_rule_is_an_error(folder: Path) -> None:
    write_schematron(folder, "")
    (error,) = check_all(RuleData(folder))
    assert error.file == "en16931/schematron/BR-99.toml"
    assert "has no rule file" in str(error)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("BR-99.toml", 'aassert = "x"', "aassert: is not a known key"),
        ("BR-99.toml", 'assert = "non_blank(line.identifer)"', "assert, column"),
        ("BR-99.toml", 'assert = "exists(line.identifier)"\n[invalid]\n"x" = {}', "'x' does not violate the rule"),
        ("BR-98.toml", 'assert = "exists(line.identifier)"', "'BR-98' is not a rule of en16931"),
        ("contexts.toml", '[other]\nwhere = ""', "other: is not a context of en16931"),
    ],
)
def test_error_in_a_copy_is_reported(folder: Path, name: str, content: str, message: str) -> None:
    copies = folder / "own" / "schematron" / "en16931"
    copies.mkdir(parents=True)
    ruleset = 'kind = "cius"\nbase = "en16931"\nname = "Own"\ntitle = { en = "Own" }\n'
    (folder / "own" / "ruleset.toml").write_text(ruleset, "utf-8")
    assert errors(folder, RULE) == []
    (copies / name).write_text(content, "utf-8")
    reported = errors(folder, RULE)
    assert {error.file for error in reported} == {f"own/schematron/en16931/{name}"}
    assert message in str(reported[0])


def test_error_in_a_condition_has_line_and_column(folder: Path) -> None:
    (error, *_) = errors(folder, RULE.replace("line.identifier)", "line.identifer)"))
    assert (error.line, error.column) == (7, len("non_blank(") + 1)


def test_invalid_toml_has_line_and_column(folder: Path) -> None:
    (error,) = errors(folder, RULE.replace('"fatal"', "fatal"))
    assert (error.line, error.column) == (3, 12)


@pytest.mark.parametrize(
    ("old", "new", "key", "message"),
    [
        ('["BT-126"]', "[126]", "terms", "must be a list of texts"),
        ("\nassert =", "\nlet.rate = 7\nassert =", "let", "must be a table of texts"),
        (
            'drop = ["lines[0].identifier"]',
            "number = 1",
            'invalid."no number".number',
            "must be a text or a table",
        ),
        ("= {}", '= { ubl.insert = { "cac:Party" = 1 } }', 'valid."numbered".ubl.insert', "of texts"),
        ("\n[de]", "\n[examples]\nde = [1]\n[de]", "examples.de", "must be a list of texts"),
    ],
)
def test_items_of_another_type_are_reported(folder: Path, old: str, new: str, key: str, message: str) -> None:
    assert old in RULE
    (error, *_) = errors(folder, RULE.replace(old, new, 1))
    assert (error.key, message in str(error)) == (key, True)


def test_duplicate_code_is_an_error(folder: Path) -> None:
    (folder / "en16931" / "AA.toml").write_text(RULE, "utf-8")
    (error,) = errors(folder, RULE)
    assert "already defined in en16931/AA.toml" in str(error)


def test_all_invalid_files_are_reported_at_once(folder: Path) -> None:
    (folder / "en16931" / "AA.toml").write_text("code = 1", "utf-8")
    for home, code in ((folder / "file", "FILE-X"), (folder / "en16931" / "texts", "BR-CL-99")):
        home.mkdir()
        (home / f"{code}.toml").write_text(f'code = "{code}"', "utf-8")
    files = [error.file for error in errors(folder, RULE.replace("non_blank", "non_blnk"))]
    assert set(files) == {"en16931/AA.toml", "en16931/BR-99.toml", "en16931/texts/BR-CL-99.toml", "file/FILE-X.toml"}


@pytest.mark.parametrize(
    ("context", "key"),
    [
        ('[x]\nfor = "line of invoice.lines"', "x.for"),
        ('[x]\nfor = "line in invoice.lnes"', "x.for"),
        ('[x]\nfor = "line in invoice.lines"\nubl.were = "True"', "x.ubl.were"),
        ('[x]\nfor = "line in invoice.lines"\ncii.where = "line.price"', "x.cii.where"),
        ('[x]\nfor = "line in invoice.lines"\nlocation = "line"', "x.location"),
        ('[invoice]\nfor = "line in invoice.lines"', "invoice"),
    ],
)
def test_invalid_context_is_reported_with_file_and_key(folder: Path, context: str, key: str) -> None:
    (folder / "en16931" / "contexts.toml").write_text(context, "utf-8")
    reported = errors(folder, RULE.replace('"line"', '"x"'))
    assert reported
    for error in reported:
        assert (error.file, error.key) == ("en16931/contexts.toml", key)


def test_invalid_rule_raises_rule_error_on_load(folder: Path) -> None:
    (folder / "en16931" / "BR-99.toml").write_text(RULE.replace("non_blank", "non_blnk"), "utf-8")
    with pytest.raises(RuleError, match=r"en16931/BR-99\.toml, assert, column 1"):
        RuleBook(RuleData(folder)).program("UBL", (("en16931", "1.3.16"),))
