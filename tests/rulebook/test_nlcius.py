"""NLCIUS: Dutch invoices, as declared and by the option ``profile``, against expected and official results."""

from __future__ import annotations

from datetime import date

import pytest
from lxml import etree

import einvoice
from einvoice.result.catalog import catalog
from einvoice.rulebook.files.example import Example
from einvoice.rulebook.program.engine import rulebook
from einvoice.rulebook.releases import releases
from einvoice.rulebook.rule import SYNTAXES
from einvoice.rulebook.syntax_rules.collector import Collector
from einvoice.syntax.reader import read
from einvoice.syntax.xml import parse
from tests.cases import corpus
from tests.helpers.documents import document_of

RULES = "nlcius/BR-NL-1.toml"  # the examples of its folder start from a Dutch invoice
NO_SCHEME = {"seller.legal_identifier": "12345678"}
PEPPOL = "urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0"

GACCOUNT = "urn:cen.eu:en16931:2017#compliant#urn:fdc:nen.nl:nlcius:v1.0#conformant#urn:fdc:nen.nl:gaccount:v1.0"

both_syntaxes = pytest.mark.parametrize("syntax", SYNTAXES)


def document(syntax, changes=None, drop=()):
    """Return the bytes of the Dutch invoice with changes at paths of the model."""
    return etree.tostring(document_of(Example("", changes or {}, drop), RULES, syntax))


def codes(result):
    return {finding.code for finding in result.findings}


# ---------------------------------------------------------------- what a user meets


@both_syntaxes
def test_dutch_invoice_is_valid(syntax):
    result = einvoice.validate(document(syntax))
    assert (result.is_valid, codes(result)) == (True, set())
    assert result.identity.profile == "NLCIUS"
    assert ("nlcius", True) in [(layer.name, layer.executed) for layer in result.stack.layers]


@both_syntaxes
def test_missing_kvk_number_is_explained_in_both_languages(syntax):
    data = document(syntax, NO_SCHEME)
    for lang, words in (("de", ("KvK-Nummer", "0106", "12345678")), ("en", ("KvK number", "0106", "12345678"))):
        result = einvoice.validate(data, lang=lang)
        (finding,) = result.findings
        assert (finding.code, finding.severity, result.is_valid) == ("BR-NL-1", "fatal", False)
        assert all(word in finding.explanation(lang) for word in words)


@both_syntaxes
def test_finding_points_at_the_element(syntax):
    data = document(syntax, NO_SCHEME)
    (finding,) = einvoice.validate(data).findings
    (element,) = parse(data).xpath(finding.xpath, namespaces=einvoice.NAMESPACES)
    assert element.text == "12345678"


@both_syntaxes
def test_discouraged_content_is_a_warning(syntax):
    result = einvoice.validate(document(syntax, {"seller.legal_information": "Maatschappelijk kapitaal € 18.000"}))
    assert [(finding.code, finding.severity) for finding in result.findings] == [("BR-NL-26", "warning")]
    assert result.is_valid


@both_syntaxes
def test_rules_for_dutch_sellers_do_not_apply_to_others(syntax):
    changes = {"seller.address.country_code": "BE", "seller.address.line_3": "Bus 4"}
    data = document(syntax, changes, drop=("buyer_reference", "seller.legal_identifier"))
    assert not {code for code in codes(einvoice.validate(data)) if code.startswith("BR-NL")}


@both_syntaxes
def test_order_line_needs_the_order_for_every_seller(syntax):
    changes = {"lines[0].order_line": "1", "seller.address.country_code": "BE"}
    assert "BR-NL-13" in codes(einvoice.validate(document(syntax, changes)))


@both_syntaxes
def test_profile_option_validates_a_declared_invoice(syntax):
    result = einvoice.validate(document(syntax, drop=("buyer_reference",)), profile="nlcius")
    assert "BR-NL-2" in codes(result)


@both_syntaxes
def test_profile_option_excludes_other_national_rules(syntax):
    result = einvoice.validate(document(syntax), profile="nlcius")
    assert not {code for code in codes(result) if code.startswith(("BR-DE", "BR-TMP", "PEPPOL"))}


@both_syntaxes
def test_invoice_of_another_specification_has_no_dutch_findings(syntax):
    data = document(syntax, {"specification": PEPPOL}, drop=("seller.legal_identifier",))
    assert not {code for code in codes(einvoice.validate(data)) if code.startswith("BR-NL")}


