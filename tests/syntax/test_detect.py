"""Identification: syntax, root and declared specification; published severity overrides."""

import pickle
import re
import shutil
import string
import tomllib

import pytest

from einvoice import errors
from einvoice.code_catalog import catalog
from einvoice.resources import RuleData, rules_folder, shipped
from einvoice.syntax import detect, severity_overrides, specifications, xml
from einvoice.syntax.remarks import remarks
from tests.cases import corpus
from tests.helpers.rule_sets import SPECIFICATIONS, newest_stack

STACK = newest_stack("en16931", "xrechnung", "xrechnung-extension")
EN = "urn:cen.eu:en16931:2017"
XR3 = EN + "#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
XR3_EXTENSION = XR3 + "#conformant#urn:xeinkauf.de:kosit:extension:xrechnung_3.0"
XR3_CVD = XR3 + "#compliant#urn:xeinkauf.de:kosit:xrechnung:cvd_0.9"
XR2 = EN + "#compliant#urn:xoev-de:kosit:standard:xrechnung_2."
PEPPOL = EN + "#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0"
NLCIUS = EN + "#compliant#urn:fdc:nen.nl:nlcius:v1.0"
NLCIUS_GACCOUNT = NLCIUS + "#conformant#urn:fdc:nen.nl:gaccount:v1.0"

DECLARED = [  # BT-24, profile, version, kind, family, rule sets
    (EN, "EN 16931", "2017", "core", "en16931", "en16931"),
    (XR3, "XRechnung", "3.0", "cius", "xrechnung-3.0", "en16931 xrechnung"),
    (
        XR3_EXTENSION,
        "XRechnung Extension",
        "3.0",
        "extension",
        "xrechnung-3.0",
        "en16931 xrechnung xrechnung-extension",
    ),
    (XR3_CVD, "XRechnung CVD", "0.9", "cius", "xrechnung-3.0", "en16931 xrechnung"),
    (XR2 + "0", "XRechnung", "2.0", "cius", "xrechnung-2.0", "en16931 xrechnung"),
    (XR2 + "3", "XRechnung", "2.3", "cius", "xrechnung-2.3", "en16931 xrechnung"),
    (
        XR2 + "1#conformant#urn:xoev-de:kosit:extension:xrechnung_2.1",
        "XRechnung Extension",
        "2.1",
        "extension",
        "xrechnung-2.1",
        "en16931 xrechnung xrechnung-extension",
    ),
    (PEPPOL, "Peppol BIS Billing", "3.0", "cius", "en16931", "en16931"),
    (NLCIUS, "NLCIUS", "1.0", "cius", "nlcius-1.0", "en16931 nlcius"),
    (NLCIUS_GACCOUNT, "NLCIUS G-account", "1.0", "extension", "nlcius-1.0", "en16931 nlcius"),
    ("urn:factur-x.eu:1p0:minimum", "Factur-X MINIMUM", "1.0", "profile", "facturx-1.0", "facturx"),
    ("urn:factur-x.eu:1p0:basicwl", "Factur-X BASIC WL", "1.0", "profile", "facturx-1.0", "facturx"),
    (
        EN + "#compliant#urn:factur-x.eu:1p0:basic",
        "Factur-X BASIC",
        "1.0",
        "profile",
        "facturx-1.0",
        "en16931 facturx",
    ),
    (
        EN + "#conformant#urn:factur-x.eu:1p0:extended",
        "Factur-X EXTENDED",
        "1.0",
        "profile",
        "facturx-1.0",
        "en16931 facturx",
    ),
    ("urn:zugferd.de:2p0:minimum", "Factur-X MINIMUM", "2.0", "profile", "facturx-1.0", "facturx"),
    ("urn:somebody:else", "unknown", "", "unknown", "en16931", "en16931"),
]


