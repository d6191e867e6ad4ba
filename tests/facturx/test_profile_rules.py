"""Factur-X profiles: their layers, XML schemas, syntax rules and texts."""

import csv
import re

import pytest
from lxml import etree

import einvoice
from einvoice.code_catalog.naming import Names
from einvoice.code_catalog.profiles import profile_entries
from einvoice.facturx.rules import profile_rules
from einvoice.resources import rules_folder
from einvoice.rulebook.files.tables import codes_by_profile
from einvoice.rulebook.syntax_rules import checks, stops
from einvoice.rulebook.syntax_rules.collector import Collector
from einvoice.rulebook.syntax_rules.facturx import date_time, value_or_measure
from einvoice.rulebook.syntax_rules.table import rule_table
from einvoice.syntax import reader
from tests.helpers import builder
from tests.helpers.paths import SAMPLES
from tests.helpers.profile_documents import PROFILES, profile_document
from tests.helpers.rule_sets import newest_stack

FOLDER = rules_folder() / "facturx" / "syntax"
STACK = newest_stack("en16931", "facturx")
CII = (SAMPLES / "cii-invoice.xml").read_bytes()
RAM = "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"


def validated(data):
    return einvoice.validate(data, profile="facturx")


def codes(result, layer=None):
    return [finding.code for finding in result.findings if layer in (None, finding.layer)]


def changed(profile, old, new, times=1):
    data = profile_document(profile).decode()
    assert old in data
    return data.replace(old, new, times).encode()


def rows(name):
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# ---------------------------------------------------------------- layers


@pytest.mark.parametrize("profile", PROFILES)
def test_a_document_of_a_profile_is_valid(profile):
    result = validated(profile_document(profile))
    assert result.is_valid
    assert [found.code for found in result.findings if found.code != "CONTENT-UNCOVERED"] == (
        ["DECL-NO-INVOICE"] if profile in ("minimum", "basicwl") else []
    )
    assert result.identity.profile == f"Factur-X {profile_rules()[profile].title}"


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("minimum", ["schema", "facturx"]),
        ("basicwl", ["schema", "facturx"]),
        ("basic", ["schema", "en16931", "facturx"]),
        ("en16931", ["schema", "en16931", "facturx"]),
        ("extended", ["schema", "en16931", "facturx"]),
    ],
)
def test_stack_contains_the_layers_of_the_profile(profile, expected):
    stack = validated(profile_document(profile)).stack
    assert [layer.name for layer in stack.layers] == [*expected, "plausibility"]
    layer = stack.layer("facturx")
    assert layer.executed
    assert layer.version == "1.09"
    assert layer.title["de"].endswith(profile_rules()[profile].title)
    assert re.fullmatch("[0-9a-f]{64}", layer.sha256)
    assert layer.rules > 40


def test_digests_of_profile_layers_differ():
    digests = {validated(profile_document(profile)).stack.layer("facturx").sha256 for profile in PROFILES}
    assert len(digests) == len(PROFILES)


def test_extended_has_its_own_schema():
    extended, basic = (validated(profile_document(profile)).stack.layer("schema") for profile in ("extended", "basic"))
    assert (extended.version, basic.version) == ("1.09.2", "D16B")
    assert extended.sha256 != basic.sha256


def test_en16931_is_a_factur_x_profile_only_on_request():
    data = profile_document("en16931")
    plain = einvoice.validate(data)
    assert plain.identity.profile == "EN 16931"
    assert [layer.name for layer in plain.stack.layers] == ["schema", "en16931", "plausibility"]
    assert validated(data).identity.profile == "Factur-X EN 16931"


def test_other_documents_are_not_validated_as_a_profile():
    result = einvoice.validate(CII, profile="facturx")
    assert result.identity.profile == "XRechnung"
    assert [layer.name for layer in result.stack.layers] == ["schema", "en16931", "xrechnung", "plausibility"]


def test_a_profile_can_be_validated_by_xrechnung():
    result = einvoice.validate(profile_document("basic"), profile="xrechnung")
    assert "facturx" not in [layer.name for layer in result.stack.layers]


# ---------------------------------------------------------------- rules of EN 16931


