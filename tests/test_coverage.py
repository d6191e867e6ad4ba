"""Which codes are reached: by the comparison cases, by the examples of rules, by documents made from the tables.

`python tests/test_coverage.py` tells how many each of them reaches, and which codes none does.
"""

import itertools
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from syntax import builder
from test_syntax_rules import SYNTAXES, UNREACHABLE
from test_xml import BAD

import einvoice
from einvoice.codelists import codes as codes_of
from einvoice.resources import rules_folder
from einvoice.rulebook.files.versions import read_ruleset
from einvoice.rulebook.program.build import RuleSets
from einvoice.rulebook.syntax_rules.collector import Collector
from einvoice.rulebook.syntax_rules.table import NEWEST, rows, rule_table
from einvoice.syntax import reader
from einvoice.syntax.schema.files import PROFILES

#: What only a fault of einvoice itself brings about; test_validate makes one.
OF_FAULTS = {"LAYER-FAILED", "LAYER-MISSING"}
#: Shown by test_schema, which has a document for each code of that folder.
OF_SCHEMAS = {path.stem for path in (rules_folder() / "schema").glob("*.toml")}
#: Shown by test_profile_rules, which makes a document for each row of the levels of Factur-X.
OF_LEVELS = {path.stem for path in (rules_folder() / "facturx" / "texts").glob("*.toml")} | {
    rule.code for level in PROFILES for rule in rule_table("CII", level).rules if rule.of_profile
}
#: Shown by tests/pdf, which have a PDF for each.
OF_PDFS = {path.stem for folder in ("pdf", "file") for path in (rules_folder() / folder).glob("*PDF*.toml")}
#: Shown by tests/bulk and tests/appliance: files among many, and documents that are too much for a worker.
OF_MANY = {"FILE-ARCHIVE", "FILE-OPEN", "FILE-WORK", "FILE-WORKER"}
#: Shown by test_second_opinion, which lets the official artefacts fail in each way.
OF_REFERENCE = {path.stem for path in (rules_folder() / "file").glob("REFERENCE-*.toml")}
FOLDERS = ("xrechnung-testsuite", "kosit-rules", "cen-unit", "cen-files", "mutants", "grown", "grown-much")
SAMPLE = Path(__file__).parent / "samples" / "cii-invoice.xml"
DECLARED = "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"


def codes(data):
    """The codes that a document is told of, be it unreadable."""
    try:
        return {finding.code for finding in einvoice.validate(data).findings}
    except einvoice.UnreadableDocument as error:
        return {error.code}


def broken(rule, releases=NEWEST):
    """Whether a document made from a row breaks it."""
    return rule.code in violations(builder.document(rule), rule.table, releases)


def violations(root, table, releases=NEWEST):
    collector = Collector(root, releases=releases)
    reader.read(root, collector)
    return Counter(violation.code for violation in collector.violations() if violation.rule.table == table)


def rules(releases=NEWEST):
    return [rule for syntax in SYNTAXES for rule in rule_table(syntax, releases=releases).rules]


def last_releases():
    """The releases of EN 16931 after which rows were taken out of the tables."""
    ended = {row[-1] for syntax in SYNTAXES for row in rows(syntax) if row[-1]}
    names = [version.name for version in read_ruleset(rules_folder() / "en16931").versions]
    return [{"en16931": before} for before, name in itertools.pairwise(names) if name in ended]


# ---------------------------------------------------------------- what reaches a code


@cache
def by_examples():
    """Codes with an example that breaks them; test_rules runs each in each syntax."""
    definitions = [it for found in RuleSets(rules_folder()).definitions.values() for it in found]
    return {
        definition.sentence(syntax, definition.ruleset.newest).code
        for definition in definitions
        for example in definition.examples("invalid")
        for syntax in example.syntaxes
    }


@cache
def by_rows():
    """Codes of rows; what is no longer there is asked for in its last release."""
    found = {rule.code for rule in rules() if broken(rule)}
    for releases in last_releases():
        found |= {rule.code for rule in rules(releases) if rule.code not in found and broken(rule, releases)}
    return found


@cache
def by_files():
    """Codes of files that nobody can read, and of declarations."""
    sample = SAMPLE.read_text("utf-8")
    assert DECLARED in sample
    declared = [
        "",
        "urn:x",
        "urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0",
        "urn:factur-x.eu:1p0:minimum",
        "urn:cen.eu:en16931:2017#compliant#urn:xoev-de:kosit:standard:xrechnung_2.3",
    ]
    files = [data for data, _, _ in BAD.values()]
    files += [b"%PDF-1.7", *(sample.replace(DECLARED, it).encode() for it in declared)]
    invoice = SAMPLE.with_name("ubl-invoice.xml").read_text("utf-8")
    specification = "<cbc:CustomizationID>"
    files.append(invoice.replace(specification, f"<cbc:UBLVersionID>2.1</cbc:UBLVersionID>{specification}").encode())
    return set().union(*map(codes, files))


