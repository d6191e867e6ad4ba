"""Releases of rules: selection, findings per release, announced releases and compatibility mode."""

import datetime
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import einvoice
from einvoice.resources import rules_folder
from einvoice.rulebook.releases import PINNED, releases, ruleset_label
from tests.cases import corpus
from tests.helpers.paths import SAMPLES

UBL = (SAMPLES / "ubl-invoice.xml").read_bytes()
CII = (SAMPLES / "cii-invoice.xml").read_bytes()
TODAY = b"urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"

# XRechnung 2.3 does not require the seller's electronic address (BT-34).
OF_23 = TODAY.replace(b"xeinkauf.de:kosit", b"xoev-de:kosit:standard").replace(b"3.0", b"2.3")
NO_BT_34 = re.sub(rb"<cbc:EndpointID[^>]*>[^<]*</cbc:EndpointID>", b"", UBL, count=1)


def codes(result):
    return {finding.code for finding in result.findings}


def versions(result):
    return {layer.name: layer.version for layer in result.stack.layers}


@pytest.fixture(autouse=True)
def no_pinned_release(monkeypatch):
    monkeypatch.delenv(PINNED, raising=False)


# ---------------------------------------------------------------- selection


@pytest.mark.parametrize(
    ("name", "national", "core"),
    [
        ("xrechnung-1.2.2", "1.3.0", "1.3.0"),
        ("xrechnung-2.0.0", "1.4.0", "1.3.2"),
        ("xrechnung-2.0.1", "1.5.0", "1.3.3"),
        ("xrechnung-2.1.1", "1.6.1", "1.3.6a"),
        ("xrechnung-2.2.0", "1.7.3", "1.3.7"),
        ("xrechnung-2.3.1", "1.8.2", "1.3.9"),
        ("xrechnung-3.0.0", "2.0.0", "1.3.10"),
        ("xrechnung-3.0.1", "2.0.2", "1.3.11"),
        ("xrechnung-3.0.2", "2.6.0", "1.3.16"),
        ("xrechnung-3.0.2-2.4.0", "2.4.0", "1.3.14.2"),
    ],
)
@pytest.mark.parametrize("data", [UBL, CII])
def test_rule_set_name_selects_the_last_release_of_its_specification(data, name, national, core):
    result = einvoice.validate(data, ruleset=name)
    assert (versions(result)["xrechnung"], versions(result)["en16931"]) == (national, core)
    assert result.stack.complete
    assert result.stack.national.version == national


def test_en16931_rule_set_has_no_national_layer():
    result = einvoice.validate(UBL, ruleset="en16931-1.3.12")
    assert [layer.name for layer in result.stack.layers] == ["schema", "en16931", "plausibility"]
    assert versions(result)["en16931"] == "1.3.12"


def test_every_listed_rule_set_name_is_accepted():
    assert {releases().named(name).name for name in releases().names()} == set(releases().names())
    with pytest.raises(ValueError, match=r"'xrechnung-2'; use one of .*xrechnung-2\.0\.1.*en16931-1\.3\.12"):
        releases().named("xrechnung-2")


@pytest.mark.parametrize(
    ("day", "name"),
    [
        ("2020-07-01", "xrechnung-1.2.2"),
        ("2022-01-31", "xrechnung-2.0.1"),
        ("2022-02-01", "xrechnung-2.1.1"),
        ("2024-01-31", "xrechnung-2.3.1"),
        ("2024-02-01", "xrechnung-3.0.1"),
        ("2025-08-01", "xrechnung-3.0.2-2.4.0"),
        ("2030-01-01", "xrechnung-3.0.2"),
    ],
)
def test_date_selects_the_release_in_force(day, name):
    chosen = releases().as_of(datetime.date.fromisoformat(day))
    assert chosen == releases().named(name)
    result = einvoice.validate(UBL, as_of=datetime.date.fromisoformat(day))
    assert versions(result)["xrechnung"] == chosen.version


def test_date_before_the_first_release_is_rejected():
    with pytest.raises(ValueError, match="2020-07-01 on, not 2019-12-31"):
        einvoice.validate(UBL, as_of=datetime.date(2019, 12, 31))


def test_releases_are_ordered_by_validity_date():
    for ruleset in ("xrechnung", "en16931"):
        days = [release.valid_from for release in releases().of(ruleset) if release.valid_from]
        assert days == sorted(days)


