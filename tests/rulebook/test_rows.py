"""Syntax rules in the catalog and in findings: texts, places and severities."""

import csv
import re
import tomllib

import pytest
from lxml import etree

import einvoice
from einvoice.code_catalog.naming import Names
from einvoice.code_catalog.syntax_rules import syntax_rule_entries
from einvoice.errors import RuleError
from einvoice.model.location import NAMESPACES
from einvoice.model.terms import terms
from einvoice.resources import rules_folder, shipped
from einvoice.rulebook.syntax_rules.collector import Collector
from einvoice.rulebook.syntax_rules.stops import CHECKS as STOPS
from einvoice.rulebook.syntax_rules.table import rule_table
from einvoice.syntax import reader
from tests.helpers import builder
from tests.helpers.rule_sets import ELEMENTS, newest_stack, table

FOLDER = rules_folder() / "syntax"
PLACEHOLDERS = {"name", "found", "count"}
STACK = newest_stack(*shipped().sets)
RULES = [rule for syntax in ("UBL", "CII") for rule in rule_table(syntax, STACK).rules]
CODES = sorted({rule.code for rule in RULES})
MECHANICAL = {rule.code: rule for rule in RULES if rule.table == table(ELEMENTS, rule.syntax)}
# Words of one language only.
FOREIGN = {
    "de": {"the", "a", "must", "should", "may", "which", "is", "not", "of", "and", "or", "for", "with", "given"},
    "en": {"der", "die", "das", "muss", "nicht", "wird", "ist", "und", "oder", "von", "für", "ein", "eine", "kein",
           "bei", "beim", "mit", "zu", "zur"},
}  # fmt: skip


@pytest.fixture(scope="module")
def composed():
    return {entry.code: entry for entry in syntax_rule_entries(shipped(), dict(STACK))}


def texts_of(composed, language):
    return [(code, text) for code in MECHANICAL for text in composed[code].texts[language].values()]


# ---------------------------------------------------------------- texts


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_texts_of_every_code_have_document_placeholders_only(language):
    catalog = einvoice.catalog()
    for code in CODES:
        texts = catalog[code].texts[language]
        assert set(texts) == {"title", "explanation", "fix"}
        for text in texts.values():
            assert set(re.findall(r"\{(\w+)\}", text)) <= PLACEHOLDERS, code
            assert text.strip(), code
            assert "  " not in text, code


@pytest.mark.parametrize("language", ["de", "en"])
def test_texts_are_sentences(composed, language):
    for code, text in texts_of(composed, language):
        assert re.match(r"[A-ZÄÖÜ„“]", text), (code, text)
        assert text == text.strip(), (code, text)
        assert not re.search(r"\(\)|„“ |“”|[.:;,] ?\.|: $", text), (code, text)
    for code in MECHANICAL:
        title, *sentences = composed[code].texts[language].values()
        assert not title.endswith("."), code
        assert all(sentence.endswith(".") for sentence in sentences), code


@pytest.mark.parametrize("language", ["de", "en"])
def test_texts_are_in_one_language(composed, language):
    for code, text in texts_of(composed, language):
        plain = re.sub(r"\([^)]*\)|„[^“]*“|“[^”]*”|\{\w+\}", "", text)
        words = set(re.findall(r"[\wäöüß]+", plain.lower()))
        assert not words & FOREIGN[language], (code, text)


@pytest.mark.parametrize("language", ["de", "en"])
def test_element_names_are_only_in_parentheses(composed, language):
    for code, text in texts_of(composed, language):
        assert not re.search(r"(cac|cbc|ram|rsm|udt|ext):", re.sub(r"\([^)]*\)", "", text)), (code, text)
    for code in MECHANICAL:
        found = re.findall(r"\b(?:cac|cbc|ram|udt|ext):\w", " ".join(composed[code].texts[language].values()))
        assert len(found) <= 2, code  # two only if the row names two elements


def test_titles_name_the_place():
    """The title of an element depends on its parent."""
    catalog = einvoice.catalog()
    assert catalog["UBL-CR-150"].title("de") == "In der Anschrift des Verkäufers ist kein Postfach vorgesehen"
    assert catalog["UBL-CR-213"].title("de") == "In der Anschrift des Käufers ist kein Postfach vorgesehen"
    assert catalog["UBL-CR-213"].title("en") == "No PO box should be given for the buyer's address"
    assert catalog["CII-DT-083"].title("en") == "No PO box may be given for an address"


# ---------------------------------------------------------------- XPaths


def test_section_terms_and_examples(composed):
    for code in MECHANICAL:
        entry = composed[code]
        assert entry.examples, code
        assert all("{" not in text for texts in entry.examples.values() for text in texts), code
        assert set(entry.terms) <= set(terms()), code
    assert (composed["UBL-CR-150"].section, composed["UBL-CR-150"].terms) == ("seller", ("BG-5",))
    assert (composed["UBL-SR-28"].section, composed["UBL-SR-28"].terms) == ("payment", ("BT-89",))
    assert (composed["CII-SR-104"].section, composed["CII-SR-104"].terms) == ("lines", ("BG-25",))
    assert (composed["UBL-CR-004"].section, composed["UBL-CR-004"].terms) == ("document", ())


