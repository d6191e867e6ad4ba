"""A sheet of our own in both forms: which rule judges which node, messages, and what is refused."""

import pytest
from lxml import etree

from einvoice.schematron.errors import LimitReached, NotCompilable, Stopped
from einvoice.schematron.sheets import iso
from einvoice.schematron.tree import Document
from tests.schematron.sheets import DOCUMENT, SCHEMATRON, codes, program

COMPILED = """\
<xsl:stylesheet xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:svrl="http://purl.oclc.org/dsdl/svrl"
    xmlns:t="urn:test" xmlns:f="urn:f" xmlns:xs="http://www.w3.org/2001/XMLSchema" version="2.0">
  <xsl:function name="f:fits" as="xs:boolean">
    <xsl:param name="price" as="xs:decimal?"/>
    <xsl:variable name="least" select="1.00"/>
    <xsl:choose>
      <xsl:when test="empty($price)"><xsl:sequence select="false()"/></xsl:when>
      <xsl:otherwise><xsl:sequence select="$price ge $least"/></xsl:otherwise>
    </xsl:choose>
  </xsl:function>
  <xsl:template match="/">
    <svrl:schematron-output title="Orders"><xsl:apply-templates select="/" mode="M1"/></svrl:schematron-output>
  </xsl:template>
  <xsl:template match="t:line[t:sum]" priority="1001" mode="M1">
    <svrl:fired-rule context="t:line[t:sum]"/>
    <xsl:variable name="name" select="string(t:name)"/>
    <xsl:choose>
      <xsl:when test="f:fits(t:price)"/>
      <xsl:otherwise>
        <svrl:failed-assert test="f:fits(t:price)">
          <xsl:attribute name="id">C-1</xsl:attribute>
          <svrl:text>The price of <xsl:text/><xsl:value-of select="$name"/><xsl:text/> is low.</svrl:text>
        </svrl:failed-assert>
      </xsl:otherwise>
    </xsl:choose>
    <xsl:if test="t:count = 2">
      <svrl:successful-report id="C-2" flag="warning"><svrl:text>Two of <xsl:value-of select="$name"/></svrl:text>
      </svrl:successful-report>
    </xsl:if>
    <xsl:apply-templates select="*" mode="M1"/>
    <xsl:apply-templates select="*" mode="M1"/>
  </xsl:template>
  <xsl:template match="t:line" priority="1000" mode="M1">
    <svrl:fired-rule context="t:line"/>
    <xsl:for-each select="t:name"><xsl:if test=". = ''"><svrl:failed-assert id="C-3"/></xsl:if></xsl:for-each>
    <xsl:if test="true()"><svrl:failed-assert test="[A-Z]{3}"/></xsl:if>
    <xsl:apply-templates select="*" mode="M1"/>
  </xsl:template>
</xsl:stylesheet>"""


def test_schematron_judges_each_node_by_the_first_rule_of_a_pattern():
    found = program(SCHEMATRON)
    assert (found.refused, found.sheet.title) == ([], "Orders")
    assert codes(found) == ["T-1", "T-4", "T-5"]
    reports = {it.assertion.code: it for it in found.run(Document(etree.fromstring(DOCUMENT.encode())))}
    assert reports["T-1"].message == "The name has no content."
    assert reports["T-5"].message == "line without a price."
    assert (reports["T-1"].assertion.flag, reports["T-4"].assertion.flag) == ("warning", "information")


def test_messages_have_the_values():
    found = program(SCHEMATRON)
    changed = DOCUMENT.replace("8.51", "8.50").replace(" DE ", "IT")
    reports = {it.assertion.code: it for it in found.run(Document(etree.fromstring(changed.encode())))}
    assert reports["T-2"].message == "Found 8.50, calculated 8.51."
    assert reports["T-6"].node.name == "code"


