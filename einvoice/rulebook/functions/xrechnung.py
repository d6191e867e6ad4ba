"""The words for two rules of XRechnung that no other word could say."""

from __future__ import annotations

import re
import string
from typing import Final

from einvoice.model.values import BLANKS
from einvoice.rulebook.functions import patterns
from einvoice.rulebook.functions.registry import word
from einvoice.rulebook.functions.strings import normalize_space

_WITHOUT_BLANKS: Final = dict.fromkeys(map(ord, BLANKS))
#: A is 10, B is 11 …; as in the official rule the small letters go on after Z.
_IBAN_NUMBERS: Final = {ord(letter): str(ord(letter) - 55) for letter in string.ascii_letters}
_IBAN = r"[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{0,30}"


@word()
def is_valid_iban(x: str) -> bool:
    """BR-DE-19, BR-DE-20: an IBAN by its form and its check digits (ISO 13616, mod 97), blanks aside.

    As the official rule does it: no length a country, and small letters count as other numbers than capital ones.

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


@word()
def skonto_lines_match(x: str, pattern: str) -> bool:
    """BR-DE-18: each line that begins with #, blanks aside, matches the pattern.

    >>> skonto_lines_match("Skonto:\\n#SKONTO#", "^#SKONTO#$"), skonto_lines_match("#VERZUG#", "^#SKONTO#$"), skonto_lines_match("", "^$")
    (True, False, True)
    """
    form = patterns.compile(pattern)
    return all(form.search(line) for line in _lines(x))


@word()
def is_valid_skonto(x: str, pattern: str) -> bool:
    """BR-DE-18: each line that begins with # matches the pattern, and a line end follows the last.

    >>> is_valid_skonto("#SKONTO#\\n", "^#SKONTO#$"), is_valid_skonto("#SKONTO#", "^#SKONTO#$"), is_valid_skonto("", "^$")
    (True, False, True)
    """
    if not _lines(x):
        return True
    return skonto_lines_match(x, pattern) and bool(re.match(_REST, re.split(_ENTRY, x)[-1]))


def _lines(x: str) -> list[str]:
    """The lines that begin with #."""
    return [line for line in map(normalize_space, re.split(_LINE_END, x)) if line.startswith("#")]