def never():
    """Codes that nobody can break, with the reason."""
    found = {
        code: set(entry.not_applicable.values()) for code, entry in einvoice.catalog().items() if entry.not_applicable
    }
    whole = {
        code
        for code in found
        if set(einvoice.catalog()[code].not_applicable) == set(einvoice.catalog()[code].severities)
    }
    return {code: found[code] for code in whole} | {
        code: {"an earlier context has its elements"} for code in UNREACHABLE
    }


def test_every_code_is_reached_or_says_why_it_cannot_be():
    shown = OF_LEVELS | OF_SCHEMAS | OF_PDFS | OF_FAULTS | OF_MANY | OF_REFERENCE
    reached = by_examples() | by_rows() | by_files() | shown
    assert set(einvoice.catalog()) - reached - set(never()) == set()
    assert not set(never()) & by_rows()
    assert all(all(reasons) for reasons in never().values())
    assert {code for code in never() if code.startswith("BR-")} == {
        "BR-CO-05", "BR-CO-06", "BR-CO-07", "BR-CO-08", "BR-CO-27",
    }  # fmt: skip


@pytest.mark.cases
@pytest.mark.slow
def test_the_cases_reach_what_nothing_else_does(cases):
    """Nothing that a case finds is unknown to the catalog; most codes are found in some case."""
    found = {code for folder in FOLDERS for _, data in cases(folder) for code in codes(data)}
    assert found <= set(einvoice.catalog())
    assert len(found) > 1200


# ---------------------------------------------------------------- what keeps a row


def once(rule, root, context, content=""):
    builder.found(rule, root, context, [content])


def as_often_as_allowed(rule, root, context):
    builder.found(rule, root, context, [""] * int(rule.argument))


def the_same_again(rule, root, context):
    builder.found(rule, root, context, ["x"] * (int(rule.argument) + 1))


def what_it_says(rule, root, context):
    once(rule, root, context, rule.argument)


def a_code_of_the_list(rule, root, context):
    code = min(codes_of(rule.argument, syntax=rule.syntax))
    path = next(rule.paths())
    if path.attribute:
        builder.grown(root if path.anywhere else context, path.steps).set(path.attribute, code)
    elif path.steps:
        once(rule, root, context, code)
    else:
        context.text = code


def each_path(rule, root, context):
    for path in rule.paths():
        builder.grown(context, path.steps)


def a_payee_of_another_name(rule, root, context):
    builder.child("cac:PartyName/cbc:Name", "A")(context)
    builder.child("cac:AccountingSupplierParty/cac:Party/cac:PartyLegalEntity/cbc:RegistrationName", "B")(root)


def in_euros(rule, root, context):
    context.set("currencyID", "EUR")


# How to keep a rule of a kind; the others are kept where nothing is found.
KEEPING = {
    "at_most": as_often_as_allowed,
    "at_most_distinct": the_same_again,
    "at_most_distinct_words": the_same_again,
    "required": once,
    "exactly_one": once,
    "all_of": each_path,
    "one_name_of": once,
    "equals": what_it_says,
    "in_code_list": a_code_of_the_list,
    "in_code_list_exactly": a_code_of_the_list,
    "in_code_list_any_case": a_code_of_the_list,
    "payee_not_seller": a_payee_of_another_name,
    "not_blank": builder.text("said"),
    "in_currency": in_euros,
    "decimals": builder.text("1.23"),
    "date": builder.text("20260131"),
}


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_every_row_is_kept_by_a_document_made_from_it(syntax):
    wrong = []
    for rule in rule_table(syntax).rules:
        root = builder.etree.Element(builder.qualified(builder.ROOTS[syntax]), nsmap=builder.NAMESPACES)
        context = builder.grown(root, next(rule.contexts()).steps)
        KEEPING.get(rule.check, builder.nothing)(rule, root, context)
        if violations(root, rule.table)[rule.code]:
            wrong.append((rule.code, rule.check))
    assert not wrong


if __name__ == "__main__":
    ways = {
        "examples": by_examples(),
        "table rows": by_rows(),
        "files": by_files(),
        "XML schema": OF_SCHEMAS,
        "PDFs": OF_PDFS,
    }
    for name, reached in ways.items():
        print(f"{name}: {len(reached)} codes")
    for code, reasons in sorted(never().items()):
        print(f"{code} cannot be broken: {'; '.join(reasons)}")
    left = set(einvoice.catalog()) - set().union(*ways.values()) - set(never()) - OF_FAULTS
    print("reached by none:", ", ".join(sorted(left)) or "no code")
