"""The assessment of a result: the class of each error, and what the document is for the recipient."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from einvoice.assessment.law import BUSINESS_RULE, CONTENT, FORMAT, STATES, UNCLEAR, Classification, Law
from einvoice.assessment.values import Values
from einvoice.localization import Language, choose
from einvoice.localization.formatting import format_date, with_colon
from einvoice.model.terms import leading
from einvoice.render.text import capitalize
from einvoice.result import Finding, Layer

_LABELS: Final = ("title", "steps", "errors", "contested", "items")
"""Texts of the law that a display of the plain data needs."""

Kind: TypeAlias = Literal["e_invoice", "other_invoice", "open"]


@dataclass(frozen=True, slots=True)
class AssessedError:
    """An error and its class.

    Attributes:
        finding: the error.
        classification: its class, or why it has none.
        law: the law that defines the class.
    """

    finding: Finding
    classification: Classification
    law: Law

    @property
    def error_class(self) -> str:
        """ "format", "content", "business_rule", or "" for none."""
        return self.classification.error_class

    @property
    def is_contested(self) -> bool:
        """Whether another class is possible."""
        return bool(self.classification.contested)

    @property
    def is_maybe_harmless(self) -> bool:
        """Whether, by another opinion, it is a business rule error."""
        return BUSINESS_RULE in self.classification.other_classes

    def to_dict(self, lang: Language) -> dict[str, Any]:
        """Return the error as plain data, ready for JSON."""
        known, has_class = self.classification, bool(self.error_class)
        return {
            "code": self.finding.code,
            "line": self.finding.line,
            "error_class": self.error_class,
            "class_name": self.law.class_name(self.error_class, lang) if has_class else "",
            "basis": self.law.basis(self.error_class) if has_class else "",
            "item": choose(known.item, lang) if known.item else "",
            "item_source": known.source,
            "contested": choose(known.contested, lang) if known.contested else "",
            "other_classes": list(known.other_classes),
            "reason": choose(known.reason, lang) if known.reason else "",
        }


class ClassSummary(NamedTuple):
    """The errors of one class in words.

    Attributes:
        name: of the class, with its basis.
        codes: of its errors, each with the item that it affects and whether its class is contested.
        meaning: definition of the class, and what follows.
    """

    name: str
    codes: str
    meaning: str


def _note_state(known: dict[str, str], item: str, state: str) -> None:
    """Note what is wrong with an item; findings that differ in it leave open which it is."""
    known[item] = state if known.get(item, state) == state else UNCLEAR


@dataclass(frozen=True, repr=False)
class Assessment:
    """What an invoice and its errors mean for the recipient under the VAT law of a country. It is no advice.

    Attributes:
        law: the law.
        kind: what the document is: "e_invoice", "other_invoice" (no e-invoice), or "open" if not all rules were
            checked.
        profile: name of the Factur-X profile for which the document is no e-invoice; "" for none.
        errors: the errors of the result, each with its class.
        items: what the law requires and EN 16931 does not, as information; `is_valid` of the result ignores it.
        layers: the rule sets that found the `items`; empty if they were not asked for.
        supply_date: last day of the supply; None if the invoice does not state it.
        transition: what holds for another invoice with this date of supply, as `key`, `source` and `text` by language.
        values: what texts quote from the invoice.
        facts: what the invoice is and charges, and what its findings are about; texts depend on it.
        lang: default language of the texts.
    """

    law: Law
    kind: Kind
    profile: str
    errors: tuple[AssessedError, ...]
    items: tuple[Finding, ...]
    layers: tuple[Layer, ...]
    supply_date: datetime.date | None
    transition: Mapping[str, Any]
    values: Values
    facts: frozenset[str]
    lang: Language

    @property
    def follows(self) -> Mapping[str, Any]:
        """What follows if the document is another invoice, as `key`, `source` and `text` by language; else empty."""
        return self.transition if self.kind == "other_invoice" else {}

    @property
    def further_items(self) -> tuple[Finding, ...]:
        """The `items` that no error names already."""
        known = {leading(it.finding.terms) for it in self.errors}
        return tuple(it for it in self.items if leading(it.terms) not in known)

    @property
    def is_disputed(self) -> bool:
        """Whether, by another opinion on contested classes, an e-invoice is none, or another invoice is one."""
        if self.kind == "e_invoice":
            return any(FORMAT in it.classification.other_classes for it in self.errors)
        formats = [it for it in self.errors if it.error_class == FORMAT]
        return self.kind == "other_invoice" and not self.profile and all(it.is_contested for it in formats)

    @property
    def asks_issuer(self) -> bool:
        """Whether the letter with the `items` has something to ask the issuer."""
        asks_about_findings = not self.facts.isdisjoint(self.law.questions)
        return bool(self.errors or self.further_items) or asks_about_findings or "letter" in self.follows

    def statement(self, lang: Language | None = None) -> str:
        """Return the `sentences` as one text."""
        return " ".join(self.sentences(lang))

    def sentences(self, lang: Language | None = None) -> list[str]:
        """Return what the document is, and what follows on its date of supply."""
        lang, law = lang or self.lang, self.law
        has_errors = self.kind == "e_invoice" and self.errors
        sentences = [law.text("e_invoice_with_errors" if has_errors else self.kind, lang)]
        if self.profile:
            sentences.append(law.text("profile", lang).format(profile=self.profile))
        if self.follows:
            sentences.append(self._transition(lang))
        if self.is_disputed:
            key = "disputed" if self.kind == "e_invoice" else "disputed_other"
            sentences.append(law.text(key, lang).format(follows=self._transition(lang)))
        return sentences

    def steps(self, lang: Language | None = None) -> list[str]:
        """Return what the recipient has to do, in this order."""
        return list(filter(None, (self.case(topic, lang) for topic in self.law.steps)))

    def case(self, topic: str, lang: Language | None = None) -> str:
        """Return the text of a topic of the law that fits the document; "" for none."""
        lang = lang or self.lang
        text = self.law.case(topic, {*self.facts, *self._own_facts()}, lang)
        return self.fill(text, lang) if text else ""

    def fill(self, text: str, lang: Language) -> str:
        """Return a text of the law with the values of the invoice in place of its placeholders."""
        return text.format(
            items=self._items(lang), concerned=", ".join(self._concerned(lang)), **self.values.texts(self.law, lang)
        )

    def _items(self, lang: Language) -> str:
        """Return the items of the law that are affected, as a sentence by what is wrong with them: "Missing: …"."""
        named: dict[str, list[str]] = {}
        for name, state in self._concerned(lang).items():
            named.setdefault(state, []).append(name)
        texts = (self.law.text(state, lang).format(items=", ".join(named[state])) for state in STATES if state in named)
        return " ".join(texts)

    def _concerned(self, lang: Language) -> Mapping[str, str]:
        """Return the items of the law that are affected, with their sources, and what is wrong with each."""
        known: dict[str, str] = {}
        for it in self.errors:
            item = it.classification
            if CONTENT in (it.error_class, *item.other_classes) and item.item:
                _note_state(known, f"{choose(item.item, lang)} ({item.source})", self.law.state(it.finding))
        for finding in self.items:
            _note_state(known, self.law.item_name(finding, lang), self.law.state(finding))
        return known

    def _own_facts(self) -> Iterator[str]:
        """Yield the facts that the classes of the errors decide."""
        yield self.kind
        if self.is_disputed:
            yield "disputed"
        if self.follows or self.is_disputed:
            yield self.transition["key"]
        if self.items:
            yield "items"
        yield from set(self._concerned(self.lang).values())
        yield from (it.error_class for it in self.errors if it.error_class != CONTENT)
        concerned = [it for it in self.errors if CONTENT in (it.error_class, *it.classification.other_classes)]
        is_certain = any(it.error_class == CONTENT and not it.is_maybe_harmless for it in concerned)
        if concerned:
            yield CONTENT if is_certain else "content_possible"

    def _transition(self, lang: Language) -> str:
        """Return what holds for another invoice."""
        sentences = [choose(self.transition["text"], lang)]
        if self.supply_date:
            sentences.append(self.law.text("dated", lang).format(date=format_date(self.supply_date, lang)))
        return " ".join(sentences)

    def classes(self, lang: Language | None = None) -> list[ClassSummary]:
        """Return the classes of the errors, the gravest first."""
        lang, summaries = lang or self.lang, []
        for name in self._present():
            codes = _codes([it for it in self.errors if it.error_class == name], lang)
            heading = f"{self.law.class_name(name, lang)} ({self.law.basis(name)})"
            summaries.append(ClassSummary(heading, codes, self.law.meaning(name, lang)))
        return summaries

    def remarks(self, lang: Language | None = None) -> list[str]:
        """Return why classes are contested, and why errors have none."""
        lang = lang or self.lang
        codes: dict[str, list[str]] = {}
        for it in self.errors:
            known = it.classification
            if it.is_contested:
                possible = capitalize(self.law.possible(known, lang))
                codes.setdefault(f"{choose(known.contested, lang)} {possible}.", []).append(it.finding.code)
            elif not it.error_class:
                codes.setdefault(choose(known.reason, lang), []).append(it.finding.code)
        return [with_colon(", ".join(dict.fromkeys(about)), lang, text) for text, about in codes.items()]

    def missing(self, lang: Language | None = None) -> list[str]:
        """Return the title, the source and the fix of each of the `further_items`."""
        lang = lang or self.lang
        return [f"{it.title(lang)} ({basis(it)}). {it.fix(lang)}" for it in self.further_items]

    def note(self, lang: Language | None = None) -> str:
        """Return that this is information and no advice."""
        return self.law.text("note", lang or self.lang)

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return the assessment as plain data, ready for JSON."""
        lang = lang or self.lang
        return {
            "law": self.law.country,
            "kind": self.kind,
            "disputed": self.is_disputed,
            "labels": {key: self.law.text(key, lang) for key in _LABELS},
            "statement": self.statement(lang),
            "sentences": self.sentences(lang),
            "asks_issuer": self.asks_issuer,
            "supply_date": self.supply_date.isoformat() if self.supply_date else "",
            "follows": self.follows.get("key", ""),
            "follows_source": self.follows.get("source", ""),
            "errors": [error.to_dict(lang) for error in self.errors],
            "classes": {name: self.law.meaning(name, lang) for name in self._present()},
            "summary": {
                "classes": [it._asdict() for it in self.classes(lang)],
                "remarks": self.remarks(lang),
                "items": self.missing(lang),
            },
            "items": [_item(item, lang) for item in self.further_items],
            "steps": self.steps(lang),
            "note": self.note(lang),
        }

    def to_text(self, lang: Language | None = None) -> str:
        """Return the assessment as plain text, one statement a line."""
        lang = lang or self.lang
        lines = [self.law.text("title", lang), self.statement(lang), "", with_colon(self.law.text("steps", lang), lang)]
        lines += [f"{number}. {text}" for number, text in enumerate(self.steps(lang), 1)]
        if self.errors:
            lines += ["", with_colon(self.law.text("errors", lang), lang), *self._class_lines(lang)]
        if self.further_items:
            lines += ["", with_colon(self.law.text("items", lang), lang)]
            lines += [f"- {it}" for it in self.missing(lang)]
        return "\n".join([*lines, "", self.note(lang), ""])

    def _present(self) -> list[str]:
        found = {error.error_class for error in self.errors}
        return [name for name in self.law.classes if name in found]

    def _class_lines(self, lang: Language) -> list[str]:
        """Return the lines about the errors: a class with its definition, then its codes; last the remarks."""
        classes = ((f"- {with_colon(it.name, lang, it.codes)}", f"  {it.meaning}") for it in self.classes(lang))
        lines = [line for it in classes for line in it]
        return [*lines, *(f"  {text}" for text in self.remarks(lang))]

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Assessment {self.law.country}: {self.kind}, {len(self.errors)} errors, {len(self.items)} items>"


def basis(item: Finding) -> str:
    """Return where the law requires an item, without exceptions."""
    return item.entry.source.partition(";")[0]


def _codes(errors: list[AssessedError], lang: Language) -> str:
    """Return the codes by the item that they affect, and whether their class is contested."""
    codes: dict[str, list[str]] = {}
    for it in errors:
        item = it.classification.item
        remarks = [choose(item, lang)] if item else []
        remarks += [it.law.text("contested", lang)] if it.is_contested else []
        codes.setdefault("; ".join(remarks), []).append(it.finding.code)
    named = ((", ".join(dict.fromkeys(about)), remark) for remark, about in codes.items())
    return "; ".join(f"{about} ({remark})" if remark else about for about, remark in named)


def _item(finding: Finding, lang: Language) -> dict[str, Any]:
    return {
        "code": finding.code,
        "terms": list(finding.terms),
        "line": finding.line,
        "title": finding.title(lang),
        "explanation": finding.explanation(lang),
        "fix": finding.fix(lang),
        "source": finding.entry.source,
    }
