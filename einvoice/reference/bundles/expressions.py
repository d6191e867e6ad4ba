"""Finds the files that an XPath may read, based on its calls to functions that read files.

This is a tokenizer, not a parser: it separates names from strings and comments, which is enough to recognize a call.
Functions that hide the name of another function (`function-lookup`) count as file access themselves.
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
"""Functions that read only the file named by their argument."""

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


class FileAccess(NamedTuple):
    """A call that reads a file: the function, and its argument if that is a string or a variable."""

    function: str
    uri: str | None = None
    variable: str | None = None


def file_accesses(expression: str, namespaces: Mapping[str | None, str]) -> Iterator[FileAccess]:
    """Yield each call that reads a file.

    >>> for access in file_accesses("document('a.xml')/b = . and doc(@c)", {}):
    ...     print(access)
    FileAccess(function='document', uri='a.xml', variable=None)
    FileAccess(function='doc', uri=None, variable=None)
    """
    tokens = [*_tokens(expression), *[_NONE] * 4]
    for number, (kind, text) in enumerate(tokens):
        name = _local(text, namespaces) if kind == "word" else ""
        if name not in _READERS or tokens[number + 1][1] not in ("(", "#"):
            continue
        (_, bracket), (kind, first), (_, second), (_, third) = tokens[number + 1 : number + 5]
        if bracket == "(" and name in _BY_NAME and kind == "string" and second == ")":
            yield FileAccess(name, uri=first[1:-1].replace(first[0] * 2, first[0]))
        elif bracket == "(" and name in _BY_NAME and first == "$" and third == ")":
            yield FileAccess(name, variable=second)
        else:
            yield FileAccess(name)


def bound_variables(expression: str) -> Iterator[str]:
    """Yield all variables that an expression binds, and possibly some that it only refers to.

    >>> list(bound_variables("for $a in b return $c, $d"))
    ['a', 'd']
    """
    tokens = [_NONE, _NONE, *_tokens(expression), *[_NONE] * 2]
    for number, (_, text) in enumerate(tokens):
        if text == "$":
            (_, second_last), (_, last), _, (_, name), (_, following) = tokens[number - 2 : number + 3]
            if following in ("in", ":", "as") or last == "," or (last == "(" and second_last == "function"):
                yield name


def _tokens(expression: str) -> Iterator[tuple[str, str]]:
    """Yield names, strings and other characters outside of comments, which can be nested."""
    position, depth = 0, 0
    while match := _TOKEN.search(expression, position):
        position = match.end()
        kind = match.lastgroup or ""
        if kind == "open" or (kind == "close" and depth):
            depth += 1 if kind == "open" else -1
        elif not depth:
            yield kind, match[0]
        elif kind in ("string", "word"):
            position = match.start() + 1  # comments contain no tokens: an apostrophe in one starts no string


def _local(name: str, namespaces: Mapping[str | None, str]) -> str:
    """Return the local name of a standard function; "" for any other function."""
    if name.startswith("Q{"):
        uri, _, local = name[2:].partition("}")
        return local if uri.strip() in ("", _FUNCTIONS) else ""
    prefix, _, local = name.rpartition(":")
    return local if not prefix or namespaces.get(prefix) in (None, _FUNCTIONS) else ""
