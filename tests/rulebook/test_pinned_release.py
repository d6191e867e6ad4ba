"""The current release, newest or pinned by the environment, in results and in the catalog."""

import re

import pytest

import einvoice
from einvoice.rulebook.program import engine
from einvoice.rulebook.releases import PINNED as EINVOICE_RULESET
from einvoice.rulebook.releases import releases
from einvoice.rulebook.syntax_rules.stops import CODE as STOPPED
from einvoice.rulebook.syntax_rules.table import rule_table
from tests.helpers.paths import SAMPLES

UBL = (SAMPLES / "ubl-invoice.xml").read_bytes()
OLDER = "urn:cen.eu:en16931:2017#compliant#urn:xoev-de:kosit:standard:xrechnung_"
PINNED = "xrechnung-3.0.2-2.4.0"
"""An earlier release for the newest specification."""
MODES = ("current", "compatibility")


@pytest.fixture
def pin(monkeypatch):
    def pinned(name):
        monkeypatch.setenv(EINVOICE_RULESET, name)

    monkeypatch.delenv(EINVOICE_RULESET, raising=False)
    return pinned


def declaring(version):
    """Return the sample with this declared version of XRechnung (3.0 in the sample itself)."""
    identifier = (OLDER + version).encode()
    return re.sub(rb"urn:cen.eu:[^<]*xrechnung_3.0", identifier, UBL) if version != "3.0" else UBL


def validate_declaring(version, mode="current"):
    """Return status, national release, compatibility message and result for a document that declares this version."""
    result = einvoice.validate(declaring(version), mode=mode, lang="en")
    assert result.stack.layer("xrechnung").version == result.stack.national.version
    message = result.to_dict("en")["validation_details"]["compatibility"]["message"]
    return result.stack.status, result.stack.national.version, message, result


@pytest.mark.parametrize("mode", MODES)
def test_document_of_the_pinned_specification_is_current(pin, mode):
    pin(PINNED)
    status, version, message, result = validate_declaring("3.0", mode)
    assert (status, version, message) == ("current", "2.4.0", None)
    assert result.stack.layer("en16931").version == "1.3.14.2"
    assert result.differences == ()


@pytest.mark.parametrize("mode", MODES)
def test_older_specification_is_current_if_pinned(pin, mode):
    pin("xrechnung-2.3.1")
    status, version, message, result = validate_declaring("2.3", mode)
    assert (status, version, message) == ("current", "1.8.2", None)
    assert "DECL-OUTDATED" not in {finding.code for finding in result.findings}


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "version"), [("current", "1.8.2"), ("compatibility", "1.7.3")])
def test_specification_before_the_pinned_one_is_outdated(pin, mode, version):
    pin("xrechnung-2.3.1")
    status, release, message, result = validate_declaring("2.2", mode)
    assert (status, release) == ("outdated", version)
    assert "XRechnung 2.2" in message
    (finding,) = (finding for finding in result.findings if finding.code == "DECL-OUTDATED")
    assert finding.values["successor"] == "XRechnung 2.3"
    assert finding.values["identifier"] == OLDER + "2.3"


@pytest.mark.parametrize(("mode", "version"), [("current", "1.8.2"), ("compatibility", "2.6.0")])
def test_specification_after_the_pinned_one_is_unknown(pin, mode, version):
    pin("xrechnung-2.3.1")
    status, release, message, _ = validate_declaring("3.0", mode)
    assert (status, release) == ("unknown", version)
    assert "a later version than the one in force" in message


def test_pinned_en16931_uses_the_newest_xrechnung(pin):
    pin("en16931-1.3.12")
    status, version, _, result = validate_declaring("3.0")
    assert (status, version) == ("current", "2.6.0")
    assert result.stack.layer("en16931").version == "1.3.12"
    assert einvoice.catalog().xrechnung_version == result.to_dict("en")["xrechnung_version"] == "3.0.2"


# ---------------------------------------------------------------- the catalog


@pytest.mark.slow
def test_catalog_follows_the_pinned_release(pin):
    unpinned = einvoice.catalog()
    pin(PINNED)
    known = einvoice.catalog()
    assert known is einvoice.catalog()
    assert known is einvoice.catalog(ruleset=PINNED) is not unpinned
    assert einvoice.catalog(ruleset="xrechnung-3.0.2") is unpinned
    content = known.to_dict("en")
    assert (content["xrechnung_version"], content["rule_set"]) == ("3.0.2", PINNED)
    assert known.version != unpinned.version
    assert known.keys() == unpinned.keys()
    # Release 2.5.0 lowered R120 from error to warning; EN 16931 1.3.16 added CII-SR-464.
    assert (known["PEPPOL-EN16931-R120"].severity, unpinned["PEPPOL-EN16931-R120"].severity) == ("fatal", "warning")
    current = {item["code"]: item["current"] for item in content["items"]}
    assert (current["BR-DE-15"], current["CII-SR-464"], unpinned["CII-SR-464"].current) == (True, False, True)


@pytest.mark.slow
def test_catalog_lists_codes_of_the_release():
    known = einvoice.catalog(ruleset="en16931-1.3.13")
    assert known["BR-IG-01"].code == "BR-IG-01"  # in UBL; CII has always used BR-AF-01
    assert (set(known["BR-IG-01"].severities), set(known["BR-AF-01"].severities)) == ({"UBL"}, {"CII"})
    assert set(einvoice.catalog()["BR-AF-01"].severities) == {"UBL", "CII"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["xrechnung-1.2.2", "xrechnung-2.3.1", PINNED, "xrechnung-3.0.2"])
def test_catalog_matches_the_rules_of_the_release(name):
    """Catalog and engine read the same rule files independently."""
    release, known = releases().named(name), einvoice.catalog(ruleset=name)
    codes = set()
    for syntax in ("UBL", "CII"):
        rules = engine.rulebook().program(syntax, release.versions).rules
        for rule in (*rules, *rule_table(syntax, release.versions).rules):
            if rule.code == STOPPED:  # has no severity of its own in a syntax
                continue
            entry = known[rule.code]
            assert (entry.code, entry.current) == (rule.code, True)
            assert entry.severities[syntax] == rule.severity, rule.code
            codes.add(rule.code)
    assert len(codes) > 1000
    removed = {code for code, entry in known.items() if not entry.current}
    assert removed
    assert not removed & codes


def test_catalog_of_an_unknown_release_is_rejected(pin):
    with pytest.raises(ValueError, match=r"unknown rule set 'xrechnung-9'"):
        einvoice.catalog(ruleset="xrechnung-9")
    pin("xrechnung-9")
    with pytest.raises(ValueError, match="EINVOICE_RULESET"):
        einvoice.catalog()
