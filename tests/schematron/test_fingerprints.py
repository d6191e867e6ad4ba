"""Fingerprints: what does not change a verdict does not change them, and what may change one does."""

import csv

import pytest
from lxml import etree

from einvoice.resources import rules_folder
from einvoice.rulebook.fingerprints import COLUMNS, fingerprints
from einvoice.schematron import fingerprints as expressions
from einvoice.schematron.fingerprints import fingerprints as of_sheet
from einvoice.schematron.sheets import iso, xslt
from tests.helpers.rule_sets import shipped_rule_sets
from tests.live import official_schematron
from tests.schematron.sheets import SCHEMATRON


def found(text=SCHEMATRON):
    return of_sheet(iso.read(etree.fromstring(text.encode()), None, etree.fromstring))


def test_each_code_has_one():
    assert set(found()) == {f"T-{number}" for number in range(1, 7)}
    assert len(set(found().values())) == 6


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('test="t:count = 3"', 'test="t:count  =\n3 (: three :)"'),
        ("The $what has no content.", "Another text for $what."),
        ("t:", "other:"),
        ('prefix="t"', 'prefix="t" id="n"'),
        ('flag="fatal"', 'flag="FATAL "'),
    ],
)
def test_form_does_not_matter(old, new):
    text = SCHEMATRON.replace(old, new).replace('prefix="t"' if new == "other:" else "?", 'prefix="other"')
    assert text != SCHEMATRON
    assert found(text) == found()


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("t:count = 3", "t:count = 4", {"T-4"}),
        ("t:count = 3", "t:count = '3'", {"T-4"}),
        ('flag="fatal"', 'flag="warning"', {"T-2"}),
        ('value="sum(//t:sum)"', 'value="sum(//t:sum[1])"', {"T-2"}),
        ("('DE', 'FR')", "('DE', 'FR', 'IT')", {"T-6"}),
        ("urn:test", "urn:other", {"T-1", "T-2", "T-3", "T-4", "T-5", "T-6"}),
        ("castable as xs:decimal", "castable as xs:double", {"T-3", "T-4", "T-5"}),
        ('<rule context="t:line">', '<rule context="t:line[1]">', {"T-5"}),
    ],
)
def test_what_decides_the_verdict_matters(old, new, changed):
    text = SCHEMATRON.replace(old, new)
    assert text != SCHEMATRON
    assert {code for code, digest in found(text).items() if digest != found()[code]} == changed


def test_a_rule_before_matters_only_if_it_may_judge_the_same_nodes():
    def with_rule(context):
        rule = f'<rule context="{context}"><assert id="T-0" test="true()">Text</assert></rule>'
        return SCHEMATRON.replace('<rule context="t:order/t:total">', f'{rule}<rule context="t:order/t:total">')

    def changed(context):
        return {code for code, digest in found(with_rule(context)).items() if digest != found().get(code)} - {"T-0"}

    assert changed("t:other") == set()
    assert changed("t:total[2]") == {"T-2"}
    assert changed("*[@id]") == {"T-2", "T-3", "T-4", "T-5"}


def test_an_assertion_that_reads_files_has_none():
    text = SCHEMATRON.replace("t:count = 3", "doc('codes.xml')//code = t:count")
    assert set(found()) - set(found(text)) == {"T-4"}


def test_the_official_sheet_in_the_environment_has_the_stored_ones():
    version, ruleset = official_schematron.version(), shipped_rule_sets().sets["en16931"]
    known = fingerprints(ruleset, rules_folder() / "en16931", "UBL")
    assert version in known
    sheet = official_schematron.stylesheet().encode()
    assert of_sheet(xslt.read(etree.fromstring(sheet))) == known[version]


@pytest.mark.parametrize("path", sorted(rules_folder().glob("*/fingerprints/*.csv")), ids=lambda it: it.parts[-3])
def test_stored_ones_are_of_known_releases(path):
    ruleset = shipped_rule_sets().sets[path.parent.parent.name]
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert tuple(rows[0]) == COLUMNS
    names = {version.name for version in ruleset.versions} | {""}
    assert {release for _, _, since, until in rows[1:] for release in (since, until)} <= names
    assert all(len(digest) == 32 and int(digest, 16) for _, digest, *_ in rows[1:])


def test_each_expression_is_read_once(monkeypatch):
    read, calls = expressions.tokens, []
    monkeypatch.setattr(expressions, "tokens", lambda text: calls.append(text) or read(text))
    rules = "".join(f'<rule context="a[b = {it}]"><assert id="A-{it}" test="c = {it}"/></rule>' for it in range(40))
    sheet = f'<schema xmlns="http://purl.oclc.org/dsdl/schematron"><pattern>{rules}</pattern></schema>'
    assert len(of_sheet(iso.read(etree.fromstring(sheet), None, etree.fromstring))) == 40
    assert len(calls) <= 4 * 40