def test_environment_variable_pins_the_current_release(monkeypatch):
    monkeypatch.setenv(PINNED, "xrechnung-2.3.1")
    assert versions(einvoice.validate(UBL))["xrechnung"] == "1.8.2"
    declares_en16931 = UBL.replace(TODAY, b"urn:cen.eu:en16931:2017")
    assert versions(einvoice.validate(declares_en16931)) == {"schema": "2.1", "en16931": "1.3.9", "plausibility": "1.0"}
    assert versions(einvoice.validate(UBL, ruleset="xrechnung-3.0.2"))["xrechnung"] == "2.6.0"
    monkeypatch.setenv(PINNED, "xrechnung-9")
    with pytest.raises(ValueError, match=r"EINVOICE_RULESET: unknown rule set 'xrechnung-9'"):
        einvoice.validate(UBL)


# ---------------------------------------------------------------- announced releases

ANNOUNCED = """
[[versions]]
version       = "9.0.0"
date          = "{published}"
valid_from    = "{valid_from}"
specification = "3.0.3"
base          = "1.3.16"
announced     = {announced}
"""

SCRIPT = """
import datetime, json, os, sys
import einvoice
document, valid_from = open(sys.argv[1], "rb").read(), datetime.date.fromisoformat(sys.argv[2])
runs = {
    "default": {},
    "by name": {"ruleset": "xrechnung-3.0.3"},
    "by date": {"as_of": valid_from},
    "the day before": {"as_of": valid_from - datetime.timedelta(days=1)},
    "as declared": {"mode": "compatibility"},
    "compared": {"ruleset": "xrechnung-3.0.3", "mode": "compatibility"},
}
report = {}
wanted = sys.argv[3].split(",")
for name, options in runs.items():
    if name not in wanted:
        continue
    result = einvoice.validate(document, **options)
    finds = "BR-DE-15" in {finding.code for finding in result.findings}
    changed = [(one.finding.code, one.only_in, one.version) for one in result.differences]
    report[name] = result.stack.national.version, finds, changed
if "catalog" in wanted:
    known = einvoice.catalog()
    report["catalog"] = known.rule_set.version, known["BR-DE-15"].current
    known = einvoice.catalog(ruleset="xrechnung-3.0.3")
    report["its catalog"] = known.xrechnung_version, known["BR-DE-15"].current
    os.environ["EINVOICE_RULESET"] = "en16931-1.3.12"
    report["beside EN 16931"] = einvoice.validate(document).stack.layer("xrechnung").version
print(json.dumps(report))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package whose next release has no BR-DE-15, and an invoice that violates it."""
    folder = tmp_path_factory.mktemp("package")
    root = Path(einvoice.__file__).parent
    shutil.copytree(root, folder / "einvoice", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(rules_folder(), folder / "rules")
    rule = folder / "rules" / "xrechnung" / "BR-DE-15.toml"
    rule.write_text('until = "9.0.0"\n' + rule.read_text("utf-8"), "utf-8")
    (folder / "invoice.xml").write_bytes(re.sub(rb"<cbc:BuyerReference>[^<]*</cbc:BuyerReference>", b"", UBL))
    return folder


def validate_with_added_release(folder, valid_from, *runs, announced="true"):
    """Add the release to the copy of the package, and return the report of these runs."""
    added = ANNOUNCED.format(published=valid_from, valid_from=valid_from, announced=announced)
    unchanged = (rules_folder() / "xrechnung" / "ruleset.toml").read_text("utf-8")
    (folder / "rules" / "xrechnung" / "ruleset.toml").write_text(unchanged + added, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder / "invoice.xml"), str(valid_from), ",".join(runs)],
        env=os.environ | {"PYTHONPATH": str(folder), "EINVOICE_CACHE": str(folder / "cache")},
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.slow
def test_announced_release_is_selectable_but_not_current(package):
    valid_from = datetime.date.today() + datetime.timedelta(days=90)
    current = [releases().newest("xrechnung").version, True, []]
    runs = ("default", "by name", "by date", "the day before", "as declared", "compared", "catalog")
    assert validate_with_added_release(package, valid_from, *runs) == {
        "default": current,
        "by name": ["9.0.0", False, []],
        "by date": ["9.0.0", False, []],
        "the day before": current,
        "as declared": current,
        "compared": ["9.0.0", False, [["BR-DE-15", "current", "9.0.0"]]],
        "catalog": [releases().newest("xrechnung").version, True],
        "its catalog": ["3.0.3", False],
        "beside EN 16931": releases().newest("xrechnung").version,
    }


