"""`einvoice.embed`: attachment, metadata, existing content, and PDF/A claims."""

import datetime
import io
import subprocess
import sys

import facturx
import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String

import einvoice
from einvoice.errors import MissingDependency, PdfNotEmbeddable, UnreadableDocument
from einvoice.facturx.profile import PROFILES, XRECHNUNG
from einvoice.model.invoice import Invoice
from einvoice.model.values import absent
from einvoice.pdf.writer.embed import embed
from einvoice.pdf.writer.xmp import Packet
from einvoice.visualization import invoice_pdf
from tests.helpers.full import full_invoice
from tests.helpers.languages import REJECTED

FACTURX_NAMES = ("factur-x.xml", "xrechnung.xml")


@pytest.fixture(scope="module")
def page():
    return invoice_pdf(full_invoice(), "de")


def plain(change=lambda pdf: None, **options):
    """Return a PDF with one empty page and no metadata."""
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        change(pdf)
        out = io.BytesIO()
        pdf.save(out, **options)
        return out.getvalue()


def claiming(part, level="B"):
    """Makes a PDF say that it is PDF/A."""

    def change(pdf):
        packet = Packet()
        packet.put(pdfaid={"part": part, "conformance": level})
        pdf.Root.Metadata = pdf.make_stream(packet.data(), Type=Name.Metadata, Subtype=Name.XML)

    return change


def attachment(pdf, name):
    (file,) = [it for it in pdf.Root.AF if str(it.UF) == name]
    return file


def test_paths_and_files_are_accepted(page, sample, tmp_path):
    path, invoice = tmp_path / "page.pdf", sample("cii-invoice.xml")
    path.write_bytes(page)
    result = embed(str(path), invoice)
    assert result.pdf == embed(page, invoice.read_bytes()).pdf
    with path.open("rb") as opened_page, invoice.open("rb") as opened:
        assert embed(opened_page, opened).pdf == result.pdf
    assert len(repr(result)) < 1000
    with pytest.raises(FileNotFoundError):
        embed(tmp_path / "none.pdf", invoice)
    with pytest.raises(ValueError, match=REJECTED):
        embed(path, invoice, lang="xx")


def codes(reasons):
    return [it.code for it in reasons]


# ---------------------------------------------------------------- the hybrid


@pytest.mark.parametrize("profile", PROFILES, ids=lambda it: it.name)
def test_hybrid_of_each_profile(page, profile):
    result = embed(page, full_invoice(), profile=profile.name, lang="de")
    assert (result.pdfa, result.reasons, result.warnings, result.profile) == (True, (), (), profile)
    with pikepdf.open(io.BytesIO(result.pdf)) as pdf:
        assert pdf.check_pdf_syntax() == []
        file = attachment(pdf, profile.filename)
        assert file.AFRelationship == Name("/" + profile.relationship)
        assert file.F == file.UF == profile.filename
        stream = file.EF.F
        assert stream.objgen == file.EF.UF.objgen
        assert stream.read_bytes() == result.xml
        assert stream.Subtype == "/text/xml"
        assert stream.Params.Size == len(result.xml)
        assert str(stream.Params.ModDate) == "D:20260331120000Z"
        assert pdf.Root.AF[0].objgen == file.objgen
        names = [str(it) for it in list(pdf.Root.Names.EmbeddedFiles.Names)[::2]]
        assert sorted(names) == sorted([profile.filename, *result.attached])
        assert len(pdf.Root.AF) == len(names)
        packet = Packet(bytes(pdf.Root.Metadata.read_bytes()))
    assert (packet.part, packet.conformance, packet.get("pdfuaid:part")) == ("3", "A", "1")
    assert packet.get("fx:ConformanceLevel") == profile.conformance_level
    assert packet.get("fx:DocumentFileName") == profile.filename
    assert packet.get("fx:Version") == ("3.0" if profile is XRECHNUNG else "1.0")
    assert packet.get("dc:title") == "Rechnung R-2026-0815"
    assert einvoice.read(result.xml).specification.text == profile.specification


@pytest.mark.parametrize("profile", PROFILES, ids=lambda it: it.name)
def test_container_checks_find_nothing(page, profile):
    embedded = embed(page, full_invoice(), profile=profile.name)
    result = einvoice.validate(embedded.pdf)
    assert [(it.code, it.title("en")) for it in result.container.findings] == []
    assert result.container.is_valid
    assert einvoice.extract(embedded.pdf).xml == embedded.xml


@pytest.mark.parametrize("profile", [it for it in PROFILES if it is not XRECHNUNG], ids=lambda it: it.name)
def test_factur_x_package_reads_the_hybrid(page, profile):
    result = embed(page, full_invoice(), profile=profile.name)
    name, xml = facturx.get_facturx_xml_from_pdf(result.pdf, check_xsd=True)
    assert (name, xml) == ("factur-x.xml", result.xml)


