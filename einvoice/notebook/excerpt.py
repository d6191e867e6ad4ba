"""The part of a document around a finding, with the place marked."""

from __future__ import annotations

import re
from typing import Any, Final

_AROUND: Final = 40
"""So many lines are shown before the place, and after it."""
_LONGEST: Final = 400
"""Of a line, in characters: some documents are a single one."""


def excerpt(lines: list[str], line: int | None, column: int | None) -> dict[str, Any]:
    """The lines around a place, and the marked one in three pieces: before the mark, the mark, after it.

    Args:
        lines: the document.
        line: of the place, counted from 1; None where there is none.
        column: of its start tag, counted from 1 in characters; None marks the whole line.

    Returns:
        `first`: number of the first line; `above`, `marked`, `below`. Empty without a place.
    """
    if line is None or not 0 < line <= len(lines):
        return {}
    first = max(0, line - 1 - _AROUND)
    return {
        "first": first + 1,
        "above": [_short(it) for it in lines[first : line - 1]],
        "marked": _pieces(lines[line - 1], column),
        "below": [_short(it) for it in lines[line : line + _AROUND]],
    }


def _pieces(text: str, column: int | None) -> list[str]:
    """The element from its start tag on: to its end tag if that stands in the line, else no further than the tag."""
    start = column - 1 if column else len(text) - len(text.lstrip())
    tag = re.match(r"<([^\s/>]+)", text[start:])
    if column is None or tag is None:
        return _cut(text[:start], text[start:].rstrip(), "")
    end = text.find(">", start) + 1 or len(text)
    closing = text.find(f"</{tag[1]}>", end)
    if closing >= 0 and text[end - 2] != "/":
        end = closing + len(tag[1]) + 3
    return _cut(text[:start], text[start:end], text[end:])


def _cut(before: str, marked: str, after: str) -> list[str]:
    before = before if len(before) <= _LONGEST else "…" + before[-_LONGEST:]
    return [before, _short(marked), _short(after)]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
