"""Which files an XPath may read: its calls of the functions that read files, as they are written.

Not a parser of XPath: it tells words from strings and comments, which is what it takes to see a call. What hides the
name of a function (`function-lookup`) counts as a read of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

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
_NONE: Final = ("other", "")


class Read(NamedTuple):
    """A call that reads a file: by which function, and the file's name, if it is written there or is a variable."""

    function: str
    uri: str | None = None
    variable: str | None = None


def reads(expression: str, namespaces: Mapping[str | None, str]) -> Iterator[Read]:
    """Yield each call that reads a file.

    >>> list(reads("document('a.xml')/b = . and doc(@c)", {}))
    [Read(function='document', uri='a.xml', variable=None), Read(function='doc', uri=None, variable=None)]
    """
    tokens = [*_tokens(expression), *[_NONE] * 4]
    for number, (kind, text) in enumerate(tokens):
        name = _local(text, namespaces) if kind == "word" else ""
        if name not in _READERS or tokens[number + 1][1] not in ("(", "#"):
            continue
        (_, bracket), (kind, first), (_, second), (_, third) = tokens[number + 1 : number + 5]
        if bracket == "(" and name in _BY_NAME and kind == "string" and second == ")":
            yield Read(name, uri=first[1:-1].replace(first[0] * 2, first[0]))
        elif bracket == "(" and name in _BY_NAME and first == "$" and third == ")":
            yield Read(name, variable=second)
        else:
            yield Read(name)


def bound(expression: str) -> Iterator[str]:
    """Yield the variables that an expression may give a value to: all of them, and some that it only names.

    >>> list(bound("for $a in b return $c, $d"))
    ['a', 'd']
    """
    tokens = [_NONE, _NONE, *_tokens(expression), *[_NONE] * 2]
    for number, (_, text) in enumerate(tokens):
        if text == "$":
            (_, before), (_, directly), _, (_, name), (_, after) = tokens[number - 2 : number + 3]
            if after in ("in", ":", "as") or directly == "," or (directly == "(" and before == "function"):
                yield name


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
