"""The words of an XPath expression."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from einvoice.quotation import quote
from einvoice.schematron.errors import NotCompilable

_NAME: Final = r"[^\W\d][\w.\-]*"
_TOKEN: Final = re.compile(
    rf"""
    (?P<blank>   \s+ | \(: )
  | (?P<number>  (?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)? )
  | (?P<text>    "(?:[^"]|"")*" | '(?:[^']|'')*' )
  | (?P<variable> \$\s*(?:{_NAME}:)?{_NAME} )
  | (?P<name>    \*:{_NAME} | {_NAME}(?::(?!:)(?:\*|{_NAME}))? )
  | (?P<sign>    ::|//|\.\.|<<|>>|<=|>=|!=|\|\||=>|:=|[-+*/|=<>()\[\],.@!?] )
    """,
    re.VERBOSE,
)
_COMMENT: Final = re.compile(r"\(:|:\)")
MAX_LENGTH: Final = 200_000
"""Characters of an expression; the longest of the official sheets are code lists of 30,000."""


class Token(NamedTuple):
    """A word: its kind ("number", "text", "variable", "name", "sign", "end"), its text, and where it begins."""

    kind: str
    text: str
    start: int


def tokens(text: str) -> list[Token]:
    """Return the words of an expression, then one of the kind "end"."""
    if len(text) > MAX_LENGTH:
        raise NotCompilable(f"an expression of {len(text)} characters; at most {MAX_LENGTH} are allowed")
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotCompilable(f"unexpected character {quote(text[at])} in {excerpt(text, at)}")
        kind = str(match.lastgroup)
        if match.group() == "(:":
            at = _end_of_comment(text, at)
            continue
        if kind != "blank":
            found.append(Token(kind, match.group(), at))
        at = match.end()
    return [*found, Token("end", "", len(text))]


def _end_of_comment(text: str, start: int) -> int:
    """Return where a comment ends; comments may contain comments."""
    depth = 0
    for match in _COMMENT.finditer(text, start):
        depth += 1 if match.group() == "(:" else -1
        if not depth:
            return match.end()
    raise NotCompilable(f"a comment without an end in {excerpt(text, start)}")


def excerpt(text: str, at: int) -> str:
    """Return the part of an expression around a place, for messages."""
    return quote(" ".join(text[max(at - 40, 0) : at + 40].split()))