def test_a_sheet_that_stops_gives_no_verdict():
    with pytest.raises(Stopped, match="FORG0001"):
        program(SCHEMATRON).run(Document(etree.fromstring(DOCUMENT.replace("4.50", "four").encode())))


def test_compiled_sheet():
    found = program(COMPILED)
    assert (found.refused, codes(found)) == ([], ["C-2", "C-3", "[A-Z]3"])
    changed = DOCUMENT.replace("1.50", "0.99")
    reports = {it.assertion.code: it for it in found.run(Document(etree.fromstring(changed.encode())))}
    assert reports["C-1"].message == "The price of Pen is low."


def test_assertions_in_loops_judge_each_node_of_them():
    loops = """<xsl:if test="@no"><xsl:for-each select="t:name | t:count"><xsl:if test="string(.)">
      <xsl:for-each select="..//t:price"><xsl:if test=". = $of or . = 'x'"><svrl:failed-assert id="C-3">
      <svrl:text>no <xsl:value-of select="../@no"/></svrl:text></svrl:failed-assert></xsl:if></xsl:for-each>
      </xsl:if></xsl:for-each></xsl:if>"""
    start = COMPILED.index("<xsl:for-each")
    end = COMPILED.index("</xsl:for-each>") + len("</xsl:for-each>")
    sheet = f'{COMPILED[:start]}<xsl:variable name="of" select="t:none"/>{loops}{COMPILED[end:]}'
    found = program(sheet)
    reports = found.run(Document(etree.fromstring(DOCUMENT.encode())))
    in_loop = [(it.node.text, it.message) for it in reports if it.assertion.code == "C-3"]
    assert in_loop == [("x", "no 3")]  # the third line has a count, and an empty name
    refused = program(sheet.replace("..//t:price", "..//t:price/string()")).refused
    assert [(it.code, it.reason) for it in refused] == [("C-3", "it is in a loop through values that may be no nodes")]


def test_loops_in_loops_end():
    start, end = COMPILED.index("<xsl:for-each"), COMPILED.index("</xsl:for-each>") + len("</xsl:for-each>")
    loops = '<xsl:for-each select="//*">' * 6 + '<svrl:failed-assert id="C-3"/>' + "</xsl:for-each>" * 6
    with pytest.raises(LimitReached, match="reports"):
        codes(program(COMPILED[:start] + loops + COMPILED[end:]))


def test_endless_recursion_ends():
    endless = COMPILED.replace('select="$price ge $least"', 'select="f:fits($price + 1)"')
    with pytest.raises(LimitReached):
        codes(program(endless))


def test_includes_stay_in_the_folder(tmp_path):
    text = SCHEMATRON.replace("<let", '<include href="../secret.sch"/><let', 1)
    (tmp_path.parent / "secret.sch").write_text("<x/>")
    with pytest.raises(NotCompilable, match="not beside"):
        iso.read(etree.fromstring(text.encode()), tmp_path, etree.fromstring)


def test_what_is_not_defined_is_told_with_its_line():
    with pytest.raises(NotCompilable, match="line 10: the pattern 'empty' is not defined"):
        program(SCHEMATRON.replace('is-a="filled"', 'is-a="empty"'))
    line = SCHEMATRON[: SCHEMATRON.index("T-6")].count("\n") + 1
    broken = SCHEMATRON.replace("normalize-space(.) = $allowed", "unheard-of(.)")
    assert [(it.code, it.line) for it in program(broken).refused] == [("T-6", line)]


def test_deep_document_needs_no_recursion():
    deep = "<a>" * 2_000 + "</a>" * 2_000
    root = etree.fromstring(deep.encode(), etree.XMLParser(huge_tree=True))
    assert program(SCHEMATRON).run(Document(root)) == []


def schema(*patterns: str, attributes: str = "", before: str = "") -> str:
    """Return a Schematron with these patterns, whose prefix `t` is that of the document."""
    return (
        f'<schema xmlns="http://purl.oclc.org/dsdl/schematron" {attributes}><ns prefix="t" uri="urn:test"/>'
        f"{before}{''.join(patterns)}</schema>"
    )


