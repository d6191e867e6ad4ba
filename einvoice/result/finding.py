"""One thing found in an invoice: a small value that knows its catalog entry."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from einvoice.model.terms import leading
from einvoice.render.text import WORDS, in_line
from einvoice.result.languages import Language
from einvoice.result.location import NOWHERE, Location
from einvoice.rulebook.catalog import CatalogEntry, Values, entry
from einvoice.syntax.severity_overrides import Override

Severity: TypeAlias = Literal["fatal", "warning", "information"]

UNKNOWN_RULE: Final = "REFERENCE-RULE"
"""The entry of the catalog for rules of official artefacts that it does not know."""


class Note(NamedTuple):
    """What a finding adds about its rule. It informs, and changes nothing about the verdict.

    ``kind`` is "stricter" (the official artefact objects to what the norm allows), "conflict" (with another rule),
    "rounding" or "more" (places that are not listed). ``source`` is where it can be read up, "" for our own words.
    """

    kind: str
    text: str
    source: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Finding:
    """A rule that an invoice breaks, at one place of it.

    Attributes:
        code: the key of the catalog entry, such as "BR-CO-10".
        severity: the one that counts: "fatal", "warning" or "information".
        flag: the rule's own severity; another one only where a published override changed it.
        layer: "schema", "en16931", "cius", "extension", "profile", "pdf" or "file".
        section: the part of the invoice that it is about, such as "seller".
        terms: business terms, the leading one first; may be empty.
        location: line, column and XPath, worked out when asked.
        values: what was compared ("expected", "actual", "difference") and whatever else the texts quote.
        indicative: the document breaks its XML schema, so the finding may follow from that.
        override: the published override that changed the severity, if one did.
        noted: the numbers of those notes of the catalog's entry that are true here.
        more: how many further places of the same code are left out.
        reported: what an official artefact says, in its words, where that has found it; it knows no `values`.
        draft_pointer: of a generated invoice, the JSON pointer (RFC 6901) of the draft's field that causes the
            finding, be it missing; "" is the whole draft. None for an invoice that was not generated.
        lang: the language of the texts where none is asked for.
    """

    code: str
    severity: Severity
    flag: Severity
    layer: str
    section: str
    terms: tuple[str, ...] = ()
    location: Location = NOWHERE
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)
    indicative: bool = False
    override: Override | None = None
    noted: tuple[int, ...] = ()
    more: int = 0
    reported: str = ""
    draft_pointer: str | None = None
    lang: Language = "de"

    def title(self, lang: Language | None = None) -> str:
        """What is wrong, in a few words."""
        known, values = self._described()
        return known.title(lang or self.lang, values)

    def explanation(self, lang: Language | None = None) -> str:
        """Why it is wrong, with the numbers that were compared."""
        known, values = self._described()
        return known.explanation(lang or self.lang, values)

    def fix(self, lang: Language | None = None) -> str:
        """What to do about it: nothing, where what the invoice declares allows for it."""
        if self.override is not None and self.override.severity == "information":
            return WORDS[lang or self.lang]["nothing_to_do"]
        known, values = self._described()
        return known.fix(lang or self.lang, values)

    def explains(self, name: str) -> bool:
        """Whether the explanation quotes one of `values`."""
        return f"{{{name}}}" in self._described()[0].texts[self.lang]["explanation"]

    def override_reason(self, lang: Language | None = None) -> str:
        """Why `severity` is not the rule's own `flag`; "" where it is."""
        if self.override is None:
            return ""
        return self.override.reason_de if (lang or self.lang) == "de" else self.override.reason_en

    def notes(self, lang: Language | None = None) -> tuple[Note, ...]:
        """What there is to know of the rule in this situation: see `Note`; mostly nothing."""
        known, language = self._described()[0], lang or self.lang
        found = self.values.get("found")
        numbers = [number for number, note in enumerate(known.notes) if number in self.noted or found in note["values"]]
        notes = [
            Note(known.notes[number]["kind"], known.note(number, language, self.values), known.notes[number]["source"])
            for number in numbers
        ]
        if self.more:
            notes.append(Note("more", WORDS[language]["more"].format(count=self.more)))
        return tuple(notes)

    @property
    def line(self) -> int | None:
        """The line in the document, counted from 1; None for a finding that has no place in it."""
        return self.location.line

    @property
    def column(self) -> int | None:
        """The column in that line, counted from 1 in characters."""
        return self.location.column

    @property
    def xpath(self) -> str:
        """An XPath that selects the place and nothing else (prefixes: `einvoice.NAMESPACES`); "" without a place."""
        return self.location.xpath

    @property
    def bt_field(self) -> str:
        """The leading business term, "BT-…"; of a group its first term; "" where there is none."""
        return leading(self.terms)

    @property
    def doc_url(self) -> str:
        """Where an appliance describes the rule, from its base address on."""
        return f"/catalog/{self._described()[0].code if self.reported else self.code}"

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """The finding as the HTTP interface answers it, ready for JSON; numbers are decimal text."""
        known: dict[str, Any] = {
            "code": self.code,
            "severity": self.severity,
            "validation_layer": self.layer,
            "section": self.section,
            "title": self.title(lang),
            "explanation": self.explanation(lang),
            "fix": self.fix(lang),
            "bt_field": self.bt_field,
            "xpath": self.xpath,
            "line": self.line,
            "column": self.column,
            "terms": list(self.terms),
            "values": {name: _json(value) for name, value in self.values.items()},
            "flag": self.flag,
            "override_reason": self.override_reason(lang),
            "notes": [note._asdict() for note in self.notes(lang)],
            "indicative": self.indicative,
            "doc_url": self.doc_url,
        }
        if self.reported:
            known["reported"] = self.reported
        if self.draft_pointer is not None:
            known["draft_pointer"] = self.draft_pointer
        return known

    def _described(self) -> tuple[CatalogEntry, Values]:
        """The entry of the catalog, and what its texts quote; a rule of an artefact may have none of its own."""
        if not self.reported:
            return entry(self.code), self.values
        try:
            return entry(self.code), None
        except KeyError:
            return entry(UNKNOWN_RULE), {"rule": self.code, "reported": self.reported}

    def __str__(self) -> str:
        return in_line(self, self.lang)

    def __repr__(self) -> str:
        return f"<Finding {self.code}: {self.severity}, line {self.line}>"

    def _repr_html_(self) -> str:
        from einvoice.render.html import finding_html

        return finding_html(self, self.lang)


def _json(value: Any) -> Any:
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return value
