"""Checks of the page content: fonts, images, compression, actions, tags."""

from __future__ import annotations

from typing import Any, Final

from einvoice.pdf.container.check import Faults, check
from einvoice.pdf.reader.opened_pdf import OpenedPdf
from einvoice.pdf.reader.streams import entry, filters, items, text
from einvoice.quotation import quote

_FONT_FILES: Final = ("/FontFile", "/FontFile2", "/FontFile3")


@check("PDF-FONT")
def fonts(opened: OpenedPdf) -> Faults:
    """Every font is embedded (6.2.11.4.1). Type 3 fonts are defined in the file itself."""
    for font in opened.resources.fonts:
        if text(entry(font, "/Subtype")) != "/Type3" and not _is_embedded(font):
            yield {"name": quote(text(entry(font, "/BaseFont")).lstrip("/")) or "–"}


def _is_embedded(font: Any) -> bool:
    descendant = next(items(entry(font, "/DescendantFonts"), 1), font)
    return any(entry(descendant, "/FontDescriptor", key) is not None for key in _FONT_FILES)


@check("PDF-INTERPOLATE")
def interpolate(opened: OpenedPdf) -> Faults:
    """No image uses interpolation (6.2.8)."""
    count = sum(entry(image, "/Interpolate") is True for image in opened.resources.images)
    if count:
        yield {"count": count}


@check("PDF-LZW")
def lzw(opened: OpenedPdf) -> Faults:
    """No stream uses the LZW filter (6.1.7.2)."""
    count = sum({"/LZWDecode", "/LZW"} & set(filters(stream)) != set() for stream in opened.resources.streams)
    if count:
        yield {"count": count}


@check("PDF-ACTION")
def actions(opened: OpenedPdf) -> Faults:
    """No action starts a program or a script (6.5.1)."""
    for name in sorted(opened.resources.actions):
        yield {"action": name}


@check("PDF-TAGS")
def tags(opened: OpenedPdf) -> Faults:
    """A file that claims level A is tagged (6.7.2, 6.7.3)."""
    if opened.metadata.pdfa.get("conformance") == "A":
        missing = _missing_tag_entries(opened)
        if missing:
            yield {"missing": ", ".join(missing)}


@check("PDF-LANGUAGE")
def language(opened: OpenedPdf) -> Faults:
    """A file that claims level A declares its language (6.7.4)."""
    if opened.metadata.pdfa.get("conformance") == "A" and not text(opened.pdf.Root.get("/Lang")):
        yield {}


@check("PDF-UA")
def universal_access(opened: OpenedPdf) -> Faults:
    """A file that claims PDF/UA is tagged and declares its language (ISO 14289-1, 7.1, 7.2)."""
    if opened.metadata.pdfua.get("part"):
        missing = _missing_tag_entries(opened)
        if not text(opened.pdf.Root.get("/Lang")):
            missing.append("Lang")
        if missing:
            yield {"missing": ", ".join(missing)}


def _missing_tag_entries(opened: OpenedPdf) -> list[str]:
    root = opened.pdf.Root
    present = {
        "StructTreeRoot": entry(root, "/StructTreeRoot") is not None,
        "MarkInfo": entry(root, "/MarkInfo", "/Marked") is True,
    }
    return [name for name, is_present in present.items() if not is_present]


@check("PDF-SEEN-IN-PART")
def inspected_in_part(opened: OpenedPdf) -> Faults:
    """The checks of fonts, images and actions inspected all pages."""
    if opened.resources.is_truncated:
        yield {"pages": opened.resources.pages}
