"""Reading hybrid PDFs: sources of attachments, selection of the invoice, and errors."""

import pickle

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String

import einvoice
from einvoice import errors
from einvoice.pdf import embedded_invoice
from tests.helpers.hybrids import RAW, SAMPLE, XML, attach, embed, hybrid, packed

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
def test_invoice_is_found_in_every_attachment_source(change, sources):
    found = embedded_invoice.read(hybrid(change))
    assert found.xml == XML
    assert found.chosen.sources == sources


@pytest.mark.parametrize("key", ["/UF", "/F", "/Unix", "/DOS", "/Mac"])
def test_stream_is_found_under_each_key(key):
    def change(pdf, spec):
        spec.EF = Dictionary({key: spec.EF.F})

    assert embedded_invoice.read(hybrid(change)).xml == XML


def test_attachment_metadata():
    (file,) = embedded_invoice.read(hybrid()).attachments
    assert (file.name, file.relationship, file.mime) == ("factur-x.xml", "Alternative", "text/xml")
    assert (file.modified, file.created, file.size) == ("D:20260301110000Z", "", len(XML))
    assert (file.root, file.guideline, file.problem) == ("CrossIndustryInvoice", "urn:cen.eu:en16931:2017", "")


def test_attachment_name_has_no_folder():
    def change(pdf, spec):
        spec.UF = String("..\\..\\etc/factur-x.xml")

    assert embedded_invoice.read(hybrid(change)).chosen.name == "factur-x.xml"


def test_missing_name_is_taken_from_the_name_tree():
    def change(pdf, spec):
        del spec["/UF"]
        del spec["/F"]

    assert embedded_invoice.read(hybrid(change)).chosen.name == "factur-x.xml"


