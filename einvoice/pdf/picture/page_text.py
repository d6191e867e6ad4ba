"""The text of the pages of a PDF, in rows as people see them."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

MAX_PAGES: Final = 100
MAX_WORDS: Final = 100_000
_MAX_LENGTH: Final = 100
"""Maximum length of a word; longer ones are no values."""
_SAME_ROW: Final = 2.5
"""Words of a row have base lines within this distance (points)."""
_GAP: Final = 16.0
"""Two words with more between the begin of the last letter and the next word are in two columns (points)."""
_WORD: Final = re.compile(r"\S+")


class Word(NamedTuple):
    """A word: its text, and where its first and last characters begin (points from the left)."""

    left: float
    right: float
    text: str


class Row(NamedTuple):
    """Words on one base line.

    Attributes:
        bottom: distance from the bottom of the page (points).
        words: from left to right.
        text: the words with a blank between them, or a tab where there is a gap, as between columns.
        starts: where each word begins in the text.
    """

    bottom: float
    words: Sequence[Word]
    text: str
    starts: Sequence[int]


class TooLong(Exception):  # noqa: N818 (names the state)
    """The PDF has more pages or words than are compared."""


Pages: TypeAlias = Sequence[Sequence[Row]]

Problem: TypeAlias = Literal["", "library", "length", "failure"]
"""Why there is no text: pypdfium2 is missing, there are too many pages or words, pdfium failed or took too long."""
PROBLEMS: Final[dict[object, Problem]] = {"library": "library", "length": "length"}


class PageText(NamedTuple):
    """The text of the pages; empty if there was a problem."""

    pages: Pages
    problem: Problem = ""


def read_pages(data: bytes) -> list[list[tuple[float, float, float, str]]]:
    """Return the words of each page as left, right, bottom and text, in the order of the file.

    Runs in the sandbox, since the PDF is untrusted.

    Raises:
        TooLong: the PDF has more pages or words than are compared.
        ImportError: pypdfium2 is not installed.
        RuntimeError: pdfium cannot read the PDF.
    """
    import pypdfium2

    with pypdfium2.PdfDocument(data) as pdf:
        if len(pdf) > MAX_PAGES:
            raise TooLong
        pages, count = [], 0
        for page in pdf:
            words = _words(page)
            count += len(words)
            if count > MAX_WORDS:
                raise TooLong
            pages.append(words)
        return pages


def _words(page: Any) -> list[tuple[float, float, float, str]]:
    from pypdfium2.raw import FPDFText_GetCharOrigin, FPDFText_GetUnicode

    x, y = ctypes.c_double(), ctypes.c_double()
    at_x, at_y = ctypes.byref(x), ctypes.byref(y)
    words = []
    text_page = page.get_textpage()
    # The text that pdfium returns in one piece leaves characters out, so that their numbers would not fit.
    characters = (FPDFText_GetUnicode(text_page.raw, index) for index in range(text_page.count_chars()))
    text = "".join(map(_character, characters))
    for match in _WORD.finditer(text):
        FPDFText_GetCharOrigin(text_page.raw, match.start(), at_x, at_y)
        left, bottom = x.value, y.value
        FPDFText_GetCharOrigin(text_page.raw, match.end() - 1, at_x, at_y)
        words.append((round(left, 1), round(x.value, 1), round(bottom, 1), match[0][:_MAX_LENGTH]))
    text_page.close()
    page.close()
    return words


def _character(code: int) -> str:
    """Return a character; a blank for control characters and halves of characters beyond the first plane."""
    return chr(code) if code > ord(" ") and not 0xD800 <= code < 0xE000 else " "


def rows(words: Iterable[Sequence[Any]]) -> list[Row]:
    """Return the words of a page in rows, from top to bottom.

    >>> rows([(50, 60, 700, "Total"), (200, 210, 701, "1.50"), (50, 60, 680, "Thanks")])[0].words[1].text
    '1.50'
    """
    found: list[tuple[float, list[Word]]] = []
    for left, right, bottom, text in sorted(words, key=lambda it: (-it[2], it[0])):
        if not found or found[-1][0] - bottom > _SAME_ROW:
            found.append((bottom, []))
        found[-1][1].append(Word(left, right, text))
    return [_row(bottom, sorted(words)) for bottom, words in found]


def _row(bottom: float, words: Sequence[Word]) -> Row:
    text, starts, right = "", [], 0.0
    for word in words:
        text += "" if not text else "\t" if word.left - right > _GAP else " "
        starts.append(len(text))
        text, right = text + word.text, word.right
    return Row(bottom, words, text, starts)
