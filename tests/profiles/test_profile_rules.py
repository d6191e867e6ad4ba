"""Factur-X profiles: their layers, XML schemas, syntax rules and texts."""

import csv
import re
from pathlib import Path

import pytest
from lxml import etree
from profiles.profile_documents import PROFILES, profile_document
from syntax import builder

import einvoice
from einvoice.facturx.rules import profile_rules
from einvoice.resources import rules_folder
from einvoice.rulebook.catalog.naming import Names
from einvoice.rulebook.catalog.profiles import Word, profile_entries
from einvoice.rulebook.syntax_rules import checks
from einvoice.rulebook.syntax_rules.collector import Collector
from einvoice.rulebook.syntax_rules.facturx import date_time, value_or_measure
from einvoice.rulebook.syntax_rules.table import rule_table
from einvoice.syntax import reader

FOLDER = rules_folder() / "facturx" / "syntax"
CII = (Path(__file__).parents[1] / "samples" / "cii-invoice.xml").read_bytes()
RAM = "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"


def judged(profile, data):
    return einvoice.validate(data, profile="facturx")


def codes(result, layer=None):
    return [found.code for found in result.findings if layer in (None, found.layer)]


def changed(profile, old, new, times=1):
    data = profile_document(profile).decode()
    assert old in data
    return data.replace(old, new, times).encode()


def rows(name):
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# ---------------------------------------------------------------- what judges


@pytest.mark.parametrize("profile", PROFILES)
def test_a_document_of_a_profile_is_valid(profile):
    result = judged(profile, profile_document(profile))
    assert result.is_valid
    assert [found.code for found in result.findings if found.code != "CONTENT-UNCOVERED"] == (
        ["DECL-NO-INVOICE"] if profile in ("minimum", "basicwl") else []
    )
    assert result.identity.profile == f"Factur-X {profile_rules()[profile].title}"


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("minimum", ["schema", "profile"]),
        ("basicwl", ["schema", "profile"]),
        ("basic", ["schema", "en16931", "profile"]),
        ("en16931", ["schema", "en16931", "profile"]),
        ("extended", ["schema", "en16931", "profile"]),
    ],
)
def test_the_stack_names_the_layers_of_the_level(profile, expected):
    stack = judged(profile, profile_document(profile)).stack
    assert [layer.name for layer in stack.layers] == expected
    layer = stack.layer("profile")
    assert layer.executed
    assert layer.version == "1.09"
    assert layer.title["de"].endswith(profile_rules()[profile].title)
    assert re.fullmatch("[0-9a-f]{64}", layer.sha256)
    assert layer.rules > 40


def test_the_layers_of_two_levels_are_not_the_same():
    digests = {judged(profile, profile_document(profile)).stack.layer("profile").sha256 for profile in PROFILES}
    assert len(digests) == len(PROFILES)


def test_the_schema_of_extended_is_its_own():
    extended, basic = (
        judged(profile, profile_document(profile)).stack.layer("schema") for profile in ("extended", "basic")
    )
    assert (extended.version, basic.version) == ("1.09.2", "D16B")
    assert extended.sha256 != basic.sha256


def test_en_16931_is_a_level_only_where_somebody_says_so():
    data = profile_document("en16931")
    plain = einvoice.validate(data)
    assert plain.identity.profile == "EN 16931"
    assert [layer.name for layer in plain.stack.layers] == ["schema", "en16931"]
    assert judged("en16931", data).identity.profile == "Factur-X EN 16931"


def test_other_documents_are_not_validated_as_a_profile():
    result = einvoice.validate(CII, profile="facturx")
    assert result.identity.profile == "XRechnung"
    assert [layer.name for layer in result.stack.layers] == ["schema", "en16931", "cius"]


def test_a_profile_can_be_validated_by_xrechnung():
    result = einvoice.validate(profile_document("basic"), profile="xrechnung")
    assert "profile" not in [layer.name for layer in result.stack.layers]


# ---------------------------------------------------------------- what a profile keeps of EN 16931


