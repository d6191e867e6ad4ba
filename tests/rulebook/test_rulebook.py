"""Rulebook: programs, releases, overlays, families, cache and catalog."""

from __future__ import annotations

import marshal
import shutil
from pathlib import Path
from typing import Any

import pytest

from einvoice.authoring.check import check_all
from einvoice.code_catalog import Catalog, catalog, digest, entry
from einvoice.errors import RuleError
from einvoice.model.invoice import Invoice
from einvoice.resources import RuleData, rules_folder, shipped
from einvoice.rulebook import cache
from einvoice.rulebook.files.example import Example
from einvoice.rulebook.files.examples import invoice_of
from einvoice.rulebook.files.lines import located
from einvoice.rulebook.files.load import read_file
from einvoice.rulebook.files.versions import read_ruleset
from einvoice.rulebook.program.engine import RuleBook, rulebook
from einvoice.rulebook.program.program import Program
from einvoice.rulebook.releases import releases
from tests.helpers.extras import POSIX
from tests.helpers.rule_sets import newest_stack, stack_of

TEXTS = """
[de]
title       = "t {actual}"
explanation = "e"
fix         = "f"

[en]
title       = "t {actual}"
explanation = "e"
fix         = "f"
"""
EXAMPLES = """
[valid]
"base" = {}

[invalid]
"pro forma" = { type_code = "325" }
"""
RULESET = """
kind = "en16931"
name = "EN 16931"
title = { de = "d", en = "e" }
default = true
versions = [{ version = "1.9" }, { version = "1.10" }, { version = "2.0" }]
"""
OWN = """
kind = "cius"
base = "en16931"
name = "Own"
title = { de = "d", en = "e" }
"""


def invoice(**changes: object) -> Invoice:
    return invoice_of(Example("", {path.replace("__", "."): content for path, content in changes.items()}), shipped())


def program_of(syntax: str) -> Program:
    return rulebook().program(syntax, newest_stack())


