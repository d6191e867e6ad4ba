"""Each container check reports its fault, and nothing in a valid file."""

import hashlib
import tomllib

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String

from einvoice.pdf import embedded_invoice
from einvoice.pdf.container.check import CHECKS
from einvoice.pdf.reader.release import release_of
from einvoice.resources import rules_folder
from tests.helpers.hybrids import FX, PACKET, RAW, SAMPLE, XML, XRECHNUNG, attach, embed, hybrid


def codes(data):
    return [fault.code for fault in embedded_invoice.read(data).faults]


def packet(old, new):
    assert old in PACKET
    return hybrid(packet=PACKET.replace(old, new))


def without(*keys):
    def change(pdf, spec):
        for key in keys:
            del pdf.Root[key]

    return hybrid(change)


def changed(change, **options):
    return hybrid(change, **options)


def setting(key, value):
    return hybrid(lambda pdf, spec: spec.EF.F.Params.__setitem__(key, value))


def deleting(key):
    return hybrid(lambda pdf, spec: spec.EF.F.Params.__delitem__(key))


def declaring(guideline, *changes, packet=PACKET):
    xml = XML.replace(b"<ram:ID>urn:cen.eu:en16931:2017<", b"<ram:ID>" + guideline.encode() + b"<")
    assert xml != XML
    return hybrid(*changes, xml=xml, packet=packet)


def on_page(**entries):
    """Resources, annotations or whatever else belongs to the page."""

    def change(pdf, spec):
        for key, value in entries.items():
            pdf.pages[0].obj[f"/{key}"] = value(pdf) if callable(value) else value

    return hybrid(change, **RAW)


def fonts(**font):
    return on_page(Resources=Dictionary(Font=Dictionary(F1=Dictionary(Type=Name.Font, **font))))


def image(**entries):
    return on_page(Resources=lambda pdf: Dictionary(XObject=Dictionary(I=pdf.make_stream(
        b"\0", Subtype=Name.Image, Width=1, Height=1, **entries))))  # fmt: skip


def lzw(pdf):
    stream = pdf.make_stream(b"")
    stream.write(b"\x80\x0b\x60", filter=Name.LZWDecode, type_check=False)
    return stream


def data_of(relationship):
    return lambda pdf, spec: spec.__setitem__("/AFRelationship", Name(relationship))


MINIMUM = "urn:factur-x.eu:1p0:minimum"


def coloured(content, **resources):
    """Without an output intent, and with the content of the page."""

    def change(pdf, spec):
        del pdf.Root["/OutputIntents"]
        pdf.pages[0].obj.Contents = pdf.make_stream(content)
        pdf.pages[0].obj.Resources = Dictionary(**resources)

    return hybrid(change)


LEVEL = "<fx:ConformanceLevel>EN 16931<"
MINIMUM_PACKET = PACKET.replace(LEVEL, "<fx:ConformanceLevel>MINIMUM<")
BLOCK = '<rdf:Description rdf:about="" xmlns:'
SECOND = PACKET[PACKET.index(f"{BLOCK}fx") : PACKET.index(f"{BLOCK}pdfaExtension")]
AS_ATTRIBUTES = (
    f'<rdf:Description rdf:about="" xmlns:fx="{FX}" fx:DocumentType="INVOICE" fx:DocumentFileName="factur-x.xml"'
    ' fx:Version="1.0" fx:ConformanceLevel="EN 16931"/>'
)
OLD = "urn:zugferd:pdfa:CrossIndustryDocument:invoice:2p0#"

