"""KoSIT validator configurations: add, use, list, remove."""

import hashlib
import pickle
import sys
from collections import Counter

import pytest

from einvoice.cli import main
from einvoice.errors import DoctypeForbidden
from einvoice.reference import BundleRejected, configurations, engines, remove, validate
from einvoice.reference.process import limits
from einvoice.syntax import xml
from einvoice.syntax.detect import identify
from tests.helpers.bundle_files import (
    CORE,
    MATCH,
    SPECIFICATION,
    XSD_IMPORTED,
    files,
    packed,
    rule,
    scenario,
    scenarios,
    schema,
    stylesheet,
    template,
)

pytest.importorskip("saxonche")


@pytest.mark.parametrize("folder", ["", "configuration-1.0/"])
def test_added_configuration_is_used(folder, add_bundle, invoice, validate_reference):
    data = packed(files(), folder)
    configuration = add_bundle(data)
    assert (configuration.name, configuration.kind) == ("test", "configuration")
    assert configuration.title == "Configuration of the test"
    assert configuration.sha256 == hashlib.sha256(data).hexdigest()
    result = validate_reference(invoice)
    assert (result.configuration, result.scenario, result.complete) == ("test", "XRechnung (UBL)", True)
    xsd, core, national = result.runs
    assert (xsd.layer, xsd.title, xsd.reports) == ("schema", "The xsd/main/invoice.xsd", ())
    assert (core.layer, core.title, core.version, core.rules) == ("en16931", "The xsl/en.xsl", "1.3.99", 3)
    assert core.sha256 == hashlib.sha256(CORE).hexdigest()
    assert core.codes == {"BR-CL-23"}
    assert (national.layer, national.codes) == ("cius", {"BR-DE-1"})
    assert pickle.loads(pickle.dumps(result)) == result


def test_custom_levels_override_severities(add_bundle, invoice, validate_reference):
    levels = '<customLevel level="warning">BR-CL-23 BR-01</customLevel><customLevel level="error">BR-DE-1</customLevel>'
    add_bundle(packed(files(scenario(levels=levels))))
    _, core, national = validate_reference(invoice).runs
    assert [(it.code, it.flag, it.severity) for it in core.reports] == [("BR-CL-23", "fatal", "warning")]
    assert [(it.code, it.flag, it.severity) for it in national.reports] == [("BR-DE-1", "warning", "fatal")]


def test_findings_are_read_from_svrl(add_bundle, invoice, validate_reference):
    rules = [
        rule("A", attributes='flag="information" role="fatal"'),
        rule("B", attributes='role="warning"'),
        rule("C", attributes=""),
        rule("D", attributes='flag="error"'),
        rule("E", attributes='flag="gibberish"'),
        rule("F", kind="successful-report"),
        rule("", "[G-1] text"),
        rule("", "no code"),
    ]
    add_bundle(packed(files(others={"xsl/de.xsl": stylesheet(*rules)})))
    reports = validate_reference(invoice).runs[2].reports
    assert [(it.code, it.flag) for it in reports] == [
        ("A", "information"),
        ("B", "warning"),
        ("C", "fatal"),
        ("D", "fatal"),
        ("E", "fatal"),
        ("F", "fatal"),
        ("G-1", "fatal"),
        ("", "fatal"),
    ]
    assert (reports[0].test, reports[0].location) == ("false()", "/ubl:Invoice")


def test_findings_per_code_are_limited(add_bundle, invoice, validate_reference):
    often = f'<xsl:for-each select="1 to 1000">{rule("A", "x" * 5000)}</xsl:for-each>{rule("B")}'
    add_bundle(packed(files(others={"xsl/de.xsl": stylesheet(often)})))
    run = validate_reference(invoice).runs[2]
    assert Counter(it.code for it in run.reports) == {"A": limits.PER_CODE, "B": 1}
    assert len(run.reports[0].text) == limits.TEXT


def test_whitespace_in_texts_is_normalized(add_bundle, invoice, validate_reference):
    add_bundle(packed(files()))
    assert validate_reference(invoice).runs[2].reports[0].text == "A rule of the country"


