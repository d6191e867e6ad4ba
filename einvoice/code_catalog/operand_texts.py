"""Texts about an operand at fault, the same for all rules: composed from messages by the key of the diagnosis.

The key is that of `program.diagnosis.Diagnosis`; its dots distinguish it from those of situations in rule files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from einvoice.likeness import likeness
from einvoice.localization import Language, Messages
from einvoice.rulebook.rule import ACTUAL

_MESSAGES: Final = Messages("einvoice.code_catalog", "operands")
_PLACES: Final = (
    "allowance_amount", "allowance_reason", "charge_amount", "charge_reason", "category", "rate", "line",
)  # fmt: skip
"""Values by which a reader finds an operand, each with words of its own, in the order of a sentence."""
_CAUSES: Final = {
    "comma": re.compile(r",\d+\D*$"),
    "separators": re.compile(r"\d[.,'\s]\d{3}(?=[.,])"),
    "percent_sign": re.compile("%"),
    "unit": re.compile(r"\d\s*(?:[^\W\d_]{2}|[€$£])"),
    "exponent": re.compile(r"\d[eE][+-]?\d+$"),
    "digits": re.compile(r"^\D*$"),
}
"""What makes a text no number, each with words of its own."""
_DECIMALS: Final = re.compile(r"[.,]\d{3}")
"""More decimals than an amount may have, unless the mark separates thousands."""
_DATE_CAUSES: Final = {"day": re.compile(r"^\s*(?:\d{4}-\d\d-\d\d|\d{8})\s*$")}
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")
_QUOTED: Final = re.compile(r"\{([\w.]+)\}")
_TERM: Final = re.compile(r"B[TG]-[\w-]+")
_MAX_TERMS: Final = 4
"""A sentence with more terms is longer than what it explains."""
_TAXABLE_AMOUNT: Final = "BT-116"
"""It adds the amounts of one VAT rate (EN 16931-1, BR-S-08)."""
_CALCULATED: Final = re.compile(r"\s?: \{.*")
"""The numbers behind a sentence that says how a value is calculated."""
_FOUND: Final = re.compile(r"[^{}:]+: „?\{\w+\}“?(?:\s?%)?(?:\.$|, (?=\w))")
"""The value that a rule found at the end of an explanation, or before the calculated one."""


def operand_text(name: str, key: str, lang: Language, of_rule: str, values: Mapping[str, Any]) -> str:
    """Return the title, explanation or fix with its placeholders.

    Args:
        name: "title", "explanation" or "fix".
        key: of the diagnosis, such as "malformed.amount.operand".
        lang: language of the text.
        of_rule: the same text of the rule.
        values: those of the finding.
    """
    fault, kind, *details = key.split(".")
    if kind == "leading":
        texts: _Texts = _OfMissingLeading(details[0], _MESSAGES[lang], of_rule, values)
    else:
        texts = (_OfMissing if fault == "missing" else _OfMalformed)(kind, _MESSAGES[lang], of_rule, values)
    text: str = getattr(texts, name)()
    if "operand" in details:
        text = texts.of_operand(name, text)
    return text.replace("{where}", texts.where(in_words=name != "fix"))


class _Texts:
    """Texts about one fault.

    Args:
        kind: of the value, or of the missing leading value.
        words: the messages of the language.
        of_rule: the same text of the rule.
        values: those of the finding.
    """

    def __init__(self, kind: str, words: Mapping[str, str], of_rule: str, values: Mapping[str, Any]) -> None:
        self.kind, self.words, self.of_rule, self.values = kind, words, of_rule, values

    def where(self, in_words: bool) -> str:
        """Return the place of the value, with the VAT category also in words."""
        where = "".join(self.words[f"in_{it}"] for it in _PLACES if it in self.values)
        return where.replace("{vat}", self.words.get(f"vat_{self.values.get('category')}", "") if in_words else "")

    def of_operand(self, name: str, text: str) -> str:
        """Return a text with what follows for the leading value of the rule."""
        if name == "explanation":
            relations = (it for it in self.relations(_CALCULATED) if len(set(_TERM.findall(it))) <= _MAX_TERMS)
            return " ".join((text, *relations))
        return self.words[f"{name}_of_operand"].replace("{text_of_value}", text)

    def relations(self, without: re.Pattern[str]) -> Iterator[str]:
        """Yield the sentences of the rule that say how the leading term depends on others."""
        for sentence in self.sentences(without):
            terms = set(_TERM.findall(sentence))
            if "{expected}" in sentence or (self.values["leading"] in terms and len(terms) > 1):
                yield sentence

    def with_example(self, text: str) -> str:
        """Return a text with the form of a date, or with the number that a value states."""
        example = str(self.values.get("example", ""))
        form = "date_form" if "-" in example[1:] else "short_date_form" if self.kind == "date" else "such_as"
        return text.replace("{such_as}", self.words[form] if example else "")

    def sentences(self, without: re.Pattern[str]) -> Iterator[str]:
        """Yield the sentences of the rule that quote nothing that is missing."""
        for sentence in _SENTENCE_END.split(self.of_rule):
            text = without.sub("", sentence, count=1)
            if text and all(str(self.values.get(it, "")).strip() for it in _QUOTED.findall(text)):
                yield text[0].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


class _OfMissingLeading(_Texts):
    """The leading value is missing: what it is, as the rule calculates or demands it."""

    def title(self) -> str:
        return self.words["title_missing"]

    def explanation(self) -> str:
        if self.kind == "incalculable":
            where = self.words["incalculable_in" if "other_lines" in self.values else "incalculable"]
            return " ".join((*self.relations(_CALCULATED), where))
        sentences = self.sentences(_FOUND) if self.kind == "percentage" else self.relations(_FOUND)
        return " ".join(sentences) or self.words["missing"]

    def fix(self) -> str:
        """Return the fix; that of the rule if it is about a percentage, since it names the right VAT rate."""
        if self.kind == "percentage":
            return self.of_rule
        return self.with_example(self.words.get(f"fix_missing_{self.kind}", self.words["fix_missing"]))


class _OfMissing(_Texts):
    """Another value is missing."""

    def title(self) -> str:
        return self.words["title_missing"]

    def explanation(self) -> str:
        return self.words["missing_also" if "other_lines" in self.values else "missing"]

    def fix(self) -> str:
        return self.words["fix_missing"] + (self.words["formula"] if "formula" in self.values else "")


class _OfMalformed(_Texts):
    """A value is no number or no date."""

    def title(self) -> str:
        return self.words["title_malformed_date" if self.kind == "date" else "title_malformed"]

    def explanation(self) -> str:
        stated, is_date = str(self.values.get(ACTUAL, "")), self.kind == "date"
        causes = [it for it, form in (_DATE_CAUSES if is_date else _CAUSES).items() if form.search(stated)]
        if (
            self.kind == "amount"
            and "example" not in self.values
            and "exponent" not in causes
            and _DECIMALS.search(stated)
        ):
            causes.append("decimals")
        if self.kind == "percentage" and self.values.get("leading") == _TAXABLE_AMOUNT:
            causes.append("rate")
        parts = [
            self.words["malformed_date" if is_date else "malformed"],
            *(self.words[f"cause_{it}"] for it in causes),
        ]
        return " ".join((*parts, self.words["malformed_also"]) if "other_lines" in self.values else parts)

    def fix(self) -> str:
        """Return the fix; before it what the value looks like, if that is the content of another field."""
        key = f"fix_malformed_{self.kind}"
        if self.values.get("example") == "0":
            key = "fix_malformed_zero"
        fix = self.with_example(self.words.get(key, self.words["fix_malformed"]))
        other = likeness(str(self.values.get(ACTUAL, "")))
        is_other = other in ("iban", "vat_number", "amount" if self.kind == "date" else "date")
        return f"{self.words[f'like_{other}']} {fix}" if is_other else fix
