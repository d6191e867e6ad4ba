"""What keeps a PDF from being PDF/A-3, as far as it can be seen without validating it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from einvoice.pdf.writer.xmp import Packet
from einvoice.result.languages import Language

_TEXTS: Final[Mapping[str, Mapping[Language, str]]] = {
    "no_claim": {
        "de": "Die Datei gibt sich nicht als PDF/A aus. Speichern Sie die Vorlage als PDF/A-3.",
        "en": "The file does not say that it is PDF/A. Save the original as PDF/A-3.",
    },
    "other_part": {
        "de": "Die Datei ist PDF/A-{part}; Anhänge wie diesen erlaubt erst PDF/A-3. Speichern Sie sie als PDF/A-3.",
        "en": "The file is PDF/A-{part}; only PDF/A-3 allows such attachments. Save it as PDF/A-3.",
    },
    "fonts": {
        "de": "Nicht eingebettete Schriften: {names}.",
        "en": "Fonts that are not embedded: {names}.",
    },
    "scripts": {
        "de": "Die Datei enthält JavaScript oder startet Programme, was PDF/A verbietet.",
        "en": "The file has JavaScript in it or starts programs, which PDF/A forbids.",
    },
    "interpolated": {
        "de": "Ein Bild verlangt, geglättet zu werden (Interpolate), was PDF/A verbietet.",
        "en": "An image asks to be smoothed (Interpolate), which PDF/A forbids.",
    },
    "lzw": {
        "de": "Ein Teil der Datei ist mit LZW gepackt, was PDF/A verbietet.",
        "en": "A part of the file is packed with LZW, which PDF/A forbids.",
    },
    "signed": {
        "de": "Die Datei war elektronisch signiert; die Signatur ist nun ungültig. Signieren Sie nach dem Einbetten.",
        "en": "The file was signed electronically. Embedding has broken the signature; sign afterwards.",
    },
    "declares": {
        "de": "Die XML-Rechnung nennt in BT-24 eine andere Spezifikation als das Profil {level}.",
        "en": "The XML invoice declares another specification in BT-24 than the profile {level}.",
    },
}
_FORBIDDEN_ACTIONS: Final = frozenset({"/JavaScript", "/Launch", "/Sound", "/Movie"})
_MOST_NAMES: Final = 5


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing to know about a PDF: a stable code, and a sentence for people."""

    code: str
    text: str

    def __str__(self) -> str:
        return self.text


def reason(code: str, lang: Language, **values: str) -> Reason:
    """The reason with this code, in words."""
    return Reason(code, _TEXTS[code][lang].format(**values))


def obstacles(document: Any, lang: Language) -> list[Reason]:
    """What keeps a PDF (of pikepdf) from being PDF/A-3 with an attachment.

    PDF/A-2 counts as PDF/A-3: the two differ in what may be attached, and in nothing else (ISO 19005-3, Introduction).
    """
    found = [*_claims(document, lang)]
    seen = _Seen()
    for thing in document.objects:
        seen.look(thing)
    if seen.fonts:
        names = sorted(seen.fonts)
        shown = ", ".join(names[:_MOST_NAMES]) + (" …" if len(names) > _MOST_NAMES else "")
        found.append(reason("fonts", lang, names=shown))
    found += [reason(code, lang) for code in ("scripts", "interpolated", "lzw") if code in seen.codes]
    return found


def _claims(document: Any, lang: Language) -> Iterator[Reason]:
    from pikepdf import Stream

    stream = document.Root.get("/Metadata")
    try:
        packet = Packet(bytes(stream.read_bytes()) if isinstance(stream, Stream) else None)
    except RuntimeError:  # cannot be decoded
        packet = Packet()
    if not packet.part:
        yield reason("no_claim", lang)
    elif packet.part not in ("2", "3"):
        yield reason("other_part", lang, part=packet.part)


class _Seen:
    """What the objects of a PDF show."""

    def __init__(self) -> None:
        self.fonts: set[str] = set()
        self.codes: set[str] = set()

    def look(self, thing: Any) -> None:
        """Look at one object."""
        from pikepdf import Dictionary, Stream

        if isinstance(thing, Stream):
            if bool(thing.get("/Interpolate", False)):
                self.codes.add("interpolated")
            if "/LZWDecode" in str(thing.get("/Filter", "")):
                self.codes.add("lzw")
        elif isinstance(thing, Dictionary):
            if str(thing.get("/S", "")) in _FORBIDDEN_ACTIONS or "/JS" in thing:
                self.codes.add("scripts")
            if thing.get("/Type") == "/Font" and not _is_embedded(thing):
                self.fonts.add(str(thing.get("/BaseFont", "?")).removeprefix("/"))


def _is_embedded(font: Any) -> bool:
    if font.get("/Subtype") in ("/Type0", "/Type3"):
        return True  # the one stands for the fonts below it, the other is drawn
    descriptor = font.get("/FontDescriptor", {})
    return any(key in descriptor for key in ("/FontFile", "/FontFile2", "/FontFile3"))
