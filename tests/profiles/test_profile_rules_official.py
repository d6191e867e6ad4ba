"""Our rules of Factur-X and the official Schematron report the same findings."""

import copy
import random

import pytest
from lxml import etree
from profiles.official_rules import asked, official
from profiles.profile_documents import PROFILES, profile_document

import einvoice
from einvoice.facturx.rules import profile_rules
from einvoice.syntax import xml
from einvoice.syntax.detect import identify

pytest.importorskip("saxonche")
pytestmark = pytest.mark.slow

# Their copies of these rules are other ones than those of release 1.3.16 of EN 16931, by which we judge.
OLDER = {"BR-17", "BR-47", "BR-48", "BR-65", "BR-CO-11", "BR-CO-18", "CII-SR-471", "CII-SR-472"}
CHANGES = ("drop", "twice", "text", "blank", "attribute", "no attribute", "scheme")
TEXTS = ("X", "0", "1.00", "297.52", "true", "E", "O", "Z", "GROUP", "351.06", "300.02")


def mutant(data, chance):
    root = etree.fromstring(data)
    for _ in range(chance.choice((1, 1, 2))):
        element = chance.choice([it for it in root.iter() if it.getparent() is not None])
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


def ours(data, profile):
    """Our findings that the official rules of the profile have too, by name."""
    result = einvoice.validate(data, profile="facturx")
    found = [it for it in result.findings if it.layer in ("en16931", "profile")]
    if not profile_rules()[profile].alone:  # the layer en16931 judges by all rules of CEN, of which theirs has some
        found = [it for it in found if not it.code.startswith(("CII-", "BR-CL-"))]
    return {it.code for it in found if not it.code.startswith(("FX-SCH-A-", "PROFILE-"))}


@pytest.mark.parametrize("profile", PROFILES)
def test_the_official_rules_find_nothing_in_our_documents(profile):
    assert official(profile_document(profile), profile) == (set(), set())


@pytest.mark.parametrize("profile", PROFILES)
def test_mutants_break_the_same_rules(profile):
    chance = random.Random(f"{profile} 1.09")
    compared = 0
    for number in range(40):
        data = mutant(profile_document(profile), chance)
        theirs = official(data, profile)
        document = xml.parse(data)
        if theirs is None or identify(document).customization_id != PROFILES[profile]:
            continue  # Saxon stops; or the document is of no profile any more
        compared += 1
        found, questions = theirs
        kept = {code for code in found if not code.startswith(("CII-", "BR-CL-")) or profile_rules()[profile].alone}
        assert ours(data, profile) ^ kept <= OLDER, number
        assert set(asked(document, profile)) == questions, number
    assert compared > 25
