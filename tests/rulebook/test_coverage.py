"""Coverage of codes by examples of rules, generated documents, files and comparison cases.

`python -m tests.rulebook.test_coverage` prints the number of codes covered by each, and the codes not covered.
"""

import itertools
from collections import Counter
from functools import cache

import pytest

import einvoice
from einvoice.codelists import codes as codes_of
from einvoice.resources import rules_folder, shipped
from einvoice.rulebook.files.versions import read_ruleset
from einvoice.rulebook.syntax_rules.table import rows, rule_table
from einvoice.syntax.schema.files import PROFILES
from tests.cases import corpus
from tests.helpers import builder
from tests.helpers.paths import SAMPLES
from tests.helpers.rule_sets import newest_stack, shipped_rule_sets
from tests.helpers.syntax_rules import all_violations
from tests.rulebook.test_syntax_rules import SYNTAXES, UNREACHABLE
from tests.syntax.test_xml import BAD

NEWEST = newest_stack(*shipped().sets)
#: Reported for internal errors only; see test_validate.
INTERNAL_CODES = {"LAYER-FAILED", "LAYER-MISSING"}
#: Covered by test_schema.
SCHEMA_CODES = {path.stem for path in (rules_folder() / "schema").glob("*.toml")}
#: Covered by tests/facturx.
PROFILE_CODES = {path.stem for path in (rules_folder() / "facturx" / "texts").glob("*.toml")} | {
    code
    for profile in PROFILES
    for rule in rule_table("CII", NEWEST, profile).rules
    if rule.of_profile
    for code in (rule.code, rule.catalog_code)
}
#: Covered by tests/pdf.
PDF_CODES = {path.stem for folder in ("pdf", "file") for path in (rules_folder() / folder).glob("*PDF*.toml")}
#: Covered by tests/bulk and tests/appliance.
BULK_CODES = {"FILE-ARCHIVE", "FILE-MEMBER", "FILE-OPEN", "FILE-WORK", "FILE-WORKER"}
#: Covered by test_reference_engine.
REFERENCE_CODES = {path.stem for path in (rules_folder() / "file").glob("REFERENCE-*.toml")}
SAMPLE = SAMPLES / "cii-invoice.xml"
DECLARED = "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"


def codes(data):
    """Return the codes of the findings, or that of the error if the document is unreadable."""
    try:
        return {finding.code for finding in einvoice.validate(data).findings}
    except einvoice.UnreadableDocument as error:
        return {error.code}


def is_violated(rule, stack=NEWEST):
    """Return whether the document generated from a row violates it."""
    return rule.code in violations(builder.document(rule), rule.table, stack)


def violations(root, table, stack=NEWEST):
    return Counter(violation.code for violation in all_violations(root, stack) if violation.rule.table == table)


def rules(stack=NEWEST):
    return [rule for syntax in SYNTAXES for rule in rule_table(syntax, stack).rules]


def last_releases():
    """Return the releases of EN 16931 after which rows were removed."""
    ended = {row[-1] for syntax in SYNTAXES for row in rows(rules_folder() / "en16931", syntax) if row[-1]}
    names = [version.name for version in read_ruleset(rules_folder() / "en16931").versions]
    return [(("en16931", before),) for before, name in itertools.pairwise(names) if name in ended]


# ---------------------------------------------------------------- coverage


@cache
def by_examples():
    """Return the codes with an invalid example; test_rules evaluates the examples."""
    definitions = [definition for ruleset in shipped_rule_sets().definitions.values() for definition in ruleset]
    return {
        definition.resolved(syntax, definition.ruleset.newest).code
        for definition in definitions
        for example in definition.examples("invalid")
        for syntax in example.syntaxes
    }


@cache
def by_rows():
    """Return the codes of rows; removed rows are evaluated in their last release."""
    found = {rule.code for rule in rules() if is_violated(rule)}
    for stack in last_releases():
        found |= {rule.code for rule in rules(stack) if rule.code not in found and is_violated(rule, stack)}
    return found


@cache
def by_files():
    """Return the codes for unreadable files and for declared specifications."""
    sample = SAMPLE.read_text("utf-8")
    assert DECLARED in sample
    declared = [
        "",
        "urn:x",
        "urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0",
        "urn:cen.eu:en16931:2017#compliant#urn:fdc:nen.nl:nlcius:v1.0#conformant#urn:fdc:nen.nl:gaccount:v1.0",
        "urn:factur-x.eu:1p0:minimum",
        "urn:cen.eu:en16931:2026",
        "urn:cen.eu:en16931:2017#compliant#urn:xoev-de:kosit:standard:xrechnung_2.3",
    ]
    files = [data for data, _, _ in BAD.values()]
    files += [b"%PDF-1.7", *(sample.replace(DECLARED, identifier).encode() for identifier in declared)]
    invoice = SAMPLE.with_name("ubl-invoice.xml").read_text("utf-8")
    specification = "<cbc:CustomizationID>"
    files.append(invoice.replace(DECLARED, "urn:peppol:pint:billing-1@sg-1").encode())
    files.append(invoice.replace(specification, f"<cbc:UBLVersionID>2.1</cbc:UBLVersionID>{specification}").encode())
    state = "<ram:CountrySubDivisionName>Hessen</ram:CountrySubDivisionName>"
    country = "<ram:CountryID>DE</ram:CountryID>"
    files.append(sample.replace(country, f"{country}{state}{state}").encode())
    context = "<rsm:ExchangedDocumentContext>"
    test = "<ram:TestIndicator><udt:Indicator>true</udt:Indicator></ram:TestIndicator>"
    assert context in sample
    files.append(sample.replace(context, f"{context}{test}").encode())
    files.append(sample.replace('encoding="UTF-8"', 'encoding="ISO-8859-1"').encode("latin-1"))
    return set().union(*map(codes, files))


