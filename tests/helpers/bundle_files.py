"""Small KoSIT validator configurations: scenarios, stylesheets and schemas."""

import io
import zipfile

SPECIFICATION = "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
UBL = 'xmlns:ubl="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"'
CBC = 'xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"'
XSL = 'xmlns:xsl="http://www.w3.org/1999/XSL/Transform"'
MATCH = f"exists(/ubl:Invoice/cbc:CustomizationID[. = '{SPECIFICATION}'])"


def rule(code, text="", attributes='flag="fatal"', kind="failed-assert"):
    """Return an instruction that reports a violation for every document."""
    code = f'id="{code}"' if code else ""
    return (
        f'<svrl:{kind} {code} {attributes} test="false()" location="/ubl:Invoice">'
        f"<svrl:text>{text}</svrl:text></svrl:{kind}>"
    )


def stylesheet(*content, namespaces=f"{UBL} {CBC}", title="Rules of the test", before="", attributes=""):
    """Return a compiled Schematron."""
    return (
        f'<xsl:stylesheet {XSL} xmlns:svrl="http://purl.oclc.org/dsdl/svrl" {namespaces} version="3.0" {attributes}>'
        f'{before}<xsl:template match="/"><svrl:schematron-output title="{title}">'
        f"{''.join(content)}</svrl:schematron-output></xsl:template></xsl:stylesheet>"
    ).encode()


def template(name, *content):
    """Return a stylesheet with one named template, to be included."""
    svrl = 'xmlns:svrl="http://purl.oclc.org/dsdl/svrl"'
    return (
        f'<xsl:stylesheet {XSL} {svrl} version="3.0"><xsl:template name="{name}">{"".join(content)}'
        "</xsl:template></xsl:stylesheet>"
    ).encode()


CORE = stylesheet(
    "<!--Schematron version 1.3.99 - Last update: 2026-01-31-->",
    '<xsl:if test="not(/*/cbc:ID)">', rule("BR-01"), "</xsl:if>",
    '<xsl:if test="false()">', rule("BR-CO-10"), "</xsl:if>",
    rule("BR-CL-23", "[BR-CL-23]-A unit"),
)  # fmt: skip
NATIONAL = stylesheet(rule("BR-DE-1", "A  rule\n of the   country", 'flag="warning"'))

XSD_MAIN = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"
    targetNamespace="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2" elementFormDefault="qualified">
  <xs:import namespace="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"
    schemaLocation="{imported}"/>
  <xs:element name="Invoice"><xs:complexType><xs:sequence>
    <xs:any namespace="##other" processContents="lax" maxOccurs="{max_occurs}"/>
  </xs:sequence></xs:complexType></xs:element>
</xs:schema>"""
XSD_IMPORTED = b"""<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"
    targetNamespace="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
  <xs:element name="ID" type="xs:string"/>
</xs:schema>"""


def schema(imported="../common/cbc.xsd", max_occurs="unbounded"):
    return XSD_MAIN.format(imported=imported, max_occurs=max_occurs).encode()


def scenario(
    name="XRechnung (UBL)",
    match=MATCH,
    stylesheets=("xsl/en.xsl", "xsl/de.xsl"),
    schemas=("xsd/main/invoice.xsd",),
    levels='<customLevel level="warning">BR-CL-23</customLevel>',
):
    """Return a scenario; stylesheets are named after their files."""
    steps = [("validateWithXmlSchema", it) for it in schemas] + [("validateWithSchematron", it) for it in stylesheets]
    resources = "".join(
        f"<{step}><resource><name>The {location}</name><location>{location}</location></resource></{step}>"
        for step, location in steps
    )
    return f"""<scenario><name>{name}</name><description><p>One</p></description>
      <namespace prefix="cbc">urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2</namespace>
      <namespace prefix="ubl">urn:oasis:names:specification:ubl:schema:xsd:Invoice-2</namespace>
      <match>{match}</match>{resources}
      <createReport><resource><name>Report</name><location>report.xsl</location></resource>{levels}</createReport>
      <acceptMatch>true()</acceptMatch></scenario>"""


def scenarios(*content, title="Configuration of the test"):
    return (
        '<?xml version="1.0" encoding="UTF-8"?><scenarios frameworkVersion="1.0.0" '
        'xmlns="http://www.xoev.de/de/validator/framework/1/scenarios">'
        f"<name>{title}</name>{''.join(content)}<noScenarioReport/></scenarios>"
    ).encode()


def files(*content, others=()):
    """Return the files of a configuration; ``others`` are added or replace defaults."""
    content_by_name = {
        "scenarios.xml": scenarios(*(content or (scenario(),))),
        "report.xsl": b"<x/>",
        "xsl/en.xsl": CORE,
        "xsl/de.xsl": NATIONAL,
        "xsd/main/invoice.xsd": schema(),
        "xsd/common/cbc.xsd": XSD_IMPORTED,
    }
    return content_by_name | dict(others)


def packed(members, folder=""):
    """Return a ZIP of these files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{folder}{name}", content)
    return data.getvalue()