def test_document_with_doctype_is_rejected(add_bundle, invoice, validate_reference):
    add_bundle(packed(files()))
    entity = invoice.replace(b"<Invoice", b'<!DOCTYPE Invoice [<!ENTITY a "b">]><Invoice', 1)
    with pytest.raises(DoctypeForbidden):
        validate(entity, identify(xml.parse(invoice)))


def test_first_matching_scenario_applies(add_bundle, invoice, validate_reference):
    add_bundle(
        packed(
            files(
                scenario("another specification", "exists(/ubl:Invoice[cbc:CustomizationID = 'urn:other'])"),
                scenario("stops", "xs:integer(/ubl:Invoice/cbc:CustomizationID) = 1"),
                scenario("the first", "exists(/ubl:Invoice)"),
                scenario("the second", MATCH),
            )
        )
    )
    assert validate_reference(invoice).scenario == "the first"
    other = invoice.replace(SPECIFICATION.encode(), b"urn:other")
    assert validate_reference(other).scenario == "another specification"


def test_newest_matching_configuration_applies(add_bundle, invoice, validate_reference):
    add_bundle(packed(files(scenario("old", "true()"))), "old.zip")
    add_bundle(packed(files(scenario("new"))), "new.zip")
    assert [it.name for it in configurations()] == ["new", "old"]
    assert validate_reference(invoice).scenario == "new"
    assert validate_reference(invoice.replace(SPECIFICATION.encode(), b"urn:other")).scenario == "old"


def test_unmatched_document_uses_the_bundled_configuration(add_bundle, sample, validate_reference):
    add_bundle(packed(files()))
    assert validate_reference(sample("cii-invoice.xml").read_bytes()).configuration == ""


def test_layer_of_an_extension(add_bundle, invoice, validate_reference):
    identifier = f"{SPECIFICATION}#conformant#urn:xeinkauf.de:kosit:extension:xrechnung_3.0"
    add_bundle(packed(files(scenario(match=MATCH.replace(SPECIFICATION, identifier)))))
    result = validate_reference(invoice.replace(SPECIFICATION.encode(), identifier.encode()))
    assert [run.layer for run in result.runs] == ["schema", "en16931", "extension"]


def test_schema_violations_are_reported(add_bundle, invoice, validate_reference):
    add_bundle(packed(files(others={"xsd/main/invoice.xsd": schema(max_occurs="3")})))
    run = validate_reference(invoice).runs[0]
    assert run.executed
    assert [(it.code, it.severity) for it in run.reports] == [("SCHEMAV_ELEMENT_CONTENT", "fatal")]
    assert run.reports[0].location
    assert "not expected" in run.reports[0].text


def test_comments_split_text_nodes_in_match_conditions(add_bundle, invoice, validate_reference):
    add_bundle(packed(files(scenario(match=f"/ubl:Invoice/cbc:CustomizationID/text() = '{SPECIFICATION}'"))))
    split = invoice.replace(b"#compliant#", b"#compliant<!-- -->#")
    assert (validate_reference(invoice).configuration, validate_reference(split).configuration) == ("test", "factur-x")


def test_encodings_and_supplementary_characters(add_bundle, invoice, validate_reference):
    condition = "<xsl:if test=\"//text()[contains(., '\U0001f600\u00fc')]\">"
    add_bundle(packed(files(others={"xsl/de.xsl": stylesheet(condition, rule("SEEN"), "</xsl:if>")})))
    text = invoice.decode().replace("LG-2026-0417", "\U0001f600\u00fc")
    for data in (text.encode(), text.encode("utf-8-sig"), text.replace('"UTF-8"', '"UTF-16"').encode("utf-16")):
        assert validate_reference(data).runs[2].codes == {"SEEN"}
    assert not validate_reference(invoice).runs[2].codes


def test_single_stylesheet_runs_after_the_configuration(add_bundle, invoice, validate_reference):
    add_bundle(packed(files()))
    own = add_bundle(stylesheet(rule("OWN-1")), "own.xslt")
    assert (own.kind, own.title) == ("schematron", "Rules of the test")
    result = validate_reference(invoice)
    assert result.configuration == "test"
    assert [(run.layer, sorted(run.codes)) for run in result.runs[2:]] == [("cius", ["BR-DE-1"]), ("cius", ["OWN-1"])]


