"""HTML, built so that nothing but this package can write a tag."""

from __future__ import annotations

from html import escape
from typing import Final

from einvoice.visualization.glyphs import printable


class Markup(str):
    """Text that is HTML already. Any other text is escaped, and made printable, when it is put into a tag."""

    __slots__ = ()


EMPTY: Final = Markup("")


def tag(name: str, /, *content: str, **attributes: str | int) -> Markup:
    """An element. Of an attribute's name a trailing underscore is dropped, another one stands for a hyphen.

    >>> tag("td", "1 < 2", class_="n")
    '<td class="n">1 &lt; 2</td>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(printable(str(value)))}"' for key, value in attributes.items()
    )
    return Markup(f"<{name}{given}>{join(*content)}</{name}>")


def join(*content: str) -> Markup:
    """Several pieces of text and HTML, one after the other."""
    return Markup("".join(it if isinstance(it, Markup) else escape(printable(it), quote=False) for it in content))


def lines(*content: str) -> Markup:
    """Pieces that are not empty, each on a line of its own."""
    return Markup("<br>".join(join(it) for it in content if it))