FAULTY = {
    "PDF-HEADER": lambda: b"\n" + hybrid(),
    "PDF-REPAIRED": lambda: hybrid().replace(b"startxref\n", b"startxref\n9"),
    "PDF-ENCRYPTED": lambda: hybrid(encryption=pikepdf.Encryption(owner="x", user="", R=6)),
    "PDF-FILE-ID": lambda: hybrid(object_stream_mode=pikepdf.ObjectStreamMode.disable).replace(b"/ID [", b"/IX ["),
    "PDF-OUTPUT-INTENT": lambda: coloured(b"1 0 0 rg"),
    "PDF-XMP-MISSING": lambda: without("/Metadata"),
    "PDF-XMP-BROKEN": lambda: packet("INVOICE<", "Müller & Co<"),
    "PDF-XMP-ENCODING": lambda: hybrid(packet=PACKET.encode("utf-16")),
    "PDF-XMP-RDF": lambda: packet("</rdf:RDF>", "</rdf:RDF><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/>"),
    "PDF-A-PART": lambda: packet("<pdfaid:part>3<", "<pdfaid:part>1<"),
    "PDF-A-VERSION": lambda: hybrid(force_version="2.0"),
    "PDF-A-CONFORMANCE": lambda: packet("conformance>A<", "conformance>b<"),
    "PDF-FX-MISSING": lambda: packet(SECOND, ""),
    "PDF-FX-NAMESPACE": lambda: hybrid(packet=PACKET.replace(FX, "urn:ferd:pdfa:invoice#")),
    "PDF-FX-PREFIX": lambda: hybrid(packet=PACKET.replace("fx:", "inv:").replace(":fx=", ":inv=")),
    "PDF-FX-DOCUMENT-TYPE": lambda: packet(">INVOICE<", ">Invoice<"),
    "PDF-FX-VERSION": lambda: packet("<fx:Version>1.0<", "<fx:Version>2.3<"),
    "PDF-FX-LEVEL": lambda: declaring("urn:example", packet=PACKET.replace(LEVEL, "<fx:ConformanceLevel>EN16931<")),
    "PDF-FX-FILE-NAME": lambda: packet("<fx:DocumentFileName>factur-x.xml</fx:DocumentFileName>", ""),
    "PDF-FX-ATTRIBUTES": lambda: packet(SECOND, AS_ATTRIBUTES),
    "PDF-FX-SCHEMA": lambda: packet(">Version<", ">Version2<"),
    "PDF-NAME-UNKNOWN": lambda: hybrid(name="Factur-X.xml", packet=PACKET.replace(">factur-x.xml<", ">Factur-X.xml<")),
    "PDF-SEVERAL-INVOICES": lambda: changed(lambda pdf, spec: attach(pdf, "xrechnung.xml", XML + b"\n")),
    "PDF-NAME-TREE": lambda: without("/Names"),
    "PDF-ASSOCIATED": lambda: without("/AF"),
    "PDF-ASSOCIATED-TWICE": lambda: changed(lambda pdf, spec: pdf.Root.AF.append(spec)),
    "PDF-NAME-MISSING": lambda: changed(lambda pdf, spec: spec.__delitem__("/UF")),
    "PDF-NAME-DIFFERS": lambda: changed(lambda pdf, spec: spec.__setitem__("/F", String("invoice.xml"))),
    "PDF-RELATIONSHIP": lambda: changed(data_of("/Unspecified")),
    "PDF-MIME-MISSING": lambda: changed(lambda pdf, spec: spec.EF.F.__delitem__("/Subtype")),
    "PDF-MIME": lambda: changed(lambda pdf, spec: spec.EF.F.__setitem__("/Subtype", Name("/application/xml"))),
    "PDF-DATE-MISSING": lambda: deleting("/ModDate"),
    "PDF-DATE": lambda: setting("/ModDate", String("2026-03-01")),
    "PDF-OTHER-ATTACHMENT": lambda: changed(
        lambda pdf, spec: attach(pdf, "plan.csv", b"1;2").__delitem__("/AFRelationship")),
    "PDF-OTHER-UNREADABLE": lambda: changed(lambda pdf, spec: attach(pdf, "xrechnung.xml", b"<a")),
    "PDF-SIZE": lambda: setting("/Size", 1),
    "PDF-CHECKSUM": lambda: setting("/CheckSum", String(b"0" * 16)),
    "PDF-FILE-NAME-DIFFERS": lambda: packet(">factur-x.xml<", ">zugferd-invoice.xml<"),
    "PDF-LEVEL-DIFFERS": lambda: packet(LEVEL, "<fx:ConformanceLevel>BASIC<"),
    "PDF-GUIDELINE": lambda: declaring("urn:example"),
    "PDF-GENERATION": lambda: hybrid(packet=PACKET.replace(FX, OLD).replace("fx:", "zf:").replace(":fx=", ":zf=")),
    "PDF-LEVEL-RELATIONSHIP": lambda: declaring(MINIMUM, packet=MINIMUM_PACKET),
    "PDF-FONT": lambda: fonts(Subtype=Name.Type1, BaseFont=Name.Helvetica),
    "PDF-INTERPOLATE": lambda: image(Interpolate=True),
    "PDF-LZW": lambda: on_page(Contents=lzw),
    "PDF-ACTION": lambda: changed(lambda pdf, spec: pdf.Root.__setitem__(
        "/OpenAction", Dictionary(S=Name.JavaScript, JS=String("app.alert(1)")))),
    "PDF-TAGS": lambda: hybrid(lambda pdf, spec: pdf.Root.__delitem__("/StructTreeRoot"),
                               packet=PACKET.replace("pdfuaid:part", "pdfuaid:amd")),
    "PDF-LANGUAGE": lambda: hybrid(lambda pdf, spec: pdf.Root.__delitem__("/Lang"),
                                   packet=PACKET.replace("pdfuaid:part", "pdfuaid:amd")),
    "PDF-UA": lambda: hybrid(lambda pdf, spec: pdf.Root.__delitem__("/MarkInfo"),
                             packet=PACKET.replace("conformance>A<", "conformance>U<")),
    "PDF-SEEN-IN-PART": lambda: changed(lambda pdf, spec: [pdf.add_blank_page() for _ in range(1001)]),
}  # fmt: skip
ALSO = {"PDF-FX-LEVEL": ["PDF-GUIDELINE"], "PDF-FX-NAMESPACE": ["PDF-GENERATION"]}
"""Further faults that these faults imply."""


