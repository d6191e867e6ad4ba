"""Tables whose columns are as wide as their longest number, so that no number breaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from einvoice.visualization.markup import Markup, tag

#: Width of the page between its margins, and of a character and the space between columns (mm).
_PAGE: Final = 165.0
_CHARACTER: Final = 1.82
_HEAD_CHARACTER: Final = 1.6
_SPACE: Final = 2.6
#: Minimum width of a text column, and the one that a long text keeps before anything breaks in a number column (mm).
_MIN_TEXT: Final = 38.0
_WIDE_TEXT: Final = 60.0


class Column(NamedTuple):
    """A column: its heading, and whether it holds numbers, which are aligned right and do not break."""

    heading: str
    is_number: bool = False


def cell(name: str, content: str, class_: str, **attributes: str) -> Markup:
    """Return a table cell, with the class of its column if it has one."""
    return tag(name, content, class_=class_, **attributes) if class_ else tag(name, content, **attributes)


def table(
    columns: Sequence[Column], rows: Sequence[Markup], texts: Sequence[Sequence[str]], class_: str = "plain"
) -> Markup:
    """Return a table.

    Args:
        columns: of the table.
        rows: the rows as HTML.
        texts: the texts of the cells, by row; they decide the widths of the columns. "" where a number may break.
        class_: CSS class.
    """
    widths = tag("colgroup", *(Markup(f'<col style="width:{width:.1f}mm"/>') for width in _widths(columns, texts)))
    heads = [cell("th", it.heading, "n" if it.is_number else "", scope="col") for it in columns]
    return tag("table", widths, tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_=class_)


def _widths(columns: Sequence[Column], texts: Sequence[Sequence[str]]) -> list[float]:
    """Return the widths of the columns: of the numbers what they need, of the texts the rest in equal parts.

    Where there is room, nothing breaks in a number column; otherwise it breaks between words.
    """
    text_columns = sum(not it.is_number for it in columns) or 1
    needed = _needed(columns, texts, len)
    if _PAGE - sum(needed) < _wanted(columns, texts):
        needed = _needed(columns, texts, _longest_word)
    rest = _PAGE - sum(needed)
    if rest < _MIN_TEXT * text_columns:  # the numbers are too long: they share what the texts leave
        scale = (_PAGE - _MIN_TEXT * text_columns) / sum(needed)
        needed = [width * scale for width in needed]
        rest = _MIN_TEXT * text_columns
    return [width or rest / text_columns for width in needed]


def _wanted(columns: Sequence[Column], texts: Sequence[Sequence[str]]) -> float:
    """Return the width that the text columns need, each at least the minimum and at most that of a long text."""
    longest = (
        max((len(row[number]) for row in texts), default=0) for number, it in enumerate(columns) if not it.is_number
    )
    return sum(min(max(it * _CHARACTER + _SPACE, _MIN_TEXT), _WIDE_TEXT) for it in longest)


def _needed(columns: Sequence[Column], texts: Sequence[Sequence[str]], length: Callable[[str], int]) -> list[float]:
    """Return the widths that number columns need, 0 for text columns, by a measure of what is not to break."""
    return [
        max(max((length(row[number]) for row in texts), default=0) * _CHARACTER, length(it.heading) * _HEAD_CHARACTER)
        + _SPACE
        if it.is_number
        else 0.0
        for number, it in enumerate(columns)
    ]


def _longest_word(text: str) -> int:
    """Return the length of the longest part that has no ordinary space."""
    return max(map(len, text.split(" ")), default=0)
