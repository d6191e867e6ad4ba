"""Logo and accent colour of the invoice page."""

import io

import pikepdf
import pytest
from lxml import etree
from PIL import Image

import einvoice
from einvoice.cli import main
from einvoice.errors import LetterheadError
from einvoice.visualization import invoice_pdf
from einvoice.visualization.invoice.accent import accent_css
from einvoice.visualization.invoice.svg_logo import safe_svg
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
    [b" ", b"<html/>", b"%!PS-Adobe-3.0 EPSF-3.0\n", image("BMP"), image()[:20]],
)
def test_only_complete_images_of_known_formats_are_logos(logo):
    with pytest.raises(LetterheadError, match="not an image"):
        invoice_pdf(full_invoice(1), logo=logo)


SVG = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 200 60">
<title>Logo</title><metadata><x xmlns="urn:editor">y</x></metadata>
<defs><style>.image{fill:#005a9c}</style>
<linearGradient id="stops"><stop offset="0" stop-color="#0a0"/><stop offset="1" stop-color="#00a"/></linearGradient>
<linearGradient id="mask" xlink:href="#stops" x2="200" gradientUnits="userSpaceOnUse"/>
<clipPath id="c"><rect width="200" height="50"/></clipPath></defs>
<g clip-path="url(#c)" opacity=".8"><rect class="image" width="60" height="70" rx="8" onclick="x()"/>
<circle cx="100" cy="30" r="25" fill="url(#mask)"/><path d="M140 50 C150 0 170 0 190 50 z"/></g></svg>"""


CLIPPED = "<rect clip-path='url(#c)'/>"


def drawn(pdf):
    """Return the operators of the first page and of the forms on it."""
    with pikepdf.open(io.BytesIO(pdf)) as document:
        page = document.pages[0]
        forms = page.get("/Resources", {}).get("/XObject", {})
        streams = [page, *(it for _, it in forms.items() if it.get("/Subtype") == "/Form")]
        return [str(it.operator) for stream in streams for it in pikepdf.parse_content_stream(stream)]


def test_svg_logo_is_drawn_as_shapes():
    plain, made = invoice_pdf(full_invoice(1)), invoice_pdf(full_invoice(1), logo=SVG.encode())
    assert pictures(made) == []
    assert drawn(made).count("c") >= drawn(plain).count("c") + 4, "curves of the circle and the path"
    assert invoice_pdf(full_invoice(1), logo=SVG.encode()) == made


def test_svg_logo_has_shapes_and_their_style_only():
    found = etree.fromstring(safe_svg(SVG.encode()))
    names = {etree.QName(it).localname for it in found.iter()}
    assert names == {"svg", "defs", "style", "linearGradient", "stop", "clipPath", "rect", "g", "circle", "path"}
    assert not [key for it in found.iter() for key in it.attrib if key.startswith(("on", "{"))]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("<script>alert(1)</script>", "<script>"),
        ("<image href='file:///etc/passwd'/>", "<image>"),
        ("<use href='#a'/>", "<use>"),
        ("<text>Muster GmbH</text>", "<text>"),
        ("<foreignObject/>", "<foreignObject>"),
        ("<a href='https://example.com'><path d='M0 0'/></a>", "<a>"),
        ("<g><animate/></g>", "<animate>"),
        ("<style>@import url(https://example.com/a.css);</style>", "'@'"),
        ("<style>rect{fill:url(https://example.com/a.svg#b)}</style>", "'url\\('"),
        ("<style>rect{fill:\\75rl(a)}</style>", "contains"),
        ("<rect fill='url(file:///a)'/>", "'url\\('"),
        ("<rect style='fill:device-cmyk(0 0 0 1)'/>", "'cmyk'"),
        ("<rect filter='url(#f)'/>", "filter="),
        ("<rect style='mask:url(#m)'/>", "'mask:'"),
        ("<linearGradient id='a' href='#b'/><linearGradient id='b' href='#a'/>", "href='#b'"),
        ("<linearGradient id='a' href='other.svg#b'/>", "href='other.svg#b'"),
        ("<clipPath id='c'><rect clip-path='url(#c)'/></clipPath>", "clip-path in"),
        ("<clipPath id='c'><rect style='clip-path:url(#c)'/></clipPath>", "'clip-path:'"),
        ("<g>" * 31 + "</g>" * 31, "levels"),
        (f"<style>{'a' * 20_001}</style>", "characters"),
        ("<g/>" * 10_001, "cannot be read"),
        (f"<clipPath id='c'>{'<rect/>' * 200}</clipPath>{CLIPPED * 100}", "too often"),
        (
            f"<style>g{{fill:url(#c)}}</style><radialGradient id='c'>{'<stop/>' * 200}</radialGradient>{'<g/>' * 100}",
            "too often",
        ),
    ],
)
def test_svg_logo_with_anything_else_is_refused(content, named):
    logo = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'>{content}</svg>"
    with pytest.raises(LetterheadError, match=named):
        invoice_pdf(full_invoice(1), logo=logo.encode())


@pytest.mark.parametrize(
    "logo",
    [
        "<svg xmlns='http://www.w3.org/2000/svg'/>",
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 900 1'/>",
        "<svg xmlns='http://www.w3.org/2000/svg' width='100%' height='3'/>",
        "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'/>",
        "<x><svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'/></x>",
        "<svg viewBox='0 0 9 9'",
    ],
)
def test_damaged_or_boundless_svg_is_refused(logo):
    with pytest.raises(LetterheadError, match="SVG"):
        invoice_pdf(full_invoice(1), logo=logo.encode())


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