@both_syntaxes
def test_rules_of_the_extension_are_stated_as_unchecked(syntax):
    result = einvoice.validate(document(syntax, {**NO_SCHEME, "specification": GACCOUNT}))
    assert codes(result) == {"DECL-PART-ONLY", "BR-NL-1"}


@pytest.mark.parametrize(
    ("declared", "severity", "fix"),
    [(GACCOUNT, "information", "No action needed."), (None, "warning", "Remove the entry.")],
    ids=["extension declared", "not declared"],
)
def test_elements_of_the_extension_need_no_action(declared, severity, fix):
    data = document("UBL", {"specification": declared} if declared else {})
    data = data.replace(b"<cac:PaymentMeans>", b"<cac:PaymentMeans><cbc:ID>GACCOUNT</cbc:ID>")
    terms = b"<cbc:PaymentMeansID>GACCOUNT</cbc:PaymentMeansID><cbc:Amount currencyID='EUR'>119.00</cbc:Amount>"
    data = data.replace(b"<cac:TaxTotal>", b"<cac:PaymentTerms>" + terms + b"</cac:PaymentTerms><cac:TaxTotal>", 1)
    found = {it.code: it for it in einvoice.validate(data, lang="en").findings if it.code.startswith("UBL-CR-")}
    assert set(found) == {"UBL-CR-411", "UBL-CR-453", "UBL-CR-459"}
    assert {(it.severity, it.fix("en").startswith(fix)) for it in found.values()} == {(severity, True)}


@pytest.mark.parametrize(
    ("syntax", "as_of", "release", "en16931"),
    [
        ("UBL", date(2026, 8, 16), "2.0.3.12", "1.3.15"),
        ("UBL", date(2026, 8, 17), "2.0.3.13", "1.3.16"),
        ("CII", date(2026, 8, 16), "1.0.3.12", "1.3.15"),
        ("CII", date(2026, 8, 17), "1.0.3.13", "1.3.16"),
    ],
)
def test_release_has_a_number_in_each_syntax(syntax, as_of, release, en16931):
    layers = {layer.name: layer.version for layer in einvoice.validate(document(syntax), as_of=as_of).stack.layers}
    assert (layers["nlcius"], layers["en16931"]) == (release, en16931)


# ---------------------------------------------------------------- catalog


OFFICIAL = [
    *(f"BR-NL-{number}" for number in (*range(1, 6), *range(7, 14), *range(19, 27), *range(29, 32), 33, 35)),
    *(f"BR-NL-{number}-{part}" for number in (27, 28) for part in range(1, 5)),
    *(f"BR-NL-32-{part}" for part in (1, 2, 3)),
    "BR-NL-32-and-34",
]


@pytest.mark.parametrize("code", OFFICIAL)
def test_catalog_has_texts(code):
    entry = catalog()[code]
    for lang in ("de", "en"):
        assert entry.title(lang)
        assert entry.explanation(lang)
        assert entry.fix(lang)


def test_catalog_has_no_other_dutch_code():
    assert {code for code in catalog() if code.startswith("BR-NL")} == set(OFFICIAL)


# ---------------------------------------------------------------- official results


def official_cases():
    for case, data in corpus.read("cases-nlcius"):
        if "stops" not in case["fired"]["nlcius"]:  # the official Schematron stopped with an error
            yield case, parse(data).getroot()


@pytest.mark.slow
@pytest.mark.cases
@pytest.mark.skipif(not corpus.beside("cases-nlcius"), reason="needs official results of NLCIUS")
def test_same_codes_and_severities_as_the_official_schematron():
    known = releases()
    stack = known.stack(("en16931", "nlcius"), known.newest("nlcius"))
    programs = {syntax: rulebook().program(syntax, stack) for syntax in SYNTAXES}
    differences = {}
    for case, root in official_cases():
        collector = Collector(root, stack)
        violated = [it.rule for it in programs[case["syntax"]].run(read(root, collector))]
        violated += [it.rule for it in collector.violations() if it.rule.layer == "en16931"]
        for layer, fired in case["fired"].items():
            found = {rule.code: rule.severity for rule in violated if rule.layer == layer}
            if found != {code: flag for code, flag, _ in fired}:
                differences[case["case"], layer] = found
    assert not differences