def read_catalog(folder: Path) -> Catalog:
    return catalog(data=RuleData(folder))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a rules folder with one rule set of three releases; the cache is separate."""
    monkeypatch.setenv("EINVOICE_CACHE", str(tmp_path / "cache"))
    home = tmp_path / "rules" / "en16931"
    home.mkdir(parents=True)
    (home / "ruleset.toml").write_text(RULESET, "utf-8")
    shutil.copy(rules_folder() / "base.toml", tmp_path / "rules")
    return tmp_path / "rules"


def write_rule(folder: Path, keys: str, texts: str = TEXTS, examples: str = EXAMPLES) -> None:
    (folder / "en16931" / "X.toml").write_text(f'severity = "fatal"\n{keys}\n{texts}\n{examples}', "utf-8")


def codes(folder: Path, syntax: str, version: str = "2.0", **changes: str) -> list[str]:
    program = RuleBook(RuleData(folder)).program(syntax, (("en16931", version),))
    return [violation.rule.code for violation in program.run(invoice(**changes))]


# ------------------------------------------------------------------------------------------------ rule data


@pytest.mark.slow
def test_rule_data_has_no_errors() -> None:
    assert list(map(str, check_all(documents=False))) == []  # test_rules runs the examples on documents


def test_program_lists_layers_and_rule_counts() -> None:
    program = program_of("UBL")
    names = [(layer.name, layer.kind, layer.label) for layer in program.layers]
    assert names == [("en16931", "en16931", "EN 16931"), ("xrechnung", "cius", "XRechnung")]
    assert sum(layer.rules for layer in program.layers) == program.count == len(program.rules)
    for layer in program.layers:
        assert len(bytes.fromhex(layer.sha256)) == 32
        assert layer.version == read_ruleset(rules_folder() / layer.name).newest


def test_xrechnung_release_selects_en16931_release() -> None:
    layers = rulebook().program("UBL", stack_of("2.4.0")).layers
    assert [(layer.version, layer.specification) for layer in layers] == [("1.3.14.2", ""), ("2.4.0", "3.0.2")]


def test_unknown_release_or_rule_set_raises_lookup_error() -> None:
    with pytest.raises(LookupError, match=r"unknown release '9\.9' of xrechnung"):
        rulebook().program("UBL", (("xrechnung", "9.9"),))
    with pytest.raises(LookupError, match=r"unknown rule set 'other'; known rule sets are .*xrechnung"):
        rulebook().program("UBL", (("other", "1"),))


# ------------------------------------------------------------------------------------------------ releases and overlays


def test_releases_are_ordered_as_listed_in_the_ruleset(folder: Path) -> None:
    keys = 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"'
    write_rule(folder, f'{keys}\nsince = "1.10"')
    assert [codes(folder, "UBL", version, type_code="325") for version in ("1.10", "2.0")] == [["X"], ["X"]]
    assert codes(folder, "UBL", "1.9", type_code="325") == []
    write_rule(folder, f'{keys}\nuntil = "1.10"')
    assert codes(folder, "UBL", "1.9", type_code="325") == ["X"]


def test_history_replaces_keys_in_older_releases(folder: Path) -> None:
    keys = 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"'
    history = """
    [[history]]
    until  = "2.0"
    assert = "invoice.type_code in ('380', '325')"

    [[history]]
    until      = "1.10"
    assert     = "invoice.type_code in ('380', '325', '326')"
    cii.assert = "exists(invoice.type_code)"
    """
    write_rule(folder, keys, TEXTS + history)
    assert check_all(RuleData(folder)) == []
    violated = {
        (version, syntax, code): bool(codes(folder, syntax, version, type_code=code))
        for version in ("1.9", "1.10", "2.0")
        for syntax in ("UBL", "CII")
        for code in ("325", "326", "327")
    }
    assert {case for case, is_violated in violated.items() if is_violated} == {
        ("1.9", "UBL", "327"),
        *(("1.10", syntax, code) for syntax in ("UBL", "CII") for code in ("326", "327")),
        *(("2.0", syntax, code) for syntax in ("UBL", "CII") for code in ("325", "326", "327")),
    }


def test_history_entry_with_the_earliest_until_applies(folder: Path) -> None:
    first, second = 'until = "1.10"\nassert = "True"', 'until = "2.0"\nwhen = "True"'
    keys = 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"'
    write_rule(folder, keys, f"{TEXTS}\n[[history]]\n{second}\n[[history]]\n{first}\nterms = []")
    assert codes(folder, "UBL", "1.9", type_code="325") == []
    assert codes(folder, "UBL", "1.10", type_code="325") == ["X"]


def test_overlay_replaces_single_keys(folder: Path) -> None:
    write_rule(
        folder,
        'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"\n'
        '[cii]\ncode = "X-1"\nseverity = "warning"\nwhen = "non_blank(invoice.type_code)"',
    )
    assert codes(folder, "UBL", type_code="") == ["X"]
    assert codes(folder, "CII", type_code="") == []
    assert codes(folder, "CII", type_code="325") == ["X-1"]
    (rule,) = RuleBook(RuleData(folder)).program("CII", (("en16931", "2.0"),)).rules
    assert rule.severity == "warning"
    entries = read_catalog(folder)
    assert {code: entries[code].severities for code in entries} == {"X": {"UBL": "fatal"}, "X-1": {"CII": "warning"}}


def test_not_applicable_rule_has_no_examples(folder: Path) -> None:
    write_rule(
        folder, 'code = "X"\nnot_applicable = "true() in the official Schematron"', TEXTS.replace("{actual}", ""), ""
    )
    assert check_all(RuleData(folder)) == []
    reason = "true() in the official Schematron"
    assert read_catalog(folder)["X"].not_applicable == {"UBL": reason, "CII": reason}


def test_family_shares_a_condition(folder: Path) -> None:
    write_rule(
        folder,
        'terms = ["{term}"]\nassert = "invoice.{field} in allowed"\n[variants]\n'
        'X-1 = { term = "BT-3", field = "type_code", allowed = ["380"], text = { de = "Art", en = "type" } }\n'
        'X-2 = { term = "BT-5", field = "currency", allowed = ["EUR"], text = { de = "W", en = "c" }, '
        'cii.allowed = ["EUR", "GBP"], severity = "warning" }',
        TEXTS.replace("t {actual}", "{term} {text}"),
        '[valid]\n"base" = {}\n[invalid]\n"bad" = { "{field}" = "XXX" }',
    )
    assert check_all(RuleData(folder)) == []
    assert codes(folder, "UBL", type_code="325", currency="GBP") == ["X-1", "X-2"]
    assert codes(folder, "CII", type_code="325", currency="GBP") == ["X-1"]
    entries = read_catalog(folder)
    assert [(entries[code].title("de"), entries[code].severity) for code in entries] == [
        ("BT-3 Art", "fatal"),
        ("BT-5 W", "warning"),
    ]


def test_twin_has_the_keys_of_the_other_file(folder: Path) -> None:
    write_rule(folder, 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"')
    twin = folder / "en16931" / "Y.toml"
    twin.write_text('like = "X"\ncode = "Y"\nassert = "invoice.type_code != \'381\'"\n[valid]\n"own" = {}\n', "utf-8")
    (first,) = read_file(folder / "en16931" / "X.toml", read_ruleset(folder / "en16931"))
    (second,) = read_file(twin, read_ruleset(twin.parent))
    assert (second.code, second.texts, second.resolved("UBL", "2.0").assertion) == (
        "Y",
        first.texts,
        "invoice.type_code != '381'",
    )
    assert [it.name for it in second.examples("valid")] == ["own", *(it.name for it in first.examples("valid"))]
    write_rule(folder, 'code = "X"\nterms = ["BT-5"]\nassert = "invoice.currency == \'EUR\'"')
    (changed,) = read_file(twin, read_ruleset(twin.parent))
    assert changed.resolved("UBL", "2.0").terms == ("BT-5",)


@pytest.mark.parametrize("name", ["Y", "Z"])
def test_file_is_like_another_one(folder: Path, name: str) -> None:
    twin = folder / "en16931" / "Y.toml"
    twin.write_text(f'like = "{name}"\ncode = "Y"\n', "utf-8")
    with pytest.raises(RuleError) as caught:
        read_file(twin, read_ruleset(twin.parent))
    assert caught.value.key == "like"


def test_rule_replaces_a_rule_of_a_lower_layer(folder: Path) -> None:
    write_rule(folder, 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"')
    home = folder / "own"
    home.mkdir()
    (home / "ruleset.toml").write_text(OWN, "utf-8")
    rule = (folder / "en16931" / "X.toml").read_text("utf-8").replace('code = "X"', 'code = "Y"\nreplaces = ["X"]')
    (home / "Y.toml").write_text(rule, "utf-8")
    program = RuleBook(RuleData(folder)).program("UBL", (("en16931", "2.0"), ("own", "2.0")))
    assert [(rule.code, rule.layer) for rule in program.rules] == [("Y", "own")]


# ------------------------------------------------------------------------------------------------ the cache


def test_cache_is_used_until_the_rules_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rule(folder, 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"')
    assert codes(folder, "UBL", type_code="326") == ["X"]
    load = cache.load
    loads = []
    monkeypatch.setattr(cache, "load", lambda *key: loads.append(load(*key)) or loads[-1])
    assert codes(folder, "UBL", type_code="326") == ["X"]
    assert loads.pop() is not None
    write_rule(folder, 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code != \'325\'"')
    assert codes(folder, "UBL", type_code="326") == []
    assert loads.pop() is None


@pytest.mark.parametrize("settled", [-(10**12), 10**12])
def test_changed_rule_is_noticed(folder: Path, settled: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether or not the digests of the files are stored."""
    monkeypatch.setattr("einvoice.cache._SETTLED", settled)
    for condition, violated in (("== '380'", ["X"]), ("in ('380', '326')", []), ("== '325'", ["X"])):
        write_rule(folder, f'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code {condition}"')
        assert codes(folder, "UBL", type_code="326") == violated


