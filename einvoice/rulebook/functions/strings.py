"""The words that look into texts and compare them.

To a word that wants text a value of the invoice is the text of the document, '' where there is none; only ``any_equal``,
``any_unequal`` and ``all_distinct`` take the view that the binding gave it, as the comparisons of the language do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from einvoice.model.values import BLANKS, Value, absent
from einvoice.rulebook.functions import patterns
from einvoice.rulebook.functions.registry import Truth, occurrences, word


@word()
def raw(x: str) -> str:
    """``string(x)``: the text as it stands, '' where there is none.

    >>> raw(" S ")
    ' S '
    """
    return x


_SPACES = re.compile(f"[{BLANKS}]+")


@word()
def normalize_space(x: str) -> str:
    """``normalize-space(x)``: without blanks around, and with single ones inside; '' where there is none.

    >>> normalize_space(" a \\n b\\u00a0 "), normalize_space("")
    ('a b\\xa0', '')
    """
    return x if x.isalnum() else _SPACES.sub(" ", x).strip(" ")


@word()
def length(x: str) -> int:
    """``string-length(x)``, in characters, 0 where there is none.

    >>> length("ä €")
    3
    """
    return len(x)


@word()
def decimals(x: str) -> int:
    """``string-length(substring-after(x, '.'))``: characters after the first point, blanks included.

    >>> decimals("314.86 "), decimals("314"), decimals("1.2.3")
    (3, 0, 3)
    """
    return len(x.partition(".")[2])


@word()
def contains(x: str, part: str) -> bool:
    """``contains(x, part)``; every text contains the empty one.

    >>> contains("abc", ""), contains("", "a")
    (True, False)
    """
    return part in x


@word()
def starts_with(x: str, beginning: str) -> bool:
    """``starts-with(x, beginning)``.

    >>> starts_with("#SKONTO", "#")
    True
    """
    return x.startswith(beginning)


@word()
def substring_before(x: str, mark: str) -> str:
    """``substring-before(x, mark)``: '' where the mark is not in it.

    >>> substring_before("REG#text", "#"), substring_before("text", "#")
    ('REG', '')
    """
    first, found, _ = x.partition(mark) if mark else ("", "", "")
    return first if found else ""


@word()
def substring_after(x: str, mark: str) -> str:
    """``substring-after(x, mark)``: '' where the mark is not in it.

    >>> substring_after("a#b#c", "#"), substring_after("text", "#")
    ('b#c', '')
    """
    return x.partition(mark)[2] if mark else x


@word()
def substring(x: str, start: int, length: int) -> str:
    """``substring(x, start, length)``, counted from 1: ``substring(x, 1, 2)`` is the country of a VAT number.

    >>> substring("DE123456789", 1, 2), substring("D", 1, 2)
    ('DE', 'D')
    """
    return x[start - 1 : start - 1 + length]


@word()
def upper_case(x: str) -> str:
    """``upper-case(x)``.

    >>> upper_case("vat "), upper_case("ß")
    ('VAT ', 'SS')
    """
    return x.upper()


@word()
def matches(x: str, pattern: str) -> bool:
    r"""``matches(x, pattern)``: the pattern is found somewhere in the text; see ``patterns``.

    >>> matches("ab\n", "b$"), matches("a\u00a0b", r"\s")
    (False, False)
    """
    return patterns.compile(pattern).search(x) is not None


@word()
def in_code_list(x: str, codes: frozenset[str]) -> bool:
    """``not(contains(normalize-space(x), ' ')) and contains(' A B ', concat(' ', normalize-space(x), ' '))``: one
    code of the list; written ``in_code_list(x, 'currencies')``.

    >>> in_code_list(" EUR ", frozenset({"EUR", "USD"})), in_code_list("EUR USD", frozenset({"EUR", "USD"}))
    (True, False)
    """
    return normalize_space(x) in codes


@word()
def joined_codes(list_of_codes: Iterable[str]) -> str:
    """The text ``' A B '`` in which some rules look for any part of it; written ``joined_codes('currencies')``.

    >>> joined_codes(["A", "B"])
    ' A B '
    """
    return f" {' '.join(list_of_codes)} "


def _texts(x: Any) -> set[str]:
    if isinstance(x, str):
        return {x}
    if isinstance(x, Value):
        return {occurrence.text for occurrence in occurrences(x)} if x.more else {x.text}
    return {text for member in x for text in _texts(member)}


@word()
def any_equal(x: Any, y: Any) -> bool:
    """``x = y``: any text on the one side is any on the other; further occurrences count, missing ones do not.

    >>> any_equal([Value("a"), Value("b")], Value("b")), any_equal(absent, absent)
    (True, False)
    """
    return not _texts(x).isdisjoint(_texts(y))


@word()
def any_unequal(x: Any, y: Any) -> bool:
    """``x != y``: any text on the one side is not one on the other; false where either side is missing.

    >>> any_unequal([Value("a"), Value("b")], Value("b")), any_unequal(absent, Value("b"))
    (True, False)
    """
    one, other = _texts(x), _texts(y)
    return bool(one and other) and len(one | other) > 1


@word()
def all_distinct(x: Any) -> bool:
    """``count(x) = count(distinct-values(x))``: no text comes twice.

    >>> all_distinct([Value("a"), Value("b")]), all_distinct([Value("a"), Value("a")])
    (True, False)
    """
    listed = [text for member in ([x] if isinstance(x, str | Value) else x) for text in _texts(member)]
    return len(set(listed)) == len(listed)


_TRUTHS: Final = {"true": True, "1": True, "false": False, "0": False}


@word()
def boolean(x: str) -> Truth:
    """``xs:boolean(x)``; ``absent``, which is neither, for any other text.

    >>> boolean(" 0 "), boolean("True")
    (False, absent)
    """
    return _TRUTHS.get(x.strip(BLANKS), absent)
