"""Sheets and documents of our own for the tests."""

from lxml import etree

from einvoice.schematron.program import Program
from einvoice.schematron.sheets import iso, xslt
from einvoice.schematron.tree import Document

DOCUMENT = """\
<order xmlns="urn:test" id="A1">
  <buyer code=" DE ">Müller &amp; Söhne</buyer>
  <line no="1"><name>Pen</name><price>1.50</price><count>3</count><sum>4.50</sum></line>
  <line no="2"><name>Ink</name><price>2.005</price><count>2</count><sum>4.01</sum></line>
  <line no="3"><name/><price>x</price><count>0</count></line>
  <total>8.51</total>
  <date>2026-02-28</date>
  <note>one<!-- a comment -->two</note>
</order>"""

SCHEMATRON = """\
<schema xmlns="http://purl.oclc.org/dsdl/schematron" queryBinding="xslt2">
  <title>Orders</title>
  <ns prefix="t" uri="urn:test"/>
  <let name="allowed" value="('DE', 'FR')"/>
  <pattern abstract="true" id="filled">
    <rule context="$context">
      <assert id="$code" flag="warning" test="normalize-space(.) != ''">The $what has no content.</assert>
    </rule>
  </pattern>
  <pattern is-a="filled">
    <param name="context " value="t:name"/><param name="code" value="T-1"/><param name="what" value="name"/>
  </pattern>
  <pattern>
    <let name="sums" value="sum(//t:sum)"/>
    <rule context="t:order/t:total">
      <assert id="T-2" flag="fatal" test="number(.) = $sums">Found <value-of select="."/>,
        calculated <value-of select="$sums"/>.</assert>
    </rule>
    <rule context="t:line[t:price castable as xs:decimal]">
      <let name="expected" value="round(t:price * t:count * 100) div 100"/>
      <assert id="T-3" test="abs(t:sum - $expected) &lt;= 0.005">Line <value-of select="@no"/></assert>
      <report id="T-4" role="information" test="t:count = 3">Three.</report>
    </rule>
    <rule context="t:line"><assert id="T-5" test="false()"><name/> without a price.</assert></rule>
  </pattern>
  <pattern>
    <rule context="t:buyer/@code"><assert id="T-6" test="normalize-space(.) = $allowed">Code</assert></rule>
  </pattern>
</schema>"""


def program(text: str) -> Program:
    """Return the compiled sheet of a text in either form."""
    root = etree.fromstring(text.encode())
    sheet = xslt.read(root) if root.tag.endswith("stylesheet") else iso.read(root, None, etree.fromstring)
    found = Program(sheet)
    found.compile()
    return found


def codes(found: Program, document: str = DOCUMENT) -> list[str]:
    """Return the codes of what a sheet reports, in order."""
    return sorted(it.assertion.code for it in found.run(Document(etree.fromstring(document.encode()))))
