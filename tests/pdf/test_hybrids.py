"""Reading hybrid PDFs: sources of attachments, selection of the invoice, and errors."""

import pickle

import pikepdf
import pytest
from pdf.hybrids import RAW, SAMPLE, XML, attach, embed, hybrid, packed
from pikepdf import Array, Dictionary, Name, String

import einvoice
from einvoice import errors
from einvoice.pdf.reader import extract

ORDER = b'<rsm:SCRDMCCBDACIOMessageStructure xmlns:rsm="urn:un:unece:uncefact:data:SCRDMCCBDACIOMessageStructure:100"/>'
ZUGFERD_1 = b'<rsm:CrossIndustryDocument xmlns:rsm="urn:ferd:CrossIndustryDocument:invoice:1p0"/>'
CANDIDATE = b'<rsm:Invoice xmlns:rsm="urn:un:unece:uncefact:data:standard:CBFBUY:5"/>'
UBL = b'<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"/>'


def forget_names(pdf, spec):
    del pdf.Root["/Names"]


def forget_all(pdf, spec):
    del pdf.Root["/Names"]
    del pdf.Root["/AF"]


def on_page(pdf, spec):
    forget_all(pdf, spec)
    pdf.pages[0].obj.AF = Array([spec])


def in_annotation(pdf, spec):
    forget_all(pdf, spec)
    pdf.pages[0].obj.Annots = Array([Dictionary(Subtype=Name.FileAttachment, FS=spec)])


def hidden(pdf, spec):
    forget_all(pdf, spec)
    pdf.Root.PieceInfo = Dictionary(Own=spec)


def in_branches(pdf, spec):
    leaf = pdf.make_indirect(Dictionary(Names=Array([String("factur-x.xml"), spec])))
    pdf.Root.Names.EmbeddedFiles = Dictionary(Kids=Array([Dictionary(Kids=Array([leaf]))]))


def alone_in_af(pdf, spec):
    forget_all(pdf, spec)
    pdf.Root.AF = spec


@pytest.mark.parametrize(
    ("change", "sources"),
    [
        (lambda pdf, spec: None, ("names", "catalog")),
        (forget_names, ("catalog",)),
        (alone_in_af, ("catalog",)),
        (on_page, ("page",)),
        (in_annotation, ("annotation",)),
        (hidden, ("unreferenced",)),
        (in_branches, ("names", "catalog")),
    ],
)
def test_the_invoice_is_found_wherever_it_hangs(change, sources):
    found = extract.read(hybrid(change))
    assert found.xml == XML
    assert found.chosen.sources == sources


@pytest.mark.parametrize("key", ["/UF", "/F", "/Unix", "/DOS", "/Mac"])
def test_the_stream_is_found_under_each_key(key):
    def change(pdf, spec):
        spec.EF = Dictionary({key: spec.EF.F})

    assert extract.read(hybrid(change)).xml == XML


def test_what_the_pdf_says_of_the_attachment_is_told():
    (file,) = extract.read(hybrid()).attachments
    assert (file.name, file.relationship, file.mime) == ("factur-x.xml", "Alternative", "text/xml")
    assert (file.modified, file.created, file.size) == ("D:20260301110000Z", "", len(XML))
    assert (file.root, file.guideline, file.problem) == ("CrossIndustryInvoice", "urn:cen.eu:en16931:2017", "")


def test_a_name_is_a_name_and_no_path():
    def change(pdf, spec):
        spec.UF = String("..\\..\\etc/factur-x.xml")

    assert extract.read(hybrid(change)).chosen.name == "factur-x.xml"


def test_a_name_is_taken_from_the_tree_where_the_specification_has_none():
    def change(pdf, spec):
        del spec["/UF"]
        del spec["/F"]

    assert extract.read(hybrid(change)).chosen.name == "factur-x.xml"


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        ({"xrechnung.xml": XML, "factur-x.xml": SAMPLE}, "factur-x.xml"),
        ({"ZUGFeRD-invoice.xml": XML, "XRechnung.XML": SAMPLE}, "XRechnung.XML"),
        ({"ZUGFeRD-invoice.xml": ZUGFERD_1, "rechnung.xml": XML}, "rechnung.xml"),
        ({"factur-x.xml": ORDER, "zugferd-invoice.xml": XML}, "zugferd-invoice.xml"),
        ({"xrechnung.xml": UBL, "zugferd-invoice.xml": XML}, "zugferd-invoice.xml"),
        ({"factur-x.xml": b"<broken", "cida.xml": XML}, "cida.xml"),
        ({"notes.xml": b"<notes/>", "cida.xml": XML}, "cida.xml"),
        ({"invoice.dat": XML, "anything.xml": SAMPLE}, "anything.xml"),
    ],
)
def test_of_several_the_best_is_chosen(files, chosen):
    def change(pdf, spec):
        pdf.Root.Names.EmbeddedFiles.Names = Array()
        pdf.Root.AF = Array()
        for name, content in files.items():
            attach(pdf, name, content, mime="/application/octet-stream" if name.endswith("dat") else "/text/xml")

    found = extract.read(hybrid(change))
    assert found.chosen.name == chosen
    assert found.xml == files[chosen]


