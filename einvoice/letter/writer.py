"""Writes the letter: the invoice, the items, what the law says, what is asked for, and by when."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from einvoice.assessment import assess
from einvoice.assessment.assessment import basis
from einvoice.assessment.law import CONTENT
from einvoice.letter.items import MAX_ITEMS, MAX_NAME, TEXTS, Item, Items
from einvoice.letter.wording import addressed
from einvoice.localization import Language, choose
from einvoice.localization.formatting import format_date, format_number
from einvoice.quotation import quote
from einvoice.render.text import capitalize

if TYPE_CHECKING:
    from einvoice.assessment import Assessment
    from einvoice.causes import Cause
    from einvoice.result import ValidationResult

_OF_VALIDATION: Final = "file"
"""Layer of the errors that say why a document was not validated; no issuer can correct them."""


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
        items = Items(self.result, self.lang, self._is_self_billed)
        errors = list(items.errors(found))
        explained = {id(finding) for cause in found for finding in cause.findings}
        questions = list(items.questions(assessment, explained)) if assessment and self.items else []
        missing = [items.missing(it) for it in (assessment.further_items if assessment else ())]
        asked = [*errors, *questions, *missing]
        form = assessment.follows.get("letter", {}) if assessment and self.items else {}
        if not asked and not form:
            key = "nothing" if self.result.is_valid else "not_checked"
            return words[key].format(invoice=self._number, kind=self._kind) + "\n"
        request = "send" if errors or missing else "answer" if asked else "send_form"
        within = words["by"].format(date=format_date(by, self.lang)) if by else words["within"]
        subject = "subject" if asked else "subject_form"
        listed = [f"{number}. {it.text}" for number, it in enumerate(asked[:MAX_ITEMS], 1)]
        if (left := len(asked) - MAX_ITEMS) > 0:
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
            self._software(asked[:MAX_ITEMS]),
        )
        return "\n\n".join(filter(None, paragraphs)) + "\n"

    @property
    def _words(self) -> Mapping[str, str]:
        return TEXTS[self.lang]

    @property
    def _kind(self) -> str:
        return self._words["kind_credit_note" if self.result.invoice.is_credit_note else "kind"]

    @property
    def _is_self_billed(self) -> bool:
        return self.assessment is not None and "self_billed" in self.assessment.facts

    @property
    def _sender(self) -> str:
        summary = self.result.summary
        return quote(summary.seller if self._is_self_billed else summary.buyer, limit=MAX_NAME)

    @property
    def _number(self) -> str:
        return quote(self.result.summary.invoice_number, limit=MAX_NAME) or self._words["without_number"]

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
            text = words["in_file"].format(invoice=text, file=quote(self.result.filename, limit=MAX_NAME))
        return text

    def _causes(self, causes: Sequence[Cause] | None) -> list[Cause]:
        """Return the causes of errors that the issuer can correct."""
        errors = {id(it) for it in self.result.errors if it.layer != _OF_VALIDATION}
        found = (causes or self.result.causes()) if errors else ()
        return [cause for cause in found if any(id(it) in errors for it in cause.findings)]

    def _software(self, items: Sequence[Item]) -> str:
        """Return what is for the software of the issuer, by the number of the item; "" for nothing."""
        words = self._words
        notes = [
            words["software_of"].format(number=at, notes=it.software) for at, it in enumerate(items, 1) if it.software
        ]
        return "\n".join((words["software"], *notes)) if notes else ""

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