def test_valid_file_has_no_faults():
    assert codes(hybrid()) == []
    assert embedded_invoice.read(hybrid()).checks == len(CHECKS)


def test_each_check_has_a_faulty_file():
    # PDF-SEVERAL-INVOICES is reported outside the checks, which inspect one attachment.
    assert FAULTY.keys() == CHECKS.keys() | {"PDF-SEVERAL-INVOICES"}


@pytest.mark.parametrize("code", FAULTY)
def test_check_reports_exactly_its_fault(code):
    assert sorted(codes(FAULTY[code]())) == sorted([code, *ALSO.get(code, [])])


def test_another_edition_is_left_to_the_validation_of_the_xml():
    assert "PDF-GUIDELINE" not in codes(declaring("urn:cen.eu:en16931:2026"))
    assert "PDF-GUIDELINE" in codes(declaring("urn:cen.eu:en16931:next"))


@pytest.mark.parametrize("code", FAULTY)
def test_texts_use_only_values_of_the_fault(code):
    faults = {fault.code: fault.values for fault in embedded_invoice.read(FAULTY[code]()).faults}
    content = tomllib.loads((rules_folder() / "pdf" / f"{code}.toml").read_text("utf-8"))
    for lang in ("de", "en"):
        for text in content[lang].values():
            assert "{" not in text.format(**faults[code])


def test_codes_and_text_files_match():
    others = {"PDF-SEVERAL-INVOICES", "PDF-CHECK-FAILED", "PDF-VERAPDF", "PDF-VERAPDF-FAILED"}
    written = {}
    for path in (rules_folder() / "pdf").glob("*.toml"):
        written[path.stem] = tomllib.loads(path.read_text("utf-8"))
    assert {it for it in written if not it.startswith("PDF-PICTURE-")} == CHECKS.keys() | others
    for stem, content in written.items():
        assert content["code"] == stem
        assert content["severity"] in ("warning", "information")
        assert content["examples"]


