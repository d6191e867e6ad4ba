"""The accent colour of the invoice page: of its lines and, where it is dark enough to read, of its headings."""

from __future__ import annotations

import re
from typing import Final

from einvoice.errors import LetterheadError

_COLOUR: Final = re.compile("#[0-9a-fA-F]{6}")
_LINES: Final = """
.lines th, .plain th { border-bottom-color: COLOUR }
.totals .due th, .totals .due td { border-top-color: COLOUR; border-bottom-color: COLOUR }
.plain .sum td { border-top-color: COLOUR }
.meaning { border-left-color: COLOUR }
"""
_HEADINGS: Final = """
h1, h2, .from .name { color: COLOUR }
"""
#: Minimum contrast of text on white (WCAG 2.1, 1.4.3).
_CONTRAST: Final = 4.5


def accent_css(colour: str) -> str:
    """Return the style of an accent colour.

    Args:
        colour: in the form "#rrggbb".

    Raises:
        LetterheadError: the colour has another form.
    """
    if not _COLOUR.fullmatch(colour):
        raise LetterheadError(f"the accent colour must have the form #rrggbb, such as #005a9c, not {colour!r}")
    style = _LINES + _HEADINGS if contrast(colour) >= _CONTRAST else _LINES
    return style.replace("COLOUR", colour)


def contrast(colour: str) -> float:
    """Return the contrast of a colour with white, by WCAG 2.1.

    >>> round(contrast("#000000"), 1), round(contrast("#ffffff"), 1), round(contrast("#005a9c"), 1)
    (21.0, 1.0, 7.1)
    """
    red, green, blue = (_linear(int(colour[start : start + 2], 16) / 255) for start in (1, 3, 5))
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
