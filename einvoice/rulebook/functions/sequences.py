"""Functions for the presence of values, and for sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from einvoice.model.values import BLANKS, Value, absent
from einvoice.rulebook.functions.registry import CALLABLE, GLOBALS, function, occurrences


@function()
def exists(x: Any) -> bool:
    """`exists(x)`: the document has it, even if empty. Also for groups, sequences and generators.

    >>> exists(Value("")), exists(absent)
    (True, False)
    """
    return bool(x) if isinstance(x, list | tuple) else x is not absent


@function()
def non_blank(x: Any) -> bool:
    """`normalize-space(x) != ''`: an occurrence has text other than blanks.

    >>> non_blank("\\u00a0"), non_blank(" \\t\\r\\n"), non_blank("")
    (True, False, False)
    """
    if isinstance(x, Value):
        return any(occurrence.filled for occurrence in occurrences(x))
    return x is not absent and bool(x.strip(BLANKS))


@function()
def attribute(x: Any, name: str) -> Any:
    """`x/@name`, such as the `format` of a date; `absent` if the value or its attribute is missing.

    >>> attribute(Value("20260101", {"format": "102"}), "format"), attribute(absent, "format")
    ('102', absent)
    """
    return absent if x is absent else x.attributes.get(name, absent)


@function()
def default(x: Any, otherwise: Any) -> Any:
    """`if (x) then x else otherwise`, such as "the base quantity, or 1".

    >>> default(absent, 1), default(5, 1)
    (1, 5)
    """
    return otherwise if x is absent else x


@function()
def first(x: Sequence[Any]) -> Any:
    """`(x)[1]`: the first value that is not absent; such as `first(line.net_amount for line in …)`.

    >>> first([absent, Value("a"), Value("b")]), first([])
    (Value('a'), absent)
    """
    return next((member for member in x if member is not absent), absent)


@function()
def same_occurrence(x: Any, y: Any) -> bool:
    """`x is y`: the same occurrence of a value, not only the same text.

    >>> number = Value("1")
    >>> [same_occurrence(number, it) for it in (number, Value("1"), absent)]
    [True, False, False]
    """
    return x is y and x is not absent


_MAX_JOINED: Final = 10


@function()
def joined(x: Sequence[Any]) -> str:
    """`string-join(distinct-values(x), ', ')`, for texts: at most ten values, then `…`.

    >>> joined([Value("1"), absent, Value("3"), Value("1")]), joined([])
    ('1, 3', '')
    """
    texts = list(dict.fromkeys(member.raw for member in x if member is not absent))
    return ", ".join(texts[:_MAX_JOINED]) + (" …" if len(texts) > _MAX_JOINED else "")


@function()
def string_join(x: Sequence[Any], separator: str) -> str:
    """`string-join(x, separator)`: the texts one after another.

    >>> string_join([Value("#PMT#a"), absent, Value("#PMD#b")], "")
    '#PMT#a#PMD#b'
    """
    return separator.join(member.raw for member in x if member is not absent)


@function()
def count(x: Sequence[Any]) -> int:
    """`count(x)`; for a generator, the number of members that are not absent.

    >>> count([Value("a"), Value("")])
    2
    """
    return len(x)


GLOBALS["any"] = CALLABLE["any"] = any  # some $x in … satisfies …
GLOBALS["all"] = CALLABLE["all"] = all  # every $x in … satisfies …