@pytest.mark.parametrize("profile", ["minimum", "basicwl"])
def test_a_level_that_is_no_invoice_keeps_rules_of_the_norm(profile):
    result = judged(profile, changed(profile, "<ram:ID>SW-77</ram:ID>", ""))
    assert "BR-02" in codes(result, "profile")
    assert not result.is_valid
    assert {found.layer for found in result.findings} <= {"schema", "profile", "file"}


def test_minimum_is_not_asked_for_lines():
    assert "BR-16" not in codes(judged("minimum", profile_document("minimum")))


def test_basic_is_validated_by_en16931():
    result = judged("basic", changed("basic", "<ram:LineTotalAmount>260.00", "<ram:LineTotalAmount>261.00"))
    assert "BR-CO-13" in codes(result, "en16931") or "BR-CO-10" in codes(result, "en16931")


def test_extended_allows_a_cent_for_each_line():
    off = changed("extended", "<ram:LineTotalAmount>300.00", "<ram:LineTotalAmount>300.03")
    assert judged("extended", off).is_valid
    further = judged("extended", off.replace(b"300.03", b"300.04"))
    assert codes(further, "profile") == ["BR-FXEXT-CO-10"]
    assert "BR-CO-10" not in codes(further)


def test_the_rules_that_a_level_keeps_are_in_the_catalog():
    known = einvoice.catalog()
    for profile in profile_rules().values():
        assert all(code in known for code in profile.keeps or ())


# ---------------------------------------------------------------- what a profile does not know


def test_what_a_larger_level_knows_is_told_with_its_name():
    data = profile_document("minimum").replace(
        b"<ram:InvoiceCurrencyCode>", b"<ram:PaymentReference>SW-77</ram:PaymentReference><ram:InvoiceCurrencyCode>"
    )
    result = judged("minimum", data)
    [found] = [it for it in result.findings if it.code == "PROFILE-HIGHER-ELEMENT"]
    assert found.layer == "profile"
    assert found.xpath.endswith("ram:PaymentReference")
    assert "MINIMUM" in found.title("de")
    assert "BASIC WL" in found.explanation("de")
    assert not result.is_valid


def test_what_no_level_knows_is_told_so():
    surplus = b"<ram:ControlRequirementIndicator><udt:Indicator>true</udt:Indicator></ram:ControlRequirementIndicator>"
    data = profile_document("basic").replace(b"</ram:IssueDateTime>", b"</ram:IssueDateTime>" + surplus, 1)
    found = codes(judged("basic", data))
    assert "PROFILE-UNKNOWN-ELEMENT" in found
    assert "CONTENT-UNCOVERED" not in found


def test_what_the_schema_of_the_document_tells_is_not_told_again():
    data = changed("basic", "<ram:TypeCode>380</ram:TypeCode>", "<ram:Nonsense/>")
    result = judged("basic", data)
    assert codes(result, "schema")
    assert not [found for found in result.findings if found.code.startswith("PROFILE-") and "Nonsense" in found.xpath]


def test_an_unused_attribute_is_a_warning_told_once():
    data = changed("basicwl", "<ram:ID>SW-77</ram:ID>", '<ram:ID schemeID="X">SW-77</ram:ID>')
    result = judged("basicwl", data)
    assert codes(result, "profile").count("PROFILE-NOT-USED") == 1
    assert result.is_valid
    norm = judged("en16931", changed("en16931", "<ram:ID>SW-77</ram:ID>", '<ram:ID schemeID="X">SW-77</ram:ID>'))
    assert sorted(codes(norm)) == ["BR-CL-11", "CII-DT-005"]


# ---------------------------------------------------------------- rules about elements


@pytest.mark.parametrize("profile", PROFILES)
def test_a_code_that_is_not_in_the_list_of_the_level(profile):
    data = changed(profile, 'format="102">20260511', 'format="103">20260511')
    found = [it for it in judged(profile, data).findings if it.code.startswith("FX-SCH-A-")]
    assert [(it.layer, it.severity, it.location.xpath.endswith("@format")) for it in found] == [
        ("profile", "fatal", True)
    ]


def test_what_is_needed_once():
    data = changed("basic", "<ram:Name>Kunde AG</ram:Name>", "")
    [found] = [it for it in judged("basic", data).findings if it.code.startswith("FX-SCH-A-")]
    assert found.title("de") == "Nicht genau einmal angegeben: Name des Käufers"
    assert found.title("en") == "Required exactly once: name of the buyer"