def ubl(declared=None, process=None, root="Invoice"):
    name = "urn:oasis:names:specification:ubl:schema:xsd:"
    text = f'<x:{root} xmlns:x="{name}{root}-2" xmlns="{name}CommonBasicComponents-2">'
    text += "" if declared is None else f"<CustomizationID>{declared}</CustomizationID>"
    text += "" if process is None else f"<ProfileID>{process}</ProfileID>"
    return detect.identify(xml.parse(f"{text}<ID>1</ID></x:{root}>".encode()))


def cii(declared=None, process=None):
    name = "urn:un:unece:uncefact:data:standard:"
    text = f'<x:CrossIndustryInvoice xmlns:x="{name}CrossIndustryInvoice:100"'
    text += f' xmlns="{name}ReusableAggregateBusinessInformationEntity:100"><x:ExchangedDocumentContext>'
    for tag, value in (("BusinessProcess", process), ("Guideline", declared)):
        if value is not None:
            tag += "SpecifiedDocumentContextParameter"
            text += f"<{tag}><ID>{value}</ID></{tag}>"
    text += "</x:ExchangedDocumentContext></x:CrossIndustryInvoice>"
    return detect.identify(xml.parse(text.encode()))


def codes(identity):
    return [remark.code for remark in remarks(identity)]


@pytest.mark.parametrize(("declared", "profile", "version", "kind", "family", "rulesets"), DECLARED)
def test_the_declared_specification_is_known(declared, profile, version, kind, family, rulesets):
    identity = cii(declared)
    assert identity.customization_id == declared
    assert (identity.profile, identity.version, identity.kind) == (profile, version, kind)
    assert (identity.family, " ".join(identity.rulesets)) == (family, rulesets)


def test_the_root_gives_the_syntax():
    assert (ubl(XR3).syntax, ubl(XR3).root, ubl(XR3).scenario_id) == ("UBL", "Invoice", "xrechnung-3.0-ubl")
    assert (ubl(root="CreditNote").syntax, ubl(root="CreditNote").root) == ("UBL", "CreditNote")
    assert (cii(XR3).syntax, cii(XR3).root) == ("CII", "CrossIndustryInvoice")
    assert cii(XR3_EXTENSION).scenario_id == "xrechnung-3.0-extension-cii"


@pytest.mark.parametrize("build", [ubl, cii])
def test_surrounding_white_space_is_ignored(build):
    identity = build(f"\n  {XR3}\t", " process<!-- --> one ")
    assert (identity.customization_id, identity.profile) == (XR3, "XRechnung")
    assert identity.process == "process one"
    assert build(f"{XR3}\xa0").profile == "unknown"  # a no-break space is text


@pytest.mark.parametrize("build", [ubl, cii])
@pytest.mark.parametrize("declared", [None, "", " \n"])
def test_no_declaration(build, declared):
    identity = build(declared)
    assert (identity.customization_id, identity.process) == (None, None)
    assert (identity.profile, identity.rulesets) == ("unknown", ("en16931",))
    assert codes(identity) == ["DECL-MISSING"]


def test_a_context_without_content():
    name = "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"
    for content in ("", "<ExchangedDocumentContext/>"):
        document = xml.parse(f'<CrossIndustryInvoice xmlns="{name}">{content}</CrossIndustryInvoice>'.encode())
        assert codes(detect.identify(document)) == ["DECL-MISSING"]


def test_the_first_of_several_declarations_applies():
    assert ubl(f"{XR3}</CustomizationID><CustomizationID>{EN}").profile == "XRechnung"


def test_identifiers_of_factur_x_are_unknown_in_ubl():
    assert ubl("urn:factur-x.eu:1p0:minimum").profile == "unknown"


@pytest.mark.parametrize(
    ("declared", "want"),
    [
        (EN, []),
        (XR3, []),
        (XR3_CVD, []),
        (XR2 + "3", ["DECL-OUTDATED", "DECL-NO-SCENARIO"]),
        ("urn:else", ["DECL-UNKNOWN"]),
        (PEPPOL, ["DECL-CORE-ONLY"]),
        (NLCIUS, []),
        (NLCIUS_GACCOUNT, ["DECL-PART-ONLY"]),
        ("urn:factur-x.eu:1p0:basicwl", ["DECL-NO-INVOICE"]),
        ("urn:zugferd.de:2p0:minimum", ["DECL-OUTDATED", "DECL-NO-INVOICE"]),
    ],
)
def test_remarks_on_the_declaration(declared, want):
    assert codes(cii(declared)) == want