@pytest.mark.slow
def test_announced_release_is_not_current_after_its_date(package):
    passed = datetime.date.today() - datetime.timedelta(400)
    report = validate_with_added_release(package, passed, "default")
    assert report["default"][0] == releases().newest("xrechnung").version


@pytest.mark.slow
def test_newest_release_is_current_before_its_date(package):
    coming = datetime.date.today() + datetime.timedelta(400)
    runs = ("default", "by name", "as declared")
    report = validate_with_added_release(package, coming, *runs, announced="false")
    assert [report[name][0] for name in runs] == ["9.0.0", "9.0.0", "9.0.0"]


# ---------------------------------------------------------------- findings per release


def test_syntax_rule_depends_on_the_release():
    promised = UBL.replace(
        b"<cac:PaymentMeans>",
        b"<cac:Delivery><cac:PromisedDeliveryPeriod><cbc:StartDate>2026-04-01</cbc:StartDate>"
        b"</cac:PromisedDeliveryPeriod></cac:Delivery><cac:PaymentMeans>",
        1,
    )
    estimated = promised.replace(b"PromisedDeliveryPeriod", b"EstimatedDeliveryPeriod")
    releases = {"1.3.0": "1.2.2", "1.3.6a": "2.1.1", "1.3.7": "2.2.0", "1.3.16": "3.0.2"}  # EN 16931 and XRechnung
    for data, found in ((promised, ["1.3.0", "1.3.6a"]), (estimated, ["1.3.7", "1.3.16"])):
        results = {core: einvoice.validate(data, ruleset=f"xrechnung-{name}") for core, name in releases.items()}
        assert [versions(result)["en16931"] for result in results.values()] == list(releases)
        assert [core for core, result in results.items() if "UBL-CR-384" in codes(result)] == found


def test_severity_of_a_syntax_rule_depends_on_the_release():
    twice = UBL.replace(b"<cac:Item>", b"<cac:Item>" + 2 * b"<cbc:Description>a</cbc:Description>", 1)

    def severity(name):
        found = einvoice.validate(twice, ruleset=name).findings
        return next(finding.severity for finding in found if finding.code == "UBL-SR-50")

    # EN 16931 1.3.2 and 1.3.3
    assert (severity("xrechnung-2.0.0"), severity("xrechnung-2.0.1")) == ("warning", "fatal")


def test_code_list_depends_on_the_release():
    croatian = UBL.replace(b">EUR<", b">HRK<").replace(b'"EUR"', b'"HRK"')
    assert "BR-CL-04" not in codes(einvoice.validate(croatian, ruleset="en16931-1.3.12"))
    assert "BR-CL-04" in codes(einvoice.validate(croatian, ruleset="en16931-1.3.13"))


def test_renamed_rule_code_depends_on_the_release():
    canary = UBL.replace(b"<cbc:ID>S</cbc:ID>", b"<cbc:ID>L</cbc:ID>", 1)
    old, new = (codes(einvoice.validate(canary, ruleset=f"en16931-1.3.{minor}")) for minor in (13, 14))
    assert {"BR-IG-01"} == {code for code in old if code.endswith(("IG-01", "AF-01"))}
    assert {"BR-AF-01"} == {code for code in new if code.endswith(("IG-01", "AF-01"))}
    assert einvoice.catalog()["BR-IG-01"].code == "BR-AF-01"


def test_rule_context_depends_on_the_release():
    """From 1.3.10 to 1.3.11 another rule shadowed the CII rules on allowances."""
    no_amount = re.sub(
        rb"(<ram:ApplicableHeaderTradeSettlement>.*?)(<ram:SpecifiedTradePaymentTerms>)",
        rb"\1<ram:SpecifiedTradeAllowanceCharge><ram:ChargeIndicator><udt:Indicator>false</udt:Indicator>"
        rb"</ram:ChargeIndicator></ram:SpecifiedTradeAllowanceCharge>\2",
        CII,
        flags=re.DOTALL,
    )
    assert no_amount != CII
    results = {minor: einvoice.validate(no_amount, ruleset=f"en16931-1.3.{minor}") for minor in range(9, 13)}
    assert [minor for minor, result in results.items() if "BR-31" in codes(result)] == [9, 12]


# ---------------------------------------------------------------- compatibility mode