@pytest.mark.parametrize(
    ("files", "selected"),
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
def test_best_candidate_is_selected(files, selected):
    def change(pdf, spec):
        pdf.Root.Names.EmbeddedFiles.Names = Array()
        pdf.Root.AF = Array()
        for name, content in files.items():
            attach(pdf, name, content, mime="/application/octet-stream" if name.endswith("dat") else "/text/xml")

    found = embedded_invoice.read(hybrid(change))
    assert found.chosen.name == selected
    assert found.xml == files[selected]


def single(name, content, **options):
    """Return a PDF with a single embedded file."""
    return hybrid(xml=content, name=name, **options)


@pytest.mark.parametrize(
    ("data", "error", "values"),
    [
        (b"%PDF-1.7\n%%EOF", errors.PdfDamaged, {}),
        (hybrid()[:500], errors.PdfDamaged, {}),
        (hybrid(encryption=pikepdf.Encryption(owner="x", user="y", R=6)), errors.PdfEncrypted, {}),
        (hybrid(forget_all, lambda pdf, spec: spec.__delitem__("/EF")), errors.PdfWithoutXml, {"found": "–"}),
        (single("a.pdf", b"%PDF"), errors.EmbeddedXmlNotWellFormed, {"name": "a.pdf", "line": 1}),
        (single("notes.xml", b"<notes/>"), errors.PdfWithoutXml, {"found": "notes.xml"}),
        (single("factur-x.xml", XML[:-10]), errors.EmbeddedXmlNotWellFormed, {"name": "factur-x.xml"}),
        (single("factur-x.xml", b""), errors.EmbeddedXmlNotWellFormed, {"line": 1, "column": 1}),
        (single("factur-x.xml", b"<a>\n<b></a>"), errors.EmbeddedXmlNotWellFormed, {"line": 2}),
        (single("factur-x.xml", b"<a/>"), errors.UnknownRoot, {"name": "a"}),
        (single("factur-x.xml", b"<!DOCTYPE a><a/>"), errors.DoctypeForbidden, {"line": 1}),
        (single("factur-x.xml", ZUGFERD_1), errors.ZugferdV1, {}),
        (single("factur-x.xml", CANDIDATE), errors.ZugferdV1, {}),
        (single("order-x.xml", ORDER), errors.OrderX, {}),
        (single("xrechnung.xml", UBL), errors.UblInPdf, {"name": "xrechnung.xml"}),
        (single("any.xml", UBL), errors.UblInPdf, {"name": "any.xml"}),
        (hybrid(lambda pdf, spec: packed(pdf, spec, b"x", "LZWDecode"), **RAW), errors.EmbeddedXmlUnreadable,
         {"name": "factur-x.xml", "reason": "unsupported filter LZWDecode"}),
        (single("factur-x.xml", b" " * 10_485_761), errors.EmbeddedXmlUnreadable,
         {"reason": "more than 10485760 bytes"}),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)  # fmt: skip
def test_specific_error_for_each_unusable_file(data, error, values):
    for read in (einvoice.validate, einvoice.read):
        with pytest.raises(error) as raised:
            read(data)
        assert type(raised.value) is error
        assert values.items() <= raised.value.values.items()
    for lang in ("de", "en"):
        assert "{" not in "".join(einvoice.explain_error(raised.value, lang))


def test_errors_have_different_problem_codes():
    pdf = (errors.PdfDamaged, errors.PdfEncrypted, errors.PdfWithoutXml, errors.PdfTooComplex, errors.NotAPdf)
    inside = (errors.EmbeddedXmlUnreadable, errors.EmbeddedXmlNotWellFormed, errors.UblInPdf)
    kinds = (*pdf, *inside, errors.ZugferdV1, errors.OrderX)
    assert len({kind.problem for kind in kinds}) == len(kinds)


# Validation


def test_xml_and_container_have_separate_verdicts(tmp_path):
    path = tmp_path / "rechnung.pdf"
    path.write_bytes(b"\n" + hybrid())
    result = einvoice.validate(path, lang="en", picture=False)
    assert result.is_valid
    assert result.filename == "rechnung.pdf"
    assert (result.identity.syntax, result.identity.customization_id) == ("CII", "urn:cen.eu:en16931:2017")
    (finding,) = result.findings
    assert (finding.code, finding.severity, finding.layer) == ("PDF-HEADER", "warning", "pdf")
    assert (finding.line, finding.xpath, finding.section) == (None, "", "document")
    assert not result.container.is_valid
    assert result.container.findings == (finding,)
    content = result.to_dict("en")
    assert content["is_valid"] is True
    assert [item["code"] for item in content["warnings"]] == ["PDF-HEADER"]
    container = content["validation_details"]["container"]
    assert (container["is_valid"], container["name"], container["findings"]) == (False, "factur-x.xml", 1)
    assert "not a full PDF/A validation" in container["title"]
    assert content["validation_details"]["validation_stack"]["layers"][-1]["name"] == "pdf"


def test_information_about_the_container_does_not_change_its_verdict():
    result = einvoice.validate(hybrid(lambda pdf, spec: pdf.Root.AF.append(spec)), picture=False)
    assert [finding.code for finding in result.findings] == ["PDF-ASSOCIATED-TWICE"]
    assert result.container.is_valid


def test_result_with_container_survives_pickling():
    result = einvoice.validate(hybrid(lambda pdf, spec: pdf.Root.AF.append(spec)))
    restored = pickle.loads(pickle.dumps(result))
    assert restored.to_dict("en") == result.to_dict("en")
    assert str(restored.invoice.number) == "SW-88"


def test_xml_has_no_container():
    result = einvoice.validate(XML)
    assert result.container is None
    assert "container" not in result.to_dict()["validation_details"]


def test_findings_equal_those_of_the_xml_alone():
    invalid_xml = XML.replace(b"<ram:TypeCode>380", b"<ram:TypeCode>999")
    plain, wrapped = (
        einvoice.validate(invalid_xml, profile="facturx"),
        einvoice.validate(hybrid(xml=invalid_xml), picture=False),
    )
    assert not wrapped.is_valid
    assert wrapped.container.is_valid
    assert [(it.code, it.line, it.column, it.xpath) for it in wrapped.findings] == [
        (it.code, it.line, it.column, it.xpath) for it in plain.findings
    ]


def test_invoice_is_read_from_a_pdf():
    assert str(einvoice.read(hybrid()).number) == "SW-88"


def test_minimum_applies_its_profile_only():
    minimum = XML.replace(b"<ram:ID>urn:cen.eu:en16931:2017<", b"<ram:ID>urn:factur-x.eu:1p0:minimum<")
    result = einvoice.validate(hybrid(xml=minimum))
    assert "DECL-NO-INVOICE" in {finding.code for finding in result.findings}
    assert result.stack.layer("en16931") is None


# einvoice.extract


def test_extract_returns_xml_and_metadata(tmp_path):
    path = tmp_path / "rechnung.pdf"
    path.write_bytes(hybrid(xml=SAMPLE))
    found = einvoice.extract(path)
    assert (found.xml, found.name, found.relationship, found.filename) == (
        SAMPLE, "factur-x.xml", "Alternative", "rechnung.pdf")  # fmt: skip
    assert (found.profile, found.problem) == ("XRechnung", None)
    assert found.candidates == found.attachments


def test_extract_returns_unsupported_xml():
    found = einvoice.extract(hybrid(xml=ZUGFERD_1))
    assert (found.xml, found.profile, type(found.problem)) == (ZUGFERD_1, "", errors.ZugferdV1)
    assert type(einvoice.extract(hybrid(xml=b"<a><b></a>")).problem) is errors.EmbeddedXmlNotWellFormed


@pytest.mark.parametrize("data", [XML, b"\x89PNG\r\n", b""])
def test_extract_rejects_other_files(data):
    with pytest.raises(errors.NotAPdf):
        einvoice.extract(data)


def test_control_characters_in_names_are_escaped():
    with pytest.raises(errors.PdfWithoutXml) as raised:
        embedded_invoice.read(
            hybrid(lambda pdf, spec: attach(pdf, "\x1b[31mred.xml", b"<a/>"), xml=b"<a/>", name="b.xml")
        )
    assert raised.value.values["found"] == "b.xml, [U+001B][31mred.xml"


def test_incomplete_file_specifications_are_ignored():
    def change(pdf, spec):
        pdf.Root.Names.EmbeddedFiles.Names.extend([String("factur-x.xml"), String("elsewhere.xml")])
        pdf.Root.AF.append(Dictionary(Type=Name.Filespec, F=String("factur-x.xml")))
        pdf.Root.AF.append(embed(pdf, "invoice.txt", b"text", mime="/text/plain"))

    assert embedded_invoice.read(hybrid(change)).candidates == embedded_invoice.read(hybrid()).candidates
