"""Translate XPath regular expressions to Python's `re`."""

from __future__ import annotations

import functools
import re
from typing import Final

_PIECE = re.compile(r"\\.|\(\?:|.", re.DOTALL)
_OUTSIDE: Final = {
    "$": r"\Z",  # Python's $ also matches before a final line end
    ".": r"[^\n\r]",
    r"\s": r"[ \t\n\r]",
    r"\S": r"[^ \t\n\r]",
}
_INSIDE: Final = {r"\s": r" \t\n\r"}
INSTEAD: Final = {r"\D": "[^0-9]", r"\w": "[A-Za-z0-9_]", r"\W": "[^A-Za-z0-9_]"}
"""What to write for an escape that is not supported."""
_ESCAPES: Final = frozenset("\\" + sign for sign in "nrtd\\|.-^?*+{}()[]$")


@functools.cache
def compile(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of XPath 3.1 (without flags), for `search`.

    White space is that of XML, `.` matches neither line feed nor carriage return, `$` matches only the end.
    Raise `ValueError` for constructs that the languages read differently (`\\w`, `\\p`, `(?=` …).

    >>> bool(compile("^a$").search("a\\n"))
    False
    """
    written: list[str] = []
    inside = False
    before = ""
    for piece in _PIECE.findall(pattern):
        if piece.startswith("\\") and piece not in (_ESCAPES | (_INSIDE if inside else _OUTSIDE).keys()):
            instead = f"; write {INSTEAD[piece]}" if piece in INSTEAD else ""
            raise ValueError(f"{piece} is not supported in a pattern{instead}")
        if inside and piece == "[":
            raise ValueError("a character class in a character class is not supported in a pattern")
        if not inside and (before + piece == "(?" or (before in ("*", "+", "?", "}") and piece == "+")):
            raise ValueError("lookaround, flags and possessive quantifiers are not supported in a pattern")
        written.append((_INSIDE if inside else _OUTSIDE).get(piece, piece))
        inside = piece == "[" or (inside and piece != "]")
        before = piece
    try:
        return re.compile("".join(written))
    except re.error as error:
        raise ValueError(f"invalid pattern: {error}") from None
