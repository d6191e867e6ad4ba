"""Texts about an operand at fault, the same for all rules: composed from messages by the key of the diagnosis.

The key is that of `program.diagnosis.Diagnosis`; its dots distinguish it from those of situations in rule files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from einvoice.localization import Language, Messages

_MESSAGES: Final = Messages("einvoice.rulebook", "operands")
_KINDS: Final = {"percentage": "percentage", "date": "date"}
"""Kinds of values with words of their own; the others are amounts, prices and quantities."""


_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")


def operand_text(name: str, key: str, lang: Language, of_rule: str) -> str:
    """Return the title, explanation or fix with its placeholders; that of the rule if it is still the best.

    Args:
        name: "title", "explanation" or "fix".
        key: of the diagnosis, such as "malformed.amount.operand.lines".
        lang: language of the text.
        of_rule: the same text of the rule.
    """
    fault, kind, *details = key.split(".")
    words = _MESSAGES[lang]
    if kind == "leading":
        return next((words[it] for detail in (*details, kind) if (it := f"{name}_{fault}_{detail}") in words), of_rule)
    text = words[f"{name}_{'missing' if fault == 'missing' else _KINDS.get(kind, 'number')}"]
    text = text.replace("{in_lines}", words["in_lines"] if "lines" in details else "")
    if "operand" in details:
        text = words[f"{name}_of_operand"].replace("{text_of_value}", text)
    return " ".join((text, *_general(of_rule))) if name == "explanation" else text


def _general(explanation: str) -> Iterator[str]:
    """Yield the sentences of an explanation that quote nothing of the invoice: what the rule demands."""
    return (it for it in _SENTENCE_END.split(explanation) if "{" not in it)