def test_default_profile_is_the_declared_one(page):
    assert embed(page, full_invoice()).filename == "xrechnung.xml"
    assert embed(page, full_invoice(specification="urn:cen.eu:en16931:2017")).profile.conformance_level == "EN 16931"
    with pytest.raises(LookupError):
        embed(page, full_invoice(), profile="COMFORT")


def test_xml_is_attached_unchanged(page, sample):
    xml = sample("cii-invoice.xml").read_bytes()
    assert embed(page, xml).xml == xml
    assert codes(embed(page, xml, profile="BASIC").warnings) == ["declares"]


def test_other_xml_than_cii_is_rejected(page, sample):
    with pytest.raises(ValueError, match="CII"):
        embed(page, sample("ubl-invoice.xml").read_bytes())
    with pytest.raises(UnreadableDocument):
        embed(page, b"<a/>")


def test_relationship_is_restricted_by_country(page):
    invoice = full_invoice(specification="urn:cen.eu:en16931:2017")
    with pytest.raises(ValueError, match="Alternative"):
        embed(page, invoice, relationship="Source")
    invoice.seller.address.country_code.text = "FR"
    with pikepdf.open(io.BytesIO(embed(page, invoice, relationship="Source").pdf)) as pdf:
        assert attachment(pdf, "factur-x.xml").AFRelationship == "/Source"


def test_dates_are_given_or_taken_from_the_invoice(page):
    when = datetime.datetime(2026, 4, 1, 1, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    with pikepdf.open(io.BytesIO(embed(page, full_invoice(), when=when).pdf)) as pdf:
        assert str(attachment(pdf, "xrechnung.xml").EF.F.Params.ModDate) == "D:20260331233000Z"
        assert str(pdf.docinfo.ModDate) == "D:20260331233000Z"
    with pytest.raises(ValueError, match="time zone"):
        embed(page, full_invoice(), when=datetime.datetime(2026, 4, 1))
    undated = full_invoice()
    undated.issue_date = absent
    assert embed(page, undated).pdfa


@pytest.mark.slow
def test_output_is_reproducible_across_processes(page):
    code = (
        "import hashlib; from tests.helpers.full import full_invoice;"
        "from einvoice.visualization import invoice_pdf; from einvoice.pdf.writer.embed import embed;"
        "print(hashlib.sha256(embed(invoice_pdf(full_invoice()), full_invoice()).pdf).hexdigest())"
    )
    digests = set()
    for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo")):
        environ = {"PYTHONHASHSEED": seed, "TZ": zone, "PYTHONPATH": ":".join(sys.path), "HOME": "/tmp"}
        done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
        digests.add(done.stdout)
    assert len(digests) == 1


# ---------------------------------------------------------------- existing attachments and metadata


def test_existing_invoice_is_replaced_and_other_attachments_stay(page):
    def attach(pdf):
        for name in ("factur-x.xml", "ä.csv", "ZUGFeRD-invoice.xml"):
            stream = pdf.make_stream(b"old", Type=Name.EmbeddedFile)
            pdf.attachments[name] = pikepdf.AttachedFileSpec(pdf, b"old", filename=name)
            del stream

    result = embed(plain(attach), full_invoice(), profile="EN16931")
    with pikepdf.open(io.BytesIO(result.pdf)) as pdf:
        assert sorted(str(it.UF) for it in pdf.Root.AF) == ["aufmass.pdf", "factur-x.xml", "ä.csv"]
        other = attachment(pdf, "ä.csv")
        assert other.EF.F.read_bytes() == b"old"
        assert "/AFRelationship" in other
        assert other.EF.F.get("/Subtype") is not None
        names = [bytes(it) for it in pdf.Root.Names.EmbeddedFiles.Names[::2]]
        assert names == sorted(names)
    replaced = embed(result.pdf, full_invoice(), profile="BASIC")
    with pikepdf.open(io.BytesIO(replaced.pdf)) as pdf:
        assert len(pdf.Root.AF) == 3
        assert Packet(bytes(pdf.Root.Metadata.read_bytes())).get("fx:ConformanceLevel") == "BASIC"


def test_embedding_is_idempotent(page):
    once = embed(embed(page, full_invoice()).pdf, full_invoice())
    assert once.attached == ()  # the attachment of the invoice is there
    assert len(embed(once.pdf, full_invoice()).pdf) == len(once.pdf)


def test_title_and_author_are_copied_to_a_new_xmp_packet():
    def describe(pdf):
        pdf.docinfo["/Title"] = "Mein <Titel>"
        pdf.docinfo["/Author"] = "A & B"

    result = embed(plain(describe), full_invoice())
    with pikepdf.open(io.BytesIO(result.pdf)) as pdf:
        packet = Packet(bytes(pdf.Root.Metadata.read_bytes()))
    assert (packet.get("dc:title"), packet.get("dc:creator"), packet.part) == ("Mein <Titel>", "A & B", "")


# ---------------------------------------------------------------- PDF/A claims and rejected files


def test_plain_pdf_does_not_claim_pdfa():
    result = embed(plain(), full_invoice(), lang="en")
    assert not result.pdfa
    assert codes(result.reasons) == ["no_claim"]
    assert "PDF/A-3" in str(result.reasons[0])
    assert b"pdfaid" not in result.pdf


@pytest.mark.parametrize("part", ["1", "4"])
def test_pdfa_part_without_attachments_is_reported_and_removed(part):
    result = embed(plain(claiming(part)), full_invoice(), lang="de")
    assert codes(result.reasons) == ["other_part"]
    assert f"PDF/A-{part}" in result.reasons[0].text
    with pikepdf.open(io.BytesIO(result.pdf)) as pdf:
        assert Packet(bytes(pdf.Root.Metadata.read_bytes())).part == ""


@pytest.mark.parametrize("part", ["2", "3"])
def test_pdfa_2_becomes_pdfa_3(part):
    result = embed(plain(claiming(part, "U")), full_invoice())
    assert result.pdfa
    with pikepdf.open(io.BytesIO(result.pdf)) as pdf:
        packet = Packet(bytes(pdf.Root.Metadata.read_bytes()))
    assert (packet.part, packet.conformance) == ("3", "U")


def test_pdf_2_cannot_become_pdfa_3():
    result = embed(plain(claiming("3"), force_version="2.0"), full_invoice(), lang="de")
    assert codes(result.reasons) == ["pdf_version"]
    assert "PDF 2.0" in result.reasons[0].text
    assert not result.pdfa
    assert b"pdfaid" not in result.pdf


def font(pdf):
    resource = Dictionary(Font=Dictionary(F1=Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)))
    pdf.pages[0].Resources = pdf.make_indirect(resource)
    pdf.pages[0].Resources.Font.F1 = pdf.make_indirect(pdf.pages[0].Resources.Font.F1)


