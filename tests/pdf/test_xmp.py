"""XMP packets: one rdf:RDF, existing properties kept, those of an earlier invoice removed."""

import datetime

import pytest
from hypothesis import given
from lxml import etree

from einvoice.pdf.writer.xmp import FX, RDF, Packet
from tests.helpers.strategies import texts

PACKET = """<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:zf="urn:zugferd:pdfa:CrossIndustryDocument:invoice:2p0#"
 xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#">
<rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/" pdfaid:part="3" pdfaid:conformance="B"/>
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt>
<rdf:li xml:lang="x-default">Müller &amp; Co</rdf:li></rdf:Alt></dc:title></rdf:Description>
<rdf:Description rdf:about="" zf:ConformanceLevel="BASIC" zf:Version="2p0"/>
<rdf:Description rdf:about=""><zf:DocumentFileName>zugferd-invoice.xml</zf:DocumentFileName></rdf:Description>
<rdf:Description rdf:about="" xmlns:my="urn:mine#"><my:thing>kept</my:thing></rdf:Description>
<rdf:Description rdf:about=""><pdfaExtension:schemas><rdf:Bag>
<rdf:li rdf:parseType="Resource"><pdfaSchema:namespaceURI>urn:zugferd:pdfa:CrossIndustryDocument:invoice:2p0#
</pdfaSchema:namespaceURI></rdf:li>
<rdf:li rdf:parseType="Resource"><pdfaSchema:namespaceURI>urn:mine#</pdfaSchema:namespaceURI></rdf:li>
</rdf:Bag></pdfaExtension:schemas></rdf:Description>
</rdf:RDF><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""
 xmlns:fx="urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#" fx:ConformanceLevel="EXTENDED"/></rdf:RDF>
</x:xmpmeta><?xpacket end="w"?>"""


def tree(packet):
    return etree.fromstring(packet.data())


def test_existing_properties_are_kept():
    packet = Packet(PACKET.encode())
    assert (packet.part, packet.conformance, packet.is_new) == ("3", "B", False)
    assert packet.get("dc:title") == "Müller & Co"
    assert b"<my:thing>kept</my:thing>" in packet.data()
    assert Packet(packet.data()).data() == packet.data()


def test_properties_of_an_earlier_invoice_are_replaced():
    packet = Packet(PACKET.encode())
    packet.put_factur_x("EN 16931", "factur-x.xml")
    packet.put_factur_x("EXTENDED", "factur-x.xml")
    root = tree(packet)
    assert len(list(root.iter(f"{{{RDF}}}RDF"))) == 1
    assert b"zugferd" not in packet.data()
    assert [it.text for it in root.iter(f"{{{FX}}}ConformanceLevel")] == ["EXTENDED"]
    described = [it.text.strip() for it in root.iter("{http://www.aiim.org/pdfa/ns/schema#}namespaceURI")]
    assert described == ["urn:mine#", FX]
    names = [it.text for it in root.iter("{http://www.aiim.org/pdfa/ns/property#}name")]
    assert sorted(names) == ["ConformanceLevel", "DocumentFileName", "DocumentType", "Version"]


def test_pdfa_claims_are_set_and_removed():
    packet = Packet(PACKET.encode())
    packet.claim_pdfua()
    packet.drop_claims()
    assert (packet.part, packet.conformance, packet.get("pdfuaid:part")) == ("", "", "1")


@pytest.mark.parametrize(
    "data", [None, b"", b"<a", b"<a/>", b"\xff\xfe", b"<!DOCTYPE a [<!ENTITY b 'c'>]>" + b"<a>&b;</a>"]
)
def test_invalid_packet_is_treated_as_empty(data):
    packet = Packet(data)
    assert packet.is_new
    assert packet.part == ""
    packet.put_factur_x("MINIMUM", "factur-x.xml")
    assert Packet(packet.data()).get("fx:ConformanceLevel") == "MINIMUM"


@given(texts(), texts())
def test_any_text_is_preserved(title, author):
    packet = Packet()
    packet.put_document(title, (author,), "")
    again = Packet(packet.data())
    assert again.get("dc:title") == title.strip()
    assert again.get("dc:creator") == author.strip()


def test_control_characters_are_handled():
    packet = Packet()
    packet.put_document("a\x00b\x0cc\ufffe", ("x",), "y")
    assert Packet(packet.data()).get("dc:title") == "abc"


def test_dates_have_a_time_zone():
    packet = Packet()
    packet.put_dates(datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC), created=True)
    assert packet.get("xmp:ModifyDate") == packet.get("xmp:CreateDate") == "2026-03-01T12:00:00+00:00"
