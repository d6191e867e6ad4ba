"""Excerpt of a document around a finding, with the location marked."""

from __future__ import annotations

import re
from typing import Any, Final

_CONTEXT_LINES: Final = 40
"""Number of lines shown before and after the location."""
_MAX_LENGTH: Final = 400
"""Maximum number of characters per line: some documents have a single line."""


def excerpt(lines: list[str], line: int | None, column: int | None) -> dict[str, Any]:
    """Return the lines around a location; the marked line is split before and after the mark.

    Args:
        lines: lines of the document.
        line: line of the location, counted from 1; None if there is no location.
        column: column of its start tag, counted from 1 in characters; None marks the whole line.

    Returns:
        `first` (number of the first line), `above`, `marked`, `below`; empty if there is no location.
    """
    if line is None or not 0 < line <= len(lines):
        return {}
    first = max(0, line - 1 - _CONTEXT_LINES)
    return {
        "first": first + 1,
        "above": [_short(it) for it in lines[first : line - 1]],
        "marked": _pieces(lines[line - 1], column),
        "below": [_short(it) for it in lines[line : line + _CONTEXT_LINES]],
    }


def _pieces(text: str, column: int | None) -> list[str]:
    """Mark the element up to its end tag if that is on the same line, else only the start tag."""
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
    before = before if len(before) <= _MAX_LENGTH else "…" + before[-_MAX_LENGTH:]
    return [before, _short(marked), _short(after)]


def _short(text: str) -> str:
    return text if len(text) <= _MAX_LENGTH else text[:_MAX_LENGTH] + "…"
