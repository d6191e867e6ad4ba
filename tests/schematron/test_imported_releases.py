"""A newer release of a shipped rule set: what is unchanged is judged by its rules, the rest as imported."""

import json
import pickle

import pytest
from lxml import etree

import einvoice
from einvoice.authoring.added import rule_data
from einvoice.cli import main
from einvoice.reference import BundleRejected
from einvoice.reference.bundles.imports import import_sheets
from einvoice.result.rule_changes import rule_changes
from einvoice.rulebook import recognition
from einvoice.rulebook.releases import releases
from einvoice.schematron.fingerprints import fingerprints
from einvoice.schematron.program import Program
from einvoice.schematron.sheets import iso
from einvoice.validation import compare_releases

SHEET = """\
<schema xmlns="http://purl.oclc.org/dsdl/schematron" queryBinding="xslt2">
  <!-- Schematron version 1.3.99 -->
  <title>EN 16931</title>
  <ns prefix="cac" uri="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"/>
  <ns prefix="cbc" uri="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"/>
  <ns prefix="ubl" uri="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"/>
  <pattern>
    <rule context="/ubl:Invoice">
      <assert id="BR-02" flag="fatal" test="normalize-space(cbc:ID) != ''">Number</assert>
      <assert id="BR-03" flag="fatal" test="normalize-space(cbc:IssueDate) != ''">Date</assert>
      <assert id="BR-05" flag="fatal" test="normalize-space(cbc:DocumentCurrencyCode) != ''">Currency</assert>
      <assert id="BR-16" flag="fatal" test="exists(cac:InvoiceLine)">Line</assert>
    </rule>
    <rule context="cac:InvoiceLine">
      <assert id="BR-21" flag="fatal" test="normalize-space(cbc:ID) != ''">Line number</assert>
    </rule>
  </pattern>
</schema>"""
RULE = "normalize-space(cbc:ID) != ''\">Line number"
"""The condition of BR-21, which the newer release changes."""
NEWER = (
    SHEET.replace(RULE, 'number(cbc:ID) > 1">Line number from 2')
    .replace('<assert id="BR-03" flag="fatal" test="normalize-space(cbc:IssueDate) != \'\'">Date</assert>', "")
    .replace("<title>", '<title id="n">')
    .replace("</rule>", '<assert id="BR-99" flag="warning" test="number(cbc:ID) = 1">No note</assert></rule>', 1)
)


def know(monkeypatch, sheet, **more):
    """Let the release 1.3.16 of EN 16931 have the assertions of a sheet in UBL, and more by code."""
    known = {**fingerprints(iso.read(etree.fromstring(sheet.encode()), None, etree.fromstring)), **more}
    monkeypatch.setattr(
        recognition,
        "fingerprints",
        lambda ruleset, folder, syntax: {"1.3.16": known} if (ruleset.name, syntax) == ("en16931", "UBL") else {},
    )


@pytest.fixture
def newer(tmp_path, monkeypatch):
    """Return the file of a newer release; the release 1.3.16 of EN 16931 has the assertions of `SHEET`."""
    know(monkeypatch, SHEET)
    monkeypatch.setenv("EINVOICE_RULES_DIR", str(tmp_path / "rules"))
    file = tmp_path / "cen.sch"
    file.write_text(NEWER, "utf-8")
    return file


def of_en16931(result):
    return sorted((it.code, it.severity, it.kind) for it in result.findings if it.layer == "en16931")


def test_release_is_compared_with_the_newest_one(newer):
    (release,) = import_sheets(newer).configuration.releases
    assert (release.ruleset, release.version, release.native, release.announced) == (
        "en16931",
        "1.3.99",
        "1.3.16",
        False,
    )
    (part,) = release.parts
    assert (part.syntax, part.unchanged) == ("UBL", 3)
    assert (part.changed, part.added, part.removed) == (("BR-21",), ("BR-99",), ("BR-03",))


def test_unchanged_changed_new_and_removed_assertions(newer, sample):
    document = sample("ubl-invoice.xml").read_bytes()
    import_sheets(newer)
    invalid = document.replace(b"<cbc:IssueDate>", b"<cbc:IssueDate/><!--").replace(b"</cbc:IssueDate>", b"-->")
    invalid = invalid.replace(b"<cbc:DocumentCurrencyCode>EUR", b"<cbc:DocumentCurrencyCode>")
    result = einvoice.validate(invalid, ruleset="en16931-1.3.99", lang="en")
    found = of_en16931(result)
    assert ("BR-21", "fatal", "imported") in found
    assert ("BR-99", "warning", "imported") in found
    assert ("BR-05", "fatal", "en16931") in found
    assert "BR-03" not in {code for code, *_ in found}
    assert "BR-03" in {it.code for it in einvoice.validate(invalid, ruleset="en16931-1.3.16").findings}
    changed = next(it for it in result.findings if it.code == "BR-21")
    assert changed.title("en") == einvoice.catalog()["BR-21"].title("en")
    assert changed.xpath.endswith("cac:InvoiceLine[1]")
    assert next(it for it in result.findings if it.code == "BR-99").title("de") == "No note"


