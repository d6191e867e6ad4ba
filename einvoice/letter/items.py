"""The items of the letter: one per cause, question or missing item of the law."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from einvoice.causes.applicability import SAFE
from einvoice.causes.change import capitalized
from einvoice.letter.wording import addressed, clauses, names_element, without_codes
from einvoice.localization import Language, Messages
from einvoice.model.terms import leading, name
from einvoice.quotation import quote
from einvoice.render.text import LABELS, capitalize, compared

if TYPE_CHECKING:
    from einvoice.assessment import Assessment
    from einvoice.causes import Cause
    from einvoice.result import Finding, ValidationResult

TEXTS: Final = Messages("einvoice.letter", "letter")
MAX_ITEMS: Final = 20
MAX_NAME: Final = 80
_MAX_TEXT: Final = 600
_SET: Final = "set"
"""Kind of the steps that replace a value."""
_LINE: Final = re.compile(
    r"/(?:cac:(?:Invoice|CreditNote)Line|ram:IncludedSupplyChainTradeLineItem)(?:\[(\d+)\])?(?:/|$)"
)


@dataclass(frozen=True)
class Item:
    """What is wrong and what is asked for; and for the software of the issuer, elements, places and codes."""

    text: str
    software: str


@dataclass(frozen=True)
class Items:
    """The items of a letter about a result.

    Attributes:
        result: the result.
        lang: language of the letter.
        is_self_billed: whether the buyer issued the invoice; then the parties keep their names.
    """

    result: ValidationResult
    lang: Language
    is_self_billed: bool

    @property
    def _words(self) -> Mapping[str, str]:
        return TEXTS[self.lang]

    def errors(self, causes: Iterable[Cause]) -> Iterator[Item]:
        """Yield an item for each cause; causes that read the same are one."""
        known: dict[tuple[str, ...], list[Finding]] = {}
        for cause in causes:
            known.setdefault(tuple(self._of_cause(cause)), []).extend(cause.findings)
        for lines, findings in known.items():
            yield self._item(lines, findings)

    def questions(self, assessment: Assessment, explained: set[int]) -> Iterator[Item]:
        """Yield an item for what is no error that the law has to ask about: findings with the same title, facts."""
        known: dict[tuple[str, str], list[Finding]] = {}
        for finding in self.result.findings:
            is_asked = finding.severity != "fatal" and id(finding) not in explained
            if is_asked and (question := assessment.law.question(finding.code, self.lang)):
                known.setdefault((finding.title(self.lang), question), []).append(finding)
        for (title, question), findings in known.items():
            values = (self._values(it, title) or self._place(it, title) for it in findings)
            yield self._item(
                (self._sentence(title), *self._positions(findings), *filter(None, values), question), findings
            )
        for fact in assessment.law.questions:
            if fact in assessment.facts and fact not in assessment.law.fact_codes:
                yield Item(assessment.case(f"question_{fact}", self.lang), "")

    def _values(self, finding: Finding, *beside: str) -> str:
        """Return the compared values: those of data and picture, or the one found; "" if the texts beside have them."""
        text = self._compared(finding, *beside)
        return f"{name(finding.terms[0], self.lang)}: {text}." if text and finding.terms else ""

    def _place(self, finding: Finding, text: str) -> str:
        """Return the term that a finding is about; "" if the text names it."""
        term = leading(finding.terms)
        is_named = not term or name(term, self.lang) in text
        return "" if is_named else self._words["place"].format(place=name(term, self.lang))

    def _compared(self, finding: Finding, *beside: str) -> str:
        """Return the compared values; "" for none. Amounts are calculated and stated."""
        values = dict(compared(finding, self.lang, *beside))
        kind = "pdf" if finding.layer == "pdf" else "amount" if values.pop("difference", "") else ""
        names = {key: self._words[f"{key}_{kind}"] if kind else LABELS[self.lang][key] for key in values}
        return ", ".join(f"{names[key]} {value}" for key, value in values.items() if key != "difference")

    def missing(self, finding: Finding) -> Item:
        """Return the item for what the law requires and EN 16931 does not."""
        lines = (
            self._sentence(finding.title(self.lang)),
            *self._positions([finding]),
            self._ask(finding.fix(self.lang)),
        )
        return self._item(lines, [finding])

    def _item(self, lines: Sequence[str], findings: Sequence[Finding]) -> Item:
        """Return an item; lines that name elements, the places and the codes are for the software of the issuer."""
        words = self._words
        technical = [it for it in lines if names_element(it)]
        plain = [it if self.is_self_billed else addressed(it, self.lang) for it in lines if it not in technical]
        places = list(dict.fromkeys(str(it.line) for it in findings if it.line))
        shown = ", ".join(places[:MAX_ITEMS]) + (" …" if len(places) > MAX_ITEMS else "")
        terms = dict.fromkeys(it.terms[0] for it in findings if it.terms)
        notes = [re.sub(r"\s+- ", " ", it) for it in technical]
        notes += [words["line" if len(places) == 1 else "lines"].format(lines=shown)] if places else []
        notes += [", ".join((*terms, *dict.fromkeys(it.code for it in findings)))]
        head = [words["technical"]] if lines[0] in technical else []
        return Item("\n   ".join((*head, *plain)), "; ".join(notes))

    def _of_cause(self, cause: Cause) -> Iterator[str]:
        """Yield what is wrong, where, the value found, and what is asked for; only what is proven is stated."""
        first, words, lang = cause.findings[0], self._words, self.lang
        named = list(self._positions(cause.findings, self._lines_of(cause)))
        if len(cause.changes) == 1 and cause.changes[0].applicability is SAFE:
            yield self._sentence(cause.text(lang), first)
            yield from named
            if any(step.kind == _SET for step in cause.changes[0].steps):
                yield words["proven"]
            yield self._ask(cause.changes[0].text(lang), first)
            return
        text = self._sentence(first.title(lang) if cause.changes else cause.text(lang), first)
        yield text
        yield from named
        yield from self._where(cause, text)
        if cause.changes:
            texts = [without_codes(it.text(lang), lang, first) for it in cause.changes]
            key, texts = ("either", texts) if len(texts) > 1 else ("perhaps", clauses(texts[0]))
            yield "\n   - ".join((words["perhaps_many" if key == "perhaps" and len(texts) > 1 else key], *texts))
        elif cause.amount is not None or cause.includes_vat:
            yield words["check"]
        else:
            yield self._ask(first.fix(lang), first)

    @staticmethod
    def _lines_of(cause: Cause) -> tuple[str, ...]:
        steps = (step for change in cause.changes for step in change.steps)
        return cause.lines or tuple(dict.fromkeys(it for step in steps for it in step.lines))

    def _where(self, cause: Cause, text: str) -> Iterator[str]:
        """Yield the term that the cause is about, and the value found, unless the text has them."""
        first = cause.findings[0]
        if not cause.missing and (place := self._place(first, text)):
            yield place
        if values := self._compared(first, text):
            yield f"{capitalize(values)}."

    def _positions(self, findings: Iterable[Finding], identifiers: Sequence[str] = ()) -> Iterator[str]:
        """Yield the lines with these identifiers, or that findings are in, each with its item name."""
        known = [(str(it.identifier), str(it.item.name or "")) for it in self.result.invoice.lines]
        numbers = (int(match[1] or 1) for it in findings if (match := _LINE.search(it.xpath)))
        own = [known[it - 1][0] for it in numbers if it <= len(known)]
        names = dict(known)
        for identifier in list(dict.fromkeys(identifiers or own))[:MAX_ITEMS]:
            if text := quote(names.get(identifier, ""), limit=MAX_NAME):
                yield self._words["position"].format(line=quote(identifier), name=text)

    def _ask(self, text: str, finding: Finding | None = None) -> str:
        return self._words["ask"].format(text=without_codes(text, self.lang, finding)[:_MAX_TEXT])

    def _sentence(self, text: str, finding: Finding | None = None) -> str:
        plain = capitalized(without_codes(text, self.lang, finding))[:_MAX_TEXT]
        return plain if plain[-1:] in ".?!" else f"{plain}."
