"""Files attached to a PDF beside the invoice: those of BG-24, and those of `attach` and `--attach`."""

import io
import json
import pickle
import random
from pathlib import Path

import pytest

import einvoice
from einvoice import AttachedFile
from einvoice.cli import main
from einvoice.pdf.writer.attachments import LIMIT, NotAttachable, file_specification, renamed
from einvoice.visualization import invoice_pdf
from tests.helpers.extras import require_rendering
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
    require_rendering()
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


# Files that cannot be attached


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ({"name": Path("a.txt")}, "no_name"),
        ({"name": ""}, "no_name"),
        ({"data": bytearray(b"1")}, "data"),
        ({"data": "1"}, "data"),
        ({"name": "d/a.txt"}, "folder"),
        ({"name": "d\\a.txt"}, "folder"),
        ({"name": ".."}, "folder"),
        ({"name": "a\n.txt"}, "name"),
        ({"name": "\u202egpj.exe"}, "name"),
        ({"name": "bad\udcff.txt"}, "name"),
        ({"description": "bad\udcff"}, "description"),
        ({"description": "a\x00"}, "description"),
        ({"description": 7}, "description"),
        ({"mime": "/"}, "mime"),
        ({"mime": "text"}, "mime"),
        ({"relationship": "Picture"}, "relationship"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_each_language(file, reason):
    with pytest.raises(NotAttachable) as raised:
        AttachedFile(**{"name": "a.txt", "data": b"1", **file})
    error = pickle.loads(pickle.dumps(raised.value))
    assert error.reason == reason
    texts = [error.text(lang) for lang in ("de", "en", "fr")]
    assert len(set(texts)) == 3
    assert str(error) == texts[1]
    for text in texts:
        assert text.isprintable()
        assert "{" not in text
        assert "name" in file or "a.txt" in text


def test_description_may_have_several_lines():
    assert AttachedFile("a.txt", b"1", description="Zeile 1\nZeile 2").description.endswith("2")


def test_files_of_the_invoice_never_stop_it(page):
    invoice = full_invoice()
    (document,) = (it for it in invoice.documents if it.attachment)
    document.attachment.attributes["filename"], document.attachment.attributes["mimeCode"] = "..", "/"
    assert einvoice.embed(page, invoice).attached == ("BG-24",)


@pytest.fixture
def arguments(page, tmp_path, sample):
    (tmp_path / "page.pdf").write_bytes(page)
    return ["embed", str(tmp_path / "page.pdf"), str(sample("cii-invoice.xml")), "-o", str(tmp_path / "out.pdf")]


def test_pdf_that_would_be_too_large_is_not_written(arguments, tmp_path, capsys):
    (tmp_path / "draft.json").write_text(json.dumps(minimal_draft()), "utf-8")
    large, huge, out = tmp_path / "large.bin", tmp_path / "huge.bin", tmp_path / "out.pdf"
    large.write_bytes(random.Random(1).randbytes(LIMIT))
    huge.write_bytes(bytes(LIMIT + 1))
    for command in (arguments, ["generate", str(tmp_path / "draft.json"), "--format", "ZUGFERD", "-o", str(out)]):
        for file in (large, huge):
            assert main([*command, "--attach", str(file), "--lang", "de"]) == 2
            text = capsys.readouterr().err
            assert file.name in text
            assert f"größer als {LIMIT} Bytes" in text
    assert not out.exists()


@pytest.mark.parametrize(
    ("attach", "found"),
    [
        ("", "--attach braucht eine Datei"),
        (",Source", "--attach braucht eine Datei"),
        ("{0}/a.txt,Picture", "die Beziehung muss eine von Supplement"),
        ("{0}/a.txt,Source,\udcff", "die Beschreibung darf keine unsichtbaren Zeichen"),
        ("{0}/a\u202e.txt", "darf keine unsichtbaren Zeichen enthalten"),
    ],
)
def test_wrong_option_is_explained_in_the_language(arguments, tmp_path, capsys, attach, found):
    for name in ("a.txt", "a\u202e.txt"):
        (tmp_path / name).write_bytes(b"1")
    assert main([*arguments, "--attach", attach.format(tmp_path), "--lang", "de"]) == 2
    assert found in capsys.readouterr().err


def test_format_without_attachments_is_explained_in_the_language(tmp_path, capsys):
    (tmp_path / "draft.json").write_text(json.dumps(minimal_draft()), "utf-8")
    attach = ["--attach", str(tmp_path / "draft.json"), "--lang", "de"]
    assert main(["generate", str(tmp_path / "draft.json"), "--format", "CII", *attach]) == 2
    assert "das Format ZUGFERD wählen" in capsys.readouterr().err


def test_long_descriptions_and_names_with_commas(arguments, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"1")
    (tmp_path / "b, c.txt").write_bytes(b"2")
    description = "lang, " * 60
    attach = ["--attach", f"{tmp_path}/a.txt,Supplement,{description}", "--attach", f"{tmp_path}/b, c.txt,Source,C, D"]
    assert main([*arguments, *attach]) == 0
    files = attached((tmp_path / "out.pdf").read_bytes())
    assert files["a.txt"][:2] == ("/Supplement", description)
    assert files["b, c.txt"][:2] == ("/Source", "C, D")


# Files that are there already


def test_embedding_again_repeats_no_file(page):
    invoice = full_invoice()
    (document,) = (it for it in invoice.documents if it.attachment)
    other = AttachedFile("aufmass.pdf", b"%PDF-1.7 other")
    first = einvoice.embed(page, invoice, attach=[other])
    assert first.attached == ("aufmass.pdf", "aufmass (2).pdf")
    assert einvoice.embed(first.pdf, invoice, attach=[other]).attached == ()
    renamed_there = einvoice.embed(page, full_invoice(), attach=[AttachedFile("x.pdf", document.attachment.value)])
    assert set(renamed_there.attached) == {"aufmass.pdf", "x.pdf"}
    taken = [("a.pdf", b"1"), ("a (2).pdf", b"2")]
    assert renamed([AttachedFile("a.pdf", b"2")], taken, []) == []
    assert [it.name for it in renamed([AttachedFile("b.pdf", b"2")], taken, [])] == ["b.pdf"]


def test_contained_file_under_another_name_is_not_repeated(page):
    (document,) = (it for it in full_invoice().documents if it.attachment)
    without = full_invoice()
    without.documents = tuple(it for it in without.documents if not it.attachment)
    first = einvoice.embed(page, without, attach=[AttachedFile("x.pdf", document.attachment.value)])
    assert first.attached == ("x.pdf",)
    assert einvoice.embed(first.pdf, full_invoice()).attached == ()


# Output files


@pytest.mark.parametrize("command", ["embed", "generate", "extract"])
def test_output_is_written_completely_or_not_at_all(command, arguments, tmp_path, monkeypatch, capsys):
    (tmp_path / "draft.json").write_text(json.dumps(minimal_draft()), "utf-8")
    out = tmp_path / "out.pdf"
    assert main(arguments) == 0
    (tmp_path / "hybrid.pdf").write_bytes(out.read_bytes())
    given = {"generate": str(tmp_path / "draft.json"), "extract": str(tmp_path / "hybrid.pdf")}
    chosen = arguments if command == "embed" else [command, given[command], "-o", str(out)]
    out.write_bytes(b"before")
    write = Path.write_bytes

    def fail(path, data):
        write(path, data[:10])
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", fail)
    assert main(chosen) == 2
    assert out.read_bytes() == b"before"
    assert str(out) in capsys.readouterr().err
    assert not list(tmp_path.glob(".*"))
