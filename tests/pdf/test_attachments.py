"""Files attached to a PDF beside the invoice: those of BG-24, and those of `attach` and `--attach`."""

import io
import json

import pytest

import einvoice
from einvoice import AttachedFile
from einvoice.cli import main
from einvoice.pdf.writer.attachments import file_specification, renamed
from einvoice.visualization import invoice_pdf
from tests.helpers.full import full_invoice
from tests.helpers.hybrids import XML
from tests.helpers.plain import draft as minimal_draft

pikepdf = pytest.importorskip("pikepdf")

PLAN = AttachedFile("plan.pdf", b"%PDF-1.7 plan", "Source", "Lageplan")


@pytest.fixture(scope="module")
def page():
    return invoice_pdf(full_invoice(), "de")


def attached(data):
    """Return the attachments of a PDF by name: relationship, description, media type, content."""
    with pikepdf.open(io.BytesIO(data)) as pdf:
        return {
            str(it.UF): (str(it.AFRelationship), str(it.get("/Desc", "")), str(it.EF.F.Subtype), it.EF.F.read_bytes())
            for it in pdf.Root.AF
        }


def test_files_are_attached_with_relationship_and_description(page, tmp_path):
    (tmp_path / "times.csv").write_bytes(b"1;2")
    made = einvoice.embed(page, full_invoice(), attach=[PLAN, tmp_path / "times.csv"])
    files = attached(made.pdf)
    assert made.attached == ("aufmass.pdf", "plan.pdf", "times.csv")
    assert files["plan.pdf"] == ("/Source", "Lageplan", "/application/pdf", PLAN.data)
    assert files["times.csv"] == ("/Supplement", "", "/text/csv", b"1;2")
    assert made.pdfa
    assert [it.code for it in einvoice.validate(made.pdf).container.findings] == []


def test_files_of_the_invoice_are_attached(page):
    (document,) = (it for it in full_invoice().documents if it.attachment)
    made = einvoice.embed(page, full_invoice(), profile="MINIMUM")  # without BG-24 in its XML
    relationship, description, mime, content = attached(made.pdf)["aufmass.pdf"]
    assert (relationship, mime, content) == ("/Supplement", "/application/pdf", document.attachment.value)
    assert description == document.description.text


def test_taken_names_get_a_number():
    same, other = AttachedFile("a.txt", b"1"), AttachedFile("a.txt", b"2")
    assert [it.name for it in renamed([same, other, other], [("a.txt", b"1")], ["factur-x.xml"])] == ["a (2).txt"]
    assert [it.name for it in renamed([AttachedFile("factur-x.xml", b"")], [], ["factur-x.xml"])] == [
        "factur-x (2).xml"
    ]


def test_folders_in_names_are_removed(page):
    invoice = full_invoice()
    (document,) = (it for it in invoice.documents if it.attachment)
    document.attachment.attributes["filename"] = "..\\..\\etc/pass\nwd"
    assert einvoice.embed(page, invoice).attached == ("passwd",)


def test_wrong_relationship_is_rejected():
    with pytest.raises(ValueError, match="Supplement"):
        AttachedFile("a.txt", b"", "Attachment")
    with pytest.raises(ValueError, match="name"):
        AttachedFile("", b"")


def test_generated_pdf_has_the_files():
    generated = einvoice.generate(minimal_draft(), "ZUGFERD", attach=[PLAN])
    assert generated.attached == ("plan.pdf",)
    assert "plan.pdf" in attached(generated.pdf)
    with pytest.raises(ValueError, match="ZUGFERD"):
        einvoice.generate(minimal_draft(), "UBL", attach=[PLAN])


def test_command_embed_attaches_and_tells(page, tmp_path, capsys, sample):
    (tmp_path / "page.pdf").write_bytes(page)
    (tmp_path / "plan, old.txt").write_bytes(b"x")
    arguments = ["embed", str(tmp_path / "page.pdf"), str(sample("cii-invoice.xml")), "-o", str(tmp_path / "out.pdf")]
    attach = ["--attach", str(tmp_path / "plan, old.txt"), "--attach", f"{tmp_path / 'page.pdf'},Data,Die Seite, alt"]
    assert main([*arguments, *attach, "--lang", "en"]) == 0
    assert "Also attached: " in capsys.readouterr().out
    files = attached((tmp_path / "out.pdf").read_bytes())
    assert files["page.pdf"][:2] == ("/Data", "Die Seite, alt")
    assert files["plan, old.txt"][0] == "/Supplement"
    assert main([*arguments, "--attach", f"{tmp_path / 'page.pdf'},Picture"]) == 2
    assert "Supplement" in capsys.readouterr().err
    assert main([*arguments, "--attach", str(tmp_path / "none.txt")]) == 2
    assert "none.txt" in capsys.readouterr().err