# Unusual but valid files


@pytest.mark.parametrize(
    "make",
    [
        lambda: fonts(Subtype=Name.Type3),
        lambda: on_page(Resources=lambda pdf: Dictionary(Font=Dictionary(F1=Dictionary(
            Subtype=Name.Type0, DescendantFonts=Array([Dictionary(
                FontDescriptor=Dictionary(FontFile2=pdf.make_stream(b"font")))]))))),
        lambda: image(Interpolate=False),
        lambda: declaring(MINIMUM, data_of("/Data"), packet=MINIMUM_PACKET),
        lambda: declaring("urn:cen.eu:en16931:2017:compliant:factur-x.eu:1p0:en16931"),
        lambda: declaring("urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"),
        lambda: setting("/ModDate", String("D:20260301120000+01'00")),
        lambda: changed(lambda pdf, spec: attach(pdf, "xrechnung.xml", XML)),
        lambda: changed(lambda pdf, spec: pdf.Root.__setitem__(
            "/OpenAction", Dictionary(S=Name.GoTo, D=Array([0])))),
        lambda: setting("/CheckSum", String(hashlib.md5(XML, usedforsecurity=False).hexdigest().upper())),
        lambda: coloured(b"BT (5 g flour) Tj ET"),
        lambda: coloured(b"1 0 0 rg", ColorSpace=Dictionary(DefaultRGB=Array([Name.CalRGB]))),
    ],
    ids=["type3", "type0", "image", "data", "colons", "xrechnung", "apostrophe", "same-content", "goto", "hex",
         "uncoloured", "default-rgb"],
)  # fmt: skip
def test_unusual_valid_files_have_no_faults(make):
    assert codes(make()) == []


def test_fonts_in_nested_forms_are_checked():
    def form(pdf, resources):
        return pdf.make_stream(b"", Subtype=Name.Form, Resources=resources)

    def resources(pdf):
        font = Dictionary(Font=Dictionary(F1=Dictionary(Subtype=Name.TrueType, BaseFont=Name.Arial)))
        return Dictionary(XObject=Dictionary(A=form(pdf, Dictionary(XObject=Dictionary(B=form(pdf, font))))))

    (fault,) = embedded_invoice.read(on_page(Resources=resources)).faults
    assert fault == ("PDF-FONT", {"name": "Arial"})


def test_chained_actions_are_checked():
    link = Dictionary(Subtype=Name.Link, A=Dictionary(S=Name.GoTo, Next=Array([Dictionary(S=Name.Launch)])))
    assert embedded_invoice.read(on_page(Annots=Array([link]))).faults == (("PDF-ACTION", {"action": "Launch"}),)


def test_copied_file_specification_is_not_associated():
    def copy(pdf, spec):
        pdf.Root.AF = Array([pdf.make_indirect(Dictionary(spec))])

    assert codes(changed(copy)) == ["PDF-ASSOCIATED"]


FX_2_0 = {"DocumentFileName": "zugferd-invoice.xml", "ConformanceLevel": "EN 16931", "Version": "2p0"}
FX_1_0 = {"DocumentFileName": "factur-x.xml", "ConformanceLevel": "EN 16931", "Version": "1.0"}
FX_XRECHNUNG = {"DocumentFileName": "xrechnung.xml", "ConformanceLevel": "XRECHNUNG", "Version": "3.0"}
RELEASES = {
    "Factur-X 1.0": ("factur-x.xml", "urn:cen.eu:en16931:2017", FX, FX_1_0),
    "without metadata": ("factur-x.xml", "urn:cen.eu:en16931:2017", "", {}),
    "XRechnung": ("xrechnung.xml", XRECHNUNG.decode(), FX, FX_XRECHNUNG),
    "ZUGFeRD 2.0": ("zugferd-invoice.xml", "urn:cen.eu:en16931:2017", OLD, FX_2_0),
    "2.0 profile": ("zugferd-invoice.xml", "urn:cen.eu:en16931:2017#compliant#urn:zugferd.de:2p0:basic", OLD, FX_2_0),
    "2.0 with one wrong namespace": ("zugferd-invoice.xml", "urn:zugferd.de:2p0:basicwl", FX, FX_2_0),
}  # fmt: skip


