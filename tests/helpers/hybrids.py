"""Hybrid PDFs for tests: a valid one, and variations of it."""

import hashlib
import io

import pikepdf
from pikepdf import Array, Dictionary, Name, String

from tests.helpers.paths import SAMPLES

SAMPLE = (SAMPLES / "cii-invoice.xml").read_bytes()
XRECHNUNG = b"urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
XML = SAMPLE.replace(XRECHNUNG, b"urn:cen.eu:en16931:2017")
FX = "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#"

_PACKET = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/">
<pdfaid:part>3</pdfaid:part><pdfaid:conformance>A</pdfaid:conformance></rdf:Description>
<rdf:Description rdf:about="" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/" pdfuaid:part="1"/>
<rdf:Description rdf:about="" xmlns:fx="{fx}">
<fx:DocumentType>INVOICE</fx:DocumentType><fx:DocumentFileName>factur-x.xml</fx:DocumentFileName>
<fx:Version>1.0</fx:Version><fx:ConformanceLevel>EN 16931</fx:ConformanceLevel></rdf:Description>
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
 xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource"><pdfaSchema:namespaceURI>{fx}</pdfaSchema:namespaceURI>
<pdfaSchema:property><rdf:Seq>{described}</rdf:Seq></pdfaSchema:property></rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"""
_DESCRIBED = '<rdf:li rdf:parseType="Resource"><pdfaProperty:name>{}</pdfaProperty:name></rdf:li>'
PROPERTIES = ("DocumentType", "DocumentFileName", "Version", "ConformanceLevel")
PACKET = _PACKET.format(fx=FX, described="".join(map(_DESCRIBED.format, PROPERTIES)))


def embed(pdf, name, content, *, mime="/text/xml", relationship="/Alternative"):
    """Return an unreferenced file specification for `content`."""
    stream = pdf.make_stream(
        content,
        Type=Name.EmbeddedFile,
        Subtype=Name(mime),
        Params=Dictionary(
            Size=len(content),
            CheckSum=String(hashlib.md5(content, usedforsecurity=False).digest()),
            ModDate=String("D:20260301110000Z"),
        ),
    )
    return pdf.make_indirect(
        Dictionary(
            Type=Name.Filespec,
            F=String(name),
            UF=String(name),
            AFRelationship=Name(relationship),
            EF=Dictionary(F=stream, UF=stream),
        )
    )


def attach(pdf, name, content, **options):
    """Embed `content` and reference it in all required places."""
    spec = embed(pdf, name, content, **options)
    pdf.Root.Names.EmbeddedFiles.Names.extend([String(name), spec])
    pdf.Root.AF.append(spec)
    return spec


def hybrid(*changes, xml=XML, name="factur-x.xml", packet=PACKET, **saving):
    """Return a valid hybrid PDF after applying each of `changes(pdf, spec)`."""
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        root = pdf.Root
        root.Names = Dictionary(EmbeddedFiles=pdf.make_indirect(Dictionary(Names=Array())))
        root.AF = Array()
        spec = attach(pdf, name, xml)
        root.Metadata = pdf.make_stream(
            packet if isinstance(packet, bytes) else packet.encode(), Type=Name.Metadata, Subtype=Name.XML
        )
        root.OutputIntents = Array(
            [Dictionary(S=Name.GTS_PDFA1, DestOutputProfile=pdf.make_stream(b"a profile"), Type=Name.OutputIntent)]
        )
        root.StructTreeRoot = pdf.make_indirect(Dictionary(Type=Name.StructTreeRoot))
        root.MarkInfo = Dictionary(Marked=True)
        root.Lang = String("de")
        for change in changes:
            change(pdf, spec)
        file = io.BytesIO()
        pdf.save(file, deterministic_id="encryption" not in saving, fix_metadata_version=False, **saving)
        return file.getvalue()


def packed(pdf, spec, data, *filters):
    """Replace the embedded file by raw encoded bytes."""
    stream = pdf.make_stream(b"", Type=Name.EmbeddedFile, Subtype=Name("/text/xml"))
    stream.write(data, filter=Array([Name(f"/{it}") for it in filters]), type_check=False)
    spec.EF = Dictionary(F=stream, UF=stream)


RAW = {"compress_streams": False, "stream_decode_level": pikepdf.StreamDecodeLevel.none}
"""Save streams without re-encoding."""
