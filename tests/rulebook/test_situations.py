"""Situations: the texts of a finding that look at its invoice."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from pathlib import Path

import pytest

import einvoice
from einvoice.authoring.check import program_of
from einvoice.code_catalog import CatalogEntry
from einvoice.errors import RuleError
from einvoice.resources import rules_folder
from einvoice.rulebook.files.contexts import Contexts
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.examples import examples_of
from einvoice.rulebook.files.load import read_file
from einvoice.rulebook.files.situations import situation_of
from einvoice.rulebook.files.versions import read_ruleset
from einvoice.rulebook.program.program import Violation
from einvoice.rulebook.program.typecheck import check_rule
from einvoice.syntax.reader import read
from tests.helpers.documents import document_of
from tests.helpers.paths import SAMPLES
from tests.helpers.rule_sets import shipped_rule_sets

FOLDER = rules_folder() / "en16931"

RULE = """
code = "X"
severity = "fatal"
terms = ["BT-3", "BT-5"]
assert = "invoice.type_code == '380' and invoice.currency == 'EUR'"
{situations}
[de]
title = "Typ {{invoice.type_code}}"
explanation = "e"
fix = "f"
[en]
title = "type {{invoice.type_code}}"
explanation = "e"
fix = "f"
[valid]
"base" = {{}}
[invalid]
"pro forma" = {{ type_code = "325" }}
"""
SITUATIONS = """
[[situations]]
when = "shown == 'eur'"
let.shown = "invoice.currency"
terms = ["BT-5"]
de.title = "Währung {shown}"
en.title = "currency {shown}"
[[situations]]
when = "invoice.type_code == '325'"
de.fix = "Typ ändern"
en.fix = "change the type"
"""


def write_rule(folder: Path, situations: str) -> Path:
    path = folder / "X.toml"
    path.write_text(RULE.format(situations=situations), "utf-8")
    return path


def definition_of(folder: Path, situations: str = SITUATIONS) -> Definition:
    (definition,) = read_file(write_rule(folder, situations), read_ruleset(FOLDER))
    return definition


def violation_of(definition: Definition, **changes: str) -> Violation:
    checked = check_rule(definition, "UBL", definition.ruleset.newest, Contexts(FOLDER, None))
    assert checked is not None
    document = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")
    for element, text in changes.items():
        document = re.sub(f"(<cbc:{element}>)[^<]*", rf"\g<1>{text}", document)
    (violation,) = program_of(checked, "UBL").run(einvoice.read(document.encode()))
    return violation


def test_first_situation_that_holds_is_selected(tmp_path: Path) -> None:
    definition = definition_of(tmp_path)
    first, second = (it.key for it in definition.situations)
    assert violation_of(definition, DocumentCurrencyCode="eur", InvoiceTypeCode="325").situation == first
    assert violation_of(definition, InvoiceTypeCode="325").situation == second
    assert violation_of(definition, InvoiceTypeCode="326").situation == ""


def test_situation_adds_its_values_and_leads_with_its_term(tmp_path: Path) -> None:
    violation = violation_of(definition_of(tmp_path), DocumentCurrencyCode="eur")
    assert violation.values == {"shown": "eur", "actual": "eur", "invoice.type_code": "380"}
    assert violation.terms == ("BT-5", "BT-3")
    assert violation.place.raw == "eur"


@pytest.mark.parametrize(
    ("terms", "title", "shown"),
    [("BT-5", "code {shown}", False), ("BT-5", "code {expected}", True), ("BT-3", "code {shown}", True)],
)
def test_situation_with_another_leading_term_has_no_expected_value_unless_quoted(
    tmp_path: Path, terms: str, title: str, shown: bool
) -> None:
    """The expected value is that of the leading term of the rule."""
    situations = SITUATIONS.replace('terms = ["BT-5"]', f'terms = ["{terms}"]').replace("currency {shown}", title)
    path = write_rule(tmp_path, situations)
    path.write_text(path.read_text("utf-8").replace("assert =", "let.expected = \"'380'\"\nassert =", 1), "utf-8")
    (definition,) = read_file(path, read_ruleset(FOLDER))
    violation = violation_of(definition, DocumentCurrencyCode="eur")
    assert (violation.situation, "expected" in violation.values) == (definition.situations[0].key, shown)
    assert violation_of(definition, InvoiceTypeCode="326").values["expected"] == "380"


@pytest.mark.parametrize(
    ("terms", "title", "values"),
    [
        ("BT-5", "code {shown}", {"type"}),
        ("BT-5", "code {again}", {"type", "again"}),
        ("BT-3", "code {shown}", {"type", "code", "again"}),
    ],
)
def test_situation_has_no_unquoted_value_calculated_from_its_leading_term(
    tmp_path: Path, terms: str, title: str, values: set[str]
) -> None:
    """A value that is not a number counts as another one in the calculations of the rule."""
    situations = SITUATIONS.replace('terms = ["BT-5"]', f'terms = ["{terms}"]').replace("currency {shown}", title)
    path = write_rule(tmp_path, situations)
    lets = 'let.type = "raw(invoice.type_code)"\nlet.code = "raw(invoice.currency)"\nlet.again = "upper_case(code)"\n'
    path.write_text(path.read_text("utf-8").replace("assert =", f"{lets}assert =", 1), "utf-8")
    (definition,) = read_file(path, read_ruleset(FOLDER))
    violation = violation_of(definition, DocumentCurrencyCode="eur")
    assert violation.situation == definition.situations[0].key
    assert set(violation.values) & {"type", "code", "again"} == values


def test_rule_without_situation_keeps_terms_and_place(tmp_path: Path) -> None:
    violation = violation_of(definition_of(tmp_path), InvoiceTypeCode="326")
    assert violation.values == {"actual": "326", "invoice.type_code": "326"}
    assert violation.terms == ("BT-3", "BT-5")
    assert violation.place.raw == "326"


def test_situation_of_a_family_has_the_constants_of_the_variant(tmp_path: Path) -> None:
    rule = RULE.replace('code = "X"\n', "").format(situations=SITUATIONS.replace("'eur'", "'{unit}'"))
    variants = '[variants.X]\nunit = "eur"\n[variants.Y]\nunit = "usd"\n'
    (tmp_path / "X.toml").write_text(rule.replace("[[situations]]", f"{variants}[[situations]]", 1), "utf-8")
    x, y = read_file(tmp_path / "X.toml", read_ruleset(FOLDER))
    assert [it.situations[0].when for it in (x, y)] == ["shown == 'eur'", "shown == 'usd'"]


def test_situation_replaces_only_the_texts_that_it_has() -> None:
    texts = {"en": {"title": "general", "fix": "do {x}"}, "de": {"title": "allgemein", "fix": "tun"}}
    situation = {"texts": {"en": {"fix": "do this with {x}"}}, "syntax": "", "value": "", "key": "k"}
    entry = CatalogEntry("X", "fatal", "en16931", "totals", (), texts, "x.toml", situations=(situation,))
    assert entry.title("en", {"x": "1"}, "k") == "general"
    assert entry.fix("en", {"x": "1"}, "k") == "do this with 1"
    assert entry.fix("de", {"x": "1"}, "k") == "tun"
    assert entry.fix("fr", {"x": "1"}, "k") == "do this with 1"
    assert entry.fix("en", {"x": "1"}) == "do 1"
    assert entry.fix("en", {"x": "1"}, "unknown") == "do 1"


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('de.fix = "Typ ändern"', "", "situations.de.fix"),
        ('de.fix = "Typ ändern"', 'de.fix = " "', "situations.de.fix"),
        ('de.fix = "Typ ändern"\nen.fix = "change the type"', "", "situations"),
        ('en.fix = "change the type"', 'en.fix = "f"\nen.advice = "a"', "situations.de.advice"),
        ("let.shown", 'syntax = "xml"\nlet.shown', "situations.syntax"),
        ("let.shown", 'until = "0.1"\nlet.shown', "situations.until"),
        ("let.shown", "kind = 'x'\nlet.shown", "situations.kind"),
        ("let.shown", "name = ''\nlet.shown", "situations.name"),
    ],
)
def test_invalid_situation_is_rejected_with_its_key(tmp_path: Path, old: str, new: str, key: str) -> None:
    assert old in SITUATIONS
    with pytest.raises(RuleError) as caught:
        definition_of(tmp_path, SITUATIONS.replace(old, new))
    assert caught.value.key == key


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("shown == 'eur'", "unknown == 'eur'", "unknown name"),
        ('"invoice.currency"', '"invoice.currencies"', "currencies"),
        ("let.shown", "let.invoice", "already in use"),
        ("Währung {shown}", "Währung {other}", "quotes the unknown name 'other'"),
        ("Typ ändern", "{shown}", "quotes the unknown name 'shown'"),
    ],
)
def test_expressions_and_placeholders_of_situations_are_checked(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in SITUATIONS
    definition = definition_of(tmp_path, SITUATIONS.replace(old, new))
    with pytest.raises(RuleError, match=message):
        check_rule(definition, "UBL", definition.ruleset.newest, Contexts(FOLDER, None))


# ---------------------------------------------------------------- situations of the shipped rules


def rules() -> list[Definition]:
    return [it for definitions in shipped_rule_sets().definitions.values() for it in definitions if it.situations]


def selected_by_examples(definition: Definition) -> set[str]:
    """Return the situations that the invalid examples of a rule select, in any syntax and release; not the operands."""
    selected: set[int] = set()
    contexts = shipped_rule_sets().contexts[definition.layer]
    for syntax in definition.ruleset.syntaxes:
        checked = [check_rule(definition, syntax, version, contexts) for version in definition.versions]
        programs = [program_of(it, syntax) for it in checked if it]
        for kind, example in examples_of(definition, syntax) if programs else ():
            if kind == "invalid":
                invoice = read(document_of(example, example.file, syntax))
                violations = [violation for program in programs for violation in program.run(invoice)]
                selected |= {it.situation for it in violations if it.situation and "." not in it.situation}
    return selected


@pytest.mark.slow
def test_every_situation_is_selected_by_an_example() -> None:
    selected = {(it.layer, it.code): selected_by_examples(it) for it in rules()}
    assert selected == {(it.layer, it.code): reachable(it) for it in rules()}


def reachable(definition: Definition) -> set[str]:
    """Return the situations that apply to a syntax of the rule set; an adopting one may have more syntaxes."""
    syntaxes = ("", *definition.ruleset.syntaxes)
    return {it.key for it in definition.situations if it.syntax in syntaxes}


def test_situations_reach_every_output(tmp_path: Path) -> None:
    """The texts survive pickling, and a record of a bulk run."""
    document = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")
    rate = re.sub(r"(<cac:TaxCategory>\s*<cbc:ID>)S", r"\g<1>E", document)
    assert rate != document
    file = tmp_path / "invoice.xml"
    file.write_text(rate, "utf-8")
    result = einvoice.validate(file, lang="en")
    finding = next(it for it in result.findings if it.code == "BR-S-01")
    assert finding.situation
    assert finding.title() != finding.entry.title("en", finding.values)
    assert finding.to_dict("en")["title"] == finding.title()
    assert finding.fix() in result._repr_html_().replace("&#x27;", "'")
    loaded = pickle.loads(pickle.dumps(finding))
    assert (loaded.title("de"), loaded.fix("de")) == (finding.title("de"), finding.fix("de"))
    results = einvoice.validate_many([file], lang="en")
    (record,) = list(results)
    stored = next(it for it in record.findings if it.code == "BR-S-01")
    assert stored.situation == finding.situation
    assert (stored.title(), stored.explanation(), stored.fix()) == (
        finding.title(),
        finding.explanation(),
        finding.fix(),
    )


def test_nothing_is_computed_for_rules_that_hold() -> None:
    """Situations are functions of their own, which only the report of a violation calls."""
    from einvoice.rulebook.program.generate import generate

    definition = next(it for it in rules() if it.code == "BR-S-01")
    checked = check_rule(definition, "UBL", definition.ruleset.newest, shipped_rule_sets().contexts["en16931"])
    assert checked is not None
    functions = generate([checked]).functions
    (selects,) = (name for name in functions if "SITUATION" in name)
    lines = [line for source in functions.values() for line in source.splitlines()]
    calls = [line.strip() for line in lines if selects in line and not line.startswith("def")]
    assert calls
    assert all(line.startswith("_report(") for line in calls)


def test_keys_of_situations_are_unique_in_each_rule():
    for entry in einvoice.catalog().values():
        keys = [it["key"] for it in entry.situations]
        assert len(keys) == len(set(keys)), entry.code
        assert all(keys)


def test_key_depends_on_the_condition_only():
    one = situation_of({"when": "a  ==\n1", "de": {"title": "t"}})
    assert one.key == situation_of({"when": "a == 1", "de": {"title": "anders"}}).key
    assert one.key != situation_of({"when": "a == 1", "syntax": "ubl"}).key
    assert situation_of({"when": "a == 1", "name": "one"}).key == "one"


def test_stored_findings_refer_to_a_situation_by_its_key(sample, monkeypatch):
    text = sample("ubl-invoice.xml").read_bytes().replace(b'unitCode="C62"', b'unitCode="Stk"', 1)
    results = einvoice.validate_many({"a.xml": text}, workers=0, progress=False)
    (finding,) = results[0].findings
    assert finding.situation
    record = results[0]
    known = finding.entry
    added = known._replace(situations=({**known.situations[0], "key": "new"}, *known.situations))
    monkeypatch.setattr("einvoice.bulk.stored_findings.catalog", lambda: {known.code: added})
    (restored,) = replace(record).findings
    assert restored.title() == finding.title() != known.title("de", finding.values)