def test_compatibility_mode_applies_the_declared_release_and_reports_differences():
    old = NO_BT_34.replace(TODAY, OF_23)
    result = einvoice.validate(old, mode="compatibility", lang="en")
    assert result.is_valid
    assert (versions(result)["xrechnung"], result.stack.status) == ("1.8.2", "outdated")
    (missing,) = (one for one in result.differences if one.finding.code == "PEPPOL-EN16931-R020")
    assert (missing.only_in, missing.ruleset, missing.version) == ("current", "xrechnung", "2.0.0")
    assert missing.finding.severity == "fatal"
    assert "PEPPOL-EN16931-R020" not in codes(result)
    today = einvoice.validate(old)
    assert not today.is_valid
    assert {"PEPPOL-EN16931-R020", "DECL-OUTDATED"} <= codes(today)
    assert today.differences == ()


def test_ended_override_is_attributed_to_the_national_rules():
    """EN 16931 did not change BR-CL-23; KoSIT lowers it in 2.3, and in 3.0 for invoices that declare 3.0."""
    unit = re.sub(rb'unitCode="[^"]*"', b'unitCode="no unit"', UBL).replace(TODAY, OF_23)
    result = einvoice.validate(unit, mode="compatibility")
    changes = [one for one in result.differences if one.finding.code == "BR-CL-23"]
    assert {(one.only_in, one.finding.severity, one.ruleset, one.version) for one in changes} == {
        ("declared", "warning", "xrechnung", "2.0.0"),
        ("current", "fatal", "xrechnung", "2.0.0"),
    }


def test_json_lists_the_differences():
    result = einvoice.validate(NO_BT_34.replace(TODAY, OF_23), mode="compatibility")
    answer = json.loads(json.dumps(result.to_dict("en")))
    compatibility = answer["validation_details"]["compatibility"]
    assert (answer["xrechnung_version"], answer["is_valid"], compatibility["status"]) == ("2.3.1", True, "outdated")
    assert "XRechnung 2.3.1" in compatibility["message"]
    assert len(compatibility["differences"]) == len(result.differences)
    (one,) = (it for it in compatibility["differences"] if it["code"] == "PEPPOL-EN16931-R020")
    assert one["changed_in"]["specification"] == "3.0.0"
    assert one["title"]


@pytest.mark.parametrize(
    ("declared", "status"),
    [(TODAY, "current"), (b"urn:cen.eu:en16931:2017", "current"), (b"nonsense", "unknown"), (b" ", "unknown")],
)
@pytest.mark.parametrize("data", [UBL, CII])
def test_current_or_unknown_declaration_has_no_differences(data, declared, status):
    result = einvoice.validate(data.replace(TODAY, declared), mode="compatibility")
    assert result.stack.status == status
    assert result.differences == ()
    assert versions(result)["en16931"] == releases().newest("en16931").version


def test_named_release_is_compared_with_the_current_one():
    result = einvoice.validate(NO_BT_34, mode="compatibility", ruleset="xrechnung-2.3.1")
    assert {one.finding.code for one in result.differences if one.only_in == "current"} >= {"PEPPOL-EN16931-R020"}
    declared = [one for one in result.differences if one.only_in == "declared"]
    assert {one.finding.code for one in declared} <= codes(result)
    assert all(one.finding in result.findings for one in declared)


@pytest.mark.parametrize(
    ("layer", "labels"),
    [
        ("xrechnung", ["XRechnung"] * 3),
        (
            "plausibility-france",
            ["Plausibilität für Frankreich", "Plausibility for France", "Vraisemblance pour la France"],
        ),
        ("unknown", ["unknown"] * 3),
    ],
)
def test_label_of_a_rule_set_in_each_language(layer, labels):
    assert [ruleset_label(layer, lang=lang) for lang in ("de", "en", "fr")] == labels


# ---------------------------------------------------------------- the comparison cases


@pytest.mark.cases
@pytest.mark.skipif(not corpus.beside(), reason="needs official results of older releases")
def test_older_releases_agree_with_the_official_schematron():
    differing, compared = [], 0
    for case, data in corpus.read("cases", "expected-older.jsonl"):
        if any(isinstance(fired, dict) for fired in case["fired"].values()):
            continue  # the stylesheet aborted
        official = {code for fired in case["fired"].values() for code, *_ in fired}
        result = einvoice.validate(data, ruleset=f"xrechnung-{case['ruleset']['xrechnung']}")
        native = {code for code in codes(result) if code.startswith(("BR-", "UBL-", "CII-", "PEPPOL-"))}
        compared += 1
        if native != official:
            differing.append(case["case"])
    assert compared > 500
    assert not differing
