"""Finds common violations of PDF/A-3 in a PDF, without a full validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from einvoice.localization import Messages
from einvoice.pdf.reader.pdfa import allows
from einvoice.pdf.writer.xmp import Packet
from einvoice.result.languages import Language

_TEXTS: Final = Messages("einvoice.pdf", "pdfa")
_FORBIDDEN_ACTIONS: Final = frozenset({"/JavaScript", "/Launch", "/Sound", "/Movie"})
_MAX_NAMES: Final = 5


@dataclass(frozen=True, slots=True)
class Reason:
    """A problem of a PDF: a stable code and a message."""

    code: str
    text: str

    def __str__(self) -> str:
        return self.text


def reason(code: str, lang: Language, **values: str) -> Reason:
    """Return the reason with this code."""
    return Reason(code, _TEXTS[lang][code].format(**values))


def pdfa_violations(document: Any, lang: Language) -> list[Reason]:
    """Return the reasons why a PDF, opened by pikepdf, will not conform to PDF/A-3 once a file is attached.

    PDF/A-2 counts as PDF/A-3: they differ only in the allowed attachments (ISO 19005-3, Introduction).
    """
    reasons = [*_claims(document, lang)]
    scan = _ObjectScan()
    for obj in document.objects:
        scan.inspect(obj)
    if scan.fonts:
        names = sorted(scan.fonts)
        listed = ", ".join(names[:_MAX_NAMES]) + (" …" if len(names) > _MAX_NAMES else "")
        reasons.append(reason("fonts", lang, names=listed))
    reasons += [reason(code, lang) for code in ("scripts", "interpolated", "lzw") if code in scan.codes]
    return reasons


def _claims(document: Any, lang: Language) -> Iterator[Reason]:
    from pikepdf import Stream

    stream = document.Root.get("/Metadata")
    try:
        packet = Packet(bytes(stream.read_bytes()) if isinstance(stream, Stream) else None)
    except RuntimeError:  # not decodable
        packet = Packet()
    if not packet.part:
        yield reason("no_claim", lang)
    elif packet.part not in ("2", "3"):
        yield reason("other_part", lang, part=packet.part)
    elif not allows("3", document.pdf_version):
        yield reason("pdf_version", lang, version=document.pdf_version)


class _ObjectScan:
    """Collects violations from the objects of a PDF."""

    def __init__(self) -> None:
        self.fonts: set[str] = set()
        self.codes: set[str] = set()

    def inspect(self, obj: Any) -> None:
        """Inspect one object."""
        from pikepdf import Dictionary, Stream

        if isinstance(obj, Stream):
            if bool(obj.get("/Interpolate", False)):
                self.codes.add("interpolated")
            if "/LZWDecode" in str(obj.get("/Filter", "")):
                self.codes.add("lzw")
        elif isinstance(obj, Dictionary):
            if str(obj.get("/S", "")) in _FORBIDDEN_ACTIONS or "/JS" in obj:
                self.codes.add("scripts")
            if obj.get("/Type") == "/Font" and not _is_embedded(obj):
                self.fonts.add(str(obj.get("/BaseFont", "?")).removeprefix("/"))


def _is_embedded(font: Any) -> bool:
    if font.get("/Subtype") in ("/Type0", "/Type3"):
        return True  # Type0 refers to descendant fonts, which are inspected; Type3 is defined in the file
    descriptor = font.get("/FontDescriptor", {})
    return any(key in descriptor for key in ("/FontFile", "/FontFile2", "/FontFile3"))