@pytest.mark.parametrize("profile", ["minimum", "basicwl"])
def test_rules_of_en16931_run_in_the_profile_layer(profile):
    result = validated(changed(profile, "<ram:ID>SW-77</ram:ID>", ""))
    assert "BR-02" in codes(result, "facturx")
    assert not result.is_valid
    assert {found.layer for found in result.findings} <= {"schema", "facturx", "file"}


def test_minimum_needs_no_lines():
    assert "BR-16" not in codes(validated(profile_document("minimum")))


def test_basic_is_validated_by_en16931():
    result = validated(changed("basic", "<ram:LineTotalAmount>260.00", "<ram:LineTotalAmount>261.00"))
    assert "BR-CO-13" in codes(result, "en16931") or "BR-CO-10" in codes(result, "en16931")


def test_extended_tolerates_one_cent_per_line():
    data = changed("extended", "<ram:LineTotalAmount>300.00", "<ram:LineTotalAmount>300.03")
    assert validated(data).is_valid
    result = validated(data.replace(b"300.03", b"300.04"))
    assert codes(result, "facturx") == ["BR-FXEXT-CO-10"]
    assert "BR-CO-10" not in codes(result)


def test_en16931_rules_of_the_profiles_are_in_the_catalog():
    catalog = einvoice.catalog()
    for profile in profile_rules().values():
        assert all(code in catalog for code in profile.en16931_rules or ())


# ---------------------------------------------------------------- elements outside the profile


def test_element_of_a_larger_profile_names_that_profile():
    data = profile_document("minimum").replace(
        b"<ram:InvoiceCurrencyCode>", b"<ram:PaymentReference>SW-77</ram:PaymentReference><ram:InvoiceCurrencyCode>"
    )
    result = validated(data)
    [finding] = [item for item in result.findings if item.code == "PROFILE-HIGHER-ELEMENT"]
    assert finding.layer == "facturx"
    assert finding.xpath.endswith("ram:PaymentReference")
    assert "MINIMUM" in finding.title("de")
    assert "BASIC WL" in finding.explanation("de")
    assert not result.is_valid


def test_element_of_no_profile_is_unknown():
    indicator = (
        b"<ram:ControlRequirementIndicator><udt:Indicator>true</udt:Indicator></ram:ControlRequirementIndicator>"
    )
    data = profile_document("basic").replace(b"</ram:IssueDateTime>", b"</ram:IssueDateTime>" + indicator, 1)
    found = codes(validated(data))
    assert "PROFILE-UNKNOWN-ELEMENT" in found
    assert "CONTENT-UNCOVERED" not in found


def test_schema_finding_is_not_repeated_by_the_profile():
    data = changed("basic", "<ram:TypeCode>380</ram:TypeCode>", "<ram:Nonsense/>")
    result = validated(data)
    assert codes(result, "schema")
    assert not [found for found in result.findings if found.code.startswith("PROFILE-") and "Nonsense" in found.xpath]


PRECEDING = re.compile(r"<ram:InvoiceReferencedDocument>.*?</ram:InvoiceReferencedDocument>", re.DOTALL)


@pytest.mark.parametrize("profile", ["basicwl", "basic", "en16931", "extended"])
def test_several_preceding_invoices_are_allowed(profile):
    data = PRECEDING.sub(lambda found: found[0] * 2, profile_document(profile).decode()).encode()
    assert codes(validated(data)) == codes(validated(profile_document(profile)))


def test_en16931_alone_is_validated_by_the_schema_of_the_standard():
    """KoSIT's configuration validates this identifier by D16B, which allows one preceding invoice."""
    data = PRECEDING.sub(lambda found: found[0] * 2, profile_document("en16931").decode()).encode()
    assert codes(einvoice.validate(data)) == ["SCHEMA-REPEATED-ELEMENT"]


def test_other_violations_beside_several_preceding_invoices_are_reported():
    data = PRECEDING.sub(
        lambda found: found[0] * 2 + "<ram:Nix>1</ram:Nix>", profile_document("basic").decode()
    ).encode()
    assert codes(validated(data)) == ["PROFILE-UNKNOWN-ELEMENT"]
    code = "<ram:InvoiceCurrencyCode>EUR</ram:InvoiceCurrencyCode>"
    assert "SCHEMA-REPEATED-ELEMENT" in codes(validated(changed("basic", code, code * 2)), "schema")


