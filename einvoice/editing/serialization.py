"""Escapes the content of edits for XML 1.0."""

from __future__ import annotations

import re
from typing import Final

from einvoice.quotation import quote

_FORBIDDEN: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class EditError(ValueError):
    """An edit does not fit the document, or contradicts another edit."""


def escape_text(text: str) -> bytes:
    """Return a text as content of an element, in UTF-8.

    Raises:
        EditError: it has a character that XML forbids.
    """
    _check(text)
    for char, reference in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\r", "&#13;")):
        text = text.replace(char, reference)
    return text.encode("utf-8")


def quoted(value: str, mark: bytes = b'"') -> bytes:
    """Return the value of an attribute between quotation marks, in UTF-8.

    Raises:
        EditError: it has a character that XML forbids.
    """
    content = escape_text(value)
    for char, reference in ((b"\t", b"&#9;"), (b"\n", b"&#10;"), (mark, b"&#34;" if mark == b'"' else b"&#39;")):
        content = content.replace(char, reference)
    return mark + content + mark


def _check(text: str) -> None:
    match = _FORBIDDEN.search(text)
    if match:
        raise EditError(f"XML forbids the character U+{ord(match[0]):04X} in '{quote(text)}'")