def not_applicable():
    """Return the codes without possible violation, with the reasons."""
    reasons = {
        code: set(entry.not_applicable.values()) for code, entry in einvoice.catalog().items() if entry.not_applicable
    }
    whole = {
        code
        for code in reasons
        if set(einvoice.catalog()[code].not_applicable) == set(einvoice.catalog()[code].severities)
    }
    return {code: reasons[code] for code in whole} | {
        code: {"an earlier context has the same elements"} for code in UNREACHABLE
    }


@pytest.mark.slow
def test_every_code_is_covered_or_not_applicable():
    elsewhere = PROFILE_CODES | SCHEMA_CODES | PDF_CODES | INTERNAL_CODES | BULK_CODES | REFERENCE_CODES
    covered = by_examples() | by_rows() | by_files() | elsewhere
    assert set(einvoice.catalog()) - covered - set(not_applicable()) == set()
    assert not set(not_applicable()) & by_rows()
    assert all(all(reasons) for reasons in not_applicable().values())
    assert {code for code in not_applicable() if code.startswith("BR-")} == {
        "BR-CO-05", "BR-CO-06", "BR-CO-07", "BR-CO-08", "BR-CO-27", "BR-NL-32-2", "BR-NL-32-3",
    }  # fmt: skip


@pytest.mark.cases
@pytest.mark.slow
def test_codes_found_in_comparison_cases_are_in_the_catalog(cases):
    """Most codes of the catalog are found in some case."""
    found = {code for _, data in cases(*corpus.ALL) for code in codes(data)}
    assert found <= set(einvoice.catalog())
    assert len(found) > (1200 if corpus.beside() else 600)


# ---------------------------------------------------------------- satisfied rows


def one_occurrence(rule, root, context, content=""):
    builder.found(rule, root, context, [content])


def maximum_occurrences(rule, root, context):
    builder.found(rule, root, context, [""] * int(rule.argument))


def repeated_value(rule, root, context):
    builder.found(rule, root, context, ["x"] * (int(rule.argument) + 1))


def value_of_argument(rule, root, context):
    one_occurrence(rule, root, context, rule.argument)


def code_of_list(rule, root, context):
    code = min(codes_of(rule.argument, syntax=rule.syntax))
    path = next(rule.paths())
    if path.attribute:
        builder.grown(root if path.anywhere else context, path.steps).set(path.attribute, code)
    elif path.steps:
        one_occurrence(rule, root, context, code)
    else:
        context.text = code


def each_path(rule, root, context):
    for path in rule.paths():
        builder.grown(context, path.steps)


def other_payee_name(rule, root, context):
    builder.child("cac:PartyName/cbc:Name", "A")(context)
    builder.child("cac:AccountingSupplierParty/cac:Party/cac:PartyLegalEntity/cbc:RegistrationName", "B")(root)


def currency_eur(rule, root, context):
    context.set("currencyID", "EUR")


def invoice_currency_eur(rule, root, context):
    context.set("currencyID", "EUR")
    builder.etree.SubElement(root, builder.qualified("cbc:DocumentCurrencyCode")).text = "EUR"


def date_of_syntax(rule, root, context):
    context.text = "2026-01-31" if rule.syntax == "UBL" else "20260131"


# How to satisfy a check; the others are satisfied if no element is found.
SATISFY = {
    "at_most": maximum_occurrences,
    "at_most_distinct": repeated_value,
    "at_most_distinct_words": repeated_value,
    "required": one_occurrence,
    "exactly_one": one_occurrence,
    "all_of": each_path,
    "one_name_of": one_occurrence,
    "equals": value_of_argument,
    "in_code_list": code_of_list,
    "in_code_list_exactly": code_of_list,
    "in_code_list_any_case": code_of_list,
    "payee_not_seller": other_payee_name,
    "not_blank": builder.text("text"),
    "matches": builder.with_text("123456789"),
    "is_date": date_of_syntax,
    "number_form": builder.with_text("1"),
    "price_form": builder.with_text("1"),
    "non_blank": builder.with_text("1"),
    "value_or_quantity": lambda rule, root, context: builder.child(rule.argument.split()[0], "1")(context),
    "french_vat_category": builder.with_text("S"),
    "in_currency": currency_eur,
    "decimals": builder.text("1.23"),
    "date": builder.text("20260131"),
    "calendar_date": builder.text("2026-01-31"),
    "in_currency_exactly": currency_eur,
    "in_invoice_currency": invoice_currency_eur,
}


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_every_row_is_satisfied_by_a_generated_document(syntax):
    violated = []
    for rule in rule_table(syntax, NEWEST).rules:
        root = builder.etree.Element(builder.qualified(builder.ROOTS[syntax]), nsmap=builder.NAMESPACES)
        context = builder.grown(root, next(rule.contexts()).steps)
        SATISFY.get(rule.check, builder.nothing)(rule, root, context)
        if violations(root, rule.table)[rule.code]:
            violated.append((rule.code, rule.check))
    assert not violated


if __name__ == "__main__":
    sources = {
        "examples": by_examples(),
        "table rows": by_rows(),
        "files": by_files(),
        "XML schema": SCHEMA_CODES,
        "PDFs": PDF_CODES,
    }
    for name, covered in sources.items():
        print(f"{name}: {len(covered)} codes")
    for code, reasons in sorted(not_applicable().items()):
        print(f"{code} is not applicable: {'; '.join(reasons)}")
    left = set(einvoice.catalog()) - set().union(*sources.values()) - set(not_applicable()) - INTERNAL_CODES
    print("not covered:", ", ".join(sorted(left)) or "no code")