def test_unchanged_rule_file_is_parsed_once(folder: Path) -> None:
    write_rule(folder, 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"')
    path = folder / "en16931" / "X.toml"
    (first,) = read_file(path, read_ruleset(path.parent))
    (again,) = read_file(path, read_ruleset(path.parent))
    assert again is first
    (path.parent / "ruleset.toml").write_text(RULESET.replace("2.0", "2.1"), "utf-8")
    (released,) = read_file(path, read_ruleset(path.parent))
    assert released.versions == ("2.1",)
    (path.parent / "schematron").mkdir()
    (path.parent / "schematron" / "X.toml").write_text('severity = "warning"', "utf-8")
    (deviating,) = read_file(path, read_ruleset(path.parent))
    assert deviating.resolved("UBL", "2.1").severity == "warning"


def stored_payload(content: bytes) -> Any:
    """Return what a file of the cache holds after the checksum and the key with its length."""
    start = 8 + int.from_bytes(content[4:8], "big")
    return marshal.loads(content[start:])


@pytest.mark.parametrize("damage", [b"", b"x" * 200, None])
def test_damaged_cache_is_rebuilt(folder: Path, damage: bytes | None) -> None:
    write_rule(folder, 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"')
    codes(folder, "UBL")
    (stored,) = cache.folder().glob("program-*.rules")
    content = stored.read_bytes()
    stored.write_bytes(content[:-1] + bytes([content[-1] ^ 1]) if damage is None else damage)
    assert codes(folder, "UBL", type_code="325") == ["X"]
    assert stored_payload(stored.read_bytes()) == stored_payload(content)


@POSIX
def test_cache_files_of_others_and_symlinks_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EINVOICE_CACHE", str(tmp_path))
    key = cache.key("x")
    cache.store("x", key, ["content"])
    (stored,) = tmp_path.glob("x-*.rules")
    assert cache.load("x", key) == ["content"]
    assert cache.load("x", cache.key("y")) is None
    stored.chmod(0o666)
    assert cache.load("x", key) is None
    stored.chmod(0o600)
    target = stored.rename(tmp_path / "elsewhere")
    stored.symlink_to(target)
    assert cache.load("x", key) is None


@pytest.mark.parametrize("value", ["", "/proc/nowhere"])
def test_rules_are_compiled_without_a_cache(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EINVOICE_CACHE", value)
    cache.store("x", cache.key("x"), 1)
    assert cache.load("x", cache.key("x")) is None
    assert RuleBook(shipped()).program("UBL", newest_stack("xrechnung")).count > 0


def test_cache_size_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EINVOICE_CACHE", str(tmp_path))
    monkeypatch.setattr("einvoice.cache._MAX_FILES", 96)
    for number in range(120):
        cache.store("x", cache.key(str(number)), number)
    assert len(list(tmp_path.iterdir())) <= 96
    assert cache.load("x", cache.key("119")) == 119


# ------------------------------------------------------------------------------------------------ the catalog


def test_catalog_contains_all_rules_and_texts() -> None:
    entries = catalog()
    assert {rule.code for syntax in ("UBL", "CII") for rule in program_of(syntax).rules} <= set(entries)
    files = {path.stem for name in ("file", "schema") for path in (rules_folder() / name).glob("*.toml")}
    assert files <= set(entries)
    assert entries["FILE-XML"].layer == "file"


def test_every_entry_has_texts_in_both_languages() -> None:
    for catalog_entry in catalog().values():
        for language in ("de", "en"):
            for text in (
                catalog_entry.title(language),
                catalog_entry.explanation(language),
                catalog_entry.fix(language),
            ):
                assert text.strip()
                assert "{" not in text
        assert catalog_entry.texts["de"] != catalog_entry.texts["en"]


def test_unknown_code_raises_key_error() -> None:
    with pytest.raises(KeyError):
        entry("BR-NONE")


def test_alias_resolves_to_its_rule(folder: Path) -> None:
    write_rule(folder, 'code = "X"\naliases = ["OLD"]\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"')
    entries = read_catalog(folder)
    assert entries["OLD"].code == "X"
    assert list(entries) == ["X"]


def test_catalog_digest_changes_with_a_text(folder: Path) -> None:
    keys = 'code = "X"\nterms = ["BT-3"]\nassert = "invoice.type_code == \'380\'"'
    write_rule(folder, keys)
    before = digest(RuleData(folder))
    write_rule(folder, keys, TEXTS.replace('fix         = "f"', 'fix         = "g"'))
    assert digest(RuleData(folder)) != before


VERSIONS = 'versions = [{ version = "1" }]'
# By name: the text to replace in OWN and its replacement; the key and a part of the message of the error.
INVALID_RULE_SETS = {
    "no kind": ('kind = "cius"', "", "kind", "is missing"),
    "unknown kind": ('"cius"', '"core"', "kind", "en16931, cius, extension, profile"),
    "no name": ('name = "Own"', "", "name", "is missing"),
    "name not a text": ('"Own"', "1", "name", "must be of type str"),
    "no base": ('base = "en16931"', "", "base", "name the rule set that it builds on"),
    "no base, but releases": ('base = "en16931"', VERSIONS, "base", "name the rule set that it builds on"),
    "the standard without releases": ('kind = "cius"\nbase = "en16931"', 'kind = "en16931"', "base", "is missing"),
    "no title": ('title = { de = "d", en = "e" }', "", "title", "is missing"),
    "empty title": ('de = "d"', 'de = ""', "title", "a text for each language"),
    "title not a text": ('"e"', "1", "title", "a text for each language"),
    "title in an unknown language": ('de = "d"', 'xx = "d"', "title.xx", "valid keys are de, en"),
    "unknown syntax": ('name = "Own"', 'name = "Own"\nsyntaxes = ["EDIFACT"]', "syntaxes", "UBL or CII"),
    "default not a boolean": ('name = "Own"', 'name = "Own"\ndefault = "yes"', "default", "must be of type bool"),
    "unknown key": ('kind = "cius"', 'kind = "cius"\nlayer = "cius"', "layer", "keys are adopted, adopted_title, "),
    "no release": ('name = "Own"', 'name = "Own"\nversions = []', "versions", "each release once"),
    "release not a table": ('name = "Own"', 'name = "Own"\nversions = ["1"]', "versions", "[[versions]]"),
    "release twice": ('name = "Own"', f'name = "Own"\n{VERSIONS[:-1]}, {{ version = "1" }}]', "versions", "once"),
    "release not a text": ('name = "Own"', 'name = "Own"\nversions = [{ version = 1 }]', "versions", "as text"),
    "unknown key of a release": (
        'name = "Own"',
        'name = "Own"\nversions = [{ version = "1", dte = "" }]',
        "versions.dte",
        "did you mean 'date'?",
    ),
    "announced before others": (
        'name = "Own"',
        'name = "Own"\nversions = [{ version = "1", announced = true }, { version = "2" }]',
        "versions.announced",
        "the last releases only",
    ),
    "unknown release of the base": (
        'name = "Own"',
        'name = "Own"\nversions = [{ version = "1", base = "9.9" }]',
        "versions.base",
        "unknown release '9.9' of en16931",
    ),
    "unknown base": ('"en16931"', '"en1693"', "base", "unknown rule set 'en1693' (use one of en16931, own)"),
    "adopts from an unknown rule set": (
        'name = "Own"',
        'name = "Own"\nadopted = { peppl = ["BR-1"] }',
        "adopted",
        "'peppl' is not another rule set",
    ),
    "adopts from itself": (
        'name = "Own"',
        'name = "Own"\nadopted = { own = ["BR-1"] }',
        "adopted",
        "'own' is not another rule set",
    ),
    "adopted is not a list": (
        'name = "Own"',
        'name = "Own"\nadopted = { en16931 = "BR-1" }',
        "adopted.en16931",
        "must list rule files",
    ),
    "base is itself": ('"en16931"', '"own"', "base", "'own' builds on this rule set"),
    "invalid TOML": ('kind = "cius"', "kind =", "", "line 2"),
}


@pytest.mark.parametrize(("old", "new", "key", "message"), INVALID_RULE_SETS.values(), ids=INVALID_RULE_SETS)
def test_invalid_ruleset_is_reported_with_file_and_key(
    folder: Path, old: str, new: str, key: str, message: str
) -> None:
    assert old in OWN
    (folder / "own").mkdir()
    (folder / "own" / "ruleset.toml").write_text(OWN.replace(old, new), "utf-8")
    data = RuleData(folder)
    with pytest.raises(RuleError) as caught:
        releases(data)
    assert (caught.value.file, caught.value.key) == ("own/ruleset.toml", key)
    assert message in str(caught.value)
    assert list(map(str, check_all(data))) == [str(located(caught.value, data))]


def test_rule_sets_that_build_on_each_other_are_reported(folder: Path) -> None:
    for name, base in (("one", "two"), ("two", "three"), ("three", "one")):
        (folder / name).mkdir()
        (folder / name / "ruleset.toml").write_text(OWN.replace('"en16931"', f'"{base}"'), "utf-8")
    with pytest.raises(RuleError, match="builds on this rule set") as caught:
        releases(RuleData(folder))
    assert caught.value.file in ("one/ruleset.toml", "two/ruleset.toml", "three/ruleset.toml")
    assert caught.value.key == "base"


@pytest.mark.parametrize(("own", "message"), [("false", "true in no rule set"), ("true", "true in en16931 and own")])
def test_exactly_one_rule_set_is_the_default(folder: Path, own: str, message: str) -> None:
    (folder / "own").mkdir()
    (folder / "own" / "ruleset.toml").write_text(f"{OWN}default = {own}\n", "utf-8")
    if own == "false":
        (folder / "en16931" / "ruleset.toml").write_text(RULESET.replace("default = true", ""), "utf-8")
    with pytest.raises(RuleError, match=message) as caught:
        releases(RuleData(folder))
    assert (caught.value.file, caught.value.key) == ("ruleset.toml", "default")
