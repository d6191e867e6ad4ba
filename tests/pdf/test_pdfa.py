"""PDF/A-3a and PDF/UA-1 conformance, checked by veraPDF (EINVOICE_TEST_VERAPDF) and Ghostscript if installed."""

import io
import itertools
import os
import shlex
import shutil
import subprocess

import pytest
from PIL import Image, ImageDraw

from einvoice.facturx.profile import PROFILES
from einvoice.pdf.writer.embed import embed
from einvoice.visualization import invoice_pdf
from tests.helpers.full import full_invoice

pytestmark = pytest.mark.slow

VERAPDF = os.environ.get("EINVOICE_TEST_VERAPDF", "")
TEXTS = (
    "",
    "漢字かな 한국어 ไทย हिन्दी",
    "🧾🎉👩‍👩‍👧 \U0001f1e9\U0001f1ea",
    "שלום עולם مرحبا بالعالم \u202eabc\u202c",
    "\x07\x85\u2028\u2029\x7f\ue000\ufdd0\U000e0041 e\u0301\u0323 ﬁ Ⅷ ½ \u00ad\u200b\u200d\ufeff",
    "<b>&amp;</b> ]]> \"'` ${x} {{y}} \\ /Type /Font",
    "wort" * 60,
    "₿ ₸ ₹ ₽ № ℃ ∑ ≤ → ■ ☎ ✓ ŁłŐőĞğŞşČč Ελληνικά Русский",
)
LOGOS = (None, "RGB", "CMYK", "RGBA", "P", None, "L", "1", None)


def logo(mode):
    if mode is None:
        return None
    image = Image.new("RGBA", (300, 120), (255, 255, 255, 0))
    ImageDraw.Draw(image).ellipse((20, 10, 280, 110), fill=(30, 90, 160, 160))
    out = io.BytesIO()
    image.convert(mode).save(out, "TIFF" if mode == "CMYK" else "PNG")
    return out.getvalue()


def hybrids(count):
    """Hybrids of all profiles: many lines and few, in both languages, with logos and awkward characters."""
    lengths = itertools.cycle([1, 3, 12, 0, 25, 2, 60])
    various = zip(
        range(count), itertools.cycle(PROFILES), itertools.cycle(TEXTS), itertools.cycle(LOGOS), lengths, strict=False
    )
    for number, profile, text, mode, length in various:
        lang = "de" if number // len(PROFILES) % 2 else "en"
        page = invoice_pdf(full_invoice(length, text=text), lang, logo=logo(mode))
        made = embed(page, full_invoice(length), profile=profile.name, lang=lang)  # XML has no control characters
        assert made.pdfa
        yield f"{number:02}-{profile.name}-{lang}-{length}-{mode}.pdf", made.pdf


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("pdfa")
    for name, pdf in hybrids(50 if VERAPDF else 12):
        (made / name).write_bytes(pdf)
    return made


@pytest.mark.skipif(not VERAPDF, reason="EINVOICE_TEST_VERAPDF does not name a veraPDF command")
@pytest.mark.parametrize("flavour", ["3a", "ua1"])
def test_verapdf_confirms_conformance(folder, flavour):
    files = sorted(folder.glob("*.pdf"))
    command = [*shlex.split(VERAPDF), "--format", "text", "-v", "-f", flavour, *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    verdicts = [line for line in done.stdout.splitlines() if line.startswith(("PASS", "FAIL"))]
    assert len(verdicts) == len(files) == 50
    assert [line for line in done.stdout.splitlines() if "FAIL" in line] == []


@pytest.mark.skipif(not VERAPDF, reason="EINVOICE_TEST_VERAPDF does not name a veraPDF command")
def test_verapdf_detects_a_fault(tmp_path):
    (tmp_path / "no-claim.pdf").write_bytes(
        embed(invoice_pdf(full_invoice(1)).replace(b"pdfaid", b"pdfaix"), full_invoice(1)).pdf
    )
    command = [*shlex.split(VERAPDF), "--format", "text", "-f", "3a", tmp_path / "no-claim.pdf"]
    assert "FAIL" in subprocess.run(command, capture_output=True, text=True, timeout=120).stdout


def ghostscript(path):
    """Return the messages of Ghostscript converting a file to PDF/A: none if the file already conforms.

    That it cannot take over an author with umlauts is about what it writes, not about what it reads.
    """
    command = [
        "gs",
        "-q",
        "-dNOPAUSE",
        "-dBATCH",
        "-dPDFA=3",
        "-dPDFACompatibilityPolicy=1",
        "-sDEVICE=pdfwrite",
        "-o",
        "/dev/null",
    ]
    done = subprocess.run([*command, path], capture_output=True, text=True, timeout=120)
    return [line for line in (done.stdout + done.stderr).splitlines() if line and "DOCINFO" not in line]


@pytest.mark.skipif(not shutil.which("gs"), reason="Ghostscript is not installed")
def test_ghostscript_reports_nothing(folder):
    files = sorted(folder.glob("*.pdf"))[:12]
    assert len(files) == 12
    assert {path.name: ghostscript(path) for path in files} == {path.name: [] for path in files}


@pytest.mark.skipif(not shutil.which("gs"), reason="Ghostscript is not installed")
def test_ghostscript_detects_interpolated_images(tmp_path, monkeypatch):
    module = __import__("einvoice.visualization.typesetting", fromlist=["_BASE"])
    monkeypatch.setattr(module, "_BASE", module._BASE.replace("pixelated", "auto"))
    module._tools.cache_clear()
    (tmp_path / "smooth.pdf").write_bytes(invoice_pdf(full_invoice(1), logo=logo("RGB")))
    module._tools.cache_clear()
    assert "Interpolate" in str(ghostscript(tmp_path / "smooth.pdf"))
