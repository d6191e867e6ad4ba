"""Which files an XPath may read: its calls of the functions that read files, as they are written.

Not a parser of XPath: it tells words from strings and comments, which is what it takes to see a call. What hides the
name of a function (`function-lookup`) counts as a read of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

_FUNCTIONS: Final = "http://www.w3.org/2005/xpath-functions"
_READERS: Final = {
    "collection",
    "doc",
    "doc-available",
    "document",
    "function-lookup",
    "json-doc",
    "load-xquery-module",
    "transform",
    "unparsed-text",
    "unparsed-text-available",
    "unparsed-text-lines",
    "uri-collection",
}
_BY_NAME: Final = {"doc", "doc-available", "document", "json-doc", "unparsed-text", "unparsed-text-available"}
"""Those that read just the file that they are given the name of."""

_TOKEN: Final = re.compile(
    r"""
      (?P<string> "(?:[^"]|"")*" | '(?:[^']|'')*' )
    | (?P<word> Q\{[^{}]*\}[\w.-]+ | [^\W\d][\w.-]*(?::[^\W\d][\w.-]*)? )
    | (?P<open> \(: ) | (?P<close> :\) )
    | (?P<other> \S )
    """,
    re.VERBOSE,
)


def reads(expression: str, namespaces: Mapping[str | None, str]) -> Iterator[tuple[str, str | None]]:
    """Yield each call that reads a file: the function, and the file's name; None where only the run will show it.

    >>> list(reads("document('codes.xml')//code = . and doc(@href)", {}))
    [('document', 'codes.xml'), ('doc', None)]
    """
    tokens = [*_tokens(expression), *[("other", "")] * 3]
    for number, (kind, text) in enumerate(tokens):
        name = _local(text, namespaces) if kind == "word" else ""
        (_, bracket), (kind, first), (_, end) = tokens[number + 1 : number + 4] if name else tokens[-3:]
        if name in _READERS and bracket in ("(", "#"):
            literal = bracket == "(" and kind == "string" and end == ")" and name in _BY_NAME
            yield name, first[1:-1].replace(first[0] * 2, first[0]) if literal else None


def _tokens(expression: str) -> Iterator[tuple[str, str]]:
    """The words, strings and signs outside of comments, which nest."""
    position, depth = 0, 0
    while match := _TOKEN.search(expression, position):
        position = match.end()
        kind = match.lastgroup or ""
        if kind == "open" or (kind == "close" and depth):
            depth += 1 if kind == "open" else -1
        elif not depth:
            yield kind, match[0]
        elif kind in ("string", "word"):
            position = match.start() + 1  # a comment has neither: an apostrophe in it ends nowhere


def _local(name: str, namespaces: Mapping[str | None, str]) -> str:
    """The local name of a standard function, "" of any other."""
    if name.startswith("Q{"):
        uri, _, local = name[2:].partition("}")
        return local if uri.strip() in ("", _FUNCTIONS) else ""
    prefix, _, local = name.rpartition(":")
    return local if not prefix or namespaces.get(prefix) in (None, _FUNCTIONS) else ""
