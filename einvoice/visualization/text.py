"""Turns a page into text for a terminal, and into an HTML document."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Final
from xml.etree import ElementTree

from einvoice.visualization.markup import Markup, join, tag

_MIN_COLUMN: Final = 16
_GAP: Final = "  "
_UNDERLINES: Final = {"h1": "=", "h2": "-"}
# Paged media ignore it; screens ignore the page rules of the style.
_SCREEN: Final = """
@media screen { body { max-width: 165mm; margin: 8mm auto; padding: 0 6mm; font-family: sans-serif;
  font-size: 10pt; background: #fff } }
"""


def html_document(html: Markup, *, lang: str, title: str, css: str) -> str:
    """Return a page as an HTML document with its style, without scripts and references to other files."""
    style = Markup(f"<style>{css}{_SCREEN}</style>")
    head = tag("head", Markup('<meta charset="utf-8"/>'), tag("title", title), style)
    return "<!doctype html>\n" + tag("html", head, tag("body", html), lang=lang) + "\n"


def plain_text(html: Markup, width: int) -> str:
    """Return a page as plain text.

    Args:
        html: built with `einvoice.visualization.markup`, which is also XML.
        width: of a line (characters); tables with many columns may exceed it.
    """
    body = ElementTree.fromstring(join(Markup("<body>"), html, Markup("</body>")))
    lines = (line.rstrip() for line in _blocks(body, width))
    text = "\n".join(lines).strip("\n")
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.replace("\u00a0", " ") + "\n"


def _blocks(element: Any, width: int) -> Iterator[str]:
    """Yield the lines of the blocks in an element."""
    for child in element:
        if child.tag in ("h1", "h2", "h3"):
            yield from ("", *_heading(child, width))
        elif child.tag == "table":
            yield from ("", *_table(child, width), "")
        elif child.tag == "ul":
            yield from (line for item in child for line in _wrapped(f"- {_text(item)}", width))
        elif child.tag == "p":
            yield from (line for text in _text(child).split("\n") for line in _wrapped(text, width))
        else:
            yield from _blocks(child, width)
            if child.get("class") in ("block", "from", "to", "notes", "finding", "cause", "meaning"):
                yield ""


def _heading(element: Any, width: int) -> Iterator[str]:
    lines = _wrapped(_text(element), width)
    yield from lines
    if underline := _UNDERLINES.get(element.tag):
        yield underline * max(map(len, lines))


def _text(element: Any) -> str:
    """Return the text of an element; paragraphs and line breaks in it are lines."""
    parts = [element.text or ""]
    for child in element:
        is_line = child.tag in ("p", "br", "div")
        parts += ["\n" if is_line and "".join(parts) else "", _text(child), child.tail or ""]
    return "".join(parts)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, _MIN_COLUMN), break_long_words=False, break_on_hyphens=False) or [""]


def _table(table: Any, width: int) -> Iterator[str]:
    rows = [list(row) for row in table.iter("tr")]
    if not rows:
        return
    columns = max(map(len, rows))
    is_number = [
        any(column < len(row) and row[column].get("class") == "n" for row in rows) for column in range(columns)
    ]
    texts = [[_text(cell) for cell in row] for row in rows]
    widths = _column_widths(texts, is_number, width)
    has_head = table.find("thead") is not None
    for number, row in enumerate(texts):
        yield from _row(row, widths, is_number)
        if number == 0 and has_head:
            yield "-" * (sum(widths) + len(_GAP) * (len(widths) - 1))


def _column_widths(texts: Sequence[Sequence[str]], is_number: Sequence[bool], width: int) -> list[int]:
    """Return the widths: of numbers and labels what they need, of the widest text column the rest."""
    widths = [0] * len(is_number)
    for row in texts:
        for column, text in enumerate(row):
            widths[column] = max(widths[column], *map(len, text.split("\n")))
    flexible = [column for column, number in enumerate(is_number) if not number]
    if flexible:
        widest = max(flexible, key=lambda column: widths[column])
        others = sum(widths) - widths[widest] + len(_GAP) * (len(widths) - 1)
        widths[widest] = min(widths[widest], max(width - others, _MIN_COLUMN))
    return widths


def _row(row: Sequence[str], widths: Sequence[int], is_number: Sequence[bool]) -> Iterator[str]:
    cells = [
        [line for part in text.split("\n") for line in _wrapped(part, width)]
        for text, width in zip(row, widths, strict=False)
    ]
    for number in range(max(map(len, cells))):
        parts = [cell[number] if number < len(cell) else "" for cell in cells]
        aligned = zip(parts, widths, is_number, strict=False)
        yield _GAP.join(part.rjust(width) if right else part.ljust(width) for part, width, right in aligned)
