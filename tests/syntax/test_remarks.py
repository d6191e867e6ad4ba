"""Remarks on BT-24: scenarios of KoSIT's validator, other editions, specifications of other countries, near misses."""

import pytest

from einvoice.code_catalog import entry
from einvoice.syntax.remarks import nearest, remarks
from tests.syntax.test_detect import EN, NLCIUS, PEPPOL, XR2, XR3, XR3_CVD, XR3_EXTENSION, cii, codes, ubl

NO_SCENARIO = "DECL-NO-SCENARIO"
FACTUR_X_BASIC = EN + "#compliant#urn:factur-x.eu:1p0:basic"


def reasons(identity):
    names = ("misspelt", "padded", "root", "successor")
    return [name for it in remarks(identity) if it.code == NO_SCENARIO for name in names if name in it.values]


@pytest.mark.parametrize(
    ("identity", "reason"),
    [
        (ubl(XR3_EXTENSION, root="CreditNote"), "root"),
        (ubl(XR3 + " "), "padded"),
        (ubl(f"\n  {XR3_CVD}\n", root="CreditNote"), "padded"),
        (cii(f"\n{XR3_EXTENSION}"), "padded"),
        (cii(EN + "\t"), "padded"),
        (ubl(XR3 + ".2"), "misspelt"),
        (ubl(XR3[:-1] + "O"), "misspelt"),
        (cii(XR3_EXTENSION + ".1"), "misspelt"),
        (ubl(XR2.replace("_2.", "_3.0")), "misspelt"),
        (ubl("XRechnung 3.0"), "misspelt"),
        (cii(XR3.upper()), "misspelt"),
        (ubl(EN.upper()), "misspelt"),
    ],
)
def test_a_document_that_kosits_validator_rejects_is_warned_about(identity, reason):
    assert reasons(identity) == [reason]


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3"])
def test_older_versions_have_no_scenario_any_more(version):
    assert reasons(ubl(XR2[:-2] + version))[-1:] == ["successor"]


@pytest.mark.parametrize("root", ["Invoice", "CreditNote"])
@pytest.mark.parametrize("declared", [EN, XR3, XR3_CVD])
def test_a_document_with_a_scenario_is_not_warned_about(root, declared):
    assert codes(ubl(declared, root=root)) == []
    assert codes(cii(declared)) == []


@pytest.mark.parametrize(
    "identity",
    [
        ubl(XR3_EXTENSION),
        cii(XR3_EXTENSION),
        ubl(PEPPOL),
        ubl(f" {PEPPOL} "),
        ubl(NLCIUS + "\n"),
        cii(FACTUR_X_BASIC + " "),
        ubl("urn:else"),
        ubl(None),
        ubl("OIOUBL-2.1"),
    ],
)
def test_where_no_scenario_is_expected_none_is_missed(identity):
    assert NO_SCENARIO not in codes(identity)


def test_white_space_around_the_identifier_is_shown():
    (remark,) = remarks(ubl(f"  {XR3}\n"))
    assert remark.values["padded"] == f"␣{XR3}↵"
    assert len(remarks(cii("\n" * 5000 + XR3))[0].values["padded"]) == 200


@pytest.mark.parametrize("build", [ubl, cii])
@pytest.mark.parametrize(
    ("declared", "year"),
    [
        ("urn:cen.eu:en16931:2026", "2026"),
        ("urn:cen.eu:en16931:2026#compliant#urn:xeinkauf.de:kosit:xrechnung_4.0", "2026"),
        ("urn:cen.eu:en16931:2026+A1", "2026"),
        ("URN:CEN.EU:EN16931:2026", "2026"),
        ("urn:cen.eu:en16931-1:2026", "2026"),
        ("\u200b\xa0urn:cen.eu:en16931:2026\xa0", "2026"),
        ("urn:cen.eu:en16931:2020", "2020"),
        ("urn:cen.eu:en16931:2031#conformant#urn:factur-x.eu:1p0:extended", "2031"),
        (XR3.replace("2017", "2018"), "2018"),
        (PEPPOL.replace(":2017#", ":2026#"), "2026"),
    ],
)
def test_another_edition_is_told_by_its_year(build, declared, year):
    identity = build(declared)
    assert (identity.profile, identity.version, identity.kind) == ("EN 16931", year, "edition")
    assert codes(identity) == ["DECL-EDITION"]


@pytest.mark.parametrize("declared", ["urn:cen.eu:en16931:20260", "urn:cen.eu:en16931:17", EN + "x", "x" + EN])
def test_what_names_no_year_is_not_an_edition(declared):
    assert ubl(declared).kind == "unknown"


CIUS = EN + "#compliant#"
EXTENSION = EN + "#conformant#"
BII = "urn:www.cenbii.eu:transaction:biitrns010:ver2.0:extended:urn:www.peppol.eu:bis:peppol"


