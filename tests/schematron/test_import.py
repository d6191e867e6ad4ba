"""`einvoice rules import`: what is stored, what it judges, what the findings say, and what is refused."""

import zipfile

import pytest

import einvoice
from einvoice.cli import main
from einvoice.reference import BundleRejected
from einvoice.reference.bundles.imports import import_sheets

SHEET = """\
<schema xmlns="http://purl.oclc.org/dsdl/schematron" queryBinding="xslt2">
  <title>House rules</title>
  <ns prefix="cac" uri="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"/>
  <ns prefix="cbc" uri="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"/>
  <ns prefix="ubl" uri="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"/>
  <pattern>
    <rule context="cac:InvoiceLine">
      <assert id="HOUSE-1" flag="warning" test="cbc:Note">[HOUSE-1] - Line <value-of select="cbc:ID"/> has no note
        {3}.</assert>
      <assert id="BR-21" flag="fatal" test="cbc:ID != '2'">Own text.</assert>
    </rule>
    <rule context="/ubl:Invoice">
      <assert id="HOUSE-2" test="xs:date(cbc:ID) lt xs:date('2030-01-01')">Date</assert>
    </rule>
  </pattern>
</schema>"""


@pytest.fixture
def sheet(tmp_path, monkeypatch):
    monkeypatch.setenv("EINVOICE_RULES_DIR", str(tmp_path / "rules"))
    file = tmp_path / "house.sch"
    file.write_text(SHEET.replace('"/ubl:Invoice"', '"/ubl:Unknown"'), "utf-8")
    return file


def found(document, **options):
    return [it for it in einvoice.validate(document, **options).findings if it.kind == "imported"]


def test_findings_have_message_severity_place_and_term(sheet, sample):
    document = sample("ubl-invoice.xml")
    assert found(document) == []
    made = import_sheets(sheet)
    assert (made.assertions, made.refused, made.configuration.title) == (3, [], "House rules")
    result = einvoice.validate(document, lang="en")
    assert not result.is_valid
    first, *_ = (it for it in result.findings if it.code == "HOUSE-1")
    assert (first.severity, first.layer, first.validation_layer) == ("warning", "house", "imported")
    assert first.title("de") == "Line 1 has no note {3}."
    assert first.terms == ("BG-25",)
    assert first.xpath.endswith("cac:InvoiceLine[1]")
    (known,) = (it for it in result.findings if it.layer == "house" and it.code == "BR-21")
    assert known.title("en") == "Own text.", "a code in common with EN 16931 is a coincidence"
    layer = next(it for it in result.stack.layers if it.name == "house")
    assert (layer.kind, layer.rules, layer.executed) == ("imported", 3, True)


TEXTS = """\
code     = "HOUSE-1"
severity = "warning"
section  = "lines"
terms    = ["BT-127"]

[it]
title       = "Manca la nota"
explanation = "Ogni riga ha una nota."
fix         = "Aggiungere la nota."
"""


def test_texts_beside_a_sheet_replace_its_message(sheet, sample):
    folder = sheet.parent / "texts"
    folder.mkdir()
    (folder / "HOUSE-1.toml").write_text(TEXTS.replace("[it]", "[fr]"), "utf-8")
    import_sheets(sheet)
    first = next(it for it in found(sample("ubl-invoice.xml")) if it.code == "HOUSE-1")
    assert (first.title("fr"), first.fix("de"), first.terms) == ("Manca la nota", "Aggiungere la nota.", ("BT-127",))
    assert first.severity == "warning"


def test_invalid_texts_are_refused(sheet):
    folder = sheet.parent / "texts"
    folder.mkdir()
    (folder / "HOUSE-1.toml").write_text(TEXTS, "utf-8")
    with pytest.raises(BundleRejected, match=r"HOUSE-1\.toml.*it.* is not a known key"):
        import_sheets(sheet)


def test_sheet_with_many_codes_of_a_rule_set_has_its_texts(sheet, sample):
    codes = [f"BR-{number:02}" for number in (*range(1, 10), 21)]
    asserts = "".join(f'<assert id="{code}" test="false()">Text of {code}.</assert>' for code in codes)
    rule = f'<rule context="/ubl:Invoice">{asserts}</rule>'
    sheet.write_text(f"{SHEET.partition('<pattern>')[0]}<pattern>{rule}</pattern></schema>", "utf-8")
    import_sheets(sheet)
    titles = {it.code: it.title("en") for it in found(sample("ubl-invoice.xml"))}
    assert titles == {code: einvoice.catalog()[code].title("en") for code in codes}