def test_peppol_has_rules_of_its_own_in_ubl_only():
    assert (ubl(PEPPOL).family, ubl(PEPPOL).rulesets) == ("peppol", ("en16931", "peppol"))
    assert codes(ubl(PEPPOL)) == []
    assert codes(cii(PEPPOL)) == ["DECL-CORE-ONLY"]


def test_self_billing_has_rules_of_its_own_in_ubl_only():
    declared = EN + "#compliant#urn:fdc:peppol.eu:2017:poacc:selfbilling:3.0"
    assert (ubl(declared).family, ubl(declared).rulesets) == ("peppol-selfbilling", ("en16931", "peppol-selfbilling"))
    assert (ubl(declared).profile, codes(ubl(declared))) == ("Peppol BIS Self-Billing", [])
    assert codes(cii(declared)) == ["DECL-CORE-ONLY"]


def test_an_outdated_declaration_names_its_successor():
    remark, _ = remarks(ubl(XR2 + "2"))
    assert remark.values == {
        "declared": XR2 + "2",
        "profile": "XRechnung",
        "version": "2.2",
        "successor": "XRechnung 3.0",
        "identifier": XR3,
    }


def test_a_remark_quotes_a_limited_text():
    (remark,) = remarks(ubl("x" * 5000))
    assert len(remark.values["declared"]) == 200


def test_another_root_is_an_error():
    for content in (b"<Invoice/>", b"<Order xmlns='urn:oasis:names:specification:ubl:schema:xsd:Order-2'/>"):
        with pytest.raises(errors.UnknownRoot):
            detect.identify(xml.parse(content))


def test_an_identity_can_be_pickled():
    identity = ubl(XR3, "process")
    assert pickle.loads(pickle.dumps(identity)) == identity


# The data


def test_specifications_refer_to_each_other_and_to_texts():
    known = specifications.specifications()
    identifiers = [(each, syntax) for one in known.values() for each in one.identifiers for syntax in one.syntaxes]
    assert len(identifiers) == len(set(identifiers))
    assert known["unknown"].identifiers == ()
    for one in known.values():
        assert one.current or known[one.superseded_by].current
        assert set(one.rulesets) <= shipped().sets.keys()
        assert one.kind in ("core", "cius", "extension", "profile", "other", "edition", "unknown")
        assert set(one.scenarios) <= {"Invoice", "CreditNote", "CrossIndustryInvoice"}
        for code in one.remarks:
            assert (rules_folder() / "file" / f"{code}.toml").is_file()
        if one.suggested_by_process:
            assert re.fullmatch(one.suggested_by_process, one.business_process)


@pytest.mark.parametrize(
    ("buyer_reference", "expected"),
    [("04011000-12345-34", ["xrechnung-3.0"]), ("04-34", ["xrechnung-3.0"]), ("4500123456", []), ("04011000-1", [])],
)
def test_buyer_reference_suggests_a_specification(buyer_reference, expected):
    patterns = {it.name: it.suggested_by_buyer_reference for it in specifications.specifications().values()}
    assert [name for name, it in patterns.items() if it and re.fullmatch(it, buyer_reference)] == expected


