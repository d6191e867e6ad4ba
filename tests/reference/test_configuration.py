"""KoSIT validator configurations: add, use, list, remove."""

import hashlib
import pickle
from collections import Counter

import pytest

from einvoice.cli import main
from einvoice.errors import DoctypeForbidden
from einvoice.reference import BundleRejected, configurations, engines, remove, validate
from einvoice.reference.process import limits
from einvoice.syntax import xml
from einvoice.syntax.detect import identify

from .made import (
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


@pytest.mark.parametrize("top", ["", "configuration-1.0/"])
def test_it_judges_from_now_on(top, added, invoice, judged):
    data = packed(files(), top)
    configuration = added(data)
    assert (configuration.name, configuration.kind) == ("test", "configuration")
    assert configuration.title == "Configuration of the test"
    assert configuration.sha256 == hashlib.sha256(data).hexdigest()
    verdict = judged(invoice)
    assert (verdict.configuration, verdict.scenario, verdict.complete) == ("test", "XRechnung (UBL)", True)
    xsd, core, national = verdict.runs
    assert (xsd.layer, xsd.title, xsd.reports) == ("schema", "The xsd/main/invoice.xsd", ())
    assert (core.layer, core.title, core.version, core.rules) == ("en16931", "The xsl/en.xsl", "1.3.99", 3)
    assert core.sha256 == hashlib.sha256(CORE).hexdigest()
    assert core.codes == {"BR-CL-23"}
    assert (national.layer, national.codes) == ("cius", {"BR-DE-1"})
    assert pickle.loads(pickle.dumps(verdict)) == verdict


def test_severities_of_the_scenario_override_those_of_the_rules(added, invoice, judged):
    levels = '<customLevel level="warning">BR-CL-23 BR-01</customLevel><customLevel level="error">BR-DE-1</customLevel>'
    added(packed(files(scenario(levels=levels))))
    _, core, national = judged(invoice).runs
    assert [(it.code, it.flag, it.severity) for it in core.reports] == [("BR-CL-23", "fatal", "warning")]
    assert [(it.code, it.flag, it.severity) for it in national.reports] == [("BR-DE-1", "warning", "fatal")]


def test_reports_are_read_as_they_are_written(added, invoice, judged):
    rules = [
        rule("A", attributes='flag="information" role="fatal"'),
        rule("B", attributes='role="warning"'),
        rule("C", attributes=""),
        rule("D", attributes='flag="error"'),
        rule("E", attributes='flag="gibberish"'),
        rule("F", kind="successful-report"),
        rule("", "[G-1] said so"),
        rule("", "who knows"),
    ]
    added(packed(files(others={"xsl/de.xsl": stylesheet(*rules)})))
    reports = judged(invoice).runs[2].reports
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


def test_a_rule_that_repeats_itself_is_told_so_often(added, invoice, judged):
    often = f'<xsl:for-each select="1 to 1000">{rule("A", "x" * 5000)}</xsl:for-each>{rule("B")}'
    added(packed(files(others={"xsl/de.xsl": stylesheet(often)})))
    run = judged(invoice).runs[2]
    assert Counter(it.code for it in run.reports) == {"A": limits.PER_CODE, "B": 1}
    assert len(run.reports[0].text) == limits.TEXT


def test_white_space_of_a_text_is_folded(added, invoice, judged):
    added(packed(files()))
    assert judged(invoice).runs[2].reports[0].text == "A rule of the country"


def test_a_document_that_nobody_should_parse_is_refused(added, invoice, judged):
    added(packed(files()))
    entity = invoice.replace(b"<Invoice", b'<!DOCTYPE Invoice [<!ENTITY a "b">]><Invoice', 1)
    with pytest.raises(DoctypeForbidden):
        validate(entity, identify(xml.parse(invoice)))


def test_the_first_scenario_that_takes_the_document_counts(added, invoice, judged):
    added(
        packed(
            files(
                scenario("another specification", "exists(/ubl:Invoice[cbc:CustomizationID = 'urn:other'])"),
                scenario("stops", "xs:integer(/ubl:Invoice/cbc:CustomizationID) = 1"),
                scenario("the first", "exists(/ubl:Invoice)"),
                scenario("the second", MATCH),
            )
        )
    )
    assert judged(invoice).scenario == "the first"
    other = invoice.replace(SPECIFICATION.encode(), b"urn:other")
    assert judged(other).scenario == "another specification"


def test_the_newest_configuration_counts_that_takes_the_document(added, invoice, judged):
    added(packed(files(scenario("old", "true()"))), "old.zip")
    added(packed(files(scenario("new"))), "new.zip")
    assert [it.name for it in configurations()] == ["new", "old"]
    assert judged(invoice).scenario == "new"
    assert judged(invoice.replace(SPECIFICATION.encode(), b"urn:other")).scenario == "old"


def test_what_no_configuration_takes_is_judged_by_what_is_bundled(added, sample, judged):
    added(packed(files()))
    assert judged(sample("cii-invoice.xml").read_bytes()).configuration == ""


def test_the_layer_of_an_extension(added, invoice, judged):
    identifier = f"{SPECIFICATION}#conformant#urn:xeinkauf.de:kosit:extension:xrechnung_3.0"
    added(packed(files(scenario(match=MATCH.replace(SPECIFICATION, identifier)))))
    verdict = judged(invoice.replace(SPECIFICATION.encode(), identifier.encode()))
    assert [run.layer for run in verdict.runs] == ["schema", "en16931", "extension"]


def test_violations_of_the_schema_are_reports(added, invoice, judged):
    added(packed(files(others={"xsd/main/invoice.xsd": schema(most="3")})))
    run = judged(invoice).runs[0]
    assert run.executed
    assert [(it.code, it.severity) for it in run.reports] == [("SCHEMAV_ELEMENT_CONTENT", "fatal")]
    assert run.reports[0].location
    assert "not expected" in run.reports[0].text


def test_comments_are_seen_as_the_artefact_sees_them(added, invoice, judged):
    added(packed(files(scenario(match=f"/ubl:Invoice/cbc:CustomizationID/text() = '{SPECIFICATION}'"))))
    split = invoice.replace(b"#compliant#", b"#compliant<!-- -->#")
    assert (judged(invoice).configuration, judged(split).configuration) == ("test", "factur-x")


def test_characters_of_all_planes_and_other_encodings(added, invoice, judged):
    condition = "<xsl:if test=\"//text()[contains(., '\U0001f600\u00fc')]\">"
    added(packed(files(others={"xsl/de.xsl": stylesheet(condition, rule("SEEN"), "</xsl:if>")})))
    text = invoice.decode().replace("LG-2026-0417", "\U0001f600\u00fc")
    for data in (text.encode(), text.encode("utf-8-sig"), text.replace('"UTF-8"', '"UTF-16"').encode("utf-16")):
        assert judged(data).runs[2].codes == {"SEEN"}
    assert not judged(invoice).runs[2].codes


def test_a_single_stylesheet_runs_after_what_there_is(added, invoice, judged):
    added(packed(files()))
    own = added(stylesheet(rule("OWN-1")), "own.xslt")
    assert (own.kind, own.title) == ("schematron", "Rules of the test")
    verdict = judged(invoice)
    assert verdict.configuration == "test"
    assert [(run.layer, sorted(run.codes)) for run in verdict.runs[2:]] == [("cius", ["BR-DE-1"]), ("cius", ["OWN-1"])]


def test_a_single_stylesheet_is_for_the_invoices_that_it_is_said_to_be_for(added, invoice, judged, sample):
    added(packed(files()))
    added(stylesheet(rule("OWN-1")), "own.xsl", match="/ubl:Invoice/cbc:ID = 'A-1'")
    assert len(judged(invoice).runs) == 3
    assert judged(invoice.replace(b"LG-2026-0417", b"A-1")).runs[3].codes == {"OWN-1"}
    assert all("OWN-1" not in run.codes for run in judged(sample("cii-invoice.xml").read_bytes()).runs)


def test_replaced_it_judges_otherwise_at_once(added, invoice, judged):
    """Even if nothing but what is included or imported is another one."""
    start = stylesheet(rule("A"), '<xsl:call-template name="more"/>', before='<xsl:include href="more.xsl"/>')
    for code, kind in (("B", "string"), ("C", "integer")):
        others = {
            "scenarios.xml": scenarios(scenario(), title=code),
            "xsl/de.xsl": start,
            "xsl/more.xsl": template("more", rule(code)),
            "xsd/common/cbc.xsd": XSD_IMPORTED.replace(b"string", kind.encode()),
        }
        assert added(packed(files(others=others)), replace=True).title == code
        xsd, _, run = judged(invoice).runs
        assert run.codes == {"A", code}
        assert any("xs:integer" in it.text for it in xsd.reports) == (kind == "integer")
    assert len(configurations()) == 1


def test_removed_it_is_gone(added, invoice, judged, rules_folder):
    added(packed(files()))
    remove("test")
    assert configurations() == ()
    assert [*rules_folder.iterdir()] == []
    assert judged(invoice).configuration != "test"


@pytest.mark.parametrize("name", ["test", "../test", "", ".", "/"])
def test_what_is_not_there_cannot_be_removed(name, rules_folder):
    rules_folder.mkdir()
    with pytest.raises(BundleRejected) as refused:
        remove(name)
    assert refused.value.cause == "unknown"
    assert rules_folder.exists()


def test_engines_tell_what_there_is(added):
    added(packed(files()))
    there = engines()
    assert there.saxon
    assert [(it.name, it.kind) for it in there.configurations] == [("test", "configuration"), ("factur-x", "bundled")]


def test_a_manifest_that_nobody_understands_does_no_harm(added, rules_folder, invoice, judged):
    added(packed(files()))
    (rules_folder / "test" / "manifest.json").write_text('{"name": 3}')
    assert configurations() == ()
    assert judged(invoice).configuration != "test"


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


def test_the_folder_is_the_users_own_unless_another_is_chosen(added, tmp_path, monkeypatch):
    monkeypatch.delenv("EINVOICE_RULES_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert added(packed(files())).folder.is_relative_to(tmp_path / "data" / "einvoice" / "rules" / "test")
