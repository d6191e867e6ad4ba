"""Wraps text for the terminal."""

from __future__ import annotations

import re
import textwrap
from typing import Any, Final

_INSEPARABLE: Final = re.compile("(?<=«) | (?=[»:;?!%])")
"""Blanks that French writes inside quotation marks and before punctuation; a line must not end there."""
_NO_BREAK: Final = "\u00a0"


def wrap(text: str, width: int, **options: Any) -> list[str]:
    """Return the lines of a text, as `textwrap.wrap` does; punctuation is not separated from its word.

    >>> wrap("Devise : « EUR »", 9)
    ['Devise :', '« EUR »']
    """
    lines = textwrap.wrap(_INSEPARABLE.sub(_NO_BREAK, text), width, **options)
    return [line.replace(_NO_BREAK, " ") for line in lines]