def pattern(content: str, name: str = "p", let: str = "") -> str:
    return f'<pattern id="{name}">{let}<rule context="{content}</rule></pattern>'


def test_variables_of_a_pattern_are_its_own():
    one = pattern('t:total"><assert id="A" test="$x = 1"/>', "a", '<let name="x" value="1"/>')
    two = pattern('t:total"><assert id="B" test="$x = 2"/>', "b", '<let name="x" value="2"/>')
    assert codes(program(schema(one, two))) == []
    of_document = pattern(
        't:total"><assert id="A" test="$x = 3"/>', "a", '<let name="x" value="count(t:order/t:line)"/>'
    )
    assert codes(program(schema(of_document))) == []


def test_only_the_default_phase_is_active():
    phases = '<phase id="one"><active pattern="a"/></phase>'
    both = [
        pattern('t:total"><assert id="A" test="false()"/>', "a"),
        pattern('t:total"><assert id="B" test="false()"/>'),
    ]
    assert codes(program(schema(*both, before=phases))) == ["A", "B"]
    assert codes(program(schema(*both, before=phases, attributes='defaultPhase="one"'))) == ["A"]
    with pytest.raises(NotCompilable, match="phase 'two'"):
        program(schema(*both, before=phases, attributes='defaultPhase="two"'))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('t:note/text()"><assert id="A" test="false()"/>', "as a context"),
        ('t:total"><assert id="A" test="count(comment()) = 0"/>', "comment"),
        ('t:total"><assert id="A" test="count(node()) = 0"/>', "node()"),
        ('t:total"><let name="x" value="1"/><let name="x" value="$x + 1"/><assert id="A" test="$x = 2"/>', "twice"),
        ('t:total"><let name="x"><b>1</b></let><assert id="A" test="$x = 1"/>', "declared type"),
    ],
)
def test_what_has_no_meaning_here_is_refused(content, reason):
    ((code, _, told),) = program(schema(pattern(content))).refused
    assert (code, reason in told) == ("A", True), told


def test_an_error_in_a_context_is_no_match_and_a_limit_ends_the_sheet():
    of_error = pattern('t:line[xs:decimal(t:price) = 2.005]"><assert id="A" test="false()"/>')
    assert codes(program(schema(of_error))) == ["A"]
    of_limit = pattern("t:note[replace(., '(on|tw)+', '') != '']\"><assert id=\"A\" test=\"false()\"/>")
    with pytest.raises(LimitReached):
        codes(program(schema(of_limit)))


@pytest.mark.parametrize(
    "test",
    ["xs:integer(t:note) = 1", "$big * $big = 1", "string-length($long) = 1", "round-half-to-even(1.5, 99999999) = 1"],
)
def test_values_are_bounded(test):
    lets = ['<let name="a0" value="12345678901234567890"/>', '<let name="b0" value="string(/)"/>']
    for number in range(40):
        lets.append(f'<let name="a{number + 1}" value="$a{number} * $a{number}"/>')
        lets.append(f'<let name="b{number + 1}" value="concat($b{number}, $b{number})"/>')
    lets += ['<let name="big" value="$a40"/>', '<let name="long" value="$b40"/>']
    sheet = schema(pattern(f'/t:order"><assert id="A" test="{test}"/>'), before="".join(lets))
    document = DOCUMENT.replace("one<!-- a comment -->two", "1" * 6_000)
    with pytest.raises(Stopped):
        codes(program(sheet), document)


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ('<xsl:function name="f:fits"', '<xsl:include href="a.xsl"/><xsl:function name="f:fits"', "another stylesheet"),
        ('priority="1001" ', "", "without a priority"),
    ],
)
def test_stylesheets_that_cannot_be_followed_are_refused(before, after, reason):
    with pytest.raises(NotCompilable, match=reason):
        program(COMPILED.replace(before, after))