@pytest.mark.parametrize("case", RELEASES)
def test_release_is_the_one_that_fits_best(case):
    name, guideline, namespace, properties = RELEASES[case]
    release = release_of("CrossIndustryInvoice", name, guideline, namespace, properties)
    assert release.title == ("ZUGFeRD 2.0" if "2.0" in case else "Factur-X 1.0 (ZUGFeRD 2.1 …)")


def test_zugferd_2_0_is_not_called_outdated():
    old = PACKET.replace(FX, OLD).replace("fx:", "zf:").replace(":fx=", ":zf=")
    old = old.replace("factur-x.xml", "zugferd-invoice.xml")
    assert codes(hybrid(name="zugferd-invoice.xml", packet=old)) == []
    minimum = XML.replace(b"<ram:ID>urn:cen.eu:en16931:2017<", b"<ram:ID>urn:zugferd.de:2p0:minimum<")
    old = old.replace(">EN 16931<", ">MINIMUM<")
    assert codes(hybrid(xml=minimum, name="zugferd-invoice.xml", packet=old)) == []


@pytest.mark.parametrize("name", ["zugferd-invoice.xml", "order-x.xml", "cida.xml", "xrechnung.xml"])
def test_names_of_other_releases_and_levels_are_reported(name):
    assert codes(hybrid(name=name, packet=PACKET.replace(">factur-x.xml<", f">{name}<"))) == ["PDF-NAME-UNKNOWN"]


@pytest.mark.parametrize(("version", "found"), [("3.0", []), ("1.0", []), ("2.3", ["PDF-FX-VERSION"])])
def test_version_under_xrechnung_is_that_of_xrechnung_or_of_the_schema(version, found):
    packet = PACKET.replace(">EN 16931<", ">XRECHNUNG<").replace(">factur-x.xml<", ">xrechnung.xml<")
    packet = packet.replace("<fx:Version>1.0<", f"<fx:Version>{version}<")
    assert codes(hybrid(xml=SAMPLE, name="xrechnung.xml", packet=packet)) == found


@pytest.mark.parametrize(
    ("part", "version", "found"), [("3", "1.7", []), ("3", "2.0", ["PDF-A-VERSION"]), ("4", "1.7", ["PDF-A-VERSION"])]
)
def test_header_fits_the_claimed_part(part, version, found):
    data = hybrid(packet=PACKET.replace("<pdfaid:part>3<", f"<pdfaid:part>{part}<"), force_version=version)
    assert [it for it in codes(data) if it == "PDF-A-VERSION"] == found


def test_failed_check_is_reported_and_others_continue(monkeypatch):
    def failing(opened):
        raise ValueError

    monkeypatch.setitem(CHECKS, "PDF-FILE-ID", failing)
    data = b"\n" + hybrid()
    assert embedded_invoice.read(data).faults == (
        ("PDF-HEADER", {"bytes": 1}),
        ("PDF-CHECK-FAILED", {"check": "PDF-FILE-ID"}),
    )


def test_repeated_faults_are_limited():
    def many(pdf, spec):
        for number in range(20):
            embed_in(pdf, f"{number}.bin")

    def embed_in(pdf, name):
        pdf.Root.Names.EmbeddedFiles.Names.extend([String(name), embed(pdf, name, b"x" + name.encode())])

    assert codes(changed(many)) == ["PDF-OTHER-ATTACHMENT"] * 5