def script(pdf):
    pdf.Root.OpenAction = pdf.make_indirect(Dictionary(S=Name.JavaScript, JS=String("app.alert(1)")))


def interpolate(pdf):
    image = pdf.make_stream(b"\0", Type=Name.XObject, Subtype=Name.Image, Width=1, Height=1, Interpolate=True)
    pdf.pages[0].Resources = Dictionary(XObject=Dictionary(I=image))


@pytest.mark.parametrize(("fault", "code"), [(font, "fonts"), (script, "scripts"), (interpolate, "interpolated")])
@pytest.mark.parametrize("lang", ["de", "en"])
def test_wrong_pdfa_claim_is_reported_and_removed(fault, code, lang):
    def change(pdf):
        claiming("3")(pdf)
        fault(pdf)

    result = embed(plain(change), full_invoice(), lang=lang)
    assert codes(result.reasons) == [code]
    assert not result.pdfa
    assert code != "fonts" or "Helvetica" in result.reasons[0].text


def test_signature_causes_a_warning():
    def sign(pdf):
        pdf.Root.AcroForm = Dictionary(SigFlags=3, Fields=Array())

    assert codes(embed(plain(sign), full_invoice()).warnings) == ["signed"]


@pytest.mark.parametrize("user", ["", "secret"])
def test_encrypted_file_is_rejected(user):
    encrypted = plain(encryption=pikepdf.Encryption(owner="o", user=user))
    with pytest.raises(PdfNotEmbeddable, match="encrypted") as raised:
        embed(encrypted, full_invoice())
    assert raised.value.cause == "encrypted"


def test_damaged_file_is_rejected():
    with pytest.raises(PdfNotEmbeddable, match="damaged"):
        embed(b"%PDF-1.7\n", full_invoice())


def test_the_first_file_is_a_pdf_and_the_second_is_not(page, sample):
    xml = sample("cii-invoice.xml").read_bytes()
    for first, second, cause in (
        (b"", full_invoice(), "no_pdf"),
        (xml, xml, "no_pdf"),
        (xml, page, "exchanged"),
        (page, page, "invoice_pdf"),
    ):
        with pytest.raises(PdfNotEmbeddable) as raised:
            embed(first, second)
        assert raised.value.cause == cause


def test_errors_survive_pickling():
    import pickle

    for error in (PdfNotEmbeddable("damaged"), MissingDependency("pikepdf", extra="pdf", libraries=("a",))):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_missing_dependency_is_named(monkeypatch, page):
    monkeypatch.setitem(sys.modules, "pikepdf", None)
    with pytest.raises(MissingDependency, match=r"pikepdf.*einvoice-toolkit\[pdf\]"):
        embed(page, Invoice())
