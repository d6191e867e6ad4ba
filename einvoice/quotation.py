"""Document text in messages: shortened, and with marks for what a reader cannot see."""

import re
import unicodedata
from typing import Final

MAX_QUOTED_LENGTH = 40
"""Maximum number of characters of document text quoted in an error message."""

MAX_IDENTIFIER_LENGTH: Final = 140
"""Document text up to this length is shown as it is; the identifiers of specifications are shorter."""
_EXCERPT_LENGTH: Final = 60

_BLANKS: Final = " \t\r\n"
_SPACES: Final = " +"
_LINE_END: Final = "\r\n?"
_CONTROLS: Final = ("Cc", "Cf", "Zl", "Zp")
"""Unicode categories of control and format characters and of line breaks."""
_MARKS: Final = {"\n": "↵", "\x85": "↵", "\u2028": "↵", "\u2029": "↵", "\t": "⇥"}


def quote(text: str, *, limit: int = MAX_QUOTED_LENGTH, keep_end: bool = False) -> str:
    """Return `text` for use in a message: at most `limit` characters, invisible ones replaced as in `visible`.

    The end is cut off, or the beginning with `keep_end` (for namespaces, which differ at the end).

    >>> quote("Müller & Co\\n", limit=10)
    'Müller & …'
    """
    if len(text) > limit:
        text = "…" + text[1 - limit :] if keep_end else text[: limit - 1] + "…"
    return visible(text)


def excerpt(text: str) -> str:
    """Return the beginning of a text that is longer than any identifier; a shorter one is unchanged.

    >>> excerpt("SEPA " * 40)
    'SEPA SEPA SEPA SEPA SEPA SEPA SEPA SEPA SEPA SEPA SEPA SEPA…'
    """
    return text if len(text) <= MAX_IDENTIFIER_LENGTH else text[: _EXCERPT_LENGTH - 1].rstrip() + "…"


def visible(text: str) -> str:
    """Return `text` with marks for what a reader cannot see.

    A blank at the beginning or the end, and any other than the ordinary one, is "␣", a line break "↵", a tab "⇥"; other
    invisible characters are named by their code point. Text without content is one blank.

    >>> visible(" 1\\xa0234 EUR\\n"), visible("a\\u200bb"), visible("\\t ")
    ('␣1␣234 EUR↵', 'a[U+200B]b', ' ')
    """
    bare = text.strip(_BLANKS)
    if not bare:
        return text and " "
    if bare == text and text.isprintable():
        return text
    before, after = text[: text.index(bare)], text[text.index(bare) + len(bare) :]
    return "".join((_edge(before), *map(_mark, re.sub(_LINE_END, "\n", bare)), _edge(after)))


def printable(name: str) -> str:
    """Return the name of a file for a terminal, a log or a table: control and format characters have marks.

    Such characters could move the cursor, begin another line, or reverse the order of the text. Blanks are kept.

    >>> printable("a\\x1b[2J\\n b.xml")
    'a[U+001B][2J↵ b.xml'
    """
    if name.isprintable():
        return name
    return "".join(_mark(char) if unicodedata.category(char) in _CONTROLS else char for char in name)


def _edge(blanks: str) -> str:
    """Return the marks for blanks around a text; several ordinary ones in a row, such as an indentation, have one."""
    return "".join(map(_mark, re.sub(_SPACES, "\u00a0", re.sub(_LINE_END, "\n", blanks))))


def _mark(char: str) -> str:
    if char.isprintable():
        return char
    if char in _MARKS:
        return _MARKS[char]
    return "␣" if unicodedata.category(char) == "Zs" else f"[U+{ord(char):04X}]"