def test_unused_attribute_is_one_warning():
    data = changed("basicwl", "<ram:ID>SW-77</ram:ID>", '<ram:ID schemeID="X">SW-77</ram:ID>')
    result = validated(data)
    assert codes(result, "facturx").count("PROFILE-NOT-USED") == 1
    assert result.is_valid
    en16931 = validated(changed("en16931", "<ram:ID>SW-77</ram:ID>", '<ram:ID schemeID="X">SW-77</ram:ID>'))
    assert sorted(codes(en16931)) == ["BR-CL-11", "CII-DT-005"]


# ---------------------------------------------------------------- syntax rules


@pytest.mark.parametrize("profile", PROFILES)
def test_code_outside_the_list_of_the_profile(profile):
    data = changed(profile, 'format="102">20260511', 'format="103">20260511')
    found = [item for item in validated(data).findings if item.code.startswith("FX-SCH-A-")]
    assert [(item.layer, item.severity, item.location.xpath.endswith("@format")) for item in found] == [
        ("facturx", "fatal", True)
    ]


def test_missing_element_required_exactly_once():
    data = changed("basic", "<ram:Name>Kunde AG</ram:Name>", "")
    [finding] = [item for item in validated(data).findings if item.code.startswith("FX-SCH-A-")]
    assert finding.title("de") == "Angabe fehlt: Name des Käufers"
    assert finding.title("en") == "Missing: name of the buyer"


@pytest.mark.parametrize(
    ("profile", "number"),
    [("minimum", "000040"), ("basicwl", "000464"), ("basic", "000040"), ("en16931", "000595"), ("extended", "000861")],
)
def test_the_number_is_that_of_the_profile(profile, number):
    """As in the sheet of each profile."""
    data = changed(profile, "<ram:InvoiceCurrencyCode>EUR", "<ram:InvoiceCurrencyCode>eur")
    [finding] = [item for item in validated(data).findings if item.code.startswith("FX-SCH-A-")]
    assert finding.code == finding.entry.code == f"FX-SCH-A-{number}"
    assert finding.title("en").startswith("Invoice currency: “eur”")
    assert einvoice.catalog()[finding.code].texts


def test_a_number_that_stands_for_several_elements_has_the_texts_of_each():
    of_number = changed("basic", "<ram:ID>SW-77</ram:ID>", "")
    of_process = changed("basic", "<ram:ID>A1</ram:ID>", "")
    titles = []
    for data in (of_number, of_process):
        results = einvoice.validate_many([("a.xml", data)], profile="facturx")
        for result in (validated(data), results.result("a.xml")):
            [finding] = [it for it in result.findings if it.code == "FX-SCH-A-000019"]
            titles.append(finding.title("en"))
    assert titles == ["Missing: invoice number"] * 2 + ["Missing: identifier of the business process"] * 2


def test_checks_and_conditions_of_the_rows_are_known():
    for name in ("rows.csv", "rules.csv"):
        for row in rows(name):
            assert row["severity"] in ("fatal", "warning")
            assert codes_by_profile(row["code"], row["profiles"]).keys() <= set(PROFILES)
    for profile in PROFILES:
        for rule in rule_table("CII", STACK, profile).rules:
            assert rule.check in checks.CHECKS
            evaluated_last = ("at_most", "forbidden", "in_code_list", *stops.CHECKS)
            assert not rule.path_conditions or rule.check in evaluated_last, rule.code
            for _, condition in (*rule.context_conditions, *rule.path_conditions):
                assert callable(rule.condition(condition))


PROFILE_RULES = {
    profile: [rule for rule in rule_table("CII", STACK, profile).rules if rule.of_profile] for profile in PROFILES
}


@pytest.mark.parametrize("profile", PROFILES)
def test_every_row_is_violated_by_a_generated_document(profile):
    for rule in PROFILE_RULES[profile]:
        root = builder.document(rule)
        collector = Collector(root, STACK, profile)
        reader.read(root, collector)
        assert rule.order in {violation.rule.order for violation in collector.violations()}, (
            rule.code,
            rule.context,
            rule.path,
        )