@pytest.mark.parametrize(
    ("declared", "profile", "version", "code"),
    [
        (CIUS + "urn:efactura.mfinante.ro:CIUS-RO:1.0.1", "CIUS-RO", "1.0.1", "DECL-CORE-ONLY"),
        (CIUS + "urn:efactura.mfinante.ro:CIUS-RO:1.0.9", "CIUS-RO", "1.0.9", "DECL-CORE-ONLY"),
        (CIUS + "urn:efactura.mfinante.ro:CIUS-RO", "CIUS-RO", "", "DECL-CORE-ONLY"),
        (CIUS + "urn:fatturapa.gov.it:CIUS-IT:2.0.0", "CIUS-IT", "2.0.0", "DECL-CORE-ONLY"),
        (
            CIUS + "urn:fatturapa.gov.it:CIUS-IT:2.0.0#conformant#urn:fatturapa.gov.it:EXT-IT:1.0.0",
            "CIUS-IT",
            "2.0.0",
            "DECL-CORE-ONLY",
        ),
        (PEPPOL + "#conformant#urn:www.agid.gov.it:trns:fattura:3", "CIUS-IT", "3", "DECL-CORE-ONLY"),
        (CIUS + "urn:feap.gov.pt:CIUS-PT:2.1.1-rc", "CIUS-PT", "2.1.1-rc", "DECL-CORE-ONLY"),
        (EXTENSION + "urn:UBL.BE:1.0.0.20180214#x", "UBL.BE", "1.0.0.20180214", "DECL-CORE-ONLY"),
        ("urn:peppol:pint:billing-1@eu-1#x", "PINT EU", "1", "DECL-CORE-ONLY"),
        ("urn:fdc:peppol:jp:billing:3.0", "PINT JP", "3.0", "DECL-OTHER-STANDARD"),
        ("urn:fdc:oioubl.dk:trns:billing:invoice:3.0", "OIOUBL", "3.0", "DECL-OTHER-STANDARD"),
        ("urn:fdc:anskaffelser.no:2019:ehf:spec:payment-request:3.0", "EHF", "3.0", "DECL-CORE-ONLY"),
        (CIUS + "urn:feap.gov.pt:CIUS-PT:2.1.1", "CIUS-PT", "2.1.1", "DECL-CORE-ONLY"),
        (
            CIUS + "urn:mfin.gov.hr:cius-2025:1.0#conformant#urn:mfin.gov.hr:ext-2025:1.0",
            "CIUS-HR",
            "2025:1.0",
            "DECL-CORE-ONLY",
        ),
        (EXTENSION + "urn:UBL.BE:1.0.0.20180214", "UBL.BE", "1.0.0.20180214", "DECL-CORE-ONLY"),
        (CIUS + "compliant#urn:www.difi.no:ehf:ver3.0", "EHF", "3.0", "DECL-CORE-ONLY"),
        (EXTENSION + "urn.cpro.gouv.fr:1p0:extended-ctc-fr", "EXTENDED-CTC-FR", "", "DECL-PART-ONLY"),
        ("urn:peppol:pint:billing-1@eu-1", "PINT EU", "1", "DECL-CORE-ONLY"),
        ("urn:peppol:pint:billing-1@sg-1", "PINT SG", "1", "DECL-OTHER-STANDARD"),
        ("urn:peppol:pint:billing-1@my-1", "PINT MY", "1", "DECL-OTHER-STANDARD"),
        ("urn:peppol:pint:selfbilling-1@ae-1", "PINT AE", "1", "DECL-OTHER-STANDARD"),
        ("urn:peppol:pint:nontaxinvoice-1@jp-1", "PINT JP", "1", "DECL-OTHER-STANDARD"),
        ("urn:peppol:pint:billing-1@aunz-1", "PINT A-NZ", "1", "DECL-OTHER-STANDARD"),
        ("urn:peppol:pint:billing-1@om-1", "PINT OM", "1", "DECL-OTHER-STANDARD"),
        ("urn:peppol:pint:billing-1@xx-1", "PINT", "", "DECL-OTHER-STANDARD"),
        (
            EXTENSION + "urn:fdc:peppol.eu:2017:poacc:billing:international:sg:3.0",
            "Singapore Peppol BIS Billing",
            "3.0",
            "DECL-OTHER-STANDARD",
        ),
        (
            EXTENSION + "urn:fdc:peppol.eu:2017:poacc:selfbilling:international:aunz:3.0",
            "A-NZ Peppol BIS Billing",
            "3.0",
            "DECL-OTHER-STANDARD",
        ),
        ("OIOUBL-2.02", "OIOUBL", "2.02", "DECL-OTHER-STANDARD"),
        (
            BII + "4a:ver2.0:extended:urn:www.simplerinvoicing.org:si:si-ubl:ver1.1.x",
            "SI-UBL",
            "1.1",
            "DECL-OTHER-STANDARD",
        ),
        (BII + "5a:ver2.0:extended:urn:www.difi.no:ehf:kreditnota:ver2.0", "EHF", "2.0", "DECL-OTHER-STANDARD"),
        (NLCIUS + "#conformant#urn:example:energy:v3.0", "NLCIUS Extension", "1.0", "DECL-PART-ONLY"),
    ],
)
def test_specifications_of_other_countries_are_recognized(declared, profile, version, code):
    identity = ubl(declared)
    assert (identity.profile, identity.version, codes(identity)) == (profile, version, [code])