@pytest.mark.parametrize("build", [ubl, cii])
def test_the_texts_of_every_remark_can_be_formatted(build):
    met = set()
    for declared in (
        None,
        "urn:else",
        XR3 + ".2",
        EN[:-4] + "2026",
        EN[:-4] + "2031",
        *(each for one in specifications.specifications().values() for each in one.identifiers),
    ):
        for remark in remarks(build(declared)):
            met.add(remark.code)
            entry = tomllib.loads((rules_folder() / "file" / f"{remark.code}.toml").read_text(encoding="utf-8"))
            assert entry["code"] == remark.code
            for language in ("de", "en"):
                assert entry[language].keys() == {"title", "explanation", "fix"}
                applying = [it for it in entry.get("situations", ()) if remark.values.get(it["value"])]
                texts = entry[language] | (applying[0][language] if applying else {})
                for text in texts.values():
                    names = {name for _, name, _, _ in string.Formatter().parse(text) if name}
                    assert names <= remark.values.keys()
    if build is ubl:
        assert met | {"DECL-NO-INVOICE"} == {path.stem for path in (rules_folder() / "file").glob("DECL-*.toml")}


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("DECL-MISSING", "warning"),
        ("DECL-UNKNOWN", "warning"),
        ("DECL-CORE-ONLY", "warning"),
        ("DECL-PART-ONLY", "warning"),
        ("DECL-NO-INVOICE", "warning"),
        ("DECL-NO-SCENARIO", "warning"),
        ("DECL-OTHER-STANDARD", "warning"),
        ("DECL-OUTDATED", "information"),
    ],
)
def test_remarks_do_not_change_a_verdict(code, severity):
    entry = tomllib.loads((rules_folder() / "file" / f"{code}.toml").read_text(encoding="utf-8"))
    assert (entry["severity"], entry["terms"]) == (severity, ["BT-24"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('["x-1"]\nprofil = "X"\n', r", x-1: .*profil"),
        (SPECIFICATIONS.format(name="other", identifier="urn:x"), r", other-1\.rulesets: unknown rule set 'other'"),
        ("x-1 = 1", ", x-1: must be a table"),
        ("x-1 =", ": Invalid value"),
    ],
)
def test_an_invalid_specification_is_named_in_the_error(tmp_path, content, message):
    (tmp_path / "specifications.toml").write_text(content)
    with pytest.raises(errors.RuleError, match=r"^specifications\.toml" + message):
        specifications.specifications(RuleData(tmp_path, shipped().sets))
    home = tmp_path / "root" / "cius"
    home.mkdir(parents=True)
    (tmp_path / "specifications.toml").rename(home / "specifications.toml")
    with pytest.raises(errors.RuleError, match=r"^cius/specifications\.toml" + message):
        specifications.specifications(RuleData(tmp_path / "root", {**shipped().sets, "cius": home}))


OVERRIDE = (
    '[[override]]\ncodes = ["A"]\nseverity = "fatal"\nspecifications = ["{}"]\nroots = ["Invoice"]\n'
    'de = "d"\nen = "e"\n'
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (OVERRIDE.format("unlisted"), "unknown specification 'unlisted'"),
        (OVERRIDE.format("en16931") * 2, "A is overridden twice for en16931, Invoice"),
    ],
)
def test_an_invalid_override_is_named_in_the_error(tmp_path, content, message):
    home = tmp_path / "xrechnung"
    shutil.copytree(shipped().sets["xrechnung"], home)
    (home / "overrides.toml").write_text(content)
    data = RuleData(shipped().root, {"xrechnung": home})
    with pytest.raises(errors.RuleError, match=rf"^xrechnung/overrides\.toml.*{message}"):
        severity_overrides.overrides(ubl(XR3), newest_stack(), data)


# The overrides


def severities(identity):
    return {code: one.severity for code, one in severity_overrides.overrides(identity, STACK).items()}


def test_overrides_are_those_of_the_declared_specification():
    assert severities(ubl(XR3)) == {"BR-CL-21": "warning", "BR-CL-23": "warning", "UBL-CR-646": "fatal"}
    assert severities(ubl(XR3, root="CreditNote")) == {"BR-CL-21": "warning", "BR-CL-23": "warning"}
    assert severities(ubl(XR3_CVD, root="CreditNote"))["UBL-CR-646"] == "fatal"
    assert severities(ubl(XR3_EXTENSION))["BR-CO-16"] == "information"
    assert "BR-CO-16" not in severities(cii(XR3_EXTENSION))
    assert severities(cii(XR3))["CII-SR-453"] == "fatal"
    for declared in (None, EN, PEPPOL, XR2 + "3"):
        assert severities(ubl(declared)) == {}