def test_command_generate_attaches_and_tells(tmp_path, capsys):
    (tmp_path / "draft.json").write_text(json.dumps(minimal_draft()), "utf-8")
    (tmp_path / "plan.txt").write_bytes(b"x")
    out, attach = tmp_path / "out.pdf", ["--attach", str(tmp_path / "plan.txt")]
    main(["generate", str(tmp_path / "draft.json"), "--format", "ZUGFERD", "-o", str(out), *attach, "--lang", "en"])
    assert "Also attached: plan.txt." in capsys.readouterr().out
    assert "plan.txt" in attached(out.read_bytes())
    assert main(["generate", str(tmp_path / "draft.json"), "--format", "CII", "-o", str(out), *attach]) == 2
    assert "ZUGFERD" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["FACTUR-X.XML", "Xrechnung.XML", "order-x.xml", "ZUGFeRD-Invoice.xml"])
def test_attached_invoice_does_not_take_over(page, name):
    """Readers disregard the case of names: another invoice in CII must not bear one that they look for."""
    made = einvoice.embed(page, full_invoice(), attach=[AttachedFile(name, XML), AttachedFile(name.upper(), b"<a/>")])
    assert einvoice.extract(made.pdf).xml == made.xml
    numbered = (f"{name[:-4]} (2){name[-4:]}", f"{name.upper()[:-4]} (3).XML")
    assert made.attached == ("aufmass.pdf", *numbered)
    again = einvoice.embed(made.pdf, full_invoice())
    assert einvoice.extract(again.pdf).xml == made.xml


def test_existing_invoice_is_replaced_whatever_the_case_of_its_name(page):
    with pikepdf.open(io.BytesIO(page)) as pdf:
        pdf.attachments["FACTUR-X.XML"] = XML
        out = io.BytesIO()
        pdf.save(out)
    made = einvoice.embed(out.getvalue(), full_invoice())
    assert [it.name for it in einvoice.extract(made.pdf).attachments] == ["aufmass.pdf", made.filename]


@pytest.mark.parametrize(
    ("other", "relationship"),
    [("FACTUR-X.XML", "Alternative"), ("factur-x.xml", "Supplement"), ("Factur-X.xml", "Supplement")],
)
def test_reader_prefers_the_prescribed_name_and_relationship(page, other, relationship):
    made = einvoice.embed(page, full_invoice(), profile="EN16931")
    with pikepdf.open(io.BytesIO(made.pdf)) as pdf:
        spec = file_specification(pdf, AttachedFile(other, XML, relationship, mime="text/xml"), "D:20260301110000Z")
        pdf.Root.Names.EmbeddedFiles.Names.insert(0, spec)
        pdf.Root.Names.EmbeddedFiles.Names.insert(0, pikepdf.String(other))
        out = io.BytesIO()
        pdf.save(out)
    extracted = einvoice.extract(out.getvalue())
    assert len(extracted.candidates) == 2
    assert extracted.xml == made.xml


def test_reader_prefers_the_name_in_the_metadata(page):
    made = einvoice.embed(page, full_invoice(), profile="EN16931")
    with pikepdf.open(io.BytesIO(made.pdf)) as pdf:
        names = pdf.Root.Names.EmbeddedFiles.Names
        pdf.Root.Metadata.write(pdf.Root.Metadata.read_bytes().replace(b"factur-x.xml", b"rechnung.xml"))
        for index, name in enumerate(names):
            if str(name) == "factur-x.xml":
                names[index + 1].F = names[index + 1].UF = pikepdf.String("rechnung.xml")
        names.insert(0, file_specification(pdf, AttachedFile("a.xml", XML, "Data"), "D:20260301110000Z"))
        names.insert(0, pikepdf.String("a.xml"))
        out = io.BytesIO()
        pdf.save(out)
    assert einvoice.extract(out.getvalue()).name == "rechnung.xml"
