"""Replaces characters that the fonts of the page do not contain.

A character without a glyph violates PDF/A (ISO 19005-3, 6.2.11), and the renderer does not report it.
"""

from __future__ import annotations

import functools
import unicodedata
from pathlib import Path
from typing import Final

from einvoice.errors import MissingDependency

FONTS: Final = Path(__file__).parent / "fonts"
#: Shown for a character that the fonts do not contain.
REPLACEMENT: Final = "\ufffd"

# Characters without a visible glyph that are harmless: tabs, soft hyphens, joiners, direction marks, the narrow
# no-break space.
_INVISIBLE: Final = frozenset("\t\n\u00ad\u200b\u200c\u200d\u200e\u200f\u202f\u2060\ufeff")
_LINE_ENDS: Final = frozenset("\r\x85\u2028\u2029")
# Direction overrides, which could make an amount look different.
_DIRECTION_OVERRIDES: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """Return `text` in characters that all fonts contain.

    Other characters are replaced by their compatibility form or `REPLACEMENT`; control characters, such as direction
    overrides, are removed.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text.replace("\r\n", "\n")))


@functools.lru_cache(maxsize=4096)
def _shown(character: str) -> str:
    if character in _LINE_ENDS:
        return "\n"
    if character in _INVISIBLE:
        return character
    kind = unicodedata.category(character)
    if kind == "Cc" or character in _DIRECTION_OVERRIDES:
        return ""
    if kind not in ("Cn", "Co", "Cs"):
        if ord(character) in _covered():
            return character
        compatible = unicodedata.normalize("NFKD", character)
        if compatible != character and all(ord(part) in _covered() for part in compatible):
            return compatible
    return REPLACEMENT


@functools.cache
def _covered() -> frozenset[int]:
    """Return the characters that every font of the page contains."""
    try:
        from fontTools.ttLib import TTFont  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingDependency("weasyprint", extra="pdf") from error
    covered = None
    for path in sorted(FONTS.glob("*.ttf")):
        with TTFont(path, lazy=True) as font:
            own = frozenset(font.getBestCmap())
        covered = own if covered is None else covered & own
    return covered or frozenset()
