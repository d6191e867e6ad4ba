"""Builds HTML in which all text is escaped, so that a document cannot add tags."""

from __future__ import annotations

import re
from html import escape
from typing import Final

from einvoice.visualization.glyphs import printable


class Markup(str):
    """A string of HTML. Any other string is escaped, and made printable, when it is added to a tag."""

    __slots__ = ()


EMPTY: Final = Markup("")
_WORDS: Final = re.compile(r"([ \t\n]+)")
_BREAKABLE: Final = re.compile(r"[-/–?|%&+]")
_SHORT: Final = 16
_NOT_PLAIN: Final = re.compile(r"[0-9@]")


def tag(name: str, /, *content: str, **attributes: str | int) -> Markup:
    """Return an element. In attribute names, a trailing underscore is removed and other underscores become hyphens.

    >>> tag("td", "1 < 2", class_="n")
    '<td class="n">1 &lt; 2</td>'
    """
    encoded = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(printable(str(value)))}"' for key, value in attributes.items()
    )
    return Markup(f"<{name}{encoded}>{join(*content)}</{name}>")


def join(*content: str) -> Markup:
    """Concatenate text and HTML."""
    return Markup("".join(it if isinstance(it, Markup) else escape(printable(it), quote=False) for it in content))


def solid(text: str, limit: int = 44) -> Markup:
    """Return text in which no number, identifier, e-mail address, or short word breaks at a hyphen or slash.

    Longer words than `limit` characters may break, since they would not fit into their column.
    """
    if not _BREAKABLE.search(text):
        return join(text)
    return join(*(_solid_word(it, limit) for it in _WORDS.split(text)))


def _solid_word(word: str, limit: int) -> str:
    is_solid = _BREAKABLE.search(word) and len(word) <= (limit if _NOT_PLAIN.search(word) else _SHORT)
    return tag("span", word, class_="solid") if is_solid else word


def lines(*content: str) -> Markup:
    """Join the non-empty strings with line breaks."""
    return Markup("<br/>".join(join(it) for it in content if it))
