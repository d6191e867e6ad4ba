"""What is on the pages, as far as invoices trip over it: fonts, pictures, compression, actions, tags."""

from __future__ import annotations

from typing import Any, Final

from einvoice import errors
from einvoice.pdf.container.check import Faults, check
from einvoice.pdf.reader.opened import Opened
from einvoice.pdf.reader.streams import entry, filters, items, text

_FONT_FILES: Final = ("/FontFile", "/FontFile2", "/FontFile3")


@check("PDF-FONT")
def fonts(opened: Opened) -> Faults:
    """Every font is embedded (6.2.11.4.1). Type 3 fonts are drawn in the file itself."""
    for font in opened.resources.fonts:
        if text(entry(font, "/Subtype")) != "/Type3" and not _is_embedded(font):
            yield {"name": errors.quote(text(entry(font, "/BaseFont")).lstrip("/")) or "–"}


def _is_embedded(font: Any) -> bool:
    described = next(items(entry(font, "/DescendantFonts"), 1), font)
    return any(entry(described, "/FontDescriptor", key) is not None for key in _FONT_FILES)


@check("PDF-INTERPOLATE")
def interpolate(opened: Opened) -> Faults:
    """No picture asks to be smoothed (6.2.8)."""
    found = sum(entry(image, "/Interpolate") is True for image in opened.resources.images)
    if found:
        yield {"count": found}


@check("PDF-LZW")
def lzw(opened: Opened) -> Faults:
    """Nothing is packed by LZW (6.1.7.2)."""
    found = sum({"/LZWDecode", "/LZW"} & set(filters(stream)) != set() for stream in opened.resources.streams)
    if found:
        yield {"count": found}


@check("PDF-ACTION")
def actions(opened: Opened) -> Faults:
    """Nothing starts a program or a script (6.5.1)."""
    for name in sorted(opened.resources.actions):
        yield {"action": name}


@check("PDF-TAGS")
def tags(opened: Opened) -> Faults:
    """Level A is claimed for tagged files only (6.7.2, 6.7.3)."""
    if opened.metadata.pdfa.get("conformance") == "A":
        missing = _missing_of_tags(opened)
        if missing:
            yield {"missing": ", ".join(missing)}


@check("PDF-LANGUAGE")
def language(opened: Opened) -> Faults:
    """A file of level A should say its language (6.7.4)."""
    if opened.metadata.pdfa.get("conformance") == "A" and not text(opened.pdf.Root.get("/Lang")):
        yield {}


@check("PDF-UA")
def universal_access(opened: Opened) -> Faults:
    """PDF/UA is claimed for tagged files that say their language (ISO 14289-1, 7.1, 7.2)."""
    if opened.metadata.pdfua.get("part"):
        missing = _missing_of_tags(opened)
        if not text(opened.pdf.Root.get("/Lang")):
            missing.append("Lang")
        if missing:
            yield {"missing": ", ".join(missing)}


def _missing_of_tags(opened: Opened) -> list[str]:
    root = opened.pdf.Root
    there = {
        "StructTreeRoot": entry(root, "/StructTreeRoot") is not None,
        "MarkInfo": entry(root, "/MarkInfo", "/Marked") is True,
    }
    return [name for name, is_there in there.items() if not is_there]


@check("PDF-SEEN-IN-PART")
def seen_in_part(opened: Opened) -> Faults:
    """The checks of fonts, pictures and actions saw all pages."""
    if opened.resources.cut_off:
        yield {"pages": opened.resources.pages}
