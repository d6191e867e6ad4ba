"""The items of the letter: one per cause, question or missing item of the law."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from einvoice.causes.applicability import SAFE
from einvoice.causes.change import capitalized
from einvoice.causes.display import LABELS as ALTERNATIVES
from einvoice.letter.wording import addressed, clauses, names_element, with_currency, without_codes
from einvoice.localization import Language, Messages
from einvoice.model.terms import leading, name, term, terms
from einvoice.quotation import quote
from einvoice.render.text import LABELS, capitalize, compared

if TYPE_CHECKING:
    from einvoice.assessment import Assessment
    from einvoice.causes import Cause, Change
    from einvoice.model.parties import Address
    from einvoice.result import Finding, ValidationResult

TEXTS: Final = Messages("einvoice.letter", "letter")
MAX_ITEMS: Final = 20
MAX_NAME: Final = 80
_MAX_TEXT: Final = 600
_ADDRESS: Final = ("BG-8", "BT-50", "BT-51", "BT-163", "BT-52", "BT-53", "BT-55")
"""Business terms of the address of the buyer."""
_OTHER_CURRENCY: Final = "BT-111"
_SET: Final = "set"
"""Kind of the steps that replace a value."""
_LINE: Final = re.compile(
    r"/(?:cac:(?:Invoice|CreditNote)Line|ram:IncludedSupplyChainTradeLineItem)(?:\[(\d+)\])?(?:/|$)"
)


def one_line(address: Address) -> str:
    """Return an address as the invoice states it, on one line."""
    parts = (address.line_1, address.line_2, address.line_3, f"{address.postal_code or ''} {address.city or ''}")
    return ", ".join(filter(None, (quote(str(it or "").strip(), limit=MAX_NAME) for it in parts)))


def _is_amount(number: str) -> bool:
    """Return whether a business term is an amount in the currency of the invoice."""
    return number in terms() and number != _OTHER_CURRENCY and "amount" in term(number).datatype.lower()


@dataclass(frozen=True)
class Item:
    """What is wrong and what is asked for; for the software of the issuer, elements, places and codes; the findings."""

    text: str
    software: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Items:
    """The items of a letter about a result.

    Attributes:
        result: the result.
        lang: language of the letter.
        is_self_billed: whether the buyer issued the invoice; then the parties keep their names.
        address: of the recipient, on one line; "" if it is not known.
    """

    result: ValidationResult
    lang: Language
    is_self_billed: bool
    address: str

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
        has_name = text and finding.terms
        return self._words["value"].format(name=name(finding.terms[0], self.lang), text=text) if has_name else ""

    def _place(self, finding: Finding, text: str) -> str:
        """Return the term that a finding is about; "" if the text names it."""
        term = leading(finding.terms)
        is_named = not term or name(term, self.lang) in text
        return "" if is_named else self._words["place"].format(place=name(term, self.lang))

    def _compared(self, finding: Finding, *beside: str) -> str:
        """Return the compared values; "" for none. Amounts are calculated and stated."""
        values = {key: self._amount(it, finding) for key, it in compared(finding, self.lang, *beside)}
        kind = "pdf" if finding.layer == "pdf" else "amount" if values.pop("difference", "") else ""
        names = {key: self._words[f"{key}_{kind}"] if kind else LABELS[self.lang][key] for key in values}
        return ", ".join(f"{names[key]} {value}" for key, value in values.items() if key != "difference")

    def missing(self, finding: Finding) -> Item:
        """Return the item for what the law requires and EN 16931 does not."""
        ask = self._ask(finding.fix(self.lang))
        return self._item((self._sentence(finding.title(self.lang)), *self._positions([finding]), ask), [finding])

    def _item(self, lines: Sequence[str], findings: Sequence[Finding]) -> Item:
        """Return an item; lines that name elements, the places and the codes are for the software of the issuer."""
        words = self._words
        technical = [it for it in lines if names_element(it)]
        plain = [it if self.is_self_billed else addressed(it, self.lang) for it in lines if it not in technical]
        plain[1:1] = self._address(findings)
        places = list(dict.fromkeys(str(it.line) for it in findings if it.line))
        shown = ", ".join(places[:MAX_ITEMS]) + (" …" if len(places) > MAX_ITEMS else "")
        terms = dict.fromkeys(it.terms[0] for it in findings if it.terms)
        notes = [re.sub(r"\s+- ", " ", it) for it in technical]
        key = ("line" if len(places) == 1 else "lines") + ("_pdf" if self.result.container else "")
        notes += [words[key].format(lines=shown)] if places else []
        notes += [", ".join((*terms, *dict.fromkeys(it.code for it in findings)))]
        head = [words["technical"]] if lines[0] in technical else []
        return Item("\n   ".join((*head, *plain)), words["notes"].join(notes), tuple(findings))

    def _address(self, findings: Iterable[Finding]) -> Iterator[str]:
        """Yield the address of the recipient, or what the invoice states of it, if findings are about it."""
        if self.is_self_billed or not any(leading(it.terms) in _ADDRESS for it in findings):
            return
        known, words = one_line(self.result.invoice.buyer.address), self._words
        if text := self.address or known:
            yield words["address" if self.address else "address_stated"].format(address=text)

    def _of_cause(self, cause: Cause) -> Iterator[str]:
        """Yield what is wrong, where, the value found, and what is asked for; only what is proven is stated."""
        first, words, lang = cause.findings[0], self._words, self.lang
        named = list(self._positions(cause.findings, self._lines_of(cause)))
        if len(cause.changes) == 1 and cause.changes[0].applicability is SAFE:
            yield self._in_currency(self._sentence(cause.text(lang), first), cause.changes)
            yield from named
            if any(step.kind == _SET for step in cause.changes[0].steps):
                yield words["proven"]
            yield self._in_currency(self._ask(cause.changes[0].text(lang), first), cause.changes)
            return
        text = self._sentence(first.title(lang) if cause.changes else cause.text(lang), first)
        yield text
        yield from named
        yield from self._where(cause, text)
        if cause.changes:
            texts = [self._in_currency(without_codes(it.text(lang), lang, first), [it]) for it in cause.changes]
            if len(texts) > 1:
                key, texts = (
                    "either",
                    [ALTERNATIVES[lang]["or" if at else "either"].format(text=it) for at, it in enumerate(texts)],
                )
            else:
                key, texts = "perhaps", clauses(texts[0])
            yield "\n   - ".join((words["perhaps_many" if key == "perhaps" and len(texts) > 1 else key], *texts))
        elif cause.amount is not None or cause.includes_vat:
            yield words["check"]
        else:
            yield self._ask(first.fix(lang), first)

    def _in_currency(self, text: str, changes: Iterable[Change]) -> str:
        """Return a text about changes with the currency of quoted numbers if all are amounts of the invoice."""
        steps = [step for change in changes for step in change.steps]
        has_amounts = bool(steps) and all(step.is_number and _is_amount(step.term) for step in steps)
        return with_currency(text, self._currency) if has_amounts else text

    def _amount(self, text: str, finding: Finding) -> str:
        """Return a compared value, with the currency if the finding is about an amount of the invoice."""
        is_amount = finding.terms and _is_amount(finding.terms[0]) and text[-1:].isdigit()
        return f"{text} {self._currency}".strip() if is_amount else text

    @property
    def _currency(self) -> str:
        return quote(str(self.result.invoice.currency or ""))

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
