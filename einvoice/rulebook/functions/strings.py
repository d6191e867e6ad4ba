"""Functions on strings.

They read a value as the text of the document, '' if it is absent. Only `any_equal`, `any_unequal` and
`all_distinct` read the text that the mapping produced, as the comparison operators do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from einvoice.model.values import BLANKS, Value, absent
from einvoice.rulebook.functions import patterns
from einvoice.rulebook.functions.registry import Boolean, function, occurrences


@function()
def raw(x: str) -> str:
    """`string(x)`: the unchanged text, '' if it is absent.

    >>> raw(" S ")
    ' S '
    """
    return x


_SPACES = re.compile(f"[{BLANKS}]+")


@function()
def normalize_space(x: str) -> str:
    """`normalize-space(x)`: without blanks at the ends and with single blanks inside; '' if it is absent.

    >>> normalize_space(" a \\n b\\u00a0 "), normalize_space("")
    ('a b\\xa0', '')
    """
    return x if x.isalnum() else _SPACES.sub(" ", x).strip(" ")


@function()
def length(x: str) -> int:
    """`string-length(x)` in characters; 0 if it is absent.

    >>> length("ä €")
    3
    """
    return len(x)


@function()
def decimals(x: str) -> int:
    """`string-length(substring-after(x, '.'))`: characters after the first point, blanks included.

    >>> decimals("314.86 "), decimals("314"), decimals("1.2.3")
    (3, 0, 3)
    """
    return len(x.partition(".")[2])


@function()
def contains(x: str, part: str) -> bool:
    """`contains(x, part)`; every text contains the empty text.

    >>> contains("abc", ""), contains("", "a")
    (True, False)
    """
    return part in x


@function()
def starts_with(x: str, beginning: str) -> bool:
    """`starts-with(x, beginning)`.

    >>> starts_with("#SKONTO", "#")
    True
    """
    return x.startswith(beginning)


@function()
def precedes(x: str, y: str) -> bool:
    """`x lt y`, character by character; dates of the same form are in their order.

    >>> precedes("2026-09-30", "2026-10-01"), precedes("20261001", "20261001")
    (True, False)
    """
    return x < y


@function()
def contains_words(x: str, words: str) -> bool:
    """`contains(concat(' ', x, ' '), concat(' ', words, ' '))`: several words must follow each other in `x`.

    >>> contains_words("1 10 31", "10"), contains_words("1 10 31", "10 31"), contains_words("1 10 31", "1 31")
    (True, True, False)
    """
    return f" {words} " in f" {x} "


@function()
def substring_before(x: str, mark: str) -> str:
    """`substring-before(x, mark)`: '' if the mark does not occur.

    >>> substring_before("REG#text", "#"), substring_before("text", "#")
    ('REG', '')
    """
    first, found, _ = x.partition(mark) if mark else ("", "", "")
    return first if found else ""


@function()
def substring_after(x: str, mark: str) -> str:
    """`substring-after(x, mark)`: '' if the mark does not occur.

    >>> substring_after("a#b#c", "#"), substring_after("text", "#")
    ('b#c', '')
    """
    return x.partition(mark)[2] if mark else x


@function()
def substring(x: str, start: int, length: int) -> str:
    """`substring(x, start, length)`, counted from 1: `substring(x, 1, 2)` is the country of a VAT number.

    >>> substring("DE123456789", 1, 2), substring("D", 1, 2)
    ('DE', 'D')
    """
    return x[start - 1 : start - 1 + length]


_STATED_NUMBER = re.compile(  # letters directly before eight digits are those of an identifier
    r"(?!.*[A-Za-z][0-9]{8})[^0-9.,+-]*(?P<sign>-?)\+?"
    r"(?P<whole>[0-9]+|[0-9]{1,3}(?:(?P<mark>[.,' \u00a0])[0-9]{3})(?:(?P=mark)[0-9]{3})*)"
    r"(?:[.,](?P<decimals>[0-9]+))?[^0-9.,+-]*"
)
_AMBIGUOUS = re.compile("[^0-9]*[1-9][0-9]{0,2}[.,][0-9]{3}[^0-9]*")


@function()
def plain_number(x: str) -> str:
    """Return the number that `x` states, without currency, percent sign and separators of thousands; not in XPath.

    It is '' if there is none, or if a point or comma may separate thousands as well as decimals.

    >>> plain_number("7%"), plain_number("10,00"), plain_number("-1.234,50 EUR"), plain_number("1,234")
    ('7', '10.00', '-1234.50', '')
    >>> plain_number("EUR12.50"), plain_number("ATU13585627")
    ('12.50', '')
    """
    found = _STATED_NUMBER.fullmatch(x)
    if found is None or _AMBIGUOUS.fullmatch(x):
        return ""
    whole = re.sub("[^0-9]", "", found["whole"])
    return found["sign"] + whole + (f".{found['decimals']}" if found["decimals"] else "")


@function()
def upper_case(x: str) -> str:
    """`upper-case(x)`.

    >>> upper_case("vat "), upper_case("ß")
    ('VAT ', 'SS')
    """
    return x.upper()


@function()
def matches(x: str, pattern: str) -> bool:
    r"""`matches(x, pattern)`: the pattern occurs in the text; see `patterns`.

    >>> matches("ab\n", "b$"), matches("a\u00a0b", r"\s")
    (False, False)
    """
    return patterns.compile(pattern).search(x) is not None


@function()
def in_code_list(x: str, codes: frozenset[str]) -> bool:
    """`not(contains(normalize-space(x), ' ')) and contains(' A B ', concat(' ', normalize-space(x), ' '))`: one
    code of the list; written `in_code_list(x, 'currencies')`.

    >>> in_code_list(" EUR ", frozenset({"EUR", "USD"})), in_code_list("EUR USD", frozenset({"EUR", "USD"}))
    (True, False)
    """
    return normalize_space(x) in codes


@function()
def joined_codes(list_of_codes: Iterable[str]) -> str:
    """The text `' A B '`, which some rules search for substrings; written `joined_codes('currencies')`.

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


