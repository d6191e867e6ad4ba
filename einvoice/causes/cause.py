"""A cause: one thing that is wrong, and the findings that it explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from einvoice.causes.applicability import QUESTION
from einvoice.causes.change import Change, capitalized, fault, in_lines, term_label
from einvoice.localization import Language, Messages
from einvoice.localization.formatting import format_number
from einvoice.model.terms import is_plural, term, terms
from einvoice.quotation import excerpt, visible
from einvoice.result import Finding, Location

_TEXTS: Final = Messages("einvoice.causes", "causes")
_CALCULATED: Final = "calculated"
"""Name of the value of a finding with the number that a missing term should have."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing that is wrong, and the findings that it explains.

    Attributes:
        findings: the findings that it explains, the gravest first.
        remaining: the findings of the document that it does not explain.
        changes: the change that proves it; several if only the issuer can know which of them is right; empty if no
            change was found that does not invent anything.
        terms: business terms at fault, the leading one first; may be empty.
        location: where the fault is.
        lang: default language of the texts.
        missing: the business term or group that the invoice lacks and that only the issuer can know, instead of which
            the changes may be right; "" if the cause is something else.
        lines: identifiers of the invoice lines that lack it, or that a cause without changes is about, shortened.
        is_empty: whether the missing group has an element, which lacks its content.
        amount: amount of the missing group, which the totals contain; None if that is not known.
        includes_vat: whether the lines seem to include VAT, so that the totals are those without it.
    """

    findings: tuple[Finding, ...]
    remaining: tuple[Finding, ...]
    changes: tuple[Change, ...]
    terms: tuple[str, ...]
    location: Location
    lang: Language = "de"
    missing: str = ""
    lines: tuple[str, ...] = ()
    is_empty: bool = False
    amount: Decimal | None = None
    includes_vat: bool = False

    @property
    def is_question(self) -> bool:
        """Whether only the issuer can know what is right, so that no option of `fix` makes a change."""
        is_open = len(self.changes) > 1 or bool(self.changes and self.missing)
        return is_open or any(it.applicability is QUESTION for it in self.changes)

    def text(self, lang: Language | None = None) -> str:
        """Return the cause in one sentence; for several changes, a question that lists them.

        Findings about the same missing term are a question for it.
        """
        language = lang or self.lang
        words = _TEXTS[language]
        if not self.changes:
            return self._question(language)
        if len(self.changes) > 1 and (choice := self._choice(language)):
            return choice
        alternatives = list(dict.fromkeys(fault(it, language) for it in self.changes))  # lines can have the same number
        if self.amount is not None:
            key = "lacks" if self.lines else "lacks_amount"
            alternatives.append(_amount_text(key, self.missing, self.amount, self.lines, language))
        if len(alternatives) > 1:
            return words["question"].format(alternatives=capitalized(words["or"].join(alternatives)))
        key = "doubt" if self.changes[0].is_doubtful else "sentence"
        return words[key].format(text=capitalized(alternatives[0]))

    def _choice(self, lang: Language) -> str:
        """Return the question which of several values is missing, or is meant; "" if the changes are something else."""
        steps = [step for change in self.changes for step in change.steps]
        kinds = {(step.kind, step.place(lang), step.before) for step in steps}
        kind, place, before = kinds.pop()
        if kinds or len(steps) != len(self.changes) or kind not in ("add", "fill", "set"):
            return ""
        words = _TEXTS[lang]
        key = "meant" if kind == "set" else f"choice_{steps[0].term}"
        values = [words["value"].format(text=visible(excerpt(step.after))) for step in steps]
        listed = words["either"].format(others=", ".join(values[:-1]), last=values[-1])
        stated = visible(excerpt(before.strip()))
        pattern = words[key if key in words else "choice"]
        return pattern.format(place=capitalized(place), before=stated, alternatives=listed)

    def _question(self, lang: Language) -> str:
        words = _TEXTS[lang]
        if self.includes_vat:
            return words["including_vat"]
        if self.amount is not None:
            return missing_amount(self.missing, self.amount, self.lines, lang)
        own = f"missing_{self.missing}"
        if own not in words and (not self.missing or len(self.findings) == 1):
            title, others = self.findings[0].title(lang), sum(1 + it.suppressed for it in self.findings) - 1
            if len(self.findings) > 1 and len({it.code for it in self.findings}) == 1:
                return words["likewise" if others > 1 else "likewise_one"].format(text=title, count=others)
            return in_lines(title, self.lines, lang, "about_line")
        key = own if own in words else self._key()
        if is_plural(self.missing, lang) and f"{key}_plural" in words:
            key = f"{key}_plural"
        place = in_lines(term_label(self.missing, lang), self.lines, lang)
        return words[key].format(place=capitalized(place)) + self._calculated(lang)

    def _calculated(self, lang: Language) -> str:
        """Return the sentence with the number that a finding calculates for the missing term; "" if none does."""
        found = [(it.values[_CALCULATED], it.terms[0]) for it in self.findings if self._has_number(it)]
        if len(found) != 1 or len(self.lines) > 1:
            return ""
        ((number, of),) = found
        text = format_number(number, lang, decimals=2 if "amount" in term(of).datatype.lower() else 0)
        return " " + _TEXTS[lang]["calculated"].format(number=text)

    def _has_number(self, finding: Finding) -> bool:
        known = terms().get(next(iter(finding.terms), ""))
        is_about = known is not None and self.missing in (known.number, known.parent)
        return is_about and isinstance(finding.values.get(_CALCULATED), Decimal)

    def _key(self) -> str:
        if not self.is_empty:
            return "missing"
        return "empty_required" if term(self.missing).cardinality.startswith("1") else "empty"

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return the cause as plain data, ready for JSON."""
        return _dict(self, lang or self.lang)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Cause {', '.join(self.terms)}: {len(self.findings)} findings, {len(self.changes)} changes>"


def missing_amount(missing: str, amount: Decimal, lines: Sequence[str], lang: Language) -> str:
    """Return the sentence about a group that the sums contain and the invoice lacks; in lines, an allowance of one."""
    return capitalized(_amount_text("missing_in_line" if lines else "missing_amount", missing, amount, lines, lang))


def _amount_text(key: str, missing: str, amount: Decimal, lines: Sequence[str], lang: Language) -> str:
    pattern = _TEXTS[lang][f"{key}_plural" if is_plural(missing, lang) else key]
    label, number = term_label(missing, lang), format_number(amount, lang, decimals=2)
    return pattern.format(place=label, amount=number, line=", ".join(lines))


def _dict(cause: Cause, lang: Language) -> dict[str, Any]:
    return {
        "text": cause.text(lang),
        "is_question": cause.is_question,
        "missing": cause.missing,
        "terms": list(cause.terms),
        "xpath": cause.location.xpath,
        "line": cause.location.line,
        "codes": list(dict.fromkeys(finding.code for finding in cause.findings)),
        "findings": [finding.code for finding in cause.findings],
        "remaining": len(cause.remaining),
        "changes": [change.to_dict(lang) for change in cause.changes],
    }
