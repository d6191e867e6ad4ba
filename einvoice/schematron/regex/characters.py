"""Sets of characters, as the content of a class of Python's patterns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from einvoice.schematron.errors import Stopped

_BLOCKS: Final = {
    "BasicLatin": r"\x00-\x7f",
    "Latin-1Supplement": r"\x80-\xff",
    "LatinExtended-A": r"\u0100-\u017f",
    "LatinExtended-B": r"\u0180-\u024f",
    "Greek": r"\u0370-\u03ff",
    "GreekandCoptic": r"\u0370-\u03ff",
    "Cyrillic": r"\u0400-\u04ff",
    "Hebrew": r"\u0590-\u05ff",
    "Arabic": r"\u0600-\u06ff",
}
_PLANE: Final = 0x10000


@lru_cache(maxsize=128)
def category(name: str) -> str:
    """Return the characters of a Unicode category or block, as ranges."""
    if name.startswith("Is"):
        if name[2:] not in _BLOCKS:
            raise Stopped("FORX0002", f"the block '{name}' is not supported")
        return _BLOCKS[name[2:]]
    if not re.fullmatch("[LMNPZSC][a-z]?", name):
        raise Stopped("FORX0002", f"the category '{name}' is not known")
    return _ranges(lambda sign: unicodedata.category(sign).startswith(name))


@lru_cache(maxsize=128)
def complement(content: str) -> str:
    """Return the characters that a class does not contain; a class within a class cannot be negated in Python."""
    known = re.compile(f"[{content}]")
    return _ranges(lambda sign: not known.match(sign))


def _ranges(test: Callable[[str], bool]) -> str:
    found, start = [], None
    for code in range(_PLANE + 1):
        is_in = code < _PLANE and test(chr(code))
        if is_in and start is None:
            start = code
        elif not is_in and start is not None:
            found.append(f"\\u{start:04x}-\\u{code - 1:04x}")
            start = None
    return "".join(found)