def test_layer_states_the_imported_release(newer, sample):
    import_sheets(newer)
    before = einvoice.validate(sample("ubl-invoice.xml"), ruleset="en16931-1.3.16").stack.layers
    after = einvoice.validate(sample("ubl-invoice.xml"), ruleset="en16931-1.3.99").stack.layers
    (old,), (new,) = ([it for it in layers if it.name == "en16931"] for layers in (before, after))
    assert (old.version, new.version) == ("1.3.16", "1.3.99")
    assert new.rules == old.rules  # one more, one less
    assert new.sha256 != old.sha256
    assert new.executed


def test_it_is_the_current_release_of_the_documents_of_its_rule_set_only(newer, sample):
    xrechnung = sample("ubl-invoice.xml").read_bytes()
    core = xrechnung.replace(
        b"urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", b"urn:cen.eu:en16931:2017"
    )
    import_sheets(newer)
    assert "BR-21" in {it.code for it in einvoice.validate(core).findings}
    assert einvoice.validate(xrechnung).is_valid
    cii = einvoice.validate(sample("cii-invoice.xml"), ruleset="en16931-1.3.99")
    assert next(it for it in cii.stack.layers if it.name == "en16931").version == "1.3.16"
    einvoice.reference.remove("cen")
    assert einvoice.validate(core).is_valid


def test_older_one_applies_only_if_it_is_selected(newer, sample):
    newer.write_text(NEWER.replace("1.3.99", "1.1.5"), "utf-8")
    (release,) = import_sheets(newer).configuration.releases
    assert release.announced
    assert "en16931-1.1.5" in {it.name for it in einvoice.rule_sets()}
    result = einvoice.validate(sample("ubl-invoice.xml"), ruleset="en16931-1.1.5")
    assert "BR-21" in {it.code for it in result.findings}


def test_shipped_release_judges_beside(newer, capsys):
    newer.write_text(SHEET.replace("1.3.99", "1.3.16"), "utf-8")
    assert main(["rules", "import", str(newer), "--lang", "en"]) == 0
    assert "einvoice has these assertions itself, as en16931-1.3.16" in capsys.readouterr().err
    assert [it.name for it in einvoice.rule_sets() if it.imported] == []


def test_sheet_without_a_version_needs_one(newer):
    newer.write_text(NEWER.replace("Schematron version", ""), "utf-8")
    assert not import_sheets(newer).configuration.releases
    (release,) = import_sheets(newer, release="1.4", replace=True).configuration.releases
    assert release.version == "1.4"
    assert not import_sheets(newer, beside=True, replace=True).configuration.releases


@pytest.mark.parametrize(
    ("release", "reason"),
    [("1.3.16", "einvoice has release 1.3.16"), ("a b", "not a valid version"), ("x" * 50, "not a valid version")],
)
def test_version_is_refused(newer, release, reason):
    with pytest.raises(BundleRejected, match=reason):
        import_sheets(newer, release=release)


def test_national_sheet_with_the_assertions_is_no_release(newer):
    national = "".join(f'<assert id="BR-XX-{number}" test="true()">X</assert>' for number in range(5))
    newer.write_text(NEWER.replace("</rule>", f"{national}</rule>", 1), "utf-8")
    assert not import_sheets(newer).configuration.releases
    with pytest.raises(BundleRejected, match="no release of a rule set"):
        import_sheets(newer, release="2", replace=True)


def test_list_and_diff_say_what_it_consists_of(newer, capsys):
    import_sheets(newer)
    assert main(["rules", "list", "--lang", "en"]) == 0
    listed = capsys.readouterr().out
    assert "UBL: 3 rules of 1.3.16, 2 imported, 1 removed" in listed
    assert "imported: BR-21, BR-99" in listed
    found = rule_changes("en16931-1.3.16", "en16931-1.3.99")
    assert (found.added, found.changed) == (("BR-99",), ("BR-03", "BR-21")), "CII still has BR-03"
    assert "BR-99" in str(found)


def test_a_sheet_that_is_gone_did_not_run(newer, sample):
    made = import_sheets(newer)
    (made.configuration.folder / "cen.sch").write_text("damaged", "utf-8")
    result = einvoice.validate(sample("ubl-invoice.xml"), ruleset="en16931-1.3.99")
    assert ("REFERENCE-STOPPED", "fatal", "en16931") in of_en16931(result)
    assert not next(it for it in result.stack.layers if it.name == "en16931").executed