#: Of XPath 2.0; all else in the expressions is XPath 1.0.
MATCHES = {(None, "matches"): lambda _, text, pattern: re.search(pattern, text) is not None}


def test_the_xpath_of_a_rule_selects_the_violating_element(composed):
    for rule in RULES:
        if rule.check in STOPS:  # have no entry of their own
            continue
        expression = composed[rule.code].xpaths[rule.syntax]
        root = builder.document(rule)
        found = etree.XPath(expression, namespaces=NAMESPACES, extensions=MATCHES)(root)
        if rule.check in ("required", "exactly_one", "all_of", "payee_not_seller", "not_blank", "french_vat_category"):
            continue  # may be violated by missing elements
        collector = Collector(root, STACK)
        reader.read(root, collector)
        violations = [violation for violation in collector.violations() if violation.code == rule.code]
        elements = [node.getparent() if rule.attribute else node for node in found]
        assert all(violation.element in elements for violation in violations), rule.code
        assert found, (rule.code, expression)


# ---------------------------------------------------------------- nouns and places


def test_every_noun_and_place_is_complete_and_used(monkeypatch):
    used = set()
    original = Names.__getitem__

    def recorded(self, path):
        row = original(self, path)
        used.add((self.file.stem, next(iter(row.values()))))
        return row

    monkeypatch.setattr(Names, "__getitem__", recorded)
    list(syntax_rule_entries(shipped(), dict(STACK)))
    for name, needed in (("elements", ("de_gender", "de", "en")), ("places", ("de", "en"))):
        with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len({row[name[:-1]] for row in rows}) == len(rows)
        for row in rows:
            assert all(row[column] for column in needed), row
            assert None not in row, row
            assert row["de"] != row["en"] or row["de"] in {"Name", "Region"}, row
        assert {row[name[:-1]] for row in rows} == {key for file, key in used if file == name}


def test_every_fix_is_used():
    fixes = set(tomllib.loads((FOLDER / "texts.toml").read_text("utf-8"))["instead"])
    used = set()
    for name in ("elements", "places"):
        with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            used |= {row["instead"] for row in csv.DictReader(file)} - {""}
    assert used == fixes


def test_element_without_a_noun_is_an_error():
    with pytest.raises(RuleError, match="has no name for '/cbc:Unknown'"):
        Names(FOLDER / "elements.csv")["/cbc:Unknown"]


def test_the_longest_path_wins():
    nouns = Names(FOLDER / "elements.csv")
    assert nouns["/cac:PaymentMandate/cbc:ID"]["de"] == "Mandatsreferenz"
    assert nouns["/cac:Somewhere/cbc:ID"]["de"] == "Kennung"


# ---------------------------------------------------------------- findings


@pytest.mark.parametrize(
    ("old", "new", "code", "severity", "layer", "text"),
    [
        ("<cbc:ID>", "<cbc:CopyIndicator>true</cbc:CopyIndicator><cbc:ID>", "UBL-CR-004", "warning", "en16931",
         "kein Kopie-Kennzeichen"),
        ("<cbc:IdentificationCode>DE<", "<cbc:IdentificationCode>GE1<", "BR-CL-14", "fatal", "en16931", "GE1"),
        ("<cbc:BuyerReference>", "<cbc:AccountingCost/><cbc:BuyerReference>", "PEPPOL-EN16931-R008", "fatal",
         "xrechnung", "cbc:AccountingCost"),
    ],
)  # fmt: skip
def test_violations_become_findings(sample, old, new, code, severity, layer, text):
    data = sample("ubl-invoice.xml").read_text("utf-8")
    assert old in data
    result = einvoice.validate(data.replace(old, new, 1).encode())
    finding = next(found for found in result.findings if found.code == code)
    assert (finding.severity, finding.layer) == (severity, layer)
    assert text in finding.title("de") + finding.explanation("de")


def test_published_overrides_apply_to_syntax_rules(sample):
    """For XRechnung KoSIT publishes an error for sub lines; the rule itself is a warning."""
    data = sample("ubl-invoice.xml").read_text("utf-8")
    result = einvoice.validate(
        data.replace("</cac:InvoiceLine>", "<cac:SubInvoiceLine/></cac:InvoiceLine>", 1).encode()
    )
    finding = next(found for found in result.findings if found.code == "UBL-CR-646")
    assert (finding.flag, finding.severity) == ("warning", "fatal")
    assert finding.override_reason("de")


def test_at_most_a_hundred_findings_per_rule(sample):
    data = sample("ubl-invoice.xml").read_text("utf-8")
    result = einvoice.validate(
        data.replace("<cbc:BuyerReference>", "<cbc:Note/>" * 500 + "<cbc:BuyerReference>").encode()
    )
    assert sum(found.code == "PEPPOL-EN16931-R008" for found in result.findings) == 100