def test_each_override_gives_its_reason_in_both_languages():
    for specification in specifications.specifications().values():
        for build, root in ((ubl, "Invoice"), (ubl, "CreditNote"), (cii, None)):
            if not specification.identifiers:
                continue
            identity = build(specification.identifiers[0], **({"root": root} if root else {}))
            for code, one in severity_overrides.overrides(identity, STACK).items():
                assert one.severity in ("fatal", "warning", "information"), code
                assert one.reasons.keys() >= {"de", "en"}
                assert all(reason.endswith(".") for reason in one.reasons.values())


def test_explanation_of_a_rule_that_is_only_informational_holds_then_too():
    """Where a specification allows more codes, the texts must not say that recipients cannot process them."""
    lowered = severities(ubl(XR3_CVD)) | severities(ubl(XR3_EXTENSION))
    codes = {code for code, severity in lowered.items() if severity == "information"}
    assert codes >= {"BR-CL-10", "BR-CL-13", "BR-CL-21"}
    texts = [catalog()[code].text("explanation", lang) for code in codes for lang in ("de", "en", "fr")]
    impossible = "abweis|zurückweis|ohne gültig|reject|without a valid|rejet|sans .* valide"
    assert not [text for text in texts if re.search(impossible, text, re.IGNORECASE)]


#: Severities in the validator configuration of KoSIT (scenarios.xml), whose "error" is "fatal" here, by specification
#: and root element. It has no scenario for a credit note of the extension.
_WARNINGS = dict.fromkeys(("BR-CL-21", "BR-CL-23"), "warning")
_EXTENSION = {"BR-CL-23": "warning"} | dict.fromkeys(
    ("BR-CL-10", "BR-CL-11", "BR-CL-21", "BR-CL-24", "BR-CL-25", "BR-CL-26"), "information"
)
_CVD = _WARNINGS | {"BR-CL-13": "information"}
_CII = dict.fromkeys(("CII-SR-452", "CII-SR-453", "CII-SR-454"), "fatal")
PUBLISHED = {
    (XR3, "Invoice"): _WARNINGS | {"UBL-CR-646": "fatal"},
    (XR3, "CreditNote"): _WARNINGS,
    (XR3, "CrossIndustryInvoice"): _WARNINGS | _CII,
    (XR3_EXTENSION, "Invoice"): _EXTENSION | dict.fromkeys(("BR-CO-16", "UBL-CR-470", "UBL-CR-646"), "information"),
    (XR3_EXTENSION, "CrossIndustryInvoice"): _EXTENSION | _CII,
    (XR3_CVD, "Invoice"): _CVD | {"UBL-CR-646": "fatal"},
    (XR3_CVD, "CreditNote"): _CVD | {"UBL-CR-646": "fatal"},
    (XR3_CVD, "CrossIndustryInvoice"): _CVD | _CII,
    **{(declared, root): {} for declared in (EN, PEPPOL) for root in ("Invoice", "CreditNote", "CrossIndustryInvoice")},
}


@pytest.mark.parametrize(("declared", "root"), PUBLISHED)
def test_overrides_agree_with_the_published_severities(declared, root):
    identity = cii(declared) if root == "CrossIndustryInvoice" else ubl(declared, root=root)
    assert severities(identity) == PUBLISHED[declared, root]


@pytest.mark.cases
@pytest.mark.parametrize(
    "name", ["generated", *(["expected.jsonl", "expected-older.jsonl"] if corpus.beside() else [])]
)
def test_every_case_is_read_and_identified(name):
    for case, data in corpus.generated() if name == "generated" else corpus.read("cases", name):
        identity = detect.identify(xml.parse(data))
        found = (identity.syntax, identity.root, identity.customization_id)
        assert found == (case["syntax"], case["root"], case["customization_id"]), case["case"]