def test_only_documents_of_the_condition_are_judged(sheet, sample):
    import_sheets(sheet, match="exists(//cac:InvoiceLine[4])")
    assert found(sample("ubl-invoice.xml")) == []
    import_sheets(sheet, match="exists(//cac:InvoiceLine[3])", replace=True)
    assert found(sample("ubl-invoice.xml"))
    assert found(sample("cii-invoice.xml")) == []


def test_a_sheet_that_stops_did_not_run(sheet, sample):
    sheet.write_text(SHEET, "utf-8")
    import_sheets(sheet)
    result = einvoice.validate(sample("ubl-invoice.xml"), lang="en")
    (finding,) = (it for it in result.findings if it.layer == "house")
    assert finding.code == "REFERENCE-STOPPED"
    assert "FORG0001" in finding.explanation("en")
    assert not result.is_valid
    assert not next(it for it in result.stack.layers if it.name == "house").executed


def test_command_imports_lists_and_removes(sheet, sample, capsys):
    assert main(["rules", "import", str(sheet), "--lang", "en"]) == 0
    assert "House rules, 3 assertions" in capsys.readouterr().out
    assert main(["validate", str(sample("ubl-invoice.xml")), "--lang", "en"]) == 1
    assert "has no note" in capsys.readouterr().out
    assert main(["rules", "list", "--lang", "en"]) == 0
    listed = capsys.readouterr().out
    assert "imported, applied to each validation" in listed
    assert "applies to: exists(/ubl:Invoice | /cn:CreditNote)" in listed
    assert main(["rules", "import", str(sheet), "--lang", "en"]) == 2
    assert "--replace" in capsys.readouterr().err
    assert main(["rules", "remove", "house", "--lang", "en"]) == 0
    assert found(sample("ubl-invoice.xml")) == []


def test_what_cannot_be_compiled_is_refused_unless_left_out(sheet, sample, capsys):
    sheet.write_text(sheet.read_text("utf-8").replace("cbc:Note", "doc('http://example.org')"), "utf-8")
    with pytest.raises(BundleRejected, match=r"1 / 3 assertions .* HOUSE-1 \(line 8\): the file http"):
        import_sheets(sheet)
    assert main(["rules", "import", str(sheet), "--partial", "--lang", "en"]) == 0
    assert "Left out: HOUSE-1 (line 8)" in capsys.readouterr().err
    assert {it.code for it in found(sample("ubl-invoice.xml"))} == {"BR-21"}


def test_archive_with_several_sheets_and_an_included_one(sheet, sample, tmp_path):
    archive = tmp_path / "set.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("a/house.sch", sheet.read_text("utf-8"))
        packed.writestr("b/other.sch", sheet.read_text("utf-8").replace("HOUSE-1", "OTHER-1"))
        packed.writestr("readme.txt", "no sheet")
    assert import_sheets(archive).assertions == 6
    assert {it.code for it in found(sample("ubl-invoice.xml"))} == {"HOUSE-1", "OTHER-1", "BR-21"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("no xml", "neither Schematron"),
        ("<x/>", "neither Schematron"),
        ('<!DOCTYPE x [<!ENTITY e "e">]><x/>', "neither Schematron"),
        (SHEET.replace("urn:oasis", "urn:other"), "--match"),
        (SHEET.replace("<pattern>", '<include href="../other.sch"/><pattern>'), "not beside the sheet"),
        (SHEET.replace("<pattern>", '<pattern><rule context="x"><extends href="x.sch"/></rule>'), "not beside"),
        (f"<!DOCTYPE schema []>{SHEET}", "it has a DTD .* remove it"),
        (SHEET.replace('test="cbc:Note"', 'test="following::node()"'), r"write following::\*"),
    ],
)
def test_refused_file_names_the_reason(sheet, content, reason):
    sheet.write_text(content, "utf-8")
    with pytest.raises(BundleRejected, match=reason):
        import_sheets(sheet)


@pytest.mark.parametrize("name", ["en16931", "xrechnung", "schema", "factur-x"])
def test_names_of_layers_are_reserved(sheet, name):
    with pytest.raises(BundleRejected, match="shipped"):
        import_sheets(sheet, name=name)


def test_condition_that_is_no_xpath_is_refused(sheet):
    with pytest.raises(BundleRejected, match="found ''"):
        import_sheets(sheet, match="count(")


def test_a_stored_sheet_that_cannot_be_read_did_not_run(sheet, sample):
    made = import_sheets(sheet)
    stored = made.configuration.folder / "house.sch"
    stored.write_text("damaged", "utf-8")
    result = einvoice.validate(sample("ubl-invoice.xml"))
    assert [it.code for it in result.findings if it.layer == "house"] == ["REFERENCE-STOPPED"]
    assert not result.is_valid


