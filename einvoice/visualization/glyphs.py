"""Which characters the fonts of the page have, and what stands in for the others.

A character without a glyph makes a PDF that is not PDF/A (ISO 19005-3, 6.2.11), and nothing says so while it is made.
"""

from __future__ import annotations

import functools
import unicodedata
from pathlib import Path
from typing import Final

from einvoice.errors import MissingDependency

FONTS: Final = Path(__file__).parent / "fonts"
#: What is shown for a character that no font here has.
REPLACEMENT: Final = "\ufffd"

# They have no glyph of their own or one that shows nothing, and break nothing: tabs, soft hyphens, joiners, marks of
# the direction, the narrow no-break space.
_INVISIBLE: Final = frozenset("\t\n\u00ad\u200b\u200c\u200d\u200e\u200f\u202f\u2060\ufeff")
_LINE_ENDS: Final = frozenset("\r\x85\u2028\u2029")
# They turn the direction of what follows: an amount could show as another than it is.
_TURNING: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """``text`` in the characters that regular and bold have: others by their compatible form, or ``REPLACEMENT``.

    Characters that control something, such as the direction of writing, go.
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
    if kind == "Cc" or character in _TURNING:
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
    """The characters that every font of the page has."""
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
