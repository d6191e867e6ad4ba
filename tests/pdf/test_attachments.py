"""Files attached to a PDF beside the invoice: those of BG-24, and those of `attach` and `--attach`."""

import io
import json

import pytest

import einvoice
from einvoice import AttachedFile
from einvoice.cli import main
from einvoice.pdf.writer.attachments import renamed
from einvoice.visualization import invoice_pdf
from tests.helpers.full import full_invoice
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