def only(name, content, **options):
    """A PDF with one file embedded, and that one another than in a good hybrid."""
    return hybrid(xml=content, name=name, **options)


@pytest.mark.parametrize(
    ("data", "error", "values"),
    [
        (b"%PDF-1.7\n%%EOF", errors.PdfDamaged, {}),
        (hybrid()[:500], errors.PdfDamaged, {}),
        (hybrid(encryption=pikepdf.Encryption(owner="x", user="y", R=6)), errors.PdfEncrypted, {}),
        (hybrid(forget_all, lambda pdf, spec: spec.__delitem__("/EF")), errors.PdfWithoutXml, {"found": "–"}),
        (only("a.pdf", b"%PDF"), errors.EmbeddedXmlNotWellFormed, {"name": "a.pdf", "line": 1}),
        (only("notes.xml", b"<notes/>"), errors.PdfWithoutXml, {"found": "notes.xml"}),
        (only("factur-x.xml", XML[:-10]), errors.EmbeddedXmlNotWellFormed, {"name": "factur-x.xml"}),
        (only("factur-x.xml", b""), errors.EmbeddedXmlNotWellFormed, {"line": 1, "column": 1}),
        (only("factur-x.xml", b"<a>\n<b></a>"), errors.EmbeddedXmlNotWellFormed, {"line": 2}),
        (only("factur-x.xml", b"<a/>"), errors.UnknownRoot, {"name": "a"}),
        (only("factur-x.xml", b"<!DOCTYPE a><a/>"), errors.DoctypeForbidden, {"line": 1}),
        (only("factur-x.xml", ZUGFERD_1), errors.ZugferdV1, {}),
        (only("factur-x.xml", CANDIDATE), errors.ZugferdV1, {}),
        (only("order-x.xml", ORDER), errors.OrderX, {}),
        (only("xrechnung.xml", UBL), errors.UblInPdf, {"name": "xrechnung.xml"}),
        (only("any.xml", UBL), errors.UblInPdf, {"name": "any.xml"}),
        (hybrid(lambda pdf, spec: packed(pdf, spec, b"x", "LZWDecode"), **RAW), errors.EmbeddedXmlUnreadable,
         {"name": "factur-x.xml", "reason": "unsupported filter LZWDecode"}),
        (only("factur-x.xml", b" " * 10_485_761), errors.EmbeddedXmlUnreadable, {"reason": "more than 10485760 bytes"}),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)  # fmt: skip
def test_each_bad_case_is_an_error_of_its_own(data, error, values):
    for read in (einvoice.validate, einvoice.read):
        with pytest.raises(error) as raised:
            read(data)
        assert type(raised.value) is error
        assert values.items() <= raised.value.values.items()
    for lang in ("de", "en"):
        assert "{" not in "".join(einvoice.explain_error(raised.value, lang))


def test_the_errors_have_problems_of_their_own():
    pdf = (errors.PdfDamaged, errors.PdfEncrypted, errors.PdfWithoutXml, errors.PdfTooComplex, errors.NotAPdf)
    inside = (errors.EmbeddedXmlUnreadable, errors.EmbeddedXmlNotWellFormed, errors.UblInPdf)
    kinds = (*pdf, *inside, errors.ZugferdV1, errors.OrderX)
    assert len({kind.problem for kind in kinds}) == len(kinds)


# Validation


def test_the_verdict_is_on_the_xml_and_that_on_the_container_stands_beside_it(tmp_path):
    path = tmp_path / "rechnung.pdf"
    path.write_bytes(b"\n" + hybrid())
    result = einvoice.validate(path, lang="en")
    assert result.is_valid
    assert result.filename == "rechnung.pdf"
    assert (result.identity.syntax, result.identity.customization_id) == ("CII", "urn:cen.eu:en16931:2017")
    (finding,) = result.findings
    assert (finding.code, finding.severity, finding.layer) == ("PDF-HEADER", "warning", "pdf")
    assert (finding.line, finding.xpath, finding.section) == (None, "", "document")
    assert not result.container.is_valid
    assert result.container.findings == (finding,)
    answered = result.to_dict("en")
    assert answered["is_valid"] is True
    assert [item["code"] for item in answered["warnings"]] == ["PDF-HEADER"]
    told = answered["validation_details"]["container"]
    assert (told["is_valid"], told["name"], told["findings"]) == (False, "factur-x.xml", 1)
    assert "not a full PDF/A validation" in told["title"]
    assert answered["validation_details"]["validation_stack"]["layers"][-1]["name"] == "pdf"


def test_a_note_on_the_container_does_not_turn_its_verdict():
    result = einvoice.validate(hybrid(lambda pdf, spec: pdf.Root.AF.append(spec)))
    assert [finding.code for finding in result.findings] == ["PDF-ASSOCIATED-TWICE"]
    assert result.container.is_valid


def test_a_result_travels_with_its_container():
    result = einvoice.validate(hybrid(lambda pdf, spec: pdf.Root.AF.append(spec)))
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict("en") == result.to_dict("en")
    assert str(again.invoice.number) == "SW-88"


def test_xml_has_no_container():
    result = einvoice.validate(XML)
    assert result.container is None
    assert "container" not in result.to_dict()["validation_details"]


def test_errors_are_those_of_the_xml_with_its_lines_and_paths():
    wrong = XML.replace(b"<ram:TypeCode>380", b"<ram:TypeCode>999")
    plain, wrapped = einvoice.validate(wrong, profile="facturx"), einvoice.validate(hybrid(xml=wrong))
    assert not wrapped.is_valid
    assert wrapped.container.is_valid
    assert [(it.code, it.line, it.column, it.xpath) for it in wrapped.findings] == [
        (it.code, it.line, it.column, it.xpath) for it in plain.findings
    ]


def test_the_invoice_is_read_out_of_a_pdf():
    assert str(einvoice.read(hybrid()).number) == "SW-88"


def test_minimum_is_judged_by_its_profile_alone():
    minimum = XML.replace(b"<ram:ID>urn:cen.eu:en16931:2017<", b"<ram:ID>urn:factur-x.eu:1p0:minimum<")
    result = einvoice.validate(hybrid(xml=minimum))
    assert "DECL-NO-INVOICE" in {finding.code for finding in result.findings}
    assert result.stack.layer("en16931") is None


# einvoice.extract


def test_extract_gives_the_bytes_and_what_they_are(tmp_path):
    path = tmp_path / "rechnung.pdf"
    path.write_bytes(hybrid(xml=SAMPLE))
    found = einvoice.extract(path)
    assert (found.xml, found.name, found.relationship, found.filename) == (
        SAMPLE, "factur-x.xml", "Alternative", "rechnung.pdf")  # fmt: skip
    assert (found.profile, found.problem) == ("XRechnung", None)
    assert found.candidates == found.attachments


def test_extract_gives_what_cannot_be_judged_too():
    found = einvoice.extract(hybrid(xml=ZUGFERD_1))
    assert (found.xml, found.profile, type(found.problem)) == (ZUGFERD_1, "", errors.ZugferdV1)
    assert type(einvoice.extract(hybrid(xml=b"<a><b></a>")).problem) is errors.EmbeddedXmlNotWellFormed


@pytest.mark.parametrize("data", [XML, b"\x89PNG\r\n", b""])
def test_extract_wants_a_pdf(data):
    with pytest.raises(errors.NotAPdf):
        einvoice.extract(data)


def test_names_are_not_trusted_with_a_terminal():
    with pytest.raises(errors.PdfWithoutXml) as raised:
        extract.read(hybrid(lambda pdf, spec: attach(pdf, "\x1b[31mred.xml", b"<a/>"), xml=b"<a/>", name="b.xml"))
    assert raised.value.values["found"] == "b.xml, \\x1b[31mred.xml"


def test_a_file_that_nothing_embeds_is_none():
    def change(pdf, spec):
        pdf.Root.Names.EmbeddedFiles.Names.extend([String("factur-x.xml"), String("elsewhere.xml")])
        pdf.Root.AF.append(Dictionary(Type=Name.Filespec, F=String("factur-x.xml")))
        pdf.Root.AF.append(embed(pdf, "invoice.txt", b"text", mime="/text/plain"))

    assert extract.read(hybrid(change)).candidates == extract.read(hybrid()).candidates
