"""Logo and accent colour of the invoice page."""

import io

import pikepdf
import pytest
from PIL import Image

import einvoice
from einvoice.cli import main
from einvoice.errors import LetterheadError
from einvoice.visualization import invoice_pdf
from einvoice.visualization.invoice.accent import accent_css
from tests.helpers.business_drafts import DRAFTS
from tests.helpers.full import full_invoice
from tests.helpers.plain import draft


def image(format="PNG", size=(60, 20)):
    out = io.BytesIO()
    Image.new("RGB", size, "#005a9c").save(out, format)
    return out.getvalue()


def pictures(pdf):
    with pikepdf.open(io.BytesIO(pdf)) as document:
        return [it for page in document.pages for it in page.get_images()]


def test_generated_invoice_has_logo_and_accent():
    plain = einvoice.generate(DRAFTS["standard"], "ZUGFERD")
    generated = einvoice.generate(DRAFTS["standard"], "ZUGFERD", logo=image("JPEG"), accent="#005a9c")
    assert (pictures(plain.pdf), len(pictures(generated.pdf))) == ([], 1)
    assert (generated.is_valid, generated.validation.findings) == (True, ())


@pytest.mark.parametrize("format", ["UBL", "CII"])
@pytest.mark.parametrize("letterhead", [{"logo": image()}, {"accent": "#005a9c"}])
def test_xml_has_no_letterhead(format, letterhead):
    with pytest.raises(LetterheadError, match="ZUGFERD"):
        einvoice.generate(draft(format=format), **letterhead)


@pytest.mark.parametrize(
    "logo",
    [b" ", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"%!PS-Adobe-3.0 EPSF-3.0\n", image("BMP"), image()[:20]],
)
def test_only_complete_images_of_known_formats_are_logos(logo):
    with pytest.raises(LetterheadError, match="not an image"):
        invoice_pdf(full_invoice(1), logo=logo)


def test_logo_is_limited():
    with pytest.raises(LetterheadError, match="bytes"):
        invoice_pdf(full_invoice(1), logo=b" " * 10_000_001)
    with pytest.raises(LetterheadError, match="pixels"):
        invoice_pdf(full_invoice(1), logo=image(size=(10_000, 5_001)))


def test_accent_is_of_headings_only_if_readable():
    assert "h1" in accent_css("#005a9c")
    assert "h1" not in accent_css("#ffd500")
    assert "border-bottom-color: #ffd500" in accent_css("#ffd500")


@pytest.mark.parametrize("colour", ["red", "#fff", "#00000g", "#000000;}", "url(x)", ""])
def test_accent_is_a_colour(colour):
    with pytest.raises(LetterheadError, match="#rrggbb"):
        accent_css(colour)


def test_command_line_takes_a_letterhead(tmp_path, sample, capsys):
    logo, out = tmp_path / "logo.png", tmp_path / "out.pdf"
    logo.write_bytes(image())
    options = ["--logo", str(logo), "--accent", "#005a9c", "-o", str(out)]
    assert main(["generate", str(sample("draft.json")), "--format", "ZUGFERD", *options]) == 0
    assert len(pictures(out.read_bytes())) == 1
    assert main(["show", str(sample("cii-invoice.xml")), *options]) == 0
    assert len(pictures(out.read_bytes())) == 1
    assert main(["generate", str(sample("draft.json")), "--format", "ZUGFERD", "--accent", "blue", "-o", str(out)]) == 2
    assert "#rrggbb" in capsys.readouterr().err