def test_includes_are_relative_to_the_file_that_states_them(sheet, sample, tmp_path):
    text = sheet.read_text("utf-8")
    start, end = text.index("<pattern>"), text.index("</pattern>") + len("</pattern>")
    part = text[start:end].replace("<pattern>", '<pattern xmlns="http://purl.oclc.org/dsdl/schematron">')
    archive = tmp_path / "set.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("set/main.sch", text[:start] + '<include href="parts/a.sch"/>' + text[end:])
        packed.writestr("set/parts/a.sch", part)
    import_sheets(archive)
    assert {it.code for it in found(sample("ubl-invoice.xml"))} == {"HOUSE-1", "BR-21"}


STYLESHEET = """\
<xsl:stylesheet version="2.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
  xmlns:svrl="http://purl.oclc.org/dsdl/svrl"
  xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"
  xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
  <xsl:output method="xml"/>
  <xsl:template match="/">
    <svrl:schematron-output title="House"><xsl:apply-templates select="/" mode="M1"/></svrl:schematron-output>
  </xsl:template>
  <xsl:template match="cac:InvoiceLine" priority="1" mode="M1">
    <svrl:fired-rule context="cac:InvoiceLine"/>
    <xsl:choose xmlns:b="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
      <xsl:when test="b:Note"/>
      <xsl:otherwise>
        <svrl:failed-assert id="HOUSE-1" flag="warning" test="b:Note">
          <xsl:attribute name="location">/*</xsl:attribute>
          <svrl:text>No note</svrl:text>
        </svrl:failed-assert>
      </xsl:otherwise>
    </xsl:choose>
    <xsl:apply-templates select="*" mode="M1"/>
  </xsl:template>
  <xsl:template match="@*|node()" priority="-2" mode="M1"><xsl:apply-templates select="*" mode="M1"/></xsl:template>
</xsl:stylesheet>"""


@pytest.fixture
def stylesheet(sheet):
    return sheet.rename(sheet.with_suffix(".xslt"))


def test_prefixes_inside_a_template_are_known(stylesheet, sample):
    stylesheet.write_text(STYLESHEET, "utf-8")
    import_sheets(stylesheet)
    assert {it.code for it in found(sample("ubl-invoice.xml"))} == {"HOUSE-1"}


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("<xsl:output", '<xsl:strip-space elements="*"/><xsl:output', r"line 5: xsl:strip-space .* remove it"),
        (
            '<xsl:apply-templates select="*" mode="M1"/>\n',
            "\n",
            r"line 9: .* end the template with <xsl:apply-templates>",
        ),
        ("<svrl:text>", '<svrl:text xmlns:b="urn:b">', r"line 16: the prefix 'b' has two namespaces .* another prefix"),
    ],
)
def test_what_a_stylesheet_must_not_have_is_named(stylesheet, old, new, reason):
    stylesheet.write_text(STYLESHEET.replace(old, new), "utf-8")
    with pytest.raises(BundleRejected, match=reason):
        import_sheets(stylesheet)


def test_rule_extends_one_of_another_file(sheet, sample, tmp_path):
    archive, text = tmp_path / "set.zip", sheet.read_text("utf-8")
    shared = (
        '<rule xmlns="http://purl.oclc.org/dsdl/schematron" abstract="true" id="r">'
        '<let name="limit" value="1"/><assert id="HOUSE-3" test="number(cbc:ID) &gt; $limit">Number</assert></rule>'
    )
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr(
            "set/main.sch", text.replace('<assert id="HOUSE-1"', '<extends href="parts/r.sch"/><assert id="HOUSE-1"')
        )
        packed.writestr("set/parts/r.sch", shared)
    import_sheets(archive)
    assert {it.code for it in found(sample("ubl-invoice.xml"))} == {"HOUSE-1", "HOUSE-3", "BR-21"}


@pytest.mark.slow
def test_official_engine_runs_the_imported_stylesheet(stylesheet, sample):
    pytest.importorskip("saxonche")
    stylesheet.write_text(STYLESHEET, "utf-8")
    import_sheets(stylesheet)
    document = sample("ubl-invoice.xml")
    alone = einvoice.validate(document, engine="reference")
    assert [it.code for it in alone.findings if it.layer == "house"] == ["HOUSE-1"] * 3
    both = einvoice.validate(document, engine="both")
    assert "house" in both.agreement.compared
    assert not [it for it in (*both.agreement.only_native, *both.agreement.only_reference) if it.layer == "house"]


@pytest.mark.slow
def test_official_engine_does_not_run_schematron(sheet, sample):
    pytest.importorskip("saxonche")
    import_sheets(sheet)
    result = einvoice.validate(sample("ubl-invoice.xml"), engine="reference")
    assert "REFERENCE-MISSING" in {it.code for it in result.findings if it.layer == "house"}