def test_an_assertion_that_stops_ends_the_layer_and_keeps_the_others(newer, sample):
    newer.write_text(NEWER.replace("number(cbc:ID) > 1", "xs:date(cbc:ID) > current-date()"), "utf-8")
    import_sheets(newer)
    result = einvoice.validate(sample("ubl-invoice.xml"), ruleset="en16931-1.3.99")
    assert {code for code, *_ in of_en16931(result)} == {"BR-99", "REFERENCE-STOPPED"}


def test_damaged_manifest_has_no_releases(newer):
    made = import_sheets(newer)
    manifest = made.configuration.folder.parent / "manifest.json"
    plain = json.loads(manifest.read_bytes())
    plain["releases"][0]["parts"] = [{}]
    manifest.write_text(json.dumps(plain, indent=1), "utf-8")
    manifest.parent.rename(manifest.parent.with_name("renamed"))  # the folder changes
    assert "en16931-1.3.99" not in {it.name for it in einvoice.rule_sets()}


def test_release_that_einvoice_has_by_now_is_not_used(newer, capsys):
    made = import_sheets(newer)
    manifest = made.configuration.folder.parent / "manifest.json"
    manifest.write_text(manifest.read_text("utf-8").replace('"1.3.99"', '"1.3.16"'), "utf-8")
    manifest.parent.rename(manifest.parent.with_name("renamed"))  # the folder changes
    assert not [it for it in einvoice.rule_sets() if it.imported]
    assert main(["rules", "list", "--lang", "en"]) == 0
    assert "en16931-1.3.16 is not used: einvoice has this release itself" in capsys.readouterr().out


@pytest.fixture
def invalid(tmp_path, sample, monkeypatch):
    """Return a folder with an invoice without a currency; the examples of the rules take too long here."""
    monkeypatch.setattr(compare_releases, "_examples", lambda *arguments: iter(()))
    folder = tmp_path / "documents"
    folder.mkdir()
    content = sample("ubl-invoice.xml").read_bytes()
    document = content.replace(b"<cbc:DocumentCurrencyCode>EUR", b"<cbc:DocumentCurrencyCode>")
    (folder / "no-currency.xml").write_bytes(document)
    (folder / "no-invoice.xml").write_bytes(b"<x/>")
    return folder


def test_sheet_and_rules_are_compared(newer, invalid):
    import_sheets(newer)
    (comparison,) = compare_releases.compare_releases(rule_data(), invalid)
    assert (comparison.part.syntax, comparison.stopped) == ("UBL", 0)
    assert comparison.documents > 1
    assert "no-currency.xml" in comparison.differences["BR-21", "imported"]
    assert "BR-05" not in {code for code, _ in comparison.differences}, "both report it"
    assert not {"BR-02", "BR-05", "BR-16", "BR-21", "BR-99"} & {code for code, _ in comparison.faults}


def test_unchanged_assertion_that_differs_is_a_fault(newer, invalid, monkeypatch):
    know(monkeypatch, NEWER)
    import_sheets(newer)
    (comparison,) = compare_releases.compare_releases(rule_data(), invalid)
    assert ("BR-21", "imported") in comparison.faults


def test_rule_data_of_another_process_is_restored_once(newer):
    import_sheets(newer)
    sent = pickle.dumps(rule_data())
    restored = pickle.loads(sent)
    assert restored is pickle.loads(sent)
    assert "en16931-1.3.99" in {it.name for it in releases(restored).all()}


def test_a_rule_that_is_removed_does_not_stop_the_layer(newer, sample, monkeypatch):
    name = b"<cbc:RegistrationName>"
    content = sample("ubl-invoice.xml").read_bytes()
    document = content.replace(name, name + b"First</cbc:RegistrationName>" + name, 1)

    def stops(release):
        return "LAYER-STOPPED" in {it.code for it in einvoice.validate(document, ruleset=release).findings}

    import_sheets(newer)
    assert stops("en16931-1.3.16")
    assert stops("en16931-1.3.99")
    know(monkeypatch, SHEET, **{"BR-06": "0" * 32})
    import_sheets(newer, replace=True)
    assert not stops("en16931-1.3.99")


def test_a_sheet_that_reached_a_limit_is_not_run_for_each_cause_that_is_tried(newer, sample, monkeypatch):
    loops = "count(for $a in //*, $b in //*, $c in //*, $d in //* return 1) = 0"
    newer.write_text(NEWER.replace("number(cbc:ID) = 1", loops), "utf-8")
    import_sheets(newer)
    runs, run = [], Program.run
    monkeypatch.setattr(Program, "run", lambda *arguments: runs.append(1) or run(*arguments))
    content = sample("ubl-invoice.xml").read_bytes()
    document = content.replace(b">400.00</cbc:PayableAmount>", b">9.99</cbc:PayableAmount>")
    result = einvoice.validate(document, ruleset="en16931-1.3.99")
    assert "REFERENCE-STOPPED" in {it.code for it in result.findings}
    assert "BR-CO-16" in {it.code for cause in result.causes() for it in cause.findings}
    assert len(runs) == 2, "the validation, and the first one of the search"
