"""The words for two rules of XRechnung that no other word could say."""

from __future__ import annotations

import re

from einvoice.rulebook import lowerings as by
from einvoice.rulebook.kinds import TRUTH
from einvoice.rulebook.operands import as_string
from einvoice.rulebook.texts import text
from einvoice.rulebook.words import word

_BLANKS = re.compile(r"[ \t\r\n]+")
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{0,30}\Z")


@word(by.plain(TRUTH, as_string))
def iban_valid(x: str) -> bool:
    """BR-DE-19, BR-DE-20: an IBAN by its form and its check digits (ISO 13616, mod 97), blanks aside.

    As the official rule does it: no length a country, and small letters count as other numbers than capital ones.

    >>> iban_valid("DE02 1203 0000 0000 2020 51"), iban_valid("DE03120300000000202051"), iban_valid("")
    (True, False, False)
    """
    account = _BLANKS.sub("", x)
    if not _IBAN.match(account):
        return False
    digits = "".join(str(ord(sign) - (55 if sign > "@" else 48)) for sign in account[4:] + account[:4])
    return int(digits) % 97 == 1


_SKONTO = re.compile(r"#SKONTO#TAGE=[0-9]+#PROZENT=[0-9]+\.[0-9]{2}(?:#BASISBETRAG=-?[0-9]+\.[0-9]{2})?#\Z")
_LINE_END = re.compile(r"\r?\n")
_ENTRY = re.compile(r"#[^\n\r]+#")
_REST = re.compile(r"[ \t\r]*\n")


@word(by.plain(TRUTH, as_string))
def skonto_valid(x: str) -> bool:
    """BR-DE-18: each line that begins with # is a discount as XRechnung writes it, and a line end follows the last.

    >>> skonto_valid("#SKONTO#TAGE=14#PROZENT=2.25#\\n"), skonto_valid("#SKONTO#TAGE=14#PROZENT=2.25#")
    (True, False)
    """
    lines = [line for line in map(text, _LINE_END.split(x)) if line.startswith("#")]
    if not lines:
        return True
    return all(_SKONTO.match(line) for line in lines) and bool(_REST.match(_ENTRY.split(x)[-1]))