@pytest.mark.parametrize(
    ("build", "declared", "expected"),
    [
        (ubl, XR3 + ".2", XR3),
        (ubl, XR3_EXTENSION[:-1] + "O", XR3_EXTENSION),
        (ubl, XR2 + "9", XR3),
        (ubl, PEPPOL + ".1", PEPPOL),
        (cii, FACTUR_X_BASIC + "s", FACTUR_X_BASIC),
        (cii, EXTENSION + "urn:factur-x.eu:1p0:extendet", EXTENSION + "urn:factur-x.eu:1p0:extended"),
        (cii, CIUS + "urn:factur-x.eu:1p0:en16931", EN),
        (ubl, CIUS + "urn:efactura.mfinante.ro:CIUS_RO:1.0.1", CIUS + "urn:efactura.mfinante.ro:CIUS-RO:1.0.1"),
        (ubl, "urn:peppol:pint-billing-1@sg-1", "urn:peppol:pint:billing-1@sg-1"),
    ],
)
def test_the_most_similar_identifier_is_named(build, declared, expected):
    unknown = next(it for it in remarks(build(declared)) if it.code == "DECL-UNKNOWN")
    assert unknown.values["similar"] == expected


def test_identifiers_of_the_other_syntax_are_not_suggested():
    assert nearest("urn:factur-x.eu:1p0:minimun", "CII").profile == "Factur-X MINIMUM"
    assert nearest("urn:factur-x.eu:1p0:minimun", "UBL") is None
    assert nearest("urn:peppol:pint-billing-1@sg-1", "CII") is None


def test_an_identifier_of_the_other_syntax_is_named_as_such():
    (unknown,) = remarks(ubl(FACTUR_X_BASIC))
    assert unknown.code == "DECL-UNKNOWN"
    assert (unknown.values["other_profile"], unknown.values["other_syntax"]) == ("Factur-X BASIC", "CII")
    assert "similar" not in unknown.values


def test_a_long_identifier_is_shortened():
    for declared in (XR3 + "0" * 1_000_000, EN + "#" * 1_000_000):
        for remark in remarks(ubl(declared)):
            assert all(len(value) <= 200 for value in remark.values.values())
    assert ubl(CIUS + "urn:efactura.mfinante.ro:CIUS-RO:" + "1" * 1_000_000).kind == "unknown"


def test_kosits_expressions_compare_with_the_white_space():
    """The expressions of scenarios.xml have these forms; evaluated here as by KoSIT's validator, without a schema."""
    saxonche = pytest.importorskip("saxonche")
    forms = ("exists(/Invoice/CustomizationID[ . = '{}'])", "exists(/Invoice[CustomizationID/text() = '{}'])")
    with saxonche.PySaxonProcessor(license=False) as processor:
        for text, matches in ((XR3, True), (XR3 + " ", False), (f"\n{XR3}\n", False), (XR3.upper(), False)):
            document = f"<Invoice><CustomizationID>{text}</CustomizationID></Invoice>"
            xpath = processor.new_xpath_processor()
            xpath.set_context(xdm_item=processor.parse_xml(xml_text=document))
            assert [xpath.effective_boolean_value(form.format(XR3)) for form in forms] == [matches] * 2


def test_the_number_of_rules_that_were_not_run_is_told():
    (remark,) = remarks(ubl(CIUS + "urn:efactura.mfinante.ro:CIUS-RO:1.0.1"))
    assert remark.values["own_rules"] == "121"
    known = entry("DECL-CORE-ONLY")
    title = known.title("en", remark.values, known.situations[0]["key"])
    assert title.endswith("validated against EN 16931 only, not against its own 121 rules")


@pytest.mark.parametrize("edition", ["20 26", "20261", "２０２６", "26"])
def test_a_misspelt_edition_is_not_taken_for_that_of_2017(edition):
    assert nearest(f"urn:cen.eu:en16931:{edition}", "UBL") is None


@pytest.mark.parametrize(
    "declared", ["urn:peppol:pint:billing-1@jp-1", "OIOUBL-2.1", EXTENSION + "urn:UBL.BE:1.0.0.20180214"]
)
def test_a_specification_for_ubl_is_named_in_cii_too(declared):
    assert cii(declared).profile == ubl(declared).profile != "unknown"