@function()
def any_equal(x: Any, y: Any) -> bool:
    """`x = y`: a text of one side equals a text of the other, as in general comparisons of XPath.

    >>> any_equal([Value("a"), Value("b")], Value("b")), any_equal(absent, absent)
    (True, False)
    """
    return not _texts(x).isdisjoint(_texts(y))


@function()
def any_unequal(x: Any, y: Any) -> bool:
    """`x != y`: a text of one side differs from a text of the other; false if a side is absent.

    >>> any_unequal([Value("a"), Value("b")], Value("b")), any_unequal(absent, Value("b"))
    (True, False)
    """
    one, other = _texts(x), _texts(y)
    return bool(one and other) and len(one | other) > 1


@function()
def all_distinct(x: Any) -> bool:
    """`count(x) = count(distinct-values(x))`: no text occurs twice.

    >>> all_distinct([Value("a"), Value("b")]), all_distinct([Value("a"), Value("a")])
    (True, False)
    """
    listed = [text for member in ([x] if isinstance(x, str | Value) else x) for text in _texts(member)]
    return len(set(listed)) == len(listed)


_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}


@function()
def boolean(x: str) -> Boolean:
    """`xs:boolean(x)`; `absent` if the text is not a boolean.

    >>> boolean(" 0 "), boolean("True")
    (False, absent)
    """
    return _BOOLEANS.get(x.strip(BLANKS), absent)


# ------------------------------------------------------------------------------------------------ XRechnung

_WITHOUT_BLANKS: Final = dict.fromkeys(map(ord, BLANKS))
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#: A is 10, B is 11 …; the official rule computes lower case letters the same way, from their code points.
_IBAN_NUMBERS: Final = {ord(letter): str(ord(letter) - 55) for letter in _LETTERS}
_IBAN = r"[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{0,30}"


@function()
def is_valid_iban(x: str) -> bool:
    """BR-DE-19, BR-DE-20: the format and the check digits of an IBAN (ISO 13616, mod 97); blanks are ignored.

    As in the official rule, the length does not depend on the country, and lower case letters have their own values.

    >>> is_valid_iban("DE02 1203 0000 0000 2020 51"), is_valid_iban("DE03120300000000202051"), is_valid_iban("")
    (True, False, False)
    """
    account = x.translate(_WITHOUT_BLANKS)
    if not re.fullmatch(_IBAN, account):
        return False
    return int((account[4:] + account[:4]).translate(_IBAN_NUMBERS)) % 97 == 1


_LINE_END = r"\r?\n"
_ENTRY = r"#[^\n\r]+#"
_REST = r"[ \t\r]*\n"


@function()
def skonto_lines_match(x: str, pattern: str) -> bool:
    """BR-DE-18: each line that begins with # matches the pattern; blanks are ignored.

    >>> skonto_lines_match("Skonto:\\n#SKONTO#", "^#SKONTO#$"), skonto_lines_match("#VERZUG#", "^#SKONTO#$")
    (True, False)
    """
    form = patterns.compile(pattern)
    return all(form.search(line) for line in _lines(x))


@function()
def is_valid_skonto(x: str, pattern: str) -> bool:
    """BR-DE-18: each line that begins with # matches the pattern, and a line end follows the last one.

    >>> is_valid_skonto("#SKONTO#\\n", "^#SKONTO#$"), is_valid_skonto("#SKONTO#", "^#SKONTO#$")
    (True, False)
    """
    if not _lines(x):
        return True
    return skonto_lines_match(x, pattern) and bool(re.match(_REST, re.split(_ENTRY, x)[-1]))


@function()
def wrong_skonto_line(x: str, pattern: str) -> str:
    """BR-DE-18: the first line that begins with # and does not match the pattern, trimmed; "" for none.

    >>> wrong_skonto_line("#SKONTO#\\n  #Skonto#", "^#SKONTO#$")
    '#Skonto#'
    """
    form = patterns.compile(pattern)
    return next((line for line in _lines(x) if not form.search(line)), "")


@function()
def line_number_of(x: str, line: str) -> int:
    """BR-DE-18: the number of a line in a text, counted from 1; blanks are ignored. 0 if the text does not have it.

    >>> line_number_of("Skonto:\\n  #SKONTO#", "#SKONTO#")
    2
    """
    lines = list(map(normalize_space, re.split(_LINE_END, x)))
    return lines.index(line) + 1 if line in lines else 0


def _lines(x: str) -> list[str]:
    """Return the lines that begin with #."""
    return [line for line in map(normalize_space, re.split(_LINE_END, x)) if line.startswith("#")]
