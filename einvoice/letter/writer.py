"""Writes the letter: the invoice, the items, what the law says, what is asked for, and by when."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from einvoice.assessment import assess
from einvoice.assessment.law import CONTENT
from einvoice.letter.items import MAX_ITEMS, MAX_NAME, TEXTS, Item, Items, one_line
from einvoice.letter.wording import addressed
from einvoice.localization import Language, choose
from einvoice.localization.formatting import format_date, format_number
from einvoice.quotation import quote

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
    address: str = "",
) -> str:
    """Return the letter to the issuer; see `ValidationResult.letter`."""
    return _Letter(result, assess(result, law, items, when), lang, items, address).text(causes, by)


@dataclass(frozen=True)
class _Letter:
    """A letter about a result.

    Attributes:
        result: the result.
        assessment: its assessment, if a law applies.
        lang: language of the letter.
        items: whether to ask also about what is no error.
        address: of the recipient; "" if only the invoice states it.
    """

    result: ValidationResult
    assessment: Assessment | None
    lang: Language
    items: bool
    address: str

    def text(self, causes: Sequence[Cause] | None, by: datetime.date | None) -> str:
        """Return the letter; if there is nothing to ask, one sentence that says so."""
        words, assessment = self._words, self.assessment
        found = self._causes(causes)
        items = Items(self.result, self.lang, self._is_self_billed, ", ".join(self.address.splitlines()))
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
        subject = {"send": "subject", "answer": "subject_question"}.get(request, "subject_form")
        listed = [f"{number}. {it.text}" for number, it in enumerate(asked[:MAX_ITEMS], 1)]
        if (left := len(asked) - MAX_ITEMS) > 0:
            listed.append(words["more"].format(count=left))
        paragraphs = (
            words[subject].format(invoice=self._dated, kind=self._kind),
            words["greeting"],
            words["opening" if asked else "opening_form"].format(invoice=self._described, kind=self._kind),
            *listed,
            self._required_by(assessment, asked[:MAX_ITEMS]) if assessment else "",
            choose(form, self.lang) if form else "",
            words[request].format(within=within, kind=self._kind),
            words["close"],
            "\n".join(filter(None, (words["regards"], *self._sender))),
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
    def _sender(self) -> tuple[str, ...]:
        """Return name and address of the recipient; without an address, that of the invoice if it is complete."""
        invoice = self.result.invoice
        party = invoice.seller if self._is_self_billed else invoice.buyer
        is_complete = party.address.line_1 and party.address.city
        stated = one_line(party.address) if is_complete else ""
        return quote(str(party.name or "").strip(), limit=MAX_NAME), self.address or stated

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

    def _required_by(self, assessment: Assessment, asked: Sequence[Item]) -> str:
        """Return which items of the letter are about items of the law, and how they are corrected; "" if none is."""
        law, lang = assessment.law, self.lang
        names = {id(it): law.item_name(it, lang) for it in assessment.further_items}
        for error in assessment.errors:
            if error.error_class == CONTENT:
                known = error.classification
                names[id(error.finding)] = f"{choose(known.item, lang)} ({known.source})"
        concerned = {
            str(number): found
            for number, item in enumerate(asked, 1)
            if (found := [names[id(it)] for it in item.findings if id(it) in names])
        }
        texts = []
        if concerned:
            *others, last = concerned
            points = self._words["points" if others else "point"].format(numbers=", ".join(others), last=last)
            items = "; ".join(dict.fromkeys(name for found in concerned.values() for name in found))
            texts.append(law.text("letter_items", lang).format(points=points, items=items))
        texts.append(assessment.case("letter", lang))
        return " ".join(it if self._is_self_billed else addressed(it, lang) for it in texts if it)
