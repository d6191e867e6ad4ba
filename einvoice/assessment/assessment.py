"""The assessment of a result: the class of each error, and what the document is for the recipient."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from einvoice.assessment.law import CONTENT, FORMAT, Classification, Law
from einvoice.localization import Language, choose
from einvoice.result import Finding

_LABELS: Final = ("title", "errors", "contested", "items")
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
        supply_date: last day of the supply; None if the invoice does not state it.
        follows: for another invoice, what follows, as `key`, `source` and `text` by language; empty otherwise.
        lang: default language of the texts.
    """

    law: Law
    kind: Kind
    profile: str
    errors: tuple[AssessedError, ...]
    items: tuple[Finding, ...]
    supply_date: datetime.date | None
    follows: Mapping[str, Any]
    lang: Language

    @property
    def is_disputed(self) -> bool:
        """Whether, by one opinion on a contested class, an e-invoice is none."""
        return self.kind == "e_invoice" and any(it.is_contested and it.error_class != FORMAT for it in self.errors)

    def statement(self, lang: Language | None = None) -> str:
        """Return what the document is, what follows on its date of supply, and what for the deduction of input VAT."""
        lang, law = lang or self.lang, self.law
        sentences = [law.text(self.kind, lang)]
        if self.profile:
            sentences.append(law.text("profile", lang).format(profile=self.profile))
        if self.is_disputed:
            sentences.append(law.text("disputed", lang))
        if self.follows:
            sentences.append(choose(self.follows["text"], lang))
        if self.items or any(it.error_class == CONTENT for it in self.errors):
            sentences.append(law.text("deduction", lang))
        elif self.kind == "e_invoice" and not self.errors:
            sentences.append(law.text("no_objection", lang))
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
        contested = [choose(it.classification.contested, lang) for it in self.errors if it.is_contested]
        without = [it for it in self.errors if not it.error_class]
        return list(
            dict.fromkeys((*contested, *(f"{it.finding.code}: {it.to_dict(lang)['reason']}" for it in without)))
        )

    def missing(self, lang: Language | None = None) -> list[str]:
        """Return the title, the source and the fix of each of the `items`."""
        lang = lang or self.lang
        return [f"{it.title(lang)} ({it.entry.source}). {it.fix(lang)}" for it in self.items]

    def undecidable(self, lang: Language | None = None) -> str:
        """Return what no validation can decide, and what has to be kept."""
        return " ".join(self.law.text(key, lang or self.lang) for key in ("undecidable", "keep"))

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
            "supply_date": self.supply_date.isoformat() if self.supply_date else "",
            "follows": self.follows.get("key", ""),
            "follows_source": self.follows.get("source", ""),
            "errors": [error.to_dict(lang) for error in self.errors],
            "classes": {name: self.law.meaning(name, lang) for name in self._present()},
            "items": [_item(item, lang) for item in self.items],
            "undecidable": self.undecidable(lang),
            "note": self.note(lang),
        }

    def to_text(self, lang: Language | None = None) -> str:
        """Return the assessment as plain text, one statement a line."""
        lang = lang or self.lang
        lines = [self.law.text("title", lang), self.statement(lang)]
        if self.errors:
            lines += ["", f"{self.law.text('errors', lang)}:", *self._class_lines(lang)]
        if self.items:
            lines += ["", f"{self.law.text('items', lang)}:"]
            lines += [f"- {it}" for it in self.missing(lang)]
        return "\n".join([*lines, "", self.undecidable(lang), self.note(lang), ""])

    def _present(self) -> list[str]:
        found = {error.error_class for error in self.errors}
        return [name for name in self.law.classes if name in found]

    def _class_lines(self, lang: Language) -> list[str]:
        """Return the lines about the errors: a class with its definition, then its codes; last the remarks."""
        lines = [line for it in self.classes(lang) for line in (f"- {it.name}: {it.codes}", f"  {it.meaning}")]
        return [*lines, *(f"  {text}" for text in self.remarks(lang))]

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Assessment {self.law.country}: {self.kind}, {len(self.errors)} errors, {len(self.items)} items>"


def _codes(errors: list[AssessedError], lang: Language) -> str:
    """Return the codes, each with the item that it affects and whether its class is contested."""
    return ", ".join(dict.fromkeys(_code(it, lang) for it in errors))


def _code(error: AssessedError, lang: Language) -> str:
    item = error.classification.item
    remarks = [choose(item, lang)] if item else []
    remarks += [error.law.text("contested", lang)] if error.is_contested else []
    return f"{error.finding.code} ({'; '.join(remarks)})" if remarks else error.finding.code


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
