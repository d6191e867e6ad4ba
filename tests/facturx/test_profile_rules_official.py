"""The rules of the Factur-X profiles report the same findings as the official Schematron."""

import copy
import random

import pytest
from lxml import etree

import einvoice
from einvoice.facturx.rules import profile_rules
from einvoice.syntax import xml
from einvoice.syntax.detect import identify
from tests.helpers.official_rules import official, violated_checks
from tests.helpers.profile_documents import PROFILES, profile_document

pytest.importorskip("saxonche")
pytestmark = pytest.mark.slow

CHANGES = ("drop", "twice", "text", "blank", "attribute", "no attribute", "scheme")
TEXTS = ("X", "0", "1.00", "297.52", "true", "E", "O", "Z", "GROUP", "351.06", "300.02")


def mutant(data, chance):
    root = etree.fromstring(data)
    for _ in range(chance.choice((1, 1, 2))):
        element = chance.choice([item for item in root.iter() if item.getparent() is not None])
        _change(element, chance.choice(CHANGES), chance)
    return etree.tostring(root, encoding="utf-8", xml_declaration=True)


def _change(element, how, chance):
    attribute = next(iter(element.attrib), None)
    if how == "drop":
        element.getparent().remove(element)
    elif how == "twice":
        element.addnext(copy.deepcopy(element))
    elif how in ("text", "blank") and not len(element):
        element.text = chance.choice(TEXTS) if how == "text" else ""
    elif how == "attribute" and attribute:
        element.set(attribute, chance.choice(("X", "", "VA", "FC")))
    elif how == "no attribute" and attribute:
        del element.attrib[attribute]
    elif how == "scheme":
        element.set(chance.choice(("schemeID", "currencyID")), "EUR")


def codes(data, profile):
    """Return the codes of findings that the official Schematron of the profile contains by name."""
    result = einvoice.validate(data, profile="facturx")
    found = [item for item in result.findings if item.layer in ("en16931", "facturx")]
    if not profile_rules()[profile].replaces_en16931:  # the official Schematron of the profile lacks these
        found = [item for item in found if not item.code.startswith(("CII-", "BR-CL-"))]
    return {item.code for item in found if not item.code.startswith(("FX-SCH-A-", "PROFILE-"))}


@pytest.mark.parametrize("profile", PROFILES)
def test_generated_documents_conform_to_the_official_schematron(profile):
    assert official(profile_document(profile), profile) == (set(), set())


@pytest.mark.parametrize("profile", PROFILES)
def test_mutants_violate_the_same_rules(profile):
    chance = random.Random(f"{profile} 1.09")
    compared = 0
    for number in range(40):
        data = mutant(profile_document(profile), chance)
        expected = official(data, profile)
        document = xml.parse(data)
        if expected is None or identify(document).customization_id != PROFILES[profile]:
            continue  # Saxon stopped, or the document no longer declares the profile
        compared += 1
        official_codes, checks = expected
        if not profile_rules()[profile].replaces_en16931:
            official_codes = {code for code in official_codes if not code.startswith(("CII-", "BR-CL-"))}
        assert codes(data, profile) == official_codes, number
        assert set(violated_checks(document, profile)) == checks, number
    assert compared > 25