def test_single_stylesheet_applies_to_matching_documents(add_bundle, invoice, validate_reference, sample):
    add_bundle(packed(files()))
    add_bundle(stylesheet(rule("OWN-1")), "own.xsl", match="/ubl:Invoice/cbc:ID = 'A-1'")
    assert len(validate_reference(invoice).runs) == 3
    assert validate_reference(invoice.replace(b"LG-2026-0417", b"A-1")).runs[3].codes == {"OWN-1"}
    assert all("OWN-1" not in run.codes for run in validate_reference(sample("cii-invoice.xml").read_bytes()).runs)


def test_replaced_configuration_applies_at_once(add_bundle, invoice, validate_reference):
    """Also if only included or imported files change."""
    start = stylesheet(rule("A"), '<xsl:call-template name="more"/>', before='<xsl:include href="more.xsl"/>')
    for code, kind in (("B", "string"), ("C", "integer")):
        files_by_name = {
            "scenarios.xml": scenarios(scenario(), title=code),
            "xsl/de.xsl": start,
            "xsl/more.xsl": template("more", rule(code)),
            "xsd/common/cbc.xsd": XSD_IMPORTED.replace(b"string", kind.encode()),
        }
        assert add_bundle(packed(files(others=files_by_name)), replace=True).title == code
        xsd, _, run = validate_reference(invoice).runs
        assert run.codes == {"A", code}
        assert any("xs:integer" in it.text for it in xsd.reports) == (kind == "integer")
    assert len(configurations()) == 1


def test_removed_configuration_is_not_used(add_bundle, invoice, validate_reference, rules_folder):
    add_bundle(packed(files()))
    remove("test")
    assert configurations() == ()
    assert [*rules_folder.iterdir()] == []
    assert validate_reference(invoice).configuration != "test"


@pytest.mark.parametrize("name", ["test", "../test", "", ".", "/"])
def test_removing_an_unknown_configuration_is_rejected(name, rules_folder):
    rules_folder.mkdir()
    with pytest.raises(BundleRejected) as raised:
        remove(name)
    assert raised.value.cause == "unknown"
    assert rules_folder.exists()


def test_engines_list_saxon_and_configurations(add_bundle):
    add_bundle(packed(files()))
    info = engines()
    assert info.saxon
    assert {"time", "memory"} <= {*info.bounded} or sys.platform == "darwin"
    assert [(it.name, it.kind) for it in info.configurations] == [("test", "configuration"), ("factur-x", "bundled")]


def test_invalid_manifest_is_ignored(add_bundle, rules_folder, invoice, validate_reference):
    add_bundle(packed(files()))
    (rules_folder / "test" / "manifest.json").write_text('{"name": 3}')
    assert configurations() == ()
    assert validate_reference(invoice).configuration != "test"


def test_commands(file, capsys):
    path = str(file(packed(files())))
    assert main(["rules", "add", path, "--name", "own"]) == 0
    assert "own ist hinzugefügt: Configuration of the test" in capsys.readouterr().out
    assert main(["rules", "add", path, "--name", "own"]) == 2
    assert "own gibt es schon" in capsys.readouterr().err
    assert main(["rules", "add", path, "--name", "own", "--replace", "--lang", "en"]) == 0
    capsys.readouterr()
    assert main(["rules", "list", "--lang", "en"]) == 0
    listed = capsys.readouterr().out
    for words in ("XSLT processor: saxonche", "own  Configuration", "configuration, since 20", "The xsl/en.xsl 1.3.99"):
        assert words in listed
    assert main(["rules", "remove", "own", "--lang", "en"]) == 0
    assert main(["rules", "remove", "own", "--lang", "en"]) == 2
    assert "There is no configuration with the name own." in capsys.readouterr().err


def test_default_folder_is_in_the_user_data_directory(add_bundle, tmp_path, monkeypatch):
    monkeypatch.delenv("EINVOICE_RULES_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert add_bundle(packed(files())).folder.is_relative_to(tmp_path / "data" / "einvoice" / "rules" / "test")