def test_each_kind_and_condition_of_the_rows_is_known():
    for name in ("rows.csv", "rules.csv"):
        for row in rows(name):
            assert row["severity"] in ("fatal", "warning")
            assert set(row["profiles"].split(" ")) <= set(PROFILES)
    for profile in PROFILES:
        for rule in rule_table("CII", profile).rules:
            assert rule.check in checks.CHECKS
            assert not rule.path_conditions or rule.check in ("at_most", "forbidden", "in_code_list"), rule.code
            for _, condition in (*rule.context_conditions, *rule.path_conditions):
                assert callable(rule.condition(condition))


LEVEL_RULES = {profile: [it for it in rule_table("CII", profile).rules if it.of_profile] for profile in PROFILES}


@pytest.mark.parametrize("profile", PROFILES)
def test_each_row_is_broken_by_a_document_made_from_it(profile):
    for rule in LEVEL_RULES[profile]:
        root = builder.document(rule)
        collector = Collector(root, profile)
        reader.read(root, collector)
        assert rule.order in {violation.rule.order for violation in collector.violations()}, (
            rule.code,
            rule.context,
            rule.path,
        )


def element(xml):
    return etree.fromstring(f'<ram:X xmlns:ram="{RAM}">{xml}</ram:X>')


@pytest.mark.parametrize(
    ("content", "broken"),
    [
        ("<ram:Value>1</ram:Value>", False),
        ('<ram:ValueMeasure unitCode="KGM">1</ram:ValueMeasure>', False),
        ("<ram:ValueMeasure>1</ram:ValueMeasure>", True),
        ('<ram:Value>1</ram:Value><ram:ValueMeasure unitCode="KGM">1</ram:ValueMeasure>', True),
        ("", True),
    ],
)
def test_an_item_attribute_has_one_value(content, broken):
    [rule] = [it for it in rule_table("CII", "extended").rules if it.code == "BR-FXEXT-BR-54-2"]
    parent = element(content)
    assert value_or_measure(rule, parent, list(parent)) is broken


@pytest.mark.parametrize(
    ("said", "right"),
    [("202603311430", True), (" 202603312359 ", True), ("202603312460", False), ("20260331", False), ("", False)],
)
def test_a_moment(said, right):
    [rule] = [it for it in rule_table("CII", "extended").rules if it.code == "BR-FXEXT-CII-DT-097a"]
    assert (date_time(rule, [element(said)]) == []) is right


# ---------------------------------------------------------------- texts


@pytest.mark.parametrize("language", ["de", "en"])
def test_every_code_has_texts_in_which_only_the_document_is_missing(language):
    known = einvoice.catalog()
    for row in (*rows("rows.csv"), *rows("rules.csv")):
        texts = known[row["code"]].texts[language]
        for text in texts.values():
            assert set(re.findall(r"\{(\w+)\}", text)) <= {"name", "found", "count", "actual"}, row["code"]
            assert text.strip() == text, row["code"]
            assert "  " not in text, row["code"]


@pytest.mark.parametrize("language", ["de", "en"])
def test_no_two_rows_share_a_title(language):
    titles = [entry.texts[language]["title"] for entry in profile_entries(FOLDER) if entry.texts]
    assert len(set(titles)) == len(titles)


def test_every_word_is_used():
    used = set()
    words = Names(FOLDER / "words.csv", Word)
    for row in rows("rows.csv"):
        whole = re.sub(r"\w+:", "", f"{row['context']}/{row['path']}".removesuffix("/.")).strip("/").split("/")
        if row["check"] != "forbidden":
            used |= {words["/".join(whole[: place + 1])].element for place in range(len(whole))}
    with (FOLDER / "words.csv").open(encoding="utf-8", newline="") as file:
        assert {row["element"] for row in csv.DictReader(file)} == used


def test_the_paths_of_the_rows_can_be_followed():
    document = etree.fromstring(profile_document("extended"))
    for entry in profile_entries(FOLDER):
        document.xpath(entry.xpaths["CII"], namespaces=einvoice.NAMESPACES)
