"""Texts about any invoice: what is said of the values of one invoice is left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from einvoice.code_catalog.formatting import VALUES
from einvoice.rulebook.rule import EXPECTED

_PLACEHOLDER: Final = r"(?:[„“]|« )?\{[\w.]+\}(?:[“”]| »)?"
_QUOTED: Final = r"([„“]?)\{([\w.]+)\}([“”]?)"
_SENTENCE_END: Final = r"(?<=[.!?]) (?=[^a-zäöü])"
_TERM_IN_PARENTHESES: Final = rf" \(((?:BT|BG)-[\w-]+): {_PLACEHOLDER}\)"
_IN_PARENTHESES: Final = rf" \([^(){{}}]*{_PLACEHOLDER}[^()]*\)"
_LIST: Final = rf"{_PLACEHOLDER}(?:[ ,+−=×%]+{_PLACEHOLDER})*(?: %| \w+| \((?:BT|BG)-[\w-]+\))?"
_REPORT: Final = rf"(?:[^{{}}:.]+: {_LIST}[,;.] ?)+"
"""A sentence that only lists values, such as `Found: {actual}, calculated: {expected}.`"""
_LISTED: Final = rf"\s*:\s*{_LIST}(?=\.$)"
"""The values at the end of a sentence."""
_CURRENCY: Final = r"(?<=\}) \{[\w.]*currency\}"
_MAX_LABEL_WORDS: Final = 7
_UNKNOWN: Final = "…"


def general(text: str, stand_ins: Mapping[str, str], language: str) -> str:
    """Return a text without the values of an invoice.

    Sentences and parentheses that only report values are left out, and so are values at the end of a sentence. Others
    are named by their business term in `stand_ins`, unless the sentence names it anyway. The expected value of a rule
    is "the calculated value".

    >>> general("BT-106 must be the sum. Found: {actual}, calculated: {expected}.", {}, "en")
    'BT-106 must be the sum.'
    >>> general("The item (BT-157: {item}) is due. Set BT-106 to {expected}.", {"expected": ""}, "en")
    'The item (BT-157) is due. Set BT-106 to the calculated value.'
    >>> general("Line {line} lacks a price. It is {price}.", {"line": "BT-126"}, "en")
    'Line BT-126 lacks a price. It is ….'
    """
    if "{" not in text:
        return text
    sentences = [_without_values(sentence) for sentence in re.split(_SENTENCE_END, text)]
    kept = [sentence for sentence in sentences if sentence] or [text]
    return " ".join(_named(sentence, stand_ins, language) for sentence in kept)


def _without_values(sentence: str) -> str:
    """Return a sentence without values in parentheses and at its end; "" if it does nothing but report values."""
    sentence = re.sub(_IN_PARENTHESES, "", re.sub(_TERM_IN_PARENTHESES, r" (\1)", sentence))
    if re.fullmatch(_REPORT, sentence) and len(sentence.partition(":")[0].split()) <= _MAX_LABEL_WORDS:
        return ""
    statement = re.sub(_LISTED, "", re.sub(_CURRENCY, "", sentence))
    is_sum = sentence.count("{") > statement.count("{") + 1
    return statement if is_sum or "{" not in statement else re.sub(_CURRENCY, "", sentence)


def _named(sentence: str, stand_ins: Mapping[str, str], language: str) -> str:
    def named(match: re.Match[str]) -> str:
        before, name, after = match.groups()
        if name == EXPECTED and name in stand_ins:
            return VALUES[language]["calculated"]
        term = stand_ins.get(name, _UNKNOWN)
        if re.search(rf"{re.escape(term)}\b", sentence):
            term = _UNKNOWN
        return f"{before}{term}{after}"

    return re.sub(_QUOTED, named, sentence)