def element(xml):
    return etree.fromstring(f'<ram:X xmlns:ram="{RAM}">{xml}</ram:X>')


@pytest.mark.parametrize(
    ("content", "violated"),
    [
        ("<ram:Value>1</ram:Value>", False),
        ('<ram:ValueMeasure unitCode="KGM">1</ram:ValueMeasure>', False),
        ("<ram:ValueMeasure>1</ram:ValueMeasure>", True),
        ('<ram:Value>1</ram:Value><ram:ValueMeasure unitCode="KGM">1</ram:ValueMeasure>', True),
        ("", True),
    ],
)
def test_item_attribute_has_exactly_one_value(content, violated):
    [rule] = [row for row in rule_table("CII", STACK, "extended").rules if row.code == "BR-FXEXT-BR-54-2"]
    parent = element(content)
    assert value_or_measure(rule, parent, list(parent)) is violated


@pytest.mark.parametrize(
    ("text", "valid"),
    [("202603311430", True), (" 202603312359 ", True), ("202603312460", False), ("20260331", False), ("", False)],
)
def test_date_and_time(text, valid):
    [rule] = [row for row in rule_table("CII", STACK, "extended").rules if row.code == "BR-FXEXT-CII-DT-097a"]
    assert (date_time(rule, [element(text)]) == []) is valid


# ---------------------------------------------------------------- texts


@pytest.mark.parametrize("language", ["de", "en"])
def test_texts_have_document_placeholders_only(language):
    catalog = einvoice.catalog()
    for row in (*rows("rows.csv"), *rows("rules.csv")):
        texts = catalog[row["code"]].texts[language]
        for text in texts.values():
            assert set(re.findall(r"\{(\w+)\}", text)) <= {"name", "found", "count", "actual"}, row["code"]
            assert text.strip() == text, row["code"]
            assert "  " not in text, row["code"]


@pytest.mark.parametrize("language", ["de", "en"])
def test_titles_of_rows_are_unique(language):
    own = {row["code"] for row in rows("rows.csv")}
    titles = [it.texts[language]["title"] for it in profile_entries(FOLDER) if it.texts and it.code in own]
    assert len(set(titles)) == len(titles)


def test_every_noun_is_used():
    used = set()
    nouns = Names(FOLDER / "elements.csv")
    for row in rows("rows.csv"):
        whole = re.sub(r"\w+:", "", f"{row['context']}/{row['path']}".removesuffix("/.")).strip("/").split("/")
        if row["check"] != "forbidden":
            used |= {nouns["/".join(whole[: place + 1])]["element"] for place in range(len(whole))}
    with (FOLDER / "elements.csv").open(encoding="utf-8", newline="") as file:
        assert {row["element"] for row in csv.DictReader(file)} == used


def test_xpaths_of_the_rows_are_valid():
    document = etree.fromstring(profile_document("extended"))
    for entry in profile_entries(FOLDER):
        document.xpath(entry.xpaths["CII"], namespaces=einvoice.NAMESPACES)


# ---------------------------------------------------------------- copies of element rules of EN 16931


def test_the_profile_en16931_is_validated_by_its_own_sheet():
    """There a contact with person and department is an error, in the standard a warning; a note says so."""
    contact = "<ram:DefinedTradeContact><ram:PersonName>A</ram:PersonName><ram:DepartmentName>B</ram:DepartmentName>"
    data = changed("en16931", "<ram:DefinedTradeContact>", contact)
    severities = {}
    for name in ("facturx", "en16931"):
        (finding,) = (it for it in einvoice.validate(data, profile=name).findings if it.code == "CII-SR-465")
        severities[name] = finding.severity, [note.kind for note in finding.notes()]
    assert severities == {"facturx": ("fatal", ["stricter"]), "en16931": ("warning", [])}


def test_rule_whose_copy_never_fails_applies_to_the_standard_only():
    applying = [
        profile
        for profile in PROFILES
        for rule in rule_table("CII", STACK, profile).rules
        if rule.code == "CII-SR-464" and profile_rules()[profile].layer_of(rule)
    ]
    assert applying == []
