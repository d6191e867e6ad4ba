"""Writes the letter: one item per cause, each with what is wrong, where, and what is asked for."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Final

from einvoice.assessment import assess
from einvoice.assessment.assessment import basis
from einvoice.assessment.law import CONTENT
from einvoice.causes.applicability import SAFE
from einvoice.causes.change import capitalized
from einvoice.letter.wording import addressed, clauses, names_element, without_codes
from einvoice.localization import Language, Messages, choose
from einvoice.localization.formatting import format_date, format_number
from einvoice.model.terms import leading, name
from einvoice.quotation import quote
from einvoice.render.text import LABELS, capitalize, compared

if TYPE_CHECKING:
    from einvoice.assessment import Assessment
    from einvoice.causes import Cause
    from einvoice.result import Finding, ValidationResult

_TEXTS: Final = Messages("einvoice.letter", "letter")
_MAX_ITEMS: Final = 20
_MAX_TEXT: Final = 600
_MAX_NAME: Final = 80
_SET: Final = "set"
"""Kind of the steps that replace a value."""
_OF_VALIDATION: Final = "file"
"""Layer of the errors that say why a document was not validated; no issuer can correct them."""
_LINE: Final = re.compile(
    r"/(?:cac:(?:Invoice|CreditNote)Line|ram:IncludedSupplyChainTradeLineItem)(?:\[(\d+)\])?(?:/|$)"
)


def letter(
    result: ValidationResult,
    lang: Language,
    law: str | None = None,
    *,
    items: bool = False,
    causes: Sequence[Cause] | None = None,
    by: datetime.date | None = None,
    when: datetime.date | None = None,
) -> str:
    """Return the letter to the issuer; see `ValidationResult.letter`."""
    return _Letter(result, assess(result, law, items, when), lang, items).text(causes, by)


@dataclass(frozen=True)
class _Letter:
    """A letter about a result.

    Attributes:
        result: the result.
        assessment: its assessment, if a law applies.
        lang: language of the letter.
        items: whether to ask also about what is no error.
    """

    result: ValidationResult
    assessment: Assessment | None
    lang: Language
    items: bool

    def text(self, causes: Sequence[Cause] | None, by: datetime.date | None) -> str:
        """Return the letter; if there is nothing to ask, one sentence that says so."""
        words, assessment = self._words, self.assessment
        found = self._causes(causes)
        errors = list(self._errors(found))
        explained = {id(finding) for cause in found for finding in cause.findings}
        questions = list(self._questions(assessment, explained)) if assessment and self.items else []
        missing = [self._missing(it) for it in (assessment.further_items if assessment else ())]
        asked = [*errors, *questions, *missing]
        form = assessment.follows.get("letter", {}) if assessment and self.items else {}
        if not asked and not form:
            key = "nothing" if self.result.is_valid else "not_checked"
            return words[key].format(invoice=self._number, kind=self._kind) + "\n"
        request = "send" if errors or missing else "answer" if asked else "send_form"
        within = words["by"].format(date=format_date(by, self.lang)) if by else words["within"]
        subject = "subject" if asked else "subject_form"
        listed = [f"{number}. {it.text}" for number, it in enumerate(asked[:_MAX_ITEMS], 1)]
        if (left := len(asked) - _MAX_ITEMS) > 0:
            listed.append(words["more"].format(count=left))
        paragraphs = (
            words[subject].format(invoice=self._dated, kind=self._kind),
            words["greeting"],
            words["opening" if asked else "opening_form"].format(invoice=self._described, kind=self._kind),
            *listed,
            self._required_by(assessment, len(errors) + len(questions)) if assessment else "",
            choose(form, self.lang) if form else "",
            words[request].format(within=within, kind=self._kind),
            words["close"],
            "\n".join(filter(None, (words["regards"], self._sender))),
            self._software(asked[:_MAX_ITEMS]),
        )
        return "\n\n".join(filter(None, paragraphs)) + "\n"

    @property
    def _words(self) -> Mapping[str, str]:
        return _TEXTS[self.lang]

    @property
    def _kind(self) -> str:
        return self._words["kind_credit_note" if self.result.invoice.is_credit_note else "kind"]

    @property
    def _is_self_billed(self) -> bool:
        return self.assessment is not None and "self_billed" in self.assessment.facts

    @property
    def _sender(self) -> str:
        summary = self.result.summary
        return quote(summary.seller if self._is_self_billed else summary.buyer, limit=_MAX_NAME)

    @property
    def _number(self) -> str:
        return quote(self.result.summary.invoice_number, limit=_MAX_NAME) or self._words["without_number"]

    @property
    def _dated(self) -> str:
        """Return number and date of the invoice."""
        date = self.result.invoice.issue_date.date
        return (
            self._words["dated"].format(number=self._number, date=format_date(date, self.lang))
            if date
            else self._number
        )

    @property
    def _described(self) -> str:
        """Return number, date, amount and file of the invoice."""
        words, amount = self._words, self.result.invoice.totals.due.number
        text = self._dated
        if isinstance(amount, Decimal):
            number = format_number(amount, self.lang, decimals=2)
            text = words["amounting"].format(invoice=text, amount=f"{number} {self.result.summary.currency}".strip())
        if self.result.filename:
            text = words["in_file"].format(invoice=text, file=quote(self.result.filename, limit=_MAX_NAME))
        return text

    def _causes(self, causes: Sequence[Cause] | None) -> list[Cause]:
        """Return the causes of errors that the issuer can correct."""
        errors = {id(it) for it in self.result.errors if it.layer != _OF_VALIDATION}
        found = (causes or self.result.causes()) if errors else ()
        return [cause for cause in found if any(id(it) in errors for it in cause.findings)]

    def _errors(self, causes: Iterable[Cause]) -> Iterator[_Item]:
        """Yield an item for each cause; causes that read the same are one."""
        known: dict[tuple[str, ...], list[Finding]] = {}
        for cause in causes:
            known.setdefault(tuple(self._of_cause(cause)), []).extend(cause.findings)
        for lines, findings in known.items():
            yield self._item(lines, findings)

    def _questions(self, assessment: Assessment, explained: set[int]) -> Iterator[_Item]:
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
                yield _Item(assessment.case(f"question_{fact}", self.lang), "")

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

    def _missing(self, finding: Finding) -> _Item:
        """Return the item for what the law requires and EN 16931 does not."""
        lines = (
            self._sentence(finding.title(self.lang)),
            *self._positions([finding]),
            self._ask(finding.fix(self.lang)),
        )
        return self._item(lines, [finding])

    def _item(self, lines: Sequence[str], findings: Sequence[Finding]) -> _Item:
        """Return an item; lines that name elements, the places and the codes are for the software of the issuer."""
        words = self._words
        technical = [it for it in lines if names_element(it)]
        plain = [it if self._is_self_billed else addressed(it, self.lang) for it in lines if it not in technical]
        places = list(dict.fromkeys(str(it.line) for it in findings if it.line))
        shown = ", ".join(places[:_MAX_ITEMS]) + (" …" if len(places) > _MAX_ITEMS else "")
        terms = dict.fromkeys(it.terms[0] for it in findings if it.terms)
        notes = [re.sub(r"\s+- ", " ", it) for it in technical]
        notes += [words["line" if len(places) == 1 else "lines"].format(lines=shown)] if places else []
        notes += [", ".join((*terms, *dict.fromkeys(it.code for it in findings)))]
        head = [words["technical"]] if lines[0] in technical else []
        return _Item("\n   ".join((*head, *plain)), "; ".join(notes))

    def _software(self, items: Sequence[_Item]) -> str:
        """Return what is for the software of the issuer, by the number of the item; "" for nothing."""
        words = self._words
        notes = [
            words["software_of"].format(number=at, notes=it.software) for at, it in enumerate(items, 1) if it.software
        ]
        return "\n".join((words["software"], *notes)) if notes else ""

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

    @cached_property
    def _names(self) -> dict[str, str]:
        """The item names by the identifier of their invoice line."""
        return {str(it.identifier): str(it.item.name or "") for it in self.result.invoice.lines}

    def _positions(self, findings: Iterable[Finding], identifiers: Sequence[str] = ()) -> Iterator[str]:
        """Yield the lines with these identifiers, or that findings are in, each with its item name."""
        numbers = (int(match[1] or 1) for it in findings if (match := _LINE.search(it.xpath)))
        known = list(self._names)
        own = [known[it - 1] for it in numbers if it <= len(known)]
        for identifier in list(dict.fromkeys(identifiers or own))[:_MAX_ITEMS]:
            if text := quote(self._names.get(identifier, ""), limit=_MAX_NAME):
                yield self._words["position"].format(line=quote(identifier), name=text)

    def _ask(self, text: str, finding: Finding | None = None) -> str:
        return self._words["ask"].format(text=without_codes(text, self.lang, finding)[:_MAX_TEXT])

    def _sentence(self, text: str, finding: Finding | None = None) -> str:
        plain = capitalized(without_codes(text, self.lang, finding))[:_MAX_TEXT]
        return plain if plain[-1:] in ".?!" else f"{plain}."

    def _required_by(self, assessment: Assessment, before: int) -> str:
        """Return why the law requires a correction; "" if no class of error and no missing item does.

        The missing items have the numbers after the items `before` them.
        """
        law, lang = assessment.law, self.lang
        affected = [it.classification for it in assessment.errors if it.error_class == CONTENT]
        items = dict.fromkeys(f"{choose(it.item, lang)} ({it.source})" for it in affected)
        texts = [law.letter(CONTENT, lang).format(items="; ".join(items))] if items else []
        if sources := "; ".join(dict.fromkeys(map(basis, assessment.further_items))):
            numbers = [str(it) for it in range(before + 1, before + 1 + len(assessment.further_items))]
            key = "points" if len(numbers) > 1 else "point"
            points = self._words[key].format(numbers=", ".join(numbers[:-1]), last=numbers[-1])
            texts.append(capitalize(law.text("letter_items", lang).format(points=points, sources=sources)))
        texts.append(assessment.case("letter", lang))
        return " ".join(it if self._is_self_billed else addressed(it, lang) for it in texts if it)


@dataclass(frozen=True)
class _Item:
    """What is wrong and what is asked for; and for the software of the issuer, elements, places and codes."""

    text: str
    software: str
